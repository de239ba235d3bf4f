"""Where figures come from: the command, the versions and the machine; and where they go."""

import argparse
import importlib.metadata
import os
import platform
import shlex
from pathlib import Path
from typing import Any

from sdv_tabdiff.benchmark.tables import BenchmarkError

PACKAGES = ('sdv-tabdiff', 'sdv', 'sdmetrics', 'torch', 'xgboost')
UNTOLD = ('command', 'run', 'measure', 'insert')


def provenance(options: argparse.Namespace) -> str:
    """The command that made a report, the versions of the packages and the machine."""
    import torch

    from sdv_tabdiff.diffusion.precision import has_bfloat16_units

    versions = ', '.join(f'{name} {_version(name)}' for name in PACKAGES)
    place = f'Python {platform.python_version()} on {platform.system()} {platform.machine()}'
    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else 'no GPU'
    # With units for bfloat16, TabDiff takes half the time.
    units = 'with' if has_bfloat16_units('cpu') else 'without'
    cores = f'{os.cpu_count()} cores {units} units for bfloat16'
    command = command_of(options)
    return f'```bash\n{command}\n```\n\n{versions}; {place}, {cores}, {gpu}.'


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return '(absent)'


def command_of(options: argparse.Namespace) -> str:
    """The command that these options came from, with only the last parts of paths."""
    words = ['sdv-tabdiff', options.command]
    for name, value in vars(options).items():
        flag = f'--{name.replace("_", "-")}'
        if name in UNTOLD or value is None or value is False or value == []:
            continue
        if value is True:
            words.append(flag)
        elif name in ('target', 'parameters'):  # Given once for each of their values.
            words += [word for one in value for word in (flag, _text(one))]
        else:
            words += [flag, _text(value)]

    return shlex.join(words)


def _text(value: Any) -> str:
    if isinstance(value, Path):
        return value.name
    if isinstance(value, tuple):
        return '='.join(value)
    if isinstance(value, list):
        return ','.join(map(_text, value))

    return f'{value:g}' if isinstance(value, float) else str(value)


def surroundings(path: Path, name: str) -> tuple[str, str]:
    """What stands before and after the place of a command's report in a Markdown file.

    Args:
        path (pathlib.Path):
            The file, which has the lines ``<!-- begin NAME -->`` and ``<!-- end NAME -->``.
        name (str):
            Name of the command.

    Raises:
        BenchmarkError:
            If the file cannot be read or lacks the lines.
    """
    try:
        content = path.read_text(encoding='utf-8')
    except OSError as error:
        raise BenchmarkError(f"Cannot read '{path}': {error.strerror or error}.") from error

    first, last = f'<!-- begin {name} -->', f'<!-- end {name} -->'
    before, found, rest = content.partition(first)
    _, closed, after = rest.partition(last)
    if not (found and closed):
        raise BenchmarkError(f"'{path}' needs the lines '{first}' and '{last}'.")

    return f'{before}{first}\n\n', f'\n\n{last}{after}'


def insert(path: Path, name: str, text: str) -> None:
    """Put a report into its place in a Markdown file, instead of the one before."""
    before, after = surroundings(path, name)
    path.write_text(f'{before}{text}{after}', encoding='utf-8')
