"""RDT transformers: what each column looks like to the model.

They are ordinary RDT transformers and work with any SDV synthesizer through
``update_transformers``.
"""

import numbers
from typing import Any

import numpy as np
import pandas as pd
from rdt.errors import TransformerInputError
from rdt.transformers import BaseTransformer, UnixTimestampEncoder
from rdt.transformers.null import NullTransformer

from sdv_tabdiff.levels import distinct_levels
from sdv_tabdiff.quantiles import MAX_KNOTS, FloatArray, QuantileMap

# The centre of the normal scale: what a missing number shows beside its 'is_null' flag.
MISSING_SCORE = 0.0

NANOSECONDS = {
    'day': 86_400_000_000_000,
    'hour': 3_600_000_000_000,
    'minute': 60_000_000_000,
    'second': 1_000_000_000,
    'millisecond': 1_000_000,
    'microsecond': 1_000,
}


def coarsest_unit(timestamps: FloatArray) -> int:
    """Nanoseconds of the longest unit that all times are multiples of."""
    whole = timestamps.astype(np.int64)
    for unit in NANOSECONDS.values():
        # A float64 holds today's nanoseconds only to the nearest 256.
        if len(whole) and (np.abs((whole + 512) % unit - 512) <= 512).all():
            return unit

    return 1


class _NormalScoresMixin:
    """Map values to normal scores, with missing values in a column of their own."""

    output_properties: dict[str | None, dict[str, Any]]

    def _fit_scores(self, values: FloatArray) -> None:
        self._map = QuantileMap(self.max_knots).fit(values[~np.isnan(values)])
        self._null = NullTransformer(MISSING_SCORE, self.missing_value_generation)
        self._null.fit(pd.Series(self._map.forward(values)))
        # A refit on complete data must not keep the flag of an earlier fit.
        self.output_properties.pop('is_null', None)
        if self._null.models_missing_values():
            self.output_properties['is_null'] = {'sdtype': 'float', 'next_transformer': None}

    @property
    def scale(self) -> QuantileMap:
        """The map between values and normal scores, once fitted."""
        return self._map

    def _to_scores(self, values: FloatArray) -> np.ndarray:
        return self._null.transform(pd.Series(self._map.forward(values)))

    def _from_scores(self, scores: Any) -> FloatArray:
        scores = np.asarray(scores, dtype=np.float64)
        if scores.ndim == 2 and scores.shape[1] == 1:
            scores = scores[:, 0]

        restored = self._null.reverse_transform(scores)
        return self._map.inverse(np.asarray(restored, dtype=np.float64))


class QuantileNormalizer(_NormalScoresMixin, BaseTransformer):
    """Transform a numerical column to standard normal scores.

    Values are mapped through quantiles of the column, piecewise linearly, in double precision, so
    that the round trip is exact on the training range. The inverse never leaves that range.

    Args:
        max_knots (int):
            Largest number of quantiles. Defaults to 1000.
        missing_value_generation (str or None):
            How missing values come back:

                * ``'from_column'``: an extra column flags them, for the model to learn.
                * ``'random'``: at random, at the rate of the training data.
                * ``None``: not at all.

            Defaults to ``'from_column'``.
        computer_representation (str):
            Accepted because metadata may name it. SDV restores the column's own dtype.
    """

    INPUT_SDTYPE = 'numerical'
    SUPPORTED_SDTYPES = ['numerical', 'float']

    def __init__(
        self,
        max_knots: int = MAX_KNOTS,
        missing_value_generation: str | None = 'from_column',
        computer_representation: str = 'Float',
    ):
        super().__init__()
        if not isinstance(max_knots, int) or max_knots < 2:
            raise TransformerInputError(
                f"'max_knots' must be a whole number of at least 2, got {max_knots!r}."
            )

        self.max_knots = max_knots
        self.computer_representation = computer_representation
        self._set_missing_value_generation(missing_value_generation)

    @staticmethod
    def _to_float(data: pd.Series) -> FloatArray:
        numbers = pd.to_numeric(data, errors='coerce')
        return numbers.astype('Float64').to_numpy(dtype=np.float64, na_value=np.nan)

    def _fit(self, data: pd.Series) -> None:
        self._fit_scores(self._to_float(data))

    def _transform(self, data: pd.Series) -> np.ndarray:
        return self._to_scores(self._to_float(data))

    def _reverse_transform(self, data: Any) -> FloatArray:
        return self._from_scores(data)


class DatetimeQuantileNormalizer(_NormalScoresMixin, UnixTimestampEncoder):
    """Transform a datetime column to standard normal scores.

    Parsing, time zones and formats are those of RDT's ``UnixTimestampEncoder``. Generated times are
    rounded to the coarsest unit (day, hour, minute, ...) that all times of the training data keep.

    Args:
        datetime_format (str):
            The strftime format of the column. Defaults to ``None``: detect it.
        missing_value_generation (str or None):
            As in ``QuantileNormalizer``. Defaults to ``'from_column'``.
        enforce_min_max_values (bool):
            Whether to clip to the range of the training data. Defaults to ``True``.
        max_knots (int):
            Largest number of quantiles. Defaults to 1000.
    """

    INPUT_SDTYPE = 'datetime'
    SUPPORTED_SDTYPES = ['datetime']

    def __init__(
        self,
        datetime_format: str | None = None,
        missing_value_generation: str | None = 'from_column',
        enforce_min_max_values: bool = True,
        max_knots: int = MAX_KNOTS,
    ):
        super().__init__(
            datetime_format=datetime_format,
            missing_value_generation=missing_value_generation,
            enforce_min_max_values=enforce_min_max_values,
        )
        self.max_knots = max_knots
        self._unit = 1

    def _fit(self, data: pd.Series) -> None:
        super()._fit(data)
        timestamps = self._timestamps(data)
        self._unit = coarsest_unit(timestamps[~np.isnan(timestamps)])
        self._fit_scores(timestamps)
        self._map.step = float(self._unit)

    def _convert_to_datetime(self, data: Any) -> Any:
        # RDT reads the integers of a datetime64 as nanoseconds, whatever its unit is.
        datetimes = super()._convert_to_datetime(data)
        if isinstance(datetimes, pd.DatetimeIndex):
            return datetimes.as_unit('ns')

        is_datetime = pd.api.types.is_datetime64_any_dtype(datetimes)
        return datetimes.dt.as_unit('ns') if is_datetime else datetimes

    def _timestamps(self, data: pd.Series) -> FloatArray:
        return self._transform_helper(data).to_numpy(dtype=np.float64)

    def _transform(self, data: pd.Series) -> np.ndarray:
        return self._to_scores(self._timestamps(data))

    def _reverse_transform_helper(self, data: Any) -> pd.Series:
        timestamps = self._from_scores(data)
        return pd.Series(np.round(timestamps / self._unit) * self._unit)


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))


class CategoryCodes(BaseTransformer):
    """Transform a categorical column to integer codes, a missing value being a level of its own.

    Args:
        order (list):
            Levels in order, for an ordinal column. Levels that it does not name come after it.
            Defaults to ``None``: by value if all are numbers, else in order of appearance.
        order_by (str):
            ``'alphabetical'`` or ``'numerical_value'`` to sort the levels, or ``None``.
    """

    INPUT_SDTYPE = 'categorical'
    SUPPORTED_SDTYPES = ['categorical', 'boolean', 'ordinal', 'id', 'text']

    def __init__(self, order: list | None = None, order_by: str | None = None):
        super().__init__()
        if order_by not in (None, 'alphabetical', 'numerical_value'):
            raise TransformerInputError(
                f"'order_by' must be None, 'alphabetical' or 'numerical_value', got {order_by!r}."
            )

        self.order = order
        self.order_by = order_by
        self.output_properties = {None: {'sdtype': 'categorical', 'next_transformer': None}}

    @property
    def levels(self) -> list:
        """The levels in the order of their codes; a missing value is ``nan`` and comes last."""
        return [*self._levels, *([np.nan] if self.has_missing else [])]

    def _fit(self, data: pd.Series) -> None:
        distinct = list(distinct_levels(data))
        if self.order is not None:
            known = set(distinct)
            first = [level for level in self.order if not pd.isna(level) and level in known]
            named = set(first)
            distinct = [*first, *(level for level in distinct if level not in named)]
        elif self.order_by == 'alphabetical':
            distinct = sorted(distinct, key=str)
        elif self.order_by == 'numerical_value':
            distinct = sorted(distinct, key=float)

        self.is_ordered = self.order is not None or self.order_by is not None
        if not self.is_ordered and len(distinct) and all(map(_is_number, distinct)):
            distinct = sorted(distinct)
            self.is_ordered = True

        self._levels = pd.Index(distinct, dtype=object)
        self.has_missing = bool(data.isna().any())

    def _transform(self, data: pd.Series) -> np.ndarray:
        codes = self._levels.get_indexer(data.astype(object))
        missing = data.isna().to_numpy()
        unseen = (codes < 0) & ~(missing & self.has_missing)
        if unseen.any():
            value = data[unseen].iloc[0]
            raise TransformerInputError(
                f"Column '{self.get_input_column()}' has the value {value!r}, which was not in the "
                f'data that it was fitted on. Use one of its {len(self.levels)} known values.'
            )

        codes[missing] = len(self._levels)
        return codes.astype(np.int64)

    def _reverse_transform(self, data: Any) -> np.ndarray:
        values = np.empty(len(self._levels) + 1, dtype=object)
        values[:-1] = self._levels
        values[-1] = np.nan
        codes = np.asarray(data, dtype=np.float64)
        codes = np.where(np.isnan(codes), len(self._levels), codes).round().astype(np.int64)
        return values[np.clip(codes, 0, len(self._levels))]
