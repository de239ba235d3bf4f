"""Filling in the missing cells of a table."""

import copy
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sdv.errors import InvalidDataError
from tqdm import tqdm

from sdv_tabdiff.completion import Completer, distance
from sdv_tabdiff.condition_checks import points_of
from sdv_tabdiff.conditions import PartialRows
from sdv_tabdiff.expression import Expression
from sdv_tabdiff.facts import ColumnFacts

METHODS = ('draw', 'mean', 'median')
DEFAULT_DRAWS = 20


class Holes(NamedTuple):
    """A table to impute.

    Attributes:
        table: The table with all columns that the synthesizer knows.
        positions: Its rows with holes.
        rows: What is known of these.
        absent: Columns that the user's table lacks.
    """

    table: pd.DataFrame
    positions: np.ndarray
    rows: PartialRows
    absent: frozenset[Any]


class Imputer:
    """Imputes tables with a fitted synthesizer.

    Args:
        synthesizer: The fitted synthesizer.
        guidance: Strength of the guidance towards the known cells.
        kept: Columns in which a cell may stay missing.
        random_state: Seed of the draws, or None to go on with the synthesizer's random numbers.
    """

    def __init__(
        self, synthesizer: Any, guidance: float, kept: frozenset[Any], random_state: int | None
    ):
        self._synthesizer = synthesizer
        self._model = synthesizer._model
        self._facts: dict[Any, ColumnFacts] = synthesizer._facts
        self._guidance = guidance
        self._kept = kept
        self._random_state = random_state
        self._processor = synthesizer._data_processor
        if random_state is not None:  # Keys and made-up values repeat as well.
            self._processor = copy.deepcopy(self._processor)
            self._processor.reset_sampling()

    def draws(self, table: pd.DataFrame, num_draws: int) -> list[pd.DataFrame]:
        """Completed copies of the table."""
        holes = self._read(table)
        return [self._filled(holes, drawn) for drawn in self._draws(holes.rows, num_draws)]

    def estimate(self, table: pd.DataFrame, method: str, num_draws: int | None) -> pd.DataFrame:
        """The table with the best guess for each missing cell."""
        holes = self._read(table)
        rows = holes.rows
        shares = self._level_shares(rows, self._columns_of_levels(rows))
        guesses = {name: _most_likely(frame) for name, frame in shares.items()}
        others = [name for name in rows.frame.columns if name not in guesses]
        draws = []
        if not rows.known[others].to_numpy().all():
            draws = list(self._draws(rows, num_draws or DEFAULT_DRAWS))

        if draws:
            means = {
                name: self._summary(name, _side_by_side(draws, name), method) for name in others
            }
            constrained = bool(self._synthesizer._get_fitted_constraints())
            guesses |= self._nearest_draws(draws, means) if constrained else means

        return self._filled(holes, pd.DataFrame(guesses, index=rows.frame.index))

    def probabilities(
        self, table: pd.DataFrame, columns: list[Any] | None
    ) -> dict[Any, pd.DataFrame]:
        """Probability of each level in the missing cells of categorical columns."""
        holes = self._read(table)
        rows = holes.rows
        possible = self._columns_of_levels(rows, with_holes=False)
        for name in columns or []:
            if name not in possible:
                raise InvalidDataError([
                    f"Column '{name}' has no categories that the model knows of. Use 'impute' for "
                    'numbers, dates and columns that a constraint rewrites.'
                ])

        names = self._columns_of_levels(rows) if columns is None else columns
        shares = self._level_shares(rows, names)
        labels = holes.table.index[holes.positions]
        return {
            name: frame.set_axis(labels, axis=0)[~rows.known[name].to_numpy()]
            for name, frame in shares.items()
        }

    def _read(self, table: pd.DataFrame) -> Holes:
        """The table with all its columns, and its rows with holes."""
        unknown = [name for name in table.columns if name not in self._facts]
        if unknown:
            raise InvalidDataError([
                f"The column '{unknown[0]}' was not in the data that the synthesizer was fitted on."
            ])

        absent = [name for name in self._facts if name not in table.columns]
        if absent:
            empty = {name: pd.Series(np.nan, index=table.index, dtype=object) for name in absent}
            table = table.assign(**empty)[list(self._facts)]

        positions = np.flatnonzero(table.isna().any(axis=1))
        frame = table.iloc[positions].reset_index(drop=True)
        known = frame.notna()
        for name in frame.columns:
            known[name] &= self._is_familiar(frame[name])

        return Holes(table, positions, PartialRows(frame, known), frozenset(absent))

    def _is_familiar(self, column: pd.Series) -> np.ndarray:
        """Which cells the model can be told of: a category must have been there in training."""
        facts = self._facts[column.name]
        levels = facts.levels
        if levels is None:
            if facts.is_ordered:
                _check_kind(column.dropna(), facts)

            return np.ones(len(column), dtype=bool)

        familiar = (column.isna() | column.astype(object).isin(levels)).to_numpy(dtype=bool)
        if not familiar.all():
            value = column[~familiar].iloc[0]
            warnings.warn(
                f"Column '{column.name}' has the value {value!r}, which was not in the data that "
                'the synthesizer was fitted on. It stays, but says nothing about other cells.',
                stacklevel=2,
            )

        return familiar

    def _whole(self, rows: PartialRows) -> frozenset[Any]:
        """Columns with holes to be filled, as far as the model has something to fill them with."""
        return frozenset(
            name
            for name, facts in self._facts.items()
            if name not in self._kept and not rows.known[name].all() and _has_values(facts)
        )

    def _draws(self, rows: PartialRows, num_draws: int) -> Iterator[pd.DataFrame]:
        if len(rows) == 0:
            yield from (rows.frame for _ in range(num_draws))
            return

        completer = Completer(
            self._synthesizer, self._guidance, self._whole(rows), False, self._processor
        )
        knowledge = completer.knowledge(rows)
        total = num_draws * len(rows)
        show = self._synthesizer.verbose
        with tqdm(total=total, disable=not show, unit='row', desc='Imputing') as bar:
            for number in range(num_draws):
                seed = None if self._random_state is None else self._random_state + number
                with self._seeded(seed):
                    yield completer.complete(
                        rows, on_rows=lambda done: bar.update(len(done)), knowledge=knowledge
                    )

    def _seeded(self, seed: int | None) -> AbstractContextManager:
        return self._model.seeded(seed) if self._model else nullcontext()

    def _columns_of_levels(self, rows: PartialRows, with_holes: bool = True) -> list[Any]:
        """Categorical columns whose levels the model predicts one by one."""
        if not self._model:
            return []

        modelled = set(self._model.codec.columns)
        return [
            name
            for name, facts in self._facts.items()
            if facts.levels is not None
            and len(facts.levels)
            and name in modelled
            and name in self._synthesizer._field_transformers()
            and not self._model.codec.column(name).numerical
            and not (with_holes and rows.known[name].all())
        ]

    def _level_shares(self, rows: PartialRows, names: list[Any]) -> dict[Any, pd.DataFrame]:
        if not names or len(rows) == 0:
            return {name: pd.DataFrame(index=rows.frame.index) for name in names}

        if self._synthesizer.conditional_share == 0:
            # A network that never saw known cells has no answer in one call: count its draws.
            draws = list(self._draws(rows, DEFAULT_DRAWS))
            return {name: _votes(_side_by_side(draws, name)) for name in names}

        transformers = self._synthesizer._field_transformers()
        expression = Expression(transformers, self._model.codec, self._facts)
        whole = self._whole(rows)
        knowledge = expression.knowledge(rows, whole)
        shares = self._model.level_probabilities(knowledge, names, self._guidance)
        return {name: self._named(name, frame, name in whole) for name, frame in shares.items()}

    def _named(self, name: Any, shares: pd.DataFrame, whole: bool) -> pd.DataFrame:
        """Probabilities under the names of the levels, without *missing* where it is excluded."""
        levels = pd.Series(list(shares.columns), name=name)
        transformer = self._synthesizer._field_transformers()[name]
        if transformer is not None:
            levels = transformer.reverse_transform(levels.to_frame())[name]

        shares = shares.set_axis(pd.Index(levels, dtype=object), axis=1)
        return shares.loc[:, shares.columns.notna()] if whole else shares

    def _summary(self, name: Any, cells: pd.DataFrame, method: str) -> pd.Series:
        """One value for several draws of a column."""
        facts = self._facts[name]
        if not facts.is_ordered:
            return _most_likely(_votes(cells))

        draws = pd.concat(
            [facts.to_points(cells.iloc[:, i]) for i in range(cells.shape[1])], axis=1
        )
        # Ticks of a date average like numbers do.
        ticks = draws.apply(_ticks) if facts.sdtype == 'datetime' else draws
        value = getattr(ticks, method)(axis=1)
        value = value.where(draws.notna().mean(axis=1) >= 0.5)
        if facts.sdtype == 'datetime':
            value = pd.to_datetime(value.round())
            value = facts.like_column(value.astype(object).where(value.notna(), None))

        formatter = self._processor.formatters.get(name)
        return value if formatter is None else formatter.format_data(value)

    def _nearest_draws(
        self, draws: list[pd.DataFrame], means: dict[Any, pd.Series]
    ) -> dict[Any, pd.Series]:
        """For each row the cells of the draw that is nearest to its means.

        Constraints hold in every draw, but not in between.
        """
        distances = np.zeros((len(draws), len(draws[0])))
        for name, mean in means.items():
            if self._facts[name].is_modelled:
                for number, draw in enumerate(draws):
                    distances[number] += distance(mean, draw[name], self._facts[name])

        best = distances.argmin(axis=0)
        rows = np.arange(len(best))
        return {
            name: pd.Series(
                _side_by_side(draws, name).to_numpy(dtype=object)[rows, best], index=mean.index
            )
            for name, mean in means.items()
        }

    def _filled(self, holes: Holes, drawn: pd.DataFrame) -> pd.DataFrame:
        """The table with its holes filled from rows that stand for those with holes."""
        table, filled = holes.table, holes.table.copy()
        for name in drawn.columns:
            missing = table[name].isna().to_numpy()
            if missing.any():
                values = pd.Series(index=range(len(table)), dtype=object)
                values.iloc[holes.positions[drawn.index]] = drawn[name].astype(object).to_numpy()
                values = values.set_axis(table.index, axis=0)
                if name in self._processor._keys:
                    values = self._new_keys(name, table[name], values.where(missing))

                column = _fill(table[name], missing, values)
                is_new = name in holes.absent
                filled[name] = self._facts[name].like_column(column) if is_new else column

        return filled

    def _new_keys(self, name: Any, column: pd.Series, values: pd.Series) -> pd.Series:
        """Values for the holes of a key that nothing else in the column has."""
        used = set(column.dropna())
        for position in np.flatnonzero(values.notna()):
            while values.iloc[position] in used:
                fresh = self._processor.generate_keys(len(values))[name]
                fresh = [key for key in fresh if key not in used]
                values.iloc[position] = fresh[0] if fresh else values.iloc[position]

            used.add(values.iloc[position])

        return values


def _side_by_side(draws: list[pd.DataFrame], name: Any) -> pd.DataFrame:
    return pd.concat([draw[name] for draw in draws], axis=1)


def _check_kind(values: pd.Series, facts: ColumnFacts) -> None:
    try:
        points_of(values, facts)
    except ValueError as error:
        raise InvalidDataError([str(error)]) from error


def _has_values(facts: ColumnFacts) -> bool:
    if facts.levels is not None:
        return len(facts.levels) > 0

    return facts.low is not None or not facts.is_ordered


def _fill(column: pd.Series, holes: np.ndarray, values: pd.Series) -> pd.Series:
    """The column with its holes filled, in its own dtype where that can hold the values."""
    mixed = column.astype(object).where(~holes, values)
    if isinstance(column.dtype, pd.CategoricalDtype):
        new = pd.Index(values[holes].dropna().unique()).difference(column.cat.categories)
        return mixed.astype(column.cat.add_categories(new).dtype)

    try:
        return mixed.astype(column.dtype)
    except (TypeError, ValueError):
        return mixed.infer_objects()


def _ticks(dates: pd.Series) -> pd.Series:
    nanoseconds = dates.astype('datetime64[ns]').astype('int64').astype(float)
    return nanoseconds.where(dates.notna())


def _votes(cells: pd.DataFrame) -> pd.DataFrame:
    """Share of the draws for each value, row by row."""
    values = pd.unique(cells.to_numpy(dtype=object).ravel())
    shares = {
        value: (cells.isna() if pd.isna(value) else cells == value).mean(axis=1) for value in values
    }
    return pd.DataFrame(shares, index=cells.index)


def _most_likely(shares: pd.DataFrame) -> pd.Series:
    if shares.shape[1] == 0:
        return pd.Series(index=shares.index, dtype=object)

    best = shares.to_numpy().argmax(axis=1)
    return pd.Series(np.array(shares.columns, dtype=object)[best], index=shares.index)
