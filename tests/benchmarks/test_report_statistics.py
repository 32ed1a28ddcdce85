"""The statistics of the report, against published examples and numbers worked out by hand."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from benchmarks.report.curves import (
    areas,
    below_random,
    below_random_overall,
    labels_needed,
    table3,
)
from benchmarks.report.ranks import (
    _cliques,
    blocks,
    penalty_matrix,
    performance_profile,
    rank_table,
)
from benchmarks.report.statistics import (
    compare,
    half_width,
    holm,
    not_worse_than_best,
    paired_test,
    scores,
)

NAN = float("nan")
#: Hours of sleep gained with one drug and with another (Student 1908).
SLEEP_ONE = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
SLEEP_TWO = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]


def rounds(curves, dataset="d", track="frozen", batch_size=10, warm_up=20, **columns):
    """Rounds of one setting; `curves` has the accuracies of a (strategy, seed)."""
    rows = [
        {
            "dataset": dataset,
            "track": track,
            "strategy": strategy,
            "batch_size": 0 if strategy == "full" else batch_size,
            "seed": seed,
            "round": number,
            "n_labelled": 1000 if strategy == "full" else warm_up + number * batch_size,
            "accuracy": accuracy,
            "macro_f1": accuracy / 2,
            **columns,
        }
        for (strategy, seed), curve in curves.items()
        for number, accuracy in enumerate(curve)
    ]
    return pd.DataFrame(rows)


def table(values, dataset="d", track="frozen", batch_size=10):
    """Scores of one setting; `values` has a list, a score a seed, for every strategy."""
    index = pd.MultiIndex.from_tuples(
        [(dataset, track, batch_size, name) for name in values],
        names=["dataset", "track", "batch_size", "strategy"],
    )
    frame = pd.DataFrame(list(values.values()), index=index, dtype=float)
    return frame.rename_axis(columns="seed")


def setting(frame):
    return frame.loc["d", "frozen", 10]


# half_width, scores, areas


def test_half_width_of_students_sleep_data():
    difference = np.subtract(SLEEP_TWO, SLEEP_ONE)
    # R: t.test(extra ~ group, paired = TRUE) gives 0.7001142 to 2.4598858.
    assert half_width(difference) == pytest.approx((2.4598858 - 0.7001142) / 2, abs=1e-7)


@pytest.mark.parametrize("values", [[], [3.0], [NAN, 3.0], pd.Series([1.0])])
def test_half_width_needs_two_values(values):
    assert math.isnan(half_width(values))


def test_half_width_leaves_nan_out():
    # t(0.975; 1) = 12.7062, standard error 1.
    assert half_width([1.0, NAN, 3.0]) == pytest.approx(12.7062047)
    assert half_width([2.0, 2.0]) == 0


def test_scores_are_means_after_the_warm_up():
    frame = rounds(
        {("a", 1): [0.1, 0.5, 0.7], ("a", 0): [0.0, 0.2, 0.4], ("b", 0): [0.0, 1.0, 1.0]}
        | {("full", 0): [0.99]}
    )
    found = scores(frame)
    assert list(found.index) == [("d", "frozen", 10, "a"), ("d", "frozen", 10, "b")]
    assert found.index.names == ["dataset", "track", "batch_size", "strategy"]
    assert list(found.columns) == [0, 1]
    np.testing.assert_allclose(found, [[30, 60], [100, NAN]])
    np.testing.assert_allclose(scores(frame, "macro_f1"), [[15, 30], [50, NAN]])


def test_scores_that_are_equal_are_equal_to_the_bit():
    values = [0.1, 0.2, 0.3, 0.7, 0.61]
    curves = {
        (f"s{i}", 0): [0.5, *order] for i, order in enumerate(itertools.permutations(values))
    }
    assert scores(rounds(curves))[0].nunique() == 1


def test_areas_by_hand():
    frame = rounds({("a", 0): [0.2, 0.6, 0.8], ("full", 0): [1.0]})
    # (0.4 * 10 + 0.7 * 10) / 20; the mean of the rounds would be 53.3 or 70.
    assert areas(frame).to_numpy().tolist() == [[55.0]]
    assert areas(frame, "macro_f1").to_numpy().tolist() == [[27.5]]
    uneven = frame.assign(n_labelled=[20, 30, 60, 0])
    # (0.4 * 10 + 0.7 * 30) / 40
    assert areas(uneven).to_numpy().tolist() == [[62.5]]
    assert areas(uneven.iloc[[1, 0, 3, 2]]).to_numpy().tolist() == [[62.5]]


def test_areas_have_the_shape_of_scores():
    frame = rounds({("a", 1): [0.1, 0.5], ("b", 0): [0.3, 0.2], ("c", 0): [0.3]})
    pd.testing.assert_frame_equal(areas(frame).isna(), scores(frame).isna())
    assert areas(frame[frame["strategy"] == "c"]).empty


# compare


def test_paired_t_test_of_students_sleep_data():
    found = compare(table({"one": SLEEP_ONE, "two": SLEEP_TWO}), "one")
    assert list(found.index) == [("d", "frozen", 10, "two")]
    row = found.iloc[0]
    assert row["difference"] == pytest.approx(1.58)
    assert row["p"] == pytest.approx(0.002833, abs=5e-7)
    # t = 4.0621 = effect * sqrt(n)
    assert row["effect"] * math.sqrt(10) == pytest.approx(4.0621, abs=5e-5)
    assert row["half_width"] == pytest.approx(0.8798858, abs=1e-7)
    assert (row["n"], row["verdict"]) == (10, "better")
    mirrored = compare(table({"one": SLEEP_ONE, "two": SLEEP_TWO}), "two").iloc[0]
    assert mirrored["difference"] == pytest.approx(-1.58)
    assert mirrored["verdict"] == "worse"


def test_holm():
    corrected = holm([0.01, 0.04, 0.03, 0.005])
    # 0.005 * 4, 0.01 * 3, 0.03 * 2, and 0.04 * 1, which may not fall below the one before.
    np.testing.assert_allclose(corrected, [0.03, 0.06, 0.06, 0.02])
    np.testing.assert_allclose(holm([0.01, NAN, 0.6, 0.7]), [0.03, NAN, 1, 1])
    assert holm([]).size == 0
    assert np.isnan(holm([NAN, NAN])).all()


def test_holm_goes_over_all_settings():
    rng = np.random.default_rng(0)
    values = {name: rng.normal(80, 3, size=6) for name in ("random", "a", "b")}
    parts = [table(values), table(values, dataset="e"), table({"a": [1.0, 2.0]}, dataset="f")]
    found = compare(pd.concat(parts), "random")
    assert len(found) == 4
    small = np.sort([stats.ttest_rel(values[n], values["random"]).pvalue for n in ("a", "b")])
    expected = [min(1, 4 * small[0])] * 2 + [max(min(1, 4 * small[0]), min(1, 2 * small[1]))] * 2
    np.testing.assert_allclose(np.sort(found["p_holm"]), expected)
    assert list(found.index) == sorted(found.index)


def test_the_verdict_is_that_after_holm():
    # Ten strategies with p = 0.02 each are nothing.
    d = np.array([1.0, 2.0, 3.0, -0.5, 2.5, 1.5])
    p = stats.ttest_rel(d, np.zeros(6)).pvalue
    assert 0.005 < p < 0.05
    few = compare(table({"random": np.zeros(6), "s": d}), "random")
    many = compare(table({"random": np.zeros(6)} | {f"s{i}": d for i in range(10)}), "random")
    assert set(few["verdict"]) == {"better"}
    assert set(many["verdict"]) == {""}


def test_pairs_are_the_seeds_that_both_have():
    found = compare(
        table({"random": [1, 2, NAN, 4, 90], "a": [2, 4, 70, 5, NAN], "b": [NAN, NAN, 3, 6, NAN]}),
        "random",
    )
    rows = setting(found)
    assert rows.loc["a", "difference"] == pytest.approx(4 / 3)
    assert rows["n"].tolist() == [3, 1]
    assert rows.loc["a", "p"] == pytest.approx(stats.ttest_rel([2, 4, 5], [1, 2, 4]).pvalue)
    assert rows.loc["b", "difference"] == 2
    assert rows.loc["b", ["half_width", "effect", "p", "p_holm"]].isna().all()
    assert rows.loc["b", "verdict"] == ""
    # b is no test, so a is the only one.
    assert rows.loc["a", "p_holm"] == rows.loc["a", "p"]


def test_no_pair_at_all():
    row = compare(table({"random": [1, NAN], "a": [NAN, 2]}), "random").iloc[0]
    assert row["n"] == 0
    assert np.isnan([row["difference"], row["p"], row["p_holm"]]).all()
    assert row["verdict"] == ""


def test_nothing_to_compare():
    columns = ["difference", "half_width", "effect", "p", "p_holm", "n", "verdict"]
    for found in (
        compare(table({"random": [1, 2]}), "random"),
        compare(table({"a": [1, 2]}), "random"),
    ):
        assert list(found.columns) == columns
        assert found.empty
        assert found.index.names == ["dataset", "track", "batch_size", "strategy"]


def test_no_difference_at_all():
    row = compare(table({"random": [1.5, 2.7], "a": [1.5, 2.7]}), "random").iloc[0]
    assert (row["p"], row["p_holm"], row["effect"], row["half_width"]) == (1, 1, 0, 0)
    assert f"{paired_test([-1e-13, 1e-13]).difference:+}" == "+0.0"
    assert row["verdict"] == ""


def test_the_same_difference_at_every_seed_is_judged_by_its_sign():
    random = np.array([80.1, 79.3, 63.7, 30.9, 7.7, 78.3])
    assert len(set(random - 1.2 - random)) > 1
    two = compare(table({"random": random[:2], "a": random[:2] + 1.2}), "random").iloc[0]
    assert (two["p"], two["verdict"], two["effect"]) == (0.5, "", np.inf)
    six = compare(table({"random": random, "a": random - 1.2}), "random").iloc[0]
    assert six["p"] == stats.binomtest(0, 6).pvalue == 2**-5
    assert (six["verdict"], six["effect"]) == ("worse", -np.inf)


@given(st.lists(st.integers(-300, 300), min_size=2, max_size=8), st.randoms())
@settings(deadline=None)
def test_the_paired_test_is_antisymmetric_and_blind_to_the_order(numbers, random):
    d = np.array(numbers) / 7
    test, mirrored = paired_test(d), paired_test(-d)
    shuffled = numbers.copy()
    random.shuffle(shuffled)
    other = paired_test(np.array(shuffled) / 7)
    assert 0 <= test.p <= 1
    assert test.p == pytest.approx(mirrored.p, rel=1e-9, abs=1e-12)
    assert test.p == pytest.approx(other.p, rel=1e-9, abs=1e-12)
    assert test.difference == pytest.approx(-mirrored.difference)
    assert test.effect == pytest.approx(-mirrored.effect)
    # The interval holds 0 just if the test sees no difference.
    if len(set(numbers)) > 1 and abs(test.p - 0.05) > 1e-6:
        assert (test.p < 0.05) == (abs(test.difference) > test.half_width)


# not_worse_than_best


def test_who_is_not_worse_than_the_best():
    best = np.array([90.0, 91.0, 92.0, 93.0, 90.5, 91.5])
    noise = np.array([0.1, -0.2, 0.15, 0.05, -0.1, 0.1])
    frame = table({"low": best - 5 - noise, "near": best - 0.01 + noise, "top": best})
    expected = ("near", {"near", "top"}, set())
    assert not_worse_than_best(frame) == expected
    assert not_worse_than_best(setting(frame)) == expected
    assert not_worse_than_best(frame[::-1].iloc[:, ::-1]) == expected


def test_the_best_is_corrected_for_the_number_of_strategies():
    best, d = np.full(6, 90.0), np.array([1.0, 2.0, 3.0, -0.5, 2.5, 1.5])
    assert not_worse_than_best(table({"best": best, "a": best - d}))[1] == {"best"}
    many = {f"a{i}": best - d for i in range(10)}
    assert len(not_worse_than_best(table({"best": best} | many))[1]) == 11


def test_the_best_with_too_few_seeds():
    assert not_worse_than_best(table({"a": [1], "b": [9]})) == ("b", {"b"}, {"a"})
    assert not_worse_than_best(table({"a": [1, 2]})) == ("a", {"a"}, set())
    # One lucky seed doesn't make a best, and can't be tested.
    lucky = table({"a": [1, 2, 3], "b": [NAN, NAN, 99], "c": [4.1, 5.3, 6.2]})
    assert not_worse_than_best(lucky) == ("c", {"c"}, {"b"})
    assert not_worse_than_best(table({"b": [5, 6], "a": [6, 5]}))[0] == "b"


def test_better_at_the_shared_seeds_is_not_worse():
    # b has the best mean thanks to a seed that a lacks, but loses wherever both are.
    a, b = [*np.arange(10) * 1.5 + 3, NAN], [*np.arange(10), 99.0]
    frame = table({"a": a, "b": b})
    assert frame.mean(axis=1).idxmax()[-1] == "b"
    assert compare(frame, "b")["verdict"].tolist() == ["better"]
    assert not_worse_than_best(frame) == ("b", {"a", "b"}, set())


# rank_table

#: Areas under the ROC curve of four kinds of C4.5 on 14 datasets (Demšar 2006, Table 6).
#: On the last but one, two are printed as 0.975 and ranked 2 and 3.
DEMSAR = {
    "C4.5": [763, 599, 954, 628, 882, 936, 661, 583, 775, 1000, 940, 619, 972, 957],
    "C4.5+m": [768, 591, 971, 661, 888, 931, 668, 583, 838, 1000, 962, 666, 981, 978],
    "C4.5+cf": [771, 590, 968, 654, 886, 916, 609, 563, 866, 1000, 965, 614, 975.1, 946],
    "C4.5+m+cf": [798, 569, 967, 657, 898, 931, 685, 625, 875, 1000, 962, 669, 975, 970],
}
#: Seconds of 22 players to round first base in three ways (Hollander and Wolfe 1973).
BASE = """
5.40 5.50 5.55 5.85 5.70 5.75 5.20 5.60 5.50 5.55 5.50 5.40 5.90 5.85 5.70 5.45 5.55 5.60
5.40 5.40 5.35 5.45 5.50 5.35 5.25 5.15 5.00 5.85 5.80 5.70 5.25 5.20 5.10 5.65 5.55 5.45
5.60 5.35 5.45 5.05 5.00 4.95 5.50 5.50 5.40 5.45 5.55 5.50 5.55 5.55 5.35 5.45 5.50 5.55
5.50 5.45 5.25 5.65 5.60 5.40 5.70 5.65 5.55 6.30 6.30 6.25
"""
#: A depression scale at two visits (Hollander and Wolfe 1973).
FIRST = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
SECOND = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]


def test_mean_ranks_of_demsar():
    parts = [
        table({name: [values[i] / 10] for name, values in DEMSAR.items()}, dataset=f"d{i:02}")
        for i in range(14)
    ]
    found = rank_table(pd.concat(parts))
    assert found.mean_ranks.round(3).to_dict() == {
        "C4.5+m+cf": 1.964,
        "C4.5+m": 2.0,
        "C4.5+cf": 2.893,
        "C4.5": 3.143,
    }
    assert found.mean_ranks.is_monotonic_increasing
    assert (found.n_blocks, found.n_left_out, found.reason) == (14, 0, "")
    # Demšar has 9.28. With the correction for ties, three pairs and a row of four, it is
    # that over 1 - sum(t^3 - t) / (N (k^3 - k)).
    assert found.chi2 == pytest.approx(9.28 / (1 - (3 * 6 + 60) / (14 * 60)), abs=0.01)


def test_friedman_of_hollander_and_wolfe():
    seconds = np.array(BASE.split(), dtype=float).reshape(22, 3)
    names = ["round out", "narrow angle", "wide angle"]
    found = rank_table(table(dict(zip(names, seconds.T, strict=True))))
    # R: friedman.test(RoundingTimes)
    assert found.chi2 == pytest.approx(11.143, abs=5e-4)
    assert found.p == pytest.approx(0.003805, abs=5e-7)
    # High scores rank first: the slowest here.
    assert found.mean_ranks.index[-1] == "wide angle"


def test_wilcoxon_of_hollander_and_wolfe():
    never = [100.0] * 9
    found = rank_table(table({"first": FIRST, "second": SECOND, "third": never}))
    # R: wilcox.test(x, y, paired = TRUE) gives V = 40, p = 0.03906; the others are 2 / 2^9.
    expected = {("first", "second"): 0.0390625, ("first", "third"): 3 / 256}
    for (one, other), p in expected.items():
        assert found.pairwise.loc[one, other] == pytest.approx(p)
        assert found.pairwise.loc[other, one] == pytest.approx(p)
    assert (
        list(found.pairwise.index) == list(found.pairwise.columns) == list(found.mean_ranks.index)
    )
    assert found.cliques == [("third",), ("first",), ("second",)]


def exact_signed_rank(d):
    """Pratt's test by going through all signs: zeros are ranked, but have no sign."""
    ranks = stats.rankdata(np.abs(d)) * (d != 0)
    seen = abs((ranks * np.sign(d)).sum())
    signs = np.array(list(itertools.product([-1, 1], repeat=len(d))))
    return np.mean(np.abs(signs @ ranks) >= seen - 1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_wilcoxon_with_ties_and_zeros(seed):
    rng = np.random.default_rng(seed)
    values = {name: rng.integers(60, 66, size=10) + i for i, name in enumerate("abc")}
    found = rank_table(table(values)).pairwise
    pairs = list(itertools.combinations("abc", 2))
    p = [exact_signed_rank(values[one] - values[other]) for one, other in pairs]
    for (one, other), expected in zip(pairs, holm(p), strict=True):
        assert found.loc[one, other] == pytest.approx(expected)


def test_wilcoxon_of_many_blocks_with_ties():
    rng = np.random.default_rng(0)
    values = {name: rng.integers(60, 66, size=80).astype(float) for name in "abc"}
    found = rank_table(table(values)).pairwise
    p = [
        stats.wilcoxon(values[a], values[b], zero_method="pratt", method="asymptotic").pvalue
        for a, b in (("a", "b"), ("a", "c"), ("b", "c"))
    ]
    np.testing.assert_allclose(
        [found.loc["a", "b"], found.loc["a", "c"], found.loc["b", "c"]], holm(p)
    )


def test_ranks_without_any_difference():
    values = [1.0, 2.0, 3.0, 4.0, 5.0]
    found = rank_table(table({"c": values, "a": values, "b": values}))
    assert found.mean_ranks.to_dict() == {"a": 2, "b": 2, "c": 2}
    assert (found.chi2, found.p) == (0, 1)
    assert (found.pairwise == 1).all(axis=None)
    assert found.cliques == [("a", "b", "c")]
    again = rank_table(table({"c": values, "a": values, "b": values}), ["b", "c", "a"])
    assert list(again.mean_ranks.index) == ["a", "b", "c"]


def test_rounding_makes_no_ranks():
    values = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    found = rank_table(table({"a": values, "b": values + 1e-13, "c": values - 1e-13}))
    assert found.mean_ranks.tolist() == [2, 2, 2]
    assert found.p == 1


def test_blocks_that_lack_a_strategy_are_left_out_and_counted():
    values = {"a": [3, 3, 3, 3, 3, NAN, 3], "b": [2, 2, 2, 2, 2, 9, 2], "c": [1, 1, 1, 1, 1, 9, 1]}
    parts = [table(values), table({"b": [50], "c": [60]}, dataset="e")]
    found = rank_table(pd.concat(parts))
    assert (found.n_blocks, found.n_left_out) == (6, 2)
    assert found.mean_ranks.to_dict() == {"a": 1, "b": 2, "c": 3}
    without = rank_table(pd.concat(parts), ["c", "b"])
    assert (without.n_blocks, without.n_left_out) == (8, 0)
    # b is above in six blocks, below in one, and equal in one.
    assert without.mean_ranks.to_dict() == {"b": (6 + 2 + 1.5) / 8, "c": (12 + 1 + 1.5) / 8}
    assert not blocks(pd.concat(parts), ["a"]).isna().any(axis=None)


@pytest.mark.parametrize(
    ("values", "n_blocks", "reason"),
    [
        ({"a": [1] * 9}, 9, "3 strategies"),
        ({"a": [1] * 9, "b": [2] * 9}, 9, "3 strategies"),
        ({"a": [1] * 4, "b": [2] * 4, "c": [3] * 4}, 4, "5 settings and seeds"),
        ({"a": [1, NAN], "b": [NAN, 2], "c": [3, 3]}, 0, "5 settings and seeds"),
    ],
)
def test_too_little_for_ranks(values, n_blocks, reason):
    found = rank_table(table(values))
    assert found.n_blocks == n_blocks
    assert math.isnan(found.p)
    assert math.isnan(found.chi2)
    assert reason in found.reason
    assert [sorted(clique) for clique in found.cliques] == [sorted(values)]
    off_diagonal = found.pairwise.to_numpy()[~np.eye(len(values), dtype=bool)]
    assert np.isnan(off_diagonal).all()


def square(names, different):
    matrix = pd.DataFrame(1.0, index=list(names), columns=list(names))
    for one, other in different:
        matrix.loc[one, other] = matrix.loc[other, one] = 0.01
    return matrix


@pytest.mark.parametrize(
    ("different", "expected"),
    [
        ([], ["abcd"]),
        (["ad"], ["abc", "bcd"]),
        (["ac", "ad", "bd"], ["ab", "bc", "cd"]),
        (["ab", "ac", "ad"], ["a", "bcd"]),
        # Neighbours alone: a and c are alike, but b lies between and is not.
        (["ab", "bc"], ["a", "b", "cd"]),
        (["bc"], ["ab", "cd"]),
        (["".join(pair) for pair in itertools.combinations("abcd", 2)], list("abcd")),
    ],
)
def test_cliques(different, expected):
    assert _cliques(square("abcd", different)) == [tuple(group) for group in expected]


def test_five_percent_is_no_difference():
    matrix = square("ab", ["ab"]).replace(0.01, 0.05)
    assert _cliques(matrix) == [("a", "b")]


scores_of_a_setting = st.integers(1, 5).flatmap(
    lambda n: st.lists(
        st.lists(st.integers(500, 1000).map(lambda x: x / 10), min_size=n, max_size=n),
        min_size=1,
        max_size=7,
    )
)


@given(scores_of_a_setting, st.randoms())
@settings(deadline=None, max_examples=20)
def test_ranks_add_up_and_the_order_of_seeds_and_strategies_is_nothing(rows, random):
    names = [f"s{i}" for i in range(len(rows[0]))]
    values = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    found = rank_table(table(values))
    n = len(names)
    assert found.mean_ranks.sum() == pytest.approx(n * (n + 1) / 2)
    assert set().union(*found.cliques) == set(names)
    assert not any(set(a) < set(b) for a in found.cliques for b in found.cliques)
    shuffled = table(values).sample(frac=1, random_state=random.randrange(2**32))
    shuffled = shuffled.sample(frac=1, axis=1, random_state=random.randrange(2**32))
    again = rank_table(shuffled)
    pd.testing.assert_series_equal(found.mean_ranks, again.mean_ranks)
    pd.testing.assert_frame_equal(found.pairwise, again.pairwise)
    assert found.cliques == again.cliques
    assert found.p == pytest.approx(again.p, nan_ok=True)


# penalty_matrix


def parallel(levels, n_rounds=2, seeds=6, **options):
    """Curves at constant levels, with the same small noise at each seed for all but itself."""
    rng = np.random.default_rng(0)
    curves = {}
    for name, level in levels.items():
        for seed in range(seeds):
            curves[name, seed] = [0.3, *(level + rng.normal(0, 0.002, size=n_rounds))]
    return rounds(curves, **options)


def test_rows_beat_columns():
    found = penalty_matrix(parallel({"good": 0.9, "middle": 0.8, "bad": 0.7}))
    assert found.index.name == "winner"
    assert found.columns.name == "loser"
    assert list(found.columns) == ["bad", "good", "middle"]
    assert list(found.index) == ["bad", "good", "middle", "penalty"]
    assert found.loc["good", "bad"] == found.loc["good", "middle"] == 1
    assert found.loc["middle", "bad"] == 1
    assert found.loc["bad"].sum() == 0
    # Beaten by one of three, by two of three; the diagonal counts as in the authors' code.
    assert found.loc["penalty"].round(6).to_dict() == {
        "bad": 0.666667,
        "good": 0,
        "middle": 0.333333,
    }


def test_settings_add_up_and_an_absent_strategy_takes_no_part():
    frame = pd.concat(
        [
            parallel({"a": 0.9, "b": 0.8}),
            parallel({"a": 0.9, "b": 0.8}, dataset="e"),
            parallel({"a": 0.9, "c": 0.8}, batch_size=20),
            parallel({"full": 0.9}),
        ]
    )
    found = penalty_matrix(frame)
    assert found.to_numpy().tolist() == [[0, 2, 1], [0, 0, 0], [0, 0, 0], [0, 2 / 3, 1 / 3]]


def test_checkpoints_are_at_powers_of_two():
    # a is ahead at rounds 1 and 4 only, and 3, 5, 6 and 7 are not looked at.
    frame = parallel({"a": 0.8, "b": 0.8}, n_rounds=9)
    ahead = (frame["strategy"] == "a") & frame["round"].isin([1, 4])
    behind = (frame["strategy"] == "a") & frame["round"].isin([0, 3, 5, 6, 7, 9])
    frame.loc[ahead, "accuracy"] += 0.1
    frame.loc[behind, "accuracy"] -= 0.1
    found = penalty_matrix(frame)
    assert found.loc["a", "b"] == 2 / 4
    assert found.loc["b", "a"] == 0


@pytest.mark.parametrize(
    ("random", "n_checkpoints"),
    [
        ([0.3, 0.995, 0.997, 0.998, 1.0], 1),
        ([0.3, 0.9, 0.99, 1.0, 1.0], 2),
        ([0.3, 0.9, 0.98, 0.995, 1.0], 3),
        ([0.3, 0.9, 0.9, 0.9, 1.0], 3),
        # Reached at round 3, which is no checkpoint: the next one is the last.
        ([0.3, 0.9, 0.9, 1.0, 1.0, 1, 1, 1, 1.0], 3),
        ([0.3, 0.9, 0.9, 0.9, 0.9, 1, 1, 1, 1.0], 4),
    ],
)
def test_checkpoints_end_when_random_is_near_its_end(random, n_checkpoints):
    seeds = range(6)
    noise = np.random.default_rng(0).normal(0, 1e-4, size=6)
    # a is ahead at round 1 only.
    a = [random[0], random[1] - 0.5, *random[2:]]
    curves = {("random", s): random for s in seeds}
    curves |= {("a", s): [x + noise[s] if i == 1 else x for i, x in enumerate(a)] for s in seeds}
    found = penalty_matrix(rounds(curves))
    assert found.loc["random", "a"] == pytest.approx(1 / n_checkpoints)
    assert found.loc["a", "random"] == 0


def test_only_what_the_t_test_sees_counts():
    d = [0.012, 0.024, 0.013, 0.013, 0.0, 0.010, 0.018, 0.008, 0.046, 0.014]
    curves = {("b", s): [0.3, 0.5] for s in range(10)}
    curves |= {("a", s): [0.3, 0.5 + d[s]] for s in range(10)}
    assert penalty_matrix(rounds(curves)).loc["a", "b"] == 1
    # The first five alone: p = 0.03; the first four, one of them turned: p > 0.05.
    few = {key: curve for key, curve in curves.items() if key[1] < 4}
    few["a", 3] = [0.3, 0.5 - 0.013]
    p = stats.ttest_rel([few["a", s][1] for s in range(4)], [0.5] * 4).pvalue
    assert p > 0.05
    assert penalty_matrix(rounds(few)).loc["a", "b"] == 0


def test_seeds_are_paired_in_the_penalty_matrix():
    # Far apart between seeds, close within: only the pairs tell.
    base = np.linspace(0.2, 0.9, 8)
    gain = 0.01 + np.array([1, -1, 2, -2, 1, -1, 2, -2]) / 1000
    curves = {("a", s): [0.1, base[s] + gain[s]] for s in range(8)}
    curves |= {("b", s): [0.1, base[s]] for s in reversed(range(8))}
    curves["b", 99] = [0.1, 1.0]
    assert penalty_matrix(rounds(curves)).loc["a", "b"] == 1


def test_penalties_with_one_seed_one_strategy_or_the_warm_up_alone():
    one_seed = parallel({"a": 0.9, "b": 0.5}, seeds=1)
    assert (penalty_matrix(one_seed) == 0).all(axis=None)
    assert penalty_matrix(parallel({"a": 0.9})).to_numpy().tolist() == [[0], [0]]
    warm_up = rounds({("a", s): [0.5] for s in range(3)} | {("b", s): [0.1] for s in range(3)})
    assert (penalty_matrix(warm_up) == 0).all(axis=None)


@given(
    st.integers(1, 3),
    st.integers(2, 4),
    st.integers(1, 5),
    st.integers(0, 2**32 - 1),
)
@settings(deadline=None, max_examples=40)
def test_two_strategies_never_beat_each_other_more_often_than_there_are_settings(
    n_settings, n_seeds, n_rounds, seed
):
    rng = np.random.default_rng(seed)
    parts = []
    for number in range(n_settings):
        curves = {
            (name, s): rng.integers(0, 20, size=n_rounds + 1) / 20
            for name in ("a", "b", "random")
            for s in range(n_seeds)
        }
        parts.append(rounds(curves, dataset=f"d{number}"))
    frame = pd.concat(parts)
    found = penalty_matrix(frame)
    wins = found.drop("penalty").to_numpy()
    assert (wins + wins.T <= n_settings + 1e-9).all()
    assert (wins >= 0).all()
    assert (np.diag(wins) == 0).all()
    np.testing.assert_allclose(found.loc["penalty"], wins.sum(axis=0) / 3)
    other_seeds = frame.assign(seed=(frame["seed"] * 7 + 3) % 11)
    mixed = other_seeds.sample(frac=1, random_state=seed)
    pd.testing.assert_frame_equal(found, penalty_matrix(mixed))


# performance_profile


def test_profile_by_hand():
    frame = table({"a": [90, 80, 96], "b": [80, 90, 95], "c": [70, 70, 90]})
    # Errors 10 20 4, 20 10 5, 30 30 10: ratios 1 2 1, 2 1 1.25, 3 3 2.5.
    found = performance_profile(frame, [1, 1.25, 2, 2.5, 3])
    assert found.index.name == "tau"
    np.testing.assert_allclose(found["a"], [2 / 3, 2 / 3, 1, 1, 1])
    np.testing.assert_allclose(found["b"], [1 / 3, 2 / 3, 1, 1, 1])
    np.testing.assert_allclose(found["c"], [0, 0, 0, 1 / 3, 1])
    # Without a, b is the best everywhere.
    two = performance_profile(frame, [1, 2], ["b", "c"])
    assert list(two.columns) == ["b", "c"]
    np.testing.assert_allclose(two["c"], [0, 2 / 3])


def test_profile_where_the_best_has_no_error():
    found = performance_profile(table({"a": [100, 100], "b": [100, 99]}), [1, 1e9])
    assert found["a"].tolist() == [1, 1]
    assert found["b"].tolist() == [0.5, 0.5]


def test_profile_over_whole_blocks_only():
    frame = pd.concat(
        [table({"a": [90, NAN, 50], "b": [80, 99, 75]}), table({"b": [99]}, dataset="e")]
    )
    found = performance_profile(frame, [1, 2])
    assert found.to_numpy().tolist() == [[0.5, 0.5], [1, 1]]
    assert performance_profile(table({"a": [1, NAN], "b": [NAN, 2]}), [1]).isna().all(axis=None)


@given(scores_of_a_setting)
@settings(deadline=None, max_examples=60)
def test_profiles_rise_and_someone_is_best(rows):
    values = {f"s{i}": column for i, column in enumerate(map(list, zip(*rows, strict=True)))}
    found = performance_profile(table(values), [1, 1.01, 1.5, 3, 1000])
    assert ((found >= 0) & (found <= 1)).all(axis=None)
    assert (found.diff().iloc[1:] >= 0).all(axis=None)
    assert found.loc[1].sum() >= 1 - 1e-9


# labels_needed


def full_accuracy(value, dataset="d", track="frozen"):
    return pd.Series({(dataset, track): value})


def test_labels_needed_by_hand():
    frame = rounds(
        {
            ("a", 0): [0.1, 0.80, 0.70, 0.9],
            ("a", 1): [0.1, 0.50, 0.73, 0.9],
            ("a", 2): [0.1, 0.50, 0.60, 0.5],
            ("b", 0): [0.1, 0.10, 0.10, 0.1],
            ("b", 1): [0.75, 0.1, 0.10, 0.1],
            ("full", 0): [0.8],
        }
    )
    found = labels_needed(frame, full_accuracy(0.8), shares=(0.9, 1.0))
    assert found.index.names == ["dataset", "track", "batch_size", "strategy", "share"]
    rows = setting(found)
    # 0.72 is first reached at 30 and 40 labels and never.
    assert rows.loc[("a", 0.9)].tolist() == [3, 2, 40]
    assert rows.loc[("a", 1.0)].tolist() == [3, 2, 50]
    # At 20 labels and never: of two, the median lies half way.
    assert rows.loc[("b", 0.9)].tolist() == [2, 1, np.inf]
    assert rows.loc[("b", 1.0)].tolist() == [2, 0, np.inf]
    assert len(rows) == 4


def test_labels_needed_is_the_median_of_the_seeds():
    curves = {("a", s): [0.1] * s + [0.9] * (6 - s) for s in range(4)}
    row = labels_needed(rounds(curves), full_accuracy(1.0), shares=[0.9]).iloc[0]
    # 20, 30, 40 and 50
    assert row["labels"] == 35


def test_labels_needed_is_not_lost_to_rounding():
    # Some of these products are a little more in binary than in decimals.
    full = pd.Series({(f"d{i:02}", "frozen"): i / 100 for i in range(1, 101)})
    assert any(0.9 * value > round(0.9 * value, 4) for value in full)
    parts = [
        rounds({("a", 0): [0.0, round(0.9 * value, 4)]}, dataset=dataset)
        for (dataset, _), value in full.items()
    ]
    found = labels_needed(pd.concat(parts), full, shares=[0.9])
    assert found["labels"].tolist() == [30] * 100


def test_labels_needed_by_dataset_and_track():
    curve = {("a", 0): [0.3, 0.5, 0.9]}
    frame = pd.concat([rounds(curve), rounds(curve, dataset="e"), rounds(curve, track="finetune")])
    full = pd.Series({("d", "frozen"): 0.5, ("d", "finetune"): 0.9, ("x", "frozen"): 0.1})
    found = labels_needed(frame, full, shares=[1.0])["labels"]
    assert found.to_dict() == {
        ("d", "finetune", 10, "a", 1.0): 40,
        ("d", "frozen", 10, "a", 1.0): 30,
    }
    nothing = labels_needed(frame, full.iloc[:0])
    assert list(nothing.columns) == ["n_seeds", "n_reached", "labels"]
    assert nothing.empty


def test_a_full_accuracy_in_percent_is_refused():
    with pytest.raises(ValueError, match=r"up to 93; give it as .* from 0 to 1"):
        labels_needed(rounds({("a", 0): [0.3, 0.5]}), full_accuracy(93.0))


# below_random


def test_below_random_by_hand():
    frame = pd.concat(
        [
            rounds(
                {
                    ("random", 0): [0.9, 0.5, 0.6],
                    ("random", 1): [0.9, 0.5, 0.6],
                    ("a", 0): [0.1, 0.4, 0.6],
                    ("a", 1): [0.1, 0.6, 0.5],
                    ("a", 2): [0.1, 0.0, 0.0],
                    ("b", 1): [0.1, 0.9, 0.9],
                    ("full", 0): [0.1],
                }
            ),
            rounds({("random", 0): [0.9, 0.5], ("a", 0): [0.9, 0.4]}, dataset="e"),
            rounds({("a", 0): [0.1, 0.1]}, dataset="f"),
        ]
    )
    found = below_random(frame)
    assert found.to_dict("index") == {
        ("d", "frozen", 10, "a"): {"n": 4, "n_below": 2, "share": 0.5},
        ("d", "frozen", 10, "b"): {"n": 2, "n_below": 0, "share": 0.0},
        ("e", "frozen", 10, "a"): {"n": 1, "n_below": 1, "share": 1.0},
    }
    assert below_random_overall(found).to_dict("index") == {
        "a": {"n": 5, "n_below": 3, "share": 0.6},
        "b": {"n": 2, "n_below": 0, "share": 0.0},
    }


def test_below_random_without_random():
    found = below_random(rounds({("a", 0): [0.1, 0.2]}))
    assert found.empty
    assert list(found.columns) == ["n", "n_below", "share"]
    assert below_random_overall(found).empty


# table3


def batches(**columns):
    frame = rounds({("a", 0): [0.1, 0.2, 0.3], ("full", 0): [0.9]})
    empty = dict.fromkeys(["batch_error_rate", "pool_error_rate", "first_step_loss"], None)
    return frame.assign(**{**empty, "divergence": None, "lift": None, **columns})


def test_table3_by_hand():
    frame = batches(
        batch_error_rate=[None, 0.9, 0.3, 0.5],
        pool_error_rate=[None, 0.3, 0.1, 0.5],
        lift=[None, 3.0, 3.0, 1.0],
        first_step_loss=[None, 1.0, 2.0, 9.0],
    )
    found = table3(frame)
    assert list(found.columns) == [
        "batch_error_rate",
        "pool_error_rate",
        "lift",
        "first_step_loss",
    ]
    assert found.iloc[0].to_list() == pytest.approx([0.6, 0.2, 3.0, 1.5])
    # Frames from disk have columns of None where nothing was measured.
    assert frame["divergence"].dtype == object
    assert set(table3(frame.astype({"first_step_loss": object})).dtypes) == {np.dtype(float)}


def test_lift_is_the_ratio_of_the_means():
    frame = batches(batch_error_rate=[NAN, 0.4, 0.4, NAN], pool_error_rate=[NAN, 0.4, 0.1, NAN])
    # The mean of the ratios would be 2.5.
    assert table3(frame)["lift"].tolist() == pytest.approx([1.6])
    no_error = batches(batch_error_rate=[NAN, 0, 0, NAN], pool_error_rate=[NAN, 0, 0, NAN])
    assert table3(no_error)["lift"].isna().all()


def test_divergence_where_it_was_measured():
    frame = batches(divergence=[None, 0.2, None, None])
    both = pd.concat([frame, batches().assign(dataset="e")])
    assert table3(both)["divergence"].tolist() == pytest.approx([0.2, NAN], nan_ok=True)
    assert "divergence" not in table3(batches())


# All of them


def test_frames_of_no_rounds():
    nothing = batches().iloc[:0]
    empty = scores(nothing)
    assert areas(nothing).empty
    assert compare(empty, "random").empty
    assert rank_table(empty).n_blocks == 0
    assert rank_table(empty).cliques == []
    assert penalty_matrix(nothing).shape == (1, 0)
    assert performance_profile(empty, [1, 2]).shape == (2, 0)
    assert labels_needed(nothing, full_accuracy(0.9)).empty
    assert below_random(nothing).empty
    assert table3(nothing).empty


def test_the_frame_stays_as_it_was():
    frame = batches(batch_error_rate=0.5, pool_error_rate=0.5)
    before = frame.copy()
    table_before = scores(frame)
    for function in (scores, areas, penalty_matrix, below_random, table3):
        function(frame)
    labels_needed(frame, full_accuracy(0.9))
    pd.testing.assert_frame_equal(frame, before)
    found = scores(frame)
    compare(found, "a")
    not_worse_than_best(found)
    rank_table(found)
    performance_profile(found, [1.0])
    pd.testing.assert_frame_equal(found, table_before)
