"""Learning rate, clock and running mean."""

import math

import pytest
import torch

from sdv_tabdiff.diffusion import DenoiserSizes, MixedDiffusion
from sdv_tabdiff.diffusion.course import WIND_DOWN_SHARE, Course, ExponentialMovingAverage


class TestCourse:
    def test_the_learning_rate_warms_up_and_ends_at_zero(self):
        course = Course(1000, None)
        factors = []
        for course.step in (0, 10, 20, 510, 1000):
            factors.append(course.learning_rate_factor())

        assert factors == pytest.approx([0.05, 0.5, 1.0, 0.5, 0.0], abs=1e-9)

    def test_winding_down_goes_to_zero_from_where_the_learning_rate_is(self):
        course = Course(1000, None)
        course.step = 400
        before = course.learning_rate_factor()

        course.wind_down()

        assert course.total_steps == 400 + math.ceil(WIND_DOWN_SHARE * 400)
        assert course.learning_rate_factor() == pytest.approx(before)
        course.step = (course.total_steps + 400) // 2
        assert course.learning_rate_factor() == pytest.approx(before / 2)
        course.step = course.total_steps
        assert course.learning_rate_factor() == 0
        assert course.is_over

    @pytest.mark.parametrize('step', [1, 990, 1000])
    def test_winding_down_never_makes_a_run_longer(self, step):
        course = Course(1000, None)
        course.step = step

        course.wind_down()

        assert course.total_steps <= 1000
        assert 0 <= course.learning_rate_factor() <= 1

    def test_the_clock_counts_as_well(self):
        course = Course(1000, max_seconds=1e-9)

        assert course.out_of_time
        assert course.used == 1.0


class TestExponentialMovingAverage:
    def test_it_is_the_recursion_with_a_warm_up(self):
        model = MixedDiffusion(1, [3], DenoiserSizes(trunk_dims=(16,), time_dim=8))
        ema = ExponentialMovingAverage(model, decay=0.5)
        expected = next(ema.model.parameters()).clone()

        for update in range(5):
            with torch.no_grad():
                next(model.parameters()).add_(1.0)

            ema.update()
            decay = min(0.5, (1 + update) / (10 + update))
            expected = decay * expected + (1 - decay) * next(model.parameters())

        assert torch.allclose(next(ema.model.parameters()), expected)
