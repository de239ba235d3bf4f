"""Whether what is learned about the rows trained on holds for other rows."""

import math
from typing import NamedTuple

# How far back a check looks, as a share of the steps so far: long enough for the losses to differ
# by more than noise, short enough to notice a turn.
LOOK_BACK = 0.3

# Checks in a row that must agree before a run is called exhausted.
AGREEING_CHECKS = 2

# Dropout in relation to the gap between the two losses. A gap of a hundredth may be chance: the
# rows are not the same.
GAP_BY_CHANCE, DROPOUT_PER_GAP, MAX_DROPOUT = 0.01, 10.0, 0.5


class Check(NamedTuple):
    """Losses of the same weights after a number of steps."""

    step: int
    trained: float
    held_out: float


class Transfer:
    """Compares the loss on rows trained on with the loss on held-out ones, as training goes on.

    Both fall together as long as the network learns what the rows have in common. When only the
    first falls, it learns the rows themselves. (Prechelt 1998, 'Early stopping - but when?',
    compares rules that look at both; looking at the held-out loss alone notices it much later.)

    Args:
        start: Both losses before the first step. Some rows are easier than others from the start,
            which says nothing about what is learned.
        minimum: Share of what is learned about the rows trained on that must hold for others.
    """

    def __init__(self, start: Check, minimum: float):
        self.minimum = minimum
        self._checks = [start]
        self._too_little = 0

    def record(self, check: Check) -> None:
        """Add the losses of a check."""
        before = [past for past in self._checks[1:] if past.step <= (1 - LOOK_BACK) * check.step]
        self._checks.append(check)
        if before:
            learned = before[-1].trained - check.trained
            transferred = before[-1].held_out - check.held_out
            little = transferred < self.minimum * learned
            self._too_little = self._too_little + 1 if little else 0

    @property
    def is_exhausted(self) -> bool:
        """Whether training on would mostly teach the rows themselves."""
        return self._too_little >= AGREEING_CHECKS

    @property
    def gap(self) -> float:
        """By how much the held-out loss has come to exceed the other one, relatively."""
        start, now = self._checks[0], self._checks[-1]
        excess = (now.held_out - now.trained) - (start.held_out - start.trained)
        return excess / max(abs(now.held_out), 1e-12)

    @property
    def dropout(self) -> float:
        """The dropout that suits the gap: none while there is none."""
        dropout = DROPOUT_PER_GAP * (self.gap - GAP_BY_CHANCE)
        # A loss that is not finite says nothing; whoever trains deals with it.
        return min(max(dropout, 0.0), MAX_DROPOUT) if math.isfinite(dropout) else 0.0
