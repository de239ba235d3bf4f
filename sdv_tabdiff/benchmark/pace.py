"""How long a fit takes beside one of CTGAN, in the same minutes on the same machine.

CTGAN trains for hours on a wide table, but each of its epochs takes the same time: a few of them
say how long all would take.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from sdv_tabdiff.benchmark.results import Job, ResultFile, in_words, markdown, run_jobs, summarised
from sdv_tabdiff.benchmark.synthesizers import TABDIFF, new_synthesizer
from sdv_tabdiff.benchmark.tables import BenchmarkTable, some_rows
from sdv_tabdiff.benchmark.timing import seconds_of, torch_threads
from sdv_tabdiff.sdv_versions import for_sdv

KEY = ('table', 'seed', 'settings')
MEASURES = ('tabdiff_seconds', 'ctgan_seconds', 'share')

PEER = 'CTGAN'
WARM_UP_ROWS = 1000


@dataclass(frozen=True)
class Plan:
    """What to measure.

    Args:
        peer_epochs (int):
            Epochs of CTGAN to measure.
        seeds (Sequence[int]):
            Seeds of TabDiff's training.
        max_rows (int or None):
            Largest number of training rows.
        threads (int or None):
            Number of threads, as many as torch likes if None.
        parameters (dict[str, Any]):
            Parameters of TabDiff.
    """

    peer_epochs: int = 8
    seeds: Sequence[int] = (0,)
    max_rows: int | None = None
    threads: int | None = None
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def settings(self) -> str:
        """In words, what else than its key determines a row."""
        words = {
            'peer_epochs': self.peer_epochs,
            'max_rows': self.max_rows,
            'threads': self.threads or torch.get_num_threads(),
            **self.parameters,
        }
        return in_words(words)


def run(tables: Sequence[BenchmarkTable], plan: Plan, folder: Path) -> pd.DataFrame:
    """Measure what is not in the folder yet.

    Returns:
        pandas.DataFrame:
            A row for each table and seed, as saved in ``pace.csv``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = ResultFile(folder / 'pace.csv', KEY, MEASURES)
    jobs = []
    for table in (table.shortened(plan.max_rows, None) for table in tables):
        settings = f'{plan.settings} data={table.digest}'
        for seed in plan.seeds:
            key = {'table': table.name, 'seed': seed, 'settings': settings}
            jobs.append(Job(file, key, partial(_measure, plan, table, seed)))

    run_jobs(jobs)
    return file.frame(job.key for job in jobs)


def _measure(plan: Plan, table: BenchmarkTable, seed: int) -> dict[str, Any]:
    name = next(iter(table.metadata.tables))

    def fit(kind: str, rows: pd.DataFrame, parameters: dict[str, Any]) -> None:
        synthesizer = new_synthesizer(kind, table.metadata, seed, parameters)
        synthesizer.fit(for_sdv(rows, name))

    all_epochs = new_synthesizer(PEER, table.metadata, seed).get_parameters()['epochs']
    with torch_threads(plan.threads):
        # The first fit of a process takes longer.
        fit(PEER, some_rows(table.train, WARM_UP_ROWS), {'epochs': 1})
        ctgan = seconds_of_all_epochs(
            lambda epochs: seconds_of(lambda: fit(PEER, table.train, {'epochs': epochs})),
            plan.peer_epochs,
            all_epochs,
        )
        tabdiff = seconds_of(lambda: fit(TABDIFF, table.train, plan.parameters))

    return {'tabdiff_seconds': tabdiff, 'ctgan_seconds': ctgan, 'share': tabdiff / ctgan}


def seconds_of_all_epochs(seconds: Callable[[int], float], few: int, all_epochs: int) -> float:
    """Seconds of a long fit, from a fit of one epoch and one of a few more.

    Args:
        seconds: Seconds of a fit of so many epochs.
        few: How many more epochs to measure.
        all_epochs: Epochs of the long fit.
    """
    longer = seconds(1 + few)
    epoch = (longer - seconds(1)) / few
    return longer + (all_epochs - 1 - few) * epoch


def report(frame: pd.DataFrame) -> str:
    """The results in Markdown, a line for each table."""
    return markdown(summarised(frame, KEY[:1], MEASURES))
