"""The methods beside TabDiff: gradient-boosted trees, and imputers of scikit-learn."""

from collections.abc import Callable

import numpy as np
import pandas as pd
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer

from sdv_tabdiff.benchmark.measures import hide_cells
from sdv_tabdiff.benchmark.tables import (
    CATEGORIES,
    NUMBERS,
    BenchmarkTable,
    some_rows,
)
from sdv_tabdiff.evaluation.predictions import AUC, scale_of
from sdv_tabdiff.evaluation.trees import tree_models
from sdv_tabdiff.levels import distinct_levels

TREES = {'n_estimators': 400, 'learning_rate': 0.05, 'max_depth': 6}

# More levels or training rows would make the imputers take hours.
MAX_LEVELS, IMPUTER_ROWS = 20, 5_000
NEIGHBOURS, TINY = 10, 1e-6


def predict_target(table: BenchmarkTable, seed: int) -> np.ndarray:
    """The target of the test rows, by XGBoost.

    Args:
        table (BenchmarkTable):
            Its test rows have no gaps in the target.
        seed (int):
            Seed of the trees.

    Returns:
        numpy.ndarray:
            Probabilities of the training rows' levels, in order of appearance, or numbers on the
            scale of the task.

    Raises:
        NotInstalledError:
            If XGBoost is not installed.
    """
    classifier, regressor = tree_models()
    settings = {**TREES, 'enable_categorical': True, 'random_state': seed}
    labelled = table.train[table.train[table.target].notna()]
    features, questions = (_features(table, part) for part in (labelled, table.test))
    answers = labelled[table.target]
    if table.task == AUC:
        codes = distinct_levels(answers.astype(object)).get_indexer(answers.astype(object))
        return classifier(**settings).fit(features, codes).predict_proba(questions)

    scaled = scale_of(str(table.task), answers)
    return regressor(**settings).fit(features, scaled).predict(questions)


def _features(table: BenchmarkTable, rows: pd.DataFrame) -> pd.DataFrame:
    numbers = {name: table.as_numbers(rows[name]) for name in table.columns(NUMBERS)}
    categories = {}
    for name in table.columns(CATEGORIES):
        levels = distinct_levels(table.train[name]).astype(object)
        codes = levels.get_indexer(rows[name].astype(object))
        categories[name] = pd.Categorical.from_codes(codes, categories=range(len(levels)))

    features = pd.DataFrame({**numbers, **categories}, index=rows.index)
    return features[[name for name in rows if name in features and name != table.target]]


class Encoder:
    """Turns a table into standardised numbers and indicators of levels, and back.

    A gap in a category is a gap in all its indicators. A level that is not among the most frequent
    ones has none.

    Args:
        table (BenchmarkTable):
            Its training rows give the means, the standard deviations and the levels.
    """

    def __init__(self, table: BenchmarkTable):
        self.table = table
        self.scales: dict[str, tuple[float, float]] = {}
        self.levels: dict[str, pd.Index] = {}
        for name in table.columns(NUMBERS):
            values = table.as_numbers(table.train[name])
            self.scales[name] = values.mean(), values.std(ddof=0) or 1.0

        for name in table.columns(CATEGORIES):
            self.levels[name] = table.train[name].value_counts().index[:MAX_LEVELS].astype(object)

    def encode(self, rows: pd.DataFrame) -> np.ndarray:
        """A matrix with nan for the gaps."""
        parts = []
        for name, (mean, deviation) in self.scales.items():
            parts.append((self.table.as_numbers(rows[name]).to_numpy() - mean)[:, None] / deviation)

        for name, levels in self.levels.items():
            codes = levels.get_indexer(rows[name].astype(object))
            indicators = (codes[:, None] == np.arange(len(levels))).astype(float)
            indicators[rows[name].isna().to_numpy()] = np.nan
            parts.append(indicators)

        return np.hstack(parts)

    def last_indicators(self) -> dict[int, int]:
        """The last column of each category that has columns for all its levels, and its first."""
        last, start = {}, len(self.scales)
        for name, levels in self.levels.items():
            if 0 < len(levels) == self.table.train[name].nunique():
                last[start + len(levels) - 1] = start

            start += len(levels)

        return last

    def fill(self, rows: pd.DataFrame, matrix: np.ndarray) -> pd.DataFrame:
        """The rows with their gaps filled from a matrix without any."""
        filled, start = rows.copy(), len(self.scales)
        for column, (name, (mean, deviation)) in enumerate(self.scales.items()):
            values = pd.Series(matrix[:, column] * deviation + mean, index=rows.index)
            filled[name] = _fill_numbers(self.table, rows[name], values)

        for name, levels in self.levels.items():
            if len(levels):
                best = matrix[:, start : start + len(levels)].argmax(axis=1)
                guess = pd.Series(levels[best], index=rows.index, dtype=object)
                filled[name] = rows[name].astype(object).where(rows[name].notna(), guess)

            start += len(levels)

        return filled


def _fill_numbers(table: BenchmarkTable, known: pd.Series, guess: pd.Series) -> pd.Series:
    if known.name in table.columns(['datetime']):
        guess = pd.to_datetime(guess, unit='s')
        known = pd.to_datetime(table.as_numbers(known), unit='s')

    return known.where(known.notna(), guess)


def mean_and_mode(
    table: BenchmarkTable, rows: pd.DataFrame, rate: float, seed: int
) -> pd.DataFrame:
    """Fill each gap with the column's mean or most frequent level."""
    encoder = Encoder(table)
    # A standardised mean is 0, and the first of equal indicators is the most frequent level.
    return encoder.fill(rows, np.zeros_like(encoder.encode(rows)))


def iterative(table: BenchmarkTable, rows: pd.DataFrame, rate: float, seed: int) -> pd.DataFrame:
    """Fill the gaps by scikit-learn's ``IterativeImputer``."""
    encoder, train = Encoder(table), some_rows(table.train, IMPUTER_ROWS)
    # It would take an indicator from the other ones of its category, which are gaps as well: the
    # last one is left out, so that at least they do not determine it.
    last = encoder.last_indicators()
    known = np.delete(encoder.encode(train), list(last), axis=1)
    low, high = (np.nan_to_num(bound.reduce(known)) for bound in (np.fmin, np.fmax))
    # Limits must differ, in a constant column too.
    limits = {'min_value': low - TINY, 'max_value': high + TINY}
    imputer = IterativeImputer(random_state=seed, keep_empty_features=True, **limits)
    # With nothing to fill it would stop after its first round, and make one only of the test rows.
    gaps = hide_cells(train, train.columns, rate, seed)
    imputer.fit(np.delete(encoder.encode(train.mask(gaps)), list(last), axis=1))
    matrix = encoder.encode(rows)
    kept = np.delete(np.arange(matrix.shape[1]), list(last))
    matrix[:, kept] = imputer.transform(matrix[:, kept])
    for end, first in last.items():
        matrix[:, end] = 1 - matrix[:, first:end].sum(axis=1)

    return encoder.fill(rows, matrix)


def neighbours(table: BenchmarkTable, rows: pd.DataFrame, rate: float, seed: int) -> pd.DataFrame:
    """Fill the gaps by scikit-learn's ``KNNImputer``."""
    encoder, train = Encoder(table), some_rows(table.train, IMPUTER_ROWS)
    imputer = KNNImputer(n_neighbors=NEIGHBOURS, keep_empty_features=True)
    imputer.fit(encoder.encode(train))
    return encoder.fill(rows, imputer.transform(encoder.encode(rows)))


IMPUTERS: dict[str, Callable[[BenchmarkTable, pd.DataFrame, float, int], pd.DataFrame]] = {
    'IterativeImputer': iterative,
    'KNNImputer': neighbours,
    'mean and mode': mean_and_mode,
}
