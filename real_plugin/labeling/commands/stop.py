"""`real-plugin stop`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from real_plugin.labeling.commands.options import add_project_option

if TYPE_CHECKING:
    from real_plugin.labeling.project import Project
    from real_plugin.labeling.stopping import Point

GO_ON = 5
DESCRIPTION = """\
Should I go on labelling? Shows the learning curve of a project and two signs:

  stability   do the predictions for unlabelled texts still change from round to round? Cohen's
              kappa between consecutive models; a mean of at least 0.99 over three comparisons
              says stop (Bloodgood and Vijay-Shanker, 2009).
  error       how many texts without a label the model would get wrong, with a 95 % interval:
              by cross-validation on the labels, corrected for the model's confidence.

Exit code 0: the predictions have settled. 5: go on, or it can't be told yet.
"""


def add_parser(commands: Any) -> None:
    parser = commands.add_parser(
        "stop",
        help="should I go on labelling?",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    add_project_option(parser)


def run(arguments: argparse.Namespace) -> int:
    from real_plugin.labeling.project import need_project

    project = need_project(arguments.project)
    with project.lock():
        return _judge(project)


def _judge(project: Project) -> int:
    from real_plugin.labeling.console import say
    from real_plugin.labeling.stopping import THRESHOLD, WINDOW, curve, has_settled

    rounds, labels = project.rounds(), project.labels()
    points = curve(rounds, labels)
    n_unlabelled = int((~rounds[-1].labelled).sum()) if rounds else 0
    if rounds and len(labels) > rounds[-1].about["labels"]:
        now, n_unlabelled = _now(project, rounds[-1])
        points += now
    if not points:
        say("no batch was suggested yet: go on")
        return GO_ON
    _print_curve(points)
    _print_error(points[-1], n_unlabelled)
    settled = has_settled(points)
    n_compared = sum(point.agreement is not None for point in points)
    if settled is None:
        say(
            f"stability: {n_compared} of {WINDOW} comparisons of consecutive models so far, too "
            "few to tell; go on"
        )
    elif settled:
        say(f"stability: the last {WINDOW} comparisons have a mean kappa of at least {THRESHOLD}")
        say("the predictions have settled: more labels of this kind will hardly change them")
    else:
        say(
            f"stability: the last {WINDOW} comparisons have a mean kappa below {THRESHOLD}; "
            "predictions still change, go on"
        )
    return 0 if settled else GO_ON


def _now(project: Project, last: Any) -> tuple[list[Point], int]:
    """The point of a model on all labels, if more came back since the last batch."""
    from real_plugin.labeling.console import say
    from real_plugin.labeling.stopping import Point, agreement
    from real_plugin.labeling.suggestion import frozen_scores
    from real_plugin.labeling.vectors import VectorStore

    pool, labels, settings = project.read_pool(), project.labels(), project.settings
    n_unlabelled = sum(key not in labels for key in pool.ids)
    if last.about["finetuned"]:
        say("the last batch's model was fine-tuned; the labels since then count at the next one")
        return [], n_unlabelled
    store = VectorStore(project.cache, settings.encoder, settings.max_length)
    scores = frozen_scores(pool, labels, store)
    if scores.P is None:
        return [], n_unlabelled
    predicted = scores.P.argmax(axis=1)
    after = {
        key: scores.classes[number]
        for key, number in zip(pool.ids, predicted, strict=True)
        if key not in labels
    }
    before = last.predictions() if last.has_model else {}
    point = Point(
        "now", len(labels), scores.on_labels, scores.on_pool, None, agreement(before, after)
    )
    return [point], n_unlabelled


def _print_curve(points: list[Point]) -> None:
    from real_plugin.labeling.console import percent, say

    say("                 accuracy on   batch")
    say(" round  labels  labels   pool   right     agreement with the round before")
    for point in points:
        shares = [
            "" if found is None else percent(found.value)
            for found in (point.on_labels, point.on_pool)
        ]
        batch = "" if point.batch is None else "{} of {}".format(*point.batch)
        agreement = "" if point.agreement is None else str(point.agreement)
        line = f"{point.round:>6}{point.labels:8,}{shares[0]:>8}{shares[1]:>7}{batch:>12}"
        say(f"{line}  {agreement}".rstrip())


def _print_error(point: Point, n_unlabelled: int) -> None:
    from real_plugin.labeling.console import percent, say

    if point.on_pool is None:
        say("error: too few labels to estimate it (two classes need five labels each)")
        return
    low, high = 1 - point.on_pool.high, 1 - point.on_pool.low
    error = 1 - point.on_pool.value
    rows = [f"{bound * n_unlabelled:,.0f}" for bound in (error, low, high)]
    say(
        f"error: about {percent(error)} (95 % interval {100 * low:.0f} to {percent(high)}) on the "
        f"{n_unlabelled:,} texts without a label: {rows[0]} of them ({rows[1]} to {rows[2]})"
    )
    say(
        "  Estimated from how accurate predictions of like confidence are on the labels. Picked "
        "texts are harder than\n  others of like confidence, so it is rather too high; after a "
        "cold start alone, whose texts are typical, rather too\n  low. For an unbiased number "
        "label a random sample and keep it apart."
    )
