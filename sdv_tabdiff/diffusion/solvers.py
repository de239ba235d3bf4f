"""Steps of the probability-flow equation of the numbers, from one noise level to a lower one."""

import torch
from torch import Tensor

SOLVERS = ('euler', 'heun', 'multistep')


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
