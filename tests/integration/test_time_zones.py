"""Conditions and imputation on dates with a time zone."""

import numpy as np
import pandas as pd
import pytest
from sdv.sampling import Condition

from sdv_tabdiff import Between

from .tables import fitted

ZONES = ['UTC', 'Europe/Berlin', 'America/New_York']


@pytest.fixture(scope='module', params=ZONES)
def dates(request):
    rng = np.random.default_rng(0)
    hours = pd.to_timedelta(rng.integers(0, 2400, 200), 'h')
    when = pd.Series(pd.Timestamp('2020-01-01') + hours).dt.tz_localize('UTC')
    return pd.DataFrame({'when': when.dt.tz_convert(request.param), 'x': rng.normal(size=200)})


@pytest.fixture(scope='module')
def synthesizer(dates):
    return fitted(dates, {'when': 'datetime', 'x': 'numerical'})


def sampled(synthesizer, value):
    return synthesizer.sample_from_conditions([Condition({'when': value}, num_rows=4)])['when']


def test_a_date_comes_back_in_the_zone_of_the_column(synthesizer, dates):
    moment = dates['when'][3]

    for same in (moment, moment.tz_convert('Asia/Tokyo'), moment.tz_localize(None)):
        column = sampled(synthesizer, same)
        assert column.dtype == dates['when'].dtype
        assert (column == moment).all()


def test_text_is_meant_in_the_zone_of_the_column(synthesizer, dates):
    column = sampled(synthesizer, '2020-02-01 12:00')

    assert column.dtype == dates['when'].dtype
    assert (column.dt.tz_localize(None) == pd.Timestamp('2020-02-01 12:00')).all()


@pytest.mark.parametrize('zone', ZONES)
def test_a_narrow_range_in_any_zone(synthesizer, dates, zone):
    low = dates['when'].sort_values().iloc[100].tz_convert(zone)
    high = low + pd.Timedelta('2h')

    column = sampled(synthesizer, Between(low, high))

    assert column.dtype == dates['when'].dtype
    assert column.between(low, high).all()


@pytest.mark.parametrize('method', ['draw', 'mean', 'median'])
def test_holes_are_filled_in_the_zone_of_the_column(synthesizer, dates, method):
    holes = dates.copy()
    holes.loc[:20, 'when'] = pd.NaT

    filled = synthesizer.impute(holes, method=method, random_state=0)

    assert filled['when'].dtype == dates['when'].dtype
    assert (filled['when'][21:] == dates['when'][21:]).all()
    assert filled['when'].between(dates['when'].min(), dates['when'].max()).all()


def test_a_date_outside_is_named(synthesizer, dates):
    outside = dates['when'].max() + pd.Timedelta('3D')

    with pytest.raises(ValueError, match='when'):
        sampled(synthesizer, outside)
