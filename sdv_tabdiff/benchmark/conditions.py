"""How long synthesizers take to complete rows of which some columns are known."""

import contextlib
import io
import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sdv.metadata import Metadata
from sdv.single_table import CTGANSynthesizer, GaussianCopulaSynthesizer

from sdv_tabdiff import demo
from sdv_tabdiff.benchmark.results import Job, ResultFile, markdown, run_jobs, summarised
from sdv_tabdiff.sdv_versions import for_sdv, from_sdv
from sdv_tabdiff.synthesizer import TabDiffSynthesizer

TABDIFF = 'TabDiff'
PEERS = {'GaussianCopula': GaussianCopulaSynthesizer, 'CTGAN': CTGANSynthesizer}

# CTGAN samples and rejects until a row fits: a few rows already take minutes.
PEER_ROWS = {'GaussianCopula': 1000, 'CTGAN': 20}

TABLE = 'customers'
SDTYPES = {
    'age': 'numerical',
    'income': 'numerical',
    'hours': 'numerical',
    'spending': 'numerical',
    'savings': 'numerical',
    'member': 'categorical',
    'education': 'categorical',
    'region': 'categorical',
    'product': 'categorical',
    'joined': 'datetime',
}
KNOWN = ['income', 'region', 'joined']

KEY = ('method', 'seed')
MEASURES = (
    'fit_seconds',
    'seconds',
    'rows_asked',
    'rows_returned',
    'seconds_per_row',
    'times_tabdiff',
)


def make_table(num_rows: int, seed: int = 0) -> tuple[pd.DataFrame, Metadata]:
    """A made-up table of ten columns, each dependent on others.

    Five numbers (``age`` is whole, ``savings`` has gaps), four categories of two to twelve levels,
    and a date.
    """
    random = np.random.default_rng(seed)
    education = random.choice(4, num_rows, p=[0.2, 0.4, 0.3, 0.1])
    age = (18 + 62 * random.beta(2, 3, num_rows)).astype(int)
    income = np.exp(9.5 + 0.25 * education + 0.01 * age + random.normal(0, 0.3, num_rows))
    region = (random.poisson(1 + education) + age // 40) % 7
    member = random.random(num_rows) < 1 / (1 + np.exp(2 - income / 20_000))
    product = (3 * region + 2 * member + random.integers(0, 3, num_rows)) % 12
    days = (60 * (80 - age) * random.beta(2, 2, num_rows) + 200 * member).astype(int)
    spending = income * random.beta(2 + 2 * member, 5)
    savings = np.clip(
        income - spending + 300 * (age - 40) + random.normal(0, 2000, num_rows), 0, None
    )
    rows = pd.DataFrame({
        'age': age,
        'income': income.round(2),
        'hours': (38 - 4 * (education == 0) + random.normal(0, 4, num_rows)).round(1),
        'spending': spending.round(2),
        'savings': np.where(random.random(num_rows) < 0.3 - 0.2 * member, np.nan, savings.round(2)),
        'member': np.where(member, 'yes', 'no'),
        'education': np.array(['none', 'school', 'college', 'doctorate'])[education],
        'region': np.array([f'region {number}' for number in range(1, 8)])[region],
        'product': np.array([f'product {number}' for number in range(1, 13)])[product],
        'joined': pd.Timestamp('2010-01-01') + pd.to_timedelta(days, 'D'),
    })
    columns = {name: {'sdtype': sdtype} for name, sdtype in SDTYPES.items()}
    columns['joined']['datetime_format'] = '%Y-%m-%d'
    return rows, Metadata.load_from_dict({'tables': {TABLE: {'columns': columns}}})


def known_rows(rows: pd.DataFrame, number: int, seed: int = 0) -> pd.DataFrame:
    """At most so many rows of the known columns, no two of them alike."""
    known = rows[KNOWN].drop_duplicates()
    return known.sample(min(number, len(known)), random_state=seed).reset_index(drop=True)


@dataclass(frozen=True)
class Plan:
    """What to measure.

    Args:
        num_rows (int):
            Rows of the table.
        num_known (int):
            Rows to complete, each known by a number, a category and a date, and all different.
        peers (Sequence[str]):
            Names in ``PEERS``.
        peer_rows (int or None):
            How many of those rows a peer completes. Defaults to ``None``: those of ``PEER_ROWS``.
        peer_epochs (int or None):
            Epochs of CTGAN. Defaults to ``None``: SDV's own.
        seed (int):
            Seed of the table and of the fits.
        parameters (dict[str, Any]):
            Parameters of TabDiff.
    """

    num_rows: int = 5000
    num_known: int = 1000
    peers: Sequence[str] = tuple(PEERS)
    peer_rows: int | None = None
    peer_epochs: int | None = None
    seed: int = 0
    parameters: dict[str, Any] = field(default_factory=dict)

    def synthesizer(self, name: str, metadata: Metadata) -> Any:
        """A new synthesizer of this name."""
        if name == TABDIFF:
            return TabDiffSynthesizer(metadata, random_state=self.seed, **self.parameters)

        epochs = {'epochs': self.peer_epochs} if name == 'CTGAN' and self.peer_epochs else {}
        return PEERS[name](metadata, **epochs)


def run(plan: Plan, folder: Path) -> pd.DataFrame:
    """Fit each synthesizer to a table and time how it completes rows.

    Returns:
        pandas.DataFrame:
            One row for each synthesizer, TabDiff first, as saved in ``conditions.csv``.
    """
    rows, metadata = make_table(plan.num_rows, plan.seed)
    known = known_rows(rows, plan.num_known, plan.seed)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / 'conditions.csv'
    path.unlink(missing_ok=True)  # Times of another day do not compare.
    file = ResultFile(path, KEY, MEASURES)
    jobs = []
    for name in (TABDIFF, *plan.peers):
        asked = known if name == TABDIFF else known.head(plan.peer_rows or PEER_ROWS[name])
        make = partial(plan.synthesizer, name, metadata)
        work = partial(_complete, make, rows, asked, plan.seed, file)
        jobs.append(Job(file, {'method': name, 'seed': plan.seed}, work))

    run_jobs(jobs)
    return file.frame(job.key for job in jobs)


def _complete(
    make: Callable[[], Any], rows: pd.DataFrame, known: pd.DataFrame, seed: int, file: ResultFile
) -> dict[str, Any]:
    returned, problem = 0, ''
    with _silence(), demo.global_seed(seed):
        synthesizer = make()
        start = time.monotonic()
        synthesizer.fit(for_sdv(rows, TABLE))
        fitted = time.monotonic()
        try:
            returned = len(from_sdv(synthesizer.sample_remaining_columns(known)))
        except Exception as error:
            # Finding no row is one, too. SDV hides others behind an exception of its own.
            problem = str(error.__cause__ or error).split('. ')[0]

        seconds = time.monotonic() - fitted

    pace = seconds / returned if returned else math.inf
    reference = file.frame([{'method': TABDIFF, 'seed': seed}])['seconds_per_row']
    return {
        'fit_seconds': fitted - start,
        'seconds': seconds,
        'rows_asked': len(known),
        'rows_returned': returned,
        'seconds_per_row': pace,
        'times_tabdiff': pace / (reference.iloc[0] if len(reference) else pace),
        'problem': problem,
    }


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Drop progress bars, warnings and whatever else SDV has to say."""
    nowhere = io.StringIO()
    with (
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter('ignore')
        yield


def report(frame: pd.DataFrame) -> str:
    """The results in Markdown."""
    shown = markdown(summarised(frame, KEY[:1], MEASURES))
    return f'Rows completed from {", ".join(KNOWN[:-1])} and {KNOWN[-1]}, all different\n\n{shown}'
