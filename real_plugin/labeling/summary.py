"""What `suggest` did, in a few lines."""

from __future__ import annotations

from collections import Counter

import numpy as np

from real_plugin.labeling.accuracy import FOLDS
from real_plugin.labeling.console import count, say, shortened, spread
from real_plugin.labeling.labels import class_counts
from real_plugin.labeling.suggestion import Suggestion
from real_plugin.result import Selection

#: Clusters that are described one by one.
MOST_CLUSTERS = 5


def print_labels(suggestion: Suggestion) -> None:
    """How many labels there are, of which classes, and how well they are predicted."""
    labels = suggestion.labels
    if not labels:
        say("no labels yet: a cold start, texts from all over the pool")
        return
    counts = class_counts(labels.values())
    say(
        f"{count(len(labels), 'label')} of {count(len(counts), 'class', 'classes')}: "
        f"{spread(counts)}"
    )
    rare = [name for name, number in counts if number == 1]
    if rare:
        say(f"  a single label each: {', '.join(rare[:8])}{' …' * (len(rare) > 8)}")
    if len(counts) < 2:
        say("  one class only: nothing can be told apart yet, so the start is cold")
        return
    on_labels, on_pool = suggestion.scores.on_labels, suggestion.scores.on_pool
    if on_labels is None:
        say("  too few labels to estimate the accuracy: two classes need five each")
        return
    say(
        f"accuracy on the labels so far, by {FOLDS}-fold cross-validation of the linear head: "
        f"{on_labels}"
    )
    say("  picked texts are harder than the pool")
    if on_pool is not None:
        say(f"  on texts without a label, by how confident the model is of them: {on_pool}")


def print_picks(suggestion: Suggestion) -> None:
    """Where the pseudo errors sit, and what the batch looks like."""
    selection = suggestion.picks.selection
    if suggestion.scores.P is None:
        return
    if selection is not None:
        print_clusters(suggestion, selection)
    predicted = Counter(
        suggestion.scores.classes[number] for number in suggestion.predicted[suggestion.rows]
    )
    say(f"the model's guesses for the batch: {spread(list(predicted.items()))}")


def print_clusters(suggestion: Suggestion, selection: Selection) -> None:
    clusters, classes = selection.clusters, suggestion.scores.classes
    total, with_some = int(clusters.pseudo_errors.sum()), int((clusters.pseudo_errors > 0).sum())
    say(
        f"{count(total, 'pseudo error')} among {len(selection.assignment):,} rows, in "
        f"{with_some} of {len(clusters)} clusters"
        + ("; most of their weight is here:" if total else "")
    )
    predicted = suggestion.predicted[suggestion.candidates]
    for number in np.argsort(-clusters.density, kind="stable")[:MOST_CLUSTERS]:
        if not clusters.pseudo_errors[number]:
            break
        majority = clusters.pseudo_label[number]
        members = np.flatnonzero(selection.assignment == number)
        errors = members[predicted[members] != majority]
        names = Counter(classes[j] for j in predicted[errors])
        example = suggestion.pool.texts[suggestion.candidates[errors[0]]]
        n_picks = int((selection.cluster == number).sum())
        say(
            f"  {clusters.size[number]:,} texts called {classes[majority]}, but "
            f"{spread(list(names.items()), most=3)}; {count(n_picks, 'pick')}, "
            f'such as "{shortened(example)}"'
        )
