"""What is known in advance about rows of the processed table."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import torch

from sdv_tabdiff.diffusion import Choice, Given, Limits, Roles
from sdv_tabdiff.table import TableCodec


@dataclass(frozen=True)
class Restriction:
    """What a cell may be, short of knowing it.

    Args:
        low: Smallest number.
        high: Largest number.
        values: The only values allowed, or None.
        missing: Whether the cell may be missing.
    """

    low: float = -math.inf
    high: float = math.inf
    values: frozenset[Hashable] | None = None
    missing: bool = False

    @property
    def narrows(self) -> bool:
        """Whether it says more than that the cell is not missing."""
        return self.values is not None or self.low > -math.inf or self.high < math.inf


class Restrictions:
    """The restrictions of one column: which row has which.

    Args:
        options: The distinct restrictions.
        index: Position in ``options`` for each row; -1 for none.
    """

    def __init__(self, options: Sequence[Restriction], index: np.ndarray):
        self.options = list(options)
        self.index = np.asarray(index)

    @property
    def narrowed(self) -> np.ndarray:
        """Rows whose restriction narrows the column."""
        narrows = np.array([option.narrows for option in self.options] + [False])
        return narrows[self.index]

    def take(self, rows: np.ndarray) -> 'Restrictions':
        """The restrictions of some of the rows."""
        return Restrictions(self.options, self.index[rows])


@dataclass
class Knowledge:
    """Known cells and restrictions of rows to sample, by column of the processed table.

    Args:
        values: The rows; only their known cells matter. Columns may lack.
        known: Which cells are known; a column that lacks is not.
        restrictions: Restrictions of cells that are not known.
    """

    values: pd.DataFrame
    known: pd.DataFrame
    restrictions: Mapping[Any, Restrictions] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.values)

    def take(self, rows: np.ndarray) -> 'Knowledge':
        """Some of the rows, by position."""
        return Knowledge(
            self.values.iloc[rows].reset_index(drop=True),
            self.known.iloc[rows].reset_index(drop=True),
            {name: column.take(rows) for name, column in self.restrictions.items()},
        )

    def cells(self, name: Any) -> np.ndarray:
        """Which cells of a column are known."""
        if name not in self.known.columns:
            return np.zeros(len(self), dtype=bool)

        return self.known[name].to_numpy(dtype=bool)


def to_given(knowledge: Knowledge, codec: TableCodec) -> Given:
    """Knowledge as tensors."""
    x_num, x_cat = codec.encode(knowledge.values.reindex(columns=codec.columns))
    names = [*codec.numerical_names, *codec.categorical_names]
    known = np.zeros((len(knowledge), len(names)), dtype=bool)
    for position, name in enumerate(names):
        known[:, position] = knowledge.cells(name)

    known_cells = torch.from_numpy(known)
    roles = Roles(known_cells, torch.zeros_like(known_cells), codec.num_numerical)
    return Given(x_num, x_cat.long(), roles, _limits(knowledge, codec))


def narrowed_cells(knowledge: Knowledge, codec: TableCodec) -> torch.Tensor:
    """Which features, numerical ones first, have a restriction that narrows them."""
    names = [*codec.numerical_names, *codec.categorical_names]
    cells = np.zeros((len(knowledge), len(names)), dtype=bool)
    for position, name in enumerate(names):
        if name in knowledge.restrictions:
            cells[:, position] = knowledge.restrictions[name].narrowed

    return torch.from_numpy(cells)


def hide_others(given: Given, narrowed: torch.Tensor) -> Given:
    """The same rows with everything but the known and the narrowed cells hidden."""
    hidden = ~(given.roles.known | narrowed)
    return given._replace(roles=given.roles._replace(hidden=hidden))


def with_known(
    given: Given, cells: torch.Tensor, x_num: torch.Tensor, x_cat: torch.Tensor
) -> Given:
    """The same rows with more cells known: those that ``cells`` marks, at the values given here.

    A number that its column's state rules out is known not to be there.
    """
    known = given.roles.known
    new_num, new_cat = given.roles.numerical(cells & ~known), given.roles.categorical(
        cells & ~known
    )
    return given._replace(
        x_num=torch.where(new_num, x_num, given.x_num),
        x_cat=torch.where(new_cat, x_cat, given.x_cat),
        roles=given.roles._replace(known=known | cells, hidden=torch.zeros_like(known)),
    )


def _limits(knowledge: Knowledge, codec: TableCodec) -> Limits | None:
    if not knowledge.restrictions:
        return None

    rows = len(knowledge)
    low = torch.full((rows, codec.num_numerical), -torch.inf)
    high = torch.full((rows, codec.num_numerical), torch.inf)
    choices = {}
    for name, column in knowledge.restrictions.items():
        # The last option, at index -1, is no restriction at all.
        options = [*(codec.column(name).restrict(option) for option in column.options), None]
        bounds = np.array([(-np.inf, np.inf) if o is None else o.bounds for o in options])
        if name in codec.numerical_names:
            position = codec.numerical_names.index(name)
            low[:, position] = torch.from_numpy(bounds[column.index, 0]).float()
            high[:, position] = torch.from_numpy(bounds[column.index, 1]).float()

        if name in codec.categorical_names:
            position = codec.categorical_names.index(name)
            levels = codec.levels[position]
            weights = [np.zeros(levels) if o is None else o.log_weights for o in options]
            index = torch.from_numpy(np.where(column.index < 0, len(options) - 1, column.index))
            choices[position] = Choice(torch.from_numpy(np.stack(weights)).float(), index)

    return Limits(low, high, choices)
