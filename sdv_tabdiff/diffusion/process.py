"""The forward process and the losses.

A row is ``[x_num, x_cat]``. A number that the row does not have (its column is in a discrete state
instead, such as *missing* or *exactly zero*) is NaN in ``x_num``; the state itself is one of the
row's categories. Such a cell stands for an independent draw of N(0, 1), so the joint distribution
is well defined whatever the state, and its posterior mean is known in closed form: ``c_skip x_t``.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor, nn

from sdv_tabdiff.diffusion.categories import CategoryLayout
from sdv_tabdiff.diffusion.denoiser import Denoiser, DenoiserSizes, c_skip
from sdv_tabdiff.diffusion.precision import fast_products
from sdv_tabdiff.diffusion.roles import Roles, draw_roles, feature_columns
from sdv_tabdiff.diffusion.schedules import LogLinearSchedule, PowerMeanSchedule


@dataclass(frozen=True)
class NoiseSettings:
    """How noise grows with time.

    Args:
        sigma_min: Noise of the numbers at time 0.
        sigma_max: Noise of the numbers at time 1.
        rho: Exponent of the power-mean schedule (its start, if learnable).
        k: Exponent of the log-linear schedule (its start, if learnable).
        delta: Chance of a mask at time 0.
        learnable: Whether each column learns its own exponent.
    """

    sigma_min: float = 0.002
    sigma_max: float = 80.0
    rho: float = 7.0
    k: float = 1.0
    delta: float = 1e-3
    learnable: bool = False


class NoisyRows(NamedTuple):
    """Rows at time ``t``, with all that the loss needs to know about their noise.

    ``masked`` marks the categories to predict. ``sigma`` is the noise of the wanted numbers; known
    ones have none.
    """

    x_num: Tensor
    x_cat: Tensor
    masked: Tensor
    sigma: Tensor
    t: Tensor
    roles: Roles | None = None

    def take(self, rows: slice) -> 'NoisyRows':
        """Some of the rows."""
        return NoisyRows(
            self.x_num[rows],
            self.x_cat[rows],
            self.masked[rows],
            self.sigma[rows],
            self.t[rows],
            self.roles and self.roles.take(rows),
        )


class Losses(NamedTuple):
    """Numerical and categorical loss, scalars."""

    numerical: Tensor
    categorical: Tensor


def stratified_times(
    num_rows: int, device: torch.device | str, generator: torch.Generator | None = None
) -> Tensor:
    """Times in (0, 1), one in each of ``num_rows`` equal strata, in random order: ``(rows, 1)``.

    Each time on its own is uniform, so the loss stays unbiased, with less variance.
    """
    order = torch.randperm(num_rows, device=device, generator=generator)
    jitter = torch.rand(num_rows, device=device, generator=generator)
    # The jitter may be 0, and t = 0 makes the weight of the categories infinite when k < 1.
    return ((order + jitter.clamp(min=1e-3)) / num_rows).unsqueeze(1)


def numerical_errors(denoised: Tensor, x_0: Tensor, noisy: NoisyRows) -> Tensor:
    """``(s^2 + 1) / s^2 (D - x_0)^2`` of each cell, shape ``(rows, numerical)``."""
    # Where the row has no number the target is the posterior mean of its N(0, 1) stand-in: the
    # same optimum as a fresh draw, without its variance.
    target = torch.where(x_0.isnan(), c_skip(noisy.sigma) * noisy.x_num, x_0)
    return (1 + noisy.sigma**-2) * (denoised - target) ** 2


class MixedDiffusion(nn.Module):
    """Schedules and denoiser of one table.

    Args:
        num_numerical: Number of numerical columns.
        levels: Number of levels of each categorical column.
        sizes: Sizes of the network.
        noise: Parameters of the schedules.
        columns: The column that each feature belongs to, numerical features first: a number with
            states is two features of one column. None if each feature is a column of its own.
    """

    columns: Tensor

    def __init__(
        self,
        num_numerical: int,
        levels: Sequence[int],
        sizes: DenoiserSizes | None = None,
        noise: NoiseSettings | None = None,
        columns: Sequence[int] | None = None,
    ):
        super().__init__()
        self.noise = noise = noise or NoiseSettings()
        self.num_numerical = num_numerical
        self.layout = CategoryLayout(levels)
        features = feature_columns(num_numerical + len(levels), columns)
        self.num_columns = len(set(features))
        self.register_buffer('columns', torch.tensor(features), persistent=False)
        self.denoiser = Denoiser(num_numerical, self.layout, sizes or DenoiserSizes())
        self.numerical_schedule = PowerMeanSchedule(
            num_numerical, noise.rho, noise.sigma_min, noise.sigma_max, noise.learnable
        )
        self.categorical_schedule = LogLinearSchedule(
            self.layout.num_columns, noise.k, noise.delta, noise.learnable
        )

    def schedule_parameters(self) -> list[nn.Parameter]:
        """The learnable exponents; empty with fixed schedules."""
        schedules = [self.numerical_schedule, self.categorical_schedule]
        return [parameter for schedule in schedules for parameter in schedule.parameters()]

    def part(
        self, numerical: list[int], categorical: list[int], sizes: DenoiserSizes
    ) -> 'MixedDiffusion':
        """A new, untrained model of some of the features, with their noise as it is here."""
        features = [*numerical, *(self.num_numerical + position for position in categorical)]
        columns = [int(self.columns[feature]) for feature in features]
        number_of = {column: number for number, column in enumerate(dict.fromkeys(columns))}
        part = MixedDiffusion(
            len(numerical),
            [self.layout.levels[position] for position in categorical],
            sizes,
            replace(self.noise, learnable=False),
            [number_of[column] for column in columns],
        )
        part.numerical_schedule.raw.copy_(self.numerical_schedule.raw.detach()[numerical])
        part.categorical_schedule.raw.copy_(self.categorical_schedule.raw.detach()[categorical])
        return part

    def draw_roles(
        self, num_rows: int, share: float, generator: torch.Generator | None = None
    ) -> Roles | None:
        """Random known and hidden cells in a share of the rows; None if the share is 0."""
        if share == 0:
            return None

        return draw_roles(
            num_rows, self.columns, self.num_columns, self.num_numerical, share, generator
        )

    @torch.no_grad()
    def add_noise(
        self,
        x_num: Tensor,
        x_cat: Tensor,
        t: Tensor,
        generator: torch.Generator | None = None,
        roles: Roles | None = None,
    ) -> NoisyRows:
        """Draw ``x_t`` given ``x_0`` at times ``t`` of shape ``(rows, 1)``."""
        sigma = self.numerical_schedule.sigma(t)
        eps = torch.randn(x_num.shape, device=x_num.device, generator=generator)
        stand_in = torch.randn(x_num.shape, device=x_num.device, generator=generator)
        noisy_num = torch.where(x_num.isnan(), stand_in, x_num) + sigma * eps

        uniform = torch.rand(x_cat.shape, device=x_cat.device, generator=generator)
        masked = uniform < self.categorical_schedule.mask_probability(t)
        if roles is not None:
            masked = (masked | roles.categorical(roles.hidden)) & ~roles.categorical(roles.known)
            noisy_num = torch.where(roles.numerical(roles.known), x_num.nan_to_num(), noisy_num)

        noisy_cat = torch.where(masked, self.layout.mask_codes, x_cat)
        if roles is not None:
            masked = masked & roles.categorical(roles.wanted)

        return NoisyRows(noisy_num, noisy_cat, masked, sigma, t, roles)

    def denoise(self, noisy: NoisyRows) -> tuple[Tensor, Tensor]:
        """Denoised numbers and logits of the categories."""
        with fast_products(noisy.x_num.device):
            return self.denoiser(noisy.x_num, noisy.x_cat, noisy.sigma, noisy.t, noisy.roles)

    def cell_errors(self, x_num: Tensor, x_cat: Tensor, noisy: NoisyRows) -> tuple[Tensor, Tensor]:
        """Unweighted errors of the prediction for each cell.

        Returns ``numerical_errors`` of shape ``(rows, numerical)``, 0 for a number that is not
        wanted, and the cross entropy of shape ``(rows, categorical)``, of visible categories too.
        """
        denoised, logits = self.denoise(noisy)
        errors = numerical_errors(denoised, x_num, noisy)
        if noisy.roles is not None:
            errors = errors * noisy.roles.numerical(noisy.roles.wanted)

        return errors, self.layout.cross_entropy(logits, x_cat)

    def category_weights(self, noisy: NoisyRows) -> Tensor:
        """Weight of each masked category in the loss, 0 for others: ``(rows, categorical)``.

        With learnable schedules that is ``w_j(t)``, as the bound on the likelihood has it. With the
        fixed linear one, ``w(t) = 1 / t`` is rare and huge at small ``t``. Its mean given that
        ``m`` of ``n`` categories are masked, ``(n + 1) / m``, asks for the same answers: its
        gradients are far less noisy, and so is the loss on held-out rows.
        """
        if self.noise.learnable or self.noise.k != 1:
            return self.categorical_schedule.weight(noisy.t) * noisy.masked

        masks = noisy.masked.sum(1, keepdim=True).clamp(min=1)
        if noisy.roles is None:
            return noisy.masked * (self.layout.num_columns + 1) / masks

        wanted = noisy.roles.categorical(noisy.roles.wanted).sum(1, keepdim=True)
        return noisy.masked * (wanted + 1) / masks

    def losses(self, x_num: Tensor, x_cat: Tensor, noisy: NoisyRows) -> Losses:
        """Mean loss over rows and columns; 0 for a kind of column that the table lacks."""
        errors, cross_entropy = self.cell_errors(x_num, x_cat, noisy)
        with torch.no_grad():
            importance = self.numerical_schedule.importance(noisy.sigma.log())
            weights = self.category_weights(noisy)
            if noisy.roles is not None:
                importance = importance * noisy.roles.row_weight
                weights = weights * noisy.roles.row_weight

        return Losses(mean(importance * errors), mean(weights * cross_entropy))


def mean(values: Tensor) -> Tensor:
    """Mean over all cells; 0 if there are none."""
    return values.sum() / max(values.numel(), 1)


def schedule_objective(
    model: MixedDiffusion,
    x_num: Tensor,
    x_cat: Tensor,
    generator: torch.Generator | None = None,
    draws: int = 2,
) -> Tensor:
    """A scalar whose gradient is an unbiased estimate of the schedules' objective's gradient.

    *What the exponents minimise, and why they cannot cheat:*

    - ``rho_i`` minimises the second moment of column ``i``'s importance-weighted loss. With
      ``u = log sigma``, ``q`` the density of ``u`` under the initial schedule, ``p_rho`` that under
      the present one and ``g_i(u) = E[l_i^2 | u]`` the present profile of the loss, that is
      ``V_i(rho) = E[(q/p_rho)^2 l_i^2] = integral q(u)^2 g_i(u) / p_rho(u) du``, hence
      ``dV_i/drho = -E[(q/p_rho)^2 l_i^2 dlog p_rho(u)/drho]``. The mean of the weighted loss does
      not depend on ``rho_i``, so a smaller ``V_i`` is a smaller variance of the training loss and
      nothing else: dwelling on easy noise levels makes it larger. The profile is taken as it is;
      otherwise a column could gain by keeping its neighbours' noise, and so their difficulty, low.
    - ``k_j`` minimises the categorical loss itself. That loss is a bound on the negative log
      likelihood for *every* choice of ``k``; for a single column it does not depend on ``k`` at
      all. What ``k`` can change is the order in which columns are revealed, and a tighter bound is
      an order that the network predicts better. The masks are discrete, so besides the derivative
      of the weight there is a score-function term, ``(f - b) dlog P(mask)/dk``, where ``b`` is the
      mean of the other mask draws of the same row: independent of the draw, so unbiased.

    Args:
        model: The model; its network is not changed, only looked at.
        x_num: Clean numbers, shape ``(rows, numerical)``.
        x_cat: Clean categories, shape ``(rows, categorical)``.
        generator: Source of randomness.
        draws: Mask draws per row, at least 2 for the baseline.

    Returns:
        Tensor:
            Scalar to call ``backward`` on. Its value has no meaning of its own.
    """
    t = stratified_times(len(x_num), x_num.device, generator)
    categorical = []
    log_probabilities = []
    numerical_surrogate = x_num.new_zeros(())
    for _ in range(draws):
        noisy = model.add_noise(x_num, x_cat, t, generator)
        with torch.no_grad():
            errors, cross_entropy = model.cell_errors(x_num, x_cat, noisy)
            log_sigma = noisy.sigma.log()
            squared = (model.numerical_schedule.importance(log_sigma) * errors) ** 2

        log_density = model.numerical_schedule.log_density(log_sigma)
        numerical_surrogate = numerical_surrogate - (squared * log_density).mean(0).sum() / draws
        categorical.append((model.category_weights(noisy) * cross_entropy).sum(1))
        probability = model.categorical_schedule.mask_probability(t)
        chosen = torch.where(noisy.masked, probability, 1 - probability)
        log_probabilities.append(chosen.log().sum(1))

    loss = torch.stack(categorical)
    baseline = (loss.sum(0) - loss).detach() / (draws - 1)
    score = (loss.detach() - baseline) * torch.stack(log_probabilities)
    categorical_surrogate = (loss + score).mean() / max(model.layout.num_columns, 1)
    return numerical_surrogate / max(model.num_numerical, 1) + categorical_surrogate
