"""Columns with different numbers of levels, side by side in flat tensors.

The logits of all categorical columns stand next to each other in one ``(rows, sum of levels)``
tensor. Neighbouring columns with the same number of levels form a block that is a plain
``(rows, columns, levels)`` view of it, so nothing is padded, nothing is one-hot, and the work is
one tensor operation per distinct number of levels.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import torch
from torch import Tensor, nn
from torch.nn import functional as F


@dataclass(frozen=True)
class Block:
    """Neighbouring columns that all have ``levels`` levels."""

    columns: slice
    logits: slice
    levels: int

    def view(self, logits: Tensor) -> Tensor:
        """Logits of this block, shape ``(rows, columns, levels)``."""
        return logits[:, self.logits].unflatten(1, (-1, self.levels))


def _blocks(levels: Sequence[int]) -> tuple[Block, ...]:
    blocks = []
    column = logit = 0
    for size, run in groupby(levels):
        count = len(list(run))
        blocks.append(
            Block(slice(column, column + count), slice(logit, logit + count * size), size)
        )
        column += count
        logit += count * size

    return tuple(blocks)


class CategoryLayout(nn.Module):
    """Where each categorical column finds its levels.

    Args:
        levels: Number of levels of each column. Order the columns by it to get few blocks.

    Example:
        >>> layout = CategoryLayout([2, 2, 5])
        >>> layout.num_logits, len(layout.blocks), layout.mask_codes.tolist()
        (9, 2, [2, 2, 5])
    """

    mask_codes: Tensor
    token_offsets: Tensor

    def __init__(self, levels: Sequence[int]):
        super().__init__()
        if any(size < 1 for size in levels):
            raise ValueError(f'Every column needs at least one level, got {list(levels)}.')

        self.levels = tuple(levels)
        self.blocks = _blocks(self.levels)
        sizes = torch.tensor(self.levels, dtype=torch.int64)
        # Code C_j, one past the last level, stands for [MASK].
        self.register_buffer('mask_codes', sizes, persistent=False)
        tokens = sizes + 1
        self.register_buffer('token_offsets', tokens.cumsum(0) - tokens, persistent=False)

    @property
    def num_columns(self) -> int:
        """Number of categorical columns."""
        return len(self.levels)

    @property
    def num_logits(self) -> int:
        """Levels of all columns together."""
        return sum(self.levels)

    @property
    def num_tokens(self) -> int:
        """Rows of an embedding table: every level of every column, and its mask."""
        return self.num_logits + self.num_columns

    def slice_of(self, column: int) -> slice:
        """Where the logits of one column stand."""
        start = sum(self.levels[:column])
        return slice(start, start + self.levels[column])

    def log_softmax(self, logits: Tensor) -> Tensor:
        """Log probabilities of each column's levels, shape ``(rows, sum of levels)``."""
        parts = [block.view(logits).log_softmax(-1).flatten(1) for block in self.blocks]
        return torch.cat(parts, dim=1) if parts else logits

    def cross_entropy(self, logits: Tensor, codes: Tensor) -> Tensor:
        """``-log p(code)`` of each cell, shape ``(rows, columns)``."""
        # One split instead of a slice per block: each slice would have a gradient as large as all
        # logits, zero but for the block.
        widths = [block.logits.stop - block.logits.start for block in self.blocks]
        parts = [
            F.cross_entropy(
                part.reshape(-1, block.levels),
                codes[:, block.columns].flatten(),
                reduction='none',
            ).unflatten(0, (len(codes), -1))
            for block, part in zip(self.blocks, logits.split(widths, dim=1))
        ]
        return torch.cat(parts, dim=1) if parts else logits.new_zeros((len(codes), 0))

    def draw(self, logits: Tensor, where: Tensor, uniform: Tensor) -> Tensor:
        """Draw levels from the softmax of the logits, in the cells that ``where`` marks.

        By inverse transform in double precision: Gumbel noise in float32 is cut off in its upper
        tail, which lowers the effective temperature.

        Args:
            logits: Shape ``(rows, sum of levels)``.
            where: Cells to draw, shape ``(rows, columns)``.
            uniform: Uniform draws, same shape, from 0 to below 1.

        Returns:
            Tensor:
                Codes, shape ``(rows, columns)``; anything in the other cells.
        """
        codes = torch.zeros_like(where, dtype=torch.int64)
        for block in self.blocks:
            cells = where[:, block.columns]
            # Few cells are drawn in any one step. Picking them out saves most of the work on a CPU;
            # a GPU would have to stop and count them.
            if logits.device.type != 'cpu':
                codes[:, block.columns] = inverse_transform(
                    block.view(logits), uniform[:, block.columns]
                )
            else:
                codes[:, block.columns][cells] = inverse_transform(
                    block.view(logits)[cells], uniform[:, block.columns][cells]
                )

        return codes


def inverse_transform(logits: Tensor, uniform: Tensor) -> Tensor:
    """Levels drawn from the softmax of ``logits`` ``(..., levels)`` with draws ``(...)``."""
    cumulative = torch.softmax(logits, dim=-1).to(uniform.dtype).cumsum(-1)
    # The last value is 1 up to rounding: scale by it, so that no draw falls beyond.
    threshold = uniform.unsqueeze(-1) * cumulative[..., -1:]
    return (cumulative <= threshold).sum(-1).clamp(max=logits.shape[-1] - 1)
