"""What each cell of a row is to the network: wanted, known or hidden.

A *wanted* cell carries noise and is predicted. A *known* one is clean and stays so. A *hidden* one
is neither shown nor predicted, so that the prediction is one for rows without that column. Trained
with all three, one network answers every question of the form 'given these cells, what are those?'.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

# In this share of the training rows with roles, the cells that would be known are hidden: the
# question that guidance asks. In as many others, some of the wanted cells are.
HIDE_KNOWN_SHARE = 0.2
HIDE_WANTED_SHARE = 0.2

# More than this would make the loss depend on a few rows of a batch.
MAX_ROW_WEIGHT = 8.0


class Roles(NamedTuple):
    """Known and hidden cells; the rest is wanted.

    Attributes:
        known: Shape ``(rows, numerical + categorical)``, numerical features first.
        hidden: Same shape. No cell is both.
        num_numerical: How many of the features are numerical.
    """

    known: Tensor
    hidden: Tensor
    num_numerical: int

    @property
    def wanted(self) -> Tensor:
        """Cells to predict, shape ``(rows, numerical + categorical)``."""
        return ~(self.known | self.hidden)

    @property
    def row_weight(self) -> Tensor:
        """Weight of each row in the loss, shape ``(rows, 1)``.

        A row counts the same whether many or few of its cells are wanted. Else questions with a
        single answer, which teach the most about each column, would hardly count.
        """
        count = self.wanted.sum(dim=1, keepdim=True)
        return (self.known.shape[1] / count.clamp(min=1)).clamp(max=MAX_ROW_WEIGHT)

    def numerical(self, cells: Tensor) -> Tensor:
        """The numerical features' part of ``cells``."""
        return cells[:, : self.num_numerical]

    def categorical(self, cells: Tensor) -> Tensor:
        """The categorical features' part of ``cells``."""
        return cells[:, self.num_numerical :]

    def take(self, rows: slice | Tensor) -> 'Roles':
        """The roles of some of the rows."""
        return Roles(self.known[rows], self.hidden[rows], self.num_numerical)


def draw_roles(
    num_rows: int,
    columns: Tensor,
    num_columns: int,
    num_numerical: int,
    share: float,
    generator: torch.Generator | None = None,
) -> Roles:
    """Random roles to train with.

    The features of one column always share a role. The number of known columns is uniform from
    none to all, so the network sees as many rows with one column missing as with one column known.

    Args:
        num_rows: Number of rows.
        columns: Number of the column that each feature belongs to, numerical features first.
        num_columns: Number of columns.
        num_numerical: Number of numerical features.
        share: Share of the rows that get known or hidden cells.
        generator: Source of randomness.
    """

    def uniform(width: int) -> Tensor:
        return torch.rand((num_rows, width), device=columns.device, generator=generator)

    conditional = uniform(1) < share
    chosen = conditional & (uniform(num_columns) < uniform(1))
    kind = uniform(1)
    hide_known = kind < HIDE_KNOWN_SHARE
    hide_wanted = (kind >= HIDE_KNOWN_SHARE) & (kind < HIDE_KNOWN_SHARE + HIDE_WANTED_SHARE)
    others = conditional & ~chosen & (uniform(num_columns) < uniform(1))
    hidden = (chosen & hide_known) | (others & hide_wanted)
    return Roles((chosen & ~hide_known)[:, columns], hidden[:, columns], num_numerical)


def feature_columns(num_features: int, columns: Sequence[int] | None) -> list[int]:
    """Column numbers of the features, each its own column if nothing is said."""
    numbers = list(range(num_features) if columns is None else columns)
    if len(numbers) != num_features or set(numbers) != set(range(len(set(numbers)))):
        raise ValueError(
            f'Expected the numbers of the columns of {num_features} features, got {columns}.'
        )

    return numbers
