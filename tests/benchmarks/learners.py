"""A small real learner: a softmax head over vectors, trained on a few of them."""

from __future__ import annotations

import random

import numpy as np


def generator_states():
    """Where numpy's and Python's global generators are."""
    name, keys, *position = np.random.get_state()  # noqa: NPY002
    return name, keys.tolist(), position, random.getstate()


def softmax(logits):
    exponentials = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


class SoftmaxLearner:
    """What the tracks offer to a strategy, in numpy."""

    def __init__(self, X_pool, X_training, y_training, n_classes, steps=200):
        self.X_pool, self.X_training, self.y_training = X_pool, X_training, y_training
        self.classes_ = np.arange(n_classes)
        self.texts = [f"text {i}" for i in range(len(X_pool))]
        self.n_computed = 0  # rows that were not in the cache
        self.weights = np.zeros((X_pool.shape[1], n_classes), dtype=np.float32)
        targets = np.eye(n_classes, dtype=np.float32)[y_training]
        for _ in range(steps):
            P = softmax(X_training @ self.weights)
            self.weights -= 0.05 * X_training.T @ (P - targets) / len(targets)
        self._pool_P = softmax(X_pool @ self.weights)
        self._pool_P.flags.writeable = False

    def predict_proba(self, X):
        if X is self.X_pool:
            return self._pool_P
        self.n_computed += len(X)
        return softmax(X @ self.weights)

    def predict_proba_mc(self, n_passes, random_state):
        rng = np.random.default_rng(random_state)
        masks = rng.random((n_passes, *self.X_pool.shape)) < 0.7
        return softmax((masks * self.X_pool / 0.7).astype(np.float32) @ self.weights)

    def surprisal(self, random_state):
        vectors = np.random.default_rng(random_state).random((len(self.X_pool), 12))
        return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def make_learner(n_pool=120, n_labelled=30, n_classes=3, dimensions=8, seed=0, **options):
    """A learner on overlapping blobs, one a class."""
    rng = np.random.default_rng(seed)
    centres = 1.5 * rng.normal(size=(n_classes, dimensions))
    classes = rng.integers(n_classes, size=n_pool + n_labelled)
    X = (centres[classes] + rng.normal(size=(len(classes), dimensions))).astype(np.float32)
    return SoftmaxLearner(
        X[n_labelled:], X[:n_labelled], classes[:n_labelled], n_classes, **options
    )


def with_copies(learner, n_copies):
    """The same learner, with the first row of its pool that many times in its place."""
    X = learner.X_pool.copy()
    X[:n_copies] = X[0]
    n_classes = len(learner.classes_)
    return SoftmaxLearner(X, learner.X_training, learner.y_training, n_classes)
