"""Fine-tune a transformer with modAL's ActiveLearner and REAL, on raw texts.

python examples/modal_active_learner.py --model minilm
"""

import argparse

import docstrings
import numpy as np
from modAL.models import ActiveLearner
from sklearn.model_selection import train_test_split

from real_plugin import real_query
from real_plugin.text import TransformerClassifier


def main(model: str, rows: int, rounds: int, batch: int) -> float:
    texts, labels = docstrings.load(rows)
    X, X_test, y, y_test = train_test_split(
        np.array(texts, dtype=object), np.array(labels), random_state=0, stratify=labels
    )
    learner = ActiveLearner(
        TransformerClassifier(model, classes=sorted(set(labels)), max_length=32, random_state=0),
        query_strategy=real_query,
        X_training=X[:batch],
        y_training=y[:batch],
    )
    X_pool, y_pool = X[batch:], y[batch:]
    print(f"{batch:4} labels: accuracy {learner.score(X_test, y_test):.3f}")
    for _ in range(rounds):
        indices, instances = learner.query(X_pool, n_instances=batch, random_state=0)
        learner.teach(instances, y_pool[indices])  # 4 more epochs, on all labels so far
        X_pool, y_pool = np.delete(X_pool, indices), np.delete(y_pool, indices)
        n_labels = len(learner.y_training)
        print(f"{n_labels:4} labels: accuracy {learner.score(X_test, y_test):.3f}")
    return learner.score(X_test, y_test)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="minilm", help="folder, hub name, or minilm")
    parser.add_argument("--rows", type=int, default=1200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batch", type=int, default=40)
    main(**vars(parser.parse_args()))
