"""The benchmarks run, and their numbers mean what they say."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

pytest.importorskip("skactiveml")

from benchmarks import digits
from benchmarks.__main__ import main
from benchmarks.speed import memory, runner
from benchmarks.speed.cases import BATCH, CASES
from benchmarks.speed.pools import N_LABELLED, generated_vectors, write_pool


def test_digits_writes_a_report(tmp_path, capsys):
    command = ["digits", "--seeds", "2", "--rounds", "2", "--out", str(tmp_path / "new")]
    assert main(command) == 0
    results = pd.read_csv(tmp_path / "new/digits.csv")
    assert len(results) == 2 * len(digits.STRATEGY_NAMES) * 2 * 3
    assert results["accuracy"].between(0.1, 1).all()
    start = results[results["labels"] == digits.WARM_UP].groupby("seed")["accuracy"]
    assert (start.nunique() == 1).all()  # the same warm-up set for all at a seed
    page = (tmp_path / "new/digits.html").read_text(encoding="utf-8")
    assert "data:image/png;base64," in page
    assert "2 rounds of 20 labels" in page
    assert (tmp_path / "new/digits.png").stat().st_size > 10_000
    printed = capsys.readouterr().out
    for value in results.groupby(["toolkit", "strategy"]).groups:
        assert value[1] in printed


def test_digits_repeat_with_the_same_seed():
    one, other = (list(digits.in_modal("real", digits.split(3), 3, 2, 10)) for _ in range(2))
    assert one == other


def test_half_width_is_a_t_interval():
    values = np.random.default_rng(0).normal(size=10)
    low, high = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert digits.half_width(values) == pytest.approx((high - low) / 2)
    assert np.isnan(digits.half_width([1.0]))


@pytest.fixture(scope="module")
def pool(tmp_path_factory):
    vectors = generated_vectors(1_000, 16)
    return write_pool("small", vectors, tmp_path_factory.mktemp("speed") / "pool")


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore")
def test_every_case_is_a_query(name, pool):
    answer = CASES[name](pool)()
    if isinstance(answer, float):
        assert answer > 0
    else:
        assert len(getattr(answer, "indices", answer)) == BATCH


def test_pools_have_labels_and_a_model(pool):
    labels, P = pool.labels(), pool.probabilities()
    assert (~np.isnan(labels)).sum() == N_LABELLED
    assert len(np.unique(labels[:N_LABELLED])) == P.shape[1]
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-5)


def test_peak_memory_sees_an_allocation():
    before = memory.reset_peak()
    block = np.ones(50_000_000 // 8)
    assert 40e6 < memory.peak_bytes() - before < 80e6
    del block


def test_targets_are_judged(capsys):
    def case(cpu, extra, inertia):
        return runner.Measurement(cpu, extra, inertia)

    results = {
        "REAL": case(1.0, 10, 1.01),
        "published REAL": case(3.0, 10, 1.0),
        "full Lloyd": case(30.0, 10, 1.0),
    }
    runner._print_targets(results, 100, is_large=True, is_real=True)
    lines = capsys.readouterr().out.splitlines()
    assert [line.rsplit(" ", 1)[1] for line in lines] == ["MISSED", "reached", "reached"]


def test_speed_measures_in_processes_of_their_own(tmp_path, capsys):
    np.save(tmp_path / "real.npy", generated_vectors(600, 8))
    command = ["speed", "--only", "vectors", "--rows", "500", "--columns", "12", "--repeat", "1"]
    assert main([*command, "--embeddings", str(tmp_path / "real.npy")]) == 0
    printed = capsys.readouterr().out
    assert "generated vectors, 500 x 12" in printed
    assert "real, 600 x 8" in printed
    for name in CASES:
        assert printed.count(f"  {name} ") == 2
