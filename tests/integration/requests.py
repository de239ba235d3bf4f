"""Requests with given values: a table of every kind of column, and how requests are refused."""

import numpy as np
import pandas as pd
import pytest
from sdv.cag._errors import ConstraintNotMetError
from sdv.errors import (
    InvalidDataError,
    InvalidDataTypeError,
    SynthesizerInputError,
)


def sample(synthesizer, *conditions, **arguments):
    return synthesizer.sample_from_conditions(list(conditions), **arguments)


# Columns of it that have gaps.
KEPT = ['share', 'nullable', 'word', 'maybe', 'day']

WIDE = {
    'key': {'sdtype': 'id', 'regex_format': 'K[0-9]{6}'},
    'count': 'numerical',
    'amount': 'numerical',
    'share': 'numerical',
    'nullable': 'numerical',
    'label': 'categorical',
    'word': 'categorical',
    'flag': 'boolean',
    'maybe': 'boolean',
    'moment': 'datetime',
    'day': {'sdtype': 'datetime', 'datetime_format': '%d.%m.%Y'},
    'email': {'sdtype': 'email', 'pii': True},
}


def wide(num_rows=150):
    """Every kind of column and dtype; half of them with gaps."""
    rng = np.random.default_rng(1)
    gap = {name: rng.random(num_rows) < 0.2 for name in ['share', 'nullable', 'word', 'maybe']}
    days = pd.Series(
        pd.Timestamp('2020-01-01') + pd.to_timedelta(rng.integers(0, 700, num_rows), 'D')
    )
    share = np.where(rng.random(num_rows) < 0.4, 0.0, rng.uniform(1, 2, num_rows))
    return pd.DataFrame({
        'key': [f'K{row:06d}' for row in range(num_rows)],
        'count': np.append(rng.integers(0, 1000, num_rows - 1), 0),
        'amount': rng.lognormal(2, 1, num_rows),
        'share': np.where(gap['share'], np.nan, share),
        'nullable': pd.Series(rng.integers(0, 500, num_rows), dtype='Int64').mask(gap['nullable']),
        'label': pd.Series(rng.choice(['x', 'y', 'z'], num_rows), dtype='category'),
        'word': pd.Series(rng.choice(['one', 'two'], num_rows), dtype='string').mask(gap['word']),
        'flag': rng.random(num_rows) < 0.3,
        'maybe': pd.Series(rng.random(num_rows) < 0.5, dtype='boolean').mask(gap['maybe']),
        'moment': days + pd.to_timedelta(rng.integers(0, 86400, num_rows), 's'),
        'day': days.dt.strftime('%d.%m.%Y').mask(rng.random(num_rows) < 0.1, None),
        'email': [f'p{row}@real.org' for row in range(num_rows)],
    })


# What a request that cannot be met may raise: each of them is ours or SDV's way to say so.
SDV_ERRORS = (
    ValueError,
    ConstraintNotMetError,
    InvalidDataError,
    InvalidDataTypeError,
    SynthesizerInputError,
)


def refused(synthesizer, request, *words):
    """Assert that a request is refused by an error that says these words, before any sampling."""
    synthesizer.reset_sampling()
    expected = synthesizer.sample(3)
    synthesizer.reset_sampling()
    with pytest.raises(SDV_ERRORS) as error:
        request()

    message = str(error.value)
    assert 'Sampling terminated' not in message
    assert 'Unable to sample' not in message
    assert all(word in message for word in words), message
    # Neither random numbers nor keys were used up.
    pd.testing.assert_frame_equal(synthesizer.sample(3), expected)


def holes(data, share=0.3, columns=None, seed=7):
    """The data with holes at random, in the same dtypes where they can have holes."""
    rng = np.random.default_rng(seed)
    data = data.copy()
    for name in columns or data.columns:
        column = data[name]
        if column.dtype == bool:
            column = column.astype(object)
        data[name] = column.mask(rng.random(len(data)) < share)

    return data


def draws(method):
    """As few draws as a method can do with."""
    return 1 if method == 'draw' else 2


def assert_filled(filled, data, but=()):
    """All holes are filled, and nothing else has changed."""
    pd.testing.assert_index_equal(filled.index, data.index)
    assert list(filled.columns) == list(data.columns)
    assert filled.dtypes.to_dict() == data.dtypes.to_dict()
    for name in data:
        there = data[name].notna().to_numpy()
        assert filled[name][there].tolist() == data[name][there].tolist()
        assert name in but or filled[name].notna().all(), name
