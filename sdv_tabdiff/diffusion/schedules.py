"""Noise schedules: how much noise a column carries at time ``t`` in [0, 1].

Time 0 is clean data, time 1 is pure noise. Each column has one scalar of its own (``rho`` for a
numerical column, ``k`` for a categorical one), fixed or learnable.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

# Keep the exponents away from 0, where the schedules degenerate to a step function whose slope
# overflows float32.
MIN_RHO = 1.0
MIN_K = 0.25


def _inverse_softplus(value: float) -> float:
    return value + math.log(-math.expm1(-value))


class _PositivePerColumn(nn.Module):
    """One scalar per column, kept above ``floor`` by a softplus."""

    raw: Tensor

    def __init__(self, num_columns: int, initial: float, floor: float, learnable: bool):
        super().__init__()
        if initial <= floor:
            raise ValueError(f'The initial exponent must be above {floor}, got {initial}.')

        raw = torch.full((num_columns,), _inverse_softplus(initial - floor))
        self.floor = floor
        self.learnable = learnable
        if learnable:
            self.raw = nn.Parameter(raw)
        else:
            self.register_buffer('raw', raw)

    def exponent(self) -> Tensor:
        """The scalar of each column, shape ``(columns,)``."""
        return F.softplus(self.raw) + self.floor


class PowerMeanSchedule(_PositivePerColumn):
    """The variance-exploding noise of the numerical columns.

        sigma_i(t) = (smin^(1/rho_i) + t (smax^(1/rho_i) - smin^(1/rho_i)))^rho_i

    Args:
        num_columns: Number of numerical columns.
        rho: Initial exponent of every column; 7 is the fixed schedule of EDM.
        sigma_min: Noise at time 0.
        sigma_max: Noise at time 1.
        learnable: Whether ``rho`` is a parameter.

    Example:
        >>> schedule = PowerMeanSchedule(2)
        >>> [
        ...     round(value, 3)
        ...     for value in schedule.sigma(torch.tensor([[0.0], [1.0]]))[:, 0].tolist()
        ... ]
        [0.002, 80.0]
    """

    def __init__(
        self,
        num_columns: int,
        rho: float = 7.0,
        sigma_min: float = 0.002,
        sigma_max: float = 80.0,
        learnable: bool = False,
    ):
        super().__init__(num_columns, rho, MIN_RHO, learnable)
        self.initial_rho = rho
        self.sigma_min = sigma_min
        self.sigma_max = sigma_max

    @property
    def rho(self) -> Tensor:
        """Exponent of each column, shape ``(columns,)``."""
        return self.exponent()

    def sigma(self, t: Tensor) -> Tensor:
        """Noise level at times ``t`` of shape ``(rows, 1)``; returns ``(rows, columns)``."""
        # Factoring smax out of the formula keeps every power inside (0, 1], whatever rho is.
        ratio = (self.sigma_min / self.sigma_max) ** (1 / self.rho)
        return self.sigma_max * (ratio + t * (1 - ratio)) ** self.rho

    def log_density(self, log_sigma: Tensor, rho: Tensor | None = None) -> Tensor:
        """Log density of ``log sigma`` when ``t`` is uniform: ``log dt/dlog(sigma)``.

        t(sigma)       = (sigma^(1/rho) - a) / (b - a),   a = smin^(1/rho), b = smax^(1/rho)
        dt/dlog(sigma) = sigma^(1/rho) / (rho (b - a))
        """
        rho = self.rho if rho is None else rho
        span = math.log(self.sigma_max / self.sigma_min)
        # sigma^(1/rho) / (b - a) with smax factored out of both, in logs.
        relative = (log_sigma - math.log(self.sigma_max)) / rho
        return relative - torch.log(rho) - torch.log(-torch.expm1(-span / rho))

    def importance(self, log_sigma: Tensor) -> Tensor:
        """Weight that turns draws of this schedule into draws of the initial, fixed one.

        The training loss is an average over noise levels. With this weight the average is always
        taken over the density of the *initial* schedule, so moving ``rho`` changes where samples
        are spent and never what is being minimised.
        """
        if not self.learnable:
            return torch.ones_like(log_sigma)

        target = self.log_density(log_sigma, torch.full_like(self.rho, self.initial_rho))
        return torch.exp(target - self.log_density(log_sigma))


class LogLinearSchedule(_PositivePerColumn):
    """The masking of the categorical columns: ``alpha`` is the chance to be still visible.

        1 - alpha_j(t) = (1 - delta) t^(k_j) + delta

    Args:
        num_columns: Number of categorical columns.
        k: Initial exponent of every column; 1 is the fixed linear schedule.
        delta: Chance of a mask at time 0.
        learnable: Whether ``k`` is a parameter.

    Example:
        >>> round(LogLinearSchedule(1).alpha(torch.tensor([[0.5]])).item(), 4)
        0.4995
    """

    def __init__(
        self, num_columns: int, k: float = 1.0, delta: float = 1e-3, learnable: bool = False
    ):
        super().__init__(num_columns, k, MIN_K, learnable)
        self.delta = delta

    @property
    def k(self) -> Tensor:
        """Exponent of each column, shape ``(columns,)``."""
        return self.exponent()

    def mask_probability(self, t: Tensor) -> Tensor:
        """``1 - alpha`` at times ``t`` of shape ``(rows, 1)``; returns ``(rows, columns)``."""
        return (1 - self.delta) * t**self.k + self.delta

    def alpha(self, t: Tensor) -> Tensor:
        """Chance of a category to be still visible, shape ``(rows, columns)``."""
        return 1 - self.mask_probability(t)

    def weight(self, t: Tensor) -> Tensor:
        """``w_j(t) = -alpha_j'(t) / (1 - alpha_j(t))``, the rate at which masks are revealed."""
        rate = (1 - self.delta) * self.k * t ** (self.k - 1)
        return rate / self.mask_probability(t)
