"""One training run: its settings, its state, and what a single step does."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from sdv_tabdiff.diffusion.course import Course, ExponentialMovingAverage
from sdv_tabdiff.diffusion.muon import Muon
from sdv_tabdiff.diffusion.process import MixedDiffusion, schedule_objective, stratified_times
from sdv_tabdiff.diffusion.validation import slices

# Losses this close, relatively, are a tie that held-out rows cannot decide. The later weights win:
# their learning rate was lower.
TIE = 0.003

MAX_GRADIENT_NORM = 1.0

# To orthogonalise a square matrix of width w takes 18 w^3 operations, beside 6 w^2 for each row of
# the batch. Matrices take a turn for each so many units of width, which keeps that at a fifth of
# the usual batch's.
WIDTH_PER_TURN = 64

# After a non-finite loss: how much smaller the steps become, and how often that is tried.
CAUTION = 0.3
MAX_RESTARTS = 3


class NonFiniteLossError(RuntimeError):
    """The loss stayed NaN or infinite although training was restarted more carefully."""


@dataclass(frozen=True)
class TrainingSettings:
    """How to train.

    Args:
        epochs: Passes over the training rows, at most.
        batch_size: Rows per step.
        optimizer: ``'muon'`` for the matrices of the trunk and AdamW for the rest, or ``'adam'``.
        learning_rate: Peak of the learning rate; see ``Course``.
        weight_decay: Decoupled weight decay.
        ema_decay: Decay of the running mean of the weights, per step, after its warm-up.
        numerical_weight: Weight of the numerical loss at the start and at the end; linear between.
        categorical_weight: Weight of the categorical loss.
        balance: ``'column'`` if every column counts the same, ``'kind'`` if the numbers together
            count as much as the categories together.
        conditional_share: Share of the rows of each batch in which some cells are known or hidden,
            which teaches the network to answer conditional questions. 0 teaches it none.
        validation_share: Share of the rows held out to choose the weights; 0 trains on all.
        min_transfer: Share of what is learned about the rows trained on that must hold for the
            held-out ones. Below it, the learning rate is brought to 0 and training ends.
        dropout: Share of the units of the trunk that a step leaves out.
        max_seconds: Wall-clock budget, or None.
        schedule_learning_rate: Learning rate of learnable schedules.
        schedule_every: Steps between two updates of learnable schedules.
    """

    epochs: int = 100
    batch_size: int = 1024
    optimizer: str = 'muon'
    learning_rate: float = 4e-3
    weight_decay: float = 0.0
    ema_decay: float = 0.999
    numerical_weight: tuple[float, float] = (1.0, 1.0)
    categorical_weight: float = 1.0
    balance: str = 'column'
    conditional_share: float = 0.4
    validation_share: float = 0.1
    min_transfer: float = 0.4
    dropout: float = 0.0
    max_seconds: float | None = None
    schedule_learning_rate: float = 1e-2
    schedule_every: int = 10


def numerical_share(model: MixedDiffusion, balance: str) -> float:
    """Share of the numerical columns in the joint loss, from 0 to 1."""
    numerical, categorical = model.num_numerical, model.layout.num_columns
    if balance == 'kind' and numerical and categorical:
        return 0.5

    return numerical / (numerical + categorical)


OPTIMIZERS = ('muon', 'adam')


def new_optimizers(
    model: MixedDiffusion, settings: TrainingSettings
) -> list[torch.optim.Optimizer]:
    """Optimisers that together update the network."""
    matrices = model.denoiser.trunk.matrices() if settings.optimizer == 'muon' else []
    chosen = set(map(id, matrices))
    adam = torch.optim.AdamW(
        [weight for weight in model.denoiser.parameters() if id(weight) not in chosen],
        lr=settings.learning_rate,
        weight_decay=settings.weight_decay,
        fused=model.layout.mask_codes.device.type in ('cpu', 'cuda'),
    )
    if not matrices:
        return [adam]

    turns = max(1, matrices[-1].shape[0] // WIDTH_PER_TURN)
    return [adam, Muon(matrices, settings.learning_rate, turns=turns)]


class Trainer:
    """The state of a run: optimisers, running mean, best and last good weights."""

    def __init__(self, model: MixedDiffusion, settings: TrainingSettings, course: Course):
        self.model = model
        self.settings = settings
        self.course = course
        self.device = model.layout.mask_codes.device
        self.share = numerical_share(model, settings.balance)
        self.restarts = 0
        self.best_loss = math.inf
        self.best = self.last_good = copy_weights(model)
        self.ema = ExponentialMovingAverage(model, settings.ema_decay)
        self.optimizers = new_optimizers(model, settings)
        model.denoiser.trunk.dropout = settings.dropout
        schedules = model.schedule_parameters()
        self.schedule_optimizer = (
            torch.optim.Adam(schedules, lr=settings.schedule_learning_rate) if schedules else None
        )

    def step(self, x_num: Tensor, x_cat: Tensor, generator: torch.Generator | None) -> Tensor:
        """One update of the weights; returns both losses, still on the device."""
        used = self.course.used
        factor = self.course.learning_rate_factor() * CAUTION**self.restarts
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group['lr'] = self.settings.learning_rate * factor

        t = stratified_times(len(x_num), self.device, generator)
        roles = self.model.draw_roles(len(x_num), self.settings.conditional_share, generator)
        noisy = self.model.add_noise(x_num, x_cat, t, generator, roles)
        losses = self.model.losses(x_num, x_cat, noisy)

        start, end = self.settings.numerical_weight
        loss = self.joint(
            (start + used * (end - start)) * losses.numerical,
            self.settings.categorical_weight * losses.categorical,
        )
        for optimizer in self.optimizers:
            optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.denoiser.parameters(), MAX_GRADIENT_NORM)
        for optimizer in self.optimizers:
            optimizer.step()
        if self.schedule_optimizer and self.course.step % self.settings.schedule_every == 0:
            self.step_schedules(self.schedule_optimizer, x_num, x_cat, generator)

        self.ema.update()
        self.course.step += 1
        return torch.stack([losses.numerical.detach(), losses.categorical.detach()])

    def joint(self, numerical: Any, categorical: Any) -> Any:
        """Both losses as one."""
        return self.share * numerical + (1 - self.share) * categorical

    def step_schedules(
        self,
        optimizer: torch.optim.Optimizer,
        x_num: Tensor,
        x_cat: Tensor,
        generator: torch.Generator | None,
    ) -> None:
        """One update of the schedules' exponents, which have an objective of their own."""
        optimizer.zero_grad(set_to_none=True)
        schedule_objective(self.model, x_num, x_cat, generator).backward()
        nn.utils.clip_grad_norm_(self.model.schedule_parameters(), MAX_GRADIENT_NORM)
        optimizer.step()

    def epoch(
        self, x_num: Tensor, x_cat: Tensor, order: Tensor, generator: torch.Generator
    ) -> tuple[float, float]:
        """One pass over ``order``, or less if time runs out; returns the mean losses."""
        with global_randomness_from(generator):  # Dropout knows no other.
            return self._epoch(x_num, x_cat, order, generator)

    def _epoch(
        self, x_num: Tensor, x_cat: Tensor, order: Tensor, generator: torch.Generator
    ) -> tuple[float, float]:
        total = torch.zeros(2, device=self.device)
        seen = 0
        for rows in slices(len(order), self.settings.batch_size):
            batch = order[rows]
            total += len(batch) * self.step(x_num[batch], x_cat[batch].long(), generator)
            seen += len(batch)
            if self.course.is_over:
                break

        # The only synchronisation with the device: once an epoch.
        numerical, categorical = (total / seen).tolist()
        return numerical, categorical

    def keep_if_best(self, loss: float) -> bool:
        """Remember the running-mean weights if ``loss`` is the lowest so far, or ties with it."""
        self.last_good = copy_weights(self.model)
        if loss < self.best_loss:
            self.best_loss = loss
        elif loss > self.best_loss + TIE * abs(self.best_loss):
            return False

        self.best = copy_weights(self.ema.model)
        return True

    def restart(self) -> None:
        """Go back to the last good weights and train on with smaller steps."""
        self.restarts += 1
        if self.restarts > MAX_RESTARTS:
            raise self.failure()

        self.model.load_state_dict(self.last_good)
        self.ema = ExponentialMovingAverage(self.model, self.settings.ema_decay)
        for optimizer in self.optimizers:
            optimizer.state.clear()
        if self.schedule_optimizer:
            self.schedule_optimizer.state.clear()

    def failure(self) -> NonFiniteLossError:
        """The error to raise when no training is possible."""
        return NonFiniteLossError(
            'The loss is not finite, and smaller learning rates did not help. Lower '
            f"'learning_rate' (currently {self.settings.learning_rate}) or look for extreme "
            'values in the data.'
        )

    def load_best(self) -> None:
        """Give the model the best weights; the running mean if no epoch was finished."""
        unfinished = self.best_loss == math.inf and self.ema.updates > 0 and not self.restarts
        self.model.load_state_dict(self.ema.model.state_dict() if unfinished else self.best)


@contextmanager
def global_randomness_from(generator: torch.Generator) -> Iterator[None]:
    """A context in which torch's global random numbers follow from ``generator``."""
    device = generator.device
    devices = [] if device.type == 'cpu' else [device.index or 0]
    with torch.random.fork_rng(devices, device_type='cuda' if not devices else device.type):
        seed = torch.randint(2**31, (), device=device, generator=generator)
        torch.manual_seed(int(seed))
        yield


def copy_weights(model: nn.Module) -> dict[str, Tensor]:
    """A copy of a model's parameters and buffers, on its device."""
    return {name: value.detach().clone() for name, value in model.state_dict().items()}
