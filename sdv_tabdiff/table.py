"""Processed table <-> tensors: which column becomes which feature of the model.

A *category* is one categorical feature. A *number* is a discrete state, a point on a line, or
both: repeated values and the missing value are states, everything else is continuous. A number
with only a few distinct values is therefore one categorical feature, a plain continuous number one
numerical feature, and a zero-inflated number with gaps one of each.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
import pandas as pd
import torch
from scipy.special import ndtr
from torch import Tensor

from sdv_tabdiff.quantiles import MAX_DISCRETE_VALUES, FloatArray, discrete_values


class Allowed(NamedTuple):
    """What a restriction leaves of a column, as the model sees it.

    Attributes:
        log_weights: Of each level; ``-inf`` where it is not allowed.
        bounds: Lowest and highest standardised number.
    """

    log_weights: FloatArray
    bounds: tuple[float, float] = (-np.inf, np.inf)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left."""
        return bool(len(self.log_weights)) and bool(np.isneginf(self.log_weights).all())


class Restricted(Protocol):
    """A range, a set, or both; see ``knowledge.Restriction``."""

    low: float
    high: float
    allowed: frozenset[Any] | None
    missing: bool


class ColumnCodec(Protocol):
    """How one column (with its flag of missing values, if any) is read and written."""

    name: Any
    numerical: bool

    def fit(self, frame: pd.DataFrame) -> None:
        """Learn the column's levels."""

    @property
    def num_levels(self) -> int:
        """Number of levels; 0 or 1 if there is nothing to choose."""

    @property
    def num_ordered(self) -> int:
        """How many of the first levels stand in an order."""

    @property
    def levels(self) -> list:
        """What the codes stand for, where that can be said."""

    def encode(self, frame: pd.DataFrame) -> tuple[np.ndarray, FloatArray | None]:
        """Codes of the levels, and numbers (NaN where a row has none) if ``numerical``."""

    def decode(self, codes: np.ndarray, numbers: np.ndarray | None) -> dict[Any, pd.Series]:
        """The columns that these codes and numbers describe."""

    def restrict(self, restriction: Restricted) -> Allowed:
        """Which levels and numbers a restriction allows."""


class CategoryColumn:
    """A column of levels, whatever they are; a missing value is a level of its own."""

    numerical = False

    def __init__(self, name: Any, ordered: bool = False):
        self.name = name
        self._ordered = ordered

    def fit(self, frame: pd.DataFrame) -> None:
        """Learn the levels: sorted if they have an order, else as they appear."""
        column = frame[self.name]
        self._dtype = column.dtype
        self._levels = pd.Index(column.dropna().unique())
        if self._ordered:
            self._levels = self._levels.sort_values()

        self._has_missing = bool(column.isna().any())

    @property
    def num_levels(self) -> int:
        """Levels, and one more if there are missing values."""
        return len(self._levels) + self._has_missing

    def encode(self, frame: pd.DataFrame) -> tuple[np.ndarray, None]:
        """Codes of the levels; the last one stands for a missing value."""
        codes = self._levels.get_indexer(frame[self.name])
        return np.where(codes < 0, self.num_levels - 1, codes), None

    def decode(self, codes: np.ndarray, numbers: np.ndarray | None) -> dict[Any, pd.Series]:
        """The column, in its own dtype."""
        present = codes < len(self._levels)
        if not present.any():
            values = pd.Series(np.full(len(codes), np.nan), dtype=object)
        else:
            values = pd.Series(self._levels.take(np.where(present, codes, 0)), dtype=object)
            values = values.where(present, np.nan)

        return {self.name: values.astype(self._dtype)}

    @property
    def num_ordered(self) -> int:
        """How many of the first levels stand in an order."""
        return len(self._levels) if self._ordered else 0

    @property
    def levels(self) -> list:
        """The levels in the order of their codes; a missing value is ``nan`` and comes last."""
        return [*self._levels, *([np.nan] if self._has_missing else [])]

    def restrict(self, restriction: Restricted) -> Allowed:
        """The allowed levels; a range says nothing about them."""
        allowed = np.ones(self.num_levels, dtype=bool)
        if restriction.allowed is not None:
            allowed[: len(self._levels)] = self._levels.isin(list(restriction.allowed))
        if self._has_missing:
            allowed[-1] = restriction.missing

        return Allowed(np.where(allowed, 0.0, -np.inf))


class NumberColumn:
    """A column of numbers: states, a continuous part, or both.

    Args:
        name: The column.
        flag: The column that says where it is missing, or None if NaN does.
        max_states: Number of distinct values up to which the column is all states.
    """

    def __init__(self, name: Any, flag: Any = None, max_states: int = MAX_DISCRETE_VALUES):
        self.name = name
        self.flag = flag
        self._max_states = max_states

    def _read(self, frame: pd.DataFrame) -> tuple[FloatArray, np.ndarray]:
        values = frame[self.name].to_numpy(dtype=np.float64, na_value=np.nan)
        missing = np.isnan(values)
        if self.flag is not None:
            missing = missing | (frame[self.flag].to_numpy(dtype=np.float64) > 0.5)

        return values, missing

    def fit(self, frame: pd.DataFrame) -> None:
        """Learn which values are states, and the scale and range of the others."""
        self._dtype = frame[self.name].dtype
        values, missing = self._read(frame)
        present = values[~missing]
        self._states = discrete_values(present, self._max_states)
        continuous = present[~np.isin(present, self._states)]
        self._has_missing = bool(missing.any())
        self.numerical = len(continuous) > 0
        if self.numerical:
            self._mean, self._scale = continuous.mean(), continuous.std() or 1.0
            self._low, self._high = continuous.min(), continuous.max()

    @property
    def num_levels(self) -> int:
        """States, missing, and 'continuous' where there is something to tell it from."""
        states = len(self._states) + self._has_missing
        return states + (1 if self.numerical and states else 0)

    @property
    def num_ordered(self) -> int:
        """How many of the first levels stand in an order: the states."""
        return len(self._states)

    @property
    def levels(self) -> list:
        """The values of the states, ``nan`` for missing and for 'continuous'."""
        return [*self._states, *[np.nan] * (self.num_levels - len(self._states))]

    def encode(self, frame: pd.DataFrame) -> tuple[np.ndarray, FloatArray | None]:
        """Codes of the states, the last one for 'continuous', and the standardised numbers."""
        values, missing = self._read(frame)
        codes = np.full(len(values), max(self.num_levels - 1, 0))
        has_number = ~missing
        if len(self._states):
            nearest = self._nearest_states(values)
            # Without a continuous part, a value between the states can only be one of them.
            is_state = ~missing & ((self._states[nearest] == values) | (not self.numerical))
            codes[is_state] = nearest[is_state]
            has_number &= ~is_state

        if self._has_missing:
            codes[missing] = len(self._states)

        if not self.numerical:
            return codes, None

        return codes, np.where(has_number, (values - self._mean) / self._scale, np.nan)

    def _nearest_states(self, values: FloatArray) -> np.ndarray:
        right = np.searchsorted(self._states, values).clip(max=len(self._states) - 1)
        left = (right - 1).clip(min=0)
        nearer = np.abs(values - self._states[left]) < np.abs(self._states[right] - values)
        return np.where(nearer, left, right)

    def restrict(self, restriction: Restricted) -> Allowed:
        """The allowed states, and the bounds of the continuous part.

        A range takes away from the continuous part as well as from the states. Its log weight is
        that of the rows left: the continuous numbers of a column are normal scores.
        """
        states = (self._states >= restriction.low) & (self._states <= restriction.high)
        if restriction.allowed is not None:
            states &= np.isin(self._states, list(restriction.allowed))

        weights = np.where(states, 0.0, -np.inf)
        if self._has_missing:
            weights = np.append(weights, 0.0 if restriction.missing else -np.inf)

        if not self.numerical:
            return Allowed(weights)

        low, high = max(restriction.low, self._low), min(restriction.high, self._high)
        bounds = (low - self._mean) / self._scale, (high - self._mean) / self._scale
        continuous = low <= high and restriction.allowed is None
        if low == self._low and high == self._high and continuous:
            mass, bounds = 0.0, (-np.inf, np.inf)
        else:
            mass = np.log(max(np.diff(ndtr(bounds))[0], 1e-9)) if continuous else -np.inf

        return Allowed(np.append(weights, mass)[: max(self.num_levels, 1)], bounds)

    def decode(self, codes: np.ndarray, numbers: np.ndarray | None) -> dict[Any, pd.Series]:
        """The column, and its flag of missing values if it has one."""
        values = np.zeros(len(codes))
        if numbers is not None:
            values = numbers.astype(np.float64) * self._scale + self._mean
            values = values.clip(self._low, self._high)

        if len(self._states):
            is_state = codes < len(self._states)
            values = np.where(is_state, self._states[np.where(is_state, codes, 0)], values)

        missing = np.full(len(codes), False)
        if self._has_missing:
            missing = codes == len(self._states)

        if self.flag is None:
            return {self.name: self._cast(np.where(missing, np.nan, values))}

        return {
            self.name: self._cast(np.where(missing, 0.0, values)),
            self.flag: pd.Series(missing.astype(np.float64)),
        }

    def _cast(self, values: FloatArray) -> pd.Series:
        column = pd.Series(values)
        if self._dtype.kind not in 'iub':
            return column.astype(self._dtype)

        return column if column.isna().any() else column.round().astype(self._dtype)


class TableCodec:
    """Turns a processed table into tensors and back.

    Args:
        categories: Columns whose values are levels.
        null_flags: For a column of numbers, the column that flags its missing values.
        max_states: Number of distinct values up to which a number is all states; 0 keeps every
            number continuous.
        ordered: Those of the categories whose levels, sorted, stand in an order.
    """

    def __init__(
        self,
        categories: Iterable[Any] = (),
        null_flags: Mapping[Any, Any] | None = None,
        max_states: int = MAX_DISCRETE_VALUES,
        ordered: Iterable[Any] = (),
    ):
        self._categories = set(categories)
        self._ordered = set(ordered)
        self._null_flags = dict(null_flags or {})
        self._max_states = max_states

    def fit(self, frame: pd.DataFrame) -> 'TableCodec':
        """Learn the features of a processed table."""
        self.columns = list(frame.columns)
        flags = set(self._null_flags.values())
        self._codecs = [self._codec(name, frame) for name in frame.columns if name not in flags]
        for codec in self._codecs:
            codec.fit(frame)

        # A column with nothing to choose is no feature; ``decode`` fills it in again.
        self._numerical = [codec for codec in self._codecs if codec.numerical]
        self._categorical = [codec for codec in self._codecs if codec.num_levels > 1]
        # Neighbours with equally many levels share one tensor operation.
        self._categorical.sort(key=lambda codec: codec.num_levels)
        return self

    def _codec(self, name: Any, frame: pd.DataFrame) -> ColumnCodec:
        if name in self._categories or not pd.api.types.is_numeric_dtype(frame[name].dtype):
            return CategoryColumn(name, name in self._ordered)

        return NumberColumn(name, self._null_flags.get(name), self._max_states)

    @property
    def levels(self) -> list[int]:
        """Number of levels of each categorical feature, in increasing order."""
        return [codec.num_levels for codec in self._categorical]

    @property
    def ordered_levels(self) -> list[int]:
        """How many of the first levels of each categorical feature stand in an order."""
        return [codec.num_ordered for codec in self._categorical]

    @property
    def num_numerical(self) -> int:
        """Number of numerical features."""
        return len(self._numerical)

    @property
    def numerical_names(self) -> list[Any]:
        """Columns behind the numerical features."""
        return [codec.name for codec in self._numerical]

    @property
    def categorical_names(self) -> list[Any]:
        """Columns behind the categorical features."""
        return [codec.name for codec in self._categorical]

    def column(self, name: Any) -> ColumnCodec:
        """How one column is read and written."""
        return next(codec for codec in self._codecs if codec.name == name)

    @property
    def feature_columns(self) -> list[int]:
        """The column that each feature belongs to, numerical features first."""
        names = [*self.numerical_names, *self.categorical_names]
        number_of = {name: number for number, name in enumerate(dict.fromkeys(names))}
        return [number_of[name] for name in names]

    def features_of(self, columns: Iterable[Any]) -> tuple[list[int], list[int]]:
        """Positions of the numerical and of the categorical features of some columns."""
        wanted = set(columns)
        numerical, categorical = (
            [position for position, name in enumerate(names) if name in wanted]
            for names in (self.numerical_names, self.categorical_names)
        )
        return numerical, categorical

    def has_number(self, x_cat: Tensor) -> Tensor:
        """Which numbers rows with these states have, shape ``(rows, numerical)``."""
        _, category_of = self._positions()
        has_number = torch.ones((len(x_cat), len(self._numerical)), dtype=torch.bool)
        for position, codec in enumerate(self._numerical):
            if codec.num_levels > 1:
                states = x_cat[:, category_of[codec.name]]
                has_number[:, position] = states == codec.num_levels - 1

        return has_number.to(x_cat.device)

    def encode(self, frame: pd.DataFrame) -> tuple[Tensor, Tensor]:
        """Numbers ``(rows, numerical)``, NaN where a row has none, and codes as int32."""
        x_num = np.empty((len(frame), len(self._numerical)), dtype=np.float32)
        x_cat = np.empty((len(frame), len(self._categorical)), dtype=np.int32)
        number_of, category_of = self._positions()
        for codec in self._codecs:
            codes, numbers = codec.encode(frame)
            if codec.numerical:
                x_num[:, number_of[codec.name]] = numbers
            if codec.num_levels > 1:
                x_cat[:, category_of[codec.name]] = codes

        return torch.from_numpy(x_num), torch.from_numpy(x_cat)

    def decode(self, x_num: Tensor, x_cat: Tensor) -> pd.DataFrame:
        """The processed table that these features describe."""
        numbers, codes = x_num.cpu().numpy(), x_cat.cpu().numpy()
        number_of, category_of = self._positions()
        no_choice = np.zeros(len(numbers), dtype=np.int64)
        data: dict[Any, pd.Series] = {}
        for codec in self._codecs:
            chosen = codec.num_levels > 1
            column_codes = codes[:, category_of[codec.name]] if chosen else no_choice
            column_numbers = numbers[:, number_of[codec.name]] if codec.numerical else None
            data.update(codec.decode(column_codes, column_numbers))

        return pd.DataFrame(data, index=pd.RangeIndex(len(numbers)), columns=self.columns)

    def _positions(self) -> tuple[dict[Any, int], dict[Any, int]]:
        return (
            {name: position for position, name in enumerate(self.numerical_names)},
            {name: position for position, name in enumerate(self.categorical_names)},
        )
