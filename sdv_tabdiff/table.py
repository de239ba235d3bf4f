"""Processed table <-> tensors: which column becomes which feature of the model.

A *category* is one categorical feature. A *number* is a discrete state, a point on a line, or
both: repeated values and the missing value are states, everything else is continuous. A number
with only a few distinct values is therefore one categorical feature, a plain continuous number one
numerical feature, and a zero-inflated number with gaps one of each.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from sdv_tabdiff.quantiles import MAX_DISCRETE_VALUES, discrete_values


class CategoryColumn:
    """A column of levels, whatever they are; a missing value is a level of its own."""

    numerical = False

    def __init__(self, name: Any):
        self.name = name
        self.columns = [name]

    def fit(self, frame: pd.DataFrame) -> None:
        column = frame[self.name]
        self._dtype = column.dtype
        codes, levels = pd.factorize(column, use_na_sentinel=True)
        self._levels = levels
        self._has_missing = bool((codes < 0).any())

    @property
    def num_levels(self) -> int:
        return len(self._levels) + self._has_missing

    def encode(self, frame: pd.DataFrame) -> tuple[np.ndarray, None]:
        codes = pd.Index(self._levels).get_indexer(frame[self.name])
        return np.where(codes < 0, self.num_levels - 1, codes), None

    def decode(self, codes: np.ndarray, numbers: None) -> dict[Any, Any]:
        present = codes < len(self._levels)
        values = self._levels.take(np.where(present, codes, 0)) if len(self._levels) else None
        if values is None:
            return {self.name: pd.Series(np.nan, index=range(len(codes)), dtype=self._dtype)}

        column = pd.Series(np.asarray(values, dtype=object)).where(present, np.nan)
        return {self.name: column.astype(self._dtype)}


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
        self.columns = [name] if flag is None else [name, flag]
        self._max_states = max_states

    def _read(self, frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
        values = frame[self.name].to_numpy(dtype=np.float64, na_value=np.nan)
        missing = np.isnan(values)
        if self.flag is not None:
            missing = missing | (frame[self.flag].to_numpy(dtype=np.float64) > 0.5)

        return values, missing

    def fit(self, frame: pd.DataFrame) -> None:
        self._dtypes = frame[self.columns].dtypes
        values, missing = self._read(frame)
        present = values[~missing]
        self._states = discrete_values(present, self._max_states)
        continuous = present[~np.isin(present, self._states)]
        self.numerical = len(continuous) > 0
        self._has_missing = bool(missing.any())
        self._mean = continuous.mean() if self.numerical else 0.0
        self._scale = (continuous.std() if self.numerical else 0.0) or 1.0
        # A continuous part that hardly varies would blow rounding noise up to unit scale.
        self._low = continuous.min() if self.numerical else 0.0
        self._high = continuous.max() if self.numerical else 0.0

    @property
    def num_levels(self) -> int:
        """States, missing, and 'continuous' where there is something to tell it from."""
        states = len(self._states) + self._has_missing
        return states + (self.numerical and states > 0)

    def encode(self, frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
        values, missing = self._read(frame)
        codes = np.full(len(values), max(self.num_levels - 1, 0))
        numbers = (values - self._mean) / self._scale
        if len(self._states):
            nearest = np.searchsorted(self._states, values).clip(max=len(self._states) - 1)
            is_state = self._states[nearest] == values
            codes[is_state] = nearest[is_state]
            numbers[is_state] = np.nan

        if self._has_missing:
            codes[missing] = len(self._states)

        numbers[missing] = np.nan
        return codes, numbers

    def decode(self, codes: np.ndarray, numbers: np.ndarray | None) -> dict[Any, Any]:
        if numbers is None:
            values = np.zeros(len(codes))
        else:
            values = np.clip(
                numbers.astype(np.float64) * self._scale + self._mean, self._low, self._high
            )

        is_state = codes < len(self._states)
        if len(self._states) and self.num_levels:
            values = np.where(is_state, self._states[np.where(is_state, codes, 0)], values)

        missing = np.zeros(len(codes), dtype=bool)
        if self._has_missing:
            missing = codes == len(self._states)

        if self.flag is None:
            return {self.name: self._cast(np.where(missing, np.nan, values), self.name)}

        return {
            self.name: self._cast(np.where(missing, self._mean, values), self.name),
            self.flag: self._cast(missing.astype(np.float64), self.flag),
        }

    def _cast(self, values: np.ndarray, name: Any) -> pd.Series:
        dtype = self._dtypes[name]
        if pd.api.types.is_integer_dtype(dtype) or pd.api.types.is_bool_dtype(dtype):
            values = np.round(values)

        column = pd.Series(values)
        return column if column.isna().any() and dtype.kind in 'iub' else column.astype(dtype)


class TableCodec:
    """Turns a processed table into tensors and back.

    Args:
        categories: Columns whose values are levels.
        null_flags: For a column of numbers, the column that flags its missing values.
        max_states: Number of distinct values up to which a number is all states; 0 keeps every
            number continuous.
    """

    def __init__(
        self,
        categories: Iterable[Any] = (),
        null_flags: Mapping[Any, Any] | None = None,
        max_states: int = MAX_DISCRETE_VALUES,
    ):
        self._categories = set(categories)
        self._null_flags = dict(null_flags or {})
        self._max_states = max_states

    def fit(self, frame: pd.DataFrame) -> 'TableCodec':
        """Learn the features of a processed table."""
        self.columns = list(frame.columns)
        flags = set(self._null_flags.values())
        codecs = [self._codec(name, frame) for name in frame.columns if name not in flags]
        for codec in codecs:
            codec.fit(frame)

        self._codecs = codecs
        # A column with nothing to choose is no feature; it is filled in again by ``decode``.
        self._categorical = sorted(
            (index for index, codec in enumerate(codecs) if codec.num_levels > 1),
            key=lambda index: codecs[index].num_levels,
        )
        self._numerical = [index for index, codec in enumerate(codecs) if codec.numerical]
        return self

    def _codec(self, name: Any, frame: pd.DataFrame) -> CategoryColumn | NumberColumn:
        if name in self._categories or not pd.api.types.is_numeric_dtype(frame[name].dtype):
            return CategoryColumn(name)

        return NumberColumn(name, self._null_flags.get(name), self._max_states)

    @property
    def levels(self) -> list[int]:
        """Number of levels of each categorical feature, in increasing order."""
        return [self._codecs[index].num_levels for index in self._categorical]

    @property
    def num_numerical(self) -> int:
        return len(self._numerical)

    @property
    def numerical_names(self) -> list[Any]:
        """Columns behind the numerical features."""
        return [self._codecs[index].name for index in self._numerical]

    @property
    def categorical_names(self) -> list[Any]:
        """Columns behind the categorical features."""
        return [self._codecs[index].name for index in self._categorical]

    def encode(self, frame: pd.DataFrame) -> tuple[Tensor, Tensor]:
        """Numbers ``(rows, numerical)``, NaN where a row has none, and codes as int32."""
        x_num = np.empty((len(frame), len(self._numerical)), dtype=np.float32)
        x_cat = np.empty((len(frame), len(self._categorical)), dtype=np.int32)
        for index, codec in enumerate(self._codecs):
            if index not in self._numerical and index not in self._categorical:
                continue

            codes, numbers = codec.encode(frame)
            if codec.numerical:
                x_num[:, self._numerical.index(index)] = numbers
            if codec.num_levels > 1:
                x_cat[:, self._categorical.index(index)] = codes

        return torch.from_numpy(x_num), torch.from_numpy(x_cat)

    def decode(self, x_num: Tensor, x_cat: Tensor) -> pd.DataFrame:
        """The processed table that these features describe."""
        numbers, codes = x_num.cpu().numpy(), x_cat.cpu().numpy()
        num_rows = len(numbers)
        nothing = np.zeros(num_rows, dtype=np.int64)
        data: dict[Any, Any] = {}
        for index, codec in enumerate(self._codecs):
            column_codes = nothing
            if codec.num_levels > 1:
                column_codes = codes[:, self._categorical.index(index)]

            column_numbers = None
            if codec.numerical:
                column_numbers = numbers[:, self._numerical.index(index)]

            data.update(codec.decode(column_codes, column_numbers))

        return pd.DataFrame(data, index=pd.RangeIndex(num_rows), columns=self.columns)
