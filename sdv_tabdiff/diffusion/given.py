"""What is said in advance about the rows to sample: known cells, ranges and sets."""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.special import log_ndtr

from sdv_tabdiff.diffusion.categories import CategoryLayout
from sdv_tabdiff.diffusion.roles import Roles

# Ranges of scores below this width are narrow: a normal density is a straight line there, nearly.
NARROW = 0.25


class Choice(NamedTuple):
    """Which levels of one categorical column each row may take.

    Attributes:
        log_weights: One row of log weights per distinct set, shape ``(sets, levels)``; ``-inf``
            forbids a level, 0 leaves it as likely as it is.
        set_of: The set of each row, shape ``(rows,)``.
    """

    log_weights: Tensor
    set_of: Tensor


class Limits(NamedTuple):
    """Ranges of numbers and sets of categories.

    Attributes:
        low: Lower bounds, shape ``(rows, numerical)``; ``-inf`` where there is none.
        high: Upper bounds, same shape.
        choices: For some of the categorical columns, which levels are allowed.
    """

    low: Tensor
    high: Tensor
    choices: dict[int, Choice]

    @property
    def numerical(self) -> list[int]:
        """Numerical columns with a bound in any row."""
        limited = self.low.isfinite() | self.high.isfinite()
        return limited.any(dim=0).nonzero().flatten().tolist()

    def redraw_narrow(self, x_num: Tensor, generator: torch.Generator) -> Tensor:
        """Numbers of rows, those with a narrow range drawn from what a normal score does there.

        The steps of a sampler are too coarse to spread rows over a small part of a column. Within
        it, nothing else that is known of a row makes a difference.
        """
        width = self.high - self.low
        uniform = torch.rand(x_num.shape, device=x_num.device, generator=generator)
        # The density falls with the score: by a factor of e for each 1 / middle.
        middle = (self.low + self.high) / 2
        steep = uniform * torch.expm1(-middle * width)
        along = torch.where((middle * width).abs() < 1e-3, uniform * width, -steep.log1p() / middle)
        return torch.where(width < NARROW, (self.low + along).minimum(self.high), x_num)

    def clamp(self, denoised: Tensor, deviations: dict[int, Tensor]) -> Tensor:
        """Means of the posteriors within the bounds.

        Args:
            denoised: Means of the posteriors, shape ``(rows, numerical)``.
            deviations: Standard deviations of those of the limited columns, shape ``(rows,)``.
        """
        denoised = denoised.clone()
        for column, deviation in deviations.items():
            denoised[:, column] = truncated_mean(
                denoised[:, column], deviation, self.low[:, column], self.high[:, column]
            )

        return denoised

    def weigh(self, logits: Tensor, layout: CategoryLayout) -> Tensor:
        """Logits with the weights of the levels."""
        logits = logits.clone()
        for column, choice in self.choices.items():
            logits[:, layout.slice_of(column)] += choice.log_weights[choice.set_of]

        return logits

    def take(self, rows: slice | Tensor) -> 'Limits':
        """The limits of some of the rows."""
        choices = {
            column: Choice(choice.log_weights, choice.set_of[rows])
            for column, choice in self.choices.items()
        }
        return Limits(self.low[rows], self.high[rows], choices)


class Given(NamedTuple):
    """Rows of which something is known.

    Attributes:
        x_num: Numbers, shape ``(rows, numerical)``; only those of known cells matter. NaN where a
            known cell has no number.
        x_cat: Codes, shape ``(rows, categorical)``; only those of known cells matter.
        roles: Which cells are known, and which are of no interest.
        limits: Limits of the wanted cells, or None.
    """

    x_num: Tensor
    x_cat: Tensor
    roles: Roles
    limits: Limits | None = None

    def take(self, rows: slice | Tensor) -> 'Given':
        """Some of the rows."""
        limits = self.limits and self.limits.take(rows)
        return Given(self.x_num[rows], self.x_cat[rows], self.roles.take(rows), limits)

    def with_known(self, cells: Tensor, x_num: Tensor, x_cat: Tensor) -> 'Given':
        """The same rows with more cells known, at the values given here, and none hidden."""
        known = self.roles.known
        new = cells & ~known
        roles = Roles(known | cells, torch.zeros_like(known), self.roles.num_numerical)
        limits = self.limits
        if limits is not None:
            settled = roles.numerical(roles.known)
            limits = limits._replace(
                low=limits.low.masked_fill(settled, -torch.inf),
                high=limits.high.masked_fill(settled, torch.inf),
            )

        return Given(
            torch.where(roles.numerical(new), x_num, self.x_num),
            torch.where(roles.categorical(new), x_cat, self.x_cat),
            roles,
            limits,
        )

    def put(self, rows: Tensor, other: 'Given') -> 'Given':
        """These rows with those at the positions ``rows`` replaced by ``other``."""

        def replaced(old: Tensor, new: Tensor) -> Tensor:
            return old.index_copy(0, rows, new)

        limits = self.limits
        if limits is not None and other.limits is not None:
            limits = limits._replace(
                low=replaced(limits.low, other.limits.low),
                high=replaced(limits.high, other.limits.high),
            )

        return Given(
            replaced(self.x_num, other.x_num),
            replaced(self.x_cat, other.x_cat),
            Roles(
                replaced(self.roles.known, other.roles.known),
                replaced(self.roles.hidden, other.roles.hidden),
                self.roles.num_numerical,
            ),
            limits,
        )

    def to(self, device: torch.device) -> 'Given':
        """The same on another device."""
        roles = Roles(
            self.roles.known.to(device), self.roles.hidden.to(device), self.roles.num_numerical
        )
        limits = self.limits
        if limits is not None:
            choices = {
                column: Choice(choice.log_weights.to(device), choice.set_of.to(device))
                for column, choice in limits.choices.items()
            }
            limits = Limits(limits.low.to(device), limits.high.to(device), choices)

        return Given(self.x_num.to(device), self.x_cat.to(device), roles, limits)


def truncated_mean(mean: Tensor, deviation: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """Mean of ``N(mean, deviation^2)`` between ``low`` and ``high``.

        mean + deviation (phi(a) - phi(b)) / (Phi(b) - Phi(a)),   a, b = the standardised bounds

    The denoiser of a distribution restricted to a range is the mean of the restricted posterior, so
    this is exact where the posterior is normal. Clamping the mean instead would heap the rows on
    the bounds.
    """
    precision = torch.float32 if mean.device.type == 'mps' else torch.float64
    mean, deviation, low, high = (
        part.to(precision) for part in torch.broadcast_tensors(mean, deviation, low, high)
    )
    a, b = (low - mean) / deviation, (high - mean) / deviation
    # Differences of Phi keep their digits only in the lower tail: mirror the upper one.
    mirrored = a > 0
    a, b = torch.where(mirrored, -b, a), torch.where(mirrored, -a, b)
    log_mass = log_ndtr(b) + torch.log(-torch.expm1(log_ndtr(a) - log_ndtr(b)))
    shift = torch.exp(-(a**2) / 2 - log_mass) - torch.exp(-(b**2) / 2 - log_mass)
    shift = torch.where(mirrored, -shift, shift) * 0.3989422804014327  # 1 / sqrt(2 pi)
    # An empty range, or one too narrow for these digits, leaves NaN: its middle is as good.
    inside = (mean + deviation * shift).nan_to_num(nan=torch.inf)
    return torch.maximum(torch.minimum(inside, high), low).float()
