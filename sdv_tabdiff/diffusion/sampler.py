"""The reverse process: from noise to rows, freely, around known cells, within limits, guided."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from sdv_tabdiff.diffusion.given import Given
from sdv_tabdiff.diffusion.guidance import Guide
from sdv_tabdiff.diffusion.process import MixedDiffusion, NoisyRows
from sdv_tabdiff.diffusion.solvers import SOLVERS, euler_step, heun_step, multistep_step
from sdv_tabdiff.diffusion.strata import across_groups, normal_across_rows, within_rows

# Step of numerical differences, in standard deviations of the noisy number.
DIFFERENCE = 0.1


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
        renoise_known: Whether known cells are shown with noise anew at every step, as in the
            paper's code. That suits a network which was never trained with clean ones.
    """

    steps: int = 15
    solver: str = 'multistep'
    stochastic: bool = False
    renoise_known: bool = False

    def __post_init__(self) -> None:
        if self.solver not in SOLVERS:
            raise ValueError(f'solver must be one of {SOLVERS}, got {self.solver!r}.')
        if self.steps < 1:
            raise ValueError(f'steps must be at least 1, got {self.steps}.')


Prediction = Callable[[NoisyRows], tuple[Tensor, Tensor]]


def prediction(
    model: MixedDiffusion,
    settings: SamplerSettings,
    generator: torch.Generator | None = None,
    given: Given | None = None,
    guide: Guide | None = None,
) -> Prediction:
    """A function of noisy rows that gives their denoised numbers and the logits of categories.

    It is the network's answer, guided if there is a guide and kept within the limits if there are
    any. This is all that tells conditional and guided sampling from free sampling.
    """

    limits = None if given is None else given.limits
    limited = [] if limits is None else limits.numerical

    def guided(rows: NoisyRows) -> tuple[Tensor, Tensor]:
        denoised, logits = model.denoise(rows)
        return guide.sharpen(model, rows, denoised, logits) if guide else (denoised, logits)

    def predict(rows: NoisyRows) -> tuple[Tensor, Tensor]:
        if given is not None and settings.renoise_known:
            rows = renoise(model, rows, given, generator)

        denoised, logits = guided(rows)
        if limits is None:
            return denoised, logits

        deviations = {
            column: posterior_deviation(guided, rows, denoised, column) for column in limited
        }
        return limits.clamp(denoised, deviations), limits.weigh(logits, model.layout)

    return predict


def posterior_deviation(
    predict: Prediction, rows: NoisyRows, denoised: Tensor, column: int
) -> Tensor:
    """Standard deviation of one clean number given the noisy row, shape ``(rows,)``.

    The posterior variance is ``sigma^2 dD/dx`` (Tweedie's formula, second order), here by a
    difference: one more network call. Between a hundredth and twice the variance that an N(0, 1)
    number would have, whatever an imperfect network says.
    """
    sigma = rows.sigma[:, column]
    # A step that is small for the denoiser and large for the rounding of float32.
    step = DIFFERENCE * (sigma**2 + 1).sqrt()
    ahead = rows.x_num.clone()
    ahead[:, column] += step
    slope = (predict(rows._replace(x_num=ahead))[0][:, column] - denoised[:, column]) / step
    normal = sigma**2 / (sigma**2 + 1)
    return (sigma**2 * slope).clamp(0.01 * normal, 2 * normal).sqrt()


def prior(
    model: MixedDiffusion,
    num_rows: int,
    generator: torch.Generator | None,
    given: Given | None = None,
) -> NoisyRows:
    """Rows at time 1: noise instead of numbers, every category masked, known cells clean.

    Data of unit variance with noise of ``sigma_max`` have the variance ``sigma_max^2 + 1``. To
    start without the 1 would make every column of the result too narrow.
    """
    device = model.layout.mask_codes.device
    t = torch.ones((1, 1), device=device)
    sigma = model.numerical_schedule.sigma(t)
    eps = normal_across_rows(num_rows, model.num_numerical, device, generator)
    x_num = (sigma**2 + 1).sqrt() * eps
    codes = model.layout.mask_codes.expand(num_rows, -1)
    masked = torch.ones_like(codes, dtype=torch.bool)
    if given is None:
        return NoisyRows(x_num, codes, masked, sigma, t)

    masked = given.roles.categorical(given.roles.wanted)
    return hold(NoisyRows(x_num, codes, masked, sigma, t, given.roles), given)


def hold(rows: NoisyRows, given: Given | None) -> NoisyRows:
    """The rows with every known cell at its value."""
    if given is None:
        return rows

    roles = given.roles
    return rows._replace(
        x_num=torch.where(roles.numerical(roles.known), given.x_num.nan_to_num(), rows.x_num),
        x_cat=torch.where(roles.categorical(roles.known), given.x_cat, rows.x_cat),
    )


def renoise(
    model: MixedDiffusion, rows: NoisyRows, given: Given, generator: torch.Generator | None
) -> NoisyRows:
    """The rows with known cells as noisy as the wanted ones, and no cell marked as known."""
    known = given.roles.known
    # Codes of unknown cells may be anything, but the forward process looks at all of them.
    noisy = model.add_noise(given.x_num, given.x_cat, rows.t.expand(len(known), 1), generator)
    return rows._replace(
        x_num=torch.where(given.roles.numerical(known), noisy.x_num, rows.x_num),
        x_cat=torch.where(given.roles.categorical(known), noisy.x_cat, rows.x_cat),
        roles=None,
    )


def centre(rows: NoisyRows, given: Given, predict: Prediction) -> NoisyRows:
    """Shift the prior to the mean that the known cells imply.

    At time 1 a number is ``x_0 + sigma_max N(0, 1)``. Freely sampled, ``x_0`` averages 0; given the
    known cells it does not, and ``sigma_max`` is not so large that this could be forgotten.
    """
    mean, _ = predict(hold(rows._replace(x_num=torch.zeros_like(rows.x_num)), given))
    return hold(rows._replace(x_num=rows.x_num + mean), given)


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
    if rows.roles is not None:
        masked = masked & rows.roles.categorical(rows.roles.wanted)

    x_cat = torch.where(masked, model.layout.mask_codes, rows.x_cat)
    return NoisyRows(rows.x_num + added * eps, x_cat, masked, sigma, t_plus, rows.roles)


class Reveals(NamedTuple):
    """When each masked category becomes visible, and as what.

    Attributes:
        at: Times, shape ``(rows, categorical)``.
        uniform: Uniform draws that decide which level it is, same shape.
    """

    at: Tensor
    uniform: Tensor

    def where(self, cells: Tensor, others: 'Reveals') -> 'Reveals':
        """These in some cells, others elsewhere."""
        return Reveals(*(torch.where(cells, *pair) for pair in zip(self, others)))


def draw_reveals(
    model: MixedDiffusion, rows: NoisyRows, steps: int, generator: torch.Generator | None
) -> Reveals:
    """Draw when and as what the masked categories of some rows become visible.

    Categories of a row revealed in the same step are drawn independently of each other, which is
    the sampler's only error in them. So their times are spread out: no two columns share a step as
    long as there are no more masks than steps. What is drawn for a column in one step is spread out
    over the rows, so that they have the shares of the levels that the network asks for.
    """
    at = reveal_times(model, rows.t, within_rows(rows.masked, generator))
    return Reveals(at, across_groups((at * steps).floor(), generator))


def step_forward(
    model: MixedDiffusion,
    rows: NoisyRows,
    reveals: Reveals,
    steps: int,
    generator: torch.Generator | None,
) -> tuple[NoisyRows, Reveals]:
    """The stochastic part of a step: to ``t+ = t (1 + 1/steps)``, at most 1.

    What is masked anew gets a new time to be revealed, and a new draw.
    """
    t_plus = (rows.t * (1 + 1 / steps)).clamp(max=1.0)
    noisier = perturb(model, rows, t_plus, generator)
    uniform = torch.rand(reveals.at.shape, device=reveals.at.device, generator=generator)
    at = reveal_times(model, t_plus, uniform)
    anew = Reveals(at, across_groups((at * steps).floor(), generator))
    return noisier, anew.where(noisier.masked & ~rows.masked, reveals)


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


def reverse_step(
    model: MixedDiffusion,
    predict: Prediction,
    rows: NoisyRows,
    s: Tensor,
    reveals: Reveals,
    solver: str,
    previous: tuple[Tensor, Tensor] | None,
) -> tuple[NoisyRows, tuple[Tensor, Tensor]]:
    """Move rows from their time back to ``s``, which is earlier but not yet 0.

    Masked categories whose time in ``reveals`` has come are drawn from the prediction. Returns the
    rows at ``s``, and the prediction and its noise level for the next step's ``previous``.
    """
    denoised, logits = predict(rows)
    sigma, next_sigma = rows.sigma, model.numerical_schedule.sigma(s)
    revealed = rows.masked & (reveals.at >= s)
    drawn = model.layout.draw(logits, revealed, reveals.uniform)
    x_cat = torch.where(revealed, drawn, rows.x_cat)
    masked = rows.masked & ~revealed
    if solver == 'multistep':
        x_num = multistep_step(rows.x_num, denoised, previous, sigma, next_sigma)
    else:
        x_num = euler_step(rows.x_num, denoised, sigma, next_sigma)

    earlier = NoisyRows(x_num, x_cat, masked, next_sigma, s, rows.roles)
    if solver == 'heun':
        next_denoised, _ = predict(earlier)
        x_num = heun_step(rows.x_num, denoised, x_num, next_denoised, sigma, next_sigma)
        earlier = earlier._replace(x_num=x_num)

    return earlier, (denoised, sigma)


@torch.no_grad()
def sample(
    model: MixedDiffusion,
    num_rows: int,
    settings: SamplerSettings | None = None,
    generator: torch.Generator | None = None,
    given: Given | None = None,
    guide: Guide | None = None,
) -> tuple[Tensor, Tensor]:
    """Generate rows.

    Args:
        model: A trained model.
        num_rows: Number of rows.
        settings: Steps and solver.
        generator: Source of randomness, on the model's device.
        given: Known cells and limits of these rows, or None to sample freely.
        guide: How to guide towards the known cells, or None.

    Returns:
        tuple[Tensor, Tensor]:
            Numbers ``(rows, numerical)`` and codes ``(rows, categorical)``. Known cells are as
            given; hidden ones mean nothing.
    """
    settings = settings or SamplerSettings()
    predict = prediction(model, settings, generator, given, guide)
    rows = prior(model, num_rows, generator, given)
    if given is not None:
        rows = centre(rows, given, predict)

    reveals = draw_reveals(model, rows, settings.steps, generator)
    # Time 0 is not visited: the last prediction is the clean row.
    times = torch.linspace(1, 0, settings.steps + 1, device=rows.t.device)[:-1].reshape(-1, 1, 1)
    previous = None
    for s in times[1:]:
        if settings.stochastic:
            rows, reveals = step_forward(model, rows, reveals, settings.steps, generator)

        rows, previous = reverse_step(
            model, predict, hold(rows, given), s, reveals, settings.solver, previous
        )

    if settings.stochastic:
        rows, reveals = step_forward(model, rows, reveals, settings.steps, generator)

    denoised, logits = predict(hold(rows, given))
    drawn = model.layout.draw(logits, rows.masked, reveals.uniform)
    x_cat = torch.where(rows.masked, drawn, rows.x_cat)
    clean = hold(rows._replace(x_num=denoised, x_cat=x_cat), given)
    return clean.x_num, clean.x_cat


@torch.no_grad()
def level_probabilities(
    model: MixedDiffusion,
    settings: SamplerSettings,
    given: Given,
    guide: Guide | None = None,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Log probability of each level of each category, given the known cells, in one network call.

    At time 1 the wanted cells say nothing, so the prediction is each column's own distribution.
    """
    rows = prior(model, len(given.x_num), generator, given)
    predict = prediction(model, settings, generator, given, guide)
    _, logits = predict(hold(rows._replace(x_num=torch.zeros_like(rows.x_num)), given))
    return model.layout.log_softmax(logits)
