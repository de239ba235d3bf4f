"""Columns of every pandas type come back in that type."""

import datetime

import numpy as np
import pandas as pd
import pytest

from .tables import fitted, needs_sdv_2

ROWS = 60
RNG = np.random.default_rng(0)
WHOLE = RNG.integers(0, 100, ROWS)
LETTERS = RNG.choice(list('abc'), ROWS)
FLAGS = RNG.random(ROWS) < 0.4
TIMES = pd.Series(pd.Timestamp('2021-03-01') + pd.to_timedelta(RNG.integers(0, 10**6, ROWS), 's'))
GAPS = RNG.random(ROWS) < 0.3

NUMBERS = [
    *['int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64'],
    *['Int8', 'Int32', 'Int64', 'UInt8', 'UInt64', 'float32', 'float64', 'Float32', 'Float64'],
]
CATEGORIES = ['object', 'category', 'string']
DATE_FORMATS = [
    *['%Y-%m-%d', '%d/%m/%Y', '%m-%d-%y', '%d %b %Y', '%Y%m%d', '%B %d, %Y'],
    *['%Y-%m-%d %H:%M:%S', '%Y-%m-%dT%H:%M:%S', '%H:%M %d.%m.%Y', '%Y-%m-%d %H:%M:%S.%f'],
]


def sample_of(column, sdtype, rows=40, **parameters):
    data = pd.DataFrame({'a': column})
    sample = fitted(data, {'a': sdtype}, **parameters).sample(rows)
    assert list(sample.columns) == ['a']
    return sample['a']


@pytest.mark.parametrize('max_discrete_values', [0, 128])
@pytest.mark.parametrize('dtype', NUMBERS)
def test_numbers_keep_their_dtype_and_range(dtype, max_discrete_values):
    column = pd.Series(WHOLE).astype(dtype)
    sample = sample_of(column, 'numerical', max_discrete_values=max_discrete_values)

    assert sample.dtype == column.dtype
    assert sample.between(0, 99).all()


@pytest.mark.parametrize('max_discrete_values', [0, 128])
@pytest.mark.parametrize('dtype', ['Int8', 'Int64', 'UInt8', 'Float32', 'Float64', 'float32'])
def test_numbers_with_gaps_keep_dtype_and_gaps(dtype, max_discrete_values):
    column = pd.Series(WHOLE).astype(dtype)
    column[GAPS] = np.nan if dtype == 'float32' else pd.NA
    sample = sample_of(column, 'numerical', max_discrete_values=max_discrete_values, rows=150)

    assert sample.dtype == column.dtype
    assert sample.isna().any()
    assert sample.dropna().between(0, 99).all()


@pytest.mark.parametrize('dtype', CATEGORIES)
@pytest.mark.parametrize('gaps', [False, True], ids=['complete', 'gaps'])
def test_categories_keep_their_dtype(dtype, gaps):
    column = pd.Series(LETTERS, dtype=dtype)
    if gaps:
        column[GAPS] = None

    sample = sample_of(column, 'categorical', rows=150)

    assert sample.dtype == column.dtype
    assert set(sample.dropna()) == set('abc')
    assert sample.isna().any() == gaps


def test_unused_category_is_kept_by_the_dtype_and_not_generated():
    column = pd.Series(pd.Categorical(LETTERS, categories=list('abcz')))
    sample = sample_of(column, 'categorical')

    assert 'z' not in set(sample)
    assert set(sample) <= set('abc')


def test_ordered_category_stays_ordered():
    column = pd.Series(pd.Categorical(LETTERS, categories=list('cba'), ordered=True))
    sample = sample_of(column, 'categorical')

    assert sample.dtype == column.dtype


@pytest.mark.parametrize('sdtype', ['categorical', 'boolean'])
@pytest.mark.parametrize('dtype', ['bool', 'boolean', 'object'])
def test_booleans_keep_their_dtype(dtype, sdtype):
    column = pd.Series(FLAGS).astype(dtype)
    sample = sample_of(column, sdtype)

    assert sample.dtype == column.dtype
    assert set(sample) == {True, False}


@pytest.mark.parametrize('dtype', ['boolean', 'object'])
def test_booleans_with_gaps_keep_dtype_and_gaps(dtype):
    column = pd.Series(FLAGS).astype(dtype)
    column[GAPS] = pd.NA if dtype == 'boolean' else None
    sample = sample_of(column, 'boolean', rows=150)

    assert sample.dtype == column.dtype
    assert sample.isna().any()
    assert set(sample.dropna()) == {True, False}


@pytest.mark.parametrize('dtype', ['int64', 'float64', 'int8', 'Int64', 'bool', 'float32'])
def test_numbers_as_categories_keep_dtype_and_values(dtype):
    column = pd.Series(WHOLE % 3).astype(dtype)
    sample = sample_of(column, 'categorical')

    assert sample.dtype == column.dtype
    assert set(sample) <= set(column)


@needs_sdv_2
@pytest.mark.parametrize('dtype', ['int64', 'Int64', 'object', 'float64'])
def test_numbers_as_ordinals_keep_dtype_and_values(dtype):
    column = pd.Series(WHOLE % 4).astype(dtype)
    sample = sample_of(column, 'ordinal')

    assert sample.dtype == column.dtype
    assert set(sample) <= set(column)


def test_category_of_mixed_types_keeps_its_values():
    column = pd.Series([1, 'one', 2.5, True, None, 'two'] * 10, dtype=object)
    sample = sample_of(column, 'categorical', rows=200)

    assert {repr(value) for value in sample.dropna()} <= {repr(value) for value in column.dropna()}
    assert sample.isna().any()


@pytest.mark.parametrize('unit', ['s', 'ms', 'us', 'ns'])
def test_datetime64_keeps_its_unit(unit):
    column = TIMES.astype(f'datetime64[{unit}]')
    sample = sample_of(column, 'datetime')

    assert sample.dtype == column.dtype
    assert sample.between(column.min(), column.max()).all()


def test_datetimes_with_gaps_keep_dtype_and_gaps():
    column = TIMES.mask(pd.Series(GAPS))
    sample = sample_of(column, 'datetime', rows=150)

    assert sample.dtype == column.dtype
    assert sample.isna().any()
    assert sample.dropna().between(column.min(), column.max()).all()


@pytest.mark.parametrize('zone', ['UTC', 'Europe/Berlin', 'US/Pacific'])
def test_time_zones_are_kept(zone):
    column = TIMES.dt.tz_localize(zone, nonexistent='shift_forward', ambiguous=False)
    sample = sample_of(column, 'datetime')

    assert sample.dtype == column.dtype
    assert sample.between(column.min(), column.max()).all()


@pytest.mark.parametrize('gaps', [False, True], ids=['complete', 'gaps'])
@pytest.mark.parametrize('datetime_format', DATE_FORMATS)
def test_date_strings_keep_format_and_range(datetime_format, gaps):
    column = TIMES.dt.strftime(datetime_format).astype(object)
    if gaps:
        column[GAPS] = None

    sdtype = {'sdtype': 'datetime', 'datetime_format': datetime_format}
    sample = sample_of(column, sdtype, rows=100)
    parsed = pd.to_datetime(sample.dropna(), format=datetime_format)
    original = pd.to_datetime(column.dropna(), format=datetime_format)

    assert sample.isna().any() == gaps
    assert (parsed.dt.strftime(datetime_format) == sample.dropna()).all()
    assert parsed.between(original.min(), original.max()).all()


def test_whole_numbers_as_dates_keep_dtype_and_format():
    column = TIMES.dt.strftime('%Y%m%d').astype('int64')
    sample = sample_of(column, {'sdtype': 'datetime', 'datetime_format': '%Y%m%d'})

    assert sample.dtype == column.dtype
    assert sample.between(column.min(), column.max()).all()


def test_date_objects_stay_in_range():
    column = TIMES.dt.date
    sample = sample_of(column, {'sdtype': 'datetime', 'datetime_format': '%Y-%m-%d'})

    assert isinstance(column[0], datetime.date)
    assert pd.to_datetime(sample).between(str(column.min()), str(column.max())).all()


@pytest.mark.parametrize(
    ('unit', 'attribute'),
    [('D', 'hour'), ('h', 'minute'), ('min', 'second'), ('s', 'microsecond')],
)
def test_times_are_as_round_as_in_the_data(unit, attribute):
    column = TIMES.dt.floor(unit)
    sample = sample_of(column, 'datetime')

    assert (getattr(sample.dt, attribute) == 0).all()
    assert sample.nunique() > 3


def test_string_numbers_category_keeps_leading_zeros():
    sample = sample_of(pd.Series(['007', '07', '7'] * 20), 'categorical')

    assert set(sample) <= {'007', '07', '7'}
