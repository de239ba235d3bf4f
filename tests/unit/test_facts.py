"""What is remembered of a column, and how values of conditions are read with it."""

import numpy as np
import pandas as pd
import pytest

from sdv_tabdiff.facts import ColumnFacts


def learn(values, **properties):
    return ColumnFacts.learn(pd.Series(values, name='x'), properties)


def test_a_category_remembers_its_levels():
    facts = learn(['b', 'a', None, 'b'], sdtype='categorical')

    assert facts.levels.tolist() == ['b', 'a']
    assert facts.has_missing and facts.is_modelled and not facts.is_ordered


def test_a_number_remembers_its_range():
    facts = learn([3, 1, 2], sdtype='numerical')

    assert (facts.low, facts.high) == (1, 3)
    assert facts.is_integer and not facts.has_missing


@pytest.mark.parametrize('written', [True, False])
def test_a_date_remembers_its_range_however_it_is_written(written):
    dates = pd.Series(pd.to_datetime(['2021-03-01', '2020-02-28']))
    values = dates.dt.strftime('%d/%m/%Y') if written else dates
    facts = learn(values, sdtype='datetime', datetime_format='%d/%m/%Y' if written else None)

    assert facts.low == pd.Timestamp('2020-02-28')
    assert facts.high == pd.Timestamp('2021-03-01')


def test_made_up_columns_are_not_modelled():
    assert not learn(['a@b.c'], sdtype='email').is_modelled


def test_a_column_of_nothing():
    facts = learn([np.nan, np.nan], sdtype='numerical')

    assert facts.low is None and facts.has_missing


@pytest.mark.parametrize('value', ['3', True, 'abc'])
def test_text_and_truth_are_not_numbers(value):
    with pytest.raises((TypeError, ValueError)):
        learn([1.0, 2.0], sdtype='numerical').to_points(pd.Series([value], dtype=object))


def test_values_get_the_dtype_of_the_column_if_nothing_is_lost():
    facts = learn([3, 1, 2], sdtype='numerical')

    assert facts.like_column(pd.Series([2.0, 3.0])).dtype == np.int64
    assert facts.like_column(pd.Series([2.5])).tolist() == [2.5]


def test_dates_are_written_like_the_column():
    facts = learn(['01/03/2021'], sdtype='datetime', datetime_format='%d/%m/%Y')
    values = pd.Series([pd.Timestamp('2021-02-03'), '04/05/2021'], dtype=object)

    assert facts.like_column(values).tolist() == ['03/02/2021', '04/05/2021']


def test_text_becomes_a_date_in_a_column_of_dates():
    facts = learn(pd.to_datetime(['2021-03-01']), sdtype='datetime')

    assert facts.like_column(pd.Series(['2021-02-03'])).tolist() == [pd.Timestamp('2021-02-03')]


@pytest.mark.parametrize(
    ('values', 'low', 'high', 'expected'),
    [
        ([3, 1], 1.2, 2.9, (2, 2)),
        ([3, 1], 1, 2, (1, 2)),
        ([3.5, 1], 1.23, 2.99, (1.3, 2.9)),
        ([0.1, 0.2], 0.1 + 0.2, 0.3, (0.3, 0.3)),
        ([123456789.12, 1], 123456789.12, 123456789.125, (123456789.12, 123456789.12)),
        ([3.5, 1], 1.21, 1.29, (1.3, 1.2)),
        ([3.5, 1], -np.inf, np.inf, (-np.inf, np.inf)),
        ([np.pi, np.nan], 1.23, 2.9, (1.23, 2.9)),
    ],
)
def test_bounds_are_rounded_as_the_column_is(values, low, high, expected):
    assert learn(values, sdtype='numerical').bounds(low, high) == expected


def test_bounds_of_a_column_that_is_not_rounded():
    facts = ColumnFacts.learn(pd.Series([3.5, 1]), {'sdtype': 'numerical'}, rounded=False)

    assert facts.bounds(1.23, 2.99) == (1.23, 2.99)


def test_bounds_of_days():
    facts = learn(pd.to_datetime(['2020-01-01', '2020-03-01']), sdtype='datetime')

    found = facts.bounds(pd.Timestamp('2020-01-05 10:00'), pd.Timestamp('2020-01-09 11:00'))

    assert found == (pd.Timestamp('2020-01-06'), pd.Timestamp('2020-01-09'))


@pytest.mark.parametrize(
    ('text', 'expected'),
    [('2020-10-25 02:30', '2020-10-25 00:30'), ('2020-03-29 02:30', '2020-03-29 01:00')],
)
def test_hours_that_a_change_of_the_clock_repeats_or_skips(text, expected):
    column = pd.date_range('2020-01-01', '2020-12-31', tz='Europe/Berlin')
    facts = learn(column, sdtype='datetime')

    (date,) = facts.like_column(pd.Series([text], dtype=object))

    assert date == pd.Timestamp(expected, tz='UTC')


def dates(zone=None):
    days = pd.Series(pd.date_range('2021-05-01', periods=20, tz=zone))
    return ColumnFacts.learn(days, {'sdtype': 'datetime'})


@pytest.mark.parametrize(
    ('values', 'hours'),
    [
        (['2021-05-05', pd.Timestamp('2021-05-05', tz='Europe/Berlin')], [0, 0]),
        ([pd.Timestamp('2021-05-05', tz=zone) for zone in ('UTC', 'Europe/Berlin')], [2, 0]),
        (['2021-05-05T00:00+02:00', '2021-05-05T00:00+01:00'], [0, 1]),
    ],
)
def test_dates_of_several_kinds_and_zones(values, hours):
    values = pd.Series(values, dtype=object)

    points = dates('Europe/Berlin').to_points(values)
    assert points.dt.tz is None
    assert points.dt.hour.tolist() == hours

    kept = dates('Europe/Berlin').like_column(values)
    assert kept.dtype == dates('Europe/Berlin').dtype
    assert kept.dt.hour.tolist() == hours


def test_a_zone_that_the_column_does_not_have_is_left_out():
    values = pd.Series([pd.Timestamp('2021-05-05', tz='UTC'), '2021-05-06'], dtype=object)

    assert dates().like_column(values).tolist() == [
        pd.Timestamp('2021-05-05'),
        pd.Timestamp('2021-05-06'),
    ]


def test_how_dates_are_written_is_found_if_nobody_says():
    def facts(*texts):
        return ColumnFacts.learn(pd.Series(texts, dtype=object), {'sdtype': 'datetime'})

    assert facts('2021-05-01', '2021-06-30').datetime_format == '%Y-%m-%d'
    assert facts('2021-05-01', '2021-06-30 12:00').datetime_format is None
    assert facts(pd.Timestamp('2021-05-01')).datetime_format is None
    values = pd.Series([pd.Timestamp('2021-05-05'), '2021-05-06'], dtype=object)
    assert facts('2021-05-01').like_column(values).tolist() == ['2021-05-05', '2021-05-06']
    with pytest.raises(ValueError, match='does not match|doesn.t match'):
        facts('2021-05-01').to_points(pd.Series(['05/05/2021']))
