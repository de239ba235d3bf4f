"""The sampler alone, with exact posterior means and conditionals in place of a network.

What remains is the error of the discretisation, which the number of steps makes small.
"""

import numpy as np
import pytest
import torch

from sdv_tabdiff.diffusion import SamplerSettings, sample
from tests.oracles import DiscreteOracle, GaussianOracle, assert_same_shares

NUM_ROWS = 40_000


@pytest.mark.parametrize('stochastic', [True, False])
@pytest.mark.parametrize('solver', ['heun', 'multistep'])
def test_gaussian_with_known_correlation(solver, stochastic):
    covariance = np.array([[1.0, 0.8], [0.8, 1.0]])
    model = GaussianOracle(covariance)

    x_num, _ = sample(
        model,
        NUM_ROWS,
        SamplerSettings(60, solver, stochastic),
        torch.Generator().manual_seed(0),
    )

    error = 4.5 / np.sqrt(NUM_ROWS)
    assert np.abs(x_num.mean(0).numpy()).max() < error
    # Standard errors: sqrt(2 / n) of a variance, (1 - r^2) / sqrt(n) of a correlation; the rest is
    # discretisation.
    assert x_num.var(0).numpy() == pytest.approx([1.0, 1.0], abs=np.sqrt(2) * error + 0.02)
    assert np.corrcoef(x_num.T)[0, 1] == pytest.approx(0.8, abs=0.36 * error + 0.005)


def test_euler_needs_more_steps_than_a_second_order_solver():
    model = GaussianOracle(np.eye(1))
    variances = {
        solver: sample(
            model, NUM_ROWS, SamplerSettings(20, solver, False), torch.Generator().manual_seed(0)
        )[0].var().item()
        for solver in ('euler', 'multistep')
    }  # fmt: skip

    assert abs(variances['multistep'] - 1) < 0.5 * abs(variances['euler'] - 1)


JOINT = np.array([[0.30, 0.05, 0.05], [0.02, 0.20, 0.08], [0.10, 0.10, 0.10]])


def sampled_counts(steps, stochastic):
    _, x_cat = sample(
        DiscreteOracle(JOINT),
        NUM_ROWS,
        SamplerSettings(steps, 'euler', stochastic),
        torch.Generator().manual_seed(0),
    )
    return np.bincount(x_cat[:, 0] * 3 + x_cat[:, 1], minlength=9)


@pytest.mark.parametrize('steps', [2, 3, 50])
def test_discrete_table_is_exact_with_as_many_steps_as_columns(steps):
    assert_same_shares(sampled_counts(steps, stochastic=False), JOINT.ravel())


def test_discrete_table_with_the_stochastic_sampler():
    counts = sampled_counts(200, stochastic=True)

    # A category masked anew may be revealed together with another, and is then drawn
    # independently of it: in about one row in 200.
    independent = np.outer(JOINT.sum(1), JOINT.sum(0))
    bias = np.abs(independent - JOINT).ravel() / 200
    tolerance = 4.5 * np.sqrt(JOINT.ravel() * (1 - JOINT.ravel()) / NUM_ROWS) + bias
    assert (np.abs(counts / NUM_ROWS - JOINT.ravel()) < tolerance).all()


def test_marginals_are_right_even_when_everything_is_revealed_at_once():
    counts = sampled_counts(1, stochastic=False).reshape(3, 3)

    assert_same_shares(counts.sum(1), JOINT.sum(1))
    assert_same_shares(counts.sum(0), JOINT.sum(0))
