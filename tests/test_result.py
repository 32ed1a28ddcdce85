"""What a Selection says of itself."""

import sys

import numpy as np
import pytest

from real_plugin import select

NAMES = ["World", "Sports"]


def selection_of(variant="real", **options):
    """Two clusters: rows 0-9 are World but for rows 3 and 4; rows 10-14 are Sports."""
    p_world = np.array([0.9] * 3 + [0.2, 0.1] + [0.9] * 5 + [0.1, 0.2, 0.1, 0.4, 0.1])
    P = np.column_stack([p_world, 1 - p_world])
    E = np.repeat([[0.0, 0.0], [9.0, 9.0]], [10, 5], axis=0)
    return select(P, E, 3, variant=variant, n_clusters=2, random_state=0, **options)


def test_a_pseudo_error_is_explained():
    assert selection_of().explain(3, NAMES) == (
        "Row 3 was picked because the model calls it Sports while 80 % of its cluster of 10 is "
        "called World; the cluster gets 3 of the 3 picks for its 2 pseudo errors."
    )


def test_a_complement_is_explained():
    assert selection_of().explain(13, NAMES) == (
        "Row 13 was picked because the model calls it Sports, as it does 100 % of its cluster of "
        "5, but with an erroneous probability of 0.40; it is no draw from a cluster's budget but "
        "completes the batch."
    )


def test_a_row_that_was_not_picked_is_explained():
    assert selection_of().explain(0) == (
        "Row 0 was not picked: it lies in a cluster of 10, 80 % of which is called class 0; the "
        "cluster gets 3 of the 3 picks for its 2 pseudo errors."
    )


def test_the_pool_variant_is_explained():
    assert selection_of("pool").explain(np.int64(4)) == (
        "Row 4 was picked because the model calls it class 1 while 80 % of its cluster of 10 is "
        "called class 0; its erroneous probability of 0.90 is among the pool's largest."
    )


def test_the_soft_variant_is_explained():
    selection = selection_of("soft")
    assert selection.source.tolist() == ["representative"] * 3
    assert selection.explain(13, NAMES) == (
        "Row 13 was picked because the model calls it Sports by a margin of 0.20, and it "
        "represents a cluster of 5 with 45.0 % of the model's doubt."
    )
    assert selection.explain(1) == (
        "Row 1 was not picked: it lies in a cluster of 10 with 55.0 % of the model's doubt, which "
        "gets 2 of the 3 picks."
    )
    P = np.array([[0.9, 0.1], [0.6, 0.4], [0.7, 0.3]])
    selection = select(P, np.zeros((3, 2)), 2, variant="soft", random_state=0)
    assert selection.source.tolist() == ["representative", "complement"]
    assert selection.explain(2) == (
        "Row 2 was picked because the model calls it class 0 by a margin of 0.40; it represents "
        "no cluster of its own but completes the batch."
    )


def test_a_cold_start_is_explained():
    E = np.array([[0.0], [1.0], [2.0], [50.0]])
    selection = select(np.full((4, 2), 0.5), E, 2, random_state=0)
    assert sorted(selection.indices.tolist()) == [1, 3]
    assert "same probabilities" in selection.explain(1)
    assert "cluster of 3" in selection.explain(1)
    assert selection.explain(0).startswith("Row 0 was not picked")


def test_a_share_of_almost_all_is_not_rounded_to_all():
    p = np.full(1000, 0.9)
    p[7] = 0.1
    selection = select(np.column_stack([p, 1 - p]), np.zeros((1000, 1)), 1, n_clusters=1)
    assert "99.9 % of its cluster of 1000" in selection.explain(7)


@pytest.mark.parametrize(("row", "error"), [(15, IndexError), (-1, IndexError), (1.0, TypeError)])
def test_only_rows_of_the_pool_are_explained(row, error):
    with pytest.raises(error, match="i is"):
        selection_of().explain(row)


def test_frame():
    pytest.importorskip("pandas")
    selection = selection_of()
    frame = selection.to_frame()
    assert frame["index"].tolist() == selection.indices.tolist()
    assert frame["source"].tolist() == ["pseudo-error", "pseudo-error", "complement"]
    assert frame["predicted"].tolist() == [1, 1, 1]
    assert frame["cluster_budget"].tolist() == [3, 3, 0]
    named = selection.to_frame(NAMES)
    assert named["predicted"].tolist() == ["Sports"] * 3
    assert named["pseudo_label"].tolist() == ["World", "World", "Sports"]


def test_frame_without_pandas_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        selection_of().to_frame()


def test_repr_is_short():
    assert repr(selection_of()) == (
        "Selection(3 of 15 rows: 1 complement, 2 pseudo-error; variant='real', n_clusters=2, "
        "random_state=0)"
    )
