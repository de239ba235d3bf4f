"""Filling in holes: containers, odd tables, other parameters, wrong input, other calls."""

import warnings

import numpy as np
import pandas as pd
import pytest
from rdt.transformers import FloatFormatter, LabelEncoder, OneHotEncoder, UniformEncoder
from sdv.errors import InvalidDataError, SamplingError
from sdv.sampling import Condition
from sdv.utils import load_synthesizer

from .requests import WIDE, assert_filled, draws, holes, refused, wide
from .tables import TABLE, fitted, metadata_of, quick


@pytest.fixture
def synthesizer(wide_synthesizer):
    return wide_synthesizer


def test_dictionaries(dict_synthesizer, people_data):
    data = people_data.assign(age=np.nan)
    for given in (data, {TABLE: data}):
        filled = dict_synthesizer.impute(given)
        assert list(filled) == [TABLE]
        assert_filled(filled[TABLE], data)
    tables = dict_synthesizer.impute({TABLE: data}, num_draws=2)
    assert [list(one) for one in tables] == [[TABLE], [TABLE]]
    assert 'job' in dict_synthesizer.impute_probabilities({TABLE: data})


def test_frame_in_a_dictionary_gives_a_frame_if_fitted_with_one(people_synthesizer, people_data):
    filled = people_synthesizer.impute({TABLE: people_data})

    assert_filled(filled, people_data)


def test_integer_column_names():
    data = pd.DataFrame({0: np.arange(60.0), 1: list('abc') * 20, 2: [True, False] * 30})
    numbered = fitted(data, {'0': 'numerical', '1': 'categorical', '2': 'boolean'})
    holed = holes(data)
    filled = numbered.impute(holed, keep_missing=[1])

    assert_filled(filled, holed)
    assert list(numbered.impute(data[[1]]).columns) == [0, 1, 2]
    assert set(numbered.impute_probabilities(holed)) == {1, 2}
    assert list(numbered.impute_probabilities(holed, columns=[1])) == [1]


@pytest.mark.parametrize(
    'data',
    [
        {'a': list('xyz') * 20, 'b': list('pq') * 30},
        {'a': np.random.default_rng(0).normal(size=60), 'b': np.arange(60.0)},
        {'a': ['x'] * 60, 'b': [3.5] * 60},
        {'a': ['x'] * 60, 'b': np.arange(60.0)},
    ],
    ids=['categories', 'numbers', 'constants', 'constant and numbers'],
)
@pytest.mark.parametrize('method', ['draw', 'mean', 'median'])
def test_tables_of_one_kind(data, method):
    data = pd.DataFrame(data)
    kinds = {
        name: 'numerical' if pd.api.types.is_numeric_dtype(data[name]) else 'categorical'
        for name in data
    }
    synthesizer = fitted(data, kinds)
    holed = holes(data, share=0.5)

    assert_filled(synthesizer.impute(holed, method=method, num_draws=draws(method)), holed)
    for shares in synthesizer.impute_probabilities(holed).values():
        np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-6)


@pytest.mark.parametrize('random_state', [None, 5])
@pytest.mark.parametrize('method', ['draw', 'mean'])
def test_table_without_anything_to_model(method, random_state):
    data = pd.DataFrame({'key': range(30), 'email': [f'a{i}@b.org' for i in range(30)]})
    columns = {'key': 'id', 'email': {'sdtype': 'email', 'pii': True}}
    synthesizer = fitted(data, columns, {'primary_key': 'key'})
    data.loc[::3, 'email'] = None

    filled = synthesizer.impute(data, method=method, random_state=random_state)
    assert_filled(filled, data)
    assert synthesizer.impute_probabilities(data) == {}


@pytest.mark.parametrize('method', ['draw', 'mean', 'median'])
def test_columns_all_missing_in_training_stay_missing(method):
    data = pd.DataFrame({
        'number': np.arange(60.0),
        'no_number': np.nan,
        'no_category': pd.Series([None] * 60, dtype=object),
        'no_date': pd.Series(pd.NaT, index=range(60)),
    })
    columns = {
        'number': 'numerical',
        'no_number': 'numerical',
        'no_category': 'categorical',
        'no_date': 'datetime',
    }
    synthesizer = fitted(data, columns)
    holed = data.copy()
    holed.loc[::4, 'number'] = None
    filled = synthesizer.impute(holed, method=method)

    assert_filled(filled, holed, but=['no_number', 'no_category', 'no_date'])
    assert filled.drop(columns='number').isna().all(axis=None)
    known = holed.assign(no_number=5.0)
    assert (synthesizer.impute(known)['no_number'] == 5.0).all()


@pytest.mark.parametrize(
    'parameters',
    [{'enforce_rounding': False}, {'enforce_min_max_values': False}, {'conditional_share': 0.0}],
    ids=str,
)
@pytest.mark.parametrize('method', ['draw', 'mean', 'median'])
def test_dtypes_are_kept_with_any_parameters(parameters, method):
    columns = {name: WIDE[name] for name in ['count', 'nullable', 'word', 'day', 'amount']}
    data = wide()[list(columns)]
    synthesizer = fitted(data, columns, **parameters)
    holed = holes(data)

    assert_filled(synthesizer.impute(holed, method=method, num_draws=draws(method)), holed)


@pytest.mark.parametrize(
    'transformer', [UniformEncoder, OneHotEncoder, LabelEncoder, FloatFormatter]
)
@pytest.mark.parametrize('method', ['draw', 'mean'])
def test_other_transformers(transformer, method):
    rng = np.random.default_rng(0)
    data = pd.DataFrame({'a': rng.normal(size=60), 'b': pd.Series(list('xyyzzz') * 10)})
    data.loc[::7, 'b'] = None
    data.loc[::5, 'a'] = None
    synthesizer = quick(metadata_of({'a': 'numerical', 'b': 'categorical'}))
    synthesizer.auto_assign_transformers(data)
    synthesizer.update_transformers({'a' if transformer is FloatFormatter else 'b': transformer()})
    synthesizer.fit(data)

    assert_filled(synthesizer.impute(data, method=method, num_draws=draws(method)), data)
    for shares in synthesizer.impute_probabilities(data).values():
        assert set(shares.columns) == {'x', 'y', 'z'}
        np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-6)


BAD = [
    ({'method': 'mode'}, ["'method'", "'mode'"]),
    ({'method': None}, ["'method'"]),
    ({'num_draws': 0}, ["'num_draws'", '0']),
    ({'num_draws': -1}, ["'num_draws'", '-1']),
    ({'num_draws': 1.5}, ["'num_draws'", '1.5']),
    ({'num_draws': 'two'}, ["'num_draws'", 'two']),
    ({'guidance': -1}, ["'guidance'", '-1']),
    ({'guidance': 'strong'}, ["'guidance'", 'strong']),
    ({'guidance': np.nan}, ["'guidance'", 'nan']),
    ({'guidance': np.inf}, ["'guidance'", 'inf']),
    ({'keep_missing': ['nowhere']}, ["'keep_missing'", "'nowhere'"]),
    ({'keep_missing': 'word'}, ["'keep_missing'", "'word'"]),
    ({'keep_missing': 5}, ["'keep_missing'", '5']),
    ({'random_state': 'seed'}, ["'random_state'", 'seed']),
    ({'random_state': -1.5}, ["'random_state'", '-1.5']),
]


@pytest.mark.parametrize(('arguments', 'words'), BAD, ids=lambda value: str(value)[:40])
def test_bad_argument_is_refused_by_name(synthesizer, arguments, words):
    refused(synthesizer, lambda: synthesizer.impute(holes(wide().iloc[:5]), **arguments), *words)


@pytest.mark.parametrize(
    'data', [None, 5, 'table', [1, 2], {'a': wide(), 'b': wide()}, wide()['word']]
)
def test_what_is_no_table_is_refused(synthesizer, data):
    refused(synthesizer, lambda: synthesizer.impute(data))
    refused(synthesizer, lambda: synthesizer.impute_probabilities(data))


def test_unknown_column_is_refused_by_name(synthesizer):
    data = wide().assign(nowhere=1)

    refused(synthesizer, lambda: synthesizer.impute(data), "'nowhere'")
    refused(synthesizer, lambda: synthesizer.impute_probabilities(data), "'nowhere'")


@pytest.mark.parametrize(
    ('name', 'value'),
    [('count', 'many'), ('amount', 'much'), ('moment', 'someday'), ('day', '2020-31-31')],
)
@pytest.mark.parametrize('method', ['draw', 'mean'])
def test_known_cell_of_the_wrong_kind_is_refused_by_name(synthesizer, name, value, method):
    data = wide().iloc[:5].copy()
    data[name] = data[name].astype(object)
    data.loc[1, [name, 'label']] = [value, None]

    refused(
        synthesizer,
        lambda: synthesizer.impute(data, method=method, num_draws=1),
        f"'{name}'",
        repr(value),
    )


@pytest.mark.parametrize('columns', [['amount'], ['day'], ['email'], ['nowhere'], 'word', 5])
def test_probabilities_of_what_has_none_are_refused_by_name(synthesizer, columns):
    name = columns[0] if isinstance(columns, list) else columns
    refused(
        synthesizer,
        lambda: synthesizer.impute_probabilities(holes(wide()), columns=columns),
        f"'{name}'" if isinstance(name, str) else str(name),
    )


@pytest.mark.parametrize('method', ['impute', 'impute_probabilities'])
def test_before_fit_is_sdvs_error(new_synthesizer, people_data, method):
    with pytest.raises(SamplingError, match='not been fitted'):
        getattr(new_synthesizer, method)(people_data)


def test_no_pandas_warnings(synthesizer):
    data = holes(wide())
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        synthesizer.impute(data)
        synthesizer.impute(data, method='mean', num_draws=2)
        synthesizer.impute(pd.DataFrame({'count': [50, 60]}), keep_missing=True)
        synthesizer.impute_probabilities(data)


def test_imputation_after_save_and_load(tmp_path):
    columns = {name: WIDE[name] for name in ['count', 'nullable', 'word', 'day']}
    data = wide()[list(columns)]
    synthesizer = fitted(data, columns)
    synthesizer.save(str(tmp_path / 'model.pkl'))
    loaded = load_synthesizer(str(tmp_path / 'model.pkl'))
    holed = holes(data)
    filled = loaded.impute(holed, random_state=1)

    assert_filled(filled, holed)
    pd.testing.assert_frame_equal(filled, synthesizer.impute(holed, random_state=1))


def test_failed_refit_keeps_imputation_working():
    data = pd.DataFrame({'a': list('xy') * 30, 'b': np.arange(60.0)})
    synthesizer = fitted(data, {'a': 'categorical', 'b': 'numerical'})
    with pytest.raises(InvalidDataError, match='infinite'):
        synthesizer.fit(pd.DataFrame({'a': list('pq') * 30, 'b': [np.inf] * 60}))
    filled = synthesizer.impute(holes(data))

    assert_filled(filled, holes(data))
    assert filled['a'].isin(['x', 'y']).all()


def test_imputation_after_preprocess_and_fit_processed_data():
    columns = {name: WIDE[name] for name in ['count', 'nullable', 'word', 'day']}
    data = wide()[list(columns)]
    synthesizer = quick(metadata_of(columns))
    synthesizer.fit_processed_data(synthesizer.preprocess(data))

    assert_filled(synthesizer.impute(holes(data)), holes(data))


def test_imputation_and_conditions_take_turns(synthesizer):
    data = holes(wide())
    synthesizer.impute(data)
    rows = synthesizer.sample_from_conditions([Condition({'count': 77}, num_rows=3)])

    assert rows['count'].tolist() == [77] * 3
    assert_filled(synthesizer.impute(data), data)
