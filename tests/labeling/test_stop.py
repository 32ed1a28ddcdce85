"""When to stop: agreement of models, and the error that is left."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.metrics import cohen_kappa_score

from real_plugin.labeling.accuracy import CrossValidation, cross_validate, share
from real_plugin.labeling.model import new_head
from real_plugin.labeling.stopping import Agreement, Point, agreement, has_settled


@settings(max_examples=100)
@given(st.lists(st.tuples(*[st.sampled_from("abc")] * 2), min_size=2, max_size=40))
def test_agreement_is_cohens_kappa(pairs):
    before = {str(i): one for i, (one, _) in enumerate(pairs)}
    after = {str(i): other for i, (_, other) in enumerate(pairs)}
    found = agreement(before, {**after, "new": "a"})
    assert (found.rows, found.changed) == (len(pairs), sum(a != b for a, b in pairs))
    if found.changed:
        one, other = zip(*pairs, strict=True)
        assert found.kappa == pytest.approx(cohen_kappa_score(one, other))
        assert found.low <= found.kappa + 1e-9
        assert found.kappa <= found.high + 1e-9
    else:
        assert found.kappa == found.low == found.high == 1


def test_no_shared_rows_is_no_agreement():
    assert agreement({"1": "a"}, {"2": "a"}) is None


def points(*kappas):
    return [
        Point("1", 1, None, None, None, None if k is None else Agreement(k, k, k, 1, 9))
        for k in kappas
    ]


@pytest.mark.parametrize(
    ("kappas", "settled"),
    [
        ([], None),
        ([None, 1.0, 1.0], None),
        ([0.5, 0.99, 0.995, 0.99], True),
        ([0.99, 0.99, 0.95], False),
        ([1.0, 1.0, 1.0, None], None),
    ],
)
def test_three_comparisons_decide(kappas, settled):
    assert has_settled(points(*kappas)) is settled


def test_shares_have_wilsons_interval():
    found = share(8, 10)
    assert (found.value, round(found.low, 4), round(found.high, 4)) == (0.8, 0.4902, 0.9433)
    assert str(found) == "80 % (95 % interval 49 to 94 %)"


@pytest.mark.parametrize("slope", [0.7, 1.5])
def test_the_pools_accuracy_is_found_though_labels_are_harder(slope):
    """Labels are picked where the confidence is low; right follows the confidence alike."""
    rng = np.random.default_rng(0)
    confidence = rng.uniform(0.4, 0.99, size=20_000)
    is_right = rng.uniform(size=20_000) < expit(slope * np.log(confidence / (1 - confidence)))
    picked = np.argsort(confidence + rng.normal(0, 0.15, size=20_000))[:600]
    validation = CrossValidation(is_right[picked], confidence[picked])
    truth = is_right.mean()
    assert validation.accuracy().high < truth - 0.05
    found = validation.accuracy_on(confidence)
    assert found.low <= truth <= found.high
    assert found.high - found.low < 0.3


def test_labels_that_are_all_right_or_all_wrong():
    for value in (True, False):
        validation = CrossValidation(np.full(12, value), np.linspace(0.4, 0.9, 12))
        assert validation.accuracy_on(np.array([0.5, 0.6])).value == float(value)


def test_cross_validation_needs_labels_of_two_classes():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(20, 3))
    assert cross_validate(new_head(), Z, ["a"] * 20) is None
    assert cross_validate(new_head(), Z, ["a"] * 16 + ["b"] * 4) is None
    found = cross_validate(new_head(), Z, ["a"] * 10 + ["b"] * 9 + ["rare"])
    assert len(found.is_right) == 20
    assert not found.is_right[19]


def test_stop_says_go_on_until_predictions_settle(rounds, run):
    project = rounds(1)
    code, said, _ = run("stop", "--project", project)
    assert code == 5
    assert "too few to tell; go on" in said
    rounds(2)
    code, said, _ = run("stop", "--project", project)
    assert "   now      45" in said
    assert "error: about" in said
    assert "95 % interval" in said
    assert code in (0, 5)


def test_stop_before_the_first_batch(run, project):
    code, said, _ = run("stop", "--project", project)
    assert code == 5
    assert "no batch was suggested yet" in said


def test_stop_when_nothing_changes_any_more(run, project, place, truth):
    """The same labels three times over: models that are the same."""
    keys = list(truth)[::4]
    from tests.labeling.conftest import write_csv

    write_csv(place / "l.csv", [{"id": key, "label": truth[key][1]} for key in keys])
    assert run("merge", "l.csv", "--project", project)[0] == 0
    for i in range(4):
        assert run("suggest", "--project", project, "-n", 3, "-o", f"{i}.csv")[0] == 0
    code, said, _ = run("stop", "--project", project)
    assert code == 0
    assert "the predictions have settled" in said
    assert "kappa 1.000" in said
