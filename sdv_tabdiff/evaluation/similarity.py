"""How alike columns and pairs of columns are: SDMetrics' quality report."""

from typing import Any

from sdmetrics.reports import QualityReport

from sdv_tabdiff.evaluation.seeds import global_seed
from sdv_tabdiff.evaluation.tables import NUMBERS, measured_columns, measured_table

TABLE = 'table'
PROPERTIES = ('Column Shapes', 'Column Pair Trends')


def quality(real: Any, synthetic: Any, metadata: Any, all_pairs: bool = True) -> dict[str, float]:
    """SDMetrics' quality report on the measured columns.

    Args:
        real (pandas.DataFrame or dict):
            The training rows.
        synthetic (pandas.DataFrame or dict):
            The synthetic rows.
        metadata (sdv.metadata.Metadata or dict):
            The metadata of both.
        all_pairs (bool):
            Whether every pair of columns counts, as in the literature. Otherwise only those that
            SDMetrics finds related in the real data (its own thresholds).

    Returns:
        dict[str, float]:
            ``shape``, ``trend`` and ``score``, from 0 to 1. NaN where nothing can be compared, such
            as the pairs of a single column.
    """
    tables = [
        {TABLE: measured_table(data, metadata, role)}
        for data, role in ((real, 'real'), (synthetic, 'synthetic'))
    ]
    report = QualityReport()
    if all_pairs:
        report.real_correlation_threshold = 0
        report.real_association_threshold = 0

    described = {'tables': {TABLE: {'columns': _columns(metadata)}}}
    with global_seed(0):  # SDMetrics draws 50,000 rows of larger tables for its pairs.
        report.generate(*tables, described, verbose=False)

    parts = report.get_properties().set_index('Property')['Score'].astype(float)
    shape, trend = (float(parts.get(name, float('nan'))) for name in PROPERTIES)
    return {'shape': shape, 'trend': trend, 'score': float(report.get_score())}


def _columns(metadata: Any) -> dict[Any, dict[str, str]]:
    # Dates are numbers by now.
    return {
        name: {'sdtype': 'numerical' if properties['sdtype'] in NUMBERS else 'categorical'}
        for name, properties in measured_columns(metadata).items()
    }


def shape_error(real: Any, synthetic: Any, metadata: Any) -> float:
    """``100 (1 - score)`` of the column shapes, in per cent: 0 is best.

    Args:
        real (pandas.DataFrame or dict):
            The training rows.
        synthetic (pandas.DataFrame or dict):
            The synthetic rows.
        metadata (sdv.metadata.Metadata or dict):
            The metadata of both.
    """
    return 100 * (1 - quality(real, synthetic, metadata)['shape'])


def trend_error(real: Any, synthetic: Any, metadata: Any) -> float:
    """``100 (1 - score)`` of the trends of all pairs of columns, in per cent: 0 is best.

    Args:
        real (pandas.DataFrame or dict):
            The training rows.
        synthetic (pandas.DataFrame or dict):
            The synthetic rows.
        metadata (sdv.metadata.Metadata or dict):
            The metadata of both.
    """
    return 100 * (1 - quality(real, synthetic, metadata)['trend'])
