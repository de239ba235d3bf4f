"""What kind of prediction a column needs, and how good one is."""

from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from sdv_tabdiff.evaluation.tables import LEVELS, measured_columns, own_name
from sdv_tabdiff.levels import distinct_levels

AUC, MICRO_AUC, LOG_RMSE, RMSE = 'auc', 'micro_auc', 'log_rmse', 'rmse'


def task_of(target: Any, real: pd.DataFrame, metadata: Any) -> str:
    """How predictions of a target are scored.

    Args:
        target (Any):
            The column to predict.
        real (pandas.DataFrame):
            Real rows.
        metadata (sdv.metadata.Metadata or dict):
            Their metadata.

    Returns:
        str:
            ``'auc'`` for levels; for numbers ``'log_rmse'``, the error of the logarithms, as usual
            for counts and concentrations, if they start at 0 or above and reach 10, else
            ``'rmse'``.

    Raises:
        ValueError:
            If there is no such column, or it is a date or has a single level.
    """
    columns = measured_columns(metadata)
    sdtype = columns.get(str(target), {}).get('sdtype')
    values = real.get(own_name(real, target), pd.Series(dtype=float))
    if sdtype in LEVELS and len(distinct_levels(values)) > 1:
        return AUC
    if sdtype == 'numerical' and values.notna().any():
        return LOG_RMSE if values.min() >= 0 and values.max() >= 10 else RMSE

    possible = [name for name, column in columns.items() if column['sdtype'] != 'datetime']
    raise ValueError(
        f"The target '{target}' must be a number, or a category with at least two levels in the "
        f'real rows. The numbers and categories are {possible}.'
    )


def level_scores(truth: np.ndarray, probabilities: np.ndarray) -> dict[str, float]:
    """The two areas under the ROC curve of a classification.

    Args:
        truth (numpy.ndarray):
            Codes of the levels.
        probabilities (numpy.ndarray):
            A column for each level, in the order of the codes.

    Returns:
        dict[str, float]:
            ``auc``, that of one level against the rest, its mean over the levels (with two levels,
            both are the same), and ``micro_auc``, that of all levels' indicators and probabilities,
            as if they were so many times as many rows.
    """
    present = np.unique(truth)
    indicators = truth[:, np.newaxis] == np.arange(probabilities.shape[1])
    single = [roc_auc_score(indicators[:, code], probabilities[:, code]) for code in present]
    return {
        AUC: float(np.mean(single)),
        MICRO_AUC: float(roc_auc_score(indicators.ravel(), probabilities.ravel())),
    }


def log_of(values: Any) -> np.ndarray:
    """The natural logarithm of positive numbers; anything below 1 counts as 1."""
    return np.log(np.clip(np.asarray(values, dtype=float), 1, None))


def scale_of(task: str, values: Any) -> np.ndarray:
    """Numbers on the scale that their task compares them on."""
    return log_of(values) if task == LOG_RMSE else np.asarray(values, dtype=float)


def number_scores(task: str, truth: Any, guesses: np.ndarray) -> dict[str, float]:
    """The root of the mean squared error of guesses that are on the scale of the task."""
    return {task: float(np.sqrt(np.mean(np.square(guesses - scale_of(task, truth)))))}
