"""Bad input: one error that names the argument, the value and the remedy."""

import numpy as np
import pytest
from scipy import sparse

from real_plugin import select

rng = np.random.default_rng(0)
P = rng.dirichlet([1, 1, 1], size=20)
E = rng.normal(size=(20, 4))


def with_value(array, value, row=3, column=1):
    array = np.array(array, dtype=float)
    array[row, column] = value
    return array


GOOD = {"probabilities": P, "embeddings": E, "n_instances": 5}
BAD = [
    ({"probabilities": with_value(P, np.nan)}, ValueError, "probabilities .*NaN.* row 3"),
    ({"probabilities": with_value(P, np.inf)}, ValueError, "probabilities .*infinite.* row 3"),
    ({"probabilities": with_value(P, -0.1)}, ValueError, "probabilities .*negative.* row 3.*softmax"),
    ({"probabilities": 2 * P}, ValueError, "row 0 sums to 2.*softmax"),
    ({"probabilities": np.vstack([P[:19], [[0.4, 0.4, 0.1]]])}, ValueError, "row 19 sums to 0.9"),
    ({"probabilities": np.ones((20, 1))}, ValueError, "1 column.*at least two"),
    ({"probabilities": np.full(20, 0.5)}, ValueError, r"1 dimension\(s\).*2-D"),
    ({"probabilities": np.full((20, 2, 2), 0.5)}, ValueError, r"3 dimension\(s\).*2-D"),
    ({"probabilities": [["a", "b"]] * 20}, TypeError, "probabilities has dtype <U1"),
    ({"probabilities": [[0.5, None]] * 20}, ValueError, "probabilities has NaN"),
    ({"probabilities": [[0.5, "?"], [1, 0]]}, TypeError, "probabilities has dtype"),
    ({"probabilities": [[0.5, object()]] * 20}, TypeError, "probabilities .*2-D numeric array"),
    ({"probabilities": [[0.5, 0.5], [1.0]]}, TypeError, "probabilities .*2-D numeric array"),
    ({"probabilities": P.astype(complex)}, TypeError, "probabilities has dtype complex"),
    ({"probabilities": sparse.csr_matrix(P)}, TypeError, "probabilities is a sparse matrix.*toarray"),
    ({"probabilities": P[:0], "embeddings": E[:0]}, ValueError, "no rows"),
    ({"embeddings": E[:19]}, ValueError, "embeddings has 19 rows.*20 rows of probabilities"),
    ({"embeddings": E[:, 0]}, ValueError, r"embeddings has 1 dimension.*reshape"),
    ({"embeddings": E[:, :0]}, ValueError, "embeddings has no columns"),
    ({"embeddings": with_value(E, np.nan)}, ValueError, "embeddings has NaN in row 3; drop"),
    ({"embeddings": with_value(E, -np.inf)}, ValueError, "embeddings has values up to inf in row 3"),
    ({"embeddings": with_value(E, 1e300)}, ValueError, "embeddings has values up to .* in row 3.*scale"),
    ({"embeddings": with_value(E, 1e30)}, ValueError, r"embeddings has values up to 1e\+30 in row 3.*scale"),
    ({"embeddings": sparse.csr_matrix(with_value(E, np.nan))}, ValueError, "embeddings has NaN in row 3"),
    ({"embeddings": ["a text"] * 20}, TypeError, "embeddings has dtype <U6"),
    ({"n_instances": 0}, ValueError, "n_instances is 0; ask for at least 1"),
    ({"n_instances": -1}, ValueError, "n_instances is -1"),
    ({"n_instances": 21}, ValueError, "n_instances is 21.*only 20 rows"),
    ({"n_instances": 5.0}, TypeError, "n_instances is 5.0 of type float"),
    ({"n_instances": True}, TypeError, "n_instances is True of type bool"),
    ({"n_instances": np.True_}, TypeError, "n_instances is .*True"),
    ({"n_instances": "5"}, TypeError, "n_instances is '5' of type str"),
    ({"n_instances": None}, TypeError, "n_instances is None"),
    ({"variant": "reel"}, ValueError, "variant is 'reel'.*'real'"),
    ({"variant": None}, ValueError, "variant is None"),
    ({"residual": "code"}, ValueError, "residual is 'code'.*'paper', 'density'"),
    ({"shortfall": "none"}, ValueError, "shortfall is 'none'.*'pool', 'cluster'"),
    ({"n_clusters": 0}, ValueError, "n_clusters is 0.*at least 1"),
    ({"n_clusters": "many"}, ValueError, "n_clusters is 'many'.*'auto'"),
    ({"n_clusters": 2.5}, TypeError, "n_clusters is 2.5 of type float"),
    ({"n_clusters": True}, TypeError, "n_clusters is True"),
    ({"random_state": -1}, ValueError, "random_state is -1"),
    ({"random_state": 2**32}, ValueError, "random_state is 4294967296"),
    ({"random_state": "seed"}, TypeError, "random_state is 'seed'"),
    ({"random_state": True}, TypeError, "random_state is True"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "error", "message"), BAD, ids=lambda x: str(x)[:40])
def test_bad_input(changes, error, message):
    with pytest.raises(error, match=message):
        select(**{**GOOD, **changes})


def test_the_row_that_is_named_is_the_row_in_a_large_pool():
    n_rows = 40_000
    many_P = np.tile([0.3, 0.7], (n_rows, 1))
    many_P[::3] = [0.6, 0.4]
    many_E = rng.normal(size=(n_rows, 3))
    many_E[31_234, 2] = np.nan
    with pytest.raises(ValueError, match="NaN in row 31234"):
        select(many_P, many_E, 5, n_clusters=4, random_state=0)


def test_near_sums_pass():
    half = np.float16([[0.3333, 0.3333, 0.3333]] * 19 + [[0.2, 0.2, 0.6]])
    assert len(select(half, E, 5, random_state=0)) == 5
    assert len(select(P + 1e-5, E, 5, random_state=0)) == 5
