"""The reverse process: from noise to rows."""

from dataclasses import dataclass

import torch
from torch import Tensor

from sdv_tabdiff.diffusion.process import MixedDiffusion, NoisyRows

SOLVERS = ('euler', 'heun', 'multistep')


@dataclass(frozen=True)
class SamplerSettings:
    """How to walk from time 1 to time 0.

    Args:
        steps: Number of steps.
        solver: ``'euler'`` (first order, one network call a step), ``'heun'`` (second order, two
            calls) or ``'multistep'`` (DPM-Solver++(2M): second order from the previous step's
            prediction, one call).
        stochastic: Whether every step first adds a little noise, which lets the sampler take back
            a wrong category.
    """

    steps: int = 50
    solver: str = 'multistep'
    stochastic: bool = True

    def __post_init__(self) -> None:
        if self.solver not in SOLVERS:
            raise ValueError(f'solver must be one of {SOLVERS}, got {self.solver!r}.')
        if self.steps < 1:
            raise ValueError(f'steps must be at least 1, got {self.steps}.')


def prior(model: MixedDiffusion, num_rows: int, generator: torch.Generator | None) -> NoisyRows:
    """Rows at time 1: numbers ``sigma_max N(0, 1)``, every category masked."""
    device = model.layout.mask_codes.device
    t = torch.ones((1, 1), device=device)
    sigma = model.numerical_schedule.sigma(t)
    eps = torch.randn((num_rows, model.num_numerical), device=device, generator=generator)
    codes = model.layout.mask_codes.expand(num_rows, -1)
    return NoisyRows(sigma * eps, codes, torch.ones_like(codes, dtype=torch.bool), sigma, t)


def perturb(
    model: MixedDiffusion, rows: NoisyRows, t_plus: Tensor, generator: torch.Generator | None
) -> NoisyRows:
    """Move rows forward in time to ``t_plus``: an exact draw of the forward process from ``t``.

    Numbers get ``sqrt(sigma(t+)^2 - sigma(t)^2) N(0, 1)``; a visible category is masked with
    probability ``1 - alpha(t+) / alpha(t)``.
    """
    sigma = model.numerical_schedule.sigma(t_plus)
    # Time 1 may exceed sigma(t) by less than rounding: never take the root of a negative number.
    added = (sigma**2 - rows.sigma**2).clamp(min=0).sqrt()
    eps = torch.randn(rows.x_num.shape, device=rows.x_num.device, generator=generator)
    schedule = model.categorical_schedule
    mask_again = 1 - schedule.alpha(t_plus) / schedule.alpha(rows.t).clamp(min=1e-12)
    uniform = torch.rand(rows.x_cat.shape, device=rows.x_cat.device, generator=generator)
    masked = rows.masked | (uniform < mask_again)
    x_cat = torch.where(masked, model.layout.mask_codes, rows.x_cat)
    return NoisyRows(rows.x_num + added * eps, x_cat, masked, sigma, t_plus)


def reveal_probability(model: MixedDiffusion, t: Tensor, s: Tensor) -> Tensor:
    """Chance that a mask at ``t`` is gone at ``s < t``: ``(a_s - a_t) / (1 - a_t)``."""
    schedule = model.categorical_schedule
    hidden = schedule.mask_probability(t)
    return (hidden - schedule.mask_probability(s)) / hidden


def reveal(
    model: MixedDiffusion,
    rows: NoisyRows,
    logits: Tensor,
    probability: Tensor,
    generator: torch.Generator | None,
) -> tuple[Tensor, Tensor]:
    """Reveal masked categories with the given probability; a visible one stays as it is.

    Returns the new codes and the new mask.
    """
    uniform = torch.rand(rows.x_cat.shape, device=rows.x_cat.device, generator=generator)
    revealed = rows.masked & (uniform < probability)
    levels = model.layout.draw(logits, generator)
    return torch.where(revealed, levels, rows.x_cat), rows.masked & ~revealed


def euler_step(x: Tensor, denoised: Tensor, sigma: Tensor, next_sigma: Tensor) -> Tensor:
    """Follow the slope ``(x - D) / sigma`` to ``next_sigma`` (Karras et al. 2022, algorithm 1)."""
    return x + (next_sigma - sigma) * (x - denoised) / sigma


def heun_step(
    x: Tensor,
    denoised: Tensor,
    next_x: Tensor,
    next_denoised: Tensor,
    sigma: Tensor,
    next_sigma: Tensor,
) -> Tensor:
    """Redo an Euler step with the mean of the slopes at both its ends."""
    slope = (x - denoised) / sigma
    next_slope = (next_x - next_denoised) / next_sigma
    return x + (next_sigma - sigma) * (slope + next_slope) / 2


def multistep_step(
    x: Tensor,
    denoised: Tensor,
    previous: tuple[Tensor, Tensor] | None,
    sigma: Tensor,
    next_sigma: Tensor,
) -> Tensor:
    """DPM-Solver++(2M) (Lu et al. 2022): extrapolate the prediction linearly in ``-log sigma``.

    Args:
        x: Numbers at ``sigma``.
        denoised: Prediction at ``sigma``.
        previous: The step before's prediction and its sigma, or None in the first step, which is
            then of first order.
        sigma: Noise now.
        next_sigma: Noise after the step, above 0.
    """
    target = denoised
    if previous is not None:
        previous_denoised, previous_sigma = previous
        # A perturbation may leave no distance to the step before: extrapolate nothing then.
        last = (previous_sigma / sigma).log()
        ahead = (sigma / next_sigma).log()
        ratio = torch.where(last > 1e-3, ahead / (2 * last.clamp(min=1e-3)), 0.0)
        target = denoised + ratio * (denoised - previous_denoised)

    shrink = next_sigma / sigma
    return shrink * x + (1 - shrink) * target


def reverse_step(
    model: MixedDiffusion,
    rows: NoisyRows,
    s: Tensor,
    solver: str,
    previous: tuple[Tensor, Tensor] | None,
    generator: torch.Generator | None,
) -> tuple[NoisyRows, tuple[Tensor, Tensor]]:
    """Move rows from their time back to ``s``, which is earlier but not yet 0.

    Returns the rows at ``s``, and the prediction and its noise level for the next step's
    ``previous``.
    """
    denoised, logits = model.denoise(rows)
    sigma, next_sigma = rows.sigma, model.numerical_schedule.sigma(s)
    x_cat, masked = reveal(model, rows, logits, reveal_probability(model, rows.t, s), generator)
    if solver == 'multistep':
        x_num = multistep_step(rows.x_num, denoised, previous, sigma, next_sigma)
    else:
        x_num = euler_step(rows.x_num, denoised, sigma, next_sigma)

    earlier = NoisyRows(x_num, x_cat, masked, next_sigma, s)
    if solver == 'heun':
        next_denoised, _ = model.denoise(earlier)
        x_num = heun_step(rows.x_num, denoised, x_num, next_denoised, sigma, next_sigma)
        earlier = earlier._replace(x_num=x_num)

    return earlier, (denoised, sigma)


@torch.no_grad()
def sample(
    model: MixedDiffusion,
    num_rows: int,
    settings: SamplerSettings | None = None,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor]:
    """Generate rows.

    Args:
        model: A trained model.
        num_rows: Number of rows.
        settings: Steps and solver.
        generator: Source of randomness, on the model's device.

    Returns:
        tuple[Tensor, Tensor]:
            Numbers ``(rows, numerical)`` and codes ``(rows, categorical)``.
    """
    settings = settings or SamplerSettings()
    rows = prior(model, num_rows, generator)
    # Time 0 is not visited: the last prediction is the clean row.
    times = torch.linspace(1, 0, settings.steps + 1, device=rows.t.device)[:-1].reshape(-1, 1, 1)
    previous = None
    for s in times[1:]:
        if settings.stochastic:
            rows = perturb(model, rows, _slightly_later(rows.t, settings), generator)

        rows, previous = reverse_step(model, rows, s, settings.solver, previous, generator)

    if settings.stochastic:
        rows = perturb(model, rows, _slightly_later(rows.t, settings), generator)

    denoised, logits = model.denoise(rows)
    everywhere = torch.ones((1, 1), device=rows.t.device)
    x_cat, _ = reveal(model, rows, logits, everywhere, generator)
    return denoised, x_cat


def _slightly_later(t: Tensor, settings: SamplerSettings) -> Tensor:
    return (t * (1 + 1 / settings.steps)).clamp(max=1.0)
