"""What the steps of the sampler buy: quality and speed of one fit, sampled with few or many."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from sdv_tabdiff.benchmark import imputation
from sdv_tabdiff.benchmark.results import Job, ResultFile, in_words, markdown, run_jobs, summarised
from sdv_tabdiff.benchmark.tables import BenchmarkTable
from sdv_tabdiff.evaluation import evaluate

KEY = ('table', 'steps', 'seed', 'settings')
QUALITY = ('shape_error', 'trend_error', 'c2st_boosted')
COSTS = ('sample_seconds', 'rows_per_second', 'first_100_seconds')


@dataclass(frozen=True)
class Plan:
    """What to measure.

    Args:
        steps (Sequence[int]):
            Numbers of sampling steps.
        seeds (Sequence[int]):
            Seeds of the training and of the samples.
        max_rows (int or None):
            Largest number of training rows.
        parameters (dict[str, Any]):
            Parameters of the synthesizer.
    """

    steps: Sequence[int] = (5, 10, 15, 20, 30, 50)
    seeds: Sequence[int] = (0,)
    max_rows: int | None = None
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def settings(self) -> str:
        """In words, what else than its key determines a row."""
        words = {'max_rows': self.max_rows, **self.parameters}
        return in_words(words)


def run(tables: Sequence[BenchmarkTable], plan: Plan, folder: Path) -> pd.DataFrame:
    """Measure what is not in the folder yet: one fit for each table and seed.

    Returns:
        pandas.DataFrame:
            A row for each table, number of steps and seed, as saved in ``steps.csv``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = ResultFile(folder / 'steps.csv', KEY, [*QUALITY, *COSTS])
    fits = imputation.Fits(imputation.Plan(parameters=plan.parameters))
    jobs = []
    for table in (table.shortened(plan.max_rows, None) for table in tables):
        settings = f'{plan.settings} data={table.digest}'.strip()
        for seed in plan.seeds:
            for steps in plan.steps:
                key = {'table': table.name, 'steps': steps, 'seed': seed, 'settings': settings}
                jobs.append(Job(file, key, partial(_measure, fits, table, seed, steps)))

    run_jobs(jobs)
    return file.frame(job.key for job in jobs)


def _measure(fits: imputation.Fits, table: BenchmarkTable, seed: int, steps: int) -> dict[str, Any]:
    synthesizer, _ = fits.get(table, seed, imputation.HIDDEN)
    synthesizer.set_sampling_steps(steps)
    synthesizer.reset_sampling()
    start = time.monotonic()
    synthesizer.sample(100)
    begun = time.monotonic()
    rows = synthesizer.sample(len(table.train))
    seconds = time.monotonic() - begun
    found = evaluate(table.train, rows, table.metadata, measures=QUALITY, seed=seed)
    return {
        **dict(zip(found['measure'], found['value'])),
        'sample_seconds': seconds,
        'rows_per_second': len(rows) / seconds,
        'first_100_seconds': begun - start,
    }


def report(frame: pd.DataFrame) -> str:
    """The results in Markdown, a table for each table."""
    parts = []
    for name, rows in frame.groupby('table', sort=False):
        seeds = rows['seed'].nunique()
        texts = summarised(rows, KEY[1:2], [*QUALITY, *COSTS])
        parts.append(f'{name}, seeds: {seeds}\n\n{markdown(texts)}')

    return '\n\n'.join(parts)
