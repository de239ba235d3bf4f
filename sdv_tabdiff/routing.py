"""Which columns of the processed table are what to the model, judged by their transformers."""

from collections.abc import Iterable
from typing import Any

import pandas as pd
from sdv.single_table.utils import detect_discrete_columns

from sdv_tabdiff.quantiles import QuantileMap
from sdv_tabdiff.transformers import (
    CategoryCodes,
    DatetimeQuantileNormalizer,
    QuantileNormalizer,
)


def categories(processed: pd.DataFrame, metadata: Any, transformers: dict[Any, Any]) -> set[Any]:
    """Columns whose values are levels."""
    codes = {
        column
        for transformer in transformers.values()
        if isinstance(transformer, CategoryCodes)
        for column in transformer.output_columns or []
    }
    rest = processed.drop(columns=list(codes & set(processed.columns)))
    return codes | set(detect_discrete_columns(metadata, rest, transformers))


def ordered_codes(transformers: dict[Any, Any]) -> list[Any]:
    """Columns of codes that stand in an order: of numbers, and of ordinal levels."""
    return [
        column
        for transformer in transformers.values()
        if isinstance(transformer, CategoryCodes) and transformer.is_ordered
        for column in transformer.output_columns or []
    ]


def null_flags(transformers: dict[Any, Any]) -> dict[str, str]:
    """For each column of numbers, the column that flags where it is missing."""
    return {
        transformer.column_prefix: f'{transformer.column_prefix}.is_null'
        for transformer in transformers.values()
        if transformer is not None and 'is_null' in transformer.output_properties
    }


def scales(transformers: dict[Any, Any]) -> dict[str, QuantileMap]:
    """For each column of normal scores, the map between its values and them."""
    return {
        transformer.column_prefix: transformer.scale
        for transformer in transformers.values()
        if isinstance(transformer, (QuantileNormalizer, DatetimeQuantileNormalizer))
    }


def outputs_of(columns: Iterable[Any], transformers: dict[Any, Any]) -> list[Any]:
    """What some columns of the user's table are called in the processed one."""
    outputs: list[Any] = []
    for name in columns:
        transformer = transformers.get(name)
        outputs += [name] if transformer is None else transformer.get_output_columns()

    return outputs
