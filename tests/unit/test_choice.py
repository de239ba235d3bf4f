"""The choice of rows in proportion to weights, with the shares of the data."""

import numpy as np
import pytest

from sdv_tabdiff.choice import (
    PORTIONS,
    Bins,
    Shares,
    choose,
    choose_with_shares,
    inclusion_probabilities,
    rake,
)


class TestBins:
    def test_what_only_rounding_tells_apart_is_one_value(self):
        values = np.array([0.1 + 0.2, 0.3, 1.0, 2.0])
        bins = Bins(values, most=10)

        assert bins.place(np.array([0.3 - 1e-12, 0.3, 0.1 + 0.2, 1.0, 2.0])).tolist() == [
            0, 0, 0, 1, 2,
        ]  # fmt: skip

    def test_small_values_beside_huge_ones_are_told_apart(self):
        bins = Bins(np.append(np.arange(500.0), 1e15), most=1000)

        assert len(bins.edges) == 500

    def test_a_number_counts_as_the_value_next_to_it(self):
        bins = Bins(np.array([1.0, 2.0, 2.0, 5.0]), most=10)

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
        assert np.isnan(Bins(np.full(3, np.nan), most=10).place(np.array([np.nan]))).all()


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

    def test_rounding_makes_no_row_come_twice(self):
        # Certain rows first, so that the draws fall on the very edges between them.
        weights = np.concatenate([np.full(50, 1e6), np.random.default_rng(0).random(1000)])

        for count in range(60, 160):
            assert len(set(choose(weights, count, 0.0))) == count

    def test_in_the_ratio_of_the_weights(self):
        weights = np.random.default_rng(0).lognormal(size=200)
        draws = (np.arange(4000) + 0.5) / 4000

        chosen = np.concatenate([choose(weights, 50, uniform) for uniform in draws])

        shares = np.bincount(chosen, minlength=200) / 4000
        # Evenly spaced draws meet each probability to within one of them.
        assert shares == pytest.approx(inclusion_probabilities(weights, 50), abs=2 / 4000)


class TestRake:
    def test_rows_are_expected_as_they_are_wanted(self):
        rng = np.random.default_rng(0)
        places = [rng.integers(0, 2, 6000), (rng.random(6000) < 0.3).astype(int)]
        wanted = [np.array([800.0, 1200.0]), np.array([1000.0, 1000.0])]

        found = rake(rng.random(6000), 2000, places, wanted, rounds=12)

        assert 0 < found.min() and found.max() <= 1
        for place, amount in zip(places, wanted):
            assert np.bincount(place, found) == pytest.approx(amount, abs=0.1)

    def test_what_is_not_there_leaves_the_rest_in_its_ratio(self):
        place = np.repeat([0, 1], [100, 300])

        found = rake(np.full(400, 0.5), 200, [place], [np.array([40.0, 60.0, 100.0])], rounds=12)

        assert np.bincount(place, found) == pytest.approx([80, 120], abs=1)


class TestChooseWithShares:
    def table(self, num_rows, share, seed):
        rng = np.random.default_rng(seed)
        rows = np.column_stack([
            rng.normal(size=num_rows),
            rng.random(num_rows) < share,
            rng.integers(0, 9, num_rows),
        ])
        rows[rng.random(num_rows) < share / 5, 2] = np.nan
        return rows

    def choose(self, weights, rows, count=3000, seed=0):
        data = self.table(5000, 0.5, seed=1)
        shares = [Shares(column) for column in data.T]
        uniforms = np.random.default_rng(seed).random(PORTIONS)
        found = choose_with_shares(weights, count, rows, shares, uniforms)
        return found, [
            np.abs(column.count(column.place(values), np.ones(count)) / count - column.wanted).max()
            for column, values in zip(shares, rows[found].T)
        ]

    def test_every_column_has_the_shares_of_the_data(self):
        rows = self.table(6000, 0.3, seed=2)

        found, misses = self.choose(np.ones(6000), rows)

        assert len(set(found)) == len(found) == 3000
        # Chance is left with the last 3,000 / 32 rows; a column of halves misses its share by a
        # standard error of sqrt(94) / 2 of them, and by nine times as much if all were of one kind.
        assert max(misses) < 3 * np.sqrt(3000 / 32) / 2 / 3000

    def test_one_choice_leaves_the_shares_to_chance(self):
        rows = self.table(6000, 0.3, seed=2)

        found = choose(np.ones(6000), 3000, 0.5)

        assert abs(rows[found, 1].mean() - 0.5) > 0.15

    def test_rows_that_are_all_but_certain_are_made_up_for_in_others(self):
        rows = self.table(6000, 0.5, seed=2)
        certain = np.flatnonzero(rows[:, 1])[:1000]
        weights = np.ones(6000)
        weights[certain] = 1e6

        found, misses = self.choose(weights, rows)

        # Too many of one kind: even they give way a little.
        assert np.isin(certain, found).mean() > 0.7
        assert max(misses) < 3 * np.sqrt(3000 / 32) / 2 / 3000

    def test_over_many_choices_in_the_ratio_of_the_weights(self):
        data = self.table(5000, 0.5, seed=1)
        weights = np.where(data[:, 0] * (data[:, 1] - 0.5) > 0, 2.0, 1.0)

        shares = [
            (weights[self.choose(weights, data, seed=seed)[0]] == 2).mean() for seed in range(20)
        ]

        # Two thirds by weight, whatever the shares: the sign of the product is independent of both
        # columns. Standard error of 20 choices of 3,000 rows: 0.002 at most.
        assert np.mean(shares) == pytest.approx(2 / 3, abs=0.008)

    @pytest.mark.parametrize('count', [1, 2, 31, 64])
    def test_few_rows(self, count):
        found, _ = self.choose(np.ones(500), self.table(500, 0.5, seed=2), count=count)

        assert len(set(found)) == count

    def test_as_many_as_there_are(self):
        found, _ = self.choose(np.ones(3000), self.table(3000, 0.3, seed=2))

        assert found.tolist() == list(range(3000))
