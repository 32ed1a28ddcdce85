"""One seed a role, so that what one part of a run draws never changes another's draws."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: The order is part of every result: add at the end only.
ROLES = ("split", "warm-up", "model", "strategy")


def role_seed(seed: int, role: str, number: int = 0) -> int:
    """The seed of a role, such as the strategy's in round `number`."""
    sequence = np.random.SeedSequence([seed, ROLES.index(role), number])
    return int(sequence.generate_state(1)[0])


def warm_up_rows(n_rows: int, size: int, seed: int) -> NDArray[np.intp]:
    """The rows that are labelled at the start, the same for every strategy at a seed."""
    return np.random.default_rng(role_seed(seed, "warm-up")).permutation(n_rows)[:size]
