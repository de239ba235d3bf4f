"""Given values, ranges, sets and holes in tables with constraints."""

import numpy as np
import pandas as pd
import pytest
from sdv.cag import (
    FixedCombinations,
    FixedIncrements,
    Inequality,
    OneHotEncoding,
    Range,
)
from sdv.cag._errors import ConstraintNotMetError
from sdv.sampling import Condition, DataFrameCondition

from sdv_tabdiff import Between, OneOf

from .requests import refused, sample
from .test_constraints import (
    COLUMNS,
    CONSTRAINTS,
    LowIsPositive,
    OnlySmallPrices,
    check,
    constrained,
    table,
)

KINDS = ['dates', 'Range', 'FixedCombinations', 'FixedIncrements', 'OneHotEncoding']


@pytest.fixture(scope='module')
def all_constraints():
    """Every constraint that goes together with the others, in one synthesizer."""
    return constrained([CONSTRAINTS[kind]() for kind in KINDS])


@pytest.fixture(scope='module')
def inequality():
    return constrained([Inequality('low', 'high')])


@pytest.fixture(scope='module')
def gaps():
    """Inequalities and combinations among missing values."""
    data = table(['low', 'high', 'start', 'end', 'price'])
    constraints = [Inequality('low', 'high'), Inequality('start', 'end')]
    return constrained([*constraints, FixedIncrements('price', 25)], data)


@pytest.fixture(scope='module')
def programmable():
    return constrained([LowIsPositive(), OnlySmallPrices()], table().query('price < 900'))


def assert_met(rows, kinds):
    met = check(rows)
    assert all(np.all(met[kind]) for kind in kinds)


def cell(name, row=5):
    return table()[name].iloc[row]


ROW = table().iloc[5]


@pytest.mark.parametrize(
    'names',
    [
        ['low'],
        ['middle'],
        ['high'],
        ['low', 'high'],
        ['low', 'middle'],
        ['low', 'middle', 'high'],
        ['start'],
        ['end'],
        ['start', 'end'],
        ['city'],
        ['country'],
        ['city', 'country'],
        ['price'],
        ['red'],
        ['red', 'green', 'blue'],
        ['low', 'end', 'country', 'price'],
        list(COLUMNS),
    ],
    ids='-'.join,
)
def test_given_values_are_exact_and_constraints_hold(all_constraints, names):
    values = {name: cell(name) for name in names}
    rows = sample(all_constraints, Condition(values, num_rows=8))

    assert len(rows) == 8
    for name, value in values.items():
        assert (rows[name] == value).all()
    assert_met(rows, KINDS)
    assert rows.dtypes.to_dict() == table().dtypes.to_dict()


@pytest.mark.parametrize('names', [['low'], ['high'], ['low', 'high'], ['high', 'city']], ids=str)
def test_every_row_of_the_data_may_be_known(inequality, names):
    known = table()[names]
    rows = inequality.sample_remaining_columns(known)

    pd.testing.assert_frame_equal(rows[names], known)
    assert_met(rows, ['Inequality'])


@pytest.mark.parametrize(
    'names', [['low'], ['high'], ['end'], ['start', 'high'], ['price']], ids=str
)
def test_known_and_missing_cells_among_missing_values(gaps, names):
    data = table(['low', 'high', 'start', 'end', 'price'])
    known = data[names].iloc[:60].set_axis([f'row {row}' for row in range(60)], axis=0)
    rows = gaps.sample_remaining_columns(known)

    pd.testing.assert_frame_equal(rows[names], known)
    numbers = rows.dropna(subset=['low', 'high'])
    assert (numbers['low'] <= numbers['high']).all()
    dates = rows.dropna(subset=['start', 'end'])
    assert (dates['start'] <= dates['end']).all()
    assert (rows['price'].dropna() % 25 == 0).all()


def test_different_columns_in_each_row(all_constraints):
    rows = sample(
        all_constraints,
        Condition({'high': cell('high')}, num_rows=3),
        Condition({'city': 'Oslo'}, num_rows=3),
        DataFrameCondition(pd.DataFrame({'price': [50, 75], 'country': ['I', 'F']})),
        Condition({'blue': 1}, num_rows=2),
    )

    assert rows['high'].tolist()[:3] == [cell('high')] * 3
    assert rows['city'].tolist()[3:6] == ['Oslo'] * 3
    assert rows['country'].tolist()[3:6] == ['N'] * 3
    assert rows['price'].tolist()[6:8] == [50, 75]
    assert rows['country'].tolist()[6:8] == ['I', 'F']
    assert rows['blue'].tolist()[8:] == [1, 1]
    assert len(rows) == 10
    assert_met(rows, KINDS)


def test_both_cities_of_a_country_appear(all_constraints):
    rows = sample(all_constraints, Condition({'country': 'I'}, num_rows=60))

    assert set(rows['city']) == {'Rome', 'Milan'}


@pytest.mark.parametrize(
    ('condition', 'met'),
    [
        ({'low': Between(2, 4)}, lambda rows: rows['low'].between(2, 4)),
        ({'high': Between(8, 12)}, lambda rows: rows['high'].between(8, 12)),
        ({'price': Between(100, 200)}, lambda rows: rows['price'].between(100, 200)),
        ({'city': OneOf(['Rome', 'Oslo'])}, lambda rows: rows['city'].isin(['Rome', 'Oslo'])),
        ({'country': OneOf(['N'])}, lambda rows: rows['city'] == 'Oslo'),
        (
            {'start': Between('2022-03-01', None)},
            lambda rows: rows['start'] >= pd.Timestamp('2022-03-01'),
        ),
        (
            {'low': 3.25, 'high': Between(5, 12)},
            lambda rows: (rows['low'] == 3.25) & rows['high'].between(5, 12),
        ),
    ],
    ids=lambda value: '-'.join(value) if isinstance(value, dict) else '',
)
def test_ranges_and_sets_hold_together_with_constraints(all_constraints, condition, met):
    rows = sample(all_constraints, Condition(condition, num_rows=8))

    assert len(rows) == 8
    assert met(rows).all()
    assert_met(rows, KINDS)


@pytest.mark.parametrize(
    'values',
    [
        {'low': 9.75, 'high': 3.25},
        {'low': 9.75, 'middle': 3.25},
        {'middle': 9.75, 'high': 5.25},
        {'start': pd.Timestamp('2022-09-01'), 'end': pd.Timestamp('2022-02-01')},
        {'city': 'Oslo', 'country': 'I'},
        {'price': 77},
        {'red': 1, 'green': 1, 'blue': 0},
        {'red': 1, 'green': 1},
        {'red': 0, 'green': 0, 'blue': 0},
    ],
    ids=lambda values: '-'.join(values),
)
@pytest.mark.parametrize('remaining', [False, True], ids=['condition', 'remaining'])
def test_contradiction_with_a_constraint_is_refused(all_constraints, values, remaining):
    def request():
        if remaining:
            known = pd.DataFrame([values])
            all_constraints.sample_remaining_columns(known, max_tries_per_batch=3)
        else:
            sample(all_constraints, Condition(values, num_rows=2), max_tries_per_batch=3)

    refused(all_constraints, request, *(f"'{name}'" for name in values))


def test_contradiction_with_an_inequality_is_refused(inequality):
    values = {'low': 9.75, 'high': 3.25}

    refused(
        inequality,
        lambda: sample(inequality, Condition(values, num_rows=2)),
        "'low'",
        '9.75',
        "'high'",
        '3.25',
        'Inequality',
    )


def test_contradiction_with_a_programmable_constraint_is_refused(inequality):
    synthesizer = constrained([OnlySmallPrices()])

    refused(
        synthesizer,
        lambda: sample(synthesizer, Condition({'price': 950}, num_rows=2)),
        "'price'",
        '950',
        'OnlySmallPrices',
    )


def test_programmable_constraints_hold(programmable):
    rows = sample(
        programmable,
        Condition({'low': cell('low')}, num_rows=20),
        Condition({'city': 'Oslo'}, num_rows=20),
        Condition({'price': 75}, num_rows=20),
    )

    assert len(rows) == 60
    assert rows['low'].tolist()[:20] == [cell('low')] * 20
    assert rows['city'].tolist()[20:40] == ['Oslo'] * 20
    assert rows['price'].tolist()[40:] == [75] * 20
    assert (rows['price'] < 900).all()


def test_rejecting_constraint_still_gives_all_rows():
    synthesizer = constrained([OnlySmallPrices()])
    rows = sample(synthesizer, Condition({'city': 'Rome'}, num_rows=200))

    assert rows['city'].tolist() == ['Rome'] * 200
    assert (rows['price'] < 900).all()
    assert rows.index.equals(pd.RangeIndex(200))


def test_reset_sampling_repeats(all_constraints):
    condition = Condition({'high': cell('high'), 'country': 'I'}, num_rows=10)
    frames = []
    for _ in range(2):
        all_constraints.reset_sampling()
        frames.append(sample(all_constraints, condition))
    again = sample(all_constraints, condition)

    pd.testing.assert_frame_equal(*frames)
    assert not again.equals(frames[0])


def test_conditions_leave_free_sampling_as_it_is(all_constraints):
    """Looking for donors takes no random numbers and no keys."""
    all_constraints.reset_sampling()
    first, second = (all_constraints.sample(5) for _ in range(2))
    all_constraints.reset_sampling()
    pd.testing.assert_frame_equal(all_constraints.sample(5), first)
    refused(all_constraints, lambda: sample(all_constraints, Condition({'price': 77}, 1)), '77')
    all_constraints.reset_sampling()
    all_constraints.sample(5)

    pd.testing.assert_frame_equal(all_constraints.sample(5), second)


HOLES = {
    'low': ['low'],
    'high': ['high'],
    'ends of a range': ['low', 'high'],
    'whole range': ['low', 'middle', 'high'],
    'dates': ['start'],
    'city': ['city'],
    'country': ['country'],
    'city and country': ['city', 'country'],
    'price': ['price'],
    'one colour': ['green'],
    'all colours': ['red', 'green', 'blue'],
    'everything': list(COLUMNS),
}


def with_holes(names, num_rows=15, step=3):
    data = table().iloc[:num_rows].copy()
    for offset, name in enumerate(names):
        data.loc[offset % 2 :: step, name] = None

    return data


@pytest.mark.parametrize('case', HOLES)
def test_imputed_rows_meet_the_constraints(all_constraints, case):
    data = with_holes(HOLES[case])
    filled = all_constraints.impute(data)

    assert filled.notna().all(axis=None)
    assert_met(filled, KINDS)
    for name in data:
        there = data[name].notna()
        assert (filled.loc[there, name] == data.loc[there, name]).all()
        assert filled[name].dtype == data[name].dtype


def test_country_of_a_city_is_imputed_right(all_constraints):
    data = table()
    data.loc[::2, 'country'] = None
    filled = all_constraints.impute(data)

    assert filled['country'].tolist() == table()['country'].tolist()


@pytest.mark.parametrize('method', ['mean', 'median'])
def test_best_guess_fills_all_holes(all_constraints, method):
    data = with_holes(['low', 'city', 'price'], num_rows=12)
    filled = all_constraints.impute(data, method=method, num_draws=2)

    assert filled.notna().all(axis=None)
    assert_met(filled, ['FixedCombinations', 'FixedIncrements'])


@pytest.mark.parametrize('method', ['draw', 'mean'])
def test_holes_among_columns_that_were_missing_in_training(gaps, method):
    data = table(['low', 'high', 'start', 'end', 'price']).iloc[:20]
    filled = gaps.impute(data, method=method, num_draws=1)

    assert filled.notna().all(axis=None)
    assert (filled['start'] <= filled['end']).all()
    assert (filled['low'] <= filled['high']).all()
    assert (filled['price'] % 25 == 0).all()


def test_cells_may_stay_missing(gaps):
    data = table(['low', 'high', 'start', 'end', 'price'])
    filled = gaps.impute(data, keep_missing=['low', 'high'])

    assert filled.drop(columns=['low', 'high']).notna().all(axis=None)
    assert 0 < filled[['low', 'high']].isna().sum().sum() < data[['low', 'high']].isna().sum().sum()


def test_known_cells_that_contradict_a_constraint_stay(inequality):
    data = table().iloc[:10].copy()
    data.loc[0, ['low', 'high']] = [9.75, 3.25]
    data.loc[[0, 1, 2], 'city'] = None
    filled = inequality.impute(data)

    assert filled.loc[0, ['low', 'high']].tolist() == [9.75, 3.25]
    assert filled.notna().all(axis=None)
    assert (filled['low'] <= filled['high'])[1:].all()


def test_unseen_city_stays(all_constraints):
    data = table().iloc[:6].copy()
    data.loc[0, ['city', 'price']] = ['Atlantis', None]
    data.loc[1, 'price'] = None
    with pytest.warns(UserWarning, match='Atlantis'):
        filled = all_constraints.impute(data)

    assert filled['city'].tolist() == ['Atlantis', *table()['city'].iloc[1:6]]
    assert filled['price'].notna().all()


def test_programmable_constraints_hold_in_imputed_rows(programmable):
    data = table().query('price < 900').reset_index(drop=True)
    data.loc[::2, 'price'] = None
    data.loc[1::3, 'low'] = None
    filled = programmable.impute(data)

    assert filled.notna().all(axis=None)
    assert (filled['price'] < 900).all()


def test_probabilities_of_columns_beside_constraints(inequality):
    data = table()
    data.loc[::4, ['city', 'high']] = None
    shares = inequality.impute_probabilities(data)

    assert list(shares) == ['city']
    np.testing.assert_allclose(shares['city'].sum(axis=1), 1, atol=1e-6)
    assert shares['city'].index.tolist() == list(range(0, 120, 4))


def test_failed_refit_keeps_conditions_working():
    synthesizer = constrained([Inequality('low', 'high')])
    with pytest.raises(ConstraintNotMetError, match='not valid'):
        synthesizer.fit(table().assign(low=1000.0))
    rows = sample(synthesizer, Condition({'high': cell('high')}, num_rows=10))

    assert (rows['high'] == cell('high')).all()
    assert (rows['low'] <= rows['high']).all()


@pytest.mark.parametrize(
    ('constraint', 'values'),
    [
        (Range('low', 'middle', 'high'), {'low': 3.25, 'high': 9.5}),
        (FixedCombinations(['city', 'country']), {'country': 'F'}),
        (OneHotEncoding(['red', 'green', 'blue']), {'green': 1}),
    ],
    ids=['Range', 'FixedCombinations', 'OneHotEncoding'],
)
def test_conditions_after_preprocess_and_fit_processed_data(constraint, values, tmp_path):
    synthesizer = constrained([constraint])
    synthesizer.fit_processed_data(synthesizer.preprocess(table()))
    rows = sample(synthesizer, Condition(values, num_rows=10))

    for name, value in values.items():
        assert rows[name].tolist() == [value] * 10
    assert_met(rows, [type(constraint).__name__])
