"""The reverse process, one piece at a time, against formulas."""

import numpy as np
import pytest
import torch

from sdv_tabdiff.diffusion import MixedDiffusion, NoiseSettings, SamplerSettings, sample
from sdv_tabdiff.diffusion.process import NoisyRows
from sdv_tabdiff.diffusion.sampler import (
    Reveals,
    draw_reveals,
    perturb,
    prior,
    reveal_times,
    reverse_step,
)
from sdv_tabdiff.diffusion.solvers import SOLVERS, euler_step, heun_step, multistep_step
from tests.oracles import TINY, MarginalOracle, assert_same_shares


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


class TestSolvers:
    """Against the exact solution of the probability flow of N(0, v) data.

    There ``D(x, sigma) = v x / (v + sigma^2)``, and a path keeps ``x / sqrt(v + sigma^2)``.
    """

    variance = 0.25

    def denoised(self, x, sigma):
        return self.variance * x / (self.variance + sigma**2)

    def error(self, solver, steps):
        sigmas = torch.logspace(1, -2, steps + 1, dtype=torch.float64)
        x = torch.ones(1, dtype=torch.float64)
        previous = None
        for sigma, next_sigma in zip(sigmas[:-1], sigmas[1:]):
            denoised = self.denoised(x, sigma)
            if solver == 'multistep':
                next_x = multistep_step(x, denoised, previous, sigma, next_sigma)
            else:
                next_x = euler_step(x, denoised, sigma, next_sigma)
            if solver == 'heun':
                ahead = self.denoised(next_x, next_sigma)
                next_x = heun_step(x, denoised, next_x, ahead, sigma, next_sigma)

            previous = (denoised, sigma)
            x = next_x

        scale = torch.sqrt((self.variance + sigmas[-1] ** 2) / (self.variance + sigmas[0] ** 2))
        return abs(x.item() - scale.item())

    @pytest.mark.parametrize(('solver', 'order'), [('euler', 1), ('heun', 2), ('multistep', 2)])
    def test_halving_the_step_divides_the_error_by_two_to_the_order(self, solver, order):
        ratio = self.error(solver, 160) / self.error(solver, 320)

        assert np.log2(ratio) == pytest.approx(order, abs=0.25)

    def test_multistep_beats_euler_at_the_same_number_of_calls(self):
        assert self.error('multistep', 30) < 0.2 * self.error('euler', 30)


def test_the_beginning_has_the_variance_of_noisy_data():
    rows = 100_000
    model = MixedDiffusion(1, [], TINY, NoiseSettings(sigma_max=2.0))

    numbers = prior(model, rows, generator()).x_num.numpy()

    # Data of variance 1 and noise of variance 4.
    assert numbers.var() == pytest.approx(5, abs=4.5 * 5 * np.sqrt(2 / rows))


class TestReverseStepOfCategories:
    def test_the_posterior_of_one_step_is_that_of_the_forward_process(self):
        # Draw x_0, then x_s, then x_t by the forward process, and look at x_s where x_t is masked:
        # that is what a reverse step must draw when the network knows p(x_0).
        shares = torch.tensor([0.5, 0.3, 0.2])
        model = MixedDiffusion(0, [3], TINY)
        num_rows = 200_000
        s, t = torch.full((1, 1), 0.4), torch.full((1, 1), 0.7)
        x_0 = torch.multinomial(shares, num_rows, True, generator=generator(1)).unsqueeze(1)
        nothing = torch.empty(num_rows, 0)
        at_s = model.add_noise(nothing, x_0, s, generator(2))
        at_t = perturb(model, at_s, t, generator(3))
        simulated = at_s.x_cat[at_t.masked]

        rows = NoisyRows(
            nothing, torch.full((num_rows, 1), 3), torch.ones(num_rows, 1).bool(), nothing, t
        )
        uniform = torch.rand(num_rows, 1, generator=generator(4))
        levels = torch.rand(num_rows, 1, dtype=torch.float64, generator=generator(5))
        oracle = MarginalOracle(shares)
        earlier, _ = reverse_step(
            oracle,
            oracle.denoise,
            rows,
            s,
            Reveals(reveal_times(oracle, t, uniform), levels),
            'euler',
            None,
        )

        alpha_s, alpha_t = 0.999 * (1 - 0.4), 0.999 * (1 - 0.7)
        revealed = (alpha_s - alpha_t) / (1 - alpha_t)
        formula = np.append(revealed * shares.numpy(), 1 - revealed)
        assert_same_shares(np.bincount(simulated, minlength=4), formula)
        assert_same_shares(np.bincount(earlier.x_cat.flatten(), minlength=4), formula)
        assert torch.equal(earlier.masked, earlier.x_cat == 3)

    def test_a_visible_category_stays(self):
        oracle = MarginalOracle(torch.tensor([0.5, 0.3, 0.2]))
        codes = torch.tensor([[0], [1], [2]])
        nothing = torch.empty(3, 0)
        rows = NoisyRows(nothing, codes, torch.zeros(3, 1).bool(), nothing, torch.ones(1, 1))

        earlier, _ = reverse_step(
            oracle,
            oracle.denoise,
            rows,
            torch.zeros(1, 1),
            Reveals(torch.ones(3, 1), torch.zeros(3, 1)),
            'euler',
            None,
        )

        assert torch.equal(earlier.x_cat, codes)
        assert not earlier.masked.any()

    def test_columns_of_a_row_are_revealed_one_after_the_other(self):
        model = MixedDiffusion(0, [2] * 10, TINY)

        reveals = draw_reveals(model, prior(model, 500, generator()), 25, generator())

        assert (reveals.at.sort(dim=1).values.diff(dim=1) > 0.09).all()

    def test_rows_of_one_step_share_the_levels_as_the_network_asks(self):
        model = MixedDiffusion(0, [2] * 10, TINY)

        reveals = draw_reveals(model, prior(model, 1000, generator()), 10, generator())

        # A tenth of the time is a tenth of the rows; independent draws would differ by 0.05.
        step = (reveals.at > 0.4) & (reveals.at <= 0.5)
        for column in range(10):
            uniform = reveals.uniform[:, column][step[:, column]]
            for share in (0.1, 0.5, 0.8):
                assert (uniform < share).double().mean() == pytest.approx(share, abs=0.03)


class TestPerturb:
    def test_two_steps_forward_are_as_noisy_as_one(self):
        model = MixedDiffusion(1, [2], TINY)
        num_rows = 100_000
        x_num, x_cat = torch.zeros(num_rows, 1), torch.zeros(num_rows, 1, dtype=torch.int64)
        later = torch.full((1, 1), 0.6)

        halfway = model.add_noise(x_num, x_cat, torch.full((1, 1), 0.5), generator(1))
        rows = perturb(model, halfway, later, generator(2))

        sigma = model.numerical_schedule.sigma(later).item()
        rate = model.categorical_schedule.mask_probability(later).item()
        assert rows.x_num.std().item() == pytest.approx(sigma, rel=4.5 / np.sqrt(2 * num_rows))
        assert_same_shares(np.bincount(rows.masked.flatten().long()), [1 - rate, rate])
        assert (rows.x_cat[rows.masked] == 2).all()

    def test_from_the_beginning_of_the_reverse_process_nothing_changes(self):
        model = MixedDiffusion(2, [3], TINY)
        rows = prior(model, 50, generator())

        perturbed = perturb(model, rows, torch.ones(1, 1), generator(1))

        assert torch.equal(perturbed.x_num, rows.x_num)
        assert perturbed.masked.all()


class TestSample:
    @pytest.mark.parametrize('stochastic', [True, False])
    @pytest.mark.parametrize('solver', SOLVERS)
    @pytest.mark.parametrize('steps', [1, 2, 7])
    @pytest.mark.parametrize(('num_numerical', 'levels'), [(2, [2, 3]), (1, []), (0, [1000])])
    def test_rows_are_whole_whatever_the_settings(
        self, stochastic, solver, steps, num_numerical, levels
    ):
        model = MixedDiffusion(num_numerical, levels, TINY)

        x_num, x_cat = sample(model, 5, SamplerSettings(steps, solver, stochastic), generator())

        assert x_num.shape == (5, num_numerical)
        assert torch.isfinite(x_num).all()
        assert x_cat.shape == (5, len(levels))
        assert (x_cat < torch.tensor(levels)).all()

    def test_the_same_seed_gives_the_same_rows(self):
        model = MixedDiffusion(1, [3], TINY)

        first, second, other = (sample(model, 20, None, generator(seed)) for seed in (1, 1, 2))

        assert all(torch.equal(one, two) for one, two in zip(first, second))
        assert not torch.equal(first[0], other[0])

    @pytest.mark.parametrize('arguments', [{'steps': 0}, {'solver': 'magic'}])
    def test_impossible_settings_are_refused(self, arguments):
        with pytest.raises(ValueError, match=next(iter(arguments))):
            SamplerSettings(**arguments)
