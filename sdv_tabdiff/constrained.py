"""Known cells seen through constraints.

Constraints of SDV replace columns by others before the model sees them: two ordered numbers become
the lower one and a difference. What then is known of the new columns when only some of the old
ones are? Rather than teaching this to every kind of constraint, it is tried out: donors, rows
sampled freely, get the known values, go through the constraints, and whatever all of them agree on
is known.
"""

import copy
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from sdv.cag import OneHotEncoding, Range
from sdv.cag._errors import ConstraintNotMetError

from sdv_tabdiff.conditions import OneOf, PartialRows
from sdv_tabdiff.facts import ColumnFacts

NUM_DONORS = 500
DONORS_PER_ROW = 32
MAX_TRIED_COLUMNS = 3
SEED = 0


def valid_rows(constraints: Iterable[Any], frame: pd.DataFrame) -> np.ndarray:
    """Which rows meet all constraints; one that needs other columns is left out of account."""
    valid = np.ones(len(frame), dtype=bool)
    for constraint in constraints:
        valid &= _is_valid(constraint, frame)

    return valid


def _is_valid(constraint: Any, frame: pd.DataFrame) -> np.ndarray:
    try:
        return np.asarray(constraint.is_valid(frame), dtype=bool)
    except Exception:
        return np.ones(len(frame), dtype=bool)


def check_constraints(rows: PartialRows, constraints: list[Any]) -> None:
    """Raise if known cells contradict a constraint.

    Raises:
        ConstraintNotMetError:
            Naming the constraint, and columns and values of the first such row.
    """
    for constraint in constraints:
        for part in _contradictions(rows, constraint):
            raise ConstraintNotMetError(
                'Provided conditions are not valid for the given constraints. The values '
                f"{part.iloc[0].to_dict()} do not meet '{_name_of(constraint)}'."
            )


def contradictory_rows(rows: PartialRows, constraints: list[Any]) -> np.ndarray:
    """Which rows cannot meet the constraints, whatever their other cells will be."""
    contradictory = np.zeros(len(rows), dtype=bool)
    for constraint in constraints:
        for part in _contradictions(rows, constraint):
            contradictory[part.index] = True

    return contradictory


def _contradictions(rows: PartialRows, constraint: Any) -> Iterator[pd.DataFrame]:
    """Known cells that contradict a constraint, by which columns are known."""
    columns = _columns_of(constraint) or list(rows.frame.columns)
    given = [name for name in columns if name in rows.frame.columns]
    for names, positions in _known_patterns(rows, given):
        part = rows.frame.loc[positions, names].infer_objects()
        valid = _is_valid(constraint, part)
        if isinstance(constraint, (Range, OneHotEncoding)) and len(names) < len(columns):
            valid = _can_be_valid(constraint, part)
        if not valid.all():
            yield part[~valid]


def _columns_of(constraint: Any) -> list[Any]:
    """The columns of one of SDV's own constraints; none if it is the user's."""
    ends = ('_low_column_name', '_middle_column_name', '_high_column_name', 'column_name')
    names = [getattr(constraint, end) for end in ends if hasattr(constraint, end)]
    for several in ('column_names', '_column_names'):
        names = names or list(getattr(constraint, several, []))

    return names


def _can_be_valid(constraint: Any, part: pd.DataFrame) -> np.ndarray:
    """Whether some values of the other columns meet the constraint.

    Numbers that are ordered or add up to one can be met, if at all, by values at, between or beyond
    the known ones.
    """
    others = [name for name in _columns_of(constraint) if name not in part.columns]
    is_text = part.select_dtypes('object').shape[1] > 0
    if is_text or len(others) > MAX_TRIED_COLUMNS or part.isna().any(axis=None):
        return np.ones(len(part), dtype=bool)

    low, high = part.min(axis=1), part.max(axis=1)
    unit = pd.Timedelta(days=1) if pd.api.types.is_datetime64_any_dtype(low) else 1
    beyond = [low - 2 * unit, low - unit, high + unit, high + 2 * unit]
    candidates = [low, high, low + (high - low) / 2, *beyond]
    possible = np.zeros(len(part), dtype=bool)
    for choice in itertools.product(candidates, repeat=len(others)):
        possible |= _is_valid(constraint, part.assign(**dict(zip(others, choice))))

    return possible


def _name_of(constraint: Any) -> str:
    return type(getattr(constraint, 'programmable_constraint', constraint)).__name__


def _known_patterns(
    rows: PartialRows, columns: Iterable[Any]
) -> Iterator[tuple[list[Any], np.ndarray]]:
    """Rows with the same known columns, and which those are."""
    columns = list(columns)
    if not columns:
        return

    patterns, group = np.unique(rows.known[columns].to_numpy(), axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        names = [name for name, known in zip(columns, pattern) if known]
        if names:
            yield names, np.flatnonzero(group.ravel() == number)


class ConstraintView:
    """The table as the model sees it behind the constraints.

    Args:
        synthesizer: A fitted synthesizer with constraints.
        facts: What is known of each column.
    """

    def __init__(self, synthesizer: Any, facts: dict[Any, ColumnFacts]):
        self._synthesizer = synthesizer
        self._constraints = synthesizer._get_fitted_constraints()
        self._facts = facts
        self._rng = np.random.default_rng(SEED)
        self._donors = self._sample_donors()
        seen = self._transform(self._donors)
        self.derived: list[Any] = []
        self.touched: set[Any] = set()
        if seen is None:
            return

        kept = [name for name in self._donors if name in seen and _same(self._donors, seen, name)]
        self.touched = set(self._donors.columns) - set(kept)
        self.derived = [name for name in seen.columns if name not in kept]

    def _sample_donors(self) -> pd.DataFrame:
        synthesizer = self._synthesizer
        with synthesizer._model.seeded(SEED):
            processed = synthesizer._model.sample(NUM_DONORS)

        # A copy, or the donors would use up keys that belong to the user's rows.
        processor = copy.deepcopy(synthesizer._data_processor)
        rows = synthesizer.reverse_transform_constraints(processor.reverse_transform(processed))
        return rows.reset_index(drop=True)

    def _transform(self, frame: pd.DataFrame) -> pd.DataFrame | None:
        try:
            return self._synthesizer._validate_transform_constraints(frame)
        except Exception:
            return None  # Constraints may raise anything on rows that they were not made for.

    def express(self, rows: PartialRows) -> PartialRows:
        """What is known of the columns behind the constraints."""
        touched = [name for name in rows.frame.columns if name in self.touched]
        if not touched:
            return rows

        values = pd.DataFrame(index=rows.frame.index, columns=self.derived, dtype=object)
        known = pd.DataFrame(False, index=values.index, columns=self.derived)
        sets: dict[Any, dict[int, OneOf]] = {name: {} for name in self.derived}
        for names, positions in _known_patterns(rows, touched):
            ordered = [name for name in names if self._facts[name].is_ordered]
            discrete = [name for name in names if name not in ordered]
            for members in _equal_rows(rows.frame.loc[positions, discrete]):
                donors = self._matching(rows.frame.loc[members[0], discrete].to_dict())
                seen = self._agreed(donors, rows.frame.loc[members, ordered])
                values.loc[members, seen.columns] = seen.to_numpy()
                known.loc[members, seen.columns] = seen.notna().to_numpy()
                for name, options in self._options(donors).items():
                    open_rows = members[~known.loc[members, name].to_numpy()]
                    sets[name].update(dict.fromkeys(open_rows, options))

        return self._joined(rows, values, known, sets)

    def _matching(self, wanted: dict[Any, Any]) -> pd.DataFrame:
        """Donors with these values, or all donors with these values put in."""
        match = np.ones(len(self._donors), dtype=bool)
        for name, value in wanted.items():
            column = self._donors[name]
            match &= (column.isna() if pd.isna(value) else column == value).to_numpy(dtype=bool)

        donors = self._donors[match] if match.any() else self._donors.assign(**wanted)
        return donors[valid_rows(self._constraints, donors)]

    def _options(self, donors: pd.DataFrame) -> dict[Any, OneOf]:
        """For each derived column of levels, those that the donors have."""
        seen = self._transform(donors) if len(donors) else None
        if seen is None:
            return {}

        discrete = [
            name
            for name in self.derived
            if not pd.api.types.is_numeric_dtype(seen[name].dtype)
            and not pd.api.types.is_datetime64_any_dtype(seen[name].dtype)
        ]
        return {name: OneOf(seen[name].drop_duplicates()) for name in discrete}

    def _agreed(self, donors: pd.DataFrame, given: pd.DataFrame) -> pd.DataFrame:
        """What donors with the given values all agree on; missing where they do not."""
        agreed = pd.DataFrame(index=given.index, columns=self.derived, dtype=object)
        if len(donors) < 2:
            return agreed

        choice = self._rng.integers(len(donors), size=(len(given), DONORS_PER_ROW))
        tried = donors.iloc[choice.ravel()].reset_index(drop=True)
        owner = np.repeat(given.index.to_numpy(), DONORS_PER_ROW)
        for name in given.columns:
            tried[name] = np.repeat(given[name].to_numpy(), DONORS_PER_ROW)

        valid = valid_rows(self._constraints, tried)
        seen = self._transform(tried[valid].reset_index(drop=True)) if valid.any() else None
        if seen is None:
            return agreed

        groups = seen[self.derived].groupby(owner[valid])
        # One donor alone agrees with itself: that says nothing.
        distinct = groups.nunique(dropna=False)
        sure = (distinct == 1) & (groups.size() > 1).to_numpy()[:, None]
        first = groups.first().astype(object).where(sure, None)
        agreed.loc[first.index] = first
        return agreed

    def _joined(
        self,
        rows: PartialRows,
        values: pd.DataFrame,
        known: pd.DataFrame,
        sets: dict[Any, dict[int, OneOf]],
    ) -> PartialRows:
        untouched = [name for name in rows.frame.columns if name not in self.touched]
        limits = {name: limit for name, limit in rows.limits.items() if name in untouched}
        for name, by_row in sets.items():
            if by_row:
                options = list(dict.fromkeys(by_row.values()))
                position = {option: number for number, option in enumerate(options)}
                index = np.full(len(rows), -1)
                index[list(by_row)] = [position[option] for option in by_row.values()]
                limits[name] = (options, index)

        return PartialRows(
            pd.concat([rows.frame[untouched], values.infer_objects()], axis=1),
            pd.concat([rows.known[untouched], known], axis=1),
            limits,
        )


def _same(before: pd.DataFrame, after: pd.DataFrame, name: Any) -> bool:
    return before[name].reset_index(drop=True).equals(after[name].reset_index(drop=True))


def _equal_rows(frame: pd.DataFrame) -> list[np.ndarray]:
    """Index labels of rows with the same values; all of them if there are no columns."""
    if frame.shape[1] == 0:
        return [frame.index.to_numpy()]

    groups = frame.groupby(list(frame.columns), dropna=False, sort=False)
    return [np.asarray(labels) for labels in groups.groups.values()]
