"""Normal scores and the choice of discrete values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.special import ndtri

from sdv_tabdiff.quantiles import MAX_KNOTS, MAX_REPEATED, TAIL_RANKS, QuantileMap, discrete_values


class TestDiscreteValues:
    def test_few_distinct_values_are_all_states(self):
        values = np.repeat([3.0, 1.0, 2.0], 10)

        assert discrete_values(values).tolist() == [1.0, 2.0, 3.0]

    def test_few_rows_per_value_are_a_continuum(self):
        assert len(discrete_values(np.arange(100.0))) == 0

    def test_a_constant_is_one_state_however_short(self):
        assert discrete_values(np.array([7.0])).tolist() == [7.0]

    def test_a_frequent_value_of_a_continuous_column_is_an_atom(self):
        rng = np.random.default_rng(0)
        values = np.where(rng.random(1000) < 0.5, 0.0, rng.standard_normal(1000))

        assert discrete_values(values).tolist() == [0.0]

    def test_none_if_every_number_is_to_be_continuous(self):
        assert len(discrete_values(np.zeros(100), max_values=0)) == 0

    def test_no_rows_have_no_states(self):
        assert len(discrete_values(np.empty(0))) == 0


class TestQuantileMap:
    def test_scores_of_a_smooth_column_are_standard_normal(self):
        values = np.random.default_rng(0).exponential(size=20_000)

        scores = QuantileMap().fit(values).forward(values)

        assert scores.mean() == pytest.approx(0, abs=0.01)
        assert scores.std() == pytest.approx(1, abs=0.01)
        # Kurtosis of a normal variable is 3, with standard error sqrt(24 / n).
        assert (scores**4).mean() == pytest.approx(3, abs=4.5 * np.sqrt(24 / 20_000) + 0.1)

    def test_atoms_do_not_squeeze_the_rest(self):
        rng = np.random.default_rng(0)
        values = np.where(rng.random(20_000) < 0.9, 0.0, 1 + rng.exponential(size=20_000))

        scores = QuantileMap().fit(values).forward(values[values > 0])

        assert scores.mean() == pytest.approx(0, abs=0.05)
        assert scores.std() == pytest.approx(1, abs=0.05)

    def test_atoms_come_back_exactly(self):
        rng = np.random.default_rng(0)
        atoms = np.array([-5.0, 0.1, 0.3, 99.0])
        values = np.concatenate([np.repeat(atoms, 200), rng.uniform(0, 1, 3000)])
        column = QuantileMap().fit(values)

        assert (column.inverse(column.forward(atoms)) == atoms).all()

    def test_large_integers_survive(self):
        values = np.random.default_rng(0).integers(10**9, 2 * 10**9, 5000).astype(float)
        column = QuantileMap().fit(values)

        assert (column.inverse(column.forward(values)).round() == values).all()

    def test_the_inverse_never_leaves_the_training_range(self):
        values = np.random.default_rng(0).normal(10, 3, 1000)
        column = QuantileMap().fit(values)

        extreme = column.inverse(np.array([-50.0, 50.0]))

        assert extreme.tolist() == [values.min(), values.max()]

    def test_missing_scores_stay_missing(self):
        column = QuantileMap().fit(np.arange(50.0))

        assert np.isnan(column.forward(np.array([np.nan]))).all()
        assert np.isnan(column.inverse(np.array([np.nan]))).all()

    def test_the_number_of_knots_is_bounded(self):
        values = np.random.default_rng(0).standard_normal(200_000)

        assert len(QuantileMap().fit(values).values) <= MAX_KNOTS + 2 * len(TAIL_RANKS)

    def test_the_number_of_repeated_values_is_bounded(self):
        values = np.repeat(np.arange(5000.0), 3)

        column = QuantileMap().fit(values)

        assert len(column.repeated) == MAX_REPEATED + 2  # The extremes are always among them.
        assert len(column.values) <= MAX_KNOTS + 2 * len(TAIL_RANKS) + 2 * (MAX_REPEATED + 2)
        assert np.allclose(column.inverse(column.forward(values)), values)

    def test_repeated_values_come_back_as_often_as_in_the_data(self):
        rng = np.random.default_rng(0)
        grid = np.round(1 / np.arange(2, 400), 9)
        values = np.concatenate([np.repeat(grid, rng.integers(1, 30, len(grid))), rng.random(3000)])

        generated = QuantileMap().fit(values).inverse(rng.standard_normal(len(values)))

        real, counts = np.unique(values, return_counts=True)
        expected = dict(zip(real, counts))
        again, times = np.unique(generated, return_counts=True)
        found = dict(zip(again, times))
        # A count is Poisson; 400 of them stay within 4.5 standard deviations, and a seam.
        for value in real[counts >= 3]:
            assert abs(found.get(value, 0) - expected[value]) < 4.5 * np.sqrt(expected[value]) + 1
        # No value that fewer rows share is handed out again but the ends of the range.
        rare = set(real[counts < 3]) - {values.min(), values.max()}
        assert not rare & set(again)

    def test_a_long_tail_has_normal_scores_too(self):
        values = np.random.default_rng(0).standard_t(2, size=20_000)

        scores = np.sort(QuantileMap().fit(values).forward(values))

        # The scores of the 50 largest values, against those of their ranks.
        expected = ndtri(1 - (np.arange(50, 0, -1) - 0.5) / 20_000)
        assert np.abs(scores[-50:] - expected).max() < 0.25

    def test_the_ends_of_the_range_are_reached_as_often_as_in_the_data(self):
        values = np.append(np.random.default_rng(0).random(10_000), 100.0)

        generated = (
            QuantileMap().fit(values).inverse(np.random.default_rng(1).standard_normal(1_000_000))
        )

        # A hundred rows are expected at the value that stands a hundred deviations apart.
        assert abs((generated == 100.0).sum() - 100) < 4 * np.sqrt(100)

    def test_a_small_table_is_not_stored_value_by_value(self):
        values = np.random.default_rng(0).standard_normal(83)

        assert len(np.unique(QuantileMap().fit(values).values)) <= 10

    @settings(max_examples=200)
    @given(
        hnp.arrays(
            np.float64,
            st.integers(1, 60),
            elements=st.one_of(
                st.floats(-1e12, 1e12, allow_subnormal=False), st.sampled_from([0.0, 1.0, -3.5])
            ),
        )
    )
    def test_it_is_increasing_and_invertible_on_any_column(self, values):
        column = QuantileMap().fit(values)
        scores = column.forward(np.sort(values))

        assert np.isfinite(scores).all()
        assert (np.diff(column.values) >= 0).all()
        assert (np.diff(column.scores) > 0).all()
        restored = column.inverse(scores)
        # Linear pieces between distant knots cancel digits: relative to the span, not the value.
        assert np.allclose(restored, np.sort(values), rtol=1e-9, atol=1e-9 * np.ptp(values))
