"""The training loop: one generator that yields a report after every epoch.

Progress bars, plots and interruptions stay outside: whoever iterates decides whether to go on. A
run may be abandoned at any time; closing the generator gives the model its best weights so far.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from sdv_tabdiff.diffusion.course import Course
from sdv_tabdiff.diffusion.process import MixedDiffusion
from sdv_tabdiff.diffusion.trainer import Trainer, TrainingSettings
from sdv_tabdiff.diffusion.transfer import Check, Transfer
from sdv_tabdiff.diffusion.validation import Validation, split_rows

# A check costs about as much as five steps.
MIN_STEPS_BETWEEN_CHECKS, CHECKS = 24, 50


@dataclass(frozen=True)
class EpochReport:
    """What is known after an epoch.

    Losses are means over the epoch; those of the validation part are of the running-mean weights at
    the last check, and NaN where nothing is held out. ``loss`` and ``validation_loss`` join both
    kinds of columns.
    """

    epoch: int
    epochs: int
    seconds: float
    is_best: bool
    loss: float
    numerical: float
    categorical: float
    validation_loss: float = math.nan
    validation_numerical: float = math.nan
    validation_categorical: float = math.nan


class Checks:
    """Looks at the losses on held-out rows, and on as many others, and steers the run by them."""

    def __init__(
        self,
        trainer: Trainer,
        x_num: Tensor,
        x_cat: Tensor,
        rows: Tensor,
        held_out: Tensor,
        generator: torch.Generator,
    ):
        self.trainer = trainer
        self.course = trainer.course
        self._every = max(MIN_STEPS_BETWEEN_CHECKS, self.course.total_steps // CHECKS)
        self._next = 0
        self._held_out, self._trained = (
            Validation(
                trainer.model,
                x_num[part],
                x_cat[part].long(),
                generator,
                trainer.settings.conditional_share,
            )
            for part in (held_out, rows[: len(held_out)])
        )
        self._transfer = Transfer(trainer.settings.min_transfer)

    @property
    def are_due(self) -> bool:
        """Whether it is time for a check: now and then, and at the end."""
        return self.course.step >= self._next or self.course.is_over

    def hasten(self) -> None:
        """Check again after the next epoch."""
        self._next = 0

    def make(self) -> list[float]:
        """Check, and end the run soon if it is time to.

        Returns the loss on held-out rows: joint, numerical and categorical.
        """
        self._next = self.course.step + self._every
        check, held = self._losses()
        self._transfer.record(check)
        if self._transfer.is_exhausted and not self.course.winding_down:
            self.course.wind_down()

        return [check.held_out, *held]

    def _losses(self) -> tuple[Check, list[float]]:
        model = self.trainer.ema.model
        held = [float(part) for part in self._held_out.losses(model)]
        trained = self.trainer.joint(*(float(part) for part in self._trained.losses(model)))
        return Check(self.course.step, trained, self.trainer.joint(*held)), held


def train(
    model: MixedDiffusion,
    x_num: Tensor,
    x_cat: Tensor,
    settings: TrainingSettings,
    generator: torch.Generator,
) -> Iterator[EpochReport]:
    """Train ``model`` in place, yielding a report after every epoch.

    When the iterator ends, or is closed by its caller, the model holds the running-mean weights
    with the best held-out loss (the last ones if nothing is held out).

    Args:
        model: The model, on the device to train on.
        x_num: All numbers, shape ``(rows, numerical)``, NaN where a row has none; on the device.
        x_cat: All codes, shape ``(rows, categorical)``; on the device.
        settings: How to train.
        generator: Source of randomness, on the device.

    Raises:
        NonFiniteLossError:
            If the loss stays NaN or infinite.
    """
    rows, held_out = split_rows(len(x_num), settings.validation_share, x_num.device, generator)
    steps_per_epoch = math.ceil(len(rows) / settings.batch_size)
    course = Course(settings.epochs * steps_per_epoch, settings.max_seconds)
    trainer = Trainer(model, settings, course)
    checks = Checks(trainer, x_num, x_cat, rows, held_out, generator) if len(held_out) else None
    held: list[float] = []
    try:
        for epoch in range(1, settings.epochs + 1):
            shuffle = torch.randperm(len(rows), device=rows.device, generator=generator)
            losses = trainer.epoch(x_num, x_cat, rows[shuffle], generator)
            if checks and checks.are_due:
                held = checks.make()

            # Without held-out rows there is nothing to choose by: the latest weights count as best.
            score = held[0] if held else -float(epoch)
            if not math.isfinite(score + sum(losses)):
                trainer.restart()
                if checks:
                    checks.hasten()
                continue

            best = trainer.keep_if_best(score)
            joint = trainer.joint(*losses)
            yield EpochReport(epoch, settings.epochs, course.seconds, best, joint, *losses, *held)
            if course.is_over:
                break

        if trainer.best_loss == math.inf:
            raise trainer.failure()  # Too few epochs to restart as often as allowed.
    finally:
        trainer.load_best()
