"""Requests that cannot be met, found before any sampling."""

from typing import Any

import numpy as np
import pandas as pd

from sdv_tabdiff.conditions import Between, OneOf, PartialRows
from sdv_tabdiff.facts import ColumnFacts

LEVELS_SHOWN = 5


def check_conditions(rows: PartialRows, facts: dict[Any, ColumnFacts], bounded: bool) -> None:
    """Raise if a row asks for something that its column cannot be.

    Args:
        rows (PartialRows):
            What is asked for.
        facts (dict):
            What is known of each column.
        bounded (bool):
            Whether numbers and dates stay in the range of the training data.

    Raises:
        ValueError:
            Naming column and value.
    """
    for name in rows.frame.columns:
        column = facts.get(name)
        if column is None:
            continue

        _check_values(rows.known_values(name), column, bounded)
        options, _ = rows.limits.get(name, ([], None))
        for option in options:
            check = _check_set if isinstance(option, OneOf) else _check_range
            check(option, column)


def _check_values(values: pd.Series, facts: ColumnFacts, bounded: bool) -> None:
    if not facts.is_modelled:
        return  # Made up: any value goes.

    missing = values.isna()
    if missing.any() and not facts.has_missing:
        raise _unexpected(None, facts, 'It has no missing values in the original data.')

    present = values[~missing]
    if facts.levels is not None:
        _check_levels(present, facts)
    elif len(present):
        _check_points(present, facts, bounded)


def _check_levels(values: pd.Series, facts: ColumnFacts) -> None:
    assert facts.levels is not None
    distinct = values.astype(object).drop_duplicates()
    known = set(facts.levels)
    for value in distinct:
        if not _is_hashable(value) or value not in known:
            raise _unexpected(
                value, facts, f'Use one of its values in the original data{_examples(facts)}.'
            )


def _check_points(values: pd.Series, facts: ColumnFacts, bounded: bool) -> None:
    points = points_of(values, facts)
    if facts.is_integer and not np.isclose(points % 1, 0).all():
        value = values[~np.isclose(points % 1, 0)].iloc[0]
        raise _unexpected(value, facts, 'It holds whole numbers only.')

    if facts.low is None:
        raise _unexpected(values.iloc[0], facts, 'It has no values in the original data.')

    outside = (points < facts.low) | (points > facts.high)
    if bounded and outside.any():
        raise _unexpected(
            values[outside].iloc[0],
            facts,
            f'Its values go from {facts.low} to {facts.high} in the original data.',
        )


def _check_set(option: OneOf, facts: ColumnFacts) -> None:
    if not option.choices:
        raise ValueError(f"The set of values for column '{facts.name}' is empty.")

    if facts.levels is None and facts.sdtype != 'numerical':
        raise ValueError(
            f"OneOf needs a column of categories, but column '{facts.name}' is of type "
            f"'{facts.sdtype}'."
        )

    _check_values(pd.Series(list(option.choices), dtype=object), facts, bounded=True)


def _check_range(option: Between, facts: ColumnFacts) -> None:
    if not facts.is_ordered:
        raise ValueError(
            f"Between needs a column of numbers or dates, but column '{facts.name}' is of type "
            f"'{facts.sdtype}'. Use OneOf."
        )

    low, high = range_points(option, facts)
    if facts.low is None or low > high or low > facts.high or high < facts.low:
        reason = f'The values go from {facts.low} to {facts.high} in the original data'
        if facts.step is not None:
            reason += f', in steps of {facts.step}'

        raise ValueError(f"No value of column '{facts.name}' lies in {option!r}. {reason}.")


def range_points(option: Between, facts: ColumnFacts) -> tuple[Any, Any]:
    """The ends of a range as numbers or timestamps; those of the column where one is open."""
    ends = pd.Series([option.low, option.high], dtype=object)
    given = ends.notna()
    low, high = facts.low, facts.high
    if given.any():
        points = points_of(ends[given], facts)
        low, high = points.get(0, low), points.get(1, high)

    return facts.bounds(low, high)


def points_of(values: pd.Series, facts: ColumnFacts) -> pd.Series:
    """Values as numbers or timestamps.

    Raises:
        ValueError:
            Naming the column and the first value that is neither.
    """
    try:
        return facts.to_points(values)
    except (TypeError, ValueError) as error:
        kind = 'dates' if facts.sdtype == 'datetime' else 'numbers'
        written = f", written as '{facts.datetime_format}'" if facts.datetime_format else ''
        culprits = (value for value in values if not _is_point(value, facts))
        culprit = next(culprits, values.iloc[0])
        raise _unexpected(culprit, facts, f'It holds {kind}{written}.') from error


def _is_point(value: Any, facts: ColumnFacts) -> bool:
    try:
        facts.to_points(pd.Series([value], dtype=object))
    except (TypeError, ValueError):
        return False

    return True


def _unexpected(value: Any, facts: ColumnFacts, remedy: str) -> ValueError:
    if isinstance(value, np.generic):  # Shown as the user wrote it.
        value = value.item()

    return ValueError(f"Unexpected value {value!r} for column '{facts.name}'. {remedy}")


def _examples(facts: ColumnFacts) -> str:
    assert facts.levels is not None
    shown = ', '.join(repr(level) for level in facts.levels[:LEVELS_SHOWN])
    more = ', ...' if len(facts.levels) > LEVELS_SHOWN else ''
    return f': {shown}{more}'


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False

    return True
