"""Any column name that pandas allows."""

import numpy as np
import pandas as pd
import pytest
from sdv.sampling import Condition, DataFrameCondition

from .tables import TABLE, fitted, metadata_of, quick

NAMES = [
    ['with space', 'with.dot', 'with/slash'],
    ['ü', '名前', 'naïve'],
    [' ', '  ', '.'],
    ['x', 'x.is_null', 'x.is_null.is_null'],
    ['x', 'x.value0', 'x.value1'],
    ['x#y', 'x__y', 'sdv'],
    ['index', 'columns', 'values'],
    ['a', 'A', 'a '],
    ["quote'", 'quote"', 'back\\slash'],
    ['0', '1', '2'],
    ['nan', 'None', 'x' * 300],
]
INTEGERS = [[0, 1, 2], [5, -3, 10**12], [0, 'one', 2], ['zero', 1, 'two']]


def table(names, gaps=True):
    rng = np.random.default_rng(0)
    number = rng.normal(size=40).round(2)
    number[:: 3 if gaps else 41] = np.nan
    category = rng.choice(list('ab'), 40).astype(object)
    return pd.DataFrame(
        dict(enumerate([number, category, rng.integers(0, 50, 40)])),
    ).set_axis(names, axis=1)


def columns_of(names):
    return dict(zip(map(str, names), ['numerical', 'categorical', 'numerical']))


@pytest.mark.parametrize('names', NAMES, ids=repr)
def test_odd_names_are_kept(names):
    data = table(names)
    sample = fitted(data, columns_of(names)).sample(60)

    assert list(sample.columns) == names
    assert sample[names[0]].isna().any()
    assert set(sample[names[1]]) == {'a', 'b'}
    assert sample[names[2]].between(0, 49).all()


def test_name_of_a_missing_flag_may_be_a_category():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({
        'x': np.where(rng.random(60) < 0.5, np.nan, rng.normal(size=60)),
        'x.is_null': rng.choice(list('ab'), 60),
    })
    sample = fitted(data, {'x': 'numerical', 'x.is_null': 'categorical'}).sample(80)

    assert set(sample['x.is_null']) == {'a', 'b'}
    assert sample['x'].isna().any()
    assert sample['x'].notna().any()


@pytest.mark.parametrize('order', [['x', 'x.is_null'], ['x.is_null', 'x']], ids=repr)
def test_name_of_a_missing_flag_may_have_gaps_too(order):
    rng = np.random.default_rng(0)
    data = pd.DataFrame({
        'x': np.where(rng.random(60) < 0.5, np.nan, rng.uniform(0, 1, 60)),
        'x.is_null': np.where(rng.random(60) < 0.5, np.nan, rng.uniform(5, 6, 60)),
    })[order]
    sample = fitted(data, dict.fromkeys(order, 'numerical')).sample(80)

    assert list(sample.columns) == order
    assert sample['x'].dropna().between(0, 1).all()
    assert sample['x.is_null'].dropna().between(5, 6).all()
    assert sample.isna().any().all()
    assert sample.notna().any().all()


@pytest.mark.parametrize('names', INTEGERS, ids=repr)
def test_integer_names_are_kept(names):
    data = table(names)
    before = data.copy(deep=True)
    synthesizer = fitted(data, columns_of(names))

    pd.testing.assert_frame_equal(data, before)
    for rows in (0, 1, 30):
        assert list(synthesizer.sample(rows).columns) == names


@pytest.mark.parametrize('names', INTEGERS, ids=repr)
def test_integer_names_survive_a_failed_fit(names):
    data = table(names)
    before = data.copy(deep=True)
    synthesizer = quick(metadata_of({**columns_of(names), 'more': 'numerical'}))
    with pytest.raises(Exception, match='more'):
        synthesizer.fit(data)

    pd.testing.assert_frame_equal(data, before)


def test_numpy_integer_names_are_kept():
    data = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 3)))
    data.columns = np.array([1, 2, 3], dtype=np.int32)
    sample = fitted(data, dict.fromkeys('123', 'numerical')).sample(5)

    assert list(sample.columns) == [1, 2, 3]


def test_integer_names_in_a_dict_are_kept():
    data = table([0, 1, 2])
    sample = fitted({TABLE: data}, columns_of([0, 1, 2])).sample(5)

    assert list(sample[TABLE].columns) == [0, 1, 2]
    assert list(data.columns) == [0, 1, 2]


def test_integer_names_do_not_outlive_a_refit():
    synthesizer = fitted(table([0, 1, 2]), columns_of([0, 1, 2]))
    synthesizer.fit(table(['0', '1', '2']))

    assert list(synthesizer.sample(5).columns) == ['0', '1', '2']


@pytest.mark.parametrize('name', [1, '1'])
def test_condition_on_an_integer_name(name):
    synthesizer = fitted(table([0, 1, 2]), columns_of([0, 1, 2]))
    conditions = [Condition({name: 'a'}, num_rows=4)]
    sample = synthesizer.sample_from_conditions(conditions)

    assert list(sample.columns) == [0, 1, 2]
    assert sample[1].tolist() == ['a'] * 4


def test_known_integer_columns():
    synthesizer = fitted(table([0, 1, 2]), columns_of([0, 1, 2]))
    known = pd.DataFrame({1: list('abba')})

    for sample in (
        synthesizer.sample_remaining_columns(known),
        synthesizer.sample_from_conditions([DataFrameCondition(known)]),
    ):
        assert list(sample.columns) == [0, 1, 2]
        assert sample[1].tolist() == list('abba')

    assert list(known.columns) == [1]


def test_named_column_axis_is_harmless():
    data = table(['a', 'b', 'c']).rename_axis(columns='features')
    sample = fitted(data, columns_of('abc')).sample(5)

    assert list(sample.columns) == ['a', 'b', 'c']
    assert data.columns.name == 'features'


def test_preprocess_and_reports_with_integer_names():
    synthesizer = quick(metadata_of(columns_of([0, 1, 2])))
    data = table([0, 1, 2])
    synthesizer.fit_processed_data(synthesizer.preprocess(data))

    assert set(synthesizer.get_noise_schedules()['Column'].astype(str)) <= {'0', '1', '2'}
    assert len(synthesizer.sample(4)) == 4
    assert list(data.columns) == [0, 1, 2]


def test_preprocess_then_fit_processed_keeps_integer_names():
    synthesizer = quick(metadata_of(columns_of([0, 1, 2])))
    synthesizer.fit_processed_data(synthesizer.preprocess(table([0, 1, 2])))

    assert list(synthesizer.sample(4).columns) == [0, 1, 2]
