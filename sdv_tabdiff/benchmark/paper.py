"""The published figures, to stand beside ours."""

from pathlib import Path

import pandas as pd

from sdv_tabdiff.benchmark.tables import BenchmarkError

COLUMNS = ('metric', 'dataset', 'method', 'value')
PER_CENT = ('alpha_precision', 'beta_recall', 'dcr_share')

# Its figures for filling in classes are micro-averaged areas in per cent.
IMPUTATION = 'imputation'
UNGUIDED = ' w=0.0'
ERRORS = ('beijing', 'news')


def load_paper(path: Path) -> pd.DataFrame:
    """Figures of the literature under the names of our columns.

    Args:
        path (pathlib.Path):
            A CSV file with the columns ``metric``, ``dataset``, ``method`` and ``value``.

    Returns:
        pandas.DataFrame:
            A row for each dataset and method, by ``table`` and ``synthesizer``.
    """
    try:
        figures = pd.read_csv(path)
    except (OSError, ValueError) as error:
        raise BenchmarkError(f"Cannot read '{path}': {error}.") from error

    lacking = [name for name in COLUMNS if name not in figures]
    if lacking:
        raise BenchmarkError(f"'{path}' lacks the columns {lacking}.")

    figures['method'] = figures['method'].str.removesuffix(UNGUIDED)
    figures['column'] = [_column(*pair) for pair in zip(figures['metric'], figures['dataset'])]
    scale = [_scale(*pair) for pair in zip(figures['metric'], figures['dataset'])]
    figures['value'] = pd.to_numeric(figures['value']) * scale
    wide = figures.pivot_table(
        index=['dataset', 'method'], columns='column', values='value', sort=False
    )
    return wide.rename_axis(['table', 'synthesizer']).rename_axis(columns=None).reset_index()


def _column(metric: str, dataset: str) -> str:
    if metric == 'dcr_share':  # The paper fits to one half for it.
        return 'dcr_share_halves'
    if metric not in ('mle', IMPUTATION):
        return metric
    if dataset in ERRORS:
        return f'{metric}_log_rmse'

    return f'{metric}_micro_auc' if metric == IMPUTATION else f'{metric}_auc'


def _scale(metric: str, dataset: str) -> float:
    share = metric in PER_CENT or (metric == IMPUTATION and dataset not in ERRORS)
    return 0.01 if share else 1.0
