"""Conditions beyond single values, and tables of which only some cells are known.

``Between`` and ``OneOf`` stand where SDV's ``Condition`` or a frame of known columns has a value:

    Condition({'age': Between(30, 40), 'job': OneOf(['nurse', 'cook'])}, num_rows=100)
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from sdv.sampling import Condition, DataFrameCondition


@dataclass(frozen=True)
class Between:
    """A number or a date from ``low`` to ``high``, both included. None leaves an end open.

    Args:
        low (int, float, datetime or str):
            The smallest value.
        high (int, float, datetime or str):
            The largest value.
    """

    low: Any = None
    high: Any = None


@dataclass(frozen=True, init=False)
class OneOf:
    """One of several categories. None or NaN among them allows a missing value.

    Args:
        values (Iterable):
            The categories.
    """

    choices: tuple[Any, ...]

    def __init__(self, values: Iterable[Any]):
        if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
            raise ValueError(f'OneOf takes a list of values, got {values!r}.')

        object.__setattr__(self, 'choices', tuple(values))

    def __repr__(self) -> str:
        return f'OneOf({list(self.choices)!r})'


class _Anything:
    """A cell about which a condition says nothing."""

    def __repr__(self) -> str:
        return 'anything'


ANYTHING = _Anything()


@dataclass
class PartialRows:
    """Rows of which some cells are known and others are restricted.

    Args:
        frame: The rows, with a ``RangeIndex``; only the known cells matter.
        known: Which cells are known. A known cell may be missing.
        limits: For columns with ``Between`` or ``OneOf``: these, and for each row the position of
            its own among them, or -1.
    """

    frame: pd.DataFrame
    known: pd.DataFrame
    limits: dict[Any, tuple[list[Between | OneOf], np.ndarray]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.frame)

    def take(self, rows: np.ndarray) -> 'PartialRows':
        """Some of the rows, by position."""
        return PartialRows(
            self.frame.iloc[rows].reset_index(drop=True),
            self.known.iloc[rows].reset_index(drop=True),
            {name: (options, index[rows]) for name, (options, index) in self.limits.items()},
        )

    def known_values(self, name: Any) -> pd.Series:
        """The known cells of a column."""
        return self.frame.loc[self.known[name].to_numpy(), name]


def condition_frame(conditions: Iterable[Any]) -> pd.DataFrame:
    """All rows of SDV's conditions in one frame, in the order asked for.

    Cells that a row's condition does not mention are ``ANYTHING``.

    Raises:
        ValueError:
            If something is no condition.
    """
    frames = []
    for condition in conditions:
        if isinstance(condition, Condition):
            index = range(condition.get_num_rows())
            frames.append(pd.DataFrame(condition.get_column_values(), index=index))
        elif isinstance(condition, DataFrameCondition):
            frames.append(condition.get_dataframe())
        else:
            raise ValueError('`conditions` must be list of Condition or DataFrameCondition')

    names = list(dict.fromkeys(name for frame in frames for name in frame.columns))
    columns = {name: [] for name in names}
    for frame in frames:
        for name in names:
            columns[name].append(_column_or_anything(frame, name))

    return pd.DataFrame({name: _joined(parts) for name, parts in columns.items()})


def _column_or_anything(frame: pd.DataFrame, name: Any) -> pd.Series:
    if name in frame.columns:
        return frame[name]

    return pd.Series([ANYTHING] * len(frame), dtype=object)


def _joined(parts: list[pd.Series]) -> pd.Series:
    dtypes = {part.dtype for part in parts}
    if len(dtypes) > 1:  # A common dtype of pandas' choice would change values.
        parts = [part.astype(object) for part in parts]

    return pd.concat(parts, ignore_index=True)


def partial_rows(frame: pd.DataFrame) -> PartialRows:
    """Read a frame of known values, ranges, sets and cells that may be anything."""
    frame = frame.reset_index(drop=True)
    known, limits, columns = {}, {}, {}
    for name in frame.columns:
        column = frame[name]
        known[name] = np.ones(len(frame), dtype=bool)
        columns[name] = column
        if column.dtype != object:
            continue

        column = column.map(_without_choice)
        limited = column.map(lambda value: isinstance(value, (Between, OneOf))).to_numpy(dtype=bool)
        free = column.map(lambda value: value is ANYTHING).to_numpy(dtype=bool)
        known[name] = ~(limited | free)
        columns[name] = column.where(known[name], None).infer_objects()
        if limited.any():
            limits[name] = _numbered(column, limited)

    index = frame.index
    return PartialRows(pd.DataFrame(columns, index=index), pd.DataFrame(known, index=index), limits)


def _without_choice(value: Any) -> Any:
    """A range or a set of a single value is that value."""
    if isinstance(value, Between) and value.low is not None and _equal(value.low, value.high):
        return value.low
    if (
        isinstance(value, OneOf)
        and len(value.choices) == 1
        and pd.api.types.is_scalar(value.choices[0])
    ):
        return value.choices[0]

    return value


def _equal(first: Any, second: Any) -> bool:
    return type(first) is type(second) and bool(first == second)


def _numbered(column: pd.Series, limited: np.ndarray) -> tuple[list[Between | OneOf], np.ndarray]:
    """The distinct limits, and for each row the position of its own among them, or -1."""
    options: list[Between | OneOf] = []
    position: dict[int, int] = {}
    index = np.full(len(column), -1)
    for row in np.flatnonzero(limited):
        option = column.iloc[row]
        # By identity first: limits may hold what cannot be hashed, and are mostly one object.
        if id(option) not in position:
            if option not in options:
                options.append(option)
            position[id(option)] = options.index(option)

        index[row] = position[id(option)]

    return options, index
