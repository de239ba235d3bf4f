"""Training and sampling together, against distributions that are known exactly.

Tolerances are the sampling error of the statistic plus what a network trained for seconds misses.
"""

import math

import numpy as np
import pandas as pd
import pytest

from sdv_tabdiff.diffusion import DenoiserSizes, NoiseSettings, SamplerSettings, TrainingSettings
from sdv_tabdiff.model import TabDiff
from sdv_tabdiff.table import TableCodec

NUM_ROWS = 6000


def fit_and_sample(frame, categories=(), num_rows=20_000, epochs=80, **noise):
    model = TabDiff(
        DenoiserSizes(trunk_dims=(64, 64), time_dim=32),
        NoiseSettings(sigma_min=0.01, sigma_max=10.0, **noise),
        TrainingSettings(epochs=epochs, batch_size=512, min_transfer=-math.inf),
        SamplerSettings(50),
        random_state=0,
        # What the network has learned is to be seen, not what the calibration mends.
        match_marginals=False,
    )
    model.fit(frame, TableCodec(categories).fit(frame))
    model.set_random_state(0)
    return model.sample(num_rows)


@pytest.mark.parametrize('learnable', [False, True])
def test_gaussian_with_a_known_correlation(learnable):
    rng = np.random.default_rng(0)
    x = rng.standard_normal(NUM_ROWS)
    y = 0.8 * x + 0.6 * rng.standard_normal(NUM_ROWS)

    sampled = fit_and_sample(pd.DataFrame({'x': x, 'y': y}), learnable=learnable)

    error = 4.5 / np.sqrt(NUM_ROWS)
    assert sampled.mean().to_numpy() == pytest.approx([0, 0], abs=error + 0.03)
    assert sampled.std().to_numpy() == pytest.approx([1, 1], abs=error / np.sqrt(2) + 0.03)
    assert sampled.corr().loc['x', 'y'] == pytest.approx(0.8, abs=0.36 * error + 0.03)


def test_mixture_of_two_gaussians():
    rng = np.random.default_rng(1)
    left = rng.random(NUM_ROWS) < 0.3
    x = np.where(left, -2.0, 1.0) + 0.25 * rng.standard_normal(NUM_ROWS)

    sampled = fit_and_sample(pd.DataFrame({'x': x}))['x']

    low = sampled < -0.5
    error = 4.5 * np.sqrt(0.3 * 0.7 / NUM_ROWS)
    assert low.mean() == pytest.approx(0.3, abs=error + 0.01)
    assert sampled[low].mean() == pytest.approx(-2, abs=0.05)
    assert sampled[~low].mean() == pytest.approx(1, abs=0.05)
    assert sampled[low].std() == pytest.approx(0.25, abs=0.08)
    assert ((sampled > -1.2) & (sampled < 0.2)).mean() < 0.02


def test_discrete_table_with_known_joint_probabilities():
    joint = np.array([[0.30, 0.05, 0.05], [0.02, 0.20, 0.08], [0.10, 0.10, 0.10]])
    cells = np.random.default_rng(2).choice(9, NUM_ROWS, p=joint.ravel())
    frame = pd.DataFrame({'a': cells // 3, 'b': np.array(['x', 'y', 'z'])[cells % 3]})

    sampled = fit_and_sample(frame, ['a', 'b'])

    shares = pd.crosstab(sampled['a'], sampled['b'], normalize=True).to_numpy()
    assert np.abs(shares - joint).max() < 4.5 * np.sqrt(0.3 * 0.7 / NUM_ROWS) + 0.01


def test_a_column_that_determines_another():
    rng = np.random.default_rng(3)
    code = rng.integers(0, 6, NUM_ROWS)
    frame = pd.DataFrame({
        'code': code,
        'name': np.array(list('abcdef'))[code],
        'value': code + 0.05 * rng.standard_normal(NUM_ROWS),
    })

    sampled = fit_and_sample(frame, ['code', 'name'])

    names = sampled['name'].map(dict(zip('abcdef', range(6))))
    assert (names == sampled['code']).mean() > 0.97
    assert ((sampled['value'] - sampled['code']).abs() < 0.3).mean() > 0.95


def test_zero_inflation_and_missing_values_that_depend_on_another_column():
    rng = np.random.default_rng(4)
    group = rng.integers(0, 3, NUM_ROWS)
    amount = 5 + rng.standard_normal(NUM_ROWS)
    amount[group == 0] = 0.0
    amount[group == 1] = np.nan

    sampled = fit_and_sample(pd.DataFrame({'group': group, 'amount': amount}), ['group'])

    is_zero = sampled['amount'] == 0
    is_missing = sampled['amount'].isna()
    assert is_zero.mean() == pytest.approx(1 / 3, abs=4.5 * np.sqrt(2 / 9 / NUM_ROWS) + 0.01)
    assert (is_zero == (sampled['group'] == 0)).mean() > 0.97
    assert (is_missing == (sampled['group'] == 1)).mean() > 0.97
    rest = sampled.loc[(sampled['group'] == 2) & (sampled['amount'] > 0), 'amount']
    assert rest.mean() == pytest.approx(5, abs=0.15)
    assert rest.std() == pytest.approx(1, abs=0.15)
