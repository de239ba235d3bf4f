"""Numbers that equal another column in many rows, and what that makes of them.

A bill paid in full, a delivery on the day of the order, a minimum that is the maximum because there
was one value: in such rows a number is no draw from a continuum. That it *equals another column* is
a state of the column, as *zero* and *missing* are, and the value follows.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from sdv_tabdiff.quantiles import FloatArray

# A column is a source of another one if so many of its rows equal it; the best few are taken. If
# nearly all do, the other column is left as it is: who gives its value as a condition would else
# say that the row is one of the few exceptions.
MIN_COPY_SHARE, MAX_COPY_SHARE = 0.02, 0.6
MAX_SOURCES = 2

# Values that went through scores and back differ by rounding, relative to the column's range.
ROUNDING = 1e-9

# How often a column equals a source depends on its value: shares of so many neighbouring rows each.
ROWS_PER_SHARE, MAX_SHARES = 50, 20


class Scale(Protocol):
    """Between the values of a column and its scores, in both directions.

    ``repeated`` are values that several rows share, sorted; ``step`` is what all values are
    multiples of, if that is known.
    """

    repeated: FloatArray
    step: float | None

    def forward(self, values: FloatArray) -> FloatArray:
        """Scores of values."""

    def inverse(self, scores: FloatArray) -> FloatArray:
        """Values of scores."""


@dataclass(frozen=True)
class Values:
    """The values of a column: where its scores are on, and how to read them.

    Args:
        scale: Between values and scores.
        numbers: The values, NaN where missing.
    """

    scale: Scale
    numbers: FloatArray

    @classmethod
    def read(cls, scale: Scale, scores: FloatArray, missing: np.ndarray) -> 'Values':
        """The values behind a column of scores."""
        return cls(scale, np.where(missing, np.nan, scale.inverse(scores)))

    def equal(self, other: 'Values') -> np.ndarray:
        """In which rows two columns have the same value."""
        present = self.numbers[~np.isnan(self.numbers)]
        tolerance = ROUNDING * np.ptp(present) if len(present) else 0.0
        with np.errstate(invalid='ignore'):
            return np.abs(self.numbers - other.numbers) <= tolerance


def find_sources(
    column: Values, candidates: Mapping[Any, Values], open_rows: np.ndarray
) -> list[Any]:
    """The columns that another one often equals, the most frequent first.

    Args:
        column: The column.
        candidates: Columns that it may follow.
        open_rows: Rows whose value is not explained by a state of the column itself.
    """
    sources: list[Any] = []
    unexplained = open_rows
    equal = {name: column.equal(other) & open_rows for name, other in candidates.items()}
    while equal and len(sources) < MAX_SOURCES:
        best = max(equal, key=lambda name: equal[name].sum())
        if equal[best].sum() < MIN_COPY_SHARE * len(open_rows):
            break

        sources.append(best)
        unexplained = unexplained & ~equal.pop(best)
        equal = {name: rows & unexplained for name, rows in equal.items()}

    few_left = unexplained.sum() < (1 - MAX_COPY_SHARE) * open_rows.sum()
    return [] if few_left else sources


class CopyShares:
    """How often rows equal each of several sources, by the value of the column that does.

    Args:
        scores: The column in rows whose value is not explained by a state of the column itself.
        source: The position of the source that each of them equals; -1 if none.
        num_sources: Number of sources.
    """

    def __init__(self, scores: FloatArray, source: np.ndarray, num_sources: int):
        parts = min(max(len(scores) // ROWS_PER_SHARE, 1), MAX_SHARES)
        levels = np.arange(1, parts) / parts
        self._edges = np.unique(np.quantile(scores, levels)) if len(scores) else np.empty(0)
        part = self._part(scores)
        rows = np.bincount(part, minlength=len(self._edges) + 1)
        self._shares = [
            np.bincount(part[source == position], minlength=len(rows)) / rows.clip(min=1)
            for position in range(num_sources)
        ]

    def _part(self, scores: FloatArray) -> np.ndarray:
        return np.searchsorted(self._edges, scores, side='right')

    def at(self, scores: FloatArray) -> list[FloatArray]:
        """For each source, the shares of the rows with such values that equal it."""
        part = self._part(scores)
        return [shares[part] for shares in self._shares]


def which_source(column: Values, sources: Iterable[Values]) -> np.ndarray:
    """The position of the first source that each row equals; -1 if none."""
    found = np.full(len(column.numbers), -1)
    for position, source in reversed(list(enumerate(sources))):
        found[column.equal(source)] = position

    return found
