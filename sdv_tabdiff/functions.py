"""Numbers that another column determines: an absolute value, another unit, a class of ages.

A row in which such columns disagree is plainly made up, and no network is exact enough to keep them
in step. So a sampled number that another one determines is computed from it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from sdv_tabdiff.polylines import MISSES_PER_PIECE, Points, misses
from sdv_tabdiff.quantiles import FloatArray

# A function has at most so many straight pieces, one of rounded values so many. For each of them so
# many rows must bear it out: rows without the target's most frequent value, which is no surprise
# anywhere.
MAX_PIECES, MAX_ROUNDED_PIECES, ROWS_PER_PIECE = 256, 64, 20

# How far a function may miss, relative to the range between these levels of the target or, if its
# numbers are of single precision, to the largest of them; but for a few of the rows without the
# target's most frequent value: data have errors.
CENTRAL = (0.01, 0.99)
TOLERANCE, SINGLE_PRECISION, MAX_EXCEPTIONS = 1e-9, 2.0**-22, 1e-3

# Values of so many decimals are on a grid. A function may miss a target that is by half a step, if
# that is a small enough part of its range: rounding makes up for it.
MAX_DECIMALS, MAX_RESOLUTION = 9, 2e-2

# Functions are looked for in so many rows, after a first look at a few neighbouring ones, up to so
# many of each value. Of the values, so many may have several ones in the target: errors again.
MAX_ROWS, FIRST_LOOK, MAX_LIKES = 50_000, 400, 8
MAX_TORN = 0.1

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
        source_step: What the source is a multiple of, or None if its numbers are of any kind.
        target_step: Likewise, of the target.
        always_with_source: Whether the target is there wherever the source is.
        never_without_source: Whether it is missing wherever the source is.
    """

    source: int
    target: int
    x: FloatArray
    y: FloatArray
    source_step: float | None = None
    target_step: float | None = None
    always_with_source: bool = False
    never_without_source: bool = False

    @property
    def pieces(self) -> int:
        """Number of straight pieces."""
        return len(self.x) - 1

    @property
    def loses_detail(self) -> bool:
        """Whether several values of the source may have the same value of the target."""
        if self.target_step is None:
            return False
        if self.source_step is None:
            return True

        slope = float(np.median(np.abs(np.diff(self.y) / np.diff(self.x))))
        return slope * self.source_step < (1 - TOLERANCE) * self.target_step

    def origins(self, low: FloatArray, high: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
        """Where the target is within bounds, for each stretch in which it only rises or falls.

        Args:
            low: Smallest values of the target.
            high: Largest values, likewise.

        Returns:
            list[tuple[numpy.ndarray, numpy.ndarray]]:
                The smallest and the largest values of the source; NaN where there are none.
        """
        slack = TOLERANCE * np.ptp(self.y)
        if self.target_step is not None:
            slack = (0.5 - 1e-6) * self.target_step

        return [self._origin(part, low - slack, high + slack) for part in self._stretches()]

    def _stretches(self) -> list[slice]:
        """Knots between two turns of the function."""
        rises = np.sign(np.diff(self.y))
        slopes = np.flatnonzero(rises)
        turns = slopes[1:][rises[slopes[1:]] != rises[slopes[:-1]]]
        ends = [0, *turns, len(self.x) - 1]
        return [slice(first, last + 1) for first, last in zip(ends, ends[1:])]

    def _origin(
        self, stretch: slice, low: FloatArray, high: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        x, y = self.x[stretch], self.y[stretch]
        if y[0] > y[-1]:
            x, y = x[::-1], y[::-1]

        ends = np.sort([np.interp(low, y, x), np.interp(high, y, x)], axis=0)
        if self.source_step is not None:
            # The outermost multiples that are inside.
            inwards = np.array([[1.0], [-1.0]]) * (0.5 - 1e-6) * self.source_step
            ends = on_grid(ends + inwards, self.source_step)

        with np.errstate(invalid='ignore'):
            is_somewhere = (high >= y[0]) & (low <= y[-1]) & (ends[0] <= ends[1])

        first, last = np.where(is_somewhere, ends, np.nan)
        return first, last

    def __call__(self, values: FloatArray) -> FloatArray:
        """What the target is where the source has these values; NaN for NaN."""
        # What will be rounded for the user must be so for the function.
        values = on_grid(values, self.source_step)
        found = np.where(np.isnan(values), np.nan, np.interp(values, self.x, self.y))
        return on_grid(found, self.target_step)


def find_functions(
    columns: Sequence[FloatArray], steps: Sequence[float | None] | None = None
) -> list[Function]:
    """Which columns are functions of others, in an order in which they can be computed.

    Args:
        columns: Numbers of each column, NaN where one is missing.
        steps: What the numbers of each column are multiples of, None if of nothing. Defaults to
            what they look like.
    """
    if len(columns) < 2:
        return []

    values = np.stack(columns, axis=1)
    if len(values) > MAX_ROWS:
        rows = np.random.default_rng(0).choice(len(values), MAX_ROWS, replace=False)
        sample = values[rows]
    else:
        sample = values

    steps = steps or [decimal_step(column) for column in values.T]
    targets = [Target(column, step) for column, step in zip(sample.T, steps)]
    likely = [_first_look(sample, source, targets) for source in range(len(targets))]

    @cache
    def between(source: int, position: int) -> Function | None:
        if not likely[source][position]:
            return None

        function = _function(sample, source, position, targets)
        holds = function is not None and _holds(function, values, targets[position])
        return function if holds else None

    found: list[Function] = []
    # From the last to the first: of two columns that determine each other, the first is the source.
    for position in reversed(range(len(targets))):
        determined = {function.target for function in found}
        chosen: Function | None = None
        for source in (s for s in range(len(targets)) if s not in determined):
            function = between(source, position)
            if function is None or chosen and chosen.pieces <= function.pieces:
                continue
            # Not every value of a source that is finer than its target belongs to one of the
            # target: if each determines the other, the coarser one is the source.
            if function.loses_detail and between(position, source) is not None:
                continue

            chosen = function
            if chosen.pieces == 1:
                break

        if chosen is not None:
            found.append(_with_gaps(chosen, values))

    # Sources that are computed themselves were found later than what they determine.
    return found[::-1]


class Target:
    """What is asked of a function that is to determine a column.

    ``exact`` is how far it may miss, ``rounded`` how far if rounding makes up for it.

    Args:
        values: The column, NaN where it is missing.
        step: What its values are multiples of, or None if of nothing.
    """

    def __init__(self, values: FloatArray, step: float | None):
        present = values[~np.isnan(values)]
        _, counts = np.unique(present, return_counts=True)
        # Without the outermost values: a single one of them may be far away.
        span = float(np.ptp(np.quantile(present, CENTRAL))) if len(present) else 0.0
        self.step = step
        self.exact = TOLERANCE * span
        if step is None and is_single(present):
            self.exact = max(self.exact, SINGLE_PRECISION * float(np.abs(present).max(initial=0)))

        self.is_rounded = step is not None and step <= MAX_RESOLUTION * span
        self.rounded = self.exact + (0.5 * step if step is not None and self.is_rounded else 0.0)
        surprises = len(present) - int(counts.max(initial=0))
        self.max_pieces = min(MAX_PIECES, surprises // ROWS_PER_PIECE)
        self._surprising_share = surprises / max(len(present), 1)

    def is_met(self, said: FloatArray, values: FloatArray) -> bool:
        """Whether values are as a function says, but for a few exceptions."""
        said = on_grid(said, self.step) if self.is_rounded else said
        exceptions = np.count_nonzero(~(np.abs(said - values) <= 2 * self.exact))
        # A function that misses the few surprises there are would say nothing.
        return exceptions <= MAX_EXCEPTIONS * self._surprising_share * len(values)


def on_grid(values: FloatArray, step: float | None) -> FloatArray:
    """Values rounded to multiples of a step, if there is one."""
    if step is None:
        return values
    if step >= 1:
        return np.round(values / step) * step

    # A hundredth is no binary fraction, but a hundred is a number.
    per_unit = round(1 / step)
    return np.round(values * per_unit) / per_unit


def decimal_step(values: FloatArray) -> float | None:
    """The largest of 1, 0.1, 0.01, ... that all values are multiples of; None if there is none."""
    present = values[~np.isnan(values)]
    for decimals in range(MAX_DECIMALS + 1):
        # Up to what is lost on the way to scores and back.
        allowed = 1e-6 * 10.0**-decimals + 1e-12 * np.abs(present)
        if (np.abs(present.round(decimals) - present) <= allowed).all():
            return 10.0**-decimals

    return None


def is_single(values: FloatArray) -> bool:
    """Whether all values are those of single precision, up to what is lost on the way to scores."""
    with np.errstate(over='ignore'):
        single = values.astype(np.float32).astype(np.float64)

    return bool((np.abs(single - values) <= 1e-12 * np.abs(values)).all())


def _first_look(values: FloatArray, source: int, targets: Sequence[Target]) -> np.ndarray:
    """Which columns might be functions of one, by rows with neighbouring values of it."""
    likely = np.array([target.max_pieces > 0 for target in targets])
    likely[source] = False
    present = np.count_nonzero(~np.isnan(values[:, source]))
    order = np.argsort(values[:, source], kind='stable')[:present]
    if present == 0:
        return likely & False

    # A few rows of each value are enough to see whether it has a single value in other columns.
    distinct, start, counts = np.unique(
        values[order, source], return_index=True, return_counts=True
    )
    alike = np.arange(min(max(FIRST_LOOK // len(distinct), 2), MAX_LIKES))
    rows = (start[:, None] + alike)[alike < counts[:, None]]
    skipped = max(0, (len(rows) - FIRST_LOOK) // 2)
    rows = order[rows[skipped : skipped + FIRST_LOOK]]

    x, first, counts = np.unique(values[rows, source], return_index=True, return_counts=True)
    y = values[rows]
    low, high = np.fmin.reduceat(y, first, axis=0), np.fmax.reduceat(y, first, axis=0)
    exact, rounded, most = (
        np.array([getattr(target, name) for target in targets])
        for name in ('exact', 'rounded', 'max_pieces')
    )
    several = counts > 1
    with np.errstate(invalid='ignore'):
        torn = (high - low > 2 * exact)[several].sum(axis=0)
        missed = misses(x, (low + high) / 2, rounded)

    few = missed <= MISSES_PER_PIECE * np.minimum(most, PIECES_AT_FIRST_LOOK)
    return likely & few & (torn <= MAX_TORN * np.count_nonzero(several))


def _function(
    values: FloatArray, source: int, position: int, targets: Sequence[Target]
) -> Function | None:
    """The function from one column to another, or None if there is none."""
    x, y = values[:, source], values[:, position]
    rows = ~np.isnan(x) & ~np.isnan(y)
    steps = targets[source].step, targets[position].step
    x, y = on_grid(x[rows], steps[0]), y[rows]
    target = Target(y, steps[1])
    if target.max_pieces == 0:
        return None

    order = np.lexsort((y, x))
    y = y[order]
    x, first, counts = np.unique(x[order], return_index=True, return_counts=True)
    # One value of the source has one value of the target.
    points = Points(x, y[first + counts // 2])
    if not target.is_met(np.repeat(points.y, counts), y):
        return None

    line = points.exact(target.exact, target.max_pieces)
    if line is None and target.is_rounded and target.step is not None:
        most = min(target.max_pieces, MAX_ROUNDED_PIECES)
        line = points.rounded(target.rounded, target.step, most)

    return None if line is None else Function(source, position, *line, *steps)


def _with_gaps(function: Function, values: FloatArray) -> Function:
    """A function that says where its target is missing, as far as the data do."""
    source, target = (np.isnan(values[:, n]) for n in (function.source, function.target))
    return replace(
        function,
        always_with_source=not (target & ~source).any(),
        never_without_source=not (source & ~target).any(),
    )


def _holds(function: Function, values: FloatArray, target: Target) -> bool:
    """Whether a function says what the target is, wherever there is a source."""
    wanted, given = values[:, function.target], values[:, function.source]
    rows = ~np.isnan(wanted) & ~np.isnan(given)
    return target.is_met(function(given[rows]), wanted[rows])
