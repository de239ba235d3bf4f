"""Trees that tell sampled rows from the data, and the choice of rows by their odds."""

import numpy as np
import pytest
import torch
from scipy.stats import ks_2samp

from sdv_tabdiff import critic as critic_module
from sdv_tabdiff.choice import MIN_ROWS_TO_RAKE, PORTIONS, choose
from sdv_tabdiff.critic import MIN_ROWS_PER_ROW, Critic, grown, threads

ROWS = 6000
UNIFORMS = np.random.default_rng(5).random(PORTIONS)


def normal(correlation, num_rows=ROWS, seed=0):
    covariance = [[1, correlation], [correlation, 1]]
    return np.random.default_rng(seed).multivariate_normal([0, 0], covariance, num_rows)


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

        chosen = rows[critic.choose(rows, ROWS, UNIFORMS)]

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

    def test_the_shares_of_the_data_are_kept(self):
        real, made = normal(0.6), normal(0.0, seed=1)
        critic = Critic(0).fit(real, made)
        rows = normal(0.0, critic.rows_for(ROWS, most=10), seed=2)

        chosen = rows[critic.choose(rows, ROWS, UNIFORMS)]

        # By chance alone they would differ by 0.016 on average: 0.87 sqrt(2 / 6000).
        for column in range(2):
            assert ks_2samp(chosen[:, column], real[:, column]).statistic < 0.008

    def test_of_hidden_columns_only_the_shares_are_kept(self):
        rng = np.random.default_rng(7)

        def rows(share, count, seed):
            states = np.where(rng.random(count) < share, 1.0, -1.0)
            return np.column_stack([normal(0.5, count, seed), states])

        real, made = rows(0.5, ROWS, 0), rows(0.6, 2 * ROWS, 1)
        critic = Critic(0, hidden=1).fit(real, made)

        flipped = made * [1, 1, -1]
        assert np.array_equal(critic.log_odds(flipped), critic.log_odds(made))
        chosen = made[critic.choose(made, ROWS, UNIFORMS)]
        assert (chosen[:, 2] > 0).mean() == pytest.approx((real[:, 2] > 0).mean(), abs=0.002)

    def test_few_rows_are_chosen_by_their_odds_alone(self):
        critic = Critic(0).fit(normal(0.8), normal(0.0, seed=1))
        rows = normal(0.0, MIN_ROWS_TO_RAKE - 1, seed=2)

        found = critic.choose(rows, 500, UNIFORMS)

        assert found.tolist() == choose(np.exp(critic.log_odds(rows)), 500, UNIFORMS[0]).tolist()

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
