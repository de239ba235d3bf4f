"""Schedules against independent formulas and numerical derivatives."""

import numpy as np
import pytest
import torch

from sdv_tabdiff.diffusion import LogLinearSchedule, PowerMeanSchedule

TIMES = torch.linspace(0, 1, 11).unsqueeze(1)


def with_exponents(schedule, exponents):
    """Set the exponents of a schedule by inverting its softplus."""
    values = torch.tensor(exponents) - schedule.floor
    schedule.raw.data = torch.log(torch.expm1(values))
    return schedule


class TestPowerMeanSchedule:
    @pytest.mark.parametrize('rho', [1.5, 3.0, 7.0, 20.0])
    def test_sigma_is_the_formula_of_the_paper(self, rho):
        low, high = 0.002 ** (1 / rho), 80 ** (1 / rho)
        expected = (low + TIMES.double().numpy() * (high - low)) ** rho

        sigma = PowerMeanSchedule(1, rho=rho).sigma(TIMES).detach().numpy()

        np.testing.assert_allclose(sigma, expected, rtol=2e-4)

    def test_each_column_has_its_own_exponent(self):
        schedule = with_exponents(PowerMeanSchedule(2), [3.0, 9.0])

        sigma = schedule.sigma(torch.tensor([[0.5]]))

        expected = [
            PowerMeanSchedule(1, rho=rho).sigma(torch.tensor([[0.5]])) for rho in (3.0, 9.0)
        ]
        assert torch.allclose(sigma, torch.cat(expected, dim=1), rtol=1e-4)

    @pytest.mark.parametrize('rho', [1.5, 7.0, 20.0])
    def test_density_is_the_derivative_of_time_by_log_sigma(self, rho):
        schedule = PowerMeanSchedule(1, rho=rho).double()
        t = torch.linspace(0.05, 0.95, 19, dtype=torch.float64).unsqueeze(1)
        step = 1e-5

        slope = (schedule.sigma(t + step).log() - schedule.sigma(t - step).log()) / (2 * step)

        density = schedule.log_density(schedule.sigma(t).log()).exp()
        np.testing.assert_allclose(density.numpy(), 1 / slope.numpy(), rtol=1e-6)

    def test_importance_weights_make_the_expectation_independent_of_the_exponent(self):
        t = (torch.arange(200_000) + 0.5).unsqueeze(1).double() / 200_000
        schedule = PowerMeanSchedule(1, learnable=True).double()
        expected = schedule.sigma(t).log().sin().mean().item()
        with_exponents(schedule, [3.0])

        log_sigma = schedule.sigma(t).log()
        weighted = (schedule.importance(log_sigma) * log_sigma.sin()).mean().item()

        assert weighted == pytest.approx(expected, abs=1e-4)

    def test_only_a_learnable_schedule_has_parameters(self):
        assert not list(PowerMeanSchedule(2).parameters())
        assert len(list(PowerMeanSchedule(2, learnable=True).parameters())) == 1

    def test_an_exponent_at_the_floor_is_refused(self):
        with pytest.raises(ValueError, match='must be above 1'):
            PowerMeanSchedule(1, rho=1.0)


class TestLogLinearSchedule:
    @pytest.mark.parametrize('k', [0.5, 1.0, 2.0])
    def test_mask_probability_is_the_formula_of_the_paper(self, k):
        expected = 0.999 * TIMES.numpy() ** k + 0.001

        probability = LogLinearSchedule(1, k=k).mask_probability(TIMES)

        np.testing.assert_allclose(probability.detach().numpy(), expected, rtol=1e-4)

    @pytest.mark.parametrize('k', [0.5, 1.0, 3.0])
    def test_weight_is_the_rate_of_masking_over_its_probability(self, k):
        schedule = LogLinearSchedule(1, k=k).double()
        t = torch.linspace(0.05, 0.95, 19, dtype=torch.float64).unsqueeze(1)
        step = 1e-5

        rate = (schedule.alpha(t - step) - schedule.alpha(t + step)) / (2 * step)

        expected = rate / (1 - schedule.alpha(t))
        np.testing.assert_allclose(schedule.weight(t).numpy(), expected.numpy(), rtol=1e-6)

    def test_everything_is_masked_at_time_one(self):
        assert LogLinearSchedule(3).alpha(torch.ones(1, 1)).abs().max() < 1e-6
