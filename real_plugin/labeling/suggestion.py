"""From texts and labels to the next batch: train, score, select."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from real_plugin._errors import UsageError
from real_plugin._records import Record
from real_plugin.labeling.accuracy import Estimate, cross_validate
from real_plugin.labeling.console import say
from real_plugin.labeling.labels import Label
from real_plugin.labeling.model import FrozenModel, new_head, standardise, train
from real_plugin.labeling.pool import Pool
from real_plugin.labeling.strategies import Candidates, IntArray, Picks, pick
from real_plugin.labeling.vectors import Vectors, VectorStore


@dataclass(frozen=True)
class Scores:
    """What a model says of a pool; without a model there are the vectors alone."""

    vectors: Vectors  #: what is clustered
    classes: list[str]
    P: NDArray[Any] | None = None
    model: Any = None
    on_labels: Estimate | None = None  #: accuracy of the linear head, by cross-validation
    on_pool: Estimate | None = None  #: accuracy on rows without a label, as far as labels tell


@dataclass(frozen=True, eq=False)
class Suggestion:
    """A batch, and all that it was made of."""

    pool: Pool
    labels: Mapping[str, Label]
    scores: Scores
    candidates: IntArray  #: positions in the pool
    picks: Picks  #: positions among the candidates
    strategy: str
    seed: int

    @property
    def rows(self) -> IntArray:
        """Positions of the picks in the pool."""
        return self.candidates[self.picks.rows]

    @cached_property
    def predicted(self) -> IntArray:
        """The class number of every row of the pool; -1 without a model."""
        P = self.scores.P
        return np.full(len(self.pool), -1) if P is None else P.argmax(axis=1)

    @cached_property
    def confidence(self) -> NDArray[np.float32]:
        """The probability of that class."""
        P = self.scores.P
        n_rows = len(self.pool)
        return (np.zeros(n_rows) if P is None else P.max(axis=1)).astype(np.float32)

    def batch(self) -> list[Record]:
        """The rows to write, with an empty column for the labels to come."""
        columns = self.pool.columns
        rows = []
        for row, reason in zip(self.rows.tolist(), self.picks.reasons, strict=True):
            has_model = self.scores.P is not None
            rows.append(
                {
                    columns.id or "id": self.pool.ids[row],
                    str(columns.text): self.pool.texts[row],
                    columns.label or "label": "",
                    "prediction": self.scores.classes[self.predicted[row]] if has_model else "",
                    "probability": round(float(self.confidence[row]), 4) if has_model else None,
                    "reason": reason,
                }
            )
        return rows


def suggest(
    pool: Pool,
    labels: Mapping[str, Label],
    store: VectorStore,
    n: int,
    *,
    strategy: str,
    finetune: bool = False,
    leave_out: Collection[str] = (),
    seed: int = 0,
) -> Suggestion:
    """Pick the `n` rows to label next; fewer if no more are left."""
    taken = {*labels, *leave_out}
    candidates = np.array([i for i, key in enumerate(pool.ids) if key not in taken], dtype=int)
    if not len(candidates):
        raise UsageError(
            f"nothing is left to suggest: of the {len(pool):,} rows of {pool.table.file} "
            f"{sum(key in labels for key in pool.ids):,} are labelled"
            + (
                ", the others were suggested already (--again suggests them again)."
                if leave_out
                else "; if the labels are in another column, name it with --label-column "
                "(- for none)."
            )
        )
    if n > len(candidates):
        say(f"only {len(candidates):,} rows are left; all of them are suggested")
        n = len(candidates)
    scores = (
        finetuned_scores(pool, labels, store) if finetune else frozen_scores(pool, labels, store)
    )
    P = scores.P if scores.P is None else scores.P[candidates]
    seen = Candidates(P, scores.vectors[candidates], scores.classes)
    with one_thread():
        picks = pick(strategy, seen, n, seed)
    return Suggestion(pool, labels, scores, candidates, picks, strategy, seed)


def one_thread() -> Any:
    """A context for small sums: threads would wait for each other longer than they work."""
    return threadpool_limits(1)


def frozen_scores(pool: Pool, labels: Mapping[str, Label], store: VectorStore) -> Scores:
    """Scores of a linear head on the frozen encoder; what is clustered is what it sees.

    A labelled text need not be in the pool, nor be what the pool now has under its id.
    """
    found = list(labels.values())
    where: list[int] = []
    extra: list[str] = []
    for label in found:
        position = pool.position.get(label.id)
        if position is None or pool.texts[position] != label.text:
            position = len(pool) + len(extra)
            extra.append(label.text)
        where.append(position)
    vectors = store.vectors([*pool.texts, *extra])
    with one_thread():
        return _scores_of_head(pool, found, vectors, where, store)


def _scores_of_head(
    pool: Pool, found: Sequence[Label], vectors: Vectors, where: list[int], store: VectorStore
) -> Scores:
    """Train the head on the labels, whose vectors are at `where`, and score the pool."""
    Z, scaler = standardise(vectors, len(pool))
    y = [label.label for label in found]
    classes = sorted(set(y))
    if len(classes) < 2:
        return Scores(Z[: len(pool)], classes)
    model: FrozenModel = train(Z[where], y, scaler, store.encoder, store.max_length)
    P = model.score(Z[: len(pool)])
    validation = cross_validate(new_head(), Z[where], y)
    if validation is None:
        return Scores(Z[: len(pool)], classes, P, model)
    labelled = {label.id for label in found}
    unlabelled = [i for i, key in enumerate(pool.ids) if key not in labelled]
    return Scores(
        Z[: len(pool)],
        classes,
        P,
        model,
        on_labels=validation.accuracy(),
        on_pool=validation.accuracy_on(P[unlabelled].max(axis=1)) if unlabelled else None,
    )


def finetuned_scores(pool: Pool, labels: Mapping[str, Label], store: VectorStore) -> Scores:
    """Scores of the whole encoder, fine-tuned; what is clustered are its own [CLS] vectors."""
    y = [label.label for label in labels.values()]
    if len(set(y)) < 2:
        return frozen_scores(pool, labels, store)
    from real_plugin.text import TransformerClassifier
    from real_plugin.text.training import fit_uninterrupted

    texts = [label.text for label in labels.values()]
    Z, _ = standardise(store.vectors(texts), len(texts))
    say(f"fine-tuning {store.encoder} on {len(texts):,} labels")
    model = TransformerClassifier(
        store.encoder, max_length=store.max_length, progress="auto", random_state=0
    )
    fit_uninterrupted(model, texts, y)
    P, E = model.predict_proba(pool.texts, return_embeddings=True)
    validation = cross_validate(new_head(), Z, y)
    on_labels = None if validation is None else validation.accuracy()
    return Scores(E, model.classes_.tolist(), P, model, on_labels)


def known_classes(labels: Mapping[str, Label], given: Sequence[str]) -> list[str]:
    """All classes that are known, those of the labels and those that were named."""
    return sorted({*given, *(label.label for label in labels.values())})
