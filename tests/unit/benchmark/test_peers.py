"""The methods that TabDiff is compared with."""

import sys

import numpy as np
import pandas as pd
import pytest

from sdv_tabdiff.benchmark import peers
from sdv_tabdiff.benchmark.measures import cell_scores, hide_cells
from sdv_tabdiff.evaluation import NotInstalledError
from sdv_tabdiff.evaluation.predictions import AUC, LOG_RMSE

from .folders import SDTYPES, animals, table_of


def animal_table(**kind):
    return table_of(animals(300), animals(100, seed=1), **kind)


class TestEncoder:
    def test_gaps_stay_gaps_and_numbers_are_standardised(self):
        train = pd.DataFrame({'size': [1.0, 3.0], 'colour': ['red', 'blue']})
        table = table_of(train, train, {name: SDTYPES[name] for name in train})
        rows = pd.DataFrame({'size': [4.0, np.nan, 2.0], 'colour': ['blue', 'green', None]})
        encoded = peers.Encoder(table).encode(rows)
        expected = [[2, 0, 1], [np.nan, 0, 0], [0, np.nan, np.nan]]
        np.testing.assert_array_equal(encoded, expected)

    def test_only_the_most_frequent_levels_have_indicators(self):
        levels = [f'level {number}' for number in range(30)]
        train = pd.DataFrame({'colour': levels + levels[10:]})
        table = table_of(train, train, {'colour': 'categorical'})
        encoded = peers.Encoder(table).encode(pd.DataFrame({'colour': levels}))
        assert encoded.shape == (30, 20)
        assert encoded.sum(axis=1).tolist() == [0] * 10 + [1] * 20

    def test_known_cells_come_back(self):
        table = animal_table()
        encoder = peers.Encoder(table)
        filled = encoder.fill(table.test, np.full_like(encoder.encode(table.test), 7))
        hidden = table.test.notna()
        assert cell_scores(table, filled, hidden)['categorical_error'] == 0
        assert cell_scores(table, filled, hidden)['numerical_error'] < 1e-6
        assert filled.notna().all(axis=None)


class TestImputers:
    @pytest.mark.filterwarnings('ignore::sklearn.exceptions.ConvergenceWarning')
    def test_those_that_look_at_other_columns_win(self):
        rate = 0.2
        table = animal_table()
        hidden = hide_cells(table.test, table.test.columns, rate, seed=0)
        rows = table.test.mask(hidden)
        errors = {}
        for name, impute in peers.IMPUTERS.items():
            filled = impute(table, rows, rate, 0)
            assert filled.notna().all(axis=None)
            assert filled.index.equals(rows.index)
            errors[name] = cell_scores(table, filled, hidden)

        simple = errors.pop('mean and mode')
        for better in errors.values():
            assert better['numerical_error'] < 0.95 * simple['numerical_error']
            assert better['categorical_error'] < simple['categorical_error']

    def test_mean_and_mode(self):
        train = pd.DataFrame({'size': [1.0, 3.0, np.nan], 'colour': ['red', 'blue', 'blue']})
        table = table_of(train, train, {name: SDTYPES[name] for name in train})
        rows = pd.DataFrame({'size': [np.nan, 5.0], 'colour': ['red', None]}, index=[7, 8])
        filled = peers.mean_and_mode(table, rows, 0.1, 0)
        assert filled['size'].tolist() == [2, 5]
        assert filled['colour'].tolist() == ['red', 'blue']


class TestTrees:
    def test_probabilities(self):
        table = animal_table(target='adult', task=AUC)
        predicted = peers.predict_target(table, 0)
        np.testing.assert_allclose(predicted.sum(axis=1), 1, atol=1e-6)
        adults = table.test['adult'].to_numpy()
        assert predicted[adults, 1].mean() > 0.5 > predicted[~adults, 1].mean()

    def test_logarithms(self):
        table = animal_table(target='weight', task=LOG_RMSE)
        errors = peers.predict_target(table, 0) - np.log(table.test['weight'])
        assert np.sqrt(np.mean(errors**2)) < 0.5 * np.log(table.test['weight']).std()

    def test_the_target_is_no_feature(self):
        table = animal_table(target='adult', task=AUC)
        features = peers._features(table, table.test)
        assert list(features.columns) == ['size', 'weight', 'born', 'colour']
        assert features['colour'].dtype == 'category'
        assert features['colour'].isna().equals(table.test['colour'].isna())

    def test_not_installed(self, monkeypatch):
        monkeypatch.setitem(sys.modules, 'xgboost', None)
        with pytest.raises(NotInstalledError, match='xgboost is not installed'):
            peers.predict_target(animal_table(target='adult', task=AUC), 0)
