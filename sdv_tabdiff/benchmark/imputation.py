"""How well TabDiff fills in a target column, or cells at random, beside other methods."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sdv_tabdiff.benchmark import peers
from sdv_tabdiff.benchmark.measures import cell_scores, hide_cells
from sdv_tabdiff.benchmark.results import Job, ResultFile, in_words, markdown, run_jobs, summarised
from sdv_tabdiff.benchmark.tables import CATEGORIES, NUMBERS, BenchmarkTable
from sdv_tabdiff.evaluation import imputation_scores
from sdv_tabdiff.evaluation.predictions import AUC, level_scores, number_scores
from sdv_tabdiff.levels import distinct_levels
from sdv_tabdiff.synthesizer import TabDiffSynthesizer

TARGET, CELLS = 'target', 'cells'
TABDIFF, XGBOOST = 'TabDiff', 'XGBoost'
POINT, DRAW = 'TabDiff point estimate', 'TabDiff draw'
HIDDEN, NETWORK = 'hidden', 'network'

CELLS_TEST_ROWS = 1000
TITLES = {
    TARGET: 'The target column of the test rows, from all others',
    CELLS: 'Cells of the test rows, hidden at random',
}

# What tells rows apart, and what is measured. The settings make sure that a run with others does
# not take its predecessor's rows for its own.
KEYS = {
    TARGET: ('table', 'method', 'form', 'guidance', 'seed', 'settings'),
    CELLS: ('table', 'rate', 'method', 'seed', 'settings'),
}
ROWS = ('train_rows', 'test_rows')
MEASURES = {
    TARGET: ('auc', 'micro_auc', 'log_rmse', 'rmse', 'fit_seconds', 'seconds'),
    CELLS: ('numerical_error', 'categorical_error', 'fit_seconds', 'seconds'),
}


@dataclass(frozen=True)
class Plan:
    """What to measure.

    Args:
        guidance (Sequence[float]):
            Strengths of the guidance.
        forms (Sequence[str]):
            What the guidance compares with: the network with the known columns ``'hidden'``, or
            the paper's second ``'network'``. Without guidance they are the same.
        draws (int):
            Draws behind a point estimate.
        seeds (Sequence[int]):
            Seeds of the training, the draws and the choice of hidden cells.
        rates (Sequence[float]):
            Shares of hidden cells.
        max_rows (int or None):
            Largest number of training rows.
        max_test_rows (int or None):
            Largest number of test rows. Defaults to ``None``: all for the target, 1,000 for cells.
        parameters (dict[str, Any]):
            Parameters of the synthesizer.
    """

    guidance: Sequence[float] = (0.0, 0.6)
    forms: Sequence[str] = (HIDDEN, NETWORK)
    draws: int = 20
    seeds: Sequence[int] = (0,)
    rates: Sequence[float] = (0.1, 0.3, 0.5)
    max_rows: int | None = None
    max_test_rows: int | None = None
    parameters: dict[str, Any] = field(default_factory=dict)

    def settings(self, method: str) -> str:
        """In words, what else than its key determines a method's row."""
        numbers = {'max_rows': self.max_rows, 'max_test_rows': self.max_test_rows}
        if method.startswith(TABDIFF):
            numbers |= {'draws': self.draws, **self.parameters}

        return in_words(numbers)


class Fits:
    """TabDiff, fitted once for all the rows of results that need the same fit.

    Args:
        plan (Plan):
            The forms of guidance and the parameters of the synthesizer.
    """

    def __init__(self, plan: Plan):
        self.plan = plan
        self._of: tuple[str, int] | None = None
        self._fits: dict[str, tuple[TabDiffSynthesizer, float]] = {}

    def get(self, table: BenchmarkTable, seed: int, form: str) -> tuple[TabDiffSynthesizer, float]:
        """The synthesizer for a form of guidance and the seconds that its fit took."""
        if self._of != (table.name, seed):
            self._of, self._fits = (table.name, seed), {}

        if form not in self._fits:
            parameters = dict(self.plan.parameters)
            if form == NETWORK:
                parameters['guidance_columns'] = [table.target]

            start = time.monotonic()
            synthesizer = TabDiffSynthesizer(table.metadata, random_state=seed, **parameters)
            synthesizer.fit(table.train)
            self._fits[form] = synthesizer, time.monotonic() - start

        return self._fits[form]


def run(
    tables: Sequence[BenchmarkTable], tasks: Sequence[str], plan: Plan, folder: Path
) -> dict[str, pd.DataFrame]:
    """Measure what is not in the folder yet.

    Returns:
        dict[str, pandas.DataFrame]:
            One row for each table, method and seed, by task, as saved in
            ``imputation-<task>.csv``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = {
        task: ResultFile(folder / f'imputation-{task}.csv', KEYS[task], [*ROWS, *MEASURES[task]])
        for task in tasks
    }
    jobs = list(_jobs(tables, files, plan))
    run_jobs(jobs)
    return {
        task: file.frame(job.key for job in jobs if job.file is file)
        for task, file in files.items()
    }


def _jobs(
    tables: Sequence[BenchmarkTable], files: dict[str, ResultFile], plan: Plan
) -> Iterator[Job]:
    fits = Fits(plan)
    for table in tables:
        for seed in plan.seeds:
            if TARGET in files and table.target is not None:
                part = table.shortened(plan.max_rows, plan.max_test_rows)
                yield from _target_jobs(files[TARGET], part, seed, fits)
            if CELLS in files:
                part = table.shortened(plan.max_rows, plan.max_test_rows or CELLS_TEST_ROWS)
                yield from _cells_jobs(files[CELLS], part, seed, fits)


def _target_jobs(file: ResultFile, table: BenchmarkTable, seed: int, fits: Fits) -> Iterator[Job]:
    table = replace(table, test=table.test[table.test[table.target].notna()])
    plan = fits.plan
    guided = [(form, omega) for form in plan.forms for omega in plan.guidance if omega]
    if 0 in plan.guidance:
        # Nothing to compare with, so the forms are the same: take a fit that is needed anyway.
        free = NETWORK if guided and HIDDEN not in plan.forms else HIDDEN
        guided = [(free, 0.0), *guided]

    for form, omega in guided:
        key = {'method': TABDIFF, 'form': form if omega else '', 'guidance': omega}
        work = partial(_target_by_tabdiff, table, seed, fits, form, omega)
        yield _job(file, key, work, table, seed, plan)

    key = {'method': XGBOOST, 'form': '', 'guidance': ''}
    yield _job(file, key, partial(_target_by_trees, table, seed), table, seed, plan)


def _cells_jobs(file: ResultFile, table: BenchmarkTable, seed: int, fits: Fits) -> Iterator[Job]:
    for rate in fits.plan.rates:
        for method in (POINT, DRAW, *peers.IMPUTERS):
            work = partial(_cells_row, table, seed, fits, rate, method)
            yield _job(file, {'rate': rate, 'method': method}, work, table, seed, fits.plan)


def _job(
    file: ResultFile,
    key: dict[str, Any],
    work: Callable[[], dict[str, Any]],
    table: BenchmarkTable,
    seed: int,
    plan: Plan,
) -> Job:
    facts = {
        'table': table.name,
        'seed': seed,
        'settings': plan.settings(key['method']),
        'train_rows': len(table.train),
        'test_rows': len(table.test),
    }
    return Job(file, {**key, **facts}, work)


def _target_by_tabdiff(
    table: BenchmarkTable, seed: int, fits: Fits, form: str, omega: float
) -> dict[str, float]:
    synthesizer, fit_seconds = fits.get(table, seed, form)
    start = time.monotonic()
    scores = imputation_scores(
        synthesizer, table.test, table.metadata, table.target, omega, fits.plan.draws, seed
    )
    return {**scores, 'fit_seconds': fit_seconds, 'seconds': time.monotonic() - start}


def _target_by_trees(table: BenchmarkTable, seed: int) -> dict[str, float]:
    predicted, truth = peers.predict_target(table, seed), table.test[table.target]
    if table.task != AUC:
        return number_scores(str(table.task), truth, predicted)

    # Levels that only test rows have come last, and have no chance.
    levels = distinct_levels(pd.concat([table.train[table.target], truth]).astype(object))
    probabilities = np.zeros((len(truth), len(levels)))
    probabilities[:, : predicted.shape[1]] = predicted
    return level_scores(levels.get_indexer(truth.astype(object)), probabilities)


def _cells_row(
    table: BenchmarkTable, seed: int, fits: Fits, rate: float, method: str
) -> dict[str, float]:
    hidden = hide_cells(table.test, table.columns([*NUMBERS, *CATEGORIES]), rate, seed)
    rows = table.test.mask(hidden)
    if method in peers.IMPUTERS:
        return cell_scores(table, peers.IMPUTERS[method](table, rows, rate, seed), hidden)

    synthesizer, fit_seconds = fits.get(table, seed, HIDDEN)
    start = time.monotonic()
    options = {'method': 'mean', 'num_draws': fits.plan.draws} if method == POINT else {}
    imputed = synthesizer.impute(table.without_new_levels(rows), random_state=seed, **options)
    seconds = time.monotonic() - start
    return {**cell_scores(table, imputed, hidden), 'fit_seconds': fit_seconds, 'seconds': seconds}


def report(frames: dict[str, pd.DataFrame]) -> str:
    """The results of all tasks in Markdown."""
    parts = []
    for task, frame in frames.items():
        key = [name for name in KEYS[task] if name not in ('seed', 'settings')]
        seeds = frame['seed'].nunique()
        over = f', mean ± standard deviation over {seeds} seeds' if seeds > 1 else ''
        shown = markdown(summarised(frame, key, MEASURES[task]))
        parts.append(f'{TITLES[task]}{over}\n\n{shown}')

    return '\n\n'.join(parts)
