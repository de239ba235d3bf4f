"""Rows of results: saved one by one, found again by a later run, shown as Markdown."""

import csv
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from tqdm import tqdm

from sdv_tabdiff.benchmark.tables import BenchmarkError
from sdv_tabdiff.evaluation import NotInstalledError

PROBLEM = 'problem'

# What of a row's key to show beside the progress bar.
PARTS = ('table', 'rate', 'method', 'synthesizer', 'seed')


class ResultFile:
    """A CSV file that grows by one row at a time. Of two rows with the same key the last counts.

    Args:
        path (pathlib.Path):
            The file; it need not exist.
        key (Sequence[str]):
            Columns that identify a row.
        measures (Sequence[str]):
            The other columns; ``problem`` is added to them.
    """

    def __init__(self, path: Path, key: Sequence[str], measures: Sequence[str]):
        self.path = path
        self.key = list(key)
        self.columns = [*key, *measures, PROBLEM]
        self._rows: dict[tuple[str, ...], dict[str, str]] = {}
        if path.exists():
            self._read()

    def _read(self) -> None:
        content = self.path.read_bytes()
        complete = content[: content.rfind(b'\n') + 1]
        if complete != content:
            self.path.write_bytes(complete)  # A run was killed in the middle of a row.

        lines = list(csv.reader(complete.decode('utf-8').splitlines()))
        if lines and lines[0] != self.columns:
            raise BenchmarkError(f"'{self.path}' has other columns: choose another --output.")

        for line in lines[1:]:
            self._keep(dict(zip(self.columns, line)))

    def _keep(self, row: dict[str, str]) -> None:
        self._rows[self._identity(row)] = row

    def _identity(self, row: dict[str, Any]) -> tuple[str, ...]:
        return tuple(_text(row[name]) for name in self.key)

    def done(self, key: dict[str, Any]) -> bool:
        """Whether there is such a row; one with a problem is worth another try."""
        row = self._rows.get(self._identity(key))
        return row is not None and not row[PROBLEM]

    def append(self, row: dict[str, Any]) -> None:
        """Save a row. What it does not say stays empty."""
        texts = {name: _text(row.get(name)) for name in self.columns}
        new = not self.path.exists() or self.path.stat().st_size == 0
        with self.path.open('a', newline='', encoding='utf-8') as file:
            writer = csv.DictWriter(file, self.columns, lineterminator='\n')
            if new:
                writer.writeheader()

            writer.writerow(texts)

        self._keep(texts)

    def frame(self, keys: Iterable[dict[str, Any]]) -> pd.DataFrame:
        """The rows with these keys, in their order, with the measures as numbers."""
        identities = [self._identity(key) for key in keys]
        rows = [self._rows[identity] for identity in identities if identity in self._rows]
        frame = pd.DataFrame(rows, columns=self.columns)
        for name in frame.columns.difference([*self.key, PROBLEM]):
            frame[name] = pd.to_numeric(frame[name].replace('nan', ''))

        return frame


def in_words(settings: Mapping[str, Any]) -> str:
    """Settings as a text that a key can hold; those that are None go without saying."""
    return ' '.join(f'{name}={value}' for name, value in settings.items() if value is not None)


def _text(value: Any) -> str:
    # Without line breaks, of which messages have some, a row is a line.
    text = f'{value:.6g}' if isinstance(value, float) else str(value)
    return '' if value is None or text == 'nan' else ' '.join(text.split())


@dataclass(frozen=True)
class Job:
    """One row of results: where it goes, what is known of it, and the work that measures it."""

    file: ResultFile
    key: dict[str, Any]
    work: Callable[[], dict[str, Any]]

    def run(self) -> None:
        """Do the work and save its row.

        An exception becomes the ``problem`` of the row. Its ``seconds`` are those of the work,
        unless the work says otherwise.
        """
        start = time.monotonic()
        try:
            row = self.work()
        except NotInstalledError as error:
            row = {PROBLEM: str(error)}
        except Exception as error:
            row = {PROBLEM: f'{type(error).__name__}: {error}'}

        self.file.append({'seconds': time.monotonic() - start, **row, **self.key})


def run_jobs(jobs: Sequence[Job]) -> None:
    """Do the jobs whose rows are not saved yet, and show on stderr how far it is."""
    with tqdm([job for job in jobs if not job.file.done(job.key)], unit='row') as progress:
        for job in progress:
            words = (_text(job.key.get(name)) for name in PARTS)
            progress.set_description(' '.join(word for word in words if word))
            job.run()


def summarised(frame: pd.DataFrame, key: Sequence[str], measures: Sequence[str]) -> pd.DataFrame:
    """Texts of the means over the rows with the same key, and of their spread if they are several.

    The spread is the standard deviation of a sample. Columns without a value are left out.
    """
    rows = []
    for values, group in frame.groupby(list(key), sort=False):
        row = dict(zip(key, values))
        row |= {name: _mean_and_spread(group[name].dropna()) for name in measures}
        problems = sorted(set(group[PROBLEM]) - {''})
        rows.append(row | {PROBLEM: '; '.join(problems)})

    texts = pd.DataFrame(rows, columns=[*key, *measures, PROBLEM])
    return texts.loc[:, (texts != '').any() | texts.columns.isin(key[:1])]


def _mean_and_spread(values: pd.Series) -> str:
    if values.empty:
        return ''

    spread = f' ± {_number(values.std(), 2)}' if len(values) > 1 else ''
    return f'{_number(values.mean(), 4)}{spread}'


def _number(value: float, digits: int) -> str:
    return f'{value:,.0f}' if 1000 <= abs(value) < math.inf else f'{value:.{digits}g}'


def markdown(frame: pd.DataFrame) -> str:
    """A table of texts in Markdown, with aligned columns."""
    header = [str(name).replace('_', ' ') for name in frame.columns]
    rows = [[str(cell).replace('|', r'\|') for cell in row] for row in frame.to_numpy()]
    widths = [max(3, *map(len, column)) for column in zip(header, *rows)]
    lines = [header, ['-' * width for width in widths], *rows]
    return '\n'.join(f'| {" | ".join(map(str.ljust, line, widths))} |' for line in lines)
