"""Samples that are given the quantiles of the data."""

import numpy as np
import pytest
from scipy.stats import ks_2samp, spearmanr

from sdv_tabdiff.marginals import MAX_LEVELS, MIN_LEVELS, ROWS_PER_LEVEL, Marginal

REAL = np.random.default_rng(0).exponential(size=20_000)


def biased(num_rows, seed=1):
    """A sample of nearly the right shape: 5 % too large, and a little shifted."""
    return 1.05 * np.random.default_rng(seed).exponential(size=num_rows) - 0.02


def test_a_sample_gets_the_quantiles_of_the_data():
    sample = biased(10_000)

    matched = Marginal(REAL).match(sample)

    assert ks_2samp(REAL, sample).statistic > 0.015
    # Between two of 200 levels the sample keeps its own shape.
    assert ks_2samp(REAL, matched).statistic < 1 / MAX_LEVELS


def test_the_order_of_the_rows_stays_as_it_was():
    sample = biased(5_000)

    matched = Marginal(REAL).match(sample)

    assert np.array_equal(np.argsort(sample), np.argsort(matched))


def test_what_a_number_says_of_others_stays_as_it_was():
    sample = biased(5_000)
    other = sample + np.random.default_rng(2).normal(size=5_000)

    matched = Marginal(REAL).match(sample)

    assert spearmanr(matched, other).statistic == spearmanr(sample, other).statistic


def test_a_sample_that_fits_is_hardly_changed():
    sample = np.random.default_rng(3).exponential(size=50_000)

    moved = np.abs(Marginal(REAL).match(sample) - sample)

    # A quantile of 20,000 draws at level p of Exp(1) has the error sqrt(p / (1 - p) / 20,000).
    assert np.median(moved) < 4.5 * np.sqrt(1 / 20_000)


@pytest.mark.parametrize('num_rows', [0, 1, MIN_LEVELS * ROWS_PER_LEVEL - 1])
def test_a_few_rows_are_left_alone(num_rows):
    sample = biased(num_rows)

    assert np.array_equal(Marginal(REAL).match(sample), sample)


@pytest.mark.parametrize('num_rows', [1, 100])
def test_a_few_rows_of_data_say_too_little(num_rows):
    sample = biased(10_000)

    assert np.array_equal(Marginal(REAL[:num_rows]).match(sample), sample)


def test_repeated_values_of_the_data_do_no_harm():
    real = np.round(REAL, 1)

    matched = Marginal(real).match(biased(10_000))

    assert np.isfinite(matched).all()
    assert np.median(matched) == pytest.approx(np.median(real), abs=0.05)
