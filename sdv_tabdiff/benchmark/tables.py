"""The tables of the benchmarks: a folder of CSV files, metadata and splits."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
from sdv.metadata import Metadata

from sdv_tabdiff import demo
from sdv_tabdiff.evaluation.predictions import task_of

ENDING = '.csv.gz'
TARGETS = {
    'adult': 'income',
    'default': 'default payment next month',
    'shoppers': 'Revenue',
    'magic': 'class',
    'beijing': 'pm2.5',
    'news': 'shares',
    'diabetes': 'readmitted',
}
NUMBERS, CATEGORIES = ('numerical', 'datetime'), ('categorical', 'boolean', 'ordinal')


class BenchmarkError(demo.DemoError):
    """The folder or the table does not allow what was asked; the message says why."""


@dataclass(frozen=True)
class BenchmarkTable:
    """A table in two parts, and the column to predict with how that is scored, if there is one."""

    name: str
    metadata: Metadata
    train: pd.DataFrame
    test: pd.DataFrame
    target: str | None = None
    task: str | None = None

    @property
    def sdv_name(self) -> str:
        """What the metadata calls the table, which may be another name than that of its file."""
        return next(iter(self.metadata.tables))

    @cached_property
    def digest(self) -> str:
        """A short text that tells rows and split apart from others."""
        digest = hashlib.sha256()
        for part in (self.train, self.test):
            digest.update(pd.util.hash_pandas_object(part.astype(str), index=False).to_numpy())

        return digest.hexdigest()[:8]

    def columns(self, sdtypes: Sequence[str]) -> list[str]:
        """The columns of these sdtypes, in the order of the table."""
        described = _described(self.metadata)
        return [name for name in self.train.columns if described[name]['sdtype'] in sdtypes]

    def as_numbers(self, values: pd.Series) -> pd.Series:
        """A numerical column, or the seconds since 1970 of a column of dates, as floats."""
        column = _described(self.metadata)[values.name]
        if column['sdtype'] != 'datetime':
            return values.astype(float)

        dates = pd.to_datetime(values, format=column.get('datetime_format'))
        return (dates - pd.Timestamp(0)) / pd.Timedelta(1, 's')

    def without_new_levels(self, rows: pd.DataFrame) -> pd.DataFrame:
        """The rows with gaps for levels that no training row has: nothing is known of them."""
        names = self.columns(CATEGORIES)
        new = pd.DataFrame(False, index=rows.index, columns=rows.columns)
        for name in new.columns.intersection(names):
            new[name] = ~rows[name].isin(self.train[name].dropna().unique()) & rows[name].notna()

        return rows.mask(new)

    def shortened(self, max_rows: int | None, max_test_rows: int | None) -> 'BenchmarkTable':
        """A table of at most so many rows for training and for testing; always the same rows."""
        train, test = some_rows(self.train, max_rows), some_rows(self.test, max_test_rows)
        return replace(self, train=train, test=test)


def _described(metadata: Metadata) -> dict[str, dict[str, Any]]:
    return next(iter(metadata.tables.values())).columns


def half_of(table: BenchmarkTable, which: int = 0) -> tuple[BenchmarkTable, pd.DataFrame]:
    """The table with one of two random halves of its training rows, and the other half."""
    first = table.train.sample(frac=0.5, random_state=0)
    halves = first, table.train.drop(index=first.index)
    half, rest = (halves[n].reset_index(drop=True) for n in (which, 1 - which))
    return replace(table, train=half), rest


def some_rows(rows: pd.DataFrame, number: int | None) -> pd.DataFrame:
    """At most so many rows, drawn at random but always the same ones."""
    if number is None or len(rows) <= number:
        return rows

    return rows.sample(number, random_state=0).sort_index(ignore_index=True)


def table_names(folder: Path) -> list[str]:
    """The tables of a folder, those of the paper first."""
    if not folder.is_dir():
        raise BenchmarkError(f"There is no folder '{folder}'.")

    found = {path.name.removesuffix(ENDING) for path in folder.glob(f'*{ENDING}')}
    if not found:
        raise BenchmarkError(f"There is no file '*{ENDING}' in '{folder}'.")

    return [name for name in TARGETS if name in found] + sorted(found - TARGETS.keys())


def load_table(folder: Path, name: str, targets: Mapping[str, str] | None = None) -> BenchmarkTable:
    """Read one table of a folder.

    Args:
        folder (pathlib.Path):
            Holds ``<name>.csv.gz``, ``<name>.metadata.json`` and ``splits/<name>.json``. The
            latter has the row numbers ``test_rows`` and may have ``val_rows`` and
            ``excluded_rows``, which are in neither part.
        name (str):
            Name of the table.
        targets (Mapping[str, str] or None):
            Columns to predict, by table, beside and before those of ``TARGETS``.
    """
    known = table_names(folder)
    if name not in known:
        raise BenchmarkError(
            f"There is no table '{name}' in '{folder}'. Its tables are: {', '.join(known)}."
        )

    described = folder / f'{name}.metadata.json'
    table = demo.load_table(folder / f'{name}{ENDING}', described)
    columns, declared = list(table.rows.columns), list(_described(table.metadata))
    if set(columns) != set(declared):
        odd = sorted(set(columns) ^ set(declared), key=str)
        raise BenchmarkError(f"'{described}' and the table disagree about the columns {odd}.")

    train, test = _split(table.rows, folder / 'splits' / f'{name}.json')
    target = {**TARGETS, **(targets or {})}.get(name)
    task = _task(name, table.metadata, train, target) if target is not None else None
    return BenchmarkTable(name, table.metadata, train, test, target, task)


def _split(rows: pd.DataFrame, path: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    try:
        split = json.loads(path.read_text(encoding='utf-8'))
        test = split['test_rows']
        unused = [*split.get('val_rows', []), *split.get('excluded_rows', [])]
        train = rows.drop(index=[*test, *unused])
        parts = train.reset_index(drop=True), rows.loc[test].reset_index(drop=True)
    except OSError as error:
        raise BenchmarkError(f"Cannot read '{path}': {error.strerror or error}.") from error
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise BenchmarkError(f"'{path}' is not a split of the table: {error!r}.") from error

    if any(part.empty for part in parts):
        raise BenchmarkError(f"'{path}' leaves no rows for training or for testing.")

    return parts


def _task(name: str, metadata: Metadata, train: pd.DataFrame, target: str) -> str:
    try:
        return task_of(target, train, metadata)
    except ValueError as error:
        raise BenchmarkError(f"In the table '{name}': {error}") from error
