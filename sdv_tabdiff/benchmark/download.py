"""Fetch the paper's tables once, into a cache that has the form of a ``--data`` folder."""

import io
import json
import os
import urllib.error
import urllib.request
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from tqdm import tqdm

from sdv_tabdiff.benchmark.sources import SOURCES, Files, Source
from sdv_tabdiff.benchmark.tables import ENDING, BenchmarkError

UCI = 'https://archive.ics.uci.edu/static/public'
CACHE = 'SDV_TABDIFF_CACHE'
TIMEOUT = 60


def cache_folder() -> Path:
    """Where fetched tables stay: ``$SDV_TABDIFF_CACHE``, else a folder in the user's cache."""
    usual = Path.home() / '.cache' / 'sdv-tabdiff'
    return Path(os.environ.get(CACHE) or usual) / 'tables'


def fetch(names: Sequence[str] | None = None, address: str = UCI) -> Path:
    """Fetch the tables that are not in the cache yet.

    Args:
        names (Sequence[str] or None):
            Names of the tables. Defaults to ``None``: all seven.
        address (str):
            Where the archives are.

    Returns:
        pathlib.Path:
            The folder with the tables.

    Raises:
        BenchmarkError:
            If there is no such table, or some cannot be fetched or read. Those that could stay.
    """
    folder = cache_folder()
    unknown = [name for name in names or [] if name not in SOURCES]
    if unknown:
        raise BenchmarkError(
            f'There is no address of the tables {unknown}, only of {", ".join(SOURCES)}. Use '
            '--data for tables of your own.'
        )

    wanted = [name for name in names or SOURCES if not (folder / f'{name}{ENDING}').exists()]
    problems = []
    for name in tqdm(wanted, desc='Fetching tables', disable=not wanted, unit='table'):
        try:
            save(name, SOURCES[name].read(_files(f'{address}/{SOURCES[name].path}')), folder)
        except Exception as error:  # Whatever another version of the file runs into.
            problems.append(f'  {name}: {_reason(error)}')

    if problems:
        lines = '\n'.join(problems)
        raise BenchmarkError(
            f'Cannot fetch {len(problems)} of {len(wanted)} tables from {address}:\n{lines}\n'
            'Try again when you are online, or give a folder with --data.'
        )

    return folder


def _reason(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f'the server answers {error.code} {error.reason}'
    if isinstance(error, urllib.error.URLError):
        return f'no connection ({error.reason})'
    if isinstance(error, ImportError):
        return f"{error}. Install it with: pip install 'sdv-tabdiff[benchmark]'"

    return f'{type(error).__name__}: {error}'


def _files(address: str) -> Files:
    """The files of an archive, by their names without folders."""
    with urllib.request.urlopen(address, timeout=TIMEOUT) as answer:
        content = answer.read()

    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {
            Path(member).name: archive.read(member)
            for member in archive.namelist()
            if not member.endswith('/')
        }


def save(name: str, rows: pd.DataFrame, folder: Path) -> None:
    """Write a table, its metadata and its split; the table last, as a sign that it is whole."""
    source = SOURCES[name]
    (folder / 'splits').mkdir(parents=True, exist_ok=True)
    split = source.split(rows, source.levels)
    (folder / 'splits' / f'{name}.json').write_text(json.dumps(split), encoding='utf-8')
    described = json.dumps(metadata(name, source, rows), indent=4)
    (folder / f'{name}.metadata.json').write_text(described, encoding='utf-8')
    unfinished = folder / f'{name}.part'
    rows.to_csv(unfinished, index=False, compression='gzip')
    unfinished.replace(folder / f'{name}{ENDING}')


def metadata(name: str, source: Source, rows: pd.DataFrame) -> dict:
    """SDV's metadata of a table, as a dictionary."""
    columns = {
        column: {'sdtype': 'categorical' if column in source.levels else 'numerical'}
        for column in rows.columns
    }
    return {
        'METADATA_SPEC_VERSION': 'V2',
        'tables': {name: {'columns': columns}},
        'relationships': [],
    }
