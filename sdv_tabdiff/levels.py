"""The distinct values of a column."""

import pandas as pd


def distinct_levels(column: pd.Series) -> pd.Index:
    """The values of a column without the missing ones, each once, in order of appearance.

    ``Series.unique`` compares texts only up to their first NUL character, so that ``''`` and
    ``'\\0'`` would be one level to it.
    """
    present = column.dropna()
    if pd.api.types.is_numeric_dtype(column.dtype):
        return pd.Index(present.unique())

    return pd.Index(list(dict.fromkeys(present.astype(object))), dtype=object)
