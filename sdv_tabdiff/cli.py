"""The command line: ``sdv-tabdiff``."""

import argparse
import contextlib
import importlib.metadata
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdv_tabdiff import __version__
from sdv_tabdiff.benchmark import options as benchmarks
from sdv_tabdiff.benchmark.options import at_least

# SDV's metrics and plots take time to import: only a command that needs them imports ``demo``.
if TYPE_CHECKING:
    from sdv_tabdiff.demo import Result, Table

PROGRAM = 'sdv-tabdiff'
FAILED, INTERRUPTED = 1, 130

# Enough for the example on a busy machine; early stopping usually ends it long before.
EXAMPLE_SECONDS = 60
DEFAULT_MAX_ROWS = 10_000
FEW_ROWS = 1024
ROWS_SHOWN, COLUMNS_SHOWN = 4, 30

# Advice to programmers about the libraries underneath, and numerical notes of their internals.
CLUTTER: tuple[dict[str, Any], ...] = (
    {'category': FutureWarning},
    {'category': DeprecationWarning},
    {'message': 'We strongly recommend saving the metadata'},
    {'message': 'You are loading an older'},
    {'message': 'No table name was provided'},
    {'module': r'(sdmetrics|rdt|ctgan|scipy|sklearn|numpy|pandas|plotly|torch)(\.|$)'},
)


class _Interrupted(BaseException):
    """Ctrl-C. A synthesizer takes a KeyboardInterrupt as 'stop training and go on'."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments (Sequence[str] or None):
            The words after the program's name. Defaults to those that it was called with.

    Returns:
        int:
            The exit code: 0 for success, 1 for a problem with the input, 130 for Ctrl-C. A usage
            error exits with 2.
    """
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help(sys.stderr)
        return 2

    try:
        with _interruptible(), _quiet():
            return _run(options)
    except (KeyboardInterrupt, _Interrupted):
        _complain('interrupted')
        return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description='TabDiff, a diffusion model of mixed-type tables, for SDV.',
    )
    parser.add_argument('--version', action='version', version=f'{PROGRAM} {__version__}')
    commands = parser.add_subparsers(title='commands', dest='command', metavar='COMMAND')
    _add_demo(commands)
    benchmarks.add_commands(commands, run=_run_benchmark)
    return parser


def _add_demo(commands: Any) -> None:
    demo = commands.add_parser(
        'demo',
        help='try TabDiff on an example or on your own CSV file',
        description='Fit TabDiff, CTGAN and TVAE to a table, compare their synthetic rows with '
        'the scores of SDMetrics, and write synthetic rows and a page of plots. Without --data '
        'the table is a real one of 215 rows that SDMetrics ships; nothing is downloaded.',
    )
    demo.add_argument('--data', type=Path, metavar='CSV', help='your own table')
    demo.add_argument(
        '--metadata', type=Path, metavar='JSON', help='its SDV metadata (default: detected)'
    )
    demo.add_argument(
        '--max-rows',
        type=at_least(int, 1),
        default=DEFAULT_MAX_ROWS,
        metavar='N',
        help='use a random sample of N rows of a longer file (default: %(default)s)',
    )
    demo.add_argument(
        '--max-training-time',
        type=at_least(float, 0.1),
        metavar='SECONDS',
        help=f'longest training of TabDiff (default: {EXAMPLE_SECONDS} for the example, no limit '
        'for your own table)',
    )
    demo.add_argument('--no-peers', action='store_true', help='leave out CTGAN and TVAE')
    demo.add_argument(
        '--seed', type=at_least(int, 0), default=0, help='random seed (default: %(default)s)'
    )
    demo.add_argument(
        '--output',
        type=Path,
        default=Path('sdv-tabdiff-demo'),
        metavar='DIR',
        help='folder for the results (default: %(default)s)',
    )
    demo.set_defaults(run=_run_demo, fail=demo.error)


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    def interrupt(*_: Any) -> None:
        raise _Interrupted

    if threading.current_thread() is not threading.main_thread():
        yield
        return

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Drop the warnings that only clutter; say the others once, in one line."""

    def say(message: Warning | str, *_: Any, **__: Any) -> None:
        _complain(f'warning: {message}')

    with warnings.catch_warnings():
        for clutter in CLUTTER:
            warnings.filterwarnings('ignore', **clutter)

        warnings.showwarning = say
        yield


def _complain(text: str) -> None:
    print(f'{PROGRAM}: {" ".join(text.split())}', file=sys.stderr, flush=True)


def _say(text: str = '', end: str = '\n') -> None:
    # The progress bar goes to stderr: without flushing, a pipe would mix up the order.
    print(text, end=end, flush=True)


def _run(options: argparse.Namespace) -> int:
    """Run a command. What is wrong with its input is said in one line, without a traceback."""
    from sdv_tabdiff import demo

    try:
        return options.run(options)
    except demo.INPUT_ERRORS as error:
        _complain(f'error: {error}')
    except OSError as error:
        _complain(f"error: Cannot write '{error.filename}': {error.strerror}.")

    return FAILED


def _run_demo(options: argparse.Namespace) -> int:
    if options.metadata and not options.data:
        options.fail('--metadata needs --data')

    from sdv_tabdiff import demo

    start = time.monotonic()
    if options.data:
        table = demo.load_table(options.data, options.metadata, options.max_rows, options.seed)
    else:
        table = demo.load_example()

    options.output.mkdir(parents=True, exist_ok=True)
    _announce(options, table)
    with _threads_for(table):
        results = _fit_all(options, table)

    files = demo.write_results(options.output, table, results)
    _say(f'\n{score_table(demo.HEADER, results)}\n\n{_some_rows(results[0])}\n')
    _say(f'Written to {options.output}:')
    for name, content in files.items():
        _say(f'  {name:<15}{content}')

    _say(f'Done in {time.monotonic() - start:.0f} seconds.')
    return 0


def _run_benchmark(options: argparse.Namespace) -> int:
    from sdv_tabdiff.benchmark.provenance import insert, surroundings

    if options.insert:
        surroundings(options.insert, options.command)  # Better an error now than hours later.

    report, failures = options.measure(options)
    _say(report)
    if options.insert:
        insert(options.insert, options.command, report)

    if failures:
        _complain(f"error: {failures} of TabDiff's rows failed; the last column says why")

    return FAILED if failures else 0


def _announce(options: argparse.Namespace, table: 'Table') -> None:
    source = options.data or 'student placements, a real table that SDMetrics ships'
    rows = f'{len(table.rows):,} rows'
    if len(table.rows) < table.total_rows:
        rows = f'a random {rows} of {table.total_rows:,} (see --max-rows)'

    limit = options.max_training_time
    if not options.data:
        pace = 'about a minute on two cores'
    elif limit:
        pace = f'TabDiff trains for at most {limit:g} seconds'
    else:
        pace = 'a minute for a small table, many for a large one (see --max-training-time)'

    names = 'TabDiff' if options.no_peers else 'TabDiff, CTGAN and TVAE'
    _say(f'{PROGRAM} {__version__}, SDV {importlib.metadata.version("sdv")}\n')
    _say(f'Table  {source}')
    _say(f'       {rows}, {len(table.rows.columns)} columns')
    columns = table.metadata.tables[table.name].columns
    personal = [
        f'{name} ({column["sdtype"]})' for name, column in columns.items() if column.get('pii')
    ]
    if personal:
        _say(f'       made up instead of learned, as personal data: {", ".join(personal)}')
        _say('       (change their sdtype in the metadata to learn them, see --metadata)')

    _say(f'Plan   fit {names}, score synthetic rows, write rows and plots')
    _say(f'Time   {pace}\n')


@contextlib.contextmanager
def _threads_for(table: 'Table') -> Iterator[None]:
    """One thread for a small table: more mostly wait for each other, for long on a busy machine."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1 if len(table.rows) < FEW_ROWS else before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _fit_all(options: argparse.Namespace, table: 'Table') -> list['Result']:
    from sdv_tabdiff import demo

    peers = [] if options.no_peers else list(demo.PEERS)
    steps = len(peers) + 2
    limit = options.max_training_time or (None if options.data else EXAMPLE_SECONDS)
    _say(f'[1/{steps}] Fitting TabDiff (stops by itself when there is no more to learn)')
    results = [
        demo.run_tabdiff(table, options.seed, max_training_time=limit, verbose=sys.stderr.isatty())
    ]
    for step, name in enumerate(peers, start=2):
        _say(f'[{step}/{steps}] Fitting {name}')
        results.append(demo.run_peer(name, table, options.seed))

    _say(f'[{steps}/{steps}] Drawing and writing')
    return results


def score_table(header: Sequence[str], results: Sequence['Result']) -> str:
    """The results as aligned columns: names to the left, numbers to the right."""
    rows = [list(header), *(result.cells() for result in results)]
    full = [row for row in rows if len(row) == len(header)]
    widths = [max(len(row[column]) for row in full) for column in range(len(header))]
    widths[0] = max(len(row[0]) for row in rows)
    lines = []
    for name, *cells in rows:
        numbers = cells if len(cells) == 1 else map(str.rjust, cells, widths[1:])
        lines.append('  '.join([name.ljust(widths[0]), *numbers]))

    return '\n'.join([lines[0], '-' * len(lines[0]), *lines[1:]])


def _some_rows(result: 'Result') -> str:
    """A few synthetic rows, turned on their side so that wide tables fit a terminal."""
    rows = result.synthetic.head(ROWS_SHOWN)
    hidden = len(rows.columns) - COLUMNS_SHOWN
    columns = rows.iloc[:, :COLUMNS_SHOWN].astype(object).T
    columns.columns = [f'row {number}' for number in range(1, len(rows) + 1)]
    shown = columns.to_string(max_colwidth=24, na_rep='-')
    more = f'\n... and {hidden} more columns' if hidden > 0 else ''
    return f'Synthetic rows of {result.name}\n{shown}{more}'
