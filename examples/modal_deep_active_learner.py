"""The same with modAL's DeepActiveLearner, which stores no data: you keep the labels.

python examples/modal_deep_active_learner.py --model minilm
"""

import argparse

import docstrings
import numpy as np
from modAL.models import DeepActiveLearner
from sklearn.model_selection import train_test_split

from real_plugin import real_query
from real_plugin.text import TransformerClassifier


def main(model: str, rows: int, rounds: int, batch: int) -> float:
    texts, labels = docstrings.load(rows)
    X, X_test, y, y_test = train_test_split(
        np.array(texts, dtype=object), np.array(labels), random_state=0, stratify=labels
    )
    # The learner builds the network before it sees a label, so the classes are given.
    estimator = TransformerClassifier(
        model, classes=sorted(set(labels)), max_length=32, random_state=0
    )
    learner = DeepActiveLearner(estimator, query_strategy=real_query)
    labelled = np.arange(batch)
    learner.teach(X[labelled], y[labelled])
    for _ in range(rounds):
        print(f"{len(labelled):4} labels: accuracy {learner.score(X_test, y_test):.3f}")
        pool = np.setdiff1d(np.arange(len(X)), labelled)
        indices, _ = learner.query(X[pool], n_instances=batch, random_state=0)
        labelled = np.concatenate([labelled, pool[indices]])
        learner.teach(X[labelled], y[labelled])  # goes on from the current weights
    print(f"{len(labelled):4} labels: accuracy {learner.score(X_test, y_test):.3f}")
    return learner.score(X_test, y_test)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="minilm", help="folder, hub name, or minilm")
    parser.add_argument("--rows", type=int, default=1200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batch", type=int, default=40)
    main(**vars(parser.parse_args()))
