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

    steps: int = 30
    solver: str = 'multistep'
    stochastic: bool = False

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


def step_forward(
    model: MixedDiffusion,
    rows: NoisyRows,
    reveal_at: Tensor,
    steps: int,
    generator: torch.Generator | None,
) -> tuple[NoisyRows, Tensor]:
    """The stochastic part of a step: to ``t+ = t (1 + 1/steps)``, at most 1.

    What is masked anew gets a new time to be revealed.
    """
    t_plus = (rows.t * (1 + 1 / steps)).clamp(max=1.0)
    noisier = perturb(model, rows, t_plus, generator)
    uniform = torch.rand(reveal_at.shape, device=reveal_at.device, generator=generator)
    anew = reveal_times(model, t_plus, uniform)
    return noisier, torch.where(noisier.masked & ~rows.masked, anew, reveal_at)


def reveal_times(model: MixedDiffusion, masked_since: Tensor, uniform: Tensor) -> Tensor:
    """When each category masked at time ``masked_since`` becomes visible.

    Going back in time, a mask at ``t`` is gone at ``s < t`` with probability
    ``(alpha_s - alpha_t) / (1 - alpha_t)``. Drawing the moment itself, by inverting that, is the
    same law.

    Args:
        model: The model.
        masked_since: Times, shape ``(1, 1)``.
        uniform: Uniform draws, shape ``(rows, categorical)``.

    Returns:
        Tensor:
            Times, same shape as ``uniform``.
    """
    schedule = model.categorical_schedule
    hidden = uniform * schedule.mask_probability(masked_since)
    return ((hidden - schedule.delta) / (1 - schedule.delta)).clamp(min=0) ** (1 / schedule.k)


def stratified_uniform(
    num_rows: int, num_columns: int, device: torch.device, generator: torch.Generator | None
) -> Tensor:
    """Uniform draws that are spread out evenly within each row.

    Categories revealed in the same step are drawn independently of each other, which is the
    sampler's only error in them. Spread out, no two of a row's columns share a step as long as
    there are no more columns than steps.
    """
    order = torch.rand((num_rows, num_columns), device=device, generator=generator).argsort(dim=1)
    jitter = torch.rand((num_rows, 1), device=device, generator=generator)
    return (order + jitter) / max(num_columns, 1)


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
    reveal_at: Tensor,
    solver: str,
    previous: tuple[Tensor, Tensor] | None,
    generator: torch.Generator | None,
) -> tuple[NoisyRows, tuple[Tensor, Tensor]]:
    """Move rows from their time back to ``s``, which is earlier but not yet 0.

    Masked categories whose time in ``reveal_at`` has come are drawn from the prediction. Returns
    the rows at ``s``, and the prediction and its noise level for the next step's ``previous``.
    """
    denoised, logits = model.denoise(rows)
    sigma, next_sigma = rows.sigma, model.numerical_schedule.sigma(s)
    revealed = rows.masked & (reveal_at >= s)
    x_cat = torch.where(revealed, model.layout.draw(logits, revealed, generator), rows.x_cat)
    masked = rows.masked & ~revealed
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
    uniform = stratified_uniform(num_rows, model.layout.num_columns, rows.t.device, generator)
    reveal_at = reveal_times(model, rows.t, uniform)
    # Time 0 is not visited: the last prediction is the clean row.
    times = torch.linspace(1, 0, settings.steps + 1, device=rows.t.device)[:-1].reshape(-1, 1, 1)
    previous = None
    for s in times[1:]:
        if settings.stochastic:
            rows, reveal_at = step_forward(model, rows, reveal_at, settings.steps, generator)

        rows, previous = reverse_step(
            model, rows, s, reveal_at, settings.solver, previous, generator
        )

    if settings.stochastic:
        rows, _ = step_forward(model, rows, reveal_at, settings.steps, generator)

    denoised, logits = model.denoise(rows)
    drawn = model.layout.draw(logits, rows.masked, generator)
    return denoised, torch.where(rows.masked, drawn, rows.x_cat)
