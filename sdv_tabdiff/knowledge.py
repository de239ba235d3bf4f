"""What is known in advance about rows of the processed table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
import torch

from sdv_tabdiff.columns import Restriction
from sdv_tabdiff.diffusion import Choice, Given, Limits, Roles
from sdv_tabdiff.number_column import NumberColumn
from sdv_tabdiff.table import TableCodec


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
    def leading(self) -> np.ndarray:
        """Rows in which this column is drawn before others."""
        leads = np.array([option.leads for option in self.options] + [False])
        return leads[self.index]

    @property
    def binding(self) -> np.ndarray:
        """Rows in which not every value is allowed."""
        binds = np.array([not option.is_free for option in self.options] + [False])
        return binds[self.index]

    def take(self, rows: np.ndarray) -> 'Restrictions':
        """The restrictions of some of the rows."""
        return Restrictions(self.options, self.index[rows])


@dataclass
class Knowledge:
    """Known cells and restrictions of rows to sample, by column of the processed table.

    Args:
        frame: The rows; only their known cells matter. Columns may lack.
        known: Which cells are known; a column that lacks is not.
        restrictions: Restrictions of cells that are not known.
        following: Cells whose restriction will be met by what determines them.
    """

    frame: pd.DataFrame
    known: pd.DataFrame
    restrictions: Mapping[Any, Restrictions] = field(default_factory=dict)
    following: Mapping[Any, np.ndarray] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.frame)

    def take(self, rows: np.ndarray) -> 'Knowledge':
        """Some of the rows, by position."""
        return Knowledge(
            self.frame.iloc[rows].reset_index(drop=True),
            self.known.iloc[rows].reset_index(drop=True),
            {name: column.take(rows) for name, column in self.restrictions.items()},
            {name: cells[rows] for name, cells in self.following.items()},
        )

    def cells(self, name: Any) -> np.ndarray:
        """Which cells of a column are known."""
        if name not in self.known.columns:
            return np.zeros(len(self), dtype=bool)

        return self.known[name].to_numpy(dtype=bool)

    def is_settled(self, name: Any) -> np.ndarray:
        """In which rows something is known of a column's value."""
        known = self.cells(name)
        if name in self.restrictions:
            known = known | self.restrictions[name].binding
        if name in self.following:
            known = known & ~self.following[name]

        return known

    def with_known(self, name: Any, values: pd.Series) -> pd.Series:
        """A column with its known cells as they are known."""
        known = self.cells(name)
        return values.mask(known, self.frame[name].to_numpy()) if known.any() else values


def settle_copies(knowledge: Knowledge, codec: TableCodec, generator: torch.Generator) -> Knowledge:
    """Decide which known numbers equal a column that is not known, which then is known as well.

    A number that may equal another column is, to the model, one of two things. If the other column
    is not known, neither is which of them; it is drawn, as often as rows of the training data with
    such a number do.
    """
    frame, known = knowledge.frame.copy(), knowledge.known.copy()
    device = generator.device
    # From the last to the first: what is settled here may equal a column before it in turn.
    for column in reversed(codec.copying):
        if not knowledge.cells(column.name).any():
            continue

        draw = torch.rand(len(frame), device=device, generator=generator).cpu().numpy()
        below = np.zeros(len(frame))
        for source, share in column.copy_shares(frame.reindex(columns=codec.columns)):
            chosen = (draw >= below) & (draw < below + share)
            below = below + share
            rows = chosen & _may_settle(Knowledge(frame, known), column, source, codec)
            rows &= ~knowledge.is_settled(source.name)
            if rows.any():
                scores = column.to_source(frame.reindex(columns=codec.columns), source)
                fill(frame, known, source, rows & ~np.isnan(scores), scores)

    return replace(knowledge, frame=frame, known=known)


def _may_settle(
    knowledge: Knowledge, column: NumberColumn, source: NumberColumn, codec: TableCodec
) -> np.ndarray:
    is_open = knowledge.cells(column.name) & ~knowledge.cells(source.name)
    if not is_open.any():
        return is_open

    return is_open & column.is_continuous(knowledge.frame.reindex(columns=codec.columns))


def fill(
    frame: pd.DataFrame,
    known: pd.DataFrame,
    column: NumberColumn,
    rows: np.ndarray,
    scores: np.ndarray,
) -> None:
    """Make cells of a column known, in place."""
    for name, values in ((column.name, scores), (column.flag, np.zeros(len(scores)))):
        if name is not None:
            before = frame[name] if name in frame else pd.Series(np.nan, index=frame.index)
            frame[name] = before.where(~rows, values)
            was_known = known[name] if name in known else False
            known[name] = np.asarray(was_known) | rows


def to_given(knowledge: Knowledge, codec: TableCodec) -> Given:
    """Knowledge as tensors."""
    x_num, x_cat = codec.encode(knowledge.frame.reindex(columns=codec.columns))
    names = [*codec.numerical_names, *codec.categorical_names]
    known = np.zeros((len(knowledge), len(names)), dtype=bool)
    for position, name in enumerate(names):
        known[:, position] = knowledge.cells(name)

    known_cells = torch.from_numpy(known)
    roles = Roles(known_cells, torch.zeros_like(known_cells), codec.num_numerical)
    return Given(x_num, x_cat.long(), roles, _limits(knowledge, codec))


def leading_cells(knowledge: Knowledge, codec: TableCodec) -> torch.Tensor:
    """Which features, numerical ones first, are to be drawn before others."""
    names = [*codec.numerical_names, *codec.categorical_names]
    cells = np.zeros((len(knowledge), len(names)), dtype=bool)
    for position, name in enumerate(names):
        if name in knowledge.restrictions:
            cells[:, position] = knowledge.restrictions[name].leading

    return torch.from_numpy(cells)


def hide_others(given: Given, leading: torch.Tensor) -> Given:
    """The same rows with everything but the known and the leading cells hidden."""
    hidden = ~(given.roles.known | leading)
    return given._replace(roles=given.roles._replace(hidden=hidden))


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
