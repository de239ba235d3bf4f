"""The options of ``sdv-tabdiff benchmark``."""

import argparse
from pathlib import Path
from typing import Any

from sdv_tabdiff.benchmark.option_types import (
    add_output_options,
    add_table_options,
    at_least,
    listed,
)

SYNTHESIZERS = ('TabDiff', 'CTGAN', 'TVAE', 'GaussianCopula')
OTHERS = ('MostlyAI',)


def add_quality(commands: Any) -> argparse.ArgumentParser:
    """Add the command to a program."""
    command = commands.add_parser(
        'benchmark',
        help='compare TabDiff with other synthesizers on your tables',
        description='Fit synthesizers to the training rows of tables, sample as many rows and '
        'measure how good they are and what they cost. Results are saved run by run, and a '
        'command that is started again goes on where it was. Writes quality.csv, quality.md and '
        'quality.html.',
    )
    command.add_argument(
        '--data',
        type=Path,
        metavar='FOLDER',
        help='folder with NAME.csv.gz, NAME.metadata.json and splits/NAME.json of each table '
        "(default: download the paper's tables from UCI, once)",
    )
    add_table_options(command)
    command.add_argument(
        '--synthesizers',
        type=listed(str),
        default=','.join(SYNTHESIZERS),
        metavar='NAMES',
        help='synthesizers, with their own defaults (default: %(default)s); MostlyAI too, if '
        'mostlyai-engine is installed. A bootstrap of the training rows always stands beside them',
    )
    command.add_argument(
        '--parameters',
        action='append',
        metavar='VARIANT',
        help='variant of TabDiff: default, PAPER, ablation (learnable or fixed schedules with a '
        'stochastic or deterministic sampler), PAPER-ablation, or NAME={...} in JSON; may be '
        'repeated (default: default)',
    )
    _add_sizes(command)
    command.add_argument(
        '--measures', type=listed(str), metavar='NAMES', help='measures (default: all)'
    )
    command.add_argument(
        '--halves',
        action='store_true',
        help='fit to each half of the training rows as well, and measure the mean DCR share with '
        'the other half',
    )
    command.add_argument(
        '--paper', type=Path, metavar='CSV', help='published figures to show beside the results'
    )
    add_output_options(command)
    return command


def _add_sizes(command: argparse.ArgumentParser) -> None:
    seeds = listed(at_least(int, 0))
    command.add_argument(
        '--seeds', type=seeds, default='0', metavar='LIST', help='random seeds (default: 0)'
    )
    command.add_argument(
        '--peer-seeds',
        type=seeds,
        metavar='LIST',
        help='random seeds of the others than TabDiff (default: the same)',
    )
    command.add_argument(
        '--time-budget',
        type=at_least(float, 0.1),
        metavar='SECONDS',
        help='train every synthesizer for about so long (default: as long as it takes)',
    )
    command.add_argument(
        '--threads',
        type=at_least(int, 1),
        metavar='N',
        help='threads that each fit and each measure may use, as when several commands share a '
        'machine (default: one for each core)',
    )
    command.add_argument(
        '--max-rows', type=at_least(int, 4), metavar='N', help='largest number of training rows'
    )


def run_quality(options: argparse.Namespace) -> tuple[str, int]:
    """Run the command; returns the report and the number of TabDiff's rows that failed."""
    from sdv_tabdiff.benchmark import download, paper, quality, quality_report, tables
    from sdv_tabdiff.benchmark.provenance import provenance
    from sdv_tabdiff.benchmark.synthesizers import variants
    from sdv_tabdiff.evaluation import MEASURES

    names = options.tables
    data = options.data or download.fetch(names)
    loaded = [
        tables.load_table(data, name, dict(options.target))
        for name in names or tables.table_names(data)
    ]
    plan = quality.Plan(
        data=data,
        synthesizers=_known(options.synthesizers, (*SYNTHESIZERS, *OTHERS), 'synthesizer'),
        variants=[one for word in options.parameters or ['default'] for one in variants(word)],
        seeds=options.seeds,
        peer_seeds=options.peer_seeds,
        measures=_known(options.measures or list(MEASURES), MEASURES, 'measure'),
        halves=options.halves,
        seconds=options.time_budget,
        max_rows=options.max_rows,
        threads=options.threads,
    )
    published = paper.load_paper(options.paper) if options.paper else None
    frame = quality.run(loaded, plan, options.output)
    text = quality_report.write(frame, options.output, provenance(options), published)
    return text, _failures(frame)


def _known(names: list[str], known: Any, kind: str) -> list[str]:
    from sdv_tabdiff.benchmark.tables import BenchmarkError

    for name in names:
        if name not in known:
            raise BenchmarkError(f"There is no {kind} '{name}'. There are {', '.join(known)}.")

    return names


def _failures(frame: Any) -> int:
    return int((frame['synthesizer'].str.startswith('TabDiff') & (frame['problem'] != '')).sum())
