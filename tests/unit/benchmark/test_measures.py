"""Measures against values that were computed by hand, and the hiding of cells."""

import math

import numpy as np
import pandas as pd
import pytest

from sdv_tabdiff.benchmark.measures import cell_scores, hide_cells

from .folders import table_of


def scores_of(train, test, imputed, sdtypes, hidden=None):
    table = table_of(pd.DataFrame(train), pd.DataFrame(test), sdtypes)
    if hidden is None:
        hidden = pd.DataFrame(True, index=table.test.index, columns=table.test.columns)

    return cell_scores(table, pd.DataFrame(imputed), pd.DataFrame(hidden))


class TestCellScores:
    def test_numbers_are_in_units_of_the_training_deviation(self):
        # Deviations 1 and 10; errors (1, -1) and (0, 20): column errors 1 and sqrt(2).
        scores = scores_of(
            {'a': [1.0, 3.0], 'b': [10.0, 30.0]},
            {'a': [5.0, 5.0], 'b': [7.0, 7.0]},
            {'a': [6.0, 4.0], 'b': [7.0, 27.0]},
            {'a': 'numerical', 'b': 'numerical'},
        )
        assert scores['numerical_error'] == pytest.approx((1 + 2**0.5) / 2)
        assert math.isnan(scores['categorical_error'])

    def test_dates_are_numbers(self):
        scores = scores_of(
            {'d': ['2020-01-01', '2020-01-03']},
            {'d': ['2020-01-01', '2020-01-01']},
            {'d': pd.to_datetime(['2020-01-03', '2020-01-03'])},
            {'d': 'datetime'},
        )
        assert scores['numerical_error'] == pytest.approx(2)

    def test_categories_are_right_or_wrong(self):
        # Shares of wrong levels: 1/4 and 1/2.
        scores = scores_of(
            {'a': list('xyzx'), 'b': [0, 1, 2, 3]},
            {'a': list('xyzx'), 'b': [0, 1, 2, 3]},
            {'a': ['x', 'y', 'z', None], 'b': [0.0, 1.0, 3.0, 2.0]},
            {'a': 'categorical', 'b': 'categorical'},
        )
        assert scores['categorical_error'] == pytest.approx(3 / 8)
        assert math.isnan(scores['numerical_error'])

    def test_only_hidden_cells_count(self):
        sdtypes = {'a': 'numerical', 'b': 'numerical', 'c': 'boolean'}
        train = {'a': [0.0, 2.0], 'b': [0.0, 2.0], 'c': [True, False]}
        hidden = {'a': [True, False], 'b': [False, False], 'c': [False, True]}
        imputed = {'a': [3.0, 99.0], 'b': [99.0, 99.0], 'c': [False, False]}
        scores = scores_of(train, train, imputed, sdtypes, hidden)
        assert scores == {'numerical_error': 3, 'categorical_error': 0}

    def test_columns_without_spread_are_left_out(self):
        train = {'a': [0.0, 2.0], 'b': [5.0, 5.0]}
        imputed = {'a': [1.0, 3.0], 'b': [6.0, 7.0]}
        scores = scores_of(train, train, imputed, {'a': 'numerical', 'b': 'numerical'})
        assert scores['numerical_error'] == 1


class TestHideCells:
    ROWS = pd.DataFrame(
        np.where(np.random.default_rng(1).random((4000, 5)) < 0.3, np.nan, 1.0),
        columns=list('abcde'),
    )

    @pytest.mark.parametrize('rate', [0.1, 0.3, 0.5])
    def test_rate_within_binomial_error(self, rate):
        hidden = hide_cells(self.ROWS, self.ROWS.columns, rate, seed=3)
        present = self.ROWS.notna()
        deviation = (rate * (1 - rate) / present.sum()) ** 0.5
        shares = hidden[present].mean()
        assert ((shares - rate).abs() < 4 * deviation).all()

    def test_missing_truth_is_never_hidden(self):
        hidden = hide_cells(self.ROWS, self.ROWS.columns, 0.9, seed=0)
        assert not (hidden & self.ROWS.isna()).any(axis=None)

    def test_other_columns_are_never_hidden(self):
        hidden = hide_cells(self.ROWS, ['b', 'd'], 0.5, seed=0)
        assert hidden.any().tolist() == [False, True, False, True, False]

    def test_seeds_and_rates(self):
        def hide(rate, seed):
            return hide_cells(self.ROWS, self.ROWS.columns, rate, seed)

        assert hide(0.3, 0).equals(hide(0.3, 0))
        assert not hide(0.3, 0).equals(hide(0.3, 1))
        assert not (hide(0.1, 0) & ~hide(0.3, 0)).any(axis=None)
