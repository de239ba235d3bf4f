"""Held-out rows: which they are, and the loss on them."""

import math

import torch
from torch import Tensor

from sdv_tabdiff.diffusion.process import (
    Losses,
    MixedDiffusion,
    mean,
    stratified_times,
)

MIN_ROWS_TO_HOLD_OUT = 50
MAX_VALIDATION_ROWS = 1024
MIN_VALIDATION_DRAWS = 8192
VALIDATION_BATCH = 1024


def split_rows(
    num_rows: int, share: float, device: torch.device, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Random row numbers to train on and to hold out."""
    order = torch.randperm(num_rows, device=device, generator=generator)
    held_out = min(int(num_rows * share), MAX_VALIDATION_ROWS)
    if num_rows < MIN_ROWS_TO_HOLD_OUT:
        held_out = 0

    return order[held_out:], order[:held_out]


class Validation:
    """Held-out rows with draws of ``(t, eps, mask, roles)`` that never change.

    The same noise at every check makes the losses of different checks comparable. Its weights are
    kept too: schedules may learn, the yardstick may not.
    """

    def __init__(
        self,
        model: MixedDiffusion,
        x_num: Tensor,
        x_cat: Tensor,
        generator: torch.Generator,
        conditional_share: float = 0.0,
    ):
        # Rows say more when they are looked at under many noises: with few, one lucky draw decides
        # which weights count as the best.
        repeats = math.ceil(MIN_VALIDATION_DRAWS / len(x_num))
        self.x_num = x_num.repeat(repeats, 1)
        self.x_cat = x_cat.repeat(repeats, 1)
        t = stratified_times(len(self.x_num), x_num.device, generator)
        roles = model.draw_roles(len(self.x_num), conditional_share, generator)
        self.noisy = model.add_noise(self.x_num, self.x_cat, t, generator, roles)
        self.row_weight = torch.ones_like(t) if roles is None else roles.row_weight
        with torch.no_grad():
            self.weights = self.row_weight * model.category_weights(self.noisy)

    @torch.no_grad()
    def losses(self, model: MixedDiffusion) -> Losses:
        """Numerical and categorical loss of ``model`` on the held-out rows."""
        numerical, categorical = [], []
        for rows in slices(len(self.x_num), VALIDATION_BATCH):
            noisy = self.noisy.take(rows)
            errors, cross_entropy = model.cell_errors(self.x_num[rows], self.x_cat[rows], noisy)
            numerical.append(self.row_weight[rows] * errors)
            categorical.append(self.weights[rows] * cross_entropy)

        return Losses(mean(torch.cat(numerical)), mean(torch.cat(categorical)))


def slices(length: int, size: int) -> list[slice]:
    """Neighbouring slices of at most ``size`` that cover ``length``."""
    return [slice(start, min(start + size, length)) for start in range(0, length, size)]
