import pytest

pytest.importorskip("torch")
pytest.importorskip("skorch")
pytest.importorskip("transformers")

from real_plugin.text import TransformerClassifier
from tests.tiny import topical_texts


@pytest.fixture(scope="session")
def make(tiny_roberta):
    """Makes a classifier on the tiny RoBERTa that learns fast."""

    def make(**options):
        defaults = {"lr": 5e-3, "max_length": 16, "max_epochs": 8, "random_state": 0}
        return TransformerClassifier(tiny_roberta, **(defaults | options))

    return make


@pytest.fixture(scope="session")
def data():
    """(texts, labels) to train on, and to test on."""
    return topical_texts(120), topical_texts(300, seed=1)


@pytest.fixture(scope="session")
def _trained(make, data):
    return make().fit(*data[0])


@pytest.fixture
def trained(_trained):
    """A trained classifier; copy it before you change it."""
    return _trained
