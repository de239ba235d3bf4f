"""Small tables to measure."""

import numpy as np
import pandas as pd

METADATA = {
    'tables': {
        'people': {
            'primary_key': 'key',
            'columns': {
                'key': {'sdtype': 'id'},
                'age': {'sdtype': 'numerical'},
                'income': {'sdtype': 'numerical'},
                'joined': {'sdtype': 'datetime', 'datetime_format': '%Y-%m-%d'},
                'job': {'sdtype': 'categorical'},
                'member': {'sdtype': 'boolean'},
                'grade': {'sdtype': 'ordinal'},
                'email': {'sdtype': 'email', 'pii': True},
            },
        }
    }
}


def people(num_rows, seed=0, related=True):
    """Rows in which income follows age, and job and grade follow both, unless unrelated."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, num_rows).astype(float)
    other = rng.permutation(age) if not related else age
    income = np.round(other * 100 + rng.normal(0, 500, num_rows), 2)
    frame = pd.DataFrame({
        'key': np.arange(num_rows),
        'age': age,
        'income': income,
        'joined': pd.Timestamp('2020-01-01') + pd.to_timedelta(rng.integers(0, 900, num_rows), 'D'),
        'job': np.where(other > 50, 'nurse', np.where(rng.random(num_rows) < 0.5, 'cook', 'smith')),
        'member': rng.random(num_rows) < 0.3,
        'grade': rng.integers(1, 4, num_rows),
        'email': [f'{number}@example.com' for number in range(num_rows)],
    })
    frame['joined'] = frame['joined'].dt.strftime('%Y-%m-%d')
    frame.loc[rng.random(num_rows) < 0.1, 'income'] = np.nan
    frame.loc[rng.random(num_rows) < 0.1, 'joined'] = None
    frame.loc[rng.random(num_rows) < 0.1, 'job'] = None
    return frame


def numbers(**columns):
    """A table of numbers and its metadata."""
    frame = pd.DataFrame(columns, dtype=float)
    return frame, {'columns': {name: {'sdtype': 'numerical'} for name in columns}}


def levels(**columns):
    """A table of levels and its metadata."""
    frame = pd.DataFrame(columns, dtype=object)
    return frame, {'columns': {name: {'sdtype': 'categorical'} for name in columns}}
