"""Single columns of the processed table: how their cells are read, written and restricted.

A *category* is one categorical feature. A *number* is a discrete state, a point on a line, or both:
repeated values, the missing value and *equal to another column* are states, everything else is
continuous. A number with only a few distinct values is therefore one categorical feature, a plain
continuous number one numerical feature, and a zero-inflated number with gaps one of each.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import pandas as pd

from sdv_tabdiff.levels import distinct_levels
from sdv_tabdiff.quantiles import FloatArray


@dataclass(frozen=True)
class Restriction:
    """What a cell may be, short of knowing it.

    Args:
        low: Smallest number.
        high: Largest number.
        allowed: The only values allowed, or None.
        missing: Whether the cell may be missing.
        leads: Whether the cell is drawn before all others, which must follow it.
    """

    low: float = -math.inf
    high: float = math.inf
    allowed: frozenset[Any] | None = None
    missing: bool = False
    leads: bool = True

    @property
    def is_free(self) -> bool:
        """Whether the cell may have any value, be it missing or not."""
        return self == Restriction(missing=self.missing, leads=self.leads)


class Allowed(NamedTuple):
    """What a restriction leaves of a column, as the model sees it.

    Attributes:
        log_weights: Of each level; ``-inf`` where it is not allowed.
        bounds: Lowest and highest standardised number.
    """

    log_weights: FloatArray
    bounds: tuple[float, float] = (-np.inf, np.inf)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left."""
        return bool(len(self.log_weights)) and bool(np.isneginf(self.log_weights).all())


class ColumnCodec(Protocol):
    """How one column (with its flag of missing values, if any) is read and written."""

    name: Any
    numerical: bool

    def fit(self, frame: pd.DataFrame) -> None:
        """Learn the column's levels."""

    @property
    def num_levels(self) -> int:
        """Number of levels; 0 or 1 if there is nothing to choose."""

    @property
    def num_ordered(self) -> int:
        """How many of the first levels stand in an order."""

    @property
    def levels(self) -> list:
        """What the codes stand for, where that can be said."""

    def encode(self, frame: pd.DataFrame) -> tuple[np.ndarray, FloatArray | None]:
        """Codes of the levels, and numbers (NaN where a row has none) if ``numerical``."""

    def decode(
        self,
        codes: np.ndarray,
        numbers: np.ndarray | None,
        decoded: Mapping[Any, pd.Series],
    ) -> dict[Any, pd.Series]:
        """The columns that these codes and numbers describe, beside those decoded before."""

    def appearance(self, frame: pd.DataFrame) -> FloatArray:
        """One number for each row that says what its cell looks like; NaN if it is missing."""

    def restrict(self, restriction: Restriction) -> Allowed:
        """Which levels and numbers a restriction allows."""


class CategoryColumn:
    """A column of levels, whatever they are; a missing value is a level of its own."""

    numerical = False

    def __init__(self, name: Any, ordered: bool = False):
        self.name = name
        self._ordered = ordered

    def fit(self, frame: pd.DataFrame) -> None:
        """Learn the levels: sorted if they have an order, else as they appear."""
        column = frame[self.name]
        self._dtype = column.dtype
        self._levels = distinct_levels(column)
        if self._ordered:
            self._levels = self._levels.sort_values()

        self._has_missing = bool(column.isna().any())

    @property
    def num_levels(self) -> int:
        """Levels, and one more if there are missing values."""
        return len(self._levels) + self._has_missing

    def encode(self, frame: pd.DataFrame) -> tuple[np.ndarray, None]:
        """Codes of the levels; the last one stands for a missing value."""
        codes = self._levels.get_indexer(frame[self.name].to_numpy())
        return np.where(codes < 0, self.num_levels - 1, codes), None

    def decode(
        self,
        codes: np.ndarray,
        numbers: np.ndarray | None,
        decoded: Mapping[Any, pd.Series],
    ) -> dict[Any, pd.Series]:
        """The column, in its own dtype."""
        present = codes < len(self._levels)
        if not present.any():
            values = pd.Series(np.full(len(codes), np.nan), dtype=object)
        else:
            values = pd.Series(self._levels.take(np.where(present, codes, 0)), dtype=object)
            values = values.where(present, np.nan)

        return {self.name: values.astype(self._dtype)}

    @property
    def num_ordered(self) -> int:
        """How many of the first levels stand in an order."""
        return len(self._levels) if self._ordered else 0

    @property
    def levels(self) -> list:
        """The levels in the order of their codes; a missing value is ``nan`` and comes last."""
        return [*self._levels, *([np.nan] if self._has_missing else [])]

    def appearance(self, frame: pd.DataFrame) -> FloatArray:
        """The codes; missing is one of them."""
        codes, _ = self.encode(frame)
        return codes.astype(np.float64)

    def restrict(self, restriction: Restriction) -> Allowed:
        """The allowed levels; a range says nothing about them."""
        allowed = np.ones(self.num_levels, dtype=bool)
        if restriction.allowed is not None:
            allowed[: len(self._levels)] = self._levels.isin(list(restriction.allowed))
        if self._has_missing:
            allowed[-1] = restriction.missing

        return Allowed(np.where(allowed, 0.0, -np.inf))
