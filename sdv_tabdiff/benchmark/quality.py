"""How good the rows of synthesizers are, and what they cost: tables x synthesizers x seeds."""

import contextlib
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from threadpoolctl import threadpool_limits

from sdv_tabdiff.benchmark.results import PROBLEM, Job, ResultFile, in_words, run_jobs
from sdv_tabdiff.benchmark.synthesizers import BOOTSTRAP, DEFAULT_NAMES, TABDIFF, Variant
from sdv_tabdiff.benchmark.tables import BenchmarkTable, half_of
from sdv_tabdiff.benchmark.worker import NOTE, RUN, Assignment, read_synthetic
from sdv_tabdiff.evaluation import MEASURES, dcr_share, evaluate
from sdv_tabdiff.evaluation.summary import NOTHING
from sdv_tabdiff.evaluation.trees import NotInstalledError, tree_models

# Filling in needs the fitted synthesizer, so the process that fits does it.
IMPUTATION, DCR = 'imputation', 'dcr_share'
HALVES = 'dcr_share_halves'

KEY = ('table', 'synthesizer', 'seed', 'settings')
COSTS = ('fit_seconds', 'sample_seconds', 'rows_per_second', 'fit_memory', 'model_size')
VALUES = (
    'shape_error',
    'trend_error',
    'sdmetrics_score',
    'sdmetrics_trend',
    'alpha_precision',
    'beta_recall',
    'c2st_logistic',
    'c2st_boosted',
    *(
        f'{measure}_{score}'
        for measure in ('mle', IMPUTATION)
        for score in ('auc', 'micro_auc', 'log_rmse', 'rmse')
    ),
    DCR,
    HALVES,
)
ROWS = ('train_rows', 'test_rows')


class FailedRunError(Exception):
    """A synthesizer failed; the message is its own."""


@dataclass(frozen=True)
class Plan:
    """What to measure.

    Args:
        data (pathlib.Path):
            Folder of the tables.
        synthesizers (Sequence[str]):
            Names of ``synthesizers.NAMES``.
        variants (Sequence[Variant]):
            Variants of TabDiff.
        seeds (Sequence[int]):
            Seeds.
        peer_seeds (Sequence[int] or None):
            Seeds of all but TabDiff. Defaults to ``None``: the same.
        measures (Sequence[str]):
            Names of ``evaluation.MEASURES``.
        halves (bool):
            Whether to fit to each half of the training rows as well, for a DCR share that compares
            it with the other half.
        seconds (float or None):
            How long each synthesizer may train. Defaults to ``None``: as long as it does.
        max_rows (int or None):
            Largest number of training rows.
        threads (int or None):
            Threads that each fit may use. Defaults to ``None``: one for each core.
    """

    data: Path
    synthesizers: Sequence[str] = DEFAULT_NAMES
    variants: Sequence[Variant] = (Variant(),)
    seeds: Sequence[int] = (0,)
    peer_seeds: Sequence[int] | None = None
    measures: Sequence[str] = field(default_factory=lambda: tuple(MEASURES))
    halves: bool = False
    seconds: float | None = None
    max_rows: int | None = None
    threads: int | None = None

    def runs(self) -> Iterator[tuple[str, Variant, int]]:
        """Name, variant and seed of each run on a table, the floor first."""
        for name in (BOOTSTRAP, *(name for name in self.synthesizers if name != BOOTSTRAP)):
            seeds = self.seeds if name == TABDIFF else self.peer_seeds or self.seeds
            for variant in self.variants if name == TABDIFF else (Variant(),):
                for seed in seeds:
                    yield name, variant, seed

    def settings(self, name: str, variant: Variant) -> str:
        """In words, what else than table, synthesizer and seed determines a run."""
        words: dict[str, Any] = {'max_rows': self.max_rows}
        if name != BOOTSTRAP:
            words |= {'seconds': self.seconds, 'threads': self.threads}
        if name == TABDIFF and variant.parameters:
            words['parameters'] = json.dumps(variant.parameters, sort_keys=True)
        if len(self.measures) < len(MEASURES):
            words['measures'] = '+'.join(self.measures)
        if self.halves:
            words['halves'] = 'yes'

        return in_words(words)


def run(tables: Sequence[BenchmarkTable], plan: Plan, folder: Path) -> pd.DataFrame:
    """Measure what is not in the folder yet.

    Each fit is a process of its own, which leaves its synthetic rows in ``runs``. One that fails
    becomes the ``problem`` of its row, and the next call tries it again.

    Args:
        tables (Sequence[BenchmarkTable]):
            The tables.
        plan (Plan):
            What to measure on each.
        folder (pathlib.Path):
            Where results are saved and found again.

    Returns:
        pandas.DataFrame:
            A row for each table, synthesizer and seed, as saved in ``quality.csv``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = ResultFile(folder / 'quality.csv', KEY, [*ROWS, *VALUES, *COSTS])
    parts = [table.shortened(plan.max_rows, None) for table in tables]
    jobs = [_job(file, part, plan, folder / 'runs', *one) for part in parts for one in plan.runs()]
    run_jobs(jobs)
    return file.frame(job.key for job in jobs)


def _job(
    file: ResultFile,
    table: BenchmarkTable,
    plan: Plan,
    folder: Path,
    name: str,
    variant: Variant,
    seed: int,
) -> Job:
    key = {
        'table': table.name,
        'synthesizer': variant.title if name == TABDIFF else name,
        'seed': seed,
        'settings': f'{plan.settings(name, variant)} target={table.target} data={table.digest}',
        'train_rows': len(table.train),
        'test_rows': len(table.test),
    }
    assignment = Assignment(
        data=str(plan.data.resolve()),
        table=table.name,
        digest=table.digest,
        target=table.target,
        max_rows=plan.max_rows,
        synthesizer=name,
        parameters=dict(variant.parameters),
        seed=seed,
        seconds=plan.seconds,
        threads=plan.threads,
        impute=IMPUTATION in plan.measures and table.target is not None,
    )
    return Job(file, key, partial(_within_threads, table, assignment, plan, folder))


def _within_threads(
    table: BenchmarkTable, assignment: Assignment, plan: Plan, folder: Path
) -> dict[str, Any]:
    # A limit reaches the threads of libraries that are there already.
    with contextlib.suppress(NotInstalledError):
        tree_models()

    # Trees of two processes that each claim all cores wait for each other most of the time.
    with threadpool_limits(plan.threads):
        return _measure(table, assignment, plan, folder)


def _measure(
    table: BenchmarkTable, assignment: Assignment, plan: Plan, folder: Path
) -> dict[str, Any]:
    place, facts = _carried_out(assignment, folder)
    measures = [name for name in plan.measures if name != IMPUTATION]
    if table.target is None and 'mle' in measures:
        measures.remove('mle')

    found = evaluate(
        table.train,
        read_synthetic(place, table.train),
        table.metadata,
        holdout=table.test,
        target=table.target,
        measures=measures,
        seed=assignment.seed,
    )
    row = {**dict(zip(found['measure'], found['value'])), **facts}
    notes = [f'{name}: {note}' for name, note in zip(found['measure'], found['note']) if note]
    notes = [note for note in notes if not note.endswith(NOTHING)] + [row.pop(NOTE, '')]
    row[PROBLEM] = '; '.join(filter(None, notes))
    if plan.halves:
        row[HALVES] = _share_of_halves(table, assignment, folder)

    return row


def _share_of_halves(table: BenchmarkTable, assignment: Assignment, folder: Path) -> float:
    """The mean DCR share of fits to both halves.

    One half may lie closer to everything than the other, by chance: a single split is uncertain by
    0.01. What is in favour of one half is against the other, so the mean is not.
    """
    shares = []
    for half in (0, 1):
        place, _ = _carried_out(replace(assignment, half=half, impute=False), folder)
        part, rest = half_of(table, half)
        synthetic = read_synthetic(place, part.train)
        shares.append(dcr_share(part.train, synthetic, table.metadata, rest))

    return sum(shares) / len(shares)


def _carried_out(assignment: Assignment, folder: Path) -> tuple[Path, dict[str, Any]]:
    """Where a process left its rows, and what it took; one that is done is not done again."""
    text = json.dumps(asdict(assignment), sort_keys=True)
    mark = hashlib.sha256(text.encode()).hexdigest()[:8]
    half = '' if assignment.half is None else f'-half{assignment.half}'
    name = f'{assignment.table}-{assignment.synthesizer}{half}-{assignment.seed}-{mark}'
    place = folder / name
    facts = _facts(place)
    if facts is None or 'problem' in facts:
        assignment.write(place)
        (place / RUN).unlink(missing_ok=True)
        with (place / 'log.txt').open('w', encoding='utf-8') as log:
            command = [sys.executable, '-m', 'sdv_tabdiff.benchmark.worker', str(place)]
            limits = thread_limits(assignment.threads)
            subprocess.run(
                command, stdout=log, stderr=log, check=False, env={**os.environ, **limits}
            )

        facts = _facts(place)

    if facts is None:
        raise FailedRunError('The process ended without a result; it may have run out of memory.')
    if 'problem' in facts:
        raise FailedRunError(facts['problem'])

    return place, facts


def thread_limits(threads: int | None) -> dict[str, str]:
    """Environment variables that keep a process and its children to so many threads."""
    names = ('OMP_NUM_THREADS', 'MKL_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'LOKY_MAX_CPU_COUNT')
    return {} if threads is None else dict.fromkeys(names, str(threads))


def _facts(place: Path) -> dict[str, Any] | None:
    try:
        return json.loads((place / RUN).read_text(encoding='utf-8'))
    except OSError:
        return None
