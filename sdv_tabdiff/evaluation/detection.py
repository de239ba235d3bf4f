"""Whether a classifier can tell synthetic rows from real ones (classifier two-sample test)."""

from typing import Any

import numpy as np
import pandas as pd
from sdmetrics.single_table import LogisticDetection
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from sdv_tabdiff.evaluation.seeds import global_seed
from sdv_tabdiff.evaluation.tables import LEVELS, encode, measured_columns, measured_table
from sdv_tabdiff.evaluation.trees import tree_models

FOLDS = 3
TREES = {'n_estimators': 200, 'max_depth': 6, 'learning_rate': 0.1, 'tree_method': 'hist'}


def logistic_detection(real: Any, synthetic: Any, metadata: Any, seed: int = 0) -> float:
    """SDMetrics' ``LogisticDetection``: 1 if nothing can be told apart, 0 if everything can.

    Args:
        real (pandas.DataFrame or dict):
            The training rows.
        synthetic (pandas.DataFrame or dict):
            The synthetic rows.
        metadata (sdv.metadata.Metadata or dict):
            The metadata of both. Booleans and ordinals, which SDMetrics would leave out, count as
            categories, and dates as numbers.
        seed (int):
            Seed of the folds.
    """
    rows = measured_table(real, metadata, 'real')
    made = measured_table(synthetic, metadata, 'synthetic')
    columns = {}
    for name, properties in measured_columns(metadata).items():
        discrete = properties['sdtype'] in LEVELS
        columns[name] = {'sdtype': 'categorical' if discrete else 'numerical'}
        if discrete:
            _make_encodable(rows, made, name)

    columns |= {name: {'sdtype': 'numerical'} for name in rows.columns if name not in columns}
    with global_seed(seed):
        return float(LogisticDetection.compute(rows, made, {'columns': columns}))


def _make_encodable(rows: pd.DataFrame, made: pd.DataFrame, name: Any) -> None:
    """Change levels that SDMetrics' encoder would fail on, in place.

    Levels of different types cannot be sorted: they become texts. Levels that no real row has
    become the real rows' first one, beside a column that says so.
    """
    kinds = {
        isinstance(level, str) for table in (rows, made) for level in set(table[name].dropna())
    }
    if len(kinds) > 1:
        for table in (rows, made):
            table[name] = table[name].map(repr, na_action='ignore')

    known = made[name].isin(rows[name].dropna()) | (made[name].isna() & rows[name].isna().any())
    if not known.all():
        made[name] = made[name].where(known, rows[name].iloc[0])
        rows[f'{name} is new'], made[f'{name} is new'] = 0.0, (~known).astype(float)


def boosted_detection(real: Any, synthetic: Any, metadata: Any, seed: int = 0) -> float:
    """The score of ``logistic_detection``, with gradient-boosted trees for the classifier.

    They see what a linear classifier does not, and so tell good models apart. The larger table is
    cut to the size of the smaller one, at random.

    Args:
        real (pandas.DataFrame or dict):
            The training rows; at least three.
        synthetic (pandas.DataFrame or dict):
            The synthetic rows; at least three.
        metadata (sdv.metadata.Metadata or dict):
            The metadata of both.
        seed (int):
            Seed of the folds and of the cut.

    Raises:
        NotInstalledError:
            If XGBoost is not installed.
    """
    classifier, _ = tree_models()
    tables = [
        measured_table(data, metadata, role)
        for data, role in ((real, 'real'), (synthetic, 'synthetic'))
    ]
    size = min(map(len, tables))
    if size < FOLDS:
        return float('nan')

    rng = np.random.default_rng(seed)
    parts = [rows.matrix[rng.permutation(len(rows))[:size]] for rows in encode(tables, metadata)]
    features, labels = np.concatenate(parts), np.repeat([1, 0], size)
    excess = []
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    for fitted, judged in folds.split(features, labels):
        model = classifier(**TREES, random_state=seed).fit(features[fitted], labels[fitted])
        guess = model.predict_proba(features[judged])[:, 1]
        excess.append(2 * max(0.5, roc_auc_score(labels[judged], guess)) - 1)

    return float(1 - np.mean(excess))
