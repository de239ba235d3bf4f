"""What is worth remembering of each column of the training data, to judge what users ask for."""

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from pandas.tseries.api import guess_datetime_format

from sdv_tabdiff.levels import distinct_levels
from sdv_tabdiff.transformers import coarsest_unit

LEVEL_SDTYPES = ('categorical', 'boolean', 'ordinal')
ORDERED_SDTYPES = ('numerical', 'datetime')

# More than these SDV does not round to.
MAX_DECIMALS = 14


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
        step: What generated values are multiples of: a number, a time span, or None if they are
            not rounded.
        datetime_format: How its dates are written, if they are text.
    """

    name: Any
    sdtype: str
    dtype: Any
    has_missing: bool
    levels: pd.Index | None = None
    low: Any = None
    high: Any = None
    step: Any = None
    datetime_format: str | None = None

    @classmethod
    def learn(
        cls, column: pd.Series, properties: dict[str, Any], rounded: bool = True
    ) -> 'ColumnFacts':
        """Look at a column of the training data.

        Args:
            column (pandas.Series):
                The column.
            properties (dict):
                What the metadata says about it.
            rounded (bool):
                Whether generated numbers get the decimals of the column.
        """
        facts = cls(
            column.name,
            properties.get('sdtype', 'unknown'),
            column.dtype,
            bool(column.isna().any()),
            datetime_format=properties.get('datetime_format'),
        )
        if facts.sdtype == 'datetime' and facts.datetime_format is None:
            facts.datetime_format = shared_format(column.dropna())
        if facts.sdtype in LEVEL_SDTYPES:
            facts.levels = distinct_levels(column).astype(object)
        elif facts.sdtype in ORDERED_SDTYPES:
            points = facts.to_points(column.dropna())
            if len(points):
                facts.low, facts.high = points.min(), points.max()
                facts.step = facts._learn_step(points, rounded)

        return facts

    def _learn_step(self, points: pd.Series, rounded: bool) -> Any:
        if self.sdtype == 'datetime':
            ticks = points.astype('datetime64[ns]').astype('int64').to_numpy(dtype=np.float64)
            return pd.Timedelta(coarsest_unit(ticks), 'ns')
        if self.is_integer:
            return 1.0

        decimals = shared_decimals(points.to_numpy()) if rounded else None
        return None if decimals is None else 10.0**-decimals

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
            return self._to_dates(values, self.datetime_format or 'mixed').dt.tz_localize(None)

        if any(isinstance(value, (bool, np.bool_, str)) for value in values):
            raise ValueError(f'{values.iloc[0]!r} is not a number')

        return pd.to_numeric(values).astype('Float64').astype(float)

    def _to_dates(self, values: pd.Series, written: str) -> pd.Series:
        """Dates, in the column's time zone if it has one, of texts written so and of timestamps."""
        text = any(isinstance(value, str) for value in values)
        try:
            with warnings.catch_warnings():
                # So pandas takes texts of several zones, as long as it does.
                warnings.simplefilter('error', FutureWarning)
                return self._in_zone(pd.to_datetime(values, format=written if text else None))
        except (TypeError, ValueError, AttributeError, FutureWarning):
            if len(values) == 1:
                raise

        # With and without a time zone, or of several zones: pandas takes them one at a time.
        singles = (values.iloc[[position]] for position in range(len(values)))
        return pd.concat([self._to_dates(single, written) for single in singles])

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

    def _in_zone(self, dates: pd.Series) -> pd.Series:
        """Dates in the time zone of the column, which those without one are meant in."""
        zone = getattr(self.dtype, 'tz', None)
        if zone is None:
            return dates.dt.tz_localize(None)

        if dates.dt.tz is not None:
            return dates.dt.tz_convert(zone)

        # An hour that a change of the clock repeats is its first, one that it skips is the next.
        summer = np.ones(len(dates), dtype=bool)
        return dates.dt.tz_localize(zone, ambiguous=summer, nonexistent='shift_forward')

    def _like_dates(self, values: pd.Series) -> pd.Series:
        if pd.api.types.is_datetime64_any_dtype(self.dtype):
            return self._to_dates(values, 'mixed')

        written = values.map(lambda value: isinstance(value, str) or pd.isna(value))
        if written.all() or self.datetime_format is None:
            return values

        dates = self._to_dates(values[~written], 'mixed').dt.strftime(self.datetime_format)
        return values.astype(object).where(written, dates)

    def bounds(self, low: Any, high: Any) -> tuple[Any, Any]:
        """The smallest and the largest value in a range, as far as the column is rounded.

        The first is larger than the second if there is none.
        """
        if self.step is None:
            return low, high

        if self.sdtype == 'datetime':
            unit = self.step.value
            first, last = -(-low.value // unit) * unit, high.value // unit * unit
            return pd.Timestamp(first), pd.Timestamp(last)

        # 0.3 is a multiple of 0.1, whatever binary fractions make of it: count in whole steps.
        per_unit = round(1 / self.step)
        first, last = (round(end * per_unit, 6) for end in (low, high))
        return (
            math.ceil(first) / per_unit if math.isfinite(first) else low,
            math.floor(last) / per_unit if math.isfinite(last) else high,
        )


def shared_format(dates: pd.Series) -> str | None:
    """How all dates of a column are written; None if they are no texts or of several kinds."""
    if dates.empty or not all(isinstance(date, str) for date in dates):
        return None

    written = guess_datetime_format(dates.iloc[0])
    if written is None or pd.to_datetime(dates, format=written, errors='coerce').isna().any():
        return None

    return written


def shared_decimals(values: np.ndarray) -> int | None:
    """The number of decimals that all values have at most; None if they are not rounded."""
    for decimals in range(MAX_DECIMALS + 1):
        # A few values tell most of the time that these are not enough.
        for part in (values[:100], values):
            if not (np.round(part, decimals) == part).all():
                break
        else:
            return decimals

    return None
