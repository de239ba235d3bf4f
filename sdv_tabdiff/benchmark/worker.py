"""One fit in a process of its own, so that its memory can be told from that of others.

Run as ``python -m sdv_tabdiff.benchmark.worker FOLDER``. The folder has the ``job.json`` that
``Assignment`` describes; the process adds ``synthetic.csv.gz`` and, last, ``run.json``.
"""

import contextlib
import io
import json
import os
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from sdv_tabdiff import demo
from sdv_tabdiff.benchmark.synthesizers import (
    BY_EPOCHS,
    PEERS,
    epochs_within,
    new_synthesizer,
)
from sdv_tabdiff.benchmark.tables import BenchmarkTable, half_of, load_table
from sdv_tabdiff.evaluation.imputation import imputation_scores
from sdv_tabdiff.sdv_versions import for_sdv, from_sdv

JOB, RUN, SYNTHETIC = 'job.json', 'run.json', 'synthetic.csv.gz'
NOTE = 'note'
MEBIBYTE = 2**20


@dataclass(frozen=True)
class Assignment:
    """What one process does.

    Args:
        data: Folder of the tables.
        table: Name of the table.
        target: Column to predict, or None.
        max_rows: Largest number of training rows.
        synthesizer: Name of the synthesizer.
        parameters: Its parameters.
        seed: Its seed.
        seconds: Longest training, or None.
        half: The half of the training rows to fit to, 0 or 1; None for all rows.
        impute: Whether to fill in the target of the test rows, if the synthesizer can.
        digest: What tells the table's rows from others of that name, so that no run is taken for
            theirs.
        threads: Threads that the process was given, or None.
    """

    data: str
    table: str
    target: str | None
    max_rows: int | None
    synthesizer: str
    parameters: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    seconds: float | None = None
    half: int | None = None
    impute: bool = False
    digest: str = ''
    threads: int | None = None

    def write(self, folder: Path) -> None:
        """Save it for a process to find."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / JOB).write_text(json.dumps(asdict(self)), encoding='utf-8')

    @classmethod
    def read(cls, folder: Path) -> 'Assignment':
        """What another process saved."""
        content = json.loads((folder / JOB).read_text(encoding='utf-8'))
        parameters = content['parameters']
        content['parameters'] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in parameters.items()
        }
        return cls(**content)

    def load(self) -> BenchmarkTable:
        """The table, with the rows to fit to as its training part."""
        targets = {self.table: self.target} if self.target else {}
        table = load_table(Path(self.data), self.table, targets).shortened(self.max_rows, None)
        return table if self.half is None else half_of(table, self.half)[0]


def peak_memory() -> float:
    """The most memory that this process has had, in MiB; NaN where that cannot be asked."""
    try:
        # Unlike ``ru_maxrss``, this does not count what the parent process had.
        status = Path('/proc/self/status').read_text(encoding='ascii')
        return int(status.split('VmHWM:')[1].split()[0]) / 1024
    except (OSError, IndexError, ValueError):
        pass

    try:
        import resource
    except ImportError:
        return float('nan')

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (MEBIBYTE if sys.platform == 'darwin' else 1024)


def carry_out(assignment: Assignment, folder: Path) -> dict[str, Any]:
    """Fit, sample as many rows as were fitted to, and say what that took."""
    table = assignment.load()
    with demo.global_seed(assignment.seed):
        before = peak_memory()
        synthesizer = _new(assignment, table)
        _, fit_seconds = _timed(lambda: synthesizer.fit(for_sdv(table.train, table.sdv_name)))
        facts = {
            'fit_seconds': fit_seconds,
            'fit_memory': peak_memory() - before,
            'model_size': _size(synthesizer),
        }
        sampled, seconds = _timed(lambda: from_sdv(synthesizer.sample(len(table.train))))
        facts |= {'sample_seconds': seconds, 'rows_per_second': len(sampled) / seconds}
        sampled.to_csv(folder / SYNTHETIC, index=False)
        if assignment.impute and hasattr(synthesizer, 'impute'):
            facts |= _imputation(synthesizer, table)

    return facts


def _new(assignment: Assignment, table: BenchmarkTable) -> Any:
    name, parameters = assignment.synthesizer, dict(assignment.parameters)
    if assignment.seconds is not None and name in BY_EPOCHS:
        parameters['epochs'] = epochs_within(
            lambda epochs: PEERS[name](table.metadata, epochs=epochs).fit(
                for_sdv(table.train, table.sdv_name)
            ),
            assignment.seconds,
        )

    return new_synthesizer(name, table.metadata, assignment.seed, parameters, assignment.seconds)


def _imputation(synthesizer: Any, table: BenchmarkTable) -> dict[str, Any]:
    try:
        scores = imputation_scores(synthesizer, table.test, table.metadata, table.target)
    except Exception as error:  # What was fitted and sampled counts all the same.
        return {NOTE: f'imputation: {type(error).__name__}: {error}'}

    return {f'imputation_{name}': value for name, value in scores.items()}


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.monotonic()
    result = work()
    return result, max(time.monotonic() - start, 1e-9)


def _size(synthesizer: Any) -> float:
    """The size of the saved synthesizer in MB; NaN if there is nothing to save."""
    if not hasattr(synthesizer, 'save'):
        return float('nan')

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'model.pkl')
        synthesizer.save(path)
        return os.path.getsize(path) / 1e6


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    nowhere = io.StringIO()
    with contextlib.redirect_stdout(nowhere), warnings.catch_warnings():
        warnings.simplefilter('ignore')
        yield


def main(folder: str) -> None:
    """Carry out the job of a folder; an exception is its result, too."""
    place = Path(folder)
    try:
        with _silence():
            result = carry_out(Assignment.read(place), place)
    except Exception as error:
        traceback.print_exc()
        result = {'problem': f'{type(error).__name__}: {error}'}

    # Written elsewhere and then moved: whoever finds the file finds it whole.
    unfinished = place / f'{RUN}.part'
    unfinished.write_text(json.dumps(result), encoding='utf-8')
    unfinished.replace(place / RUN)


def read_synthetic(folder: Path, like: pd.DataFrame) -> pd.DataFrame:
    """The rows that a process left behind, in the dtypes of the real ones as far as they fit."""
    # '1' and '2' must not become numbers where no row says '3+'.
    texts = {name: str for name in like if _is_text(like[name])}
    rows = pd.read_csv(folder / SYNTHETIC, dtype=texts)
    for name, dtype in like.dtypes.items():
        if pd.api.types.is_object_dtype(dtype) and rows[name].dtype != dtype:
            rows[name] = rows[name].astype(object)

    return rows


def _is_text(column: pd.Series) -> bool:
    return pd.api.types.is_object_dtype(column.dtype) and all(
        isinstance(value, str) for value in column.dropna()
    )


if __name__ == '__main__':
    main(sys.argv[1])
