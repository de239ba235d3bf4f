"""The work behind ``sdv-tabdiff demo``: load a table, fit synthesizers to it, score and draw."""

import contextlib
import html
import importlib.resources
import io
import itertools
import math
import string
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import torch
from pandas.api.types import is_numeric_dtype
from plotly.offline import get_plotlyjs
from sdmetrics.reports import DiagnosticReport, QualityReport
from sdmetrics.visualization import PlotConfig, get_column_plot
from sdv.errors import InvalidDataError, SamplingError, SynthesizerInputError
from sdv.metadata import Metadata
from sdv.metadata.errors import InvalidMetadataError
from sdv.single_table import CTGANSynthesizer, TVAESynthesizer

from sdv_tabdiff.sdv_versions import ProcessingError, for_sdv, from_sdv
from sdv_tabdiff.synthesizer import TabDiffSynthesizer

PEERS = {'CTGAN': CTGANSynthesizer, 'TVAE': TVAESynthesizer}
SCORES = ('Quality', 'Column Shapes', 'Column Pair Trends', 'Diagnostic')
HEADER = ('Synthesizer', *SCORES, 'Fit time')
CURVES, BARS = {'numerical', 'datetime'}, {'categorical', 'boolean', 'ordinal'}

# More figures on a page, or bars in a figure, are neither readable nor light enough to open.
MAX_FIGURES = MAX_BARS = 60


class DemoError(Exception):
    """Something is wrong with what the user gave; the message says what."""


# Errors whose words tell the user what to change.
INPUT_ERRORS = (
    DemoError,
    InvalidDataError,
    InvalidMetadataError,
    ProcessingError,
    SamplingError,
    SynthesizerInputError,
)


@dataclass(frozen=True)
class Table:
    """The rows that the synthesizers see, their metadata and the file's number of rows."""

    name: str
    rows: pd.DataFrame
    metadata: Metadata
    total_rows: int


@dataclass(frozen=True)
class Result:
    """What one synthesizer made of a table: as many rows, or the problem that it had with it."""

    name: str
    seconds: float
    synthetic: pd.DataFrame | None = None
    scores: dict[str, float] = field(default_factory=dict)
    loss_plot: go.Figure | None = None
    problem: str = ''

    def cells(self) -> list[str]:
        """The texts under ``HEADER``; a failure has its reason for scores."""
        if self.problem:
            return [self.name, f'failed: {self.problem}']

        scores = [self.scores[name] for name in SCORES]
        shown = ['n/a' if math.isnan(score) else f'{100 * score:.1f} %' for score in scores]
        return [self.name, *shown, f'{self.seconds:.1f} s']


def load_example() -> Table:
    """The student placements that SDMetrics ships, a real table of every kind of column."""
    folder = importlib.resources.files('sdmetrics') / 'demos' / 'single_table'
    with importlib.resources.as_file(folder / 'student_placements_real.csv') as path:
        rows = pd.read_csv(path)

    name = 'student_placements'
    return Table(name, rows, Metadata.detect_from_dataframes({name: rows}), len(rows))


def load_table(
    data: Path, metadata: Path | None = None, max_rows: int | None = None, seed: int = 0
) -> Table:
    """Read a CSV file and its metadata.

    Args:
        data (pathlib.Path):
            The CSV file.
        metadata (pathlib.Path or None):
            A JSON file of SDV's metadata. Defaults to ``None``: SDV detects it.
        max_rows (int or None):
            Number of rows to draw from a longer file. Defaults to ``None``: take all.
        seed (int):
            Seed of that draw.
    """
    rows = everything = _read_csv(data)
    if max_rows is not None and len(everything) > max_rows:
        rows = everything.sample(max_rows, random_state=seed).sort_index(ignore_index=True)

    detect = Metadata.detect_from_dataframes
    described = _load_metadata(metadata, data.stem) if metadata else detect({data.stem: rows})
    return Table(next(iter(described.tables)), rows, described, len(everything))


def _read_csv(path: Path) -> pd.DataFrame:
    try:
        rows = pd.read_csv(path)
    except pd.errors.EmptyDataError:
        raise DemoError(f"'{path}' is empty.") from None
    except OSError as error:
        raise DemoError(f"Cannot read '{path}': {error.strerror or error}.") from error
    except ValueError as error:
        raise DemoError(f"'{path}' is not a CSV file: {error}") from error

    if rows.empty:
        raise DemoError(f"'{path}' has no rows.")

    return rows


def _load_metadata(path: Path, name: str) -> Metadata:
    try:
        metadata = Metadata.load_from_json(str(path), single_table_name=name)
        metadata.validate()
    except Exception as error:  # SDV raises whatever the content of the file runs into.
        raise DemoError(f"Cannot use the metadata '{path}': {error}") from error

    if len(metadata.tables) != 1:
        raise DemoError(f"'{path}' describes {len(metadata.tables)} tables instead of one.")

    return metadata


def run_tabdiff(table: Table, seed: int = 0, **parameters: Any) -> Result:
    """Fit TabDiff with these parameters, sample as many rows as there are and score them."""
    synthesizer = TabDiffSynthesizer(table.metadata, random_state=seed, **parameters)
    result = _run('TabDiff', synthesizer, table)
    if synthesizer.get_loss_values().empty:
        return result

    return replace(result, loss_plot=synthesizer.get_loss_values_plot(title=''))


def run_peer(name: str, table: Table, seed: int = 0) -> Result:
    """Like ``run_tabdiff`` for one of ``PEERS``; that it fails is a result, not an error."""
    start = time.monotonic()
    try:
        with global_seed(seed), contextlib.redirect_stdout(io.StringIO()):
            return _run(name, PEERS[name](table.metadata), table)
    except Exception as error:
        problem = ' '.join(str(error).split()) or repr(error)
        return Result(name, time.monotonic() - start, problem=problem)


@contextlib.contextmanager
def global_seed(seed: int) -> Iterator[None]:
    """Seed the global generators, with which CTGAN and TVAE train, and restore them after."""
    state = np.random.get_state()  # noqa: NPY002
    try:
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            np.random.seed(seed)  # noqa: NPY002
            yield
    finally:
        np.random.set_state(state)  # noqa: NPY002


def _run(name: str, synthesizer: Any, table: Table) -> Result:
    start = time.monotonic()
    synthesizer.fit(for_sdv(table.rows, table.name))
    seconds = time.monotonic() - start
    synthetic = from_sdv(synthesizer.sample(len(table.rows)))
    return Result(name, seconds, synthetic, score(table, synthetic))


def score(table: Table, synthetic: pd.DataFrame) -> dict[str, float]:
    """SDMetrics' scores of synthetic rows, from 0 to 1, by the names in ``SCORES``."""
    arguments = ({table.name: table.rows}, {table.name: synthetic}, table.metadata.to_dict())
    quality, diagnostic = QualityReport(), DiagnosticReport()
    quality.generate(*arguments, verbose=False)
    diagnostic.generate(*arguments, verbose=False)
    parts = quality.get_properties().set_index('Property')['Score']
    scores = (quality.get_score(), *parts[list(SCORES[1:3])], diagnostic.get_score())
    return dict(zip(SCORES, scores))


def column_figures(table: Table, synthetic: pd.DataFrame) -> Iterator[go.Figure]:
    """Real against synthetic values of each column that can be drawn, titled by its name."""
    for name, column in table.metadata.tables[table.name].columns.items():
        real, made = (_drawable(frame[name], column) for frame in (table.rows, synthetic))
        values = real.dropna().value_counts().index
        curve = column['sdtype'] in CURVES and min(len(values), made.nunique()) > 1
        if column['sdtype'] not in CURVES | BARS or not (curve or 1 <= len(values) <= MAX_BARS):
            continue

        kind = 'distplot' if curve else 'bar'
        try:
            figure = get_column_plot(real.to_frame(), made.to_frame(), name, plot_type=kind)
        except (IndexError, ValueError):
            continue  # Nothing but missing values on one side, or too close to have a density.

        figure.update_layout(title=html.escape(name), xaxis_title=None, yaxis_title=None)
        figure.update_annotations(font_size=10)
        if curve:
            figure.update_yaxes(showticklabels=False)  # Densities: only their shapes can be read.
        else:
            order = sorted(values) if is_numeric_dtype(real) else values
            figure.update_xaxes(type='category', categoryorder='array', categoryarray=list(order))

        yield figure


def _drawable(values: pd.Series, column: dict[str, Any]) -> pd.Series:
    if column['sdtype'] != 'datetime':
        return values

    return pd.to_datetime(values, format=column.get('datetime_format'), errors='coerce')


def write_results(folder: Path, table: Table, results: list[Result]) -> dict[str, str]:
    """Write TabDiff's rows (its result comes first), the metadata and a page of plots.

    Returns:
        dict[str, str]:
            What is in each file, by its name.
    """
    synthetic = results[0].synthetic
    synthetic.to_csv(folder / 'synthetic.csv', index=False)
    table.metadata.save_to_json(str(folder / 'metadata.json'), mode='overwrite')
    figures = list(itertools.islice(column_figures(table, synthetic), MAX_FIGURES))
    (folder / 'report.html').write_text(html_page(table, results, figures), encoding='utf-8')
    return {
        'report.html': f'scores, losses and {len(figures)} column plots, for a browser',
        'synthetic.csv': 'the synthetic rows of TabDiff',
        'metadata.json': 'the metadata; mend it and pass it with --metadata',
    }


def html_page(table: Table, results: list[Result], figures: list[go.Figure]) -> str:
    """One self-contained page with the scores, the losses and the figures of the columns."""
    rows = ''
    for name, *cells in (result.cells() for result in results):
        span = len(HEADER) - len(cells)
        texts = ''.join(f'<td colspan={span}>{html.escape(cell)}</td>' for cell in cells)
        rows += f'<tr><th>{name}</th>{texts}</tr>'

    losses = results[0].loss_plot
    return PAGE.substitute(
        plotlyjs=get_plotlyjs(),
        real=PlotConfig.DATACEBO_DARK,
        synthetic=PlotConfig.DATACEBO_GREEN,
        name=html.escape(table.name),
        size=f'{len(table.rows):,} rows, {len(table.rows.columns)} columns',
        scores=''.join(f'<th>{name}</th>' for name in HEADER) + rows,
        losses=_div(losses, 320, top=30) if losses else '',
        plots=''.join(_div(figure, 270, top=55, showlegend=False) for figure in figures),
    )


def _div(figure: go.Figure, height: int, top: int, **layout: Any) -> str:
    margin = {'l': 50, 'r': 15, 't': top, 'b': 40}
    figure.update_layout(height=height, margin=margin, font={'size': 13}, title_x=0.03, **layout)
    config = {'responsive': True, 'displayModeBar': False}
    return figure.to_html(full_html=False, include_plotlyjs=False, config=config)


PAGE = string.Template("""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>TabDiff: $name</title>
<script>$plotlyjs</script><style>
body { font: 16px/1.5 sans-serif; color: $real; max-width: 1200px; margin: auto; padding: 1rem; }
table { border-collapse: collapse; } td, th { padding: .3rem 1rem; text-align: right; }
tr { border-bottom: 1px solid #ddd; } th:first-child, [colspan='5'] { text-align: left; }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(370px, 1fr)); gap: 1rem; }
i { display: inline-block; width: 1em; height: 1em; margin: 0 .4em -.1em 1em; }
</style></head><body>
<h1>TabDiff on $name</h1>
<p>$size. As many synthetic rows of each synthesizer, scored by SDMetrics:</p>
<table>$scores</table><h2>TabDiff's training</h2>$losses
<h2>TabDiff's columns<i style="background: $real"></i>real
<i style="background: $synthetic"></i>synthetic</h2><div class="plots">$plots</div>
</body></html>
""")
