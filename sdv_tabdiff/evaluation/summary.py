"""All measures of a synthetic table, in one frame."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from sdv_tabdiff.evaluation.detection import boosted_detection, logistic_detection
from sdv_tabdiff.evaluation.efficiency import ml_efficiency
from sdv_tabdiff.evaluation.imputation import imputation_scores
from sdv_tabdiff.evaluation.predictions import task_of
from sdv_tabdiff.evaluation.privacy import dcr_share
from sdv_tabdiff.evaluation.similarity import quality
from sdv_tabdiff.evaluation.support import Support, support
from sdv_tabdiff.evaluation.tables import measured_table
from sdv_tabdiff.evaluation.trees import NotInstalledError
from sdv_tabdiff.sdv_versions import single_table

HIGHER, LOWER, HALF = 'higher', 'lower', 'half'
COLUMNS = ['measure', 'value', 'best', 'note']
NOTHING = 'nothing to compare'


@dataclass
class Tables:
    """What there is to measure, and the results that several measures share."""

    real: Any
    synthetic: Any
    metadata: Any
    holdout: Any = None
    target: Any = None
    synthesizer: Any = None
    seed: int = 0

    def check(self) -> None:
        """Raise an error if there is something wrong with what the user gave."""
        for data, role in (
            (self.real, 'real'),
            (self.synthetic, 'synthetic'),
            (self.holdout, 'held-out'),
        ):
            if data is not None:
                measured_table(data, self.metadata, role)

        if self.holdout is not None and self.target is not None:
            task_of(self.target, single_table(self.holdout), self.metadata)

    @cached_property
    def all_pairs(self) -> dict[str, float]:
        """The quality report in which every pair counts."""
        return quality(self.real, self.synthetic, self.metadata)

    @cached_property
    def related_pairs(self) -> dict[str, float]:
        """SDMetrics' own quality report."""
        return quality(self.real, self.synthetic, self.metadata, all_pairs=False)

    @cached_property
    def support(self) -> Support:
        """Alpha-precision and beta-recall."""
        return support(self.real, self.synthetic, self.metadata)

    def detection(self, measure: Callable[..., float]) -> float:
        """A classifier's score."""
        return measure(self.real, self.synthetic, self.metadata, self.seed)

    def efficiency(self) -> dict[str, float]:
        """The scores of XGBoost, trained on the synthetic rows."""
        return ml_efficiency(self.synthetic, self.holdout, self.metadata, self.target, self.seed)

    def imputation(self) -> dict[str, float]:
        """The scores of the synthesizer as an imputer."""
        return imputation_scores(
            self.synthesizer, self.holdout, self.metadata, self.target, seed=self.seed
        )

    def closeness(self) -> float:
        """The share of rows that are closer to the training rows than to others."""
        return dcr_share(self.real, self.synthetic, self.metadata, self.holdout)


@dataclass(frozen=True)
class Measure:
    """How to get one or several values, what they need, and which values are good."""

    compute: Callable[[Tables], float | dict[str, float]]
    best: str = HIGHER
    needs: tuple[str, ...] = ()


MEASURES: dict[str, Measure] = {
    'shape_error': Measure(lambda tables: 100 * (1 - tables.all_pairs['shape']), LOWER),
    'trend_error': Measure(lambda tables: 100 * (1 - tables.all_pairs['trend']), LOWER),
    'sdmetrics_score': Measure(lambda tables: tables.related_pairs['score']),
    'sdmetrics_trend': Measure(lambda tables: tables.related_pairs['trend']),
    'alpha_precision': Measure(lambda tables: tables.support.alpha_precision),
    'beta_recall': Measure(lambda tables: tables.support.beta_recall),
    'c2st_logistic': Measure(lambda tables: tables.detection(logistic_detection)),
    'c2st_boosted': Measure(lambda tables: tables.detection(boosted_detection)),
    'mle': Measure(Tables.efficiency, needs=('holdout', 'target')),
    'imputation': Measure(Tables.imputation, needs=('synthesizer', 'holdout', 'target')),
    'dcr_share': Measure(Tables.closeness, HALF, needs=('holdout',)),
}


def evaluate(
    real: Any,
    synthetic: Any,
    metadata: Any,
    holdout: Any = None,
    target: Any = None,
    synthesizer: Any = None,
    measures: Sequence[str] | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Measure how good synthetic rows are.

    Args:
        real (pandas.DataFrame or dict[str, pandas.DataFrame]):
            The rows that the synthesizer was fitted to.
        synthetic (pandas.DataFrame or dict[str, pandas.DataFrame]):
            The synthetic rows.
        metadata (sdv.metadata.Metadata or dict):
            The metadata of both.
        holdout (pandas.DataFrame or dict[str, pandas.DataFrame] or None):
            Rows of the same kind that the synthesizer never saw. ``mle``, ``imputation`` and
            ``dcr_share`` need them.
        target (Any):
            The column to predict, for ``mle`` and ``imputation``.
        synthesizer (TabDiffSynthesizer or None):
            The fitted synthesizer, for ``imputation``.
        measures (Sequence[str] or None):
            Which measures, by the names in ``MEASURES``. Defaults to ``None``: all.
        seed (int):
            Seed of the measures that draw at random.

    Returns:
        pandas.DataFrame:
            A row for each value, with the columns ``measure``, ``value``, ``best`` (``'higher'``,
            ``'lower'`` or ``'half'``: which values are good) and ``note``, which says why a value
            is missing, be it the error of that measure. ``mle`` and ``imputation`` have a row for
            each of their scores, such as ``mle_auc``.

    Raises:
        InvalidDataError:
            If a table has no rows or lacks a column.
        ValueError:
            If there is no such measure, or the target cannot be predicted.
    """
    names = list(MEASURES) if measures is None else list(measures)
    unknown = [name for name in names if name not in MEASURES]
    if unknown:
        raise ValueError(f'There are no measures {unknown}. There are {list(MEASURES)}.')

    tables = Tables(real, synthetic, metadata, holdout, target, synthesizer, seed)
    tables.check()
    rows = [row for name in names for row in _rows(name, MEASURES[name], tables)]
    return pd.DataFrame(rows, columns=COLUMNS)


def _rows(name: str, measure: Measure, tables: Tables) -> Iterator[tuple[str, float, str, str]]:
    lacking = [need for need in measure.needs if getattr(tables, need) is None]
    if lacking:
        yield name, float('nan'), measure.best, f'needs {", ".join(lacking)}'
        return

    try:
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            found = measure.compute(tables)
    except NotInstalledError as error:
        yield name, float('nan'), measure.best, str(error)
        return
    except Exception as error:
        # The input is known to be sound: one measure that fails on it must not cost the others.
        yield name, float('nan'), measure.best, f'{type(error).__name__}: {error}'
        return

    if not isinstance(found, dict):
        yield name, found, measure.best, '' if found == found else NOTHING
        return

    for score, value in found.items():
        yield f'{name}_{score}', value, HIGHER if 'auc' in score else LOWER, ''
