"""From what is known of a column that another one determines to what that says of the other one.

To the model, both are columns like any other: a date that is due on the first of March says that
the order was about a month before, give or take a few days. The function says exactly when.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from scipy.special import ndtr

from sdv_tabdiff.columns import Restriction
from sdv_tabdiff.functions import Function
from sdv_tabdiff.knowledge import Knowledge, Restrictions, fill
from sdv_tabdiff.number_column import NumberColumn
from sdv_tabdiff.quantiles import FloatArray
from sdv_tabdiff.table import TableCodec

# Bounds this close, relative to the source's range, are one value.
NARROW = 1e-8

# A value may come from several places. What they weigh is the share of the rows for which the
# target is as near as that, relative to its range.
NEARBY = 1e-2


class Bounds(NamedTuple):
    """What a column may be; NaN in rows in which anything goes."""

    low: FloatArray
    high: FloatArray


def settle_origins(
    knowledge: Knowledge, codec: TableCodec, generator: torch.Generator
) -> Knowledge:
    """Say of columns that determine others what is known of these.

    A column that determines another one becomes known where the other one is, and nothing is known
    of itself; if several of its values have the same target, it may be any of them. From where the
    function rises and from where it falls, one place is drawn, as often as the data have it.
    """
    # From the last to the first: what is settled here may be determined by a column in turn.
    for function, source, target in reversed(codec.determined):
        bounds, restricted = _asked(knowledge, target)
        rows = ~np.isnan(bounds.low) & ~knowledge.is_settled(source.name)
        if rows.any():
            asked = Bounds(*(np.where(rows, ends, np.nan) for ends in bounds))
            draws = torch.rand(len(rows), device=generator.device, generator=generator)
            origin = _drawn_origin(function, source, asked, draws.cpu().numpy())
            knowledge = _with_origin(knowledge, source, origin)
            following = restricted & ~np.isnan(origin.low)
            knowledge = replace(
                knowledge, following={**knowledge.following, target.name: following}
            )

    return knowledge


def _asked(knowledge: Knowledge, column: NumberColumn) -> tuple[Bounds, np.ndarray]:
    """The bounds of a column's values that are known, and the rows in which they are a range."""
    assert column.scale is not None
    low, high = (np.full(len(knowledge), np.nan) for _ in range(2))
    known = knowledge.cells(column.name)
    if known.any():
        cells = {name: _cells(knowledge.frame, name) for name in column.names}
        values = column.values(cells).numbers
        low[known], high[known] = values[known], values[known]

    if column.name not in knowledge.restrictions:
        return Bounds(low, high), np.zeros_like(known)

    restrictions = knowledge.restrictions[column.name]
    restricted = restrictions.binding & ~known
    for position, option in enumerate(restrictions.options):
        rows = restricted & (restrictions.index == position)
        if option.allowed is None and not option.missing:
            ends = column.scale.inverse(np.array([option.low, option.high]))
            low[rows], high[rows] = ends

    return Bounds(low, high), restricted


def _cells(frame: pd.DataFrame, name: Any) -> pd.Series:
    return frame[name] if name in frame else pd.Series(0.0, index=frame.index)


def _drawn_origin(
    function: Function, source: NumberColumn, asked: Bounds, draws: FloatArray
) -> Bounds:
    """Where the source must be for the target to be as asked."""
    origins = function.origins(*asked)
    if len(origins) == 1:
        return Bounds(*origins[0])

    assert source.scale is not None
    margin = NEARBY * np.ptp(function.y)
    around = function.origins(asked.low - margin, asked.high + margin)
    masses = np.stack([_mass(source, Bounds(*ends)) for ends in around])
    possible = ~np.isnan([first for first, _ in origins])
    weights = np.where(possible, np.nan_to_num(masses) + 1e-12, 0.0).cumsum(axis=0)
    chosen = (draws * weights[-1] >= weights).sum(axis=0).clip(max=len(origins) - 1)
    low, high = (np.choose(chosen, ends) for ends in zip(*origins))
    return Bounds(low, high)


def _mass(source: NumberColumn, ends: Bounds) -> FloatArray:
    """Share of the data between two values of a column."""
    assert source.scale is not None
    low, high = (ndtr(source.scale.forward(values)) for values in ends)
    return high - low


def _with_origin(knowledge: Knowledge, source: NumberColumn, origin: Bounds) -> Knowledge:
    """What is known, with what a source must be."""
    assert source.scale is not None
    found = ~np.isnan(origin.low)
    span = np.ptp(source.scale.inverse(np.array([-np.inf, np.inf])))
    with np.errstate(invalid='ignore'):
        is_point = origin.high - origin.low <= NARROW * span

    frame, known = knowledge.frame.copy(), knowledge.known.copy()
    middle = source.scale.forward((origin.low + origin.high) / 2)
    fill(frame, known, source, found & is_point, middle)
    rows = found & ~is_point
    restrictions = dict(knowledge.restrictions)
    if rows.any():
        before = restrictions.get(source.name, Restrictions([], np.full(len(rows), -1)))
        scores = (source.scale.forward(ends) for ends in origin)
        restrictions[source.name] = _restricted(before, rows, Bounds(*scores))

    return replace(knowledge, frame=frame, known=known, restrictions=restrictions)


def _restricted(before: Restrictions, rows: np.ndarray, bounds: Bounds) -> Restrictions:
    """The restrictions of a column, bounds taking their place in some rows."""
    pairs, found = np.unique(np.stack(bounds, axis=1)[rows], axis=0, return_inverse=True)
    options = [Restriction(low=low, high=high) for low, high in pairs.tolist()]
    index = before.index.copy()
    index[rows] = len(before.options) + found.reshape(-1)
    return Restrictions([*before.options, *options], index)
