"""The course of a training run over its steps: learning rate, clock and running mean."""

import copy
import math
import time

import torch
from torch import Tensor

from sdv_tabdiff.diffusion.process import MixedDiffusion

WARMUP_SHARE = 0.02


class Course:
    """How far a run has come, by steps or by the clock, whichever is further."""

    def __init__(self, total_steps: int, max_seconds: float | None):
        self.total_steps = total_steps
        self.max_seconds = max_seconds
        self.started = time.monotonic()
        self.step = 0

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    @property
    def out_of_time(self) -> bool:
        """Whether the clock has run out."""
        return self.max_seconds is not None and self.seconds >= self.max_seconds

    @property
    def used(self) -> float:
        """Share of the budget that is gone, from 0 to 1."""
        used = self.step / self.total_steps
        if self.max_seconds:
            used = max(used, self.seconds / self.max_seconds)

        return min(used, 1.0)

    def learning_rate_factor(self) -> float:
        """Factor of the learning rate now: linear warm-up, then a half cosine down to 0."""
        used = self.used
        if used < WARMUP_SHARE:
            return max(used, 1e-3) / WARMUP_SHARE

        return 0.5 * (1 + math.cos(math.pi * (used - WARMUP_SHARE) / (1 - WARMUP_SHARE)))


class ExponentialMovingAverage:
    """A running mean of a model's weights, updated every step.

    The decay warms up, ``min(decay, (1 + n) / (10 + n))``, so that the random first weights are
    forgotten at once and a run of ten steps has a usable mean as well.
    """

    def __init__(self, model: MixedDiffusion, decay: float):
        self.decay = decay
        self.updates = 0
        self.model: MixedDiffusion = copy.deepcopy(model).requires_grad_(False)
        self._ours: list[Tensor] = list(self.model.parameters())
        self._theirs: list[Tensor] = list(model.parameters())

    @torch.no_grad()
    def update(self) -> None:
        """Move the mean towards the model's weights."""
        decay = min(self.decay, (1 + self.updates) / (10 + self.updates))
        self.updates += 1
        torch._foreach_lerp_(self._ours, self._theirs, 1 - decay)
