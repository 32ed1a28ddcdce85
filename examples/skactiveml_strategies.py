"""A transformer in scikit-activeml, with Real, Badge and ContrastiveAL.

python examples/skactiveml_strategies.py --model minilm
"""

import argparse

import docstrings
import numpy as np
from skactiveml.pool import Badge, ContrastiveAL
from skactiveml.utils import MISSING_LABEL
from sklearn.model_selection import train_test_split

from real_plugin.skactiveml import EmbeddingClassifier, Real
from real_plugin.text import TransformerClassifier

FLAG = "return_embeddings"  # one pass gives probabilities and embeddings
STRATEGIES = {
    "Real": Real(clf_embedding_flag_name=FLAG, random_state=0),
    "Badge": Badge(clf_embedding_flag_name=FLAG, random_state=0),
    "ContrastiveAL": ContrastiveAL(clf_embedding_flag_name=FLAG, random_state=0),
}


def main(model: str, rows: int, rounds: int, batch: int) -> dict[str, float]:
    texts, packages = docstrings.load(rows)
    classes, truth = np.unique(packages, return_inverse=True)
    estimator = TransformerClassifier(
        model, classes=list(range(len(classes))), max_length=32, random_state=0
    )
    tokens = estimator.tokenize(texts)  # scikit-activeml takes numbers only
    X, X_test, truth, y_test = train_test_split(tokens, truth, random_state=0, stratify=truth)
    accuracy = {}
    for name, strategy in STRATEGIES.items():
        clf = EmbeddingClassifier(estimator, classes=range(len(classes)))
        y = np.full(len(X), MISSING_LABEL)
        y[:batch] = truth[:batch]
        clf.partial_fit(X, y)
        for _ in range(rounds):
            indices = strategy.query(X, y, clf, fit_clf=False, batch_size=batch)
            y[indices] = truth[indices]
            clf.partial_fit(X, y)  # goes on from the current weights
        accuracy[name] = clf.score(X_test, y_test)
        n_labels = np.isfinite(y).sum()
        print(f"{name:14} {n_labels:4} labels: accuracy {accuracy[name]:.3f}")
    return accuracy


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="minilm", help="folder, hub name, or minilm")
    parser.add_argument("--rows", type=int, default=1200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batch", type=int, default=40)
    main(**vars(parser.parse_args()))
