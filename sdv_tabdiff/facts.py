"""What is worth remembering of each column of the training data, to judge what users ask for."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from sdv_tabdiff.levels import distinct_levels

LEVEL_SDTYPES = ('categorical', 'boolean', 'ordinal')
ORDERED_SDTYPES = ('numerical', 'datetime')


@dataclass
class ColumnFacts:
    """One column of the training data.

    Args:
        name: The column.
        sdtype: Its sdtype.
        dtype: Its dtype.
        has_missing: Whether it has missing values.
        levels: Its distinct values, if it is a category.
        low: Its smallest value, if it is a number or a date.
        high: Its largest value.
        datetime_format: How its dates are written, if they are text.
    """

    name: Any
    sdtype: str
    dtype: Any
    has_missing: bool
    levels: pd.Index | None = None
    low: Any = None
    high: Any = None
    datetime_format: str | None = None

    @classmethod
    def learn(cls, column: pd.Series, properties: dict[str, Any]) -> 'ColumnFacts':
        """Look at a column of the training data.

        Args:
            column (pandas.Series):
                The column.
            properties (dict):
                What the metadata says about it.
        """
        facts = cls(
            column.name,
            properties.get('sdtype', 'unknown'),
            column.dtype,
            bool(column.isna().any()),
            datetime_format=properties.get('datetime_format'),
        )
        if facts.sdtype in LEVEL_SDTYPES:
            facts.levels = distinct_levels(column).astype(object)
        elif facts.sdtype in ORDERED_SDTYPES:
            points = facts.to_points(column.dropna())
            if len(points):
                facts.low, facts.high = points.min(), points.max()

        return facts

    @property
    def is_ordered(self) -> bool:
        """Whether its values have an order, as numbers and dates do."""
        return self.sdtype in ORDERED_SDTYPES

    @property
    def is_modelled(self) -> bool:
        """Whether the model learns its values; others are made up, like names and keys."""
        return self.is_ordered or self.levels is not None

    @property
    def is_integer(self) -> bool:
        """Whether it holds whole numbers only."""
        return self.sdtype == 'numerical' and pd.api.types.is_integer_dtype(self.dtype)

    def to_points(self, values: pd.Series) -> pd.Series:
        """Values as numbers or timestamps, whatever they are written as.

        Raises:
            ValueError:
                If one of them is neither.
        """
        if self.sdtype == 'datetime':
            text = any(isinstance(value, str) for value in values)
            points = pd.to_datetime(
                values, format=self.datetime_format or 'mixed' if text else None
            )
            return points.dt.tz_localize(None) if points.dt.tz is not None else points

        if any(isinstance(value, (bool, np.bool_, str)) for value in values):
            raise ValueError(f'{values.iloc[0]!r} is not a number')

        return pd.to_numeric(values).astype('Float64').astype(float)

    def like_column(self, values: pd.Series) -> pd.Series:
        """Values of a condition as this column would hold them, if that loses nothing.

        A date becomes text in the column's format or a timestamp, a number gets the column's dtype.
        """
        if self.sdtype == 'datetime' and len(values):
            values = self._like_dates(values)
        if values.dtype == object:  # Of several kinds of missing values, only NaN casts to a float.
            values = values.where(values.notna(), np.nan)

        try:
            cast = values.astype(self.dtype)
        except (TypeError, ValueError, OverflowError):
            return values

        same = (cast.astype(object) == values.astype(object)) | (cast.isna() & values.isna())
        return cast if bool(same.all()) else values

    def _like_dates(self, values: pd.Series) -> pd.Series:
        if pd.api.types.is_datetime64_any_dtype(self.dtype):
            return pd.to_datetime(values, format='mixed')

        written = values.map(lambda value: isinstance(value, str) or pd.isna(value))
        if written.all() or self.datetime_format is None:
            return values

        dates = pd.to_datetime(values[~written]).dt.strftime(self.datetime_format)
        return values.astype(object).where(written, dates)

    def whole_bounds(self, low: float, high: float) -> tuple[float, float]:
        """The whole numbers at the ends of a range, for a column of whole numbers."""
        if not self.is_integer:
            return low, high

        return (
            math.ceil(low) if math.isfinite(low) else low,
            math.floor(high) if math.isfinite(high) else high,
        )
