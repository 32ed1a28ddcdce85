"""The divergence of §4.2 of the paper, against a literal computation."""

import math

import numpy as np
import pandas as pd
import pytest

from benchmarks.harness import divergence
from benchmarks.harness.divergence import GRID, boundary_divergence, tsne_map
from tests.benchmarks.runs import comparable


def literal(positions, truth, predicted, picks):
    """Cell by cell, in the words of the paper."""
    low, high = positions.min(axis=0), positions.max(axis=0)
    cells = {}
    for i, (x, y) in enumerate(positions):
        column = min(int((x - low[0]) / (high[0] - low[0]) * 50), 49)
        row = min(int((y - low[1]) / (high[1] - low[1]) * 50), 49)
        cells.setdefault((row, column), []).append(i)

    def entropy(members):
        counts = np.bincount(truth[members])
        return -sum(c / len(members) * math.log(c / len(members)) for c in counts if c)

    ranked = sorted(cells, key=lambda cell: (-round(entropy(cells[cell]), 12), cell))
    boundary = ranked[: max(1, round(0.15 * len(cells)))]
    g = [sum(predicted[i] != truth[i] for i in cells[cell]) for cell in boundary]
    s = [sum(i in picks for i in cells[cell]) for cell in boundary]
    if sum(g) == 0:
        return None
    if sum(s) == 0:
        return 1.0
    p, q = np.array(g) / sum(g), np.array(s) / sum(s)
    m = (p + q) / 2

    def kld(a, b):
        return sum(x * math.log2(x / y) for x, y in zip(a, b, strict=True) if x > 0)

    return (kld(p, m) + kld(q, m)) / 2


@pytest.mark.parametrize("seed", range(20))
def test_it_is_what_the_paper_says(seed):
    rng = np.random.default_rng(seed)
    positions = rng.normal(size=(400, 2)).round(2)
    truth = rng.integers(3, size=400)
    predicted = np.where(rng.random(400) < 0.3, rng.integers(3, size=400), truth)
    picks = rng.choice(400, size=60, replace=False)
    expected = literal(positions, truth, predicted, set(picks.tolist()))
    assert boundary_divergence(positions, truth, predicted, picks) == pytest.approx(expected)


def test_extremes():
    # Two places: one mixed, at the boundary; one pure.
    positions = np.repeat([[0.0, 0.0], [1.0, 1.0]], 10, axis=0)
    truth = np.array([0, 1] * 5 + [1] * 10)
    predicted = np.array([1] * 20)
    assert boundary_divergence(positions, truth, predicted, np.array([0, 2])) == 0
    assert boundary_divergence(positions, truth, predicted, np.array([15])) == 1
    assert boundary_divergence(positions, truth, truth, np.array([0])) is None


def test_one_place_only():
    positions, labels = np.zeros((5, 2)), np.array([0, 0, 1, 1, 1])
    assert boundary_divergence(positions, labels, 1 - labels, np.array([0])) == 0


def test_the_map_is_made_once_and_separates_groups(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 60)
    E = (rng.normal(size=(120, 8)) + 20 * group[:, None]).astype(np.float32)
    positions = tsne_map(E, tmp_path)
    assert positions.shape == (120, 2)
    centres = [positions[group == g].mean(axis=0) for g in (0, 1)]
    nearest = [np.linalg.norm(positions - centre, axis=1) for centre in centres]
    assert (np.argmin(nearest, axis=0) == group).mean() > 0.95
    monkeypatch.setattr(divergence, "_place", None)
    np.testing.assert_array_equal(tsne_map(E, tmp_path), positions)


def test_rows_beyond_the_mapped_ones_lie_at_their_nearest(tmp_path, monkeypatch):
    monkeypatch.setattr(divergence, "MAPPED_ROWS", 50)
    rng = np.random.default_rng(0)
    E = rng.normal(size=(80, 4)).astype(np.float32)
    positions = tsne_map(E, tmp_path)
    different = np.unique(positions, axis=0)
    assert 45 <= len(different) <= 50
    assert GRID == 50


def test_a_run_measures_it_if_asked(run, tmp_path):
    assert run(tmp_path, "--divergence", strategy=("real", "random")) == 0
    frame = pd.read_parquet(tmp_path / "results.parquet")
    queries = frame[frame["round"] > 0]["divergence"].dropna()
    assert len(queries) >= 4
    assert queries.between(0, 1).all()
    assert frame[frame["round"] == 0]["divergence"].isna().all()


def test_some_seeds_may_have_it(run, tmp_path):
    """It is slow, so it may be measured for a part of a run; nothing else depends on it."""
    assert run(tmp_path / "some", "--divergence", seeds="0-0") == 0
    assert run(tmp_path / "some", seeds="0-1") == 0
    assert run(tmp_path / "none", seeds="0-1") == 0
    some, none = (comparable(tmp_path / name) for name in ("some", "none"))
    measured = some[some["divergence"].notna()]
    assert set(measured["seed"]) == {0}
    assert len(measured) > 0
    pd.testing.assert_frame_equal(some.drop(columns="divergence"), none.drop(columns="divergence"))
