"""Held-out rows and the loss on them."""

import torch

from sdv_tabdiff.diffusion import DenoiserSizes, MixedDiffusion, NoiseSettings
from sdv_tabdiff.diffusion.validation import Validation, split_rows


def test_rows_are_either_trained_on_or_held_out():
    kept, held_out = split_rows(1000, 0.1, torch.device('cpu'), torch.Generator().manual_seed(0))

    assert len(held_out) == 100
    assert sorted(torch.cat([kept, held_out]).tolist()) == list(range(1000))


def test_a_tiny_table_holds_nothing_out():
    _, held_out = split_rows(20, 0.1, torch.device('cpu'), torch.Generator().manual_seed(0))

    assert len(held_out) == 0


def test_the_validation_loss_is_the_same_at_every_check():
    sizes = DenoiserSizes(trunk_dims=(16,), time_dim=8)
    model = MixedDiffusion(1, [3], sizes, NoiseSettings(learnable=True))
    generator = torch.Generator().manual_seed(0)
    x_num = torch.randn(40, 1, generator=generator)
    x_cat = torch.randint(0, 3, (40, 1), generator=generator)
    validation = Validation(model, x_num, x_cat, generator)
    first = validation.losses(model)
    for parameter in model.schedule_parameters():
        parameter.data += 1.0

    assert validation.losses(model) == first
