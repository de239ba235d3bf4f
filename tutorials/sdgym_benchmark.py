"""Compare TabDiff with other synthesizers in SDGym, offline, on a folder of tables.

SDGym finds TabDiffSynthesizer by its name as soon as sdv-tabdiff is installed. Its release 0.15.1
needs SDV 1.38:

    pip install -c constraints-sdv1.txt '.[sdgym]'
    python tutorials/sdgym_benchmark.py --data FOLDER --tables adult --output results

The folder has ``NAME.csv.gz`` (or ``NAME.csv``) and SDV's ``NAME.metadata.json`` of each table.
Without one, a small made-up table is used.
"""

import argparse
import json
import os
import tempfile
import zipfile
from pathlib import Path

import pandas as pd
import sdgym

from sdv_tabdiff.benchmark.conditions import make_table

SYNTHESIZERS = ['TabDiffSynthesizer', 'CTGANSynthesizer', 'TVAESynthesizer']


def write_dataset(folder: Path, name: str, rows: pd.DataFrame, metadata: dict) -> None:
    """Save a table in the form in which SDGym looks for it."""
    place = folder / 'single_table' / name
    place.mkdir(parents=True)
    (place / 'metadata.json').write_text(json.dumps(metadata))
    with zipfile.ZipFile(place / 'data.zip', 'w', zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f'{name}.csv', rows.to_csv(index=False))


def copy_tables(data: Path | None, names: list[str] | None, folder: Path, max_rows: int) -> None:
    """Bring tables into SDGym's form."""
    if data is None:
        rows, metadata = make_table(max_rows)
        write_dataset(folder, 'customers', rows, metadata.to_dict())
        return

    for path in sorted(data.glob('*.metadata.json')):
        name = path.name.removesuffix('.metadata.json')
        if names is None or name in names:
            rows = pd.read_csv(next(data.glob(f'{name}.csv*')))
            rows = rows.sample(min(max_rows, len(rows)), random_state=0)
            write_dataset(folder, name, rows, json.loads(path.read_text()))


def run(folder: Path, synthesizers: list[str], epochs: int | None) -> pd.DataFrame:
    """SDGym's quality, diagnostic and privacy scores, times, memory and sizes."""
    parameters = {'epochs': epochs} if epochs else {}
    # A variant is the same synthesizer with other parameters.
    variants = [
        sdgym.create_synthesizer_variant(
            display_name=f'{name}Variant',
            synthesizer_class=name,
            synthesizer_parameters=parameters,
        )
        for name in synthesizers
        if parameters
    ]
    here = Path.cwd()
    os.chdir(folder / 'single_table')  # SDGym 0.15.1 looks for tables in the current folder.
    try:
        return sdgym.benchmark_single_table(
            synthesizers=[] if variants else synthesizers,
            custom_synthesizers=variants or None,
            sdv_datasets=None,
            additional_datasets_folder=str(folder),
        )
    finally:
        os.chdir(here)


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Run SDGym and save its results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--data', type=Path, help='folder of tables')
    parser.add_argument('--tables', type=lambda text: text.split(','), help='some of them: a,b')
    parser.add_argument('--max-rows', type=int, default=5000, help='largest number of rows')
    parser.add_argument(
        '--synthesizers',
        type=lambda text: text.split(','),
        default=SYNTHESIZERS,
        help=f'names, as in {",".join(SYNTHESIZERS)}',
    )
    parser.add_argument('--epochs', type=int, help='epochs of each (default: their own)')
    parser.add_argument('--output', type=Path, default=Path('sdgym-results.csv'))
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        copy_tables(options.data, options.tables, Path(folder), options.max_rows)
        results = run(Path(folder), options.synthesizers, options.epochs)

    results.to_csv(options.output, index=False)
    return results


if __name__ == '__main__':
    print(main().T.to_string())
