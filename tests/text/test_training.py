"""Training: the paper's protocol, labels of all kinds, and what is refused."""

import copy

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from skorch.callbacks import Callback, EarlyStopping, EpochScoring

from real_plugin.text.training import fit_uninterrupted, linear_schedule


class Recorder(Callback):
    """Notes learning rates and gradient norms of every step."""

    def initialize(self):
        self.rates_, self.decays_ = [], []
        return self

    def on_batch_begin(self, net, training=False, **kwargs):
        if training:
            groups = net.optimizer_.param_groups
            self.rates_.append(groups[0]["lr"])
            self.decays_ = [(g["weight_decay"], len(g["params"])) for g in groups]


def test_it_learns(make, data):
    (X, y), (X_test, y_test) = data
    clf = make().fit(X, y)
    assert clf.score(X_test, y_test) > 0.9
    assert clf.classes_.tolist() == ["politics", "science", "sport"]
    assert set(clf.predict(X_test)) == set(y_test)
    P = clf.predict_proba(X_test)
    assert P.dtype == np.float32
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize(
    ("precision", "seen"), [("float32", torch.float32), ("bfloat16", torch.bfloat16)]
)
def test_precision_of_training(make, data, precision, seen):
    (X, y), (X_test, y_test) = data
    clf = make(training_precision=precision).fit(X, y)
    assert {p.dtype for p in clf.module_.parameters()} == {torch.float32}
    assert clf.score(X_test, y_test) > 0.9
    found = {"encoder": set(), "head": set()}
    for part, dtypes in found.items():
        for layer in getattr(clf.module_, part).modules():
            if isinstance(layer, torch.nn.Linear):
                layer.register_forward_hook(
                    lambda _layer, _x, out, dtypes=dtypes: dtypes.add(out.dtype)
                )
    clf.set_params(later_epochs=1).fit(X[:8], y[:8])
    assert found == {"encoder": {seen}, "head": {torch.float32}}


def test_epochs_schedule_and_optimizer_of_the_rounds(make, data):
    (X, y), _ = data
    recorder = Recorder()
    clf = make(max_epochs=10, batch_size=8, callbacks=[recorder]).fit(X[:32], y[:32])
    assert len(clf.history) == 10
    first = clf.optimizer_
    assert recorder.rates_[0] == 0  # the warm-up starts at 0
    assert max(recorder.rates_) == pytest.approx(5e-3)
    assert recorder.rates_[-1] == pytest.approx(5e-3 / 36)  # 40 steps, 4 of them warm-up
    weights = clf.module_.head[1].weight.detach().clone()
    clf.callbacks_ = [(n, cb.initialize() if n == "Recorder" else cb) for n, cb in clf.callbacks_]
    clf.fit(X, y)
    assert len(clf.history) == 14
    assert clf.rounds_ == 2
    assert clf.optimizer_ is not first
    assert len(recorder.rates_) == 4 * 15
    assert max(recorder.rates_) == pytest.approx(5e-3, rel=0.05)
    assert (clf.module_.head[1].weight - weights).abs().max() < 0.2  # went on, not anew
    clf.partial_fit(X, y)
    assert len(clf.history) == 18


class Interrupt(Callback):
    """Ctrl-C after a step."""

    def on_batch_end(self, net, training=False, **kwargs):
        raise KeyboardInterrupt


def test_programs_see_an_interrupt(make, data):
    (X, y), _ = data
    with pytest.raises(KeyboardInterrupt):
        fit_uninterrupted(make(callbacks=[Interrupt()]), X, y)
    clf = make(max_epochs=1).fit(X, y)
    clf.callbacks_.append(("interrupt", Interrupt()))
    with pytest.raises(KeyboardInterrupt):
        fit_uninterrupted(clf, X, y)
    clf.callbacks_.pop()
    fit_uninterrupted(clf, X, y)
    assert clf.rounds_ == 2


def test_a_training_that_early_stopping_ends_is_a_round(make, data):
    (X, y), _ = data
    stopping = EarlyStopping(monitor="train_loss", patience=3, threshold=1e9, threshold_mode="abs")
    clf = make(callbacks=[stopping], max_epochs=10, later_epochs=1).fit(X, y)
    n_epochs = len(clf.history)
    assert n_epochs < 10
    assert clf.rounds_ == 1
    clf.fit(X, y)
    assert len(clf.history) == n_epochs + 1
    assert clf.rounds_ == 2


def test_without_warm_start_fit_begins_anew(make, data):
    (X, y), _ = data
    clf = make(warm_start=False, max_epochs=2).fit(X, y)
    one = clf.predict_proba(X)
    np.testing.assert_array_equal(clf.fit(X, y).predict_proba(X), one)
    assert len(clf.history) == 2


def test_no_decay_for_biases_and_layer_norms(make, data):
    (X, y), _ = data
    recorder = Recorder()
    clf = make(max_epochs=1, callbacks=[recorder], optimizer__weight_decay=0.1).fit(X, y)
    plain = {
        n for n, _ in clf.module_.named_parameters() if n.endswith("bias") or "LayerNorm" in n
    }
    decayed = sum(n for decay, n in recorder.decays_ if decay == 0.1)
    spared = sum(n for decay, n in recorder.decays_ if decay == 0)
    assert spared == len(plain)
    assert decayed == len(list(clf.module_.parameters())) - len(plain)


def test_gradients_are_clipped(make, data):
    (X, y), _ = data
    norms = []

    class Norms(Callback):
        def on_batch_end(self, net, training=False, **kwargs):
            grads = [p.grad.norm() for p in net.module_.parameters() if p.grad is not None]
            norms.append(float(torch.stack(grads).norm()))

    make(max_epochs=1, gradient_clip=0.01, callbacks=[Norms()]).fit(X, y)
    assert max(norms) <= 0.0101


@pytest.mark.parametrize(("steps", "warm_up"), [(5, 0), (50, 5), (5000, 100)])
def test_linear_schedule(steps, warm_up):
    factor = linear_schedule(steps)
    assert factor(warm_up) == 1
    assert factor(steps) == 0
    values = [factor(step) for step in range(steps + 1)]
    assert values.index(max(values)) == warm_up
    if warm_up:
        assert factor(0) == 0


def test_validation_data_choose_the_weights(make, data):
    (X, y), (X_dev, y_dev) = data
    clf = make(validation_data=(X_dev[:50], y_dev[:50]), max_epochs=3, batch_size=4).fit(X, y)
    steps = [step for step, _ in clf.validations_]
    assert steps == [8, 15, 23, 30, 38, 45, 53, 60, 68, 75, 83, 90]  # 4 in each epoch of 30
    best = max(accuracy for _, accuracy in clf.validations_)
    assert clf.score(X_dev[:50], y_dev[:50]) == pytest.approx(best)


def test_bad_later_epochs_are_not_kept(make, data):
    """A ruinous learning rate in the second round: the best weights are its first ones."""
    (X, y), (X_dev, y_dev) = data
    clf = make(validation_data=(X_dev, y_dev), validations_per_epoch=15).fit(X, y)
    clf.set_params(lr=1.0)  # the warm-up begins at 0, so the first step does no harm
    clf.fit(X, y)
    best = max(accuracy for _, accuracy in clf.validations_)
    assert clf.score(X_dev, y_dev) == pytest.approx(best)
    assert clf.validations_[-1][1] < best


def test_a_seed_repeats_the_training_and_keeps_the_callers_generator(make, data):
    (X, y), (X_test, _) = data
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    one = make(max_epochs=2).fit(X, y).predict_proba(X_test)
    assert torch.equal(torch.rand(3), expected)
    np.testing.assert_array_equal(make(max_epochs=2).fit(X, y).predict_proba(X_test), one)
    other = make(max_epochs=2, random_state=1).fit(X, y).predict_proba(X_test)
    assert np.abs(other - one).max() > 1e-4


# Labels


@pytest.mark.parametrize(
    "names",
    [
        ("a", "b", "c"),
        (7, -1, 3),
        (0.5, 1.5, 2.5),
        (("x", 1), ("y", 2), ("z", 3)),
        ("a", 1, 2.5),
    ],
    ids=["str", "int", "float", "tuple", "mixed"],
)
def test_labels_of_any_kind(names, make, data):
    (X, y), _ = data
    order = ["politics", "science", "sport"]
    labels = [names[order.index(label)] for label in y]
    clf = make(max_epochs=5).fit(X, labels)
    assert set(clf.classes_.tolist()) == set(names)
    assert set(clf.predict(X).tolist()) <= set(names)
    assert clf.score(X, labels) > 0.8


def test_numpy_and_pandas_labels(make, data):
    pd = pytest.importorskip("pandas")
    (X, y), _ = data
    expected = make(max_epochs=1).fit(X, y).predict_proba(X)
    shuffled = np.random.default_rng(0).permutation(len(X))
    forms = [
        (np.array(X), np.array(y)),
        (np.array(X, dtype=object), np.array(y, dtype=object)),
        (pd.Series(X, index=shuffled), pd.Series(y, index=shuffled)),
        (tuple(X), tuple(y)),
    ]
    for texts, labels in forms:
        P = make(max_epochs=1).fit(texts, labels).predict_proba(texts)
        np.testing.assert_array_equal(P, expected)


def test_classes_that_come_later(make, data):
    (X, y), _ = data
    two = [i for i, label in enumerate(y) if label != "sport"]
    early = [X[i] for i in two], [y[i] for i in two]
    clf = make(max_epochs=1).fit(*early)
    before = clf.predict_proba(X)
    with pytest.raises(ValueError, match=r"doesn't know: 'sport'.*classes=\[\.\.\.\]"):
        clf.fit(X, y)
    np.testing.assert_array_equal(clf.predict_proba(X), before)  # nothing is lost

    told = make(max_epochs=4, later_epochs=6, classes=["sport", "politics", "science"])
    told.fit(*early)
    assert told.predict_proba(X).shape == (120, 3)
    assert told.fit(X, y).score(X, y) > 0.8
    assert told.classes_.tolist() == ["sport", "politics", "science"]


@pytest.mark.parametrize("form", [list, tuple, lambda names: as_objects(names)])
def test_given_classes_may_be_tuples(form, make, data):
    X, y = data[0]
    names = [("topic", name) for name in ("sport", "science", "politics")]
    clf = make(max_epochs=1, classes=form(names)).fit(X, [("topic", label) for label in y])
    assert clf.classes_.tolist() == names
    assert clone(clf).fit(X, [("topic", label) for label in y]).predict(X)[0] in names


def as_objects(values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def test_partial_fit_takes_classes_at_the_first_call(make, data):
    (X, y), _ = data
    clf = make(max_epochs=1).partial_fit(X[:2], y[:1] * 2, classes=np.unique(y))
    assert clf.classes_.tolist() == ["politics", "science", "sport"]


BAD = [
    ((["a text"], [None]), ValueError, r"y\[0\] is None"),
    ((["a", "b"], ["x", np.nan]), ValueError, r"y\[1\] is nan"),
    ((["a", "b"], np.array([0.0, np.nan])), ValueError, r"y\[1\] is nan"),
    ((["a", "b"], ["x"]), ValueError, "2 texts, but y has 1 labels"),
    ((["a", "b"], ["x", "x"]), ValueError, r"one class only, 'x'.*classes="),
    (([], []), ValueError, "no texts"),
    ((["a", "b"], None), ValueError, "y is None"),
    ((["a", None], ["x", "y"]), TypeError, r"X\[1\] is None.*drop missing"),
    ((["a", 3.0], ["x", "y"]), TypeError, r"X\[1\] is 3.0 of type float"),
    (("a text", ["x"]), TypeError, "single text"),
    (({"text": ["a"]}, ["x"]), TypeError, "X is a dict"),
    ((np.zeros((2, 3, 4)), ["x", "y"]), ValueError, r"shape \(2, 3, 4\)"),
    ((np.full((2, 3), 10**6), ["x", "y"]), ValueError, "numbers from 1000000.*vocabulary"),
    ((np.full((2, 3), 0.5), ["x", "y"]), ValueError, "numbers from 0.5 .*not of ids"),
    ((np.full((2, 3), np.nan), ["x", "y"]), ValueError, "numbers from nan .*not of ids"),
    ((["a", "b"], np.zeros((2, 2))), ValueError, r"y has shape \(2, 2\)"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "error", "message"), BAD, ids=lambda x: str(x)[:30])
def test_bad_training_data(arguments, error, message, make):
    with pytest.raises(error, match=message):
        make().fit(*arguments)


@pytest.mark.parametrize("warm_start", [True, False])
def test_a_trained_model_survives_bad_data(warm_start, trained, data):
    X = data[0][0]
    clf = copy.deepcopy(trained).set_params(warm_start=warm_start)
    before = clf.predict_proba(X)
    for arguments, _, _ in BAD[:11]:
        with pytest.raises((TypeError, ValueError)):
            clf.fit(*arguments)
    np.testing.assert_array_equal(clf.predict_proba(X), before)


# As skorch users know it


def test_grid_search_clone_and_set_params(make, data):
    (X, y), _ = data
    search = GridSearchCV(
        make(max_epochs=1, classes=sorted(set(y))), {"lr": [1e-6, 5e-3]}, cv=2, scoring="accuracy"
    )
    search.fit(np.array(X), np.array(y))
    assert search.best_params_ == {"lr": 5e-3}
    copy = clone(search.best_estimator_)
    assert copy.lr == 5e-3
    assert not copy.initialized_
    assert copy.set_params(max_epochs=3, optimizer__weight_decay=0.5).max_epochs == 3


def test_a_validation_split_of_skorchs_works(make, data):
    from skorch.dataset import ValidSplit

    (X, y), _ = data
    accuracy = EpochScoring(lambda net, X, y: net.score(X, net.classes_[y]), name="accuracy")
    clf = make(
        max_epochs=8, train_split=ValidSplit(4, stratified=True), callbacks=[("acc", accuracy)]
    ).fit(X, y)
    assert len(clf.history[:, "valid_loss"]) == 8
    assert clf.optimizer_.param_groups[0]["lr"] == 0  # the schedule ends with the smaller set
    assert clf.history[-1, "accuracy"] > 0.5


def test_other_optimizers(make, data):
    (X, y), _ = data
    clf = make(max_epochs=1, optimizer=torch.optim.Adagrad).fit(X, y)
    assert isinstance(clf.optimizer_, torch.optim.Adagrad)


def test_initialize_without_classes_says_what_is_missing(make):
    with pytest.raises(ValueError, match=r"classes=\[\.\.\.\].*DeepActiveLearner"):
        make().initialize()


def test_unknown_options_are_refused(make, data):
    with pytest.raises(ValueError, match=r"precision is 'half'.*'auto', 'float32', 'bfloat16'"):
        make(precision="half").fit(*data[0])
    with pytest.raises(ValueError, match=r"training_precision is 'half'.*'float32'"):
        make(training_precision="half").fit(*data[0])
    with pytest.raises(ValueError, match="max_lenght"):
        make(classes=["a", "b"], max_lenght=3).initialize()


def test_skorchs_checkpoints_work(make, data, tmp_path):
    from skorch.callbacks import Checkpoint

    (X, y), _ = data
    checkpoint = Checkpoint(dirname=tmp_path, monitor=None)
    clf = make(max_epochs=2, callbacks=[checkpoint]).fit(X, y)
    other = make(max_epochs=2, random_state=9, classes=clf.classes_.tolist()).initialize()
    assert np.abs(other.predict_proba(X) - clf.predict_proba(X)).max() > 1e-3
    other.load_params(checkpoint=checkpoint)
    np.testing.assert_array_equal(other.predict_proba(X), clf.predict_proba(X))


@pytest.mark.parametrize(("progress", "shown"), [(True, True), (False, False), ("auto", False)])
def test_progress_bars_are_a_switch(progress, shown, make, data, capsys):
    """ "auto" is quiet where there is no terminal."""
    (X, y), _ = data
    make(max_epochs=1, progress=progress).fit(X, y).predict(X)
    printed = capsys.readouterr().err
    assert ("training" in printed) is shown
    assert ("scoring" in printed) is shown


def test_training_and_its_log_are_silent_by_default(make, data, capsys):
    make(max_epochs=1).fit(*data[0])
    assert capsys.readouterr() == ("", "")
    make(max_epochs=1, verbose=1).fit(*data[0])
    assert "train_loss" in capsys.readouterr().out
