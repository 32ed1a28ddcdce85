"""One round of training: a fresh schedule, validations on the way, the best weights kept."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch

from real_plugin.text.progress import progress_bar

#: The published code warms up over a tenth of the steps, but over no more than this.
WARM_UP_SHARE, MOST_WARM_UP_STEPS = 0.1, 100
#: Fewer steps than this show no progress bar.
LONG_ROUND = 200


def linear_schedule(n_steps: int) -> Callable[[int], float]:
    """Factor of the learning rate at a step: up over the warm-up, then down to 0."""
    warm_up = min(int(WARM_UP_SHARE * n_steps), MOST_WARM_UP_STEPS)

    def factor(step: int) -> float:
        if step < warm_up:
            return step / warm_up
        return max(0.0, (n_steps - step) / max(1, n_steps - warm_up))

    return factor


class Round:
    """Follows the steps of one round of training.

    Parameters
    ----------
    module, optimizer : torch objects
        What is trained, and what trains it.
    epochs : int
        How long the round is.
    validate : callable or None
        Gives the accuracy on the validation data; None if there are none.
    validations_per_epoch : int
        How often to ask it, evenly spread, the last time at the epoch's end.
    progress : bool or "auto"
        Whether to show a bar.
    """

    def __init__(
        self,
        module: torch.nn.Module,
        optimizer: torch.optim.Optimizer,
        epochs: int,
        validate: Callable[[], float] | None,
        validations_per_epoch: int,
        progress: bool | str,
    ) -> None:
        self.module = module
        self.optimizer = optimizer
        self.epochs = epochs
        self.validate = validate
        self.validations_per_epoch = validations_per_epoch
        self.step = 0
        self.validations: list[tuple[int, float]] = []  #: (step, accuracy)
        self.progress = progress
        self._best: tuple[float, Any] = (-1.0, None)
        self._bar: Any = None

    def begin(self, steps_per_epoch: int) -> None:
        """To be called when the number of batches is known."""
        self.steps_per_epoch = steps_per_epoch
        n_steps = steps_per_epoch * self.epochs
        factor = linear_schedule(n_steps)
        self._schedule = torch.optim.lr_scheduler.LambdaLR(self.optimizer, factor)
        self._bar = progress_bar(n_steps, "training", "steps", self.progress, LONG_ROUND)

    def after_step(self) -> None:
        """To be called after every step of the optimizer."""
        self._schedule.step()
        self.step += 1
        self._bar.update()
        if self.validate is not None and self._is_due():
            accuracy = self.validate()
            self.validations.append((self.step, accuracy))
            if accuracy > self._best[0]:
                self._best = accuracy, copy.deepcopy(self.module.state_dict())
            self.module.train()

    def _is_due(self) -> bool:
        in_epoch = (self.step - 1) % self.steps_per_epoch + 1
        done, before = (
            step * self.validations_per_epoch // self.steps_per_epoch
            for step in (in_epoch, in_epoch - 1)
        )
        return done > before

    def finish(self) -> None:
        """Bring back the weights that did best on the validation data, if there are any."""
        if self._bar is not None:
            self._bar.close()
        if self._best[1] is not None:
            self.module.load_state_dict(self._best[1])


def fit_uninterrupted(classifier: Any, X: Any, y: Any) -> None:
    """Fit a classifier that has no callbacks of its own, and raise a Ctrl-C.

    skorch takes a KeyboardInterrupt for the wish to end the training, and returns: a program
    would go on with half a training.
    """
    before = getattr(classifier, "rounds_", 0) if classifier.warm_start else 0
    classifier.fit(X, y)
    if classifier.rounds_ == before:
        raise KeyboardInterrupt
