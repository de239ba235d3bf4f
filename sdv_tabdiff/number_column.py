"""A column of numbers: which of its values are states, and how the others are standardised."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr

from sdv_tabdiff.columns import Allowed, Restriction
from sdv_tabdiff.copies import (
    ROUNDING,
    CopyShares,
    Scale,
    Values,
    find_sources,
    which_source,
)
from sdv_tabdiff.functions import Function
from sdv_tabdiff.marginals import Marginal
from sdv_tabdiff.quantiles import MAX_DISCRETE_VALUES, FloatArray, discrete_values


class NumberColumn:
    """A column of numbers: states, a continuous part, or both.

    Once fitted, ``num_present`` is the number of rows that are not missing. If there is a
    continuous part, ``num_continuous`` is the number of its rows, and ``marginal`` has the
    quantiles of its standardised numbers.

    Args:
        name: The column.
        flag: The column that says where it is missing, or None if NaN does.
        max_states: Number of distinct values up to which the column is all states.
        scale: Between the column's values and its scores, or None if that is not known.
        candidates: Columns before this one that it may equal.
    """

    def __init__(
        self,
        name: Any,
        flag: Any = None,
        max_states: int = MAX_DISCRETE_VALUES,
        scale: Scale | None = None,
        candidates: Sequence['NumberColumn'] = (),
    ):
        self.name = name
        self.flag = flag
        self._max_states = max_states
        self.scale = scale
        self._sources = list(candidates)

    @property
    def names(self) -> list[Any]:
        """The columns that it is read from."""
        return [self.name] if self.flag is None else [self.name, self.flag]

    def _read(self, frame: pd.DataFrame | Mapping[Any, pd.Series]) -> tuple[FloatArray, np.ndarray]:
        values = frame[self.name].to_numpy(dtype=np.float64, na_value=np.nan)
        missing = np.isnan(values)
        if self.flag is not None:
            missing = missing | (frame[self.flag].to_numpy(dtype=np.float64) > 0.5)

        return values, missing

    def fit(self, frame: pd.DataFrame) -> None:
        """Learn which values are states, and the scale and range of the others."""
        self._dtype = frame[self.name].dtype
        values, missing = self._read(frame)
        present = values[~missing]
        self.num_present = len(present)
        self._states = discrete_values(present, self._max_states)
        self._has_missing = bool(missing.any())
        is_open = ~missing & ~np.isin(values, self._states)
        self._fit_sources(frame, is_open)
        source = self.source_of(frame)[is_open]
        self._copy_shares = CopyShares(values[is_open], source, len(self._sources))
        continuous = values[is_open][source < 0]
        self.numerical = len(continuous) > 0
        if self.numerical:
            self._mean, self._scale = continuous.mean(), continuous.std() or 1.0
            self._low, self._high = continuous.min(), continuous.max()
            self.num_continuous = len(continuous)
            self.marginal = Marginal((continuous - self._mean) / self._scale)

    def _fit_sources(self, frame: pd.DataFrame, is_open: np.ndarray) -> None:
        """Keep those of the candidates that the column often equals."""
        candidates = {column.name: column for column in self._sources}
        if self.scale is None or not self._max_states or not candidates:
            self._sources = []
            return

        values = {name: column.values(frame) for name, column in candidates.items()}
        found = find_sources(self.values(frame), values, is_open)
        self._sources = [candidates[name] for name in found]

    def values(self, frame: pd.DataFrame | Mapping[Any, pd.Series]) -> Values:
        """The values behind the scores of a column that has a scale."""
        assert self.scale is not None
        return Values.read(self.scale, *self._read(frame))

    def source_of(self, frame: pd.DataFrame) -> np.ndarray:
        """The position of the source that each row equals; -1 if none."""
        if not self._sources:
            return np.full(len(frame), -1)

        return which_source(self.values(frame), (source.values(frame) for source in self._sources))

    @property
    def is_copying(self) -> bool:
        """Whether it often equals another column."""
        return bool(self._sources)

    def copy_shares(self, frame: pd.DataFrame) -> list[tuple['NumberColumn', FloatArray]]:
        """The sources, and in what share of the cases a row with such a value equals them."""
        scores, _ = self._read(frame)
        return list(zip(self._sources, self._copy_shares.at(scores)))

    def is_continuous(self, frame: pd.DataFrame) -> np.ndarray:
        """Rows whose number is neither a state nor equal to a source, as far as that is known."""
        _, numbers = self.encode(frame)
        return np.full(len(frame), False) if numbers is None else ~np.isnan(numbers)

    def to_source(self, frame: pd.DataFrame, source: 'NumberColumn') -> FloatArray:
        """The scores that this column's values have in a source; NaN beyond its range."""
        assert source.scale is not None
        values = self.values(frame).numbers
        scores = source.scale.forward(values)
        is_inside = np.isclose(source.scale.inverse(scores), values, rtol=ROUNDING, atol=0)
        return np.where(is_inside, scores, np.nan)

    @property
    def bounds(self) -> tuple[float, float]:
        """Lowest and highest standardised number of the training data."""
        return (self._low - self._mean) / self._scale, (self._high - self._mean) / self._scale

    @property
    def num_levels(self) -> int:
        """States, missing, sources, and 'continuous' where there is something to tell it from."""
        states = self._first_copy + len(self._sources)
        return states + (1 if self.numerical and states else 0)

    @property
    def num_states(self) -> int:
        """Number of states that stand for a value, the first levels, in increasing order."""
        return len(self._states)

    @property
    def _first_copy(self) -> int:
        """The code of 'equal to the first source'."""
        return len(self._states) + self._has_missing

    @property
    def num_ordered(self) -> int:
        """How many of the first levels stand in an order: the states."""
        return len(self._states)

    @property
    def levels(self) -> list:
        """The values of the states, ``nan`` for those without a value of their own."""
        return [*self._states, *[np.nan] * (self.num_levels - len(self._states))]

    def encode(self, frame: pd.DataFrame) -> tuple[np.ndarray, FloatArray | None]:
        """Codes of the states, the last one for 'continuous', and the standardised numbers."""
        values, missing = self._read(frame)
        codes = np.full(len(values), max(self.num_levels - 1, 0))
        has_number = ~missing
        if len(self._states):
            nearest = self._nearest_states(values)
            # Without a continuous part, a value between the states can only be one of them.
            is_state = ~missing & ((self._states[nearest] == values) | (not self.numerical))
            codes[is_state] = nearest[is_state]
            has_number &= ~is_state

        if self._has_missing:
            codes[missing] = len(self._states)

        if not self.numerical:
            return codes, None

        source = self.source_of(frame)
        is_copy = has_number & (source >= 0)
        codes[is_copy] = self._first_copy + source[is_copy]
        has_number &= ~is_copy

        return codes, np.where(has_number, (values - self._mean) / self._scale, np.nan)

    def appearance(self, frame: pd.DataFrame) -> FloatArray:
        """The values, or the scores if their scale is not known; NaN where missing."""
        if self.scale is not None:
            return self.values(frame).numbers

        values, missing = self._read(frame)
        return np.where(missing, np.nan, values)

    def _nearest_states(self, values: FloatArray) -> np.ndarray:
        return nearest_positions(self._states, values)

    def restrict(self, restriction: Restriction) -> Allowed:
        """The allowed states, and the bounds of the continuous part.

        A range takes away from the continuous part as well as from the states. Its log weight is
        that of the rows left: the continuous numbers of a column are normal scores.
        """
        states = (self._states >= restriction.low) & (self._states <= restriction.high)
        if restriction.allowed is not None:
            states &= np.isin(self._states, list(restriction.allowed))

        weights = np.where(states, 0.0, -np.inf)
        if self._has_missing:
            weights = np.append(weights, 0.0 if restriction.missing else -np.inf)

        if not self.numerical:
            return Allowed(weights)

        # Nothing is known about the source, so a range or a set cannot be kept by a copy.
        of_copies = 0.0 if restriction.is_free else -np.inf
        weights = np.append(weights, np.full(len(self._sources), of_copies))
        low, high = max(restriction.low, self._low), min(restriction.high, self._high)
        bounds = (low - self._mean) / self._scale, (high - self._mean) / self._scale
        continuous = low <= high and restriction.allowed is None
        if low == self._low and high == self._high and continuous:
            mass, bounds = 0.0, (-np.inf, np.inf)
        else:
            mass = np.log(max(np.diff(ndtr(bounds))[0], 1e-9)) if continuous else -np.inf

        return Allowed(np.append(weights, mass)[: max(self.num_levels, 1)], bounds)

    def decode(
        self,
        codes: np.ndarray,
        numbers: np.ndarray | None,
        decoded: Mapping[Any, pd.Series],
    ) -> dict[Any, pd.Series]:
        """The column, and its flag of missing values if it has one."""
        values = np.zeros(len(codes))
        if numbers is not None:
            values = numbers.astype(np.float64) * self._scale + self._mean
            values = values.clip(self._low, self._high)

        if len(self._states):
            is_state = codes < len(self._states)
            values = np.where(is_state, self._states[np.where(is_state, codes, 0)], values)

        for position, source in enumerate(self._sources):
            copied = self._copied(source.values(decoded))
            # A source that is missing has nothing to copy: the number beside it is as good.
            is_copy = (codes == self._first_copy + position) & ~np.isnan(copied)
            values = np.where(is_copy, copied, values)

        missing = np.full(len(codes), False)
        if self._has_missing:
            missing = codes == len(self._states)

        return self._written(values, missing)

    def _written(self, values: FloatArray, missing: np.ndarray) -> dict[Any, pd.Series]:
        """The column, and its flag of missing values if it has one."""
        if self.flag is None:
            return {self.name: self._cast(np.where(missing, np.nan, values))}

        return {
            self.name: self._cast(np.where(missing, 0.0, values)),
            self.flag: pd.Series(missing.astype(np.float64)),
        }

    def computed(
        self, decoded: Mapping[Any, pd.Series], values: FloatArray, function: Function
    ) -> dict[Any, pd.Series]:
        """The column, and its flag, with other values: those that follow from another column.

        Args:
            decoded: The columns as they are.
            values: What the function says; NaN where the other column is missing. There, and where
                this one may be missing on its own, it stays as it is.
            function: The function.
        """
        assert self.scale is not None
        scores, missing = self._read(decoded)
        unsaid = np.isnan(values)
        if function.always_with_source:
            missing = missing & unsaid
        if function.never_without_source:
            missing = missing | unsaid

        if self.numerical:
            found = self._scores_of(values)
        else:
            # Nearest by values: a state's score says how frequent it is, too.
            levels = self.scale.inverse(self._states)
            found = self._states[nearest_positions(levels, values)]

        return self._written(np.where(unsaid, scores, found), missing)

    def _scores_of(self, values: FloatArray) -> FloatArray:
        """Scores of computed values. Rounding tells none from a state or a repeated value."""
        assert self.scale is not None
        scores = self.scale.forward(values)
        span = np.ptp(self.scale.inverse(np.array([-np.inf, np.inf])))
        # The states last: data may have values beside them that differ by rounding, too.
        for known in (self.scale.forward(self.scale.repeated), self._states):
            if len(known):
                levels = self.scale.inverse(known)
                nearest = nearest_positions(levels, values)
                allowed = ROUNDING * (span + np.abs(levels[nearest]))
                is_known = np.abs(values - levels[nearest]) <= allowed
                scores = np.where(is_known, known[nearest], scores)

        return scores

    def _copied(self, source: Values) -> FloatArray:
        """The scores that the values of another column have in this one."""
        assert self.scale is not None
        return self.scale.forward(source.numbers)

    def _cast(self, values: FloatArray) -> pd.Series:
        column = pd.Series(values)
        if self._dtype.kind not in 'iub':
            return column.astype(self._dtype)

        return column if column.isna().any() else column.round().astype(self._dtype)


def nearest_positions(levels: FloatArray, values: FloatArray) -> np.ndarray:
    """The position of the one of some sorted levels that each value is nearest to."""
    right = np.searchsorted(levels, values).clip(max=len(levels) - 1)
    left = (right - 1).clip(min=0)
    nearer = np.abs(values - levels[left]) < np.abs(levels[right] - values)
    return np.where(nearer, left, right)
