"""Types of command-line options, and what several benchmark commands share."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

LARGEST = 2**32 - 1  # numpy's largest seed
KINDS = {int: 'whole number', float: 'number'}
OUTPUT = Path('sdv-tabdiff-benchmark')


def at_least(kind: type, minimum: float, maximum: float = LARGEST) -> Callable[[str], Any]:
    """A type of an option: a number in this range."""

    def convert(text: str) -> Any:
        value = kind(text)
        if not minimum <= value <= maximum:
            raise argparse.ArgumentTypeError(f'must be from {minimum} to {maximum}, got {text}')

        return value

    convert.__name__ = KINDS[kind]
    return convert


def listed(one: Callable[[str], Any]) -> Callable[[str], list[Any]]:
    """A type of an option: several values, separated by commas, each counted once."""

    def convert(text: str) -> list[Any]:
        try:
            return list(dict.fromkeys(one(part.strip()) for part in text.split(',')))
        except ValueError:
            kind = one.__name__
            raise argparse.ArgumentTypeError(f"each must be a {kind}, got '{text}'") from None

    return convert


def one_of(words: Sequence[str]) -> Callable[[str], str]:
    """A type of an option: one of these words."""

    def convert(text: str) -> str:
        if text not in words:
            raise argparse.ArgumentTypeError(f"'{text}' is none of {', '.join(words)}")

        return text

    return convert


def pair(text: str) -> tuple[str, str]:
    """A type of an option: a table and one of its columns."""
    name, equals, column = text.partition('=')
    if not (name and equals and column):
        raise argparse.ArgumentTypeError(f"must be TABLE=COLUMN, got '{text}'")

    return name, column


def add_table_options(command: argparse.ArgumentParser) -> None:
    """Add the options that say which tables and which of their columns."""
    command.add_argument(
        '--tables', type=listed(str), metavar='NAMES', help='tables, as in a,b (default: all)'
    )
    command.add_argument(
        '--target',
        type=pair,
        action='append',
        default=[],
        metavar='TABLE=COLUMN',
        help="column to predict in a table that is not one of the paper's; may be repeated",
    )


def add_output_options(command: argparse.ArgumentParser) -> None:
    """Add the options that say where results go."""
    command.add_argument(
        '--output',
        type=Path,
        default=OUTPUT,
        metavar='DIR',
        help='folder for the results (default: %(default)s)',
    )
    command.add_argument(
        '--insert',
        type=Path,
        metavar='FILE',
        help='Markdown file to put the report into, between its lines "<!-- begin COMMAND -->" '
        'and "<!-- end COMMAND -->"',
    )
