"""Columns that follow from another one do so in the samples, too."""

import numpy as np
import pandas as pd
import pytest
from sdv.sampling import Condition

from sdv_tabdiff import Between

from .tables import fitted

ROWS = 600
SDTYPES = {
    'mood': 'numerical',
    'strength': 'numerical',
    'grade': 'numerical',
    'ordered': 'datetime',
    'due': 'datetime',
    'kind': 'categorical',
}


def orders():
    """A mood and its strength, a strength and its grade, and bills that are due after 30 days."""
    rng = np.random.default_rng(0)
    mood = rng.normal(size=ROWS).round(2)
    ordered = pd.Timestamp('2020-01-01') + pd.to_timedelta(rng.integers(0, 700, ROWS), 'D')
    due = pd.Series(ordered + pd.Timedelta(30, 'D'))
    return pd.DataFrame({
        'mood': mood,
        'strength': np.abs(mood),
        'grade': np.digitize(np.abs(mood), [0.3, 0.6, 0.9, 1.5]),
        'ordered': ordered,
        'due': due.mask(rng.random(ROWS) < 0.2),
        'kind': rng.choice(['a', 'b'], ROWS),
    })


@pytest.fixture(scope='module')
def synthesizer():
    return fitted(orders(), SDTYPES)


def assert_consistent(table):
    np.testing.assert_allclose(table['strength'], table['mood'].abs(), atol=0.011)
    grades = np.digitize(table['strength'], [0.3, 0.6, 0.9, 1.5])
    # Between two neighbouring values of the data, the edge may be anywhere.
    assert (grades == table['grade']).mean() > 0.97
    has_due = table['due'].notna()
    assert (table['due'] - table['ordered'])[has_due].eq(pd.Timedelta(30, 'D')).all()


def test_sampled_rows_are_consistent(synthesizer):
    sample = synthesizer.sample(1000)

    assert_consistent(sample)
    assert 0.1 < sample['due'].isna().mean() < 0.3
    assert sample.dtypes.equals(orders().dtypes)


def test_so_are_rows_with_a_given_source(synthesizer):
    sample = synthesizer.sample_from_conditions([
        Condition({'mood': -0.5}, num_rows=20),
        Condition({'kind': 'a', 'ordered': pd.Timestamp('2021-02-03')}, num_rows=20),
    ])

    assert_consistent(sample)
    np.testing.assert_allclose(sample['strength'][:20], 0.5, atol=0.011)


@pytest.mark.parametrize(
    'condition',
    [
        {'strength': 0.5},
        {'strength': Between(0.4, 0.6)},
        {'grade': 3},
        {'grade': Between(1, 2), 'kind': 'a'},
        {'due': pd.Timestamp('2020-06-01'), 'strength': 0.3},
        {'due': Between('2020-06-01', '2020-06-20')},
    ],
    ids=str,
)
def test_what_is_given_of_a_computed_column_holds_and_what_it_follows_from_agrees(
    synthesizer, condition
):
    sample = synthesizer.sample_from_conditions([Condition(condition, num_rows=50)])

    for name, wanted in condition.items():
        low, high = (wanted.low, wanted.high) if isinstance(wanted, Between) else (wanted, wanted)
        assert sample[name].between(low, high).all()

    assert_consistent(sample)


def test_missing_cells_are_computed(synthesizer):
    data = orders().head(100)
    holes = data.assign(strength=np.nan, grade=np.nan)

    filled = synthesizer.impute(holes)

    assert_consistent(filled)
    pd.testing.assert_series_equal(filled['mood'], data['mood'])

    filled = synthesizer.impute(data.assign(mood=np.nan, ordered=pd.NaT))

    assert_consistent(filled)
    pd.testing.assert_series_equal(filled['strength'], data['strength'])


def test_numbers_that_are_all_continuous_are_not_computed():
    synthesizer = fitted(orders(), SDTYPES, max_discrete_values=0)

    sample = synthesizer.sample(300)

    assert not np.allclose(sample['strength'], sample['mood'].abs(), atol=0.011)


def people():
    """Dates with what follows from them to the second, the day and the year, and cents in euros."""
    rng = np.random.default_rng(1)
    start = pd.Timestamp('2012-01-01') + pd.to_timedelta(rng.integers(0, 10**8, ROWS), 's')
    born = pd.Timestamp('1960-01-01') + pd.to_timedelta(rng.integers(0, 5000, ROWS), 'D')
    cents = rng.lognormal(13, 2, ROWS).round()
    return pd.DataFrame({
        'start': start,
        'end': start + pd.Timedelta(30, 'min'),
        'born': born,
        'year': born.year.astype('int64'),
        'premium': (((pd.Timestamp('2024-01-01') - born).days) * 1.37).round(2),
        'cents': cents.astype('int64'),
        'euros': cents / 100,
    })


@pytest.fixture(scope='module')
def insured():
    sdtypes = dict.fromkeys(people(), 'numerical') | dict.fromkeys(
        ['start', 'end', 'born'], 'datetime'
    )
    return fitted(people(), sdtypes, epochs=3)


def assert_to_the_last_digit(table, strict):
    assert (table['end'] - table['start']).eq(pd.Timedelta(30, 'min')).all()
    days = (pd.Timestamp('2024-01-01') - table['born']).dt.days
    np.testing.assert_allclose(table['premium'], (1.37 * days).round(2), atol=0.006)
    # Of days at the turn of a year that no row has, it could be either year.
    assert (table['year'] == table['born'].dt.year).mean() >= (1 if strict else 0.98)
    np.testing.assert_allclose(100 * table['euros'], table['cents'], rtol=0, atol=1e-5)


def test_what_follows_does_so_to_the_last_digit(insured):
    assert_to_the_last_digit(insured.sample(1000), strict=False)


def test_and_from_given_cells_as_well(insured):
    given = people()[['start', 'born', 'cents']].head(200)

    completed = insured.sample_remaining_columns(given)

    pd.testing.assert_frame_equal(completed[given.columns], given, check_dtype=False)
    assert_to_the_last_digit(completed, strict=True)


def test_what_is_missing_together_stays_so():
    rng = np.random.default_rng(3)
    amount = pd.Series(rng.integers(0, 1000, ROWS).astype(float)).mask(rng.random(ROWS) < 0.3)
    data = pd.DataFrame({
        'amount': amount,
        'double': 2 * amount,
        'class': np.where(amount.isna(), np.nan, np.digitize(amount, [200, 500])),
        'some': (amount / 10).mask(rng.random(ROWS) < 0.2),
        'other': rng.normal(size=ROWS),
    })
    synthesizer = fitted(data, dict.fromkeys(data, 'numerical'), epochs=3)

    sample = synthesizer.sample(500)
    asked = synthesizer.sample_from_conditions([
        Condition({'amount': None}, num_rows=20),
        Condition({'amount': 300.0}, num_rows=20),
        Condition({'double': None}, num_rows=20),
    ])

    for table in (sample, asked[:40]):
        missing = table.isna()
        assert (missing['double'] == missing['amount']).all()
        assert (missing['class'] == missing['amount']).all()
        assert missing['some'][missing['amount']].all()
    assert 0.2 < sample['amount'].isna().mean() < 0.4
    assert 0 < sample['some'].isna()[sample['amount'].notna()].mean() < 0.5
    assert asked['double'][40:].isna().all()


def test_chance_is_no_function():
    rng = np.random.default_rng(2)
    born = rng.integers(1940, 2005, 1000)
    people = pd.DataFrame({'born': born, 'age': 2024 - born - rng.integers(0, 2, 1000)})
    synthesizer = fitted(people, dict.fromkeys(people, 'numerical'), epochs=3)

    sample = synthesizer.sample(500)

    assert set(sample['born'] + sample['age']) >= {2023, 2024}
