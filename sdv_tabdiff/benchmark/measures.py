"""The cells that the imputation benchmark hides, and how well they are filled in."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from sdv_tabdiff.benchmark.tables import CATEGORIES, NUMBERS, BenchmarkTable


def hide_cells(rows: pd.DataFrame, columns: Sequence[str], rate: float, seed: int) -> pd.DataFrame:
    """Which cells to hide: each one of these columns that has a value, with probability ``rate``.

    Returns:
        pandas.DataFrame:
            True for a hidden cell, in the shape of ``rows``. The cells of a smaller rate are among
            those of a larger one.
    """
    random = np.random.default_rng(seed)
    hidden = pd.DataFrame(random.random(rows.shape) < rate, index=rows.index, columns=rows.columns)
    return hidden & rows.notna() & rows.columns.isin(columns)


def cell_scores(
    table: BenchmarkTable, imputed: pd.DataFrame, hidden: pd.DataFrame
) -> dict[str, float]:
    """How far imputed cells of the test rows are from the truth.

    Returns:
        dict[str, float]:
            ``numerical_error``, the root of the mean squared error of a column in units of its
            standard deviation in the training rows, and ``categorical_error``, the share of wrong
            levels of a column; each is a mean over the columns.
    """
    numerical = [
        _standardised_error(table, name, imputed[name], hidden[name].to_numpy())
        for name in table.columns(NUMBERS)
        if hidden[name].any()
    ]
    categorical = [
        wrong_share(table.test[name][hidden[name]], imputed[name][hidden[name]])
        for name in table.columns(CATEGORIES)
        if hidden[name].any()
    ]
    # A column without spread has no unit to measure in.
    measured = [error for error in numerical if error is not None]
    return {
        'numerical_error': float(np.mean(measured)) if measured else float('nan'),
        'categorical_error': float(np.mean(categorical)) if categorical else float('nan'),
    }


def _standardised_error(
    table: BenchmarkTable, name: str, imputed: pd.Series, hidden: np.ndarray
) -> float | None:
    deviation = table.as_numbers(table.train[name]).std(ddof=0)
    if not deviation > 0:
        return None

    truth, guess = (table.as_numbers(part)[hidden] for part in (table.test[name], imputed))
    errors = (guess.to_numpy() - truth.to_numpy()) / deviation
    return float(np.sqrt(np.mean(errors**2)))


def wrong_share(truth: pd.Series, imputed: pd.Series) -> float:
    """The share of levels that differ; a level that a gap turned from 1 into 1.0 does not."""
    return float(np.mean(truth.to_numpy(dtype=object) != imputed.to_numpy(dtype=object)))
