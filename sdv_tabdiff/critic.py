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

from sdv_tabdiff.choice import MIN_ROWS_TO_RAKE, Bins, Shares, choose, choose_with_shares
from sdv_tabdiff.quantiles import FloatArray

# Fewer rows of the data say too little about ratios of densities; more add little.
MIN_ROWS, MAX_ROWS = 2000, 50_000

# Trees are added as long as they help on held-out rows of both kinds.
MAX_TREES, TREES_AT_A_TIME = 3000, 200
LEAVES, LEARNING_RATE = 31, 0.1
HELD_OUT_SHARE, PATIENCE = 0.15, 100

# This share of the sampled rows may look so real that they are kept with certainty. A few more
# rows than wanted are sampled in any case: there must be some to choose from.
CERTAIN_SHARE, MIN_ROWS_PER_ROW = 0.01, 1.25

# The trees look at numbers through so many bins.
MAX_BINS = 255


class Critic:
    """Tells sampled rows from rows of the data, and weighs them accordingly.

    Once fitted, ``rows_per_row`` is how many rows the odds ask for to choose one from.

    Args:
        seed: Seed of which rows are held out.
        hidden: How many of the last columns the trees do not look at: only their shares are kept.
    """

    def __init__(self, seed: int, hidden: int = 0):
        self._hidden = hidden
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
        self._bins = [Bins(column, MAX_BINS) for column in real.T[: real.shape[1] - self._hidden]]
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

    def choose(self, rows: FloatArray, count: int, uniforms: FloatArray) -> np.ndarray:
        """Positions of rows that might be of the data.

        Args:
            rows: Sampled rows.
            count: How many to choose, at most as many as there are.
            uniforms: ``PORTIONS`` uniform draws, from 0 to below 1.
        """
        odds = np.exp(self.log_odds(rows))
        if len(rows) < MIN_ROWS_TO_RAKE:
            return choose(odds, count, uniforms[0])

        return choose_with_shares(odds, count, rows, self._shares, uniforms)

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
