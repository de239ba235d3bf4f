"""The choice of rows in proportion to weights, such that they have the shares of the data."""

import math
from collections.abc import Sequence

import numpy as np

from sdv_tabdiff.quantiles import FloatArray

# Intervals of a column that the shares of the data are counted in: a byte must hold their number.
MAX_SHARES = 100

# Values this close, relative to their usual range or to themselves, are one value: a computed one
# differs by as much from those of the data, and nobody could see it.
INVISIBLE, ROUNDING = 1e-7, 1e-9

# Shares of fewer rows differ from those of the data by chance, which is theirs to keep.
MIN_ROWS_TO_RAKE = 20 * MAX_SHARES

# Rows are chosen in so many portions, each half of what is wanted yet, the last one all of it.
PORTIONS = 6

# Weights are raked in so many rounds for the first portion and for each further one. None changes a
# weight by more than a factor.
FIRST_ROUNDS, FURTHER_ROUNDS, MAX_FACTOR = 12, 4, 2.0


class Bins:
    """Intervals of a column of the data, with edges half way between two of its values.

    A sampled number counts as the value of the data next to it, so its decimals that are yet to be
    rounded make no difference.

    Args:
        values: The column; NaN where it is missing.
        most: Largest number of intervals.
    """

    def __init__(self, values: FloatArray, most: int):
        present, distinct = _without_rounding(values[~np.isnan(values)])
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


def _without_rounding(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sorted values, and the distinct ones; those that only rounding tells apart are made equal."""
    distinct = np.unique(values)
    if len(distinct) == 0:
        return values, distinct

    usual = np.ptp(np.quantile(values, (0.01, 0.99)))
    lost = INVISIBLE * usual + ROUNDING * np.abs(distinct[1:])
    distinct = distinct[np.append(True, np.diff(distinct) > lost)]
    return np.sort(distinct[np.searchsorted(distinct, values, side='right') - 1]), distinct


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
        return np.nan_to_num(self._bins.place(values), nan=self._size - 1).astype(np.uint8)

    def count(self, places: np.ndarray, weights: FloatArray) -> FloatArray:
        """Sum of the weights in each interval."""
        return np.bincount(places, weights, self._size).astype(np.float64)


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
    order = np.arange(count)
    positions = np.searchsorted(cumulative, uniform + order, side='right')
    # Rounding may let two fall into one row: the second moves on to the next.
    positions = np.maximum.accumulate(positions - order) + order
    return np.minimum(positions, len(weights) - count + order)


def choose_with_shares(
    weights: FloatArray,
    count: int,
    rows: FloatArray,
    shares: Sequence[Shares],
    uniforms: FloatArray,
) -> np.ndarray:
    """Positions of rows chosen as by ``choose``, with the shares of the data in every column.

    A choice in a given ratio misses the shares for two reasons. Where the data have what is never
    sampled, the ratio leans to what both have; raking (Deming and Stephan 1940) mends that. And
    chance plays its part in which rows are chosen; rows chosen in portions, of which each is raked
    to what the ones before it left to be wanted, leave it only the last portion.

    Args:
        weights: Weights of the rows.
        count: Number of rows to choose, at most as many as there are.
        rows: The rows, shape ``(rows, columns)``, NaN where a cell is missing.
        shares: Shares of the data in each column.
        uniforms: ``PORTIONS`` uniform draws, from 0 to below 1.

    Returns:
        numpy.ndarray:
            The positions, in increasing order.
    """
    places = [column.place(values) for column, values in zip(shares, rows.T)]
    wanted = [count * column.wanted for column in shares]
    left = np.arange(len(rows))
    chosen: list[np.ndarray] = []
    probabilities = inclusion_probabilities(weights, count)
    for portion, uniform in enumerate(uniforms, start=1):
        missing = count - sum(map(len, chosen))
        if not missing:
            break

        rounds = FIRST_ROUNDS if portion == 1 else FURTHER_ROUNDS
        here = [place[left] for place in places]
        probabilities = rake(probabilities, missing, here, wanted, rounds)
        size = missing if portion == len(uniforms) else math.ceil(missing / 2)
        taken = choose(probabilities, size, uniform)
        chosen.append(left[taken])
        wanted = [
            amount - np.bincount(place[taken], minlength=len(amount))
            for amount, place in zip(wanted, here)
        ]
        # What is left of the probability of a row, given that it was not chosen yet.
        share = size / missing
        probabilities = probabilities * (1 - share) / np.maximum(1 - share * probabilities, 1e-12)
        left, probabilities = np.delete(left, taken), np.delete(probabilities, taken)

    return np.sort(np.concatenate(chosen))


def rake(
    probabilities: FloatArray,
    count: int,
    places: Sequence[np.ndarray],
    wanted: Sequence[FloatArray],
    rounds: int,
) -> FloatArray:
    """Probabilities to be chosen, changed until rows are expected as they are wanted.

    Args:
        probabilities: Probability of each row.
        count: What they are to add up to.
        places: The interval of each row, for each column.
        wanted: Number of rows that are wanted from each interval, for each column.
        rounds: How many times to go through the columns.
    """
    for _ in range(rounds):
        for place, amount in zip(places, wanted):
            found = np.bincount(place, probabilities, len(amount))
            factor = amount / np.maximum(found, 1e-12)
            probabilities = probabilities * factor.clip(1 / MAX_FACTOR, MAX_FACTOR)[place]

        probabilities = inclusion_probabilities(probabilities, count)

    return probabilities


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
