"""From partly known rows to whole ones."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from sdv_tabdiff.condition_checks import range_points
from sdv_tabdiff.conditions import Between, PartialRows
from sdv_tabdiff.constrained import ConstraintView, contradictory_rows, valid_rows
from sdv_tabdiff.expression import Expression
from sdv_tabdiff.facts import ColumnFacts
from sdv_tabdiff.knowledge import Knowledge

ROWS_PER_BATCH = 8192

# Where a constraint hides a known value from the model, this many rows are drawn and the one that
# comes nearest to the value is taken.
CANDIDATES = 15

# How many rows to draw in a second try, and how many of them for a single row.
CANDIDATES_PER_TRY, MAX_COPIES = 2048, 256


class Completer:
    """Fills in rows of a fitted synthesizer's table.

    All rows go through the sampler together. A row is drawn again only if it violates a constraint
    or a restriction that could not be enforced while sampling.

    Args:
        synthesizer: The fitted synthesizer.
        guidance: Strength of the guidance.
        whole: Columns in which no cell may stay missing that is not known to be.
        strict: Whether to leave out a row that never met the constraints. If not, its last draw is
            taken as it is.
        processor: SDV's data processor, if not the synthesizer's own, whose keys and made-up values
            are then left alone.
    """

    def __init__(
        self,
        synthesizer: Any,
        guidance: float,
        whole: frozenset[Any] = frozenset(),
        strict: bool = True,
        processor: Any = None,
    ):
        self._synthesizer = synthesizer
        self._facts: dict[Any, ColumnFacts] = synthesizer._facts
        self._constraints = synthesizer._get_fitted_constraints()
        self._guidance = guidance
        self._whole = whole
        self._strict = strict
        self._processor = processor or synthesizer._data_processor
        # Rows that are drawn and not taken must not use up keys.
        self._scratch = copy.deepcopy(self._processor) if self._constraints else self._processor

    def complete(
        self,
        rows: PartialRows,
        max_tries: int = 100,
        batch_size: int = ROWS_PER_BATCH,
        on_rows: Callable[[pd.DataFrame], None] | None = None,
        knowledge: Knowledge | None = None,
    ) -> pd.DataFrame:
        """Whole rows for partly known ones.

        Args:
            rows (PartialRows):
                The rows.
            max_tries (int):
                How often to draw a row at most.
            batch_size (int):
                How many rows to work on at a time.
            on_rows (Callable or None):
                Is handed each batch of finished rows.
            knowledge (Knowledge or None):
                What ``knowledge`` gave for these rows, if it was asked before.

        Returns:
            pandas.DataFrame:
                The rows; their index are positions in ``rows``. Rows for which no valid completion
                was found are left out.
        """
        if knowledge is None:
            knowledge = self.knowledge(rows)

        batches = []
        for start in range(0, max(len(rows), 1), batch_size):
            positions = np.arange(start, min(start + batch_size, len(rows)))
            batches.append(self._batch(rows, knowledge, positions, max_tries))
            if on_rows is not None:
                on_rows(batches[-1])

        return _concat(batches)

    def _batch(
        self, rows: PartialRows, knowledge: Knowledge | None, pending: np.ndarray, max_tries: int
    ) -> pd.DataFrame:
        found = []
        hopeless = np.empty(0, dtype=int)
        if not self._strict:
            contradictory = contradictory_rows(rows.take(pending), self._constraints)
            hopeless, pending = pending[contradictory], pending[~contradictory]

        for attempt in range(max_tries):
            if len(pending) == 0:
                break

            # Rows that failed once are hard, and a few rows cost no more than many.
            copies = max(CANDIDATES_PER_TRY // len(pending), 1) if attempt else 1
            found.append(self._nearest(rows, knowledge, pending, min(copies, MAX_COPIES)))
            pending = np.setdiff1d(pending, found[-1].index)

        hopeless = np.append(hopeless, pending)
        if not found or (len(hopeless) and not self._strict):
            found.append(self._sample_pasted(rows, knowledge, hopeless))

        return self._with_keys(_concat(found).sort_index(), rows)

    def knowledge(self, rows: PartialRows) -> Knowledge | None:
        """What the model is told about rows; None if there is nothing to model."""
        model = self._synthesizer._model
        if not model:
            return None

        if self._constraints:
            rows = ConstraintView(self._synthesizer, self._facts).express(rows)

        transformers = self._synthesizer._field_transformers()
        return Expression(transformers, model.codec, self._facts).knowledge(rows, self._whole)

    def _nearest(
        self,
        rows: PartialRows,
        knowledge: Knowledge | None,
        positions: np.ndarray,
        copies: int,
    ) -> pd.DataFrame:
        """One valid row for as many positions as possible, near to what was asked for."""
        drawn, owners, distances = self._draw(rows, knowledge, np.repeat(positions, copies))
        far = np.unique(owners[distances > 0])
        if len(far) and copies < CANDIDATES:
            more = self._draw(rows, knowledge, np.repeat(far, CANDIDATES))
            drawn = pd.concat([drawn, more[0]], ignore_index=True)
            owners, distances = np.append(owners, more[1]), np.append(distances, more[2])

        nearest_first = np.lexsort((distances, owners))
        _, first = np.unique(owners[nearest_first], return_index=True)
        best = nearest_first[first]
        return drawn.iloc[best].set_axis(owners[best], axis=0)

    def _draw(
        self, rows: PartialRows, knowledge: Knowledge | None, positions: np.ndarray
    ) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
        """Valid rows, the positions that they are for, and how far off the model was."""
        sampled = self._sample(knowledge, positions)
        positions = positions[sampled.index]
        sampled = sampled.reset_index(drop=True)
        part = rows.take(positions)
        distances = self._distances(sampled, part)
        whole = self._with_known(sampled, part)
        valid = valid_rows(self._constraints, whole) & self._within_limits(whole, part)
        return whole[valid].reset_index(drop=True), positions[valid], distances[valid]

    def _sample_pasted(
        self, rows: PartialRows, knowledge: Knowledge | None, positions: np.ndarray
    ) -> pd.DataFrame:
        """Rows that may violate constraints, because their known cells do."""
        sampled = self._sample(knowledge, positions)
        positions = positions[sampled.index]
        whole = self._with_known(sampled.reset_index(drop=True), rows.take(positions))
        return whole.set_axis(positions, axis=0)

    def _sample(self, knowledge: Knowledge | None, positions: np.ndarray) -> pd.DataFrame:
        """Rows as the model draws them, through transformers and constraints."""
        synthesizer = self._synthesizer
        processed = pd.DataFrame(index=pd.RangeIndex(len(positions)))
        if knowledge is not None:
            processed = synthesizer._model.complete(knowledge.take(positions), self._guidance)

        sampled = self._scratch.reverse_transform(processed)
        return synthesizer.reverse_transform_constraints(sampled)

    def _with_keys(self, frame: pd.DataFrame, rows: PartialRows) -> pd.DataFrame:
        """The rows with keys of the synthesizer's own where none are known."""
        if self._scratch is self._processor or not self._processor._keys or frame.empty:
            return frame

        keys = self._processor.generate_keys(len(frame)).set_axis(frame.index, axis=0)
        for name in keys.columns:
            if name in rows.known.columns:
                keys[name] = frame[name].where(rows.known.loc[frame.index, name], keys[name])

        return frame.assign(**{name: keys[name].astype(frame[name].dtype) for name in keys.columns})

    def _distances(self, sampled: pd.DataFrame, part: PartialRows) -> np.ndarray:
        """How far the sampled cells are from the known ones, summed over columns.

        Only constraints can keep a known value from the model, so without them it is 0.
        """
        distances = np.zeros(len(sampled))
        for name in part.frame.columns if self._constraints else []:
            known = part.known[name].to_numpy()
            facts = self._facts.get(name)
            if facts is None or not known.any() or not facts.is_modelled:
                continue

            given, drawn = part.frame.loc[known, name], sampled.loc[known, name]
            distances[known] += distance(given, drawn, facts)

        return distances

    def _with_known(self, sampled: pd.DataFrame, part: PartialRows) -> pd.DataFrame:
        columns = {
            name: self._pasted(sampled[name], part.frame[name], part.known[name].to_numpy())
            for name in part.frame.columns
            if name in sampled.columns
        }
        return sampled.assign(**columns) if columns else sampled

    def _pasted(self, column: pd.Series, given: pd.Series, known: np.ndarray) -> pd.Series:
        if not known.any():
            return column

        values = given[known]
        if column.name in self._facts:
            values = self._facts[column.name].like_column(values)
        if known.all():
            return values

        mixed = column.astype(object)
        mixed[known] = values.astype(object)
        try:
            return mixed.astype(column.dtype)
        except (TypeError, ValueError, OverflowError):
            return mixed.infer_objects()

    def _within_limits(self, frame: pd.DataFrame, part: PartialRows) -> np.ndarray:
        """Which rows are in their ranges and sets, and nowhere missing that must not be."""
        within = np.ones(len(frame), dtype=bool)
        for name, (options, index) in part.limits.items():
            for number, option in enumerate(options):
                rows = index == number
                within[rows] &= _meets(frame.loc[rows, name], option, self._facts[name])

        for name in self._whole:
            unknown = np.ones(len(frame), dtype=bool)
            if name in part.known.columns:
                unknown = ~part.known[name].to_numpy()

            within &= ~unknown | frame[name].notna().to_numpy()

        return within


def _concat(frames: list[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat([frame for frame in frames if len(frame)] or frames[:1])


def _meets(values: pd.Series, option: Any, facts: ColumnFacts) -> np.ndarray:
    if not isinstance(option, Between):
        choices = pd.Series(list(option.choices), dtype=object)
        allowed = values.isin(list(choices.dropna()))
        return (allowed | (values.isna() & choices.isna().any())).to_numpy(dtype=bool)

    low, high = range_points(option, facts)
    present = values.notna().to_numpy()
    points = facts.to_points(values[present])
    met = np.zeros(len(values), dtype=bool)
    met[present] = ((points >= low) & (points <= high)).to_numpy()
    return met


def distance(given: pd.Series, sampled: pd.Series, facts: ColumnFacts) -> np.ndarray:
    """Distance of values from 0 to 1; rounding counts as none."""
    different = (given.isna() != sampled.isna()).to_numpy().astype(float)
    both = (given.notna() & sampled.notna()).to_numpy()
    if facts.is_ordered and facts.high != facts.low:
        span = facts.high - facts.low
        gap = (facts.to_points(given[both]) - facts.to_points(sampled[both])).abs() / span
        different[both] = np.where(gap < 1e-4, 0.0, np.minimum(gap, 1.0))
    else:
        different[both] = (given[both].astype(object) != sampled[both].astype(object)).to_numpy()

    return different
