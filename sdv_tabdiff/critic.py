"""A second look at sampled rows: trees that tell them from the data, and a choice by what they say.

A network that denoises is smooth, and tables have edges: a bill that never exceeds its limit, a
rate that no row of a group has. Boosted trees see edges at once. The odds that they give a sampled
row of being one of the data estimate the ratio of the two densities, so that rows chosen with
probabilities in that ratio follow the distribution of the data where the network's own do not
(Grover et al. 2019, 'Bias correction of learned generative models using likelihood-free importance
weighting'; Azadi et al. 2019, 'Discriminator rejection sampling').
"""

import math
from collections.abc import Callable
from contextlib import AbstractContextManager

import numpy as np
import torch
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from sdv_tabdiff.quantiles import FloatArray

# Fewer rows of the data say too little about ratios of densities; more add little.
MIN_ROWS, MAX_ROWS = 2000, 50_000

# Trees are added as long as they help on held-out rows of both kinds.
MAX_TREES, TREES_AT_A_TIME = 2000, 200
LEAVES, LEARNING_RATE = 31, 0.1
HELD_OUT_SHARE, PATIENCE = 0.15, 30

# This share of the sampled rows may look so real that they are kept with certainty. A few more
# rows than wanted are sampled in any case: there must be some to choose from.
CERTAIN_SHARE, MIN_ROWS_PER_ROW = 0.01, 1.25

# The trees look at numbers through so many bins.
MAX_BINS = 255

# Shares of the data that chosen rows are raked to: of so many intervals of each column, in so many
# rounds, none of which changes a weight by more than a factor.
MAX_SHARES, RAKING_ROUNDS, MAX_FACTOR = 100, 12, 2.0

# Shares of fewer rows differ from those of the data by chance, which is theirs to keep.
MIN_ROWS_TO_RAKE = 20 * MAX_SHARES


class Bins:
    """Intervals of a column of the data, with edges half way between two of its values.

    A sampled number counts as the value of the data next to it. So the trees cannot tell it by
    decimals that are yet to be rounded.

    Args:
        values: The column; NaN where it is missing.
        most: Largest number of intervals.
    """

    def __init__(self, values: FloatArray, most: int = MAX_BINS):
        present = np.sort(values[~np.isnan(values)])
        distinct = np.unique(present)
        if len(distinct) > most:
            levels = np.linspace(0, len(present) - 1, most).round().astype(int)
            lower = np.unique(present[levels])[:-1]
            upper = distinct[np.searchsorted(distinct, lower, side='right')]
        else:
            lower, upper = distinct[:-1], distinct[1:]

        self.edges = lower + (upper - lower) / 2

    def place(self, values: FloatArray) -> FloatArray:
        """The number of the interval of each value; NaN stays NaN."""
        return np.where(np.isnan(values), np.nan, np.searchsorted(self.edges, values))


class Shares:
    """How many rows of the data have each value of a column, by intervals.

    Args:
        values: The column; NaN where it is missing.
    """

    def __init__(self, values: FloatArray):
        self._bins = Bins(values, MAX_SHARES)
        # The last one is that of the missing ones.
        self._size = len(self._bins.edges) + 2
        self.wanted = self.count(self.place(values), np.full(len(values), 1 / len(values)))

    def place(self, values: FloatArray) -> np.ndarray:
        """The interval of each value."""
        return np.nan_to_num(self._bins.place(values), nan=self._size - 1).astype(np.int64)

    def count(self, places: np.ndarray, weights: FloatArray) -> FloatArray:
        """Sum of the weights in each interval."""
        return np.bincount(places, weights, self._size).astype(np.float64)


class Critic:
    """Tells sampled rows from rows of the data, and weighs them accordingly.

    Once fitted, ``rows_per_row`` is how many rows the odds ask for to choose one from.

    Args:
        seed: Seed of which rows are held out.
    """

    def __init__(self, seed: int):
        self.rows_per_row = MIN_ROWS_PER_ROW
        self._seed = seed
        self._trees: HistGradientBoostingClassifier | None = None

    def fit(
        self, real: FloatArray, made: FloatArray, is_over: Callable[[], bool] = lambda: False
    ) -> 'Critic':
        """Learn to tell rows apart.

        Args:
            real: Rows of the data, shape ``(rows, columns)``, NaN where a cell is missing.
            made: Sampled rows, likewise.
            is_over: Whether time has run out.
        """
        self._bins = [Bins(column) for column in real.T]
        self._shares = [Shares(column) for column in real.T]
        features = self._place(np.concatenate([real, made]))
        labels = np.repeat([1, 0], [len(real), len(made)])
        with threads():
            self._trees = grown(features, labels, self._seed, is_over)

        odds = np.exp(self.log_odds(made))
        certain = np.quantile(odds, 1 - CERTAIN_SHARE)
        self.rows_per_row = max(self.rows_per_row, float(certain / odds.mean()))
        return self

    def rows_for(self, count: int, most: float) -> int:
        """How many rows to choose so many from, at most ``most`` times as many."""
        rows = math.ceil(min(self.rows_per_row, most) * count)
        # With neither odds nor shares to go by, there is nothing to choose.
        return count if self._trees is None and rows < MIN_ROWS_TO_RAKE else rows

    def _place(self, rows: FloatArray) -> FloatArray:
        # Missing is a place of its own, below all others.
        columns = [
            np.nan_to_num(bins.place(column), nan=-1.0) for bins, column in zip(self._bins, rows.T)
        ]
        return np.stack(columns, axis=1)

    def weights(self, rows: FloatArray) -> FloatArray:
        """Odds of rows to be of the data, raked to the shares of each column: ``(rows,)``.

        Where the data have what is never sampled, odds of rows do not add up to the data: they lean
        to what both have. Raking (Deming and Stephan 1940) multiplies the weights of each interval
        of each column in turn, until the weighted rows have the shares of the data.
        """
        weights = np.exp(self.log_odds(rows))
        if len(rows) < MIN_ROWS_TO_RAKE:
            return weights

        places = [shares.place(column) for shares, column in zip(self._shares, rows.T)]
        for _ in range(RAKING_ROUNDS):
            for shares, place in zip(self._shares, places):
                found = shares.count(place, weights / weights.sum())
                factor = shares.wanted / np.maximum(found, 1e-12)
                weights = weights * factor.clip(1 / MAX_FACTOR, MAX_FACTOR)[place]

        return weights / weights.mean()

    def log_odds(self, rows: FloatArray) -> FloatArray:
        """Log odds of rows to be of the data, shape ``(rows,)``; 0 if nothing tells them apart."""
        if self._trees is None:
            return np.zeros(len(rows))

        with threads():
            return self._trees.decision_function(self._place(rows))


def threads() -> AbstractContextManager:
    """A context in which trees use as many threads as torch does."""
    return threadpool_limits(torch.get_num_threads(), user_api='openmp')


def grown(
    features: FloatArray, labels: np.ndarray, seed: int, is_over: Callable[[], bool]
) -> HistGradientBoostingClassifier | None:
    """Trees that tell labels apart, as many as help on held-out rows; None if none do."""
    trees = HistGradientBoostingClassifier(
        learning_rate=LEARNING_RATE,
        max_leaf_nodes=LEAVES,
        max_bins=MAX_BINS,
        early_stopping=True,
        validation_fraction=HELD_OUT_SHARE,
        n_iter_no_change=PATIENCE,
        class_weight='balanced',
        warm_start=True,
        random_state=seed,
    )
    for count in range(TREES_AT_A_TIME, MAX_TREES + 1, TREES_AT_A_TIME):
        trees.set_params(max_iter=count).fit(features, labels)
        if trees.n_iter_ < count or is_over():
            break

    best = int(np.argmax(trees.validation_score_))
    if best == 0:
        return None
    if best < len(trees.validation_score_) - PATIENCE / 2:
        # The last ones did harm. Without them, and with the rows that were held out:
        trees.set_params(max_iter=best, early_stopping=False, warm_start=False)
        trees.fit(features, labels)

    return trees


def choose(weights: FloatArray, count: int, uniform: float) -> np.ndarray:
    """Positions of rows chosen with probabilities in the ratio of their weights.

    None is chosen twice: where the ratio would ask for that, it is chosen with certainty. The
    choice is systematic (Madow 1949): one row from each of ``count`` equal parts of the
    probabilities.

    Args:
        weights: Weights of the rows.
        count: Number of rows to choose, at most as many as there are.
        uniform: A uniform draw, from 0 to below 1.

    Returns:
        numpy.ndarray:
            The positions, in increasing order.
    """
    cumulative = np.cumsum(inclusion_probabilities(weights, count))
    # The sum is a whole number up to rounding.
    cumulative *= count / cumulative[-1]
    positions = np.searchsorted(cumulative, uniform + np.arange(count), side='right')
    return np.unique(positions.clip(max=len(weights) - 1))


def inclusion_probabilities(weights: FloatArray, count: int) -> FloatArray:
    """``min(1, c weight)`` with ``c`` such that the sum is ``count``."""
    # Nothing is ruled out: weights must not vanish for want of digits.
    weights = np.maximum(weights / weights.max(), 1e-12)
    # With the k largest certain, c = (count - k) / (sum of the others): the first k that fits.
    order = np.argsort(-weights)
    largest = weights[order]
    rest = np.cumsum(largest[::-1])[::-1]
    certain = np.arange(count)
    fits = (count - certain) * largest[:count] <= rest[:count]
    first = int(np.argmax(fits)) if fits.any() else count
    if first == count:
        return (np.argsort(order) < count).astype(np.float64)

    return np.minimum(1.0, weights * (count - first) / rest[first])
