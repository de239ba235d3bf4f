"""Small folders of tables, as the imputation benchmark reads them."""

import json

import numpy as np
import pandas as pd
from sdv.metadata import Metadata

from sdv_tabdiff.benchmark.tables import BenchmarkTable

SDTYPES = {
    'size': 'numerical',
    'weight': 'numerical',
    'born': 'datetime',
    'colour': 'categorical',
    'adult': 'boolean',
}


def animals(rows=60, seed=0):
    random = np.random.default_rng(seed)
    size = random.normal(10, 3, rows)
    grown = size + random.normal(0, 1, rows) > 12
    return pd.DataFrame({
        'size': size,
        'weight': np.exp(size / 3 + random.normal(0, 0.2, rows)),
        'born': [f'2020-01-{day:02d}' for day in random.integers(1, 29, rows)],
        'colour': np.where(random.random(rows) < 0.2, None, np.where(size < 9, 'grey', 'white')),
        'adult': grown,
    })


def described(sdtypes=SDTYPES, name='animals'):
    columns = {column: {'sdtype': sdtype} for column, sdtype in sdtypes.items()}
    for column in columns.values():
        if column['sdtype'] == 'datetime':
            column['datetime_format'] = '%Y-%m-%d'

    return {'tables': {name: {'columns': columns}}, 'METADATA_SPEC_VERSION': 'V1'}


def write_table(folder, name='animals', rows=None, split=None, sdtypes=SDTYPES):
    """Write a table of 60 rows, of which every fourth is for testing."""
    rows = animals() if rows is None else rows
    split = {'test_rows': list(range(0, len(rows), 4))} if split is None else split
    (folder / 'splits').mkdir(parents=True, exist_ok=True)
    rows.to_csv(folder / f'{name}.csv.gz', index=False)
    (folder / f'{name}.metadata.json').write_text(json.dumps(described(sdtypes, name)))
    (folder / 'splits' / f'{name}.json').write_text(json.dumps(split))
    return folder


def table_of(train, test, sdtypes=SDTYPES, target=None, task=None):
    """A table that was never in a folder."""
    metadata = Metadata.load_from_dict(described(sdtypes))
    return BenchmarkTable('animals', metadata, train, test, target, task)
