"""The results of the quality benchmark, to read and to look at."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from sdv_tabdiff.benchmark.quality import COSTS, VALUES
from sdv_tabdiff.benchmark.results import PROBLEM, markdown, summarised
from sdv_tabdiff.benchmark.synthesizers import BOOTSTRAP, TABDIFF

UNITS = {
    'shape_error': 'Shape error, %',
    'trend_error': 'Trend error, %',
    'sdmetrics_score': 'SDMetrics score',
    'sdmetrics_trend': 'SDMetrics trend',
    'alpha_precision': 'alpha-precision',
    'beta_recall': 'beta-recall',
    'c2st_logistic': 'C2ST logistic',
    'c2st_boosted': 'C2ST boosted',
    'mle_auc': 'MLE AUC',
    'mle_micro_auc': 'MLE micro AUC',
    'mle_log_rmse': 'MLE log RMSE',
    'mle_rmse': 'MLE RMSE',
    'imputation_auc': 'imputation AUC',
    'imputation_micro_auc': 'imputation micro AUC',
    'imputation_log_rmse': 'imputation log RMSE',
    'imputation_rmse': 'imputation RMSE',
    'dcr_share': 'DCR share',
    'dcr_share_halves': 'DCR share, halves',
    'fit_seconds': 'fit, s',
    'sample_seconds': 'sample, s',
    'rows_per_second': 'rows/s',
    'fit_memory': 'memory of the fit, MiB',
    'model_size': 'model, MB',
}
PLOTTED = ('shape_error', 'trend_error', 'c2st_boosted')


def report(frame: pd.DataFrame, paper: pd.DataFrame | None = None) -> str:
    """All results in Markdown: quality and cost of each table, then the ablation.

    Args:
        frame (pandas.DataFrame):
            The rows of ``quality.run``.
        paper (pandas.DataFrame or None):
            Published figures, as ``load_paper`` returns them.
    """
    parts = list(_tables(frame, paper))
    if frame['synthesizer'].str.startswith(TABDIFF).groupby(frame['synthesizer']).all().sum() > 1:
        parts.append(_ablation(frame))

    return '\n\n'.join(parts)


def _tables(frame: pd.DataFrame, paper: pd.DataFrame | None) -> Iterator[str]:
    for name, rows in frame.groupby('table', sort=False):
        sizes = rows[['train_rows', 'test_rows']].iloc[0]
        train, test = (f'{int(size):,}' for size in sizes)
        quality = summarised(rows, ['synthesizer'], VALUES)
        if paper is not None:
            quality = _with_paper(quality, paper[paper['table'] == name])

        cost = summarised(rows, ['synthesizer'], COSTS).drop(columns=PROBLEM, errors='ignore')
        yield f'### {name}: {train} training rows, {test} test rows'
        yield f'{_seeds(rows)}{BOOTSTRAP} draws training rows again: the floor.'
        yield markdown(quality.rename(columns=UNITS))
        yield markdown(cost.rename(columns=UNITS))


def _seeds(rows: pd.DataFrame) -> str:
    counts = rows.groupby('synthesizer', sort=False)['seed'].nunique()
    several = [f'{name} {count}' for name, count in counts.items() if count > 1]
    return f'Mean ± standard deviation over seeds ({", ".join(several)}). ' if several else ''


def _with_paper(quality: pd.DataFrame, paper: pd.DataFrame) -> pd.DataFrame:
    """The rows of the paper below ours, in our columns."""
    wanted = [*(name.split()[0] for name in quality['synthesizer']), 'Real']
    published = paper[paper['synthesizer'].isin(wanted)]
    texts = pd.DataFrame({'synthesizer': published['synthesizer'] + ' (paper)'})
    for name in quality.columns.drop('synthesizer'):
        values = published[name] if name in published else pd.Series(dtype=float)
        texts[name] = [f'{value:.4g}' if value == value else '' for value in values] or ''

    return pd.concat([quality, texts], ignore_index=True)


def _ablation(frame: pd.DataFrame) -> str:
    """Means over the tables of each variant of TabDiff."""
    rows = frame[frame['synthesizer'].str.startswith(TABDIFF)]
    number = rows['synthesizer'].nunique()
    measured = [name for name in PLOTTED if rows[name].notna().any()]
    whole = rows.dropna(subset=measured)
    tables = [
        name
        for name, part in whole.groupby('table', sort=False)
        if part['synthesizer'].nunique() == number and len(part) == (rows['table'] == name).sum()
    ]
    rows = rows[rows['table'].isin(tables)]
    means = rows.groupby(['synthesizer', 'seed'], sort=False)[measured].mean().reset_index()
    shown = summarised(means.assign(problem=''), ['synthesizer'], measured)
    names = ', '.join(tables)
    return (
        f'### Variants, means over {len(tables)} tables ({names})\n\n'
        f'{markdown(shown.rename(columns=UNITS))}'
    )


def plot(frame: pd.DataFrame, measures: Sequence[str] = PLOTTED) -> go.Figure:
    """Quality against the minutes of the fit: a row of pictures for each table."""
    tables = list(frame['table'].unique())
    figure = make_subplots(
        rows=len(tables),
        cols=len(measures),
        subplot_titles=[f'{table}: {UNITS[name]}' for table in tables for name in measures],
        vertical_spacing=min(0.12, 0.5 / len(tables)),
    )
    colours = {
        name: PALETTE[position % len(PALETTE)]
        for position, name in enumerate(frame['synthesizer'].unique())
    }
    for row, table in enumerate(tables, start=1):
        for column, measure in enumerate(measures, start=1):
            for name, runs in frame[frame['table'] == table].groupby('synthesizer', sort=False):
                figure.add_trace(
                    go.Scatter(
                        x=runs['fit_seconds'] / 60,
                        y=runs[measure],
                        name=name,
                        mode='markers',
                        marker={'size': 10, 'color': colours[name]},
                        showlegend=row == column == 1,
                        legendgroup=name,
                    ),
                    row=row,
                    col=column,
                )

    figure.update_xaxes(title='minutes', rangemode='tozero')
    figure.update_yaxes(rangemode='tozero')
    return figure.update_layout(height=320 * len(tables), template='plotly_white')


PALETTE = ('#7f7f7f', '#d62728', '#1f77b4', '#2ca02c', '#9467bd', '#ff7f0e', '#8c564b', '#17becf')


def write(
    frame: pd.DataFrame, folder: Path, origin: str = '', paper: pd.DataFrame | None = None
) -> str:
    """Save the report, below its origin, and the picture; returns both texts as one."""
    text = '\n\n'.join(part for part in (origin, report(frame, paper)) if part)
    (folder / 'quality.md').write_text(f'{text}\n', encoding='utf-8')
    plot(frame).write_html(folder / 'quality.html', include_plotlyjs=True)
    return text
