"""Conditions with other parameters, tables and transformers, and after other calls."""

import numpy as np
import pandas as pd
import pytest
from rdt.transformers import (
    ClusterBasedNormalizer,
    FloatFormatter,
    GaussianNormalizer,
    LabelEncoder,
    OneHotEncoder,
    UniformEncoder,
)
from sdv.errors import (
    InvalidDataError,
)
from sdv.sampling import Condition, DataFrameCondition
from sdv.utils import load_synthesizer

from .requests import WIDE, refused, sample, wide
from .tables import fitted, metadata_of, quick


@pytest.mark.parametrize('dtype', ['int64', 'int8', 'Int8', 'float32'])
def test_numbers_beyond_the_data_if_they_are_not_enforced(dtype):
    data = pd.DataFrame({'a': pd.Series(range(100), dtype=dtype), 'b': list('xy') * 50})
    columns = {'a': 'numerical', 'b': 'categorical'}
    synthesizer = fitted(data, columns, enforce_min_max_values=False)
    rows = sample(synthesizer, Condition({'a': 1000}, num_rows=2), Condition({'b': 'x'}, 2))

    assert rows['a'].tolist()[:2] == [1000, 1000]
    assert rows['b'].tolist()[2:] == ['x', 'x']
    assert sample(synthesizer, Condition({'a': 1000}, num_rows=2))['a'].tolist() == [1000, 1000]


@pytest.mark.parametrize(
    'parameters',
    [
        {'guidance': 2.0},
        {'guidance': 2.0, 'guidance_columns': ['b']},
        {'conditional_share': 0.0},
        {'max_discrete_values': 0},
        {'enforce_rounding': False},
        {'stochastic_sampler': False},
    ],
    ids=str,
)
def test_values_are_exact_with_any_parameters(parameters):
    rng = np.random.default_rng(0)
    data = pd.DataFrame({
        'a': rng.normal(size=60),
        'b': list('xyz') * 20,
        'c': rng.integers(0, 9, 60),
    })
    columns = {'a': 'numerical', 'b': 'categorical', 'c': 'numerical'}
    rows = sample(
        fitted(data, columns, **parameters),
        Condition({'a': data['a'][3], 'c': 4}, num_rows=5),
        Condition({'b': 'z'}, num_rows=5),
    )

    assert rows['a'].tolist()[:5] == [data['a'][3]] * 5
    assert rows['c'].tolist()[:5] == [4] * 5
    assert rows['b'].tolist()[5:] == ['z'] * 5
    assert rows.notna().all(axis=None)


@pytest.mark.parametrize(
    'data',
    [
        {'a': list('xyz') * 20, 'b': list('pq') * 30},
        {'a': np.random.default_rng(0).normal(size=60), 'b': np.arange(60)},
        {'a': ['x'] * 60, 'b': [3.5] * 60},
    ],
    ids=['categories', 'numbers', 'constants'],
)
def test_tables_of_one_kind(data):
    data = pd.DataFrame(data)
    kinds = {
        name: 'numerical' if pd.api.types.is_numeric_dtype(data[name]) else 'categorical'
        for name in data
    }
    synthesizer = fitted(data, kinds)
    known = data[['a']].iloc[:7]
    rows = synthesizer.sample_remaining_columns(known)

    pd.testing.assert_frame_equal(rows[['a']], known)
    assert rows['b'].isin(data['b']).all() or data['b'].is_unique
    assert sample(synthesizer, DataFrameCondition(data))['b'].tolist() == data['b'].tolist()


def test_table_without_anything_to_model():
    data = pd.DataFrame({'key': range(30), 'email': [f'a{i}@b.org' for i in range(30)]})
    columns = {'key': 'id', 'email': {'sdtype': 'email', 'pii': True}}
    synthesizer = fitted(data, columns, {'primary_key': 'key'})
    rows = sample(synthesizer, Condition({'email': 'me@home.org'}, num_rows=4))

    assert rows['email'].tolist() == ['me@home.org'] * 4
    assert rows['key'].is_unique


@pytest.mark.parametrize(
    ('column', 'transformer'),
    [
        ('b', UniformEncoder),
        ('b', OneHotEncoder),
        ('b', LabelEncoder),
        ('a', FloatFormatter),
        ('a', GaussianNormalizer),
        ('a', ClusterBasedNormalizer),
    ],
)
def test_values_are_exact_behind_other_transformers(column, transformer):
    rng = np.random.default_rng(0)
    data = pd.DataFrame({'a': rng.normal(size=60), 'b': list('xyyzzz') * 10})
    synthesizer = quick(metadata_of({'a': 'numerical', 'b': 'categorical'}))
    synthesizer.auto_assign_transformers(data)
    synthesizer.update_transformers({column: transformer()})
    synthesizer.fit(data)
    known = data[[column]].iloc[:20]
    rows = synthesizer.sample_remaining_columns(known)

    pd.testing.assert_frame_equal(rows[[column]], known)
    assert rows.notna().all(axis=None)


def test_conditions_after_save_and_load(tmp_path):
    synthesizer = fitted(wide(), WIDE, {'primary_key': 'key'})
    synthesizer.save(str(tmp_path / 'model.pkl'))
    loaded = load_synthesizer(str(tmp_path / 'model.pkl'))
    condition = Condition({'amount': 5.25, 'day': '05.07.2020'}, num_rows=5)
    for one in (synthesizer, loaded):
        one.reset_sampling()
    rows = sample(loaded, condition)

    assert rows['amount'].tolist() == [5.25] * 5
    assert rows['day'].tolist() == ['05.07.2020'] * 5
    pd.testing.assert_frame_equal(rows, sample(synthesizer, condition))
    refused(loaded, lambda: sample(loaded, Condition({'label': 'astronaut'}, 1)), 'astronaut')


def test_conditions_follow_the_latest_fit():
    first = pd.DataFrame({'a': list('xy') * 30, 'b': np.arange(60.0)})
    second = pd.DataFrame({'a': list('pq') * 30, 'b': np.arange(60.0) + 1000})
    synthesizer = fitted(first, {'a': 'categorical', 'b': 'numerical'})
    synthesizer.fit(second)
    rows = sample(synthesizer, Condition({'a': 'p', 'b': 1030.5}, num_rows=3))

    assert rows['a'].tolist() == ['p'] * 3
    assert rows['b'].tolist() == [1030.5] * 3
    refused(synthesizer, lambda: sample(synthesizer, Condition({'a': 'x'}, 1)), "'x'")
    refused(synthesizer, lambda: sample(synthesizer, Condition({'b': 30.0}, 1)), '30.0')


def test_failed_refit_keeps_conditions_working():
    data = pd.DataFrame({'a': list('xy') * 30, 'b': np.arange(60.0)})
    synthesizer = fitted(data, {'a': 'categorical', 'b': 'numerical'})
    bad = pd.DataFrame({'a': list('pq') * 30, 'b': [np.inf] * 60})
    with pytest.raises(InvalidDataError, match='infinite'):
        synthesizer.fit(bad)
    synthesizer.learning_rate = 1e30
    with pytest.raises(Exception, match='finite|loss'):
        synthesizer.fit(bad.assign(b=np.arange(60.0) + 1000))

    rows = sample(synthesizer, Condition({'a': 'x', 'b': 30.0}, num_rows=3))
    assert rows['a'].tolist() == ['x'] * 3
    assert rows['b'].tolist() == [30.0] * 3
    refused(synthesizer, lambda: sample(synthesizer, Condition({'a': 'p'}, 1)), "'p'")


def test_conditions_after_preprocess_and_fit_processed_data():
    synthesizer = quick(metadata_of(WIDE, primary_key='key'))
    synthesizer.fit_processed_data(synthesizer.preprocess(wide()))
    known = wide().drop(columns='key').iloc[:20]
    rows = synthesizer.sample_remaining_columns(known)

    pd.testing.assert_frame_equal(rows.drop(columns='key'), known)
    refused(synthesizer, lambda: sample(synthesizer, Condition({'count': -5}, 1)), '-5')
