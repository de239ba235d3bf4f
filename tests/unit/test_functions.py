"""Columns that follow from others, found in plain numbers."""

import numpy as np
import pytest

from sdv_tabdiff.functions import MAX_PIECES, decimal_step, find_functions, on_grid


def numbers(rows=500, seed=0):
    return np.random.default_rng(seed).normal(size=rows)


def found(*columns):
    functions = find_functions([np.asarray(column, dtype=float) for column in columns])
    return [(function.source, function.target) for function in functions]


X = numbers()
MARKS = np.random.default_rng(1).integers(0, 101, 500)


@pytest.mark.parametrize(
    ('source', 'target'),
    [
        (X, np.abs(X)),
        (X, np.abs(X - 0.5)),
        (MARKS, np.digitize(MARKS, [40, 60, 80])),
        (MARKS, np.minimum(MARKS, 50)),
        (MARKS % 2, 7 * (MARKS % 2)),
    ],
    ids=['absolute value', 'distance', 'classes', 'limit', 'code'],
)
def test_what_is_computed_is_what_the_target_is(source, target):
    (function,) = find_functions([source.astype(float), target.astype(float)])

    assert (function.source, function.target) in [(0, 1), (1, 0)]
    wanted, given = (target, source) if function.target else (source, target)
    np.testing.assert_allclose(function(given.astype(float)), wanted, atol=1e-5)


def test_another_unit_is_found_although_it_is_rounded():
    celsius = (20 + 5 * X).round(1)
    exact = 1.8 * celsius + 32
    (function,) = find_functions([celsius, exact.round(1)])

    assert function.pieces == 1
    np.testing.assert_array_equal(function(celsius), exact.round(1))


def test_between_the_rows_it_is_a_line():
    (function,) = find_functions([X, np.abs(X)])

    unseen = numbers(50, seed=9) / 2
    nearest = np.abs(unseen[:, None] - X).min(axis=1)
    assert (np.abs(function(unseen) - np.abs(unseen)) <= 2 * nearest + 1e-6).all()
    assert np.isnan(function(np.array([np.nan]))).all()


def test_a_source_counts_as_it_will_be_rounded():
    (function,) = find_functions([MARKS.astype(float), (MARKS >= 50).astype(float)])

    np.testing.assert_array_equal(function(np.array([49.4, 49.6])), [0, 1])


@pytest.mark.parametrize(
    'target',
    [
        X + 0.01 * numbers(seed=2),
        np.sin(50 * X),
        numbers(seed=3),
        np.random.default_rng(4).integers(0, 2, 500),
        np.random.default_rng(5).random(500) < 0.01,
        np.full(500, 3.0),
        np.full(500, np.nan),
    ],
    ids=['noise', 'waves', 'independent', 'coin', 'rare', 'constant', 'missing'],
)
def test_nothing_is_found_where_nothing_follows(target):
    assert found(X, target) == []


def test_few_rows_bear_nothing_out():
    x = numbers(15)

    assert found(x, np.abs(x)) == []
    assert found(X, np.abs(X)) == [(0, 1)]


@pytest.mark.parametrize('alone', [False, True])
@pytest.mark.parametrize('left_out', [False, True])
def test_where_the_target_is_missing(alone, left_out):
    x, y = X.copy(), np.abs(X)
    x[:50], y[:50] = np.nan, np.nan
    if alone:
        x[50:60] = np.nan
    if left_out:
        y[60:70] = np.nan
    (function,) = find_functions([x, y])

    assert function.never_without_source != alone
    assert function.always_with_source != left_out


def test_of_two_columns_that_determine_each_other_the_first_is_the_source():
    assert found(X, 2 * X + 1) == [(0, 1)]
    assert found(np.abs(X), X) == [(1, 0)]


def test_computed_in_an_order_that_works():
    # 2 follows from 1, which follows from 0: what is computed comes before what needs it.
    order = found(X, np.abs(X), np.minimum(np.abs(X), 1.0))

    assert {target for _, target in order} == {1, 2}
    computed = {0}
    for source, target in order:
        assert source in computed
        computed.add(target)


def test_never_in_a_circle():
    columns = [X, X + 1, X + 2, X + 3]

    assert sorted(target for _, target in found(*columns)) == [1, 2, 3]


def test_a_few_errors_in_the_data_do_not_matter():
    x = numbers(5000).round(1)
    y = np.abs(x)
    y[7] = 9.9
    assert found(x, y) == [(0, 1)]

    y[:100] = 9.9
    assert found(x, y) == []


def test_rare_values_are_no_errors():
    random = np.random.default_rng(0)
    x, rare = random.normal(size=40_000), np.zeros(40_000)
    rare[random.choice(40_000, 30, replace=False)] = 1

    assert found(x, rare) == []
    assert found(x, np.where(x > 2.5, 1.0, 0.0)) == [(0, 1)]


def test_a_value_far_away_does_not_make_others_equal():
    noise = numbers(5000, seed=3)
    noise[7] = 1e7

    assert found(numbers(5000), noise) == []


def test_missing_values_say_nothing():
    x, y = X.copy(), np.abs(X)
    y[:100] = np.nan
    x[90:110] = np.nan
    assert found(x, y) == [(0, 1)]

    y[:-15] = np.nan
    assert found(x, y) == []


def test_a_function_of_many_pieces_is_no_rule():
    x = np.arange(5000.0)
    steps = np.repeat(np.arange(25.0), 200) % 2
    (function,) = find_functions([x, steps])
    assert 24 < function.pieces <= MAX_PIECES

    steps = np.repeat(np.arange(250.0), 20) % 2
    assert found(x, steps) == []


def test_no_columns():
    assert found() == found(X) == []


def test_steps():
    assert decimal_step(np.array([1.0, 20.0, np.nan])) == 1
    assert decimal_step(np.array([1.25, 3.5])) == 0.01
    assert decimal_step(np.array([np.pi])) is None
    assert decimal_step(np.array([0.1 + 0.2, 1e9 + 0.1])) == 0.1
    assert decimal_step(np.array([1.7e18 + 256])) == 1


def test_on_a_grid():
    np.testing.assert_array_equal(on_grid(np.array([0.126, np.nan]), 0.01), [0.13, np.nan])
    np.testing.assert_array_equal(on_grid(np.array([1.3e9, -4e8]), 1e9), [1e9, 0])
    np.testing.assert_array_equal(on_grid(np.array([np.pi]), None), [np.pi])


WHOLE = np.random.default_rng(6).integers(0, 101, 5000)
CHANCE = np.random.default_rng(7)


@pytest.mark.parametrize(
    ('source', 'target'),
    [
        (WHOLE, WHOLE + CHANCE.integers(-1, 2, 5000)),
        (WHOLE, WHOLE + (CHANCE.random(5000) < 0.1)),
        (WHOLE, WHOLE + (CHANCE.random(5000) < 0.005)),
        # The age of someone born in a year depends on the day.
        (1924 + WHOLE, 2024 - (1924 + WHOLE) - CHANCE.integers(0, 2, 5000)),
        # Two instruments that differ by one in the last decimal, or not; hardly a value repeats.
        (CHANCE.normal(size=5000), 0.1),
    ],
    ids=['three values', 'two values', 'rarely two', 'age', 'instruments'],
)
def test_chance_is_not_taken_for_rounding(source, target):
    if np.isscalar(target):
        target = source.round(1) + target * CHANCE.integers(0, 2, 5000)

    assert found(source, target) == found(target, source) == []


def test_what_was_rounded_is_found_to_the_last_row():
    x = 1000 * np.random.default_rng(8).random(5000)
    bend = np.where(x < 400, 0.3 * x, 120 + 0.8 * (x - 400))
    for y in ((0.37 * x).round(), (0.37 * x).round(1), bend.round(1), np.floor(x / 10)):
        (function,) = find_functions([x, y])
        assert (function(x) != y).mean() <= 1e-3


def test_the_year_of_a_date():
    days = np.random.default_rng(9).integers(0, 25_000, 5000)
    year = np.floor(days / 365.25)
    (function,) = find_functions([days.astype(float), year])

    assert function.pieces > 100
    np.testing.assert_array_equal(function(days.astype(float)), year)


def test_the_coarser_of_two_columns_is_the_source():
    net = np.random.default_rng(10).integers(1, 3000, 3000).astype(float)
    gross = (1.19 * net).round(2)

    assert found(gross, net) == [(1, 0)]
    assert found(net, gross) == [(0, 1)]
    assert found(2 * net, net) == [(1, 0)]


def test_steps_may_be_given():
    day = 86_400e9
    days = 1.6e18 + day * MARKS
    (function,) = find_functions([days, 3.0 * MARKS], [day, 1.0])

    np.testing.assert_array_equal(function(days + 0.4 * day), 3.0 * MARKS)


def test_numbers_of_single_precision():
    inches = np.random.default_rng(11).normal(size=2000).astype(np.float32)

    assert found(inches, inches * np.float32(2.54)) == [(0, 1)]


def test_where_a_value_comes_from():
    (function,) = find_functions([X, np.abs(X)])
    falling, rising = function.origins(np.array([0.5, 1.0, 99, np.nan]), np.array([0.5, 2, 99, 1]))

    np.testing.assert_allclose(falling[0][:2], [-0.5, -2], atol=1e-5)
    np.testing.assert_allclose(falling[1][:2], [-0.5, -1], atol=1e-5)
    np.testing.assert_allclose(rising[0][:2], [0.5, 1], atol=1e-5)
    np.testing.assert_allclose(rising[1][:2], [0.5, 2], atol=1e-5)
    assert np.isnan([ends[2:] for stretch in (falling, rising) for ends in stretch]).all()


def test_which_whole_numbers_a_class_has():
    (function,) = find_functions([WHOLE.astype(float), np.digitize(WHOLE, [40, 60, 80.0])])
    ((first, last),) = function.origins(np.arange(4.0), np.arange(4.0))

    np.testing.assert_array_equal(first, [0, 40, 60, 80])
    np.testing.assert_array_equal(last, [39, 59, 79, 100])


def test_from_rounded_values_back():
    net = np.random.default_rng(12).integers(1, 3000, 3000).astype(float)
    for gross in ((1.19 * net).round(2), 5000 - (1.19 * net).round(2)):
        (function,) = find_functions([net, gross])
        ((first, last),) = function.origins(gross, gross)
        np.testing.assert_array_equal(first, net)
        np.testing.assert_array_equal(last, net)
