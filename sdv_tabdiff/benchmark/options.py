"""The options of the benchmark commands. What takes long to import is imported when they run."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdv_tabdiff.benchmark.option_types import (
    add_output_options,
    add_table_options,
    at_least,
    listed,
    one_of,
)
from sdv_tabdiff.benchmark.quality_options import add_quality, run_quality

if TYPE_CHECKING:
    import pandas as pd

    from sdv_tabdiff.benchmark.tables import BenchmarkTable

FORMS, TASKS, PEERS = ('hidden', 'network'), ('target', 'cells'), ('GaussianCopula', 'CTGAN')


def add_commands(commands: Any, run: Callable[[argparse.Namespace], int]) -> None:
    """Add the benchmark commands to a program.

    Args:
        commands (argparse._SubParsersAction):
            The commands of the program.
        run (Callable):
            Runs any of them. It finds in ``options.measure`` a function of the options that
            returns the report in Markdown and the number of TabDiff's rows that failed.
    """
    add_quality(commands).set_defaults(run=run, measure=run_quality)
    measures = (
        (_add_imputation, _imputation),
        (_add_conditions, _conditions),
        (_add_steps, _steps),
    )
    for add, measure in measures:
        command = add(commands)
        command.add_argument(
            '--max-training-time',
            type=at_least(float, 0.1),
            metavar='SECONDS',
            help='longest training of TabDiff (default: no limit)',
        )
        command.add_argument('--epochs', type=at_least(int, 1), help=argparse.SUPPRESS)
        add_output_options(command)
        command.set_defaults(run=run, measure=measure)

    _add_profile(commands).set_defaults(run=run, measure=_profile)
    _add_pace(commands).set_defaults(run=run, measure=_pace)


def _add_imputation(commands: Any) -> argparse.ArgumentParser:
    command = commands.add_parser(
        'benchmark-imputation',
        help='measure how well TabDiff fills in missing values',
        description='Fit TabDiff to the training rows of tables and fill in the test rows: their '
        'target column, beside XGBoost, or cells hidden at random, beside imputers of '
        'scikit-learn. Results are saved row by row, and a run that is started again goes on '
        'where it was.',
    )
    _add_data(command)
    command.add_argument(
        '--task',
        choices=[*TASKS, 'all'],
        default='all',
        help='what to fill in (default: %(default)s)',
    )
    add_table_options(command)
    _add_sizes(command)
    return command


def _add_data(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        '--data',
        type=Path,
        required=True,
        metavar='FOLDER',
        help='folder with NAME.csv.gz, NAME.metadata.json and splits/NAME.json of each table',
    )


def _add_lists(
    command: argparse.ArgumentParser, lists: list[tuple[str, Callable[[str], Any], str, str]]
) -> None:
    for name, one, default, text in lists:
        command.add_argument(
            f'--{name}',
            type=listed(one),
            default=default,
            metavar='LIST',
            help=f'{text} (default: %(default)s)',
        )


def _add_numbers(
    command: argparse.ArgumentParser, numbers: list[tuple[str, int | None, str]]
) -> None:
    for name, default, text in numbers:
        command.add_argument(
            f'--{name}', type=at_least(int, 1), default=default, metavar='N', help=text
        )


def _add_sizes(command: argparse.ArgumentParser) -> None:
    lists: list[tuple[str, Callable[[str], Any], str, str]] = [
        ('guidance', at_least(float, 0), '0,0.6', 'strengths of the guidance towards the target'),
        ('forms', one_of(FORMS), ','.join(FORMS), 'forms of the guidance'),
        ('seeds', at_least(int, 0), '0', 'random seeds'),
        ('rates', at_least(float, 0.001, 0.999), '0.1,0.3,0.5', 'shares of hidden cells'),
    ]
    _add_lists(command, lists)
    numbers: list[tuple[str, int | None, str]] = [
        ('draws', 20, 'draws behind a point estimate (default: %(default)s)'),
        ('max-rows', None, 'largest number of training rows (default: all)'),
        ('max-test-rows', None, 'largest number of test rows (default: all for the target, 1000 '
         'for cells)'),
    ]  # fmt: skip
    _add_numbers(command, numbers)


def _add_conditions(commands: Any) -> argparse.ArgumentParser:
    command = commands.add_parser(
        'benchmark-conditions',
        help='measure how fast TabDiff completes rows, beside other synthesizers',
        description='Fit TabDiff and other synthesizers to a made-up table and time how they '
        'complete rows of which a number, a category and a date are known.',
    )
    numbers: list[tuple[str, int | None, str]] = [
        ('rows', 5000, 'rows of the table (default: %(default)s)'),
        ('known', 1000, 'rows to complete (default: %(default)s)'),
        ('peer-rows', None, 'rows that the others complete (default: 1000, for CTGAN 20)'),
        ('peer-epochs', None, "epochs of CTGAN (default: SDV's)"),
    ]
    _add_numbers(command, numbers)

    command.add_argument(
        '--peers',
        type=_peers,
        default=','.join(PEERS),
        metavar='NAMES',
        help="other synthesizers, '' for none (default: %(default)s)",
    )
    command.add_argument(
        '--seed', type=at_least(int, 0), default=0, help='random seed (default: %(default)s)'
    )
    return command


def _add_steps(commands: Any) -> argparse.ArgumentParser:
    command = commands.add_parser(
        'benchmark-steps',
        help='measure what more steps of the sampler buy',
        description='Fit TabDiff once to the training rows of each table and sample as many rows '
        'with few and with many steps. Results are saved row by row, and a run that is started '
        'again goes on where it was.',
    )
    _add_data(command)
    add_table_options(command)
    lists = [
        ('steps', at_least(int, 1), '5,10,15,20,30,50', 'numbers of steps'),
        ('seeds', at_least(int, 0), '0', 'random seeds'),
    ]
    _add_lists(command, lists)
    command.add_argument(
        '--max-rows', type=at_least(int, 4), metavar='N', help='largest number of training rows'
    )
    return command


def _add_profile(commands: Any) -> argparse.ArgumentParser:
    command = commands.add_parser(
        'benchmark-profile',
        help='measure where the time of TabDiff goes',
        description='Train TabDiff for a few epochs on each table and sample as many rows, without '
        'early stopping and without a choice among the rows, and measure how much of the time '
        "the kinds of torch's operators take. Results are saved row by row, and a run that is "
        'started again goes on where it was.',
    )
    _add_data(command)
    add_table_options(command)
    _add_lists(command, [('seeds', at_least(int, 0), '0', 'random seeds')])
    numbers: list[tuple[str, int | None, str]] = [
        ('epochs', 5, 'epochs to measure (default: %(default)s)'),
        ('threads', None, 'threads (default: as many as torch likes)'),
        ('max-rows', None, 'largest number of training rows (default: all)'),
    ]
    _add_numbers(command, numbers)

    add_output_options(command)
    return command


def _add_pace(commands: Any) -> argparse.ArgumentParser:
    command = commands.add_parser(
        'benchmark-pace',
        help='measure how long a fit takes beside one of CTGAN',
        description='Fit TabDiff to the training rows of each table, and CTGAN for a few of its '
        'epochs, which say how long all of them would take. Results are saved row by row, and a '
        'run that is started again goes on where it was.',
    )
    _add_data(command)
    add_table_options(command)
    _add_lists(command, [('seeds', at_least(int, 0), '0', 'random seeds')])
    numbers: list[tuple[str, int | None, str]] = [
        ('peer-epochs', 8, 'epochs of CTGAN to measure (default: %(default)s)'),
        ('epochs', None, 'largest number of epochs of TabDiff'),
        ('threads', None, 'threads (default: as many as torch likes)'),
        ('max-rows', None, 'largest number of training rows (default: all)'),
    ]
    _add_numbers(command, numbers)

    add_output_options(command)
    return command


def _peers(text: str) -> list[str]:
    return listed(one_of(PEERS))(text) if text else []


def _parameters(options: argparse.Namespace) -> dict[str, Any]:
    given = {'max_training_time': options.max_training_time, 'epochs': options.epochs}
    return {name: value for name, value in given.items() if value is not None}


def _imputation(options: argparse.Namespace) -> tuple[str, int]:
    from sdv_tabdiff.benchmark import imputation, tables
    from sdv_tabdiff.benchmark.provenance import provenance

    loaded = _tables(options)
    aimless = [table.name for table in loaded if table.target is None]
    if options.task == 'target' and aimless:
        raise tables.BenchmarkError(f'Give the targets of {", ".join(aimless)} with --target.')

    plan = imputation.Plan(
        guidance=options.guidance,
        forms=options.forms,
        draws=options.draws,
        seeds=options.seeds,
        rates=options.rates,
        max_rows=options.max_rows,
        max_test_rows=options.max_test_rows,
        parameters=_parameters(options),
    )
    tasks = TASKS if options.task == 'all' else [options.task]
    frames = imputation.run(loaded, tasks, plan, options.output)
    text = f'{provenance(options)}\n\n{imputation.report(frames)}'
    return text, sum(map(_failures, frames.values()))


def _conditions(options: argparse.Namespace) -> tuple[str, int]:
    from sdv_tabdiff.benchmark import conditions
    from sdv_tabdiff.benchmark.provenance import provenance

    plan = conditions.Plan(
        num_rows=options.rows,
        num_known=options.known,
        peers=options.peers,
        peer_rows=options.peer_rows,
        peer_epochs=options.peer_epochs,
        seed=options.seed,
        parameters=_parameters(options),
    )
    frame = conditions.run(plan, options.output)
    return f'{provenance(options)}\n\n{conditions.report(frame)}', _failures(frame)


def _steps(options: argparse.Namespace) -> tuple[str, int]:
    from sdv_tabdiff.benchmark import steps
    from sdv_tabdiff.benchmark.provenance import provenance

    plan = steps.Plan(options.steps, options.seeds, options.max_rows, _parameters(options))
    frame = steps.run(_tables(options), plan, options.output)
    return f'{provenance(options)}\n\n{steps.report(frame)}', int((frame['problem'] != '').sum())


def _profile(options: argparse.Namespace) -> tuple[str, int]:
    from sdv_tabdiff.benchmark import profile
    from sdv_tabdiff.benchmark.provenance import provenance

    plan = profile.Plan(options.epochs, options.seeds, options.max_rows, options.threads)
    frame = profile.run(_tables(options), plan, options.output)
    return f'{provenance(options)}\n\n{profile.report(frame)}', int((frame['problem'] != '').sum())


def _pace(options: argparse.Namespace) -> tuple[str, int]:
    from sdv_tabdiff.benchmark import pace
    from sdv_tabdiff.benchmark.provenance import provenance

    parameters = {} if options.epochs is None else {'epochs': options.epochs}
    plan = pace.Plan(
        options.peer_epochs, options.seeds, options.max_rows, options.threads, parameters
    )
    frame = pace.run(_tables(options), plan, options.output)
    return f'{provenance(options)}\n\n{pace.report(frame)}', int((frame['problem'] != '').sum())


def _tables(options: argparse.Namespace) -> 'list[BenchmarkTable]':
    from sdv_tabdiff.benchmark import tables

    names = options.tables or tables.table_names(options.data)
    return [tables.load_table(options.data, name, dict(options.target)) for name in names]


def _failures(frame: 'pd.DataFrame') -> int:
    return int((frame['method'].str.startswith('TabDiff') & (frame['problem'] != '')).sum())
