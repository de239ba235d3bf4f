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
    """A strictly increasing, piecewise linear map from values to standard normal scores.

    The knots are quantiles of the continuous part of the column; its atoms are knots too, without
    weight. Atoms would otherwise squeeze the rest of the column into one end of the scale. Being
    strictly increasing, the map is exactly invertible on the training range, and its inverse never
    leaves it.

    Example:
        >>> column = QuantileMap().fit(np.arange(1000.0))
        >>> float(column.forward(np.array([499.5]))[0])
        0.0
        >>> float(column.inverse(np.array([9.0]))[0])
        999.0
    """

    def __init__(self, max_knots: int = MAX_KNOTS):
        self.max_knots = max_knots
        self.values: FloatArray = np.zeros(1)
        self.scores: FloatArray = np.zeros(1)

    def fit(self, values: FloatArray) -> 'QuantileMap':
        """Learn the knots from a column without missing values."""
        if len(values) == 0:
            return self

        atoms = discrete_values(values)
        continuous = values[~np.isin(values, atoms)]
        if len(continuous) == 0:
            continuous = values

        self.values, self.scores = self._quantile_knots(continuous)
        self._insert(atoms)
        return self

    def _quantile_knots(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        count = max(min(len(values) // ROWS_PER_KNOT, self.max_knots), 10)
        levels = np.linspace(0, 1, count)
        knots, group = np.unique(np.quantile(values, levels), return_inverse=True)
        # Equal quantiles share the middle of their levels.
        middle = np.bincount(group, weights=levels) / np.bincount(group)
        # The ends belong to the half of a row, not to infinity.
        edge = min(0.5 / len(values), 0.25 / count)
        return knots, ndtri(np.clip(middle, edge, 1 - edge))

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
        order = np.argsort(values)
        # Values closer than double precision can tell apart share a score: keep one of them.
        order = order[np.append(True, np.diff(scores[order]) > 0)]
        self.values, self.scores = values[order], scores[order]

    def forward(self, values: FloatArray) -> FloatArray:
        """Normal scores of values; NaN stays NaN."""
        return _interpolate(values, self.values, self.scores)

    def inverse(self, scores: FloatArray) -> FloatArray:
        """Values of normal scores; NaN stays NaN."""
        return _interpolate(scores, self.scores, self.values)


def _interpolate(x: FloatArray, knots: FloatArray, heights: FloatArray) -> FloatArray:
    # With a single knot, numpy gives its height to NaN as well.
    return np.where(np.isnan(x), np.nan, np.interp(x, knots, heights))
