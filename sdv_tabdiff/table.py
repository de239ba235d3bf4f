"""Processed table <-> tensors: which column becomes which feature of the model."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from sdv_tabdiff.columns import CategoryColumn, ColumnCodec
from sdv_tabdiff.copies import Scale
from sdv_tabdiff.functions import Function, decimal_step, find_functions
from sdv_tabdiff.number_column import NumberColumn
from sdv_tabdiff.quantiles import MAX_DISCRETE_VALUES, FloatArray


class RowFacts(Protocol):
    """What is known of the rows that features describe."""

    def is_settled(self, name: Any) -> np.ndarray:
        """In which rows a column is as it was drawn, even if another one determines it."""

    def with_known(self, name: Any, values: pd.Series) -> pd.Series:
        """A column with its known cells as they are known."""


class TableCodec:
    """Turns a processed table into tensors and back.

    Args:
        categories: Columns whose values are levels.
        null_flags: For a column of numbers, the column that flags its missing values.
        max_states: Number of distinct values up to which a number is all states; 0 keeps every
            number continuous.
        ordered: Those of the categories whose levels, sorted, stand in an order.
        scales: For columns of scores, the maps from values to scores and back. They let a column be
            told to equal another one, or to be determined by it.
        rounds: Whether numbers will be rounded to the decimals that the data have.
    """

    def __init__(
        self,
        categories: Iterable[Any] = (),
        null_flags: Mapping[Any, Any] | None = None,
        max_states: int = MAX_DISCRETE_VALUES,
        ordered: Iterable[Any] = (),
        scales: Mapping[Any, Scale] | None = None,
        rounds: bool = True,
    ):
        self._rounds = rounds
        self._scales = dict(scales or {})
        self._categories = set(categories)
        self._ordered = set(ordered)
        self._null_flags = dict(null_flags or {})
        self._max_states = max_states

    def fit(self, frame: pd.DataFrame) -> 'TableCodec':
        """Learn the features of a processed table."""
        self.columns = list(frame.columns)
        scaled = self._scales.keys() - self._categories
        self._scaled = [self._number(name) for name in frame.columns if name in scaled]
        self._functions = self._find_functions(frame)
        flags = set(self._null_flags.values())
        self._codecs: list[ColumnCodec] = []
        for name in frame.columns:
            if name not in flags:
                self._codecs.append(self._codec(name, frame))
                self._codecs[-1].fit(frame)

        # A column with nothing to choose is no feature; ``decode`` fills it in again.
        numbers = [codec for codec in self._codecs if isinstance(codec, NumberColumn)]
        self._numerical = [codec for codec in numbers if codec.numerical]
        self._categorical = [codec for codec in self._codecs if codec.num_levels > 1]
        # Neighbours with equally many levels share one tensor operation.
        self._categorical.sort(key=lambda codec: codec.num_levels)
        return self

    def _find_functions(self, frame: pd.DataFrame) -> list[Function]:
        """How numbers follow from others, by their positions in ``_scaled``."""
        if not self._max_states:
            return []

        columns = [column.values(frame).numbers for column in self._scaled]
        return find_functions(columns, [self._step(*pair) for pair in zip(self._scaled, columns)])

    def _step(self, column: NumberColumn, values: FloatArray) -> float | None:
        assert column.scale is not None
        if column.scale.step is not None:
            return column.scale.step

        return decimal_step(values) if self._rounds else None

    def _number(self, name: Any, candidates: Sequence[NumberColumn] = ()) -> NumberColumn:
        flag, scale = self._null_flags.get(name), self._scales.get(name)
        return NumberColumn(name, flag, self._max_states, scale, candidates)

    def _codec(self, name: Any, frame: pd.DataFrame) -> ColumnCodec:
        if name in self._categories or not pd.api.types.is_numeric_dtype(frame[name].dtype):
            return CategoryColumn(name, name in self._ordered)

        # A column that is computed in the end has nothing to be copied before.
        computed = {self._scaled[function.target].name for function in self._functions}
        candidates = [
            codec
            for codec in self._codecs
            if isinstance(codec, NumberColumn) and codec.scale is not None
            if codec.name not in computed
        ]
        return self._number(name, candidates)

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
    def number_share(self) -> float:
        """Share of the features that are numerical."""
        return self.num_numerical / max(self.num_numerical + len(self._categorical), 1)

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
    def copying(self) -> list[NumberColumn]:
        """The numbers that may equal another column, in the order of the table."""
        return [codec for codec in self._numerical if codec.is_copying]

    @property
    def determined(self) -> list[tuple[Function, NumberColumn, NumberColumn]]:
        """How numbers follow from others: functions, their sources and their targets."""
        numbers = {codec.name: codec for codec in self._codecs if isinstance(codec, NumberColumn)}
        return [
            (
                function,
                numbers[self._scaled[function.source].name],
                numbers[self._scaled[function.target].name],
            )
            for function in self._functions
        ]

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

    def match_quantiles(self, x_num: Tensor, x_cat: Tensor) -> Tensor:
        """Freely sampled numbers, calibrated to the quantiles of the data, column by column.

        Args:
            x_num: Numbers, shape ``(rows, numerical)``.
            x_cat: Codes, shape ``(rows, categorical)``.

        Returns:
            Tensor:
                The numbers, same shape.
        """
        numbers, has_number = x_num.clone(), self.has_number(x_cat)
        for position, codec in enumerate(self._numerical):
            rows = has_number[:, position]
            matched = codec.marginal.match(numbers[rows, position].double().numpy())
            numbers[rows, position] = torch.from_numpy(matched).to(numbers.dtype)

        return numbers

    def cover_ranges(self, x_num: Tensor, x_cat: Tensor, uniform: Tensor) -> tuple[Tensor, Tensor]:
        """Freely sampled rows, the outermost numbers moved to the ends of their range.

        Of as many rows as there were, a value that one row had is reached by one on average, and so
        by none in every third sample, which then looks shorter than the data are. Moving the row
        that comes nearest covers the range without a heavier tail. Samples of less than half the
        rows are left as they are; in between it is a matter of chance.

        Args:
            x_num: Numbers, shape ``(rows, numerical)``.
            x_cat: Codes, shape ``(rows, categorical)``.
            uniform: Uniform draws, shape ``(numerical + categorical, 2)``.

        Returns:
            tuple[Tensor, Tensor]:
                The numbers and the codes, same shapes.
        """
        numbers, codes = x_num.clone(), x_cat.clone()
        has_number = self.has_number(x_cat)
        for position, codec in enumerate(self._numerical):
            rows = has_number[:, position].nonzero().flatten()
            chances = uniform[position] < 2 * len(rows) / codec.num_continuous - 1
            _cover(numbers[:, position], rows, codec.bounds, chances)

        for position, column in enumerate(self._categorical):
            if isinstance(column, NumberColumn) and not column.numerical and column.num_states > 1:
                rows = (codes[:, position] < column.num_states).nonzero().flatten()
                draws = uniform[len(self._numerical) + position]
                chances = draws < 2 * len(rows) / column.num_present - 1
                _cover(codes[:, position], rows, (0, column.num_states - 1), chances)

        return numbers, codes

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

    def decode(
        self,
        x_num: Tensor,
        x_cat: Tensor,
        facts: RowFacts | None = None,
    ) -> pd.DataFrame:
        """The processed table that these features describe.

        Args:
            x_num: Numbers, shape ``(rows, numerical)``.
            x_cat: Codes, shape ``(rows, categorical)``.
            facts: What is known of the rows, or None if nothing is.
        """
        numbers, codes = x_num.cpu().numpy(), x_cat.cpu().numpy()
        number_of, category_of = self._positions()
        no_choice = np.zeros(len(numbers), dtype=np.int64)
        data: dict[Any, pd.Series] = {}
        for codec in self._codecs:
            chosen = codec.num_levels > 1
            column_codes = codes[:, category_of[codec.name]] if chosen else no_choice
            column_numbers = numbers[:, number_of[codec.name]] if codec.numerical else None
            decoded = codec.decode(column_codes, column_numbers, data)
            if facts is not None and isinstance(codec, NumberColumn) and codec.scale is not None:
                # Features are of single precision; what follows from a known cell needs all of it.
                decoded = {name: facts.with_known(name, part) for name, part in decoded.items()}
            data.update(decoded)

        for function, source, column in self.determined:
            computed = column.computed(data, function(source.values(data).numbers), function)
            if facts is not None:
                settled = facts.is_settled(column.name)
                computed = {name: part.mask(settled, data[name]) for name, part in computed.items()}
            data.update(computed)

        return pd.DataFrame(data, index=pd.RangeIndex(len(numbers)), columns=self.columns)

    def appearance(self, frame: pd.DataFrame) -> FloatArray:
        """A processed table as whoever looks at it sees it: ``(rows, columns)``, NaN for missing.

        Numbers are values where their scale is known, and levels are codes. Which other column a
        number equals is a column of its own, one of the last ``len(copying)``.
        """
        columns = [codec.appearance(frame) for codec in self._codecs]
        columns += [codec.source_of(frame) for codec in self.copying]
        return np.stack(columns, axis=1) if columns else np.empty((len(frame), 0))

    def _positions(self) -> tuple[dict[Any, int], dict[Any, int]]:
        return (
            {name: position for position, name in enumerate(self.numerical_names)},
            {name: position for position, name in enumerate(self.categorical_names)},
        )


def _cover(column: Tensor, rows: Tensor, bounds: tuple[float, float], chances: Tensor) -> None:
    """Move the outermost of some rows to the bounds, in place, unless one is there or beyond."""
    if len(rows) == 0:
        return

    lowest, highest = rows[column[rows].argmin()], rows[column[rows].argmax()]
    if chances[0]:
        column[lowest] = min(column[lowest].item(), bounds[0])
    if chances[1]:
        column[highest] = max(column[highest].item(), bounds[1])
