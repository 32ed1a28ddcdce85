"""Pools in chunks, in files and in parts: the same selection as from one array."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from real_plugin import STRATEGIES, real_query, select
from real_plugin._keys import instance_keys, rows_by_key
from real_plugin._rows import ArrayRows, as_rows
from real_plugin.pools import parquet_column
from real_plugin.selection import Options, PoolHere, select_from
from tests.pools import pools

variants = st.sampled_from(sorted(STRATEGIES))
residuals = st.sampled_from(["paper", "density"])
shortfalls = st.sampled_from(["pool", "cluster"])
seeds = st.integers(0, 2**32 - 1)


def assert_same(one, other):
    for name in ("indices", "cluster", "predicted", "pseudo_label", "epsilon", "source"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    for name in ("size", "pseudo_errors", "density", "budget", "pseudo_label"):
        np.testing.assert_array_equal(getattr(one.clusters, name), getattr(other.clusters, name))
    np.testing.assert_array_equal(np.asarray(one.assignment), np.asarray(other.assignment))
    np.testing.assert_allclose(one.inertia, other.inertia, rtol=1e-5, atol=1e-3)


def cut(array, cuts):
    return np.split(array, sorted(min(c, len(array)) for c in cuts))


cuts = st.lists(st.integers(0, 40), max_size=6)  # with repetitions: empty pieces


@given(pools(), variants, residuals, shortfalls, seeds, cuts, cuts)
def test_chunks_give_the_same_selection(pool, variant, residual, shortfall, seed, cuts_P, cuts_E):
    """Also if probabilities and embeddings are cut in different places."""
    P, E, batch, K = pool
    options = {"variant": variant, "residual": residual, "shortfall": shortfall}
    options |= {"n_clusters": K, "random_state": seed}
    chunks = select(cut(P, cuts_P), cut(E, cuts_E), batch, **options)
    assert_same(chunks, select(P, E, batch, **options))


@given(pools(), variants, residuals, shortfalls, seeds, cuts)
def test_parts_give_the_same_selection(pool, variant, residual, shortfall, seed, where):
    P, E, batch, K = pool
    pieces = [
        [ArrayRows(kind, piece) for piece in cut(array, where)]
        for kind, array in (("probabilities", P), ("embeddings", E))
    ]
    parts = select_from(PoolHere(*pieces), batch, Options(variant, K, residual, shortfall), seed)
    whole = select(
        P,
        E,
        batch,
        variant=variant,
        n_clusters=K,
        residual=residual,
        shortfall=shortfall,
        random_state=seed,
    )
    assert_same(parts, whole)


@settings(max_examples=40)
@given(st.lists(st.integers(0, 900), max_size=6), variants, shortfalls, st.integers(0, 9))
def test_real_numbers_in_parts(where, variant, shortfall, seed):
    """Where sums are not exact, and rows lie between clusters."""
    P, E = pool_of(900, dtype=np.float32)
    E[::7] = (E[::7] + E[np.arange(0, 900, 7)[::-1]]) / 2
    pieces = [
        [ArrayRows(kind, piece) for piece in cut(array, where)]
        for kind, array in (("probabilities", P), ("embeddings", E))
    ]
    options = Options(variant, 30, "paper", shortfall)
    parts = select_from(PoolHere(*pieces), 60, options, seed)
    assert_same(
        parts,
        select(P, E, 60, variant=variant, n_clusters=30, shortfall=shortfall, random_state=seed),
    )


def pool_of(n_rows, dimensions=24, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    E = (
        rng.normal(size=(n_rows, dimensions))
        + 3 * rng.normal(size=(8, dimensions))[rng.integers(8, size=n_rows)]
    )
    P = rng.dirichlet([0.5] * 4, size=n_rows)
    return P.astype(dtype), E.astype(dtype)


@pytest.mark.parametrize("constant", [False, True])
def test_blocks_of_rows_do_not_matter(constant, monkeypatch):
    P, E = pool_of(2_000)
    if constant:
        P[:] = 0.25
    expected = select(P, E, 50, random_state=0)
    monkeypatch.setattr("real_plugin._rows.CHUNK_ROWS", 77)
    monkeypatch.setattr("real_plugin.parts._BLOCK", 130)
    monkeypatch.setattr("real_plugin._keys._BLOCK", 90)
    assert_same(select(P, E, 50, random_state=0), expected)


@given(seeds, st.integers(1, 300), st.data())
def test_rows_by_key_are_the_smallest_keys(seed, n_rows, data):
    count = data.draw(st.integers(1, n_rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("real_plugin._keys._BLOCK", 37)
        rows = rows_by_key(seed, n_rows, count)
    assert rows.tolist() == np.argsort(instance_keys(seed, np.arange(n_rows)))[:count].tolist()


# Where the numbers are


def in_files(folder, P, E):
    """(probabilities, embeddings) in every form that is read block by block."""
    np.save(folder / "P.npy", P)
    np.save(folder / "E.npy", E)
    yield "memory map", *(np.load(folder / f"{x}.npy", mmap_mode="r") for x in "PE")
    yield "list of chunks", [P[:100], P[100:]], [E[:300], E[300:300], E[300:]]
    yield "function", lambda: iter([P]), lambda: (E[i : i + 70] for i in range(0, len(E), 70))
    yield "array and chunks", P, [E[:1], E[1:]]


def test_every_form_gives_the_same_selection(tmp_path):
    P, E = pool_of(700, dtype=np.float32)
    for dtype in (np.float32, np.float16):
        vectors = E.astype(dtype)
        expected = select(P, vectors, 40, random_state=0)
        for name, probabilities, embeddings in in_files(tmp_path, P, vectors):
            selection = select(probabilities, embeddings, 40, random_state=0)
            assert selection.indices.tolist() == expected.indices.tolist(), name
            assert_same(selection, expected)


def test_zarr(tmp_path):
    zarr = pytest.importorskip("zarr")
    P, E = pool_of(700, dtype=np.float32)
    stored = []
    for name, array in (("P", P), ("E", E.astype(np.float16))):
        chunks = (64, array.shape[1])
        options = {"shape": array.shape, "dtype": array.dtype, "chunks": chunks}
        stored.append(zarr.open(str(tmp_path / name), mode="w", **options))
        stored[-1][:] = array
    assert_same(
        select(*stored, 40, random_state=0),
        select(P, E.astype(np.float16), 40, random_state=0),
    )


@pytest.fixture
def parquet(tmp_path):
    """Folder of three files with row groups, one of them empty, and the arrays in them."""
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    P, E = pool_of(700, dtype=np.float32)
    E = E.astype(np.float16)
    for number, rows in enumerate((slice(0, 300), slice(300, 300), slice(300, 700))):
        vectors = pa.array(E[rows].reshape(-1))
        table = {f"p{j}": P[rows, j] for j in range(4)}
        table |= {"fixed": pa.FixedSizeListArray.from_arrays(vectors, E.shape[1])}
        table |= {"lists": pa.array(list(E[rows]), type=pa.list_(pa.float16()))}
        pq.write_table(pa.table(table), tmp_path / f"{number}.parquet", row_group_size=128)
    return tmp_path, P, E


@pytest.mark.parametrize("column", ["fixed", "lists"])
def test_parquet(parquet, column):
    folder, P, E = parquet
    P_columns = parquet_column(folder, [f"p{j}" for j in range(4)])
    vectors = parquet_column(folder, column)
    np.testing.assert_array_equal(np.concatenate(list(vectors)), E)
    assert_same(select(P_columns, vectors, 40, random_state=0), select(P, E, 40, random_state=0))
    one = parquet_column(folder / "2.parquet", column)
    assert [chunk.dtype for chunk in one] == [np.float16]


def test_parquet_errors(parquet, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder, *_ = parquet
    with pytest.raises(ValueError, match=r"0\.parquet has no column 'vectors'; it has p0"):
        list(parquet_column(folder, "vectors"))
    with pytest.raises(FileNotFoundError, match="no Parquet file"):
        parquet_column(tmp_path / "nowhere", "vectors")
    for rows, message in (
        ([[1.0], [2.0], None], "column 'x' has no value in row 2"),
        ([[1.0], [2.0, 3.0]], "column 'x' has 2 numbers in row 1, but 1 before"),
    ):
        pq.write_table(pa.table({"x": rows}), tmp_path / "bad.parquet")
        with pytest.raises(ValueError, match=message):
            list(parquet_column(tmp_path / "bad.parquet", "x"))


def test_a_memory_map_is_neither_copied_nor_converted(tmp_path):
    """The vectors in float32 would be 51 MB, in float16 they are 26 MB."""
    n_rows = 400_000
    E = np.lib.format.open_memmap(
        tmp_path / "E.npy", mode="w+", dtype=np.float16, shape=(n_rows, 32)
    )
    P = np.lib.format.open_memmap(
        tmp_path / "P.npy", mode="w+", dtype=np.float32, shape=(n_rows, 2)
    )
    rng = np.random.default_rng(0)
    for start in range(0, n_rows, 50_000):
        E[start : start + 50_000] = rng.normal(size=(50_000, 32))
        p = rng.random(50_000)
        P[start : start + 50_000] = np.column_stack([p, 1 - p])
    tracemalloc.start()
    select(P, E, 60, random_state=0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 16e6 + 20 * n_rows  # some blocks, and small numbers for every row


def test_adapters_take_a_memory_map(tmp_path):
    P, E = pool_of(300)
    np.save(tmp_path / "E.npy", E.astype(np.float16))
    mapped = np.load(tmp_path / "E.npy", mmap_mode="r")

    class Classifier:
        def predict_proba(self, X):
            return P

    picks = real_query(Classifier(), ["a text"] * 300, 20, embeddings=mapped, random_state=0)
    assert picks.tolist() == select(P, mapped, 20, random_state=0).indices.tolist()


# What can't be read

P, E = pool_of(60)


def spoilt(value, row=3):
    chunk = E[20:40].copy()
    chunk[row, 1] = value
    return [E[:20], chunk, E[40:]]


BAD = [
    (P, spoilt(np.nan), ValueError, "chunk 1 of embeddings has NaN in row 3; drop"),
    (P, spoilt(1e30), ValueError, "chunk 1 of embeddings has values up to 1e.30 in row 3"),
    (P, [E[:20], E[20:, :5]], ValueError, "chunk 1 of embeddings has 5 column.*chunk 0 .*has 24"),
    (P, [E[:20], E[20:].astype("f4")], ValueError, "chunk 1 .*dtype float32, but chunk 0 .*float64"),
    (P, [E[:20], E[30:]], ValueError, "embeddings has 50 rows.*60 rows of probabilities"),
    (P, [E, E], ValueError, "embeddings has 120 rows.*60 rows of probabilities"),
    (P, [E[:, :0]], ValueError, "chunk 0 of embeddings has no columns"),
    (P, lambda: [E[:, 0]], ValueError, r"chunk 0 of embeddings has 1 dimension.*2-D"),
    (P, lambda: [["a", "b"]], TypeError, "chunk 0 of embeddings has dtype <U1"),
    ([P[:50], P[50:] * 2], E, ValueError, "chunk 1 of probabilities: row 0 sums to 2"),
    ([P[:50], P[50:, :3]], E, ValueError, "chunk 1 of probabilities has 3 column"),
    ([P[:50], np.full((10, 4), np.nan)], E, ValueError, "chunk 1 of probabilities has NaN.*row 0"),
    ([P[:0]], E, ValueError, "no rows"),
    (P, (E for _ in range(1)), TypeError, "embeddings is a generator.*only once.*function"),
    (P, iter([E]), TypeError, "embeddings is a list_iterator.*only once"),
    (P, "E.npy", TypeError, "embeddings is a path, 'E.npy'; open it first: np.load"),
]  # fmt: skip


@pytest.mark.parametrize(("probabilities", "embeddings", "error", "message"), BAD)
def test_bad_chunks_are_named(probabilities, embeddings, error, message):
    with pytest.raises(error, match=message):
        select(probabilities, embeddings, 5, random_state=0)


def test_chunks_that_change_are_found():
    once = iter([E])
    with pytest.raises(ValueError, match="embeddings gave 60 rows at first and 0 rows when"):
        select(P, lambda: once, 5, random_state=0)


def test_lists_of_numbers_are_arrays():
    assert isinstance(as_rows("embeddings", [[1.0], [2.0]]), ArrayRows)
    assert isinstance(as_rows("embeddings", [np.array([1.0]), np.array([2.0])]), ArrayRows)
