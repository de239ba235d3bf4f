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


@pytest.mark.parametrize('stochastic', [True, False])
def test_discrete_table_with_known_joint_probabilities(stochastic):
    joint = np.array([[0.30, 0.05, 0.05], [0.02, 0.20, 0.08], [0.10, 0.10, 0.10]])
    model = DiscreteOracle(joint)

    _, x_cat = sample(
        model,
        NUM_ROWS,
        SamplerSettings(400, 'euler', stochastic),
        torch.Generator().manual_seed(0),
    )

    counts = np.bincount(x_cat[:, 0] * 3 + x_cat[:, 1], minlength=9)
    # Two categories revealed in the same step are drawn independently of each other, which
    # happens in about one row in 400.
    independent = np.outer(joint.sum(1), joint.sum(0))
    bias = np.abs(independent - joint).ravel() * 2 / 400
    tolerance = 4.5 * np.sqrt(joint.ravel() * (1 - joint.ravel()) / NUM_ROWS) + bias
    assert (np.abs(counts / NUM_ROWS - joint.ravel()) < tolerance).all()
    assert_same_shares(np.bincount(x_cat[:, 0]), joint.sum(1))
    assert_same_shares(np.bincount(x_cat[:, 1]), joint.sum(0))
