"""Conditional, guided and limited sampling, with exact denoisers in place of a network.

The answers are known in closed form, so what remains is the error of sampling and discretisation.
"""

import numpy as np
import pytest
import torch
from scipy.stats import kstest, norm, truncnorm

from sdv_tabdiff.diffusion import (
    Choice,
    Guide,
    Limits,
    SamplerSettings,
    level_probabilities,
    sample,
)
from sdv_tabdiff.diffusion.schedules import PowerMeanSchedule
from tests.oracles import (
    DiscreteOracle,
    GaussianOracle,
    MixedOracle,
    assert_same_shares,
    given_rows,
)

NUM_ROWS = 20_000
COVARIANCE = np.array([[1.0, 0.6, 0.3], [0.6, 1.0, -0.2], [0.3, -0.2, 1.0]])
JOINT = np.array([[0.30, 0.05, 0.05], [0.02, 0.20, 0.08], [0.10, 0.10, 0.10]])


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def gaussian(covariance=COVARIANCE):
    model = GaussianOracle(covariance)
    model.numerical_schedule = PowerMeanSchedule(len(covariance), sigma_min=0.01, sigma_max=10.0)
    return model


def conditional(known, values):
    """Mean and covariance of the unknown columns given the known ones."""
    unknown = [column for column in range(3) if column not in known]
    inverse = np.linalg.inv(COVARIANCE[np.ix_(known, known)])
    gain = COVARIANCE[np.ix_(unknown, known)] @ inverse
    covariance = COVARIANCE[np.ix_(unknown, unknown)] - gain @ COVARIANCE[np.ix_(known, unknown)]
    return unknown, gain @ values, covariance


@pytest.mark.parametrize('known', [[0], [1, 2], [0, 2]])
@pytest.mark.parametrize('stochastic', [False, True])
def test_gaussian_given_some_of_its_columns(known, stochastic):
    model = gaussian()
    values = np.array([1.5, -1.0, 2.0])[known]
    x_num = np.zeros((NUM_ROWS, 3))
    x_num[:, known] = values
    cells = torch.tensor([column in known for column in range(3)])

    rows, _ = sample(
        model,
        NUM_ROWS,
        SamplerSettings(60, 'multistep', stochastic),
        generator(),
        given_rows(model, x_num, np.empty((NUM_ROWS, 0)), cells),
    )

    unknown, mean, covariance = conditional(known, values)
    assert (rows[:, known].numpy() == values.astype(np.float32)).all()
    deviations = np.sqrt(np.diag(covariance))
    error = 4.5 / np.sqrt(NUM_ROWS)
    found = rows[:, unknown].double().numpy()
    assert found.mean(0) == pytest.approx(mean, abs=(error * deviations).max() + 0.01)
    assert np.cov(found.T).reshape(covariance.shape) == pytest.approx(
        covariance, abs=np.sqrt(2) * error + 0.02
    )


def test_every_row_has_its_own_known_cells():
    model = gaussian()
    x_num = torch.randn(NUM_ROWS, 3, generator=generator(1))
    cells = torch.rand(NUM_ROWS, 3, generator=generator(2)) < 0.5

    rows, _ = sample(
        model,
        NUM_ROWS,
        SamplerSettings(40),
        generator(),
        given_rows(model, x_num, np.empty((NUM_ROWS, 0)), cells),
    )

    assert torch.equal(rows[cells], x_num[cells])
    alone = cells[:, 0] & ~cells[:, 1] & ~cells[:, 2]
    slope = np.polyfit(rows[alone, 0], rows[alone, 1], 1)[0]
    assert slope == pytest.approx(0.6, abs=4.5 * 0.8 / np.sqrt(int(alone.sum())) + 0.01)


def guided_path(mean, variance, omega, sigmas):
    """The exact end of the guided flow as an affine map of its start: slope and intercept.

    ``D~ = (1 + omega) D_c - omega D_u`` with ``D_c`` of N(mean, variance) and ``D_u`` of N(0, 1).
    """

    def denoised(x, sigma):
        aware = mean + variance / (variance + sigma**2) * (x - mean)
        return (1 + omega) * aware - omega * x / (1 + sigma**2)

    ends = []
    for x in (0.0, 1.0):
        for sigma, following in zip(sigmas[:-1], sigmas[1:]):
            slope = (x - denoised(x, sigma)) / sigma
            guess = x + (following - sigma) * slope
            slope = (slope + (guess - denoised(guess, following)) / following) / 2
            x = x + (following - sigma) * slope

        ends.append(denoised(x, sigmas[-1]))

    return ends[1] - ends[0], ends[0], denoised(0.0, sigmas[0])


@pytest.mark.parametrize('omega', [0.0, 0.6, 2.0])
def test_guidance_sharpens_numbers_as_the_formula_says(omega):
    correlation, y = 0.7, 1.2
    model = gaussian(np.array([[1, correlation], [correlation, 1]]))
    x_num = np.tile([0.0, y], (NUM_ROWS, 1))
    given = given_rows(model, x_num, np.empty((NUM_ROWS, 0)), torch.tensor([False, True]))

    rows, _ = sample(
        model, NUM_ROWS, SamplerSettings(60), generator(), given, Guide.hiding(model, omega)
    )

    slope, intercept, start = guided_path(
        correlation * y, 1 - correlation**2, omega, np.geomspace(10, 0.01, 20_000)
    )
    mean, deviation = intercept + slope * start, abs(slope) * 10
    error = 4.5 / np.sqrt(NUM_ROWS)
    assert rows[:, 0].mean().item() == pytest.approx(mean, abs=error * deviation + 0.01)
    assert rows[:, 0].std().item() == pytest.approx(deviation, rel=error + 0.02)
    if omega:
        plain = np.sqrt(1 - correlation**2)
        assert mean > correlation * y and deviation < plain


@pytest.mark.parametrize('omega', [0.0, 0.6, 2.0])
@pytest.mark.parametrize('first', [0, 1, 2])
def test_category_given_another(first, omega):
    model = DiscreteOracle(JOINT)
    given = given_rows(
        model, np.empty((NUM_ROWS, 0)), np.tile([first, 0], (NUM_ROWS, 1)), [True, False]
    )
    guide = Guide.hiding(model, omega)

    _, codes = sample(model, NUM_ROWS, SamplerSettings(5), generator(), given, guide)
    one_call = level_probabilities(model, SamplerSettings(), given, guide)[0, 3:].exp()

    aware, unaware = JOINT[first] / JOINT[first].sum(), JOINT.sum(0)
    expected = aware ** (1 + omega) / unaware**omega
    expected /= expected.sum()
    assert (codes[:, 0] == first).all()
    assert_same_shares(np.bincount(codes[:, 1], minlength=3), expected)
    assert one_call.numpy() == pytest.approx(expected, abs=1e-5)


SHARES, MEANS, VARIANCE = np.array([0.5, 0.3, 0.2]), np.array([-1.0, 0.3, 1.4]), 0.16


@pytest.mark.parametrize('category', [0, 1, 2])
def test_number_given_its_category(category):
    model = MixedOracle(SHARES, MEANS, VARIANCE)
    given = given_rows(
        model, np.zeros((NUM_ROWS, 1)), np.full((NUM_ROWS, 1), category), [False, True]
    )

    numbers, _ = sample(model, NUM_ROWS, SamplerSettings(60), generator(), given)

    error = 4.5 / np.sqrt(NUM_ROWS)
    assert numbers.mean().item() == pytest.approx(MEANS[category], abs=0.4 * error + 0.005)
    assert numbers.std().item() == pytest.approx(0.4, rel=error + 0.02)


@pytest.mark.parametrize('number', [-0.8, -0.2, 0.9])
def test_category_given_its_number(number):
    model = MixedOracle(SHARES, MEANS, VARIANCE)
    given = given_rows(
        model, np.full((NUM_ROWS, 1), number), np.zeros((NUM_ROWS, 1)), [True, False]
    )

    _, codes = sample(model, NUM_ROWS, SamplerSettings(5), generator(), given)

    posterior = SHARES * norm.pdf(number, MEANS, np.sqrt(VARIANCE))
    assert_same_shares(np.bincount(codes[:, 0], minlength=3), posterior / posterior.sum())


@pytest.mark.parametrize(
    ('correlation', 'y', 'low', 'high'),
    [
        (0.0, 0.0, -1.0, 0.0),
        (0.0, 0.0, 2.0, 3.0),
        (0.8, 2.0, -1.0, 1.0),
        (0.9, -1.0, 1.0, np.inf),
        (0.5, 0.5, -np.inf, -1.0),
    ],
)
def test_number_in_a_range(correlation, y, low, high):
    model = gaussian(np.array([[1, correlation], [correlation, 1]]))
    bounds = [torch.full((NUM_ROWS, 2), sign * torch.inf) for sign in (-1, 1)]
    bounds[0][:, 0], bounds[1][:, 0] = low, high
    given = given_rows(
        model,
        np.tile([0.0, y], (NUM_ROWS, 1)),
        np.empty((NUM_ROWS, 0)),
        [False, True],
        Limits(*bounds, {}),
    )

    numbers = sample(model, NUM_ROWS, SamplerSettings(100), generator(), given)[0][:, 0].numpy()

    deviation = np.sqrt(1 - correlation**2)
    ends = (np.array([low, high]) - correlation * y) / deviation
    exact = truncnorm(*ends, loc=correlation * y, scale=deviation)
    assert low <= numbers.min() and numbers.max() <= high
    # The 99.9 % point of the Kolmogorov-Smirnov distance is 1.95 / sqrt(n). The rest is
    # discretisation, and the noise of 0.01 that is left at time 0: a mean of the last posterior
    # keeps away from the bound by about as much.
    tolerance = 1.95 / np.sqrt(NUM_ROWS) + 0.01 + 0.5 * 0.01 / exact.std()
    assert kstest(numbers, exact.cdf).statistic < tolerance


def test_category_in_a_set():
    model = DiscreteOracle(JOINT)
    weights = torch.tensor([[0.0, -torch.inf, 0.0], [-torch.inf, 0.0, 0.0]])
    set_of = torch.arange(NUM_ROWS) % 2
    nothing = torch.empty(NUM_ROWS, 0)
    given = given_rows(
        model,
        nothing,
        np.tile([1, 0], (NUM_ROWS, 1)),
        [True, False],
        Limits(nothing, nothing, {1: Choice(weights, set_of)}),
    )

    _, codes = sample(model, NUM_ROWS, SamplerSettings(5), generator(), given)

    for number, allowed in enumerate(([0, 2], [1, 2])):
        expected = np.zeros(3)
        expected[allowed] = JOINT[1, allowed] / JOINT[1, allowed].sum()
        found = np.bincount(codes[set_of == number, 1], minlength=3)
        assert_same_shares(found, expected)


def test_known_cells_shown_with_noise_are_still_returned_as_given():
    model = MixedOracle(SHARES, MEANS, VARIANCE)
    x_num = torch.randn(500, 1, generator=generator(3))
    given = given_rows(model, x_num, np.zeros((500, 1)), [True, False])

    numbers, codes = sample(model, 500, SamplerSettings(40, renoise_known=True), generator(), given)

    assert torch.equal(numbers, x_num)
    # The larger the number, the later the category: the noisy number was seen. By chance alone a
    # correlation of 500 rows stays below 4.5 / sqrt(500).
    assert np.corrcoef(numbers[:, 0], codes[:, 0])[0, 1] > 0.2
