"""Training the embeddings of the tokens that occur: the same weights, in less time."""

import copy

import pytest
import torch
from skorch.callbacks import Callback, Checkpoint, EarlyStopping, Freezer
from torch import nn

from real_plugin.text.module import TransformerModule
from real_plugin.text.tokens import collate
from real_plugin.text.vocabulary import TrainedRows, only_rows_of
from tests.tiny import topical_texts


class OtherTable(nn.Embedding):
    """A table of a kind that is left as it is."""


class WholeTableModule(TransformerModule):
    """The network with a table that is trained whole."""

    def __init__(self, encoder, n_classes):
        super().__init__(encoder, n_classes)
        encoder.get_input_embeddings().__class__ = OtherTable


class Watch(Callback):
    """Notes how many embeddings are trained."""

    def on_batch_end(self, net, training=False, **kwargs):
        weights = table(net).weight
        assert any(weights is p for g in net.optimizer_.param_groups for p in g["params"])
        self.n_rows = len(weights)


class Stop(Callback):
    def __init__(self, error):
        self.error = error

    def on_batch_end(self, net, training=False, **kwargs):
        raise self.error


def table(clf):
    return clf.module_.encoder.get_input_embeddings()


@pytest.fixture
def few():
    """Texts of few words, and labels."""
    return ["goal match team", "vote law party", "cup goal league", "law senate"], [*"abab"]


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_the_same_weights_as_with_the_whole_table(make, data, few, precision):
    """To the last bit, over rounds whose validations see tokens that training doesn't."""
    X, y = few
    validation = data[1][0][:20], [*"ab"] * 10
    options = {"max_epochs": 5, "batch_size": 2, "training_precision": precision}
    clf, whole = (
        make(module=module, validation_data=validation, **options)
        for module in (TransformerModule, WholeTableModule)
    )
    for n in (3, 4):
        clf.fit(X[:n], y[:n])
        whole.fit(X[:n], y[:n])
        assert clf.validations_ == whole.validations_
    state, expected = clf.module_.state_dict(), whole.module_.state_dict()
    assert list(state) == list(expected)
    for name, weights in state.items():
        torch.testing.assert_close(weights, expected[name], rtol=0, atol=1e-6)


def test_only_tokens_that_occur_are_trained(make, few):
    X, y = few
    watch = Watch()
    clf = make(callbacks=[watch], max_epochs=1, random_state=0).fit(X[:2], y[:2])
    kept, before = table(clf), table(clf).weight.detach().clone()
    clf.fit(X, y)
    assert table(clf) is kept
    assert type(kept) is nn.Embedding
    used = {int(token) for ids in clf._tokens()(X) for token in ids}
    padding = kept.padding_idx
    assert watch.n_rows == len(used | {padding}) < len(before)
    changed = (kept.weight != before).any(dim=1).nonzero().ravel().tolist()
    assert set(changed) == used - {padding}


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("a callback's")])
def test_an_interrupted_round_leaves_the_table_whole(make, few, error):
    X, y = few
    clf = make(max_epochs=1).fit(X, y)
    broken = copy.deepcopy(clf)
    broken.callbacks_.append(("stop", Stop(error)))
    try:
        broken.partial_fit(X, y)  # skorch takes an interrupt for the end of the training
    except RuntimeError:
        assert isinstance(error, RuntimeError)
    assert type(table(broken)) is nn.Embedding
    assert table(broken).weight.shape == table(clf).weight.shape
    broken.predict_proba(topical_texts(30)[0])


def test_checkpoints_on_the_way_have_the_whole_table(make, few, tmp_path):
    X, y = few
    saving = Checkpoint(monitor="train_loss_best", dirname=tmp_path)
    stopping = EarlyStopping(monitor="train_loss", patience=2, load_best=True)
    clf = make(callbacks=[saving, stopping], max_epochs=6).fit(X, y)
    other = make(classes=["a", "b"]).initialize()
    other.load_params(tmp_path / "params.pt")
    best = min(clf.history[:, "train_loss"])
    assert clf.history[stopping.best_epoch_ - 1, "train_loss"] == best
    for name, weights in clf.module_.state_dict().items():
        torch.testing.assert_close(other.module_.state_dict()[name], weights)


def test_frozen_embeddings_stay_frozen(make, few):
    X, y = few
    clf = make(callbacks=[Freezer("encoder.embeddings.*")], max_epochs=2).fit(X, y)
    fresh = make(classes=["a", "b"]).initialize()
    clf.fit(X, y)
    assert not table(clf).weight.requires_grad
    assert torch.equal(table(clf).weight, table(fresh).weight)


def test_batches_of_the_users_own_may_have_any_token(make, few):
    X, y = few
    seen = set()

    def mask_some(rows):
        inputs, targets = collate(rows, pad_id=1)
        inputs["input_ids"][:, 1] = 40  # a word that no text has
        seen.update(inputs["input_ids"].ravel().tolist())
        return inputs, targets

    make(iterator_train__collate_fn=mask_some, max_epochs=1).fit(X, y)
    assert 40 in seen


class Tied(nn.Module):
    """An encoder that also uses its table to predict tokens."""

    def __init__(self):
        super().__init__()
        self.table, self.predict = nn.Embedding(9, 4), nn.Linear(4, 9, bias=False)
        self.predict.weight = self.table.weight

    def get_input_embeddings(self):
        return self.table


class Tableless(nn.Module):
    def get_input_embeddings(self):
        raise NotImplementedError


@pytest.mark.parametrize("encoder", [Tied(), Tableless()], ids=["tied", "without"])
def test_other_encoders_are_left_as_they_are(encoder):
    parameters = list(encoder.parameters())
    with only_rows_of([1, 2], encoder):
        assert list(map(id, encoder.parameters())) == list(map(id, parameters))


def test_padding_is_not_trained():
    rows = TrainedRows(nn.Embedding(9, 4, padding_idx=3), [5, 7])
    rows(torch.tensor([[5, 3], [7, 3]])).sum().backward()
    assert rows.tokens.tolist() == [3, 5, 7]
    assert rows.weight.grad.sum(dim=1).tolist() == [0, 4, 4]
