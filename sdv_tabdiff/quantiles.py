"""Numbers to normal scores and back, and which numbers are better told apart one by one."""

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

FloatArray = npt.NDArray[np.float64]

# A column with few distinct values is a set of states, not a continuum; each state needs enough
# rows to be learned as one.
MAX_DISCRETE_VALUES = 128
MIN_ROWS_PER_VALUE = 5

# A value that this share of the rows has (and at least so many rows) is an atom.
MIN_ATOM_SHARE = 0.01
MIN_ATOM_ROWS = 10

MAX_KNOTS = 1000
ROWS_PER_KNOT = 30

# Further knots of a long tail: a single line to the extreme value would squeeze the rest together.
TAIL_RANKS = np.array([3, 10, 30, 100, 300, 1000, 3000])

# A value that so many rows share is generated as often, to the last digit; fewer rows could be
# told by it. Of more values than fit into a small file, the most frequent.
MIN_REPEATS = 3
MAX_REPEATED = 2048

# Rows between two such values that are neither: it keeps the map continuous.
SEAM = 0.01


def discrete_values(values: FloatArray, max_values: int = MAX_DISCRETE_VALUES) -> FloatArray:
    """Values that are better modelled as states than as points on a line.

    All distinct values if they are few; else the atoms (zero in a zero-inflated column).

    Args:
        values (numpy.ndarray):
            The column without missing values.
        max_values (int):
            Number of distinct values up to which a column is discrete as a whole. 0 means that
            no value is ever treated as a state.

    Returns:
        numpy.ndarray:
            The values, sorted.
    """
    if max_values == 0 or len(values) == 0:
        return np.empty(0)

    distinct, counts = np.unique(values, return_counts=True)
    few = len(distinct) <= max_values
    if few and (len(distinct) == 1 or len(values) >= MIN_ROWS_PER_VALUE * len(distinct)):
        return distinct

    return distinct[counts >= max(MIN_ATOM_SHARE * len(values), MIN_ATOM_ROWS)]


class QuantileMap:
    """An increasing, piecewise linear map from values to standard normal scores, and back.

    The knots are quantiles of the continuous part of the column; its atoms are knots too, without
    weight. Atoms would otherwise squeeze the rest of the column into one end of the scale.

    A value that several rows share owns the stretch of scores that belongs to its rows: its score
    is the middle, and every score of the stretch comes back as that very value. So the columns
    generated from normal scores have the repeated values of the data (round amounts, ratios of
    small numbers), as often as the data have them.

    Every value of the training data comes back from its score, and no score leads out of the
    training range.

    Example:
        >>> column = QuantileMap().fit(np.arange(1000.0))
        >>> float(column.forward(np.array([499.5]))[0])
        0.0
        >>> float(column.inverse(np.array([9.0]))[0])
        999.0
    """

    def __init__(self, max_knots: int = MAX_KNOTS):
        self.max_knots = max_knots
        # Knots in order; a repeated value is that of two knots, or more.
        self.values: FloatArray = np.zeros(1)
        self.scores: FloatArray = np.zeros(1)
        # What values are multiples of, if whoever fits the map knows that.
        self.step: float | None = None
        # Values that own a stretch of scores, and the middles of these stretches.
        self.repeated: FloatArray = np.empty(0)
        self.middles: FloatArray = np.empty(0)

    def fit(self, values: FloatArray) -> 'QuantileMap':
        """Learn the knots from a column without missing values."""
        if len(values) == 0:
            return self

        atoms = discrete_values(values)
        continuous = values[~np.isin(values, atoms)]
        if len(continuous) == 0:
            continuous = values

        self._fit_continuous(np.sort(continuous))
        self._insert(atoms)
        return self

    def _fit_continuous(self, values: FloatArray) -> None:
        """Learn the knots of sorted values.

        Each row takes up one unit of a line. The position on the line, as a share of its length, is
        the level whose normal score is taken.
        """
        self.repeated, first, last = _owners(values)
        length = len(values)
        low, high = first + SEAM, last + 1 - SEAM
        middles = (low + high) / 2
        # Beyond its middle, an extreme value has no neighbour to be told from.
        low[0], high[-1] = middles[0], middles[-1]

        ranks = self._ranks(len(values))
        owner = np.searchsorted(first - 0.5, ranks, side='right') - 1
        free = ranks[ranks > last[owner] + 0.5]
        positions = np.concatenate([free + 0.5, low, high])
        levels = free / max(len(values) - 1, 1)
        knots = np.concatenate([np.quantile(values, levels), self.repeated, self.repeated])
        order = np.lexsort((positions, knots))
        self.values, self.scores = knots[order], ndtri(positions[order] / length)
        self.middles = ndtri(middles / length)
        self._drop_ties()

    def _ranks(self, rows: int) -> FloatArray:
        count = max(min(rows // ROWS_PER_KNOT, self.max_knots), 10)
        tail = TAIL_RANKS[TAIL_RANKS < min(rows / count, rows / ROWS_PER_KNOT)]
        return np.unique(np.concatenate([np.linspace(0, rows - 1, count), tail, rows - 1.0 - tail]))

    def _insert(self, atoms: FloatArray) -> None:
        new = np.setdiff1d(atoms, self.values)
        if len(new) == 0:
            return

        scores = np.interp(new, self.values, self.scores)
        # Outside the range of the continuous part, step outwards to stay strictly increasing.
        below = new < self.values[0]
        above = new > self.values[-1]
        scores[below] = self.scores[0] - 0.1 * np.arange(below.sum(), 0, -1)
        scores[above] = self.scores[-1] + 0.1 * np.arange(1, above.sum() + 1)
        values, scores = np.append(self.values, new), np.append(self.scores, scores)
        order = np.lexsort((scores, values))
        self.values, self.scores = values[order], scores[order]
        self._drop_ties()

    def _drop_ties(self) -> None:
        # Values closer than double precision can tell apart share a score: keep one of them.
        keep = np.append(True, np.diff(self.scores) > 0)
        self.values, self.scores = self.values[keep], self.scores[keep]

    def forward(self, values: FloatArray) -> FloatArray:
        """Normal scores of values; NaN stays NaN."""
        scores = _interpolate(values, self.values, self.scores)
        if len(self.repeated) == 0:
            return scores

        nearest = np.searchsorted(self.repeated, values).clip(max=len(self.repeated) - 1)
        return np.where(self.repeated[nearest] == values, self.middles[nearest], scores)

    def inverse(self, scores: FloatArray) -> FloatArray:
        """Values of normal scores; NaN stays NaN."""
        return _interpolate(scores, self.scores, self.values)


def _owners(values: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The extremes of sorted rows and the values that enough of them share.

    Returns these values, sorted, and the ranks of their first and last row.
    """
    distinct, first, counts = np.unique(values, return_index=True, return_counts=True)
    inner = np.flatnonzero(counts[1:-1] >= MIN_REPEATS) + 1
    most = inner[np.argsort(-counts[inner], kind='stable')[:MAX_REPEATED]]
    chosen = np.unique([0, *most, len(distinct) - 1])
    first = first[chosen].astype(np.float64)
    return distinct[chosen], first, first + counts[chosen] - 1


def _interpolate(x: FloatArray, knots: FloatArray, heights: FloatArray) -> FloatArray:
    # With a single knot, numpy gives its height to NaN as well.
    return np.where(np.isnan(x), np.nan, np.interp(x, knots, heights))
