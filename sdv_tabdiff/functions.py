"""Numbers that another column determines: an absolute value, another unit, a class of ages.

A row in which such columns disagree is plainly made up, and no network is exact enough to keep them
in step. So a sampled number that another one determines is computed from it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdv_tabdiff.quantiles import FloatArray

# A function has at most so many straight pieces. For each of them so many rows must bear it out:
# rows without the target's most frequent value, which is no surprise anywhere.
MAX_PIECES, ROWS_PER_PIECE = 64, 20

# How far a function may miss, relative to the range between these levels of the target, but for a
# few of the rows without the target's most frequent value: data have errors.
CENTRAL = (0.01, 0.99)
TOLERANCE, MAX_EXCEPTIONS = 1e-9, 1e-3

# A target of so many decimals may be missed by half of the last one, if that is a small enough part
# of its range.
MAX_DECIMALS, MAX_RESOLUTION = 9, 2e-2

# Functions are looked for in so many rows, after a first look at a few neighbouring ones. A bend
# or a step of a function makes up to three rows differ from what lies between their neighbours.
MAX_ROWS, FIRST_LOOK, MISSES_PER_PIECE = 50_000, 400, 3

# Of a function with many pieces, a first look sees so many of them at most.
PIECES_AT_FIRST_LOOK = 16


@dataclass(frozen=True)
class Function:
    """A piecewise linear function of a column.

    Args:
        source: Position of the column.
        target: Position of the column that it determines.
        x: Knots, in increasing order.
        y: The function's values there.
        decimals: Decimals of the source, or None if they are not limited.
    """

    source: int
    target: int
    x: FloatArray
    y: FloatArray
    decimals: int | None = None

    @property
    def pieces(self) -> int:
        """Number of straight pieces."""
        return len(self.x) - 1

    def __call__(self, values: FloatArray) -> FloatArray:
        """What the target is where the source has these values; NaN for NaN."""
        if self.decimals is not None:
            # What will be rounded for the user must be so for the function.
            values = values.round(self.decimals)

        return np.where(np.isnan(values), np.nan, np.interp(values, self.x, self.y))


def find_functions(columns: Sequence[FloatArray]) -> list[Function]:
    """Which columns are functions of others, in an order in which they can be computed.

    Args:
        columns: Numbers of each column, NaN where one is missing.
    """
    if len(columns) < 2:
        return []

    values = np.stack(columns, axis=1)
    if len(values) > MAX_ROWS:
        rows = np.random.default_rng(0).choice(len(values), MAX_ROWS, replace=False)
        sample = values[rows]
    else:
        sample = values

    targets = [Target(column) for column in sample.T]
    likely = [_first_look(sample, source, targets) for source in range(len(targets))]
    found: list[Function] = []
    # From the last to the first: of two columns that determine each other, the first is the source.
    for position in reversed(range(len(targets))):
        determined = {function.target for function in found}
        sources = [s for s in range(len(targets)) if likely[s][position] and s not in determined]
        functions = [_function(sample, source, position, targets) for source in sources]
        exact = [f for f in functions if f is not None and _holds(f, values, targets[position])]
        if exact:
            found.append(min(exact, key=lambda function: function.pieces))

    # Sources that are computed themselves were found later than what they determine.
    return found[::-1]


class Target:
    """What is asked of a function that is to determine a column.

    ``exact`` and ``rounded`` are how far it may miss if the target is as it says, or that rounded.

    Args:
        values: The column, NaN where it is missing.
    """

    def __init__(self, values: FloatArray):
        present = values[~np.isnan(values)]
        distinct, counts = np.unique(present, return_counts=True)
        # Without the outermost values: a single one of them may be far away.
        span = float(np.ptp(np.quantile(present, CENTRAL))) if len(present) else 0.0
        self.decimals = decimals_of(distinct)
        self.exact = TOLERANCE * span
        unit = np.inf if self.decimals is None else 10.0**-self.decimals
        self.rounded = self.exact + (0.5 * unit if unit <= MAX_RESOLUTION * span else 0.0)
        surprises = len(present) - int(counts.max(initial=0))
        self.max_pieces = min(MAX_PIECES, surprises // ROWS_PER_PIECE)
        self._surprising_share = surprises / max(len(present), 1)

    def is_met(self, said: FloatArray, values: FloatArray) -> bool:
        """Whether values are as a function says, but for a few exceptions."""
        exceptions = np.count_nonzero(~(np.abs(said - values) <= 2 * self.rounded))
        # A function that misses the few surprises there are would say nothing.
        return exceptions <= MAX_EXCEPTIONS * self._surprising_share * len(values)


def decimals_of(values: FloatArray) -> int | None:
    """The fewest decimals that all values can be written with; None if there are many."""
    for decimals in range(MAX_DECIMALS + 1):
        # Up to what is lost on the way to scores and back.
        allowed = 1e-6 * 10.0**-decimals + 1e-12 * np.abs(values)
        if (np.abs(values.round(decimals) - values) <= allowed).all():
            return decimals

    return None


def _first_look(values: FloatArray, source: int, targets: Sequence[Target]) -> np.ndarray:
    """Which columns might be functions of one, by rows with neighbouring values of it."""
    likely = np.array([target.max_pieces > 0 for target in targets])
    likely[source] = False
    # Two rows of each value are enough to see whether it has a single value in other columns.
    _, counts = np.unique(values[:, source], return_counts=True)
    order = np.argsort(values[:, source], kind='stable')
    start = counts.cumsum() - counts
    pairs = np.sort(np.concatenate([start, start[counts > 1] + 1]))
    pairs = pairs[: np.searchsorted(pairs, np.count_nonzero(~np.isnan(values[:, source])))]
    skipped = max(0, (len(pairs) - FIRST_LOOK) // 2)
    rows = order[pairs[skipped : skipped + FIRST_LOOK]]
    if len(rows) == 0:
        return likely & False

    x, first = np.unique(values[rows, source], return_index=True)
    y = values[rows]
    low, high = np.fmin.reduceat(y, first, axis=0), np.fmax.reduceat(y, first, axis=0)
    tolerance = np.array([target.rounded for target in targets])
    most = np.array([target.max_pieces for target in targets])
    with np.errstate(invalid='ignore'):
        misses = (high - low > 2 * tolerance).sum(axis=0)
        misses += _misses(x, (low + high) / 2, tolerance)

    return likely & (misses <= MISSES_PER_PIECE * np.minimum(most, PIECES_AT_FIRST_LOOK))


def _misses(x: FloatArray, y: FloatArray, tolerance: Any) -> Any:
    """In how many rows, sorted by ``x``, ``y`` is not on the line between its neighbours."""
    if len(x) < 3:
        return 0

    share = (x[1:-1] - x[:-2]) / (x[2:] - x[:-2])
    share = share.reshape(-1, *[1] * (y.ndim - 1))
    between = y[:-2] + share * (y[2:] - y[:-2])
    return (np.abs(y[1:-1] - between) > 2 * tolerance).sum(axis=0)


def _function(
    values: FloatArray, source: int, position: int, targets: Sequence[Target]
) -> Function | None:
    """The function from one column to another, or None if there is none."""
    target = targets[position]
    rows = ~np.isnan(values[:, position])
    x, y = values[rows, source], values[rows, position]
    if np.isnan(x).any():
        return None

    order = np.lexsort((y, x))
    y = y[order]
    x, first, counts = np.unique(x[order], return_index=True, return_counts=True)
    median = y[first + counts // 2]
    if not target.is_met(np.repeat(median, counts), y):
        return None

    few_misses = MISSES_PER_PIECE * target.max_pieces
    for tolerance in dict.fromkeys((target.exact, target.rounded)):
        if _misses(x, median, tolerance) > few_misses:
            continue

        # A knot may miss by as much as any other point.
        knots = _knots(x, median, 2 * tolerance, target.max_pieces)
        if knots is not None:
            exact = tolerance == target.exact
            heights = median[knots] if exact else _unrounded(x, median, knots)
            return Function(source, position, x[knots], heights, targets[source].decimals)

    return None


def _knots(x: FloatArray, y: FloatArray, tolerance: float, most: int) -> list[int] | None:
    """Points whose connecting lines come near all the others; None if these are too many.

    From each knot on, the slopes that come near all points so far are an interval. The point before
    the one that leaves none is the next knot.
    """
    knots = [0]
    low, high = -np.inf, np.inf
    for point in range(1, len(x)):
        start = knots[-1]
        run, rise = x[point] - x[start], y[point] - y[start]
        low, high = max(low, (rise - tolerance) / run), min(high, (rise + tolerance) / run)
        if low > high:
            knots.append(point - 1)
            if len(knots) > most:
                return None

            run, rise = x[point] - x[point - 1], y[point] - y[point - 1]
            low, high = (rise - tolerance) / run, (rise + tolerance) / run

    return [*knots, len(x) - 1] if len(x) > 1 else None


def _unrounded(x: FloatArray, y: FloatArray, knots: list[int]) -> FloatArray:
    """Heights of the knots that fit rounded values best: the rounding of single ones levels out."""
    hats = np.stack([np.interp(x, x[knots], unit) for unit in np.eye(len(knots))], axis=1)
    return np.linalg.lstsq(hats, y, rcond=None)[0]


def _holds(function: Function, values: FloatArray, target: Target) -> bool:
    """Whether a function says what the target is."""
    wanted = values[:, function.target]
    rows = ~np.isnan(wanted)
    return target.is_met(function(values[rows, function.source]), wanted[rows])
