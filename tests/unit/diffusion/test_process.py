"""The forward process, the loss, and the gradient of learnable schedules."""

import itertools

import numpy as np
import pytest
import torch

from sdv_tabdiff.diffusion import DenoiserSizes, MixedDiffusion, NoiseSettings, Roles
from sdv_tabdiff.diffusion.process import (
    NoisyRows,
    numerical_errors,
    schedule_objective,
    stratified_times,
)

SMALL = DenoiserSizes(trunk_dims=(16,), time_dim=8)


def build(num_numerical, levels, learnable=False, seed=0):
    torch.manual_seed(seed)
    return MixedDiffusion(num_numerical, levels, SMALL, NoiseSettings(learnable=learnable))


class TestStratifiedTimes:
    def test_one_time_in_each_stratum(self):
        times = stratified_times(1000, 'cpu', torch.Generator().manual_seed(0)).flatten()

        assert sorted((times * 1000).floor().long().tolist()) == list(range(1000))
        assert times.min() > 0

    def test_the_order_is_random(self):
        times = stratified_times(1000, 'cpu', torch.Generator().manual_seed(0)).flatten()

        # Rank correlation of independent orders has standard deviation 1 / sqrt(n).
        assert abs(np.corrcoef(times.numpy(), np.arange(1000))[0, 1]) < 4.5 / np.sqrt(1000)


class TestAddNoise:
    num_rows = 50_000

    def noisy(self, t, x_num=1.5):
        model = build(1, [3])
        x_num = torch.full((self.num_rows, 1), x_num)
        x_cat = torch.ones((self.num_rows, 1), dtype=torch.int64)
        times = torch.full((self.num_rows, 1), t)
        return model, model.add_noise(x_num, x_cat, times, torch.Generator().manual_seed(0))

    @pytest.mark.parametrize('t', [0.1, 0.5, 0.9])
    def test_numbers_are_gaussian_around_the_clean_value(self, t):
        model, noisy = self.noisy(t)
        sigma = model.numerical_schedule.sigma(torch.tensor([[t]])).item()
        standard = ((noisy.x_num - 1.5) / sigma).numpy()

        assert standard.mean() == pytest.approx(0, abs=4.5 / np.sqrt(self.num_rows))
        assert standard.std() == pytest.approx(1, abs=4.5 / np.sqrt(2 * self.num_rows))

    @pytest.mark.parametrize('t', [0.1, 0.5, 0.9])
    def test_categories_are_masked_at_the_scheduled_rate(self, t):
        _, noisy = self.noisy(t)
        rate = 0.999 * t + 0.001

        assert noisy.masked.float().mean().item() == pytest.approx(
            rate, abs=4.5 * np.sqrt(rate * (1 - rate) / self.num_rows)
        )
        assert (noisy.x_cat[noisy.masked] == 3).all()
        assert (noisy.x_cat[~noisy.masked] == 1).all()

    def test_a_row_without_a_number_gets_a_standard_normal(self):
        model, noisy = self.noisy(0.5, x_num=torch.nan)
        sigma = model.numerical_schedule.sigma(torch.tensor([[0.5]])).item()

        expected = np.sqrt(1 + sigma**2)
        assert noisy.x_num.std().item() == pytest.approx(
            expected, rel=4.5 / np.sqrt(2 * self.num_rows)
        )


class TestLosses:
    def test_numerical_error_has_the_weight_of_the_paper(self):
        noisy = NoisyRows(
            torch.tensor([[0.5]]), torch.empty(1, 0), torch.empty(1, 0),
            torch.tensor([[2.0]]), torch.tensor([[0.5]]),
        )  # fmt: skip

        error = numerical_errors(torch.tensor([[1.0]]), torch.tensor([[3.0]]), noisy)

        assert error.item() == pytest.approx((4 + 1) / 4 * (1 - 3) ** 2)

    def test_the_posterior_mean_is_perfect_where_a_row_has_no_number(self):
        noisy = NoisyRows(
            torch.tensor([[0.5]]), torch.empty(1, 0), torch.empty(1, 0),
            torch.tensor([[2.0]]), torch.tensor([[0.5]]),
        )  # fmt: skip

        error = numerical_errors(torch.tensor([[0.1]]), torch.tensor([[torch.nan]]), noisy)

        assert error.item() == pytest.approx(0)

    def test_only_masked_categories_count(self):
        model = build(0, [3, 3])
        x_num, x_cat = torch.empty(2, 0), torch.tensor([[0, 1], [2, 0]])
        masked = torch.tensor([[True, False], [False, False]])
        t = torch.full((2, 1), 0.5)
        noisy = NoisyRows(x_num, torch.where(masked, 3, x_cat), masked, torch.empty(2, 0), t)

        losses = model.losses(x_num, x_cat, noisy)

        _, cross_entropy = model.cell_errors(x_num, x_cat, noisy)
        # One of two categories is masked: (n + 1) / m.
        assert losses.categorical.item() == pytest.approx(3 * cross_entropy[0, 0].item() / 4)

    @pytest.mark.parametrize(('num_numerical', 'levels'), [(2, []), (0, [2])])
    def test_a_table_with_one_kind_of_column_has_one_loss(self, num_numerical, levels):
        model = build(num_numerical, levels)
        x_num = torch.zeros(8, num_numerical)
        x_cat = torch.zeros(8, len(levels), dtype=torch.int64)
        noisy = model.add_noise(x_num, x_cat, stratified_times(8, 'cpu'))

        losses = model.losses(x_num, x_cat, noisy)

        assert (losses.numerical.item() > 0) == (num_numerical > 0)
        assert (losses.categorical.item() > 0) == bool(levels)


class TestCategoryWeights:
    """``(n + 1) / m`` of a fixed schedule, against ``1 / t``."""

    num_rows = 200_000

    def draws(self, roles=None):
        model = build(0, [2] * 4)
        x_cat = torch.zeros((self.num_rows, 4), dtype=torch.int64)
        generator = torch.Generator().manual_seed(0)
        t = stratified_times(self.num_rows, 'cpu', generator)
        x_num = torch.zeros((self.num_rows, 0))
        return model, model.add_noise(x_num, x_cat, t, generator, roles)

    def test_the_mean_loss_is_the_same_with_less_noise(self):
        model, noisy = self.draws()
        # Any loss that depends on what is masked: harder if more is, and unequal among columns.
        loss = noisy.masked.sum(1, keepdim=True) * torch.tensor([1.0, 2.0, 3.0, 4.0])

        ours = (model.category_weights(noisy) * loss).sum(1)
        bound = (model.categorical_schedule.weight(noisy.t) * noisy.masked * loss).sum(1)

        error = 4.5 * float((ours.var() + bound.var()).sqrt()) / np.sqrt(self.num_rows)
        assert float(ours.mean()) == pytest.approx(float(bound.mean()), abs=error)
        assert ours.std() < 0.8 * bound.std()

    def test_only_wanted_cells_are_counted(self):
        known = torch.tensor([[True, False, False, True]]).expand(self.num_rows, -1)
        roles = Roles(known, torch.zeros_like(known), 0)
        model, noisy = self.draws(roles)

        weights = model.category_weights(noisy)

        assert (weights[:, [0, 3]] == 0).all()
        both, one = noisy.masked.sum(1) == 2, noisy.masked.sum(1) == 1
        assert (weights[both].sum(1) == 3).all()
        assert (weights[one].sum(1) == 3).all()

    def test_learnable_schedules_keep_the_bound(self):
        model = build(0, [2, 2], learnable=True)
        masked = torch.tensor([[True, False]])
        t = torch.tensor([[0.25]])
        noisy = NoisyRows(torch.zeros(1, 0), torch.zeros(1, 2).long(), masked, t, t)

        expected = model.categorical_schedule.weight(t)[0, 0].item()
        assert model.category_weights(noisy).tolist() == [[pytest.approx(expected), 0.0]]


class TestScheduleObjective:
    """Gradients of learnable schedules against finite differences of their stated objectives."""

    def test_categorical_gradient_agrees_with_the_exact_bound(self):
        model = build(0, [2, 3], learnable=True, seed=1)
        x_num = torch.empty(1, 0)
        x_cat = torch.tensor([[0, 2]])
        exact = self.finite_differences(
            model.categorical_schedule.raw, lambda: self.exact_bound(model, x_cat)
        )

        estimates = self.estimates(model, x_num, x_cat, lambda: model.categorical_schedule.raw.grad)

        error = estimates.std(0) / np.sqrt(len(estimates))
        assert np.abs(exact).max() > 5 * error.max(), 'the test must be able to tell 0 from exact'
        assert (np.abs(estimates.mean(0) - exact) < 4.5 * error).all()

    def test_a_single_category_has_no_gradient(self):
        model = build(0, [3], learnable=True)

        estimates = self.estimates(
            model,
            torch.empty(1, 0),
            torch.tensor([[1]]),
            lambda: model.categorical_schedule.raw.grad,
        )

        assert abs(estimates.mean()) < 4.5 * estimates.std() / np.sqrt(len(estimates))

    @pytest.mark.parametrize('num_numerical', [1, 2])
    def test_numerical_gradient_agrees_with_the_second_moment(self, num_numerical):
        model = build(num_numerical, [], learnable=True)
        x_num = torch.tensor([[0.3, -1.0]])[:, :num_numerical]
        model.numerical_schedule.raw.data = torch.tensor([4.0, 5.0])[:num_numerical]
        profile = self.loss_profile(model, x_num)
        exact = self.finite_differences(
            model.numerical_schedule.raw, lambda: self.second_moment(model, *profile)
        )

        estimates = self.estimates(
            model,
            x_num,
            torch.empty(1, 0, dtype=torch.int64),
            lambda: model.numerical_schedule.raw.grad,
        )

        error = estimates.std(0) / np.sqrt(len(estimates))
        assert np.abs(exact).max() > 5 * error.max(), 'the test must be able to tell 0 from exact'
        # The oracle is itself an average over noise, with about a percent of error.
        assert (np.abs(estimates.mean(0) - exact) < 4.5 * error + 0.03 * np.abs(exact)).all()

    def test_the_profile_of_a_single_column_does_not_depend_on_its_schedule(self):
        # So the objective of a table with one number is E[(w l)^2] with nothing held fixed.
        model = build(1, [], learnable=True)
        x_num = torch.tensor([[0.3]])
        before = self.second_moment(model, *self.loss_profile(model, x_num))
        profile = self.loss_profile(model, x_num)
        model.numerical_schedule.raw.data -= 2.0

        direct = self.second_moment(model, *self.loss_profile(model, x_num))

        reweighted = self.second_moment(model, *profile)
        assert abs(direct - before) > 0.02 * before
        assert direct == pytest.approx(reweighted, rel=0.03)

    @staticmethod
    def estimates(model, x_num, x_cat, gradient, repeats=60, num_rows=4096):
        """Independent estimates of a gradient, each from ``num_rows`` copies of one row."""
        generator = torch.Generator().manual_seed(0)
        found = []
        for _ in range(repeats):
            model.zero_grad()
            schedule_objective(
                model, x_num.repeat(num_rows, 1), x_cat.repeat(num_rows, 1), generator
            ).backward()
            found.append(gradient().clone().numpy())

        return np.stack(found)

    @staticmethod
    def finite_differences(raw, objective, step=0.05):
        gradient = []
        for index in range(len(raw)):
            values = []
            for sign in (1, -1):
                with torch.no_grad():
                    raw[index] += sign * step
                    values.append(objective())
                    raw[index] -= sign * step

            gradient.append((values[0] - values[1]) / (2 * step))

        return np.array(gradient)

    @staticmethod
    @torch.no_grad()
    def exact_bound(model, x_cat, num_times=20_000):
        """The categorical loss by quadrature over time and enumeration of all masks."""
        t = (torch.arange(num_times) + 0.5).unsqueeze(1) / num_times
        probability = model.categorical_schedule.mask_probability(t)
        rows = x_cat.expand(num_times, -1)
        nothing = torch.empty(num_times, 0)
        total = 0.0
        for pattern in itertools.product([False, True], repeat=x_cat.shape[1]):
            masked = torch.tensor(pattern).expand(num_times, -1)
            noisy_cat = torch.where(masked, model.layout.mask_codes, rows)
            noisy = NoisyRows(nothing, noisy_cat, masked, nothing, t)
            _, cross_entropy = model.cell_errors(nothing, rows, noisy)
            chance = torch.where(masked, probability, 1 - probability).prod(1)
            loss = (model.category_weights(noisy) * cross_entropy).sum(1)
            total += (chance * loss).double().mean().item()

        return total / x_cat.shape[1]

    @staticmethod
    @torch.no_grad()
    def loss_profile(model, x_num, num_times=400_000):
        """Log noise levels drawn with the present schedules, their density, and the losses."""
        t = (torch.arange(num_times) + 0.5).unsqueeze(1) / num_times
        generator = torch.Generator().manual_seed(1)
        rows = x_num.expand(num_times, -1)
        no_codes = torch.empty(num_times, 0, dtype=torch.int64)
        noisy = model.add_noise(rows, no_codes, t, generator)
        errors, _ = model.cell_errors(rows, no_codes, noisy)
        log_sigma = noisy.sigma.log()
        return log_sigma, model.numerical_schedule.log_density(log_sigma).exp(), errors

    @staticmethod
    @torch.no_grad()
    def second_moment(model, log_sigma, density, errors):
        """Mean over columns of ``integral q^2 g / p_rho du`` from draws with a given density."""
        schedule = model.numerical_schedule
        target = schedule.importance(log_sigma) * schedule.log_density(log_sigma).exp()
        integrand = target**2 * errors**2 / schedule.log_density(log_sigma).exp()
        return (integrand / density).double().mean().item()


class TestRoles:
    def noisy(self, t=0.9):
        model = MixedDiffusion(2, [3, 4], DenoiserSizes(trunk_dims=(8,), time_dim=4))
        x_num = torch.randn(200, 2, generator=torch.Generator().manual_seed(0))
        x_num[:50, 0] = torch.nan
        x_cat = torch.randint(0, 3, (200, 2), generator=torch.Generator().manual_seed(1))
        known = torch.tensor([[True, False, True, False]]).expand(200, -1)
        hidden = torch.tensor([[False, True, False, True]]).expand(200, -1)
        roles = Roles(known, hidden, 2)
        times = torch.full((200, 1), t)
        generator = torch.Generator().manual_seed(2)
        return model, x_num, x_cat, model.add_noise(x_num, x_cat, times, generator, roles)

    def test_known_cells_stay_clean(self):
        _, x_num, x_cat, noisy = self.noisy()

        assert torch.equal(noisy.x_num[:, 0], x_num[:, 0].nan_to_num())
        assert torch.equal(noisy.x_cat[:, 0], x_cat[:, 0])

    @pytest.mark.parametrize('t', [0.1, 0.9])
    def test_hidden_categories_are_masked_and_not_to_be_predicted(self, t):
        *_, noisy = self.noisy(t)

        assert (noisy.x_cat[:, 1] == 4).all()
        assert not noisy.masked.any()

    def test_neither_counts_in_the_loss(self):
        model, x_num, x_cat, noisy = self.noisy()

        losses = model.losses(x_num, x_cat, noisy)

        assert losses.numerical.item() == 0
        assert losses.categorical.item() == 0

    def test_no_share_means_no_roles(self):
        assert self.noisy()[0].draw_roles(10, 0.0) is None
