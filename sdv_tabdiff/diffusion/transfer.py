"""Whether what is learned about the rows trained on holds for other rows."""

from typing import NamedTuple

# How far back a check looks, as a share of the steps so far: long enough for the losses to differ
# by more than noise, short enough to notice a turn.
LOOK_BACK = 0.3

# Checks in a row that must agree before a run is called exhausted.
AGREEING_CHECKS = 2


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
        minimum: Share of what is learned about the rows trained on that must hold for others.
    """

    def __init__(self, minimum: float):
        self.minimum = minimum
        self._checks: list[Check] = []
        self._too_little = 0

    def record(self, check: Check) -> None:
        """Add the losses of a check."""
        before = [past for past in self._checks if past.step <= (1 - LOOK_BACK) * check.step]
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
