"""The training loop: running mean, budget, stopping, and what happens when things go wrong."""

import math
import time

import pytest
import torch

from sdv_tabdiff.diffusion import (
    DenoiserSizes,
    MixedDiffusion,
    NoiseSettings,
    NonFiniteLossError,
    TrainingSettings,
    train,
)
from sdv_tabdiff.diffusion.trainer import TIE, copy_weights, numerical_share
from sdv_tabdiff.diffusion.validation import Validation, split_rows

SMALL = DenoiserSizes(trunk_dims=(16,), time_dim=8)
NEVER = -math.inf


def build(learnable=False, seed=0):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return MixedDiffusion(1, [3], SMALL, NoiseSettings(learnable=learnable))


def rows(num_rows=400, seed=0):
    generator = torch.Generator().manual_seed(seed)
    codes = torch.randint(0, 3, (num_rows, 1), generator=generator, dtype=torch.int32)
    return codes + 0.1 * torch.randn(num_rows, 1, generator=generator) - 1, codes


def run(model, settings, data=None, seed=0):
    return list(train(model, *(data or rows()), settings, torch.Generator().manual_seed(seed)))


def equal_weights(one, other):
    return all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize(
    ('num_numerical', 'levels', 'by_column', 'by_kind'),
    [(3, [2], 0.75, 0.5), (2, [], 1.0, 1.0), (0, [2, 2], 0.0, 0.0)],
)
def test_every_column_or_every_kind_of_column_counts_the_same(
    num_numerical, levels, by_column, by_kind
):
    model = MixedDiffusion(num_numerical, levels, SMALL)

    assert numerical_share(model, 'column') == by_column
    assert numerical_share(model, 'kind') == by_kind


class TestTrain:
    def test_it_learns(self):
        reports = run(build(), TrainingSettings(epochs=40, batch_size=64, min_transfer=NEVER))

        assert reports[-1].validation_loss < 0.85 * reports[0].validation_loss
        assert [report.epoch for report in reports] == list(range(1, 41))

    def test_the_same_seed_gives_the_same_weights(self):
        models = [build(), build()]
        for model in models:
            run(model, TrainingSettings(epochs=3, batch_size=64))

        assert equal_weights(*(model.state_dict() for model in models))

    def test_the_best_weights_are_kept(self):
        model = build()
        data = rows()
        # Thirty rows, learned by heart: the held-out loss must rise at some point.
        reports = run(
            model,
            TrainingSettings(
                epochs=1000,
                batch_size=64,
                validation_share=0.5,
                learning_rate=2e-2,
                min_transfer=NEVER,
                conditional_share=0.0,
            ),
            tuple(part[:60] for part in data),
        )
        best = min(reports, key=lambda report: report.validation_loss)

        assert best.validation_loss < reports[-1].validation_loss
        generator = torch.Generator().manual_seed(0)
        _, held_out = split_rows(60, 0.5, torch.device('cpu'), generator)
        x_num, x_cat = data[0][held_out], data[1][held_out].long()
        validation = Validation(build(), x_num, x_cat, generator)
        joint = sum(validation.losses(model.eval())).item() / 2
        assert best.validation_loss * (1 - 1e-5) < joint < best.validation_loss * (1 + 2 * TIE)

    def test_it_stops_when_the_validation_loss_no_longer_falls(self):
        reports = run(
            build(),
            TrainingSettings(epochs=20_000, batch_size=64, learning_rate=1e-2),
            tuple(part[:100] for part in rows()),
        )

        assert len(reports) < 4_000

    def test_dropout_as_given(self):
        model = build()
        run(model, TrainingSettings(epochs=3, batch_size=64, dropout=0.25))

        assert model.denoiser.trunk.dropout == 0.25

    def test_the_global_random_numbers_are_left_alone(self):
        expected = torch.random.get_rng_state()
        model = build()
        run(model, TrainingSettings(epochs=3, batch_size=64, dropout=0.25))

        assert torch.equal(torch.random.get_rng_state(), expected)

    def test_it_respects_the_clock(self):
        started = time.monotonic()
        reports = run(
            build(), TrainingSettings(epochs=1_000_000, min_transfer=NEVER, max_seconds=0.5)
        )

        assert time.monotonic() - started < 5
        assert reports[-1].seconds >= 0.5

    def test_nothing_is_held_out_if_so_wished(self):
        model = build()
        reports = run(model, TrainingSettings(epochs=3, batch_size=64, validation_share=0.0))

        assert all(math.isnan(report.validation_loss) for report in reports)
        assert all(report.is_best for report in reports)

    def test_learnable_schedules_move(self):
        model = build(learnable=True)
        before = [parameter.clone() for parameter in model.schedule_parameters()]
        run(model, TrainingSettings(epochs=5, batch_size=64, schedule_every=1))

        assert all((one != other).any() for one, other in zip(before, model.schedule_parameters()))

    def test_an_abandoned_run_leaves_the_best_weights(self):
        model = build()
        start = copy_weights(model)
        reports = train(
            model, *rows(), TrainingSettings(epochs=100), torch.Generator().manual_seed(0)
        )
        next(reports)
        during = copy_weights(model)
        reports.close()

        assert not equal_weights(model.state_dict(), start)
        assert not equal_weights(model.state_dict(), during)

    def test_a_passing_non_finite_loss_is_survived(self):
        model = build()
        x_num, x_cat = rows()
        reports = train(
            model, x_num, x_cat, TrainingSettings(epochs=12, batch_size=64),
            torch.Generator().manual_seed(0),
        )  # fmt: skip
        collected = [next(reports)]
        with torch.no_grad():
            next(model.denoiser.parameters()).fill_(math.nan)

        collected += list(reports)

        assert len(collected) == 11
        assert all(math.isfinite(report.loss) for report in collected)
        assert all(torch.isfinite(value).all() for value in model.state_dict().values())

    @pytest.mark.parametrize('epochs', [1, 2, 50])
    def test_a_lasting_non_finite_loss_is_an_error_that_says_what_to_do(self, epochs):
        model = build()
        x_num, x_cat = rows()
        x_num[:] = 1e30

        with pytest.raises(NonFiniteLossError, match="Lower 'learning_rate'"):
            run(model, TrainingSettings(epochs=epochs, batch_size=64), (x_num, x_cat))

        assert all(torch.isfinite(value).all() for value in model.state_dict().values())
