"""Random numbers that are spread out evenly, where independent ones would cluster by chance.

Every single number keeps its distribution, and so does every single row that is made of them. What
changes is how much a sample as a whole differs from the distribution by luck: shares of levels and
quantiles of numbers come closer to what the model has learned than those of independent rows do.
"""

import math

import torch
from torch import Tensor

# Multiples of it, modulo 1, leave no large gap, whichever neighbouring ones are taken.
GOLDEN_RATIO = (math.sqrt(5) - 1) / 2


def _precision(device: torch.device) -> torch.dtype:
    return torch.float32 if device.type == 'mps' else torch.float64


def within_rows(cells: Tensor, generator: torch.Generator | None) -> Tensor:
    """Uniform draws for some cells that are spread out evenly within each row.

    Args:
        cells: Cells to draw for, shape ``(rows, columns)``.
        generator: Source of randomness.

    Returns:
        Tensor:
            Draws, same shape; 1 or more in the other cells.
    """
    keys = torch.rand(cells.shape, device=cells.device, generator=generator)
    rank = (keys + ~cells).argsort(dim=1).argsort(dim=1)
    jitter = torch.rand((len(cells), 1), device=cells.device, generator=generator)
    return (rank + jitter) / cells.sum(dim=1, keepdim=True).clamp(min=1)


def normal_across_rows(
    rows: int, columns: int, device: torch.device, generator: torch.Generator | None
) -> Tensor:
    """Draws of N(0, 1), in each column one from each of ``rows`` equally likely intervals.

    Columns are independent of each other (Latin hypercube sampling, McKay et al. 1979).
    """
    precision = _precision(device)
    keys, jitter = torch.rand(
        (2, columns, rows), dtype=precision, device=device, generator=generator
    )
    # The ends of the outermost intervals would be infinite.
    eps = torch.finfo(precision).eps
    uniform = ((keys.argsort(dim=1) + jitter) / rows).clamp(eps, 1 - eps)
    # By erfinv, which more devices have than ndtri.
    return (math.sqrt(2) * torch.erfinv(2 * uniform - 1)).T.float().contiguous()


def across_groups(groups: Tensor, generator: torch.Generator | None) -> Tensor:
    """Uniform draws, in each column spread out evenly among the rows of each group.

    With the rows of a column in the order of their groups, and at random within a group, draws are
    a random start plus multiples of the golden ratio, modulo 1: whichever stretch of that order is
    looked at, its draws cover the unit interval. Columns are independent of each other, even where
    their groups are not.

    Args:
        groups: Whole numbers, shape ``(rows, columns)``.
        generator: Source of randomness.

    Returns:
        Tensor:
            Draws from 0 to below 1, same shape.
    """
    precision = _precision(groups.device)
    draws = torch.rand(
        (len(groups) + 1, groups.shape[1]),
        dtype=precision,
        device=groups.device,
        generator=generator,
    )
    start, keys = draws[:1], draws[1:]
    rank = (groups + keys).argsort(dim=0).argsort(dim=0)
    return (start + GOLDEN_RATIO * rank) % 1
