"""What differs between SDV 1.38 and 2.x, in one place.

In 2.x the public methods take and return ``{table name: DataFrame}``, in 1.x plain frames.
"""

import inspect
from collections.abc import Callable
from typing import Any

import pandas as pd
from sdv import errors
from sdv.single_table.base import BaseSingleTableSynthesizer

SDV_USES_DICTS = (
    'main_table_name' in inspect.signature(BaseSingleTableSynthesizer.sample).parameters
)

ProcessingError: type[Exception] = getattr(
    errors, 'SynthesizerProcessingError', errors.SynthesizerInputError
)


def single_table(data: Any) -> Any:
    """The one table of a dict; anything else is returned as it is."""
    if not isinstance(data, dict):
        return data
    if len(data) != 1:
        raise errors.InvalidDataTypeError(
            f'A single-table synthesizer takes one table, but the dictionary has {len(data)}.'
        )

    return next(iter(data.values()))


def for_sdv(data: Any, table_name: str) -> Any:
    """The user's data in the container that the installed SDV takes.

    Frames are copied shallowly, with their column names as strings: SDV renames integer columns in
    place.

    Args:
        data (pandas.DataFrame or dict[str, pandas.DataFrame]):
            What the user gave.
        table_name (str):
            Name of the table in the metadata.

    Raises:
        InvalidDataTypeError:
            If ``data`` is something else, or a dictionary of several tables.
        InvalidDataError:
            If a dictionary holds another table.
    """
    table = single_table(data)
    if not isinstance(table, pd.DataFrame):
        raise errors.InvalidDataTypeError(
            'The data must be a pandas DataFrame or a dictionary that maps the table name to one, '
            f"not '{type(data if table is data else table).__name__}'."
        )

    if isinstance(data, dict) and table_name not in data:
        raise errors.InvalidDataError([
            f"The provided table {list(data)} does not match the table '{table_name}' of the "
            'metadata.'
        ])

    frame = _string_columns(table)
    return {table_name: frame} if SDV_USES_DICTS else frame


def _string_columns(table: pd.DataFrame) -> pd.DataFrame:
    table = table.copy(deep=False)
    if any(isinstance(name, int) for name in table.columns):
        table.columns = table.columns.astype(str)

    return table


def from_sdv(result: Any) -> pd.DataFrame:
    """The one frame in what the installed SDV returned."""
    return single_table(result)


def same_signature(method: Callable) -> Callable[[Callable], Callable]:
    """Show the arguments that ``method`` has in the installed SDV."""

    def decorate(override: Callable) -> Callable:
        override.__signature__ = inspect.signature(method)  # type: ignore[attr-defined]
        return override

    return decorate
