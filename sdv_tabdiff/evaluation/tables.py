"""Tables as the measures see them: numbers, levels, and nothing that merely identifies a row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from sdv.errors import InvalidDataError

from sdv_tabdiff.levels import distinct_levels
from sdv_tabdiff.sdv_versions import single_table

NUMBERS, LEVELS = ('numerical', 'datetime'), ('categorical', 'boolean', 'ordinal')


def column_properties(metadata: Any) -> dict[str, dict[str, Any]]:
    """What metadata says about each column, by its name as text: SDV knows no other names.

    Args:
        metadata (sdv.metadata.Metadata or dict):
            Metadata of one table: of SDV, or the dictionary that its ``to_dict`` returns.

    Raises:
        ValueError:
            If it describes no table, or several.
    """
    content = metadata if isinstance(metadata, Mapping) else metadata.to_dict()
    tables = content.get('tables', {'': content})
    if len(tables) != 1:
        raise ValueError(f'Expected the metadata of one table, got that of {len(tables)}.')

    columns = next(iter(tables.values())).get('columns', {})
    return {str(name): properties for name, properties in columns.items()}


def measured_columns(metadata: Any) -> dict[str, dict[str, Any]]:
    """The columns that hold statistics: numbers, dates and levels.

    Keys, texts and personal data are made up row by row, so there is nothing to measure in them.
    """
    return {
        name: properties
        for name, properties in column_properties(metadata).items()
        if properties.get('sdtype') in (*NUMBERS, *LEVELS) and not properties.get('pii')
    }


def measured_table(data: Any, metadata: Any, role: str) -> pd.DataFrame:
    """The measured columns of a table, in dtypes that all measures understand.

    Numbers are floats, dates nanoseconds. Levels are what they were, but in plain dtypes, with NaN
    for whatever else says *missing*.

    Args:
        data (pandas.DataFrame or dict[str, pandas.DataFrame]):
            The table.
        metadata (sdv.metadata.Metadata or dict):
            Its metadata.
        role (str):
            What to call it in an error.

    Raises:
        InvalidDataError:
            If it has no rows, or lacks a column that is to be measured.
    """
    table = single_table(data).rename(columns=str).reset_index(drop=True)
    columns = measured_columns(metadata)
    if not len(table):
        raise InvalidDataError([f'The {role} table has no rows.'])

    lacking = [name for name in columns if name not in table.columns]
    if lacking:
        raise InvalidDataError([f'The {role} table lacks the columns {lacking} of the metadata.'])

    measured = {
        name: _as_numbers(table[name], properties, role)
        if properties['sdtype'] in NUMBERS
        else _plain_levels(table[name])
        for name, properties in columns.items()
    }
    return pd.DataFrame(measured, index=table.index)


def _plain_levels(column: pd.Series) -> pd.Series:
    if pd.api.types.is_bool_dtype(column.dtype) and not column.isna().any():
        return column.astype(bool)
    if pd.api.types.is_integer_dtype(column.dtype):
        return column.astype('Float64').astype(float) if column.isna().any() else column.astype(int)
    if pd.api.types.is_float_dtype(column.dtype):
        return column.astype('Float64').astype(float)

    return column.astype(object).where(column.notna(), np.nan)


def _as_numbers(column: pd.Series, properties: dict[str, Any], role: str) -> pd.Series:
    try:
        if properties['sdtype'] == 'datetime':
            numbers = _nanoseconds(column, properties.get('datetime_format'))
        else:
            numbers = column.astype('Float64').astype(float)
    except (TypeError, ValueError) as error:
        raise InvalidDataError([
            f"The column '{column.name}' of the {role} table does not hold what the metadata says "
            f'({properties["sdtype"]}): {error}.'
        ]) from error

    # SDMetrics and the distances know no infinity.
    return numbers.replace([np.inf, -np.inf], np.nan)


def _nanoseconds(column: pd.Series, datetime_format: str | None) -> pd.Series:
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        dates = pd.to_datetime(column, utc=True)
    else:
        present = column.dropna().astype(object)
        if datetime_format:  # A CSV file turns 20190131 and 2019 into numbers.
            present = present.map(lambda value: f'{value:.0f}' if _is_number(value) else value)

        text = present.map(lambda value: isinstance(value, str)).astype(bool)
        written = pd.to_datetime(present[text], format=datetime_format or 'mixed', utc=True)
        dates = pd.concat([written, pd.to_datetime(present[~text], utc=True)])
        dates = dates.reindex(column.index)

    ticks = pd.Series(dates.to_numpy(dtype='datetime64[ns]'), index=column.index)
    return ticks.astype('int64').astype(float).where(ticks.notna())


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def own_name(table: pd.DataFrame, name: Any) -> Any:
    """The name that a table itself has for a column: 0 where metadata says '0'."""
    return next((own for own in table.columns if str(own) == str(name)), name)


@dataclass(frozen=True)
class EncodedRows:
    """Rows of a mixed table, ready for distances.

    Attributes:
        numbers: Shape ``(rows, numbers)``, scaled to [0, 1] by the range of the reference.
        codes: Shape ``(rows, levels' columns)``, whole numbers from 0.
    """

    numbers: np.ndarray
    codes: np.ndarray

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def matrix(self) -> np.ndarray:
        """Numbers and codes side by side, for trees, to which any coding is as good.

        A table without columns has one of zeros, because no tree grows on nothing.
        """
        columns = [self.numbers, self.codes]
        empty = not sum(part.shape[1] for part in columns)
        return np.zeros((len(self), 1)) if empty else np.column_stack(columns)


def encode(tables: Sequence[pd.DataFrame], metadata: Any) -> list[EncodedRows]:
    """Tables on one scale.

    Numbers are scaled by the range of the first table, the reference. A missing number becomes
    the reference's mean beside a level that says so; a missing level is a level of its own.

    Args:
        tables (Sequence[pandas.DataFrame]):
            Tables as ``measured_table`` returns them, the reference first.
        metadata (sdv.metadata.Metadata or dict):
            Their metadata.
    """
    numbers: list[list[np.ndarray]] = [[] for _ in tables]
    codes: list[list[np.ndarray]] = [[] for _ in tables]
    for name, properties in measured_columns(metadata).items():
        columns = [table[name] for table in tables]
        if properties['sdtype'] in NUMBERS:
            _append(numbers, _scaled(columns))
            if any(column.isna().any() for column in columns):
                _append(codes, [column.isna().to_numpy(dtype=np.int64) for column in columns])
        else:
            _append(codes, _coded(columns))

    return [
        EncodedRows(_side_by_side(scaled, len(table), float), _side_by_side(coded, len(table), int))
        for table, scaled, coded in zip(tables, numbers, codes)
    ]


def _append(lists: list[list[np.ndarray]], arrays: Sequence[np.ndarray]) -> None:
    for one, array in zip(lists, arrays):
        one.append(array)


def _side_by_side(arrays: list[np.ndarray], rows: int, kind: type) -> np.ndarray:
    return np.column_stack(arrays) if arrays else np.empty((rows, 0), dtype=kind)


def _scaled(columns: Sequence[pd.Series]) -> list[np.ndarray]:
    reference = columns[0].dropna()
    low, high = (reference.min(), reference.max()) if len(reference) else (0.0, 0.0)
    mean = reference.mean() if len(reference) else 0.0
    width = high - low if high > low else 1.0
    return [((column.fillna(mean) - low) / width).to_numpy() for column in columns]


def _coded(columns: Sequence[pd.Series]) -> list[np.ndarray]:
    # A value that a gap turned from 1 into 1.0 is the same level: both are equal as objects.
    values = [column.astype(object) for column in columns]
    levels = distinct_levels(pd.concat(values, ignore_index=True))
    codes = [levels.get_indexer(column.to_numpy()) for column in values]
    return [np.where(code < 0, len(levels), code) for code in codes]
