"""Constraints of every kind, with our transformers behind them."""

import numpy as np
import pandas as pd
import pytest
from sdv.cag import (
    FixedCombinations,
    FixedIncrements,
    Inequality,
    OneHotEncoding,
    Range,
    SingleTableProgrammableConstraint,
)
from sdv.cag._errors import ConstraintNotMetError
from sdv.sampling import Condition

from sdv_tabdiff import CategoryCodes, DatetimeQuantileNormalizer, QuantileNormalizer

from .tables import TABLE, metadata_of, quick

ROWS = 120
COLUMNS = {
    'low': 'numerical',
    'middle': 'numerical',
    'high': 'numerical',
    'start': 'datetime',
    'end': 'datetime',
    'city': 'categorical',
    'country': 'categorical',
    'price': 'numerical',
    'red': 'numerical',
    'green': 'numerical',
    'blue': 'numerical',
}


def table(gaps=()):
    rng = np.random.default_rng(0)
    low = rng.uniform(0, 10, ROWS).round(2)
    middle = low + rng.uniform(0.1, 5, ROWS).round(2)
    start = pd.Timestamp('2022-01-01') + pd.to_timedelta(rng.integers(0, 300, ROWS), 'D')
    city = rng.choice(['Rome', 'Milan', 'Oslo', 'Paris'], ROWS)
    color = rng.integers(0, 3, ROWS)
    data = pd.DataFrame({
        'low': low,
        'middle': middle.round(2),
        'high': (middle + rng.uniform(0.1, 5, ROWS)).round(2),
        'start': start,
        'end': start + pd.to_timedelta(rng.integers(1, 40, ROWS), 'D'),
        'city': city,
        'country': pd.Series(city).map({'Rome': 'I', 'Milan': 'I', 'Oslo': 'N', 'Paris': 'F'}),
        'price': rng.integers(1, 40, ROWS) * 25,
        'red': (color == 0).astype(int),
        'green': (color == 1).astype(int),
        'blue': (color == 2).astype(int),
    })
    for offset, name in enumerate(gaps):
        data.loc[offset::5, name] = None

    return data


class LowIsPositive(SingleTableProgrammableConstraint):
    """Models the logarithm of a column."""

    def transform(self, data):
        return data.assign(low=np.log1p(data['low']))

    def get_updated_metadata(self, metadata):
        return metadata

    def reverse_transform(self, transformed_data):
        return transformed_data.assign(low=np.expm1(transformed_data['low']).round(2))

    def is_valid(self, synthetic_data):
        return synthetic_data['low'] >= 0


class OnlySmallPrices(SingleTableProgrammableConstraint):
    """Refuses rows."""

    def transform(self, data):
        return data

    def get_updated_metadata(self, metadata):
        return metadata

    def reverse_transform(self, transformed_data):
        return transformed_data

    def is_valid(self, synthetic_data):
        return synthetic_data['price'] < 900


def constrained(constraints, data=None, **parameters):
    synthesizer = quick(metadata_of(COLUMNS), **parameters)
    synthesizer.add_constraints(constraints)
    synthesizer.fit(table() if data is None else data)
    return synthesizer


def check(sample):
    """Everything that all rows of the table have in common, by constraint."""
    pairs = set(zip(table()['city'], table()['country']))
    return {
        'Inequality': sample['low'] <= sample['high'],
        'dates': sample['start'] <= sample['end'],
        'Range': (sample['low'] < sample['middle']) & (sample['middle'] < sample['high']),
        'FixedCombinations': [pair in pairs for pair in zip(sample['city'], sample['country'])],
        'FixedIncrements': sample['price'] % 25 == 0,
        'OneHotEncoding': sample[['red', 'green', 'blue']].sum(axis=1) == 1,
    }


CONSTRAINTS = {
    'Inequality': lambda: Inequality('low', 'high'),
    'dates': lambda: Inequality('start', 'end'),
    'Range': lambda: Range('low', 'middle', 'high'),
    'FixedCombinations': lambda: FixedCombinations(['city', 'country']),
    'FixedIncrements': lambda: FixedIncrements('price', 25),
    'OneHotEncoding': lambda: OneHotEncoding(['red', 'green', 'blue']),
}


@pytest.mark.parametrize('kind', CONSTRAINTS)
def test_every_row_meets_the_constraint(kind):
    synthesizer = constrained([CONSTRAINTS[kind]()])
    sample = synthesizer.sample(100)

    assert len(sample) == 100
    assert np.all(check(sample)[kind])
    assert list(sample.columns) == list(COLUMNS)
    assert sample.dtypes.to_dict() == table().dtypes.to_dict()
    assert sample.index.equals(pd.RangeIndex(100))
    synthesizer.validate_constraints(sample)


def test_strict_inequality():
    sample = constrained([Inequality('low', 'high', strict_boundaries=True)]).sample(100)

    assert (sample['low'] < sample['high']).all()


def test_all_constraints_together():
    kinds = ['dates', 'Range', 'FixedCombinations', 'FixedIncrements', 'OneHotEncoding']
    sample = constrained([CONSTRAINTS[kind]() for kind in kinds]).sample(60)
    met = check(sample)

    assert len(sample) == 60
    assert all(np.all(met[kind]) for kind in kinds)


@pytest.mark.parametrize(
    ('kind', 'gaps'),
    [
        ('Inequality', ['low']),
        ('Inequality', ['low', 'high']),
        ('dates', ['start', 'end']),
        ('Range', ['low', 'middle', 'high']),
        ('FixedIncrements', ['price']),
    ],
)
def test_constraints_hold_among_missing_values(kind, gaps):
    sample = constrained([CONSTRAINTS[kind]()], table(gaps)).sample(150)
    complete = sample.dropna(subset=gaps)

    assert len(sample) == 150
    assert sample[gaps].isna().any().all()
    assert 0 < len(complete) < 150
    assert np.all(check(complete)[kind])


def test_fixed_combinations_with_missing_values():
    data = table(['city'])
    sample = constrained([FixedCombinations(['city', 'country'])], data).sample(150)
    seen = set(zip(data['city'].fillna('?'), data['country']))

    assert set(zip(sample['city'].fillna('?'), sample['country'])) <= seen
    assert sample['city'].isna().any()


@pytest.mark.parametrize('constraint', [LowIsPositive, OnlySmallPrices])
def test_programmable_constraint(constraint):
    data = table()
    data = data[data['price'] < 900].reset_index(drop=True)
    sample = constrained([constraint()], data).sample(80)

    assert len(sample) == 80
    assert sample['low'].between(0, 10.01).all()
    assert (sample['price'] < 900).all()


def test_rejecting_constraint_still_fills_the_table():
    sample = constrained([OnlySmallPrices()]).sample(100)

    assert len(sample) == 100
    assert (sample['price'] < 900).all()


@pytest.mark.parametrize('kind', CONSTRAINTS)
def test_our_transformers_are_used_with_constraints(kind):
    synthesizer = constrained([CONSTRAINTS[kind]()])
    used = {type(transformer) for transformer in synthesizer.get_transformers().values()}

    assert used == {QuantileNormalizer, DatetimeQuantileNormalizer, CategoryCodes}


def test_get_constraints_returns_what_was_added():
    synthesizer = quick(metadata_of(COLUMNS))
    assert synthesizer.get_constraints() == []

    synthesizer.add_constraints([Inequality('low', 'high'), FixedIncrements('price', 25)])
    names = [type(constraint).__name__ for constraint in synthesizer.get_constraints()]
    assert names == ['Inequality', 'FixedIncrements']


def test_constraints_may_be_added_one_by_one():
    synthesizer = quick(metadata_of(COLUMNS))
    synthesizer.add_constraints([Inequality('low', 'high')])
    synthesizer.add_constraints([FixedIncrements('price', 25)])
    synthesizer.fit(table())
    sample = synthesizer.sample(50)

    assert len(synthesizer.get_constraints()) == 2
    assert (sample['low'] <= sample['high']).all()
    assert (sample['price'] % 25 == 0).all()


@pytest.mark.parametrize(
    ('kind', 'change'),
    [
        ('Inequality', {'low': 1000.0}),
        ('Range', {'middle': -1.0}),
        ('FixedIncrements', {'price': 7}),
        ('OneHotEncoding', {'red': 1, 'green': 1}),
        ('dates', {'end': pd.Timestamp('1999-01-01')}),
    ],
)
def test_data_that_violates_the_constraint_is_sdvs_error(kind, change):
    with pytest.raises(ConstraintNotMetError, match='not met|not valid'):
        constrained([CONSTRAINTS[kind]()], table().assign(**change))


def test_constraint_on_an_unknown_column_is_sdvs_error():
    with pytest.raises(ConstraintNotMetError, match='nowhere'):
        quick(metadata_of(COLUMNS)).add_constraints([Inequality('low', 'nowhere')])


def test_metadata_before_and_after_constraints():
    synthesizer = constrained([FixedCombinations(['city', 'country'])])

    assert synthesizer.get_metadata().to_dict() == metadata_of(COLUMNS).to_dict()
    modified = synthesizer.get_metadata('modified').to_dict()['tables'][TABLE]['columns']
    assert 'city' not in modified


def test_refit_with_constraints_on_other_data():
    synthesizer = constrained([Range('low', 'middle', 'high')])
    moved = table().assign(
        low=lambda data: data['low'] + 500,
        middle=lambda data: data['middle'] + 500,
        high=lambda data: data['high'] + 500,
    )
    synthesizer.fit(moved)
    sample = synthesizer.sample(50)

    assert sample['low'].between(499, 511).all()
    assert np.all(check(sample)['Range'])


def test_failed_refit_keeps_the_constraints_of_the_earlier_fit():
    synthesizer, untouched = (constrained([Inequality('low', 'high')]) for _ in range(2))
    with pytest.raises(ConstraintNotMetError):
        synthesizer.fit(table().assign(low=1000.0))

    pd.testing.assert_frame_equal(synthesizer.sample(30), untouched.sample(30))


def test_condition_together_with_a_constraint():
    synthesizer = constrained([Inequality('low', 'high')])
    sample = synthesizer.sample_from_conditions([Condition({'city': 'Rome'}, num_rows=10)])

    assert (sample['city'] == 'Rome').all()
    assert (sample['low'] <= sample['high']).all()
