"""Tables that are very short, narrow, wide, constant, empty of values or extreme."""

import numpy as np
import pandas as pd
import pytest

from .tables import PEOPLE, SDV_2, TABLE, fitted, people

COLUMNS = {
    'numerical': pd.Series(np.random.default_rng(0).normal(size=50).round(2)),
    'categorical': pd.Series(list('abcab') * 10),
    'boolean': pd.Series([True, False, True, True, False] * 10),
    'datetime': pd.Series(pd.date_range('2020-01-01', periods=50)),
    'id': pd.Series([f'x{row % 7}' for row in range(50)]),
    'email': pd.Series([f'a{row}@b.org' for row in range(50)]),
    **({'ordinal': pd.Series([3, 1, 2, 1, 3] * 10)} if SDV_2 else {}),
}
MODELLED = [sdtype for sdtype in COLUMNS if sdtype not in ('id', 'email')]


def sample_of(column, sdtype='numerical', rows=40, **parameters):
    data = pd.DataFrame({'a': column})
    synthesizer = fitted(data, {'a': sdtype}, **parameters)
    sample = synthesizer.sample(rows)
    synthesizer.get_metadata().validate_data({TABLE: sample})
    assert len(sample) == rows
    return sample['a']


@pytest.mark.parametrize('num_rows', [1, 2, 3, 5, 10, 11])
@pytest.mark.parametrize('early_stopping', [False, True])
def test_very_short_tables(num_rows, early_stopping):
    data = people(num_rows, seed=3)
    synthesizer = fitted(
        data, PEOPLE, table={'primary_key': 'key'}, early_stopping=early_stopping, epochs=2
    )
    sample = synthesizer.sample(20)

    assert len(sample) == 20
    assert sample['key'].is_unique
    assert sample['age'].between(data['age'].min(), data['age'].max()).all()
    assert sample['job'].dropna().isin(data['job'].dropna()).all()
    assert np.isfinite(synthesizer.get_loss_values()['Loss'].astype(float)).all()


@pytest.mark.parametrize('num_rows', [1, 2, 5])
@pytest.mark.parametrize('sdtype', COLUMNS)
def test_very_short_single_columns(sdtype, num_rows):
    column = COLUMNS[sdtype].iloc[:num_rows]
    sample = sample_of(column, sdtype)

    assert sample.dtype == column.dtype
    assert sample.notna().all()


@pytest.mark.parametrize('sdtype', COLUMNS)
def test_a_table_of_one_column(sdtype):
    sample = sample_of(COLUMNS[sdtype], sdtype)

    assert sample.dtype == COLUMNS[sdtype].dtype
    assert sample.notna().all()
    if sdtype in MODELLED:
        assert sample.between(COLUMNS[sdtype].min(), COLUMNS[sdtype].max()).all()


@pytest.mark.parametrize('sdtype', MODELLED)
def test_constant_column_stays_constant(sdtype):
    column = pd.Series([COLUMNS[sdtype][0]] * 30)
    sample = sample_of(column, sdtype)

    assert (sample == column[0]).all()
    assert sample.dtype == column.dtype


@pytest.mark.parametrize('sdtype', MODELLED)
def test_constant_column_with_gaps(sdtype):
    column = pd.Series(COLUMNS[sdtype].tolist()[:1] * 30, dtype=object)
    column[::2] = None
    if sdtype in ('numerical', 'datetime'):
        column = column.astype(COLUMNS[sdtype].dtype)

    sample = sample_of(column, sdtype, rows=100)

    assert (sample.dropna() == column[1]).all()
    assert 10 < sample.isna().sum() < 90


@pytest.mark.parametrize(
    ('sdtype', 'missing'),
    [
        *[(sdtype, missing) for sdtype in MODELLED for missing in (None, np.nan)],
        ('datetime', pd.NaT),
    ],
)
def test_column_without_any_value_stays_so(sdtype, missing):
    data = pd.DataFrame({'a': [missing] * 30, 'b': np.arange(30.0)})
    sample = fitted(data, {'a': sdtype, 'b': 'numerical'}).sample(20)

    assert sample['a'].isna().all()
    assert sample['b'].notna().all()


@pytest.mark.parametrize('sdtype', MODELLED)
def test_table_without_any_value_stays_so(sdtype):
    assert sample_of(pd.Series([np.nan] * 12), sdtype).isna().all()


def test_one_value_among_gaps():
    sample = sample_of(pd.Series([np.nan] * 40 + [5.0]), rows=100)

    assert set(sample.dropna()) <= {5.0}
    assert sample.isna().sum() > 50


def test_thousand_columns():
    rng = np.random.default_rng(0)
    numbers = {f'n{index}': rng.normal(size=20) for index in range(500)}
    categories = {f'c{index}': rng.choice(list('ab'), 20) for index in range(500)}
    data = pd.DataFrame({**numbers, **categories})
    columns = {name: 'numerical' if name[0] == 'n' else 'categorical' for name in data}
    sample = fitted(data, columns).sample(5)

    assert list(sample.columns) == list(data.columns)
    assert sample.notna().to_numpy().all()


def test_category_of_a_thousand_levels():
    column = pd.Series([f'level {index % 1000}' for index in range(1500)])
    sample = sample_of(column, 'categorical', rows=300)

    assert sample.isin(column).all()
    assert sample.nunique() > 100


def test_category_of_all_different_strings():
    column = pd.Series([f'text {index}' for index in range(100)])
    sample = sample_of(column, 'categorical', rows=100)

    assert sample.isin(column).all()
    assert sample.nunique() > 20


@pytest.mark.parametrize(
    'text',
    ['', ' ', 'ü', '名前', 'a\nb', "quote'", 'nan', 'None', 'NULL', '<NA>', '0', 'True'],
)
def test_odd_strings_are_ordinary_levels(text):
    sample = sample_of(pd.Series([text, 'other'] * 20), 'categorical', rows=60)

    assert set(sample) == {text, 'other'}


@pytest.mark.parametrize('max_discrete_values', [0, 128])
@pytest.mark.parametrize(
    'values',
    [
        [2**53 + 1, 2**53 + 3, 2**53 + 5] * 20,
        list(range(2**62, 2**62 + 50)),
        [-(2**63), 0, 2**63 - 1] * 10,
        list(range(-50, 0)),
        [0] * 30 + list(range(1, 31)),
    ],
    ids=['beyond doubles', 'huge', 'whole int64 range', 'negative', 'many zeros'],
)
def test_extreme_whole_numbers(values, max_discrete_values):
    column = pd.Series(values, dtype='int64')
    sample = sample_of(column, max_discrete_values=max_discrete_values)

    assert sample.dtype == column.dtype
    assert sample.between(column.min(), column.max()).all()


@pytest.mark.parametrize('max_discrete_values', [0, 128])
@pytest.mark.parametrize(
    'scale', [1e-300, 1e-30, 1e-12, 1.0, 1e12, 1e100, 1e300], ids=lambda scale: f'{scale:g}'
)
def test_tiny_and_huge_numbers(scale, max_discrete_values):
    column = pd.Series(np.random.default_rng(0).uniform(0.5, 1.5, 60) * scale)
    sample = sample_of(column, enforce_rounding=False, max_discrete_values=max_discrete_values)

    assert sample.between(column.min(), column.max()).all()
    assert sample.nunique() > 10


def test_numbers_that_differ_in_the_last_digits_only():
    column = pd.Series(1e9 + np.arange(60) * 1e-3)
    sample = sample_of(column)

    assert sample.between(column.min(), column.max()).all()
    assert sample.nunique() > 10


def test_heavy_tails_stay_in_range():
    column = pd.Series(np.random.default_rng(0).standard_cauchy(300))
    sample = sample_of(column, rows=300)

    assert sample.between(column.min(), column.max()).all()


def test_duplicated_rows():
    data = pd.DataFrame({'a': [1.5] * 40 + [2.5] * 40, 'b': ['x'] * 40 + ['y'] * 40})
    sample = fitted(data, {'a': 'numerical', 'b': 'categorical'}).sample(50)

    assert set(sample['a']) <= {1.5, 2.5}


def test_distant_dates():
    column = pd.Series(pd.to_datetime(['1700-01-01', '1969-12-31', '2200-05-05'] * 10))
    sample = sample_of(column, 'datetime')

    assert sample.between(column.min(), column.max()).all()


@pytest.mark.parametrize('batch_size', [1, 7, 80, 10_000])
def test_any_training_batch_size(batch_size):
    synthesizer = fitted(people(), PEOPLE, table={'primary_key': 'key'}, batch_size=batch_size)

    assert np.isfinite(synthesizer.get_loss_values()['Loss']).all()
    assert len(synthesizer.sample(5)) == 5
