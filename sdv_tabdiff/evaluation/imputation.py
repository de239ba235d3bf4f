"""How well a fitted synthesizer fills in a column of rows that it never saw."""

import warnings
from typing import Any

import numpy as np
import pandas as pd

from sdv_tabdiff.evaluation.predictions import AUC, level_scores, number_scores, scale_of, task_of
from sdv_tabdiff.evaluation.tables import own_name
from sdv_tabdiff.levels import distinct_levels
from sdv_tabdiff.sdv_versions import single_table


def imputation_scores(
    synthesizer: Any,
    test: Any,
    metadata: Any,
    target: Any,
    guidance: float | None = None,
    draws: int = 20,
    seed: int = 0,
) -> dict[str, float]:
    """How well a synthesizer fills in the target column of real rows from all others.

    Args:
        synthesizer (TabDiffSynthesizer):
            The fitted synthesizer.
        test (pandas.DataFrame or dict):
            Real rows that it never saw. Levels that are new to it count as missing.
        metadata (sdv.metadata.Metadata or dict):
            Their metadata.
        target (Any):
            The column to fill in.
        guidance (float or None):
            Strength of the guidance. Defaults to ``None``: the synthesizer's own.
        draws (int):
            Draws of a number, whose mean is the guess.
        seed (int):
            Seed of the draws.

    Returns:
        dict[str, float]:
            ``auc`` and ``micro_auc`` of a category; ``log_rmse`` or ``rmse`` of a number. See
            ``task_of`` and ``level_scores``.
    """
    rows = single_table(test)
    target = own_name(rows, target)
    rows = rows[rows[target].notna()].reset_index(drop=True)
    task = task_of(target, rows, metadata)
    questions = rows.drop(columns=target)
    with warnings.catch_warnings():
        warnings.filterwarnings('ignore', '.*was not in the data', UserWarning)
        if task == AUC:
            found = synthesizer.impute_probabilities(questions, [target], guidance=guidance)
            return _score_levels(rows[target], found[target])

        filled = synthesizer.impute(
            questions, num_draws=draws, guidance=guidance, random_state=seed
        )

    filled = filled if isinstance(filled, list) else [filled]
    guesses = [scale_of(task, single_table(draw)[target].to_numpy(dtype=float)) for draw in filled]
    return number_scores(task, rows[target], np.mean(guesses, axis=0))


def _score_levels(truth: pd.Series, answers: pd.DataFrame) -> dict[str, float]:
    levels = distinct_levels(truth.astype(object))
    # Level by level, because pandas takes a list of two booleans for a choice of rows. A level
    # that the synthesizer never saw has no chance.
    chances = [answers[level] if level in answers else 0 * answers.iloc[:, 0] for level in levels]
    codes = levels.get_indexer(truth.astype(object).to_numpy())
    return level_scores(codes, np.column_stack(chances))
