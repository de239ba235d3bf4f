"""The course of a training run over its steps: learning rate, clock and running mean."""

import copy
import math
import time

import torch
from torch import Tensor

from sdv_tabdiff.diffusion.process import MixedDiffusion

WARMUP_SHARE = 0.02

# Length of the last stretch of a run that ends early, relative to the steps before it.
WIND_DOWN_SHARE = 0.3


class Course:
    """How far a run has come, by steps or by the clock, whichever is further."""

    def __init__(self, total_steps: int, max_seconds: float | None):
        self.total_steps = total_steps
        self.max_seconds = max_seconds
        self.started = time.monotonic()
        self.step = 0
        self.winding_down = False
        self._scale = 1.0

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    @property
    def out_of_time(self) -> bool:
        """Whether the clock has run out."""
        return self.max_seconds is not None and self.seconds >= self.max_seconds

    @property
    def is_over(self) -> bool:
        """Whether no step is left, or no time."""
        return self.step >= self.total_steps or self.out_of_time

    @property
    def used(self) -> float:
        """Share of the budget that is gone, from 0 to 1."""
        used = self.step / self.total_steps
        if self.max_seconds:
            used = max(used, self.seconds / self.max_seconds)

        return min(used, 1.0)

    def learning_rate_factor(self) -> float:
        """Factor of the learning rate now: linear warm-up, then linearly down to 0."""
        used = self.used
        if used < WARMUP_SHARE and not self.winding_down:
            return max(used, 1e-3) / WARMUP_SHARE

        return self._scale * (1 - used) / (1 - WARMUP_SHARE)

    def wind_down(self) -> None:
        """End soon: bring the learning rate from where it is to 0 in a last, short stretch.

        Weights of a high learning rate are noisy. A run that has learned what it can is not to be
        stopped there: most of what a smaller rate brings, it brings in few steps.
        """
        before = self.learning_rate_factor()
        self.winding_down = True
        last_steps = math.ceil(WIND_DOWN_SHARE * self.step)
        self.total_steps = min(self.total_steps, self.step + last_steps)
        if self.used < 1:
            self._scale *= before / self.learning_rate_factor()


class ExponentialMovingAverage:
    """A running mean of a model's weights, updated every step.

    The decay warms up, ``min(decay, (1 + n) / (10 + n))``, so that the random first weights are
    forgotten at once and a run of ten steps has a usable mean as well.
    """

    def __init__(self, model: MixedDiffusion, decay: float):
        self.decay = decay
        self.updates = 0
        self.model: MixedDiffusion = copy.deepcopy(model).requires_grad_(False).eval()
        self._ours: list[Tensor] = list(self.model.parameters())
        self._theirs: list[Tensor] = list(model.parameters())

    @torch.no_grad()
    def update(self) -> None:
        """Move the mean towards the model's weights."""
        decay = min(self.decay, (1 + self.updates) / (10 + self.updates))
        self.updates += 1
        torch._foreach_lerp_(self._ours, self._theirs, 1 - decay)
