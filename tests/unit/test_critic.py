"""Trees that tell sampled rows from the data, and the choice of rows by their odds."""

import numpy as np
import pytest
import torch

from sdv_tabdiff import critic as critic_module
from sdv_tabdiff.critic import (
    MIN_ROWS_PER_ROW,
    MIN_ROWS_TO_RAKE,
    Bins,
    Critic,
    choose,
    grown,
    inclusion_probabilities,
    threads,
)

ROWS = 6000


def normal(correlation, num_rows=ROWS, seed=0):
    covariance = [[1, correlation], [correlation, 1]]
    return np.random.default_rng(seed).multivariate_normal([0, 0], covariance, num_rows)


class TestBins:
    def test_a_number_counts_as_the_value_next_to_it(self):
        bins = Bins(np.array([1.0, 2.0, 2.0, 5.0]))

        assert bins.place(np.array([0.0, 1.4, 1.6, 2.2, 3.4, 3.6, 9.0])).tolist() == [
            *(0, 0, 1, 1, 1, 2, 2)
        ]

    def test_edges_are_never_at_a_value(self):
        values = np.round(np.random.default_rng(0).exponential(100, 20_000))

        bins = Bins(values, most=20)

        assert len(bins.edges) < 20
        assert (bins.edges % 1 == 0.5).all()

    def test_many_values_are_split_evenly(self):
        values = np.random.default_rng(0).exponential(size=10_000)

        counts = np.bincount(Bins(values, most=10).place(values).astype(int))

        # The smallest value of all is an edge of its own.
        assert len(counts) == 10
        assert counts[1:].max() / len(values) == pytest.approx(1 / 9, abs=0.002)

    def test_missing_stays_missing_even_in_an_empty_column(self):
        assert np.isnan(Bins(np.full(3, np.nan)).place(np.array([np.nan]))).all()


class TestInclusionProbabilities:
    @pytest.mark.parametrize('count', [1, 10, 500, 999, 1000])
    def test_they_add_up_and_none_exceeds_certainty(self, count):
        weights = np.random.default_rng(0).lognormal(sigma=2, size=1000)

        found = inclusion_probabilities(weights, count)

        assert found.sum() == pytest.approx(count)
        assert found.max() <= 1
        free = found < 1
        ratios = found[free] / weights[free]
        assert ratios == pytest.approx(np.full(free.sum(), ratios.mean() if free.any() else 0))

    def test_large_weights_are_certain(self):
        found = inclusion_probabilities(np.array([1.0, 1e9, 1.0, 1e9]), 3)

        assert found == pytest.approx([0.5, 1, 0.5, 1])

    def test_weights_that_vanish_leave_a_choice(self):
        found = inclusion_probabilities(np.array([0.0, 1.0, 0.0]), 2)

        assert found == pytest.approx([0.5, 1, 0.5])


class TestChoose:
    @pytest.mark.parametrize('uniform', [0.0, 0.37, 1 - 2**-24])
    @pytest.mark.parametrize('count', [1, 7, 100])
    def test_as_many_as_asked_for_and_none_twice(self, count, uniform):
        weights = np.random.default_rng(0).lognormal(sigma=3, size=100)

        chosen = choose(weights, count, uniform)

        assert len(set(chosen)) == len(chosen) == count

    def test_in_the_ratio_of_the_weights(self):
        weights = np.random.default_rng(0).lognormal(size=200)
        draws = (np.arange(4000) + 0.5) / 4000

        chosen = np.concatenate([choose(weights, 50, uniform) for uniform in draws])

        shares = np.bincount(chosen, minlength=200) / 4000
        # Evenly spaced draws meet each probability to within one of them.
        assert shares == pytest.approx(inclusion_probabilities(weights, 50), abs=2 / 4000)


class TestCritic:
    def test_odds_are_the_ratio_of_the_densities(self):
        real, made = normal(0.6, 20_000), normal(0.0, 20_000, seed=1)
        critic = Critic(0).fit(real, made)
        rows = normal(0.0, 5000, seed=2)
        x, y = rows.T
        exact = -np.log(0.8) + 0.6 * x * y / 0.64 - 0.36 * (x**2 + y**2) / (2 * 0.64)

        found = critic.log_odds(rows)

        # Trees are rough, above all where rows are few; but they are not biased.
        assert np.corrcoef(found, exact)[0, 1] > 0.9
        assert np.mean(found - exact) == pytest.approx(0, abs=0.1)

    def test_chosen_rows_have_the_correlation_of_the_data(self):
        critic = Critic(0).fit(normal(0.6), normal(0.3, seed=1))
        rows = normal(0.3, critic.rows_for(ROWS, most=10), seed=2)

        chosen = rows[choose(critic.weights(rows), ROWS, 0.5)]

        # Standard error 0.01. A smooth difference is what trees of 6,000 rows are worst at: they go
        # most of the way.
        assert np.corrcoef(rows.T)[0, 1] == pytest.approx(0.3, abs=0.03)
        assert 0.48 < np.corrcoef(chosen.T)[0, 1] < 0.63

    def test_nothing_to_tell_apart_leaves_all_rows_alike(self):
        critic = Critic(0).fit(normal(0.5), normal(0.5, seed=1))

        assert np.abs(critic.log_odds(normal(0.5, 100))).max() < 0.5
        assert critic.rows_per_row < 2

    def test_with_nothing_to_go_by_no_further_rows_are_asked_for(self):
        critic = Critic(0)

        assert critic.rows_for(100, most=4) == 100
        assert critic.rows_for(MIN_ROWS_TO_RAKE, most=4) == MIN_ROWS_PER_ROW * MIN_ROWS_TO_RAKE

    def test_no_more_rows_than_allowed(self):
        critic = Critic(0).fit(normal(0.8), normal(-0.8, seed=1))

        assert critic.rows_per_row > 3
        assert critic.rows_for(10, most=3) == 30

    def test_weights_are_raked_to_the_shares_of_every_column(self):
        rng = np.random.default_rng(0)
        real = np.stack([rng.integers(0, 2, ROWS), rng.integers(0, 3, ROWS)], axis=1) * 1.0
        real[:600, 1] = np.nan
        critic = Critic(0)
        critic.fit(real, real)
        rows = np.stack([rng.random(ROWS) < 0.3, rng.integers(0, 3, ROWS)], axis=1) * 1.0
        rows[:300, 1] = np.nan

        weights = critic.weights(rows)

        assert np.average(rows[:, 0], weights=weights) == pytest.approx(real[:, 0].mean(), abs=1e-4)
        missing = np.isnan(rows[:, 1])
        assert np.average(missing, weights=weights) == pytest.approx(0.1, abs=1e-4)

    def test_few_rows_are_not_raked(self):
        critic = Critic(0).fit(np.repeat([[0.0], [1.0]], 50, axis=0), np.zeros((100, 1)))
        rows = np.zeros((10, 1))

        assert critic.weights(rows) == pytest.approx(np.exp(critic.log_odds(rows)))

    def test_missing_cells_and_constant_columns_are_no_obstacle(self):
        real, made = normal(0.5), normal(0.5, seed=1)
        made[made[:, 0] > 1, 1] = np.nan
        real, made = (np.column_stack([rows, np.full(ROWS, np.nan)]) for rows in (real, made))

        critic = Critic(0).fit(real, made)

        odds = critic.log_odds(made)
        assert odds[np.isnan(made[:, 1])].mean() < odds[~np.isnan(made[:, 1])].mean() - 1

    def test_time_runs_out_between_trees(self, monkeypatch):
        monkeypatch.setattr(critic_module, 'TREES_AT_A_TIME', 5)
        real, made = normal(0.9), normal(0.0, seed=1)
        labels = np.repeat([1, 0], ROWS)

        trees = grown(np.concatenate([real, made]), labels, 0, is_over=lambda: True)

        assert trees.n_iter_ == 5

    def test_the_same_seed_gives_the_same_odds(self):
        rows = normal(0.2, 500, seed=3)
        first, second = (
            Critic(4).fit(normal(0.6), normal(0.0, seed=1)).log_odds(rows) for _ in range(2)
        )

        assert np.array_equal(first, second)

    def test_trees_keep_to_the_threads_of_torch(self):
        from threadpoolctl import threadpool_info

        with threads():
            pools = [pool for pool in threadpool_info() if pool['user_api'] == 'openmp']

        assert {pool['num_threads'] for pool in pools} <= {torch.get_num_threads()}
