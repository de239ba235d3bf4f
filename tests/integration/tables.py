"""Small tables, their metadata, and what differs between SDV 1.38 and 2.x."""

import inspect
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sdv.metadata import Metadata
from sdv.single_table.base import BaseSingleTableSynthesizer

from sdv_tabdiff import TabDiffSynthesizer

SDV_2 = 'main_table_name' in inspect.signature(BaseSingleTableSynthesizer.sample).parameters
needs_sdv_2 = pytest.mark.skipif(not SDV_2, reason='SDV 1.x has no such feature')

TABLE = 'people'

# A network and a sampler that are fast rather than good.
QUICK = {
    'epochs': 1,
    'sampling_steps': 4,
    'trunk_dims': (32, 32),
    'time_dim': 16,
    'enable_gpu': False,
    'random_state': 0,
}

PEOPLE = {
    'key': {'sdtype': 'id', 'regex_format': 'P-[0-9]{5}'},
    'age': 'numerical',
    'income': 'numerical',
    'job': 'categorical',
    'member': 'boolean',
    'joined': {'sdtype': 'datetime', 'datetime_format': '%Y-%m-%d'},
    'email': {'sdtype': 'email', 'pii': True},
}


def people(num_rows=80, seed=0):
    """A table with a key, every modelled sdtype, gaps in a number and in a category, and PII."""
    rng = np.random.default_rng(seed)
    income = rng.lognormal(8, 1, num_rows).round(2)
    income[rng.random(num_rows) < 0.2] = np.nan
    job = rng.choice(['nurse', 'smith', 'cook'], num_rows, p=[0.5, 0.3, 0.2]).astype(object)
    job[rng.random(num_rows) < 0.1] = None
    joined = pd.Timestamp('2020-01-01') + pd.to_timedelta(rng.integers(0, 900, num_rows), 'D')
    return pd.DataFrame({
        'key': [f'P-{row:05d}' for row in range(num_rows)],
        'age': rng.integers(18, 90, num_rows),
        'income': income,
        'job': job,
        'member': rng.random(num_rows) < 0.3,
        'joined': joined.strftime('%Y-%m-%d'),
        'email': [f'person{row}@real.org' for row in range(num_rows)],
    })


def metadata_of(columns, **table):
    """Metadata of one table; a column is given by its sdtype or by all its properties."""
    columns = {
        name: {'sdtype': properties} if isinstance(properties, str) else properties
        for name, properties in columns.items()
    }
    return Metadata.load_from_dict({'tables': {TABLE: {'columns': columns, **table}}})


def people_metadata():
    return metadata_of(PEOPLE, primary_key='key')


def quick(metadata, **parameters):
    """A synthesizer that fits and samples in a moment."""
    return TabDiffSynthesizer(metadata, **{**QUICK, **parameters})


def fitted(data, columns, table=None, **parameters):
    """A quick synthesizer, fitted with ``data``."""
    synthesizer = quick(metadata_of(columns, **(table or {})), **parameters)
    synthesizer.fit(data)
    return synthesizer


def for_reference(data):
    """A frame in the container that SDV's own synthesizers take."""
    return {TABLE: data} if SDV_2 else data


def output_in(folder):
    """Where to write sampled rows: the argument of ``sample`` and the file that it makes."""
    path = Path(folder) / f'{TABLE}.csv'
    return ({'output_folder_path': str(folder)} if SDV_2 else {'output_file_path': str(path)}), path
