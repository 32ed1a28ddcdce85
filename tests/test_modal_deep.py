"""modAL's DeepActiveLearner with a skorch network, and pools of tensors."""

import numpy as np
import pytest
from modAL.models import ActiveLearner
from sklearn.datasets import load_digits

torch = pytest.importorskip("torch")
skorch = pytest.importorskip("skorch")
DeepActiveLearner = pytest.importorskip("modAL.models").DeepActiveLearner

from real_plugin import STRATEGIES, real_query  # noqa: E402


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Flatten(), torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10)
        )

    def forward(self, X):
        return self.layers(X)


def network():
    torch.manual_seed(0)
    return skorch.NeuralNetClassifier(
        Network,
        criterion=torch.nn.CrossEntropyLoss,
        max_epochs=20,
        lr=0.3,
        train_split=None,
        verbose=0,
        classes=list(range(10)),
    )


@pytest.fixture
def images():
    X, y = load_digits(return_X_y=True)
    return (X / 16).astype(np.float32).reshape(-1, 1, 8, 8), y


@pytest.mark.parametrize("strategy", STRATEGIES.values(), ids=STRATEGIES)
@pytest.mark.parametrize("kind", ["array", "tensor"])
@pytest.mark.parametrize("n_instances", [1, 2, 30])
def test_deep_active_learner(strategy, kind, n_instances, images):
    X, y = images
    X = torch.from_numpy(X) if kind == "tensor" else X
    learner = DeepActiveLearner(network(), query_strategy=strategy)
    learner.teach(X[:100], y[:100], warm_start=False)
    indices, instances = learner.query(X[100:], n_instances=n_instances, random_state=0)
    assert indices.shape == (n_instances,)
    assert len(instances) == n_instances
    np.testing.assert_array_equal(np.asarray(instances), np.asarray(X[100:])[indices])
    learner.teach(instances, y[100:][indices])


def test_an_untrained_network_is_queried(images):
    X, _ = images
    learner = DeepActiveLearner(network(), query_strategy=real_query)
    assert len(learner.query(X[:200], n_instances=10)[0]) == 10


def test_active_learner_with_a_tensor_that_has_a_gradient(images):
    X, y = images
    pool = torch.from_numpy(X[100:300]).requires_grad_()
    learner = ActiveLearner(network().fit(X[:100], y[:100]), query_strategy=real_query)
    indices, _ = learner.query(pool, n_instances=5, random_state=0)
    expected = real_query(learner.estimator, X[100:300], 5, random_state=0)
    np.testing.assert_array_equal(indices, expected)
