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
        raise ValueError(
            f'A single-table synthesizer takes one table, but the dictionary has {len(data)}.'
        )

    return next(iter(data.values()))


def for_sdv(data: Any, table_name: str) -> Any:
    """The user's data in the container that the installed SDV takes.

    Frames are copied shallowly, with their column names as strings: SDV renames integer columns in
    place. What is neither a frame nor a dict of frames is left to SDV's own checks.
    """
    if isinstance(data, pd.DataFrame):
        frame = _string_columns(data)
        return {table_name: frame} if SDV_USES_DICTS else frame
    if not isinstance(data, dict):
        return data
    if SDV_USES_DICTS:
        return {name: _string_columns(table) for name, table in data.items()}

    return _string_columns(single_table(data))


def _string_columns(table: Any) -> Any:
    if not isinstance(table, pd.DataFrame):
        return table

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
