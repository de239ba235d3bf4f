"""Where the time goes: kinds of work in a step of the training and in a sample."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from torch.profiler import ProfilerActivity, profile

from sdv_tabdiff.benchmark.results import Job, ResultFile, in_words, markdown, run_jobs, summarised
from sdv_tabdiff.benchmark.tables import BenchmarkTable
from sdv_tabdiff.benchmark.timing import seconds_of, torch_threads
from sdv_tabdiff.synthesizer import TabDiffSynthesizer

KEY = ('table', 'part', 'seed', 'settings')
STEP, SAMPLE = 'a step of the training', 'a sample of 1,000 rows'

# Kinds of work, by how the names of torch's operators begin.
KINDS = {
    'products': ('mm', 'addmm', 'bmm', 'baddbmm', 'linear', 'matmul', 'mkldnn'),
    'randomness': ('bernoulli', 'uniform', 'normal', 'rand', 'erfinv'),
    'copies': ('copy', '_to_copy', 'cat', 'index', 'slice', 'as_strided', 'empty', 'clone', 'to'),
}
ELSEWHERE = 'other operators'
OUTSIDE = 'outside of torch'
OPTIMIZER = 'optimizer'
SHARES = (*KINDS, ELSEWHERE, OUTSIDE, OPTIMIZER)
MEASURES = ('milliseconds', *SHARES)

TRIES = 3


@dataclass(frozen=True)
class Plan:
    """What to measure.

    Args:
        epochs (int):
            Epochs of the fit whose steps are measured.
        seeds (Sequence[int]):
            Seeds of the training.
        max_rows (int or None):
            Largest number of training rows.
        threads (int or None):
            Number of threads, as many as torch likes if None.
        parameters (dict[str, Any]):
            Parameters of the synthesizer.
    """

    epochs: int = 5
    seeds: Sequence[int] = (0,)
    max_rows: int | None = None
    threads: int | None = None
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def settings(self) -> str:
        """In words, what else than its key determines a row."""
        words = {
            'epochs': self.epochs,
            'max_rows': self.max_rows,
            'threads': self.threads or torch.get_num_threads(),
            **self.parameters,
        }
        return in_words(words)


def run(tables: Sequence[BenchmarkTable], plan: Plan, folder: Path) -> pd.DataFrame:
    """Measure what is not in the folder yet.

    Returns:
        pandas.DataFrame:
            A row for each table, part and seed, as saved in ``profile.csv``. Shares are of the
            milliseconds; that of the optimizer is contained in the others.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = ResultFile(folder / 'profile.csv', KEY, MEASURES)
    jobs = []
    for table in (table.shortened(plan.max_rows, None) for table in tables):
        settings = f'{plan.settings} data={table.digest}'
        for seed in plan.seeds:
            for part, measure in ((STEP, _training), (SAMPLE, _sampling)):
                key = {'table': table.name, 'part': part, 'seed': seed, 'settings': settings}
                jobs.append(Job(file, key, partial(_with_threads, plan, measure, table, seed)))

    run_jobs(jobs)
    return file.frame(job.key for job in jobs)


def _with_threads(
    plan: Plan,
    measure: Callable[[Plan, BenchmarkTable, int], dict[str, Any]],
    table: BenchmarkTable,
    seed: int,
) -> dict[str, Any]:
    with torch_threads(plan.threads):
        return measure(plan, table, seed)


def _fit(plan: Plan, table: BenchmarkTable, seed: int, epochs: int) -> TabDiffSynthesizer:
    """A fit that consists of nothing but training steps."""
    parameters = {'early_stopping': False, 'oversampling': 1.0, **plan.parameters}
    synthesizer = TabDiffSynthesizer(table.metadata, random_state=seed, epochs=epochs, **parameters)
    synthesizer.fit(table.train)
    return synthesizer


def _training(plan: Plan, table: BenchmarkTable, seed: int) -> dict[str, Any]:
    synthesizer = _fit(plan, table, seed, 1)
    steps = plan.epochs * math.ceil(len(table.train) / synthesizer.batch_size)
    # What a fit does but once is in both. Of several tries the quickest counts: whatever else the
    # machine does can only slow them down.
    once, both = (
        min(seconds_of(partial(_fit, plan, table, seed, epochs)) for _ in range(TRIES))
        for epochs in (1, 1 + plan.epochs)
    )
    kinds = _kinds(partial(_fit, plan, table, seed, plan.epochs))
    return _summary(both - once, kinds, steps)


def _sampling(plan: Plan, table: BenchmarkTable, seed: int) -> dict[str, Any]:
    sample = partial(_fit(plan, table, seed, 1).sample, len(table.train))
    sample()
    return _summary(seconds_of(sample), _kinds(sample), len(table.train) / 1000)


def _kinds(work: Callable[[], Any]) -> dict[str, float]:
    """Seconds of each kind of work, that of torch's operators only."""
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        work()

    found = dict.fromkeys((*KINDS, ELSEWHERE, OPTIMIZER), 0.0)
    for event in profiler.key_averages():
        if event.key.startswith('Optimizer.step'):
            found[OPTIMIZER] += event.cpu_time_total / 1e6
        found[kind_of(event.key)] += event.self_cpu_time_total / 1e6

    return found


def kind_of(operator: str) -> str:
    """The kind of work that an operator of torch does."""
    name = operator.removeprefix('aten::')
    return next((kind for kind, starts in KINDS.items() if name.startswith(starts)), ELSEWHERE)


def _summary(seconds: float, kinds: dict[str, float], count: float) -> dict[str, Any]:
    shares = {name: part / seconds for name, part in kinds.items()}
    # Operators take a little longer when they are watched, so nothing may be left.
    inside = sum(shares.values()) - shares[OPTIMIZER]
    return {'milliseconds': 1000 * seconds / count, **shares, OUTSIDE: max(0.0, 1 - inside)}


def report(frame: pd.DataFrame) -> str:
    """The results in Markdown."""
    parts = []
    for name, rows in frame.groupby('table', sort=False):
        texts = summarised(rows, KEY[1:2], MEASURES)
        parts.append(f'{name}, seeds: {rows["seed"].nunique()}\n\n{markdown(texts)}')

    return '\n\n'.join(parts)
