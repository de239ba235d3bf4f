import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from sdv_tabdiff.evaluation.predictions import level_scores, log_of, number_scores


class TestLevelScores:
    def test_perfect(self):
        truth = np.array([0, 1, 1, 0])

        assert level_scores(truth, np.eye(2)[truth]) == {'auc': 1.0, 'micro_auc': 1.0}

    def test_two_levels_are_the_ordinary_area(self):
        rng = np.random.default_rng(0)
        truth, chance = rng.integers(0, 2, 200), rng.random(200)

        scores = level_scores(truth, np.column_stack([1 - chance, chance]))

        assert scores['auc'] == pytest.approx(roc_auc_score(truth, chance))

    def test_the_micro_area_gains_from_a_frequent_level(self):
        truth = np.array([1] + [0] * 99)

        scores = level_scores(truth, np.tile([0.99, 0.01], (100, 1)))

        assert scores['auc'] == 0.5
        assert scores['micro_auc'] == pytest.approx(0.99)

    def test_known_ranking(self):
        # Positives at 0.8 and 0.3, negatives at 0.6 and 0.1: three of four pairs are in order.
        positive = np.array([True, False, True, False])
        chance = np.array([0.8, 0.6, 0.3, 0.1])
        scores = level_scores(positive.astype(int), np.column_stack([1 - chance, chance]))
        assert scores['auc'] == 0.75
        # True indicators: 0.8, 0.4, 0.3, 0.9; false ones: 0.2, 0.6, 0.7, 0.1.
        # Pairs in order: 4 + 2 + 2 + 4 of 16.
        assert scores['micro_auc'] == 0.75

    def test_micro_differs_where_a_constant_shift_helps_the_frequent_level(self):
        positive = np.array([False, False, False, True])
        chance = np.array([0.1, 0.1, 0.1, 0.1])
        scores = level_scores(positive.astype(int), np.column_stack([1 - chance, chance]))
        # Ties count half. True indicators: 0.9, 0.9, 0.9, 0.1; false: 0.1, 0.1, 0.1, 0.9.
        # (3 * 3 + 3 / 2 + 3 / 2 + 0) / 16.
        assert scores == {'auc': 0.5, 'micro_auc': 0.75}

    @pytest.mark.parametrize('right', [True, False])
    def test_extremes(self, right):
        positive = np.array([True, False, False])
        chance = np.where(positive == right, 0.9, 0.2)
        scores = level_scores(positive.astype(int), np.column_stack([1 - chance, chance]))
        assert scores == {'auc': float(right), 'micro_auc': float(right)}

    def test_three_levels(self):
        truth = np.array([0, 1, 2])

        assert level_scores(truth, np.roll(np.eye(3), 1, axis=1)[truth])['auc'] == 0.25


def test_the_error_of_logarithms():
    assert number_scores('log_rmse', np.e ** np.array([0, 1, 2]), np.array([0, 1, 5.0])) == {
        'log_rmse': pytest.approx(3**0.5)
    }
    assert number_scores('rmse', [1.0, 2.0], np.array([1.0, 4.0]))['rmse'] == pytest.approx(2**0.5)


def test_logarithms_start_at_one():
    np.testing.assert_array_equal(log_of([-5.0, 0.0, 0.5, 1.0]), 0)
