"""Training and conditional sampling together, against posteriors that are known exactly.

Tolerances are the sampling error of the statistic plus what a network trained for seconds misses.
"""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, truncnorm

from sdv_tabdiff.diffusion import DenoiserSizes, NoiseSettings, SamplerSettings, TrainingSettings
from sdv_tabdiff.knowledge import Knowledge, Restriction, Restrictions
from sdv_tabdiff.model import TabDiff
from sdv_tabdiff.table import TableCodec

NUM_ROWS = 6000
NUM_SAMPLES = 4000
ERROR = 4.5 / np.sqrt(NUM_SAMPLES)

COVARIANCE = np.array([[1.0, 0.7, 0.2], [0.7, 1.0, -0.3], [0.2, -0.3, 1.0]])
JOINT = np.array([[0.30, 0.05, 0.05], [0.02, 0.20, 0.08], [0.10, 0.10, 0.10]])
SHARES, MEANS, DEVIATION = np.array([0.5, 0.3, 0.2]), np.array([-1.0, 0.5, 2.0]), 0.6


def fitted(frame, categories=(), epochs=120):
    model = TabDiff(
        DenoiserSizes(trunk_dims=(128, 128), time_dim=32),
        NoiseSettings(sigma_min=0.01, sigma_max=10.0),
        TrainingSettings(
            epochs=epochs,
            batch_size=512,
            min_transfer=-math.inf,
            learning_rate=3e-3,
            conditional_share=0.75,
        ),
        SamplerSettings(30),
        random_state=0,
    )
    model.fit(frame, TableCodec(categories).fit(frame))
    model.set_random_state(0)
    return model


def given(restrictions=None, **columns):
    frame = pd.DataFrame(columns, index=range(NUM_SAMPLES))
    return Knowledge(frame, frame.notna(), restrictions or {})


@pytest.fixture(scope='module')
def gaussian():
    rows = np.random.default_rng(0).multivariate_normal(np.zeros(3), COVARIANCE, NUM_ROWS)
    return fitted(pd.DataFrame(rows, columns=list('xyz')))


@pytest.fixture(scope='module')
def discrete():
    cells = np.random.default_rng(2).choice(9, NUM_ROWS, p=JOINT.ravel())
    frame = pd.DataFrame({'a': cells // 3, 'b': np.array(list('xyz'))[cells % 3]})
    return fitted(frame, ['a', 'b'])


@pytest.fixture(scope='module')
def mixed():
    rng = np.random.default_rng(1)
    category = rng.choice(3, NUM_ROWS, p=SHARES)
    number = MEANS[category] + DEVIATION * rng.standard_normal(NUM_ROWS)
    return fitted(pd.DataFrame({'kind': np.array(list('abc'))[category], 'x': number}), ['kind'])


@pytest.mark.parametrize(
    'known', [{'x': 1.0}, {'x': -1.5}, {'y': 0.8, 'z': -1.0}, {'x': 0.5, 'y': 1.2}]
)
def test_trivariate_gaussian(gaussian, known):
    names = list('xyz')
    inside = [names.index(name) for name in known]
    outside = [column for column in range(3) if column not in inside]
    gain = COVARIANCE[np.ix_(outside, inside)] @ np.linalg.inv(COVARIANCE[np.ix_(inside, inside)])
    mean = gain @ np.array(list(known.values()))
    covariance = COVARIANCE[np.ix_(outside, outside)] - gain @ COVARIANCE[np.ix_(inside, outside)]

    rows = gaussian.complete(given(**known))[[names[column] for column in outside]]

    assert rows.mean().to_numpy() == pytest.approx(mean, abs=ERROR + 0.08)
    assert np.cov(rows.to_numpy().T).reshape(covariance.shape) == pytest.approx(
        covariance, abs=np.sqrt(2) * ERROR + 0.08
    )


def test_guidance_moves_away_from_the_unconditional_mean_and_narrows(gaussian):
    plain, guided = (gaussian.complete(given(x=1.0), omega)['y'] for omega in (0.0, 1.0))

    # Along the flow the guided mean lies between (1 + omega) times the plain one and the plain one.
    assert 0.7 + ERROR < guided.mean() < 2 * 0.7
    assert guided.std() < plain.std()


@pytest.mark.parametrize(('low', 'high'), [(0.5, 1.5), (1.5, np.inf), (-1.0, -0.2)])
def test_a_range_restricts_the_number_and_what_follows_from_it(gaussian, low, high):
    limit = Restrictions([Restriction(low=low, high=high)], np.zeros(NUM_SAMPLES, dtype=int))

    rows = gaussian.complete(given({'x': limit}))

    exact = truncnorm(low, high)
    assert rows['x'].between(low - 1e-3, high + 1e-3).all()
    assert rows['x'].mean() == pytest.approx(exact.mean(), abs=ERROR * exact.std() + 0.05)
    assert rows['x'].std() == pytest.approx(exact.std(), abs=0.06)
    # y = 0.7 x + noise, so its mean follows that of the restricted x.
    assert rows['y'].mean() == pytest.approx(0.7 * exact.mean(), abs=ERROR + 0.08)


@pytest.mark.parametrize('first', [0, 1, 2])
def test_discrete_table(discrete, first):
    expected = JOINT[first] / JOINT[first].sum()
    tolerance = 4.5 * np.sqrt(0.25 / NUM_SAMPLES) + 0.05

    drawn = discrete.complete(given(a=first))['b'].value_counts(normalize=True)
    exact = discrete.level_probabilities(given(a=first), ['b'])['b'].iloc[0]

    assert drawn.reindex(list('xyz'), fill_value=0).to_numpy() == pytest.approx(
        expected, abs=tolerance
    )
    assert exact[list('xyz')].to_numpy(dtype=float) == pytest.approx(expected, abs=0.05)


@pytest.mark.parametrize('kind', [0, 1, 2])
def test_number_given_its_category(mixed, kind):
    numbers = mixed.complete(given(kind='abc'[kind]))['x']

    assert numbers.mean() == pytest.approx(MEANS[kind], abs=ERROR * DEVIATION + 0.08)
    assert numbers.std() == pytest.approx(DEVIATION, abs=0.08)


@pytest.mark.parametrize('number', [-0.6, 0.0, 1.3])
def test_category_given_its_number(mixed, number):
    posterior = SHARES * norm.pdf(number, MEANS, DEVIATION)
    posterior /= posterior.sum()

    drawn = mixed.complete(given(x=number))['kind'].value_counts(normalize=True)

    assert drawn.reindex(list('abc'), fill_value=0).to_numpy() == pytest.approx(
        posterior, abs=4.5 * np.sqrt(0.25 / NUM_SAMPLES) + 0.06
    )


def test_category_in_a_set_takes_the_number_with_it(mixed):
    allowed = Restriction(allowed=frozenset('bc'))
    limit = Restrictions([allowed], np.zeros(NUM_SAMPLES, dtype=int))

    rows = mixed.complete(given({'kind': limit}))

    assert set(rows['kind']) == {'b', 'c'}
    assert (rows['kind'] == 'b').mean() == pytest.approx(0.6, abs=ERROR / 2 + 0.04)
    assert rows['x'].mean() == pytest.approx(0.6 * 0.5 + 0.4 * 2.0, abs=ERROR + 0.08)
