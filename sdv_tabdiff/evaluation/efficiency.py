"""What a model learns from synthetic rows, judged on real ones (machine-learning efficiency)."""

import itertools
from typing import Any

import numpy as np
import pandas as pd

from sdv_tabdiff.evaluation.predictions import (
    AUC,
    MICRO_AUC,
    level_scores,
    number_scores,
    scale_of,
    task_of,
)
from sdv_tabdiff.evaluation.tables import encode, measured_columns, measured_table
from sdv_tabdiff.evaluation.trees import tree_models
from sdv_tabdiff.levels import distinct_levels

# Tried one after the other on the validation part, which also chooses the number of trees.
CHOICES = {'max_depth': (3, 6, 9), 'min_child_weight': (1, 10)}
FIXED = {'n_estimators': 500, 'learning_rate': 0.1, 'early_stopping_rounds': 20}
VALIDATION_SHARE = 0.1


def ml_efficiency(
    synthetic: Any, test: Any, metadata: Any, target: Any, seed: int = 0
) -> dict[str, float]:
    """How well XGBoost, trained on synthetic rows, predicts a column of real rows.

    Its depth, the least weight of a leaf and the number of trees are chosen on a tenth of the
    synthetic rows.

    Args:
        synthetic (pandas.DataFrame or dict):
            The synthetic rows.
        test (pandas.DataFrame or dict):
            Real rows that the synthesizer never saw.
        metadata (sdv.metadata.Metadata or dict):
            The metadata of both.
        target (Any):
            The column to predict.
        seed (int):
            Seed of the validation part.

    Returns:
        dict[str, float]:
            ``auc`` and ``micro_auc`` of a category, 0.5 if the synthetic rows have a single level;
            ``log_rmse`` or ``rmse`` of a number, NaN if they have none. See ``task_of`` and
            ``level_scores``.
    """
    made = measured_table(synthetic, metadata, 'synthetic')
    rows = measured_table(test, metadata, 'test')
    task, target = task_of(target, rows, metadata), str(target)
    made, rows = (table[table[target].notna()].reset_index(drop=True) for table in (made, rows))
    columns = measured_columns(metadata)
    features = {'columns': {name: columns[name] for name in columns if name != target}}
    inputs = [part.matrix for part in encode([made, rows], features)] if len(made) else []
    if task == AUC:
        return _classify(inputs, made[target], rows[target], seed)

    return _regress(task, inputs, made[target], rows[target], seed)


def _classify(
    inputs: list[np.ndarray], made: pd.Series, truth: pd.Series, seed: int
) -> dict[str, float]:
    levels = distinct_levels(truth.astype(object))
    codes = levels.get_indexer(made.astype(object).to_numpy())
    known = codes >= 0
    seen = np.unique(codes[known])
    if len(seen) < 2:
        return {AUC: 0.5, MICRO_AUC: 0.5}  # No classifier can learn from a single level.

    classifier, _ = tree_models()
    # XGBoost wants the classes 0, 1, 2, ...; a level that is not among the rows has no chance.
    labels = np.searchsorted(seen, codes[known])
    found = _tuned(classifier, inputs[0][known], labels, seed).predict_proba(inputs[1])
    probabilities = np.zeros((len(truth), len(levels)))
    probabilities[:, seen] = found
    return level_scores(levels.get_indexer(truth.astype(object).to_numpy()), probabilities)


def _regress(
    task: str, inputs: list[np.ndarray], made: pd.Series, truth: pd.Series, seed: int
) -> dict[str, float]:
    if made.empty:
        return {task: float('nan')}

    _, regressor = tree_models()
    guesses = _tuned(regressor, inputs[0], scale_of(task, made), seed).predict(inputs[1])
    return number_scores(task, truth, guesses)


def _tuned(model: Any, features: np.ndarray, answers: np.ndarray, seed: int) -> Any:
    fitted, judged = _parts(answers, model.__name__ == 'XGBClassifier', seed)
    data = features[fitted], answers[fitted]
    check = [(features[judged], answers[judged])]
    fits = [
        model(**FIXED, **dict(zip(CHOICES, choice)), random_state=seed).fit(
            *data, eval_set=check, verbose=False
        )
        for choice in itertools.product(*CHOICES.values())
    ]
    return min(fits, key=lambda fit: fit.best_score)


def _parts(answers: np.ndarray, classes: bool, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows to fit to and rows to choose by; every class keeps a row to fit to."""
    order = np.random.default_rng(seed).permutation(len(answers))
    held = np.zeros(len(answers), dtype=bool)
    held[order[: max(1, int(VALIDATION_SHARE * len(answers)))]] = len(answers) > 1
    if classes:
        _, first = np.unique(answers, return_index=True)
        held[first] = False

    fitted = np.flatnonzero(~held)
    judged = np.flatnonzero(held)
    return fitted, judged if len(judged) else fitted
