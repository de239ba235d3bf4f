"""The guided prediction, cell by cell."""

import pytest
import torch

from sdv_tabdiff.diffusion import DenoiserSizes, Guide, MixedDiffusion, Roles, precision
from sdv_tabdiff.diffusion.process import NoisyRows

SMALL = DenoiserSizes(trunk_dims=(16,), time_dim=8)


@pytest.fixture(autouse=True)
def full_precision(monkeypatch):
    # What is computed in another order differs by rounding, visibly so in bfloat16.
    monkeypatch.setattr(precision, 'has_bfloat16_units', lambda device_type: False)


@pytest.fixture
def model():
    torch.manual_seed(0)
    return MixedDiffusion(2, [2, 3], SMALL).requires_grad_(False)


@pytest.fixture
def rows(model):
    known = torch.tensor([[True, False, True, False]]).expand(5, -1)
    codes = torch.tensor([[1, 3]]).expand(5, -1)
    t = torch.full((1, 1), 0.6)
    return NoisyRows(
        torch.randn(5, 2),
        codes,
        codes == model.layout.mask_codes,
        model.numerical_schedule.sigma(t),
        t,
        Roles(known, torch.zeros_like(known), 2),
    )


def hidden(model, rows):
    """The same rows, known cells hidden, by hand."""
    codes = rows.x_cat.clone()
    codes[:, 0] = 2
    roles = Roles(torch.zeros_like(rows.roles.known), rows.roles.known, 2)
    return model.denoise(rows._replace(x_cat=codes, roles=roles))


@pytest.mark.parametrize('omega', [0.0, 0.6, 3.0])
def test_it_is_the_formula(model, rows, omega):
    denoised, logits = model.denoise(rows)
    unaware_numbers, unaware_logits = hidden(model, rows)

    numbers, log_p = Guide.hiding(model, omega).sharpen(model, rows, denoised, logits)

    expected = (1 + omega) * denoised - omega * unaware_numbers
    assert torch.allclose(numbers[:, 1], expected[:, 1], atol=1e-5)
    for part in (slice(0, 2), slice(2, 5)):
        aware, unaware = logits[:, part].log_softmax(1), unaware_logits[:, part].log_softmax(1)
        assert torch.allclose(log_p[:, part], (1 + omega) * aware - omega * unaware, atol=1e-5)


def test_a_second_network_guides_its_own_columns_only(model, rows):
    second = model.part([1], [1], SMALL).requires_grad_(False)
    denoised, logits = model.denoise(rows)

    numbers, log_p = Guide(second, [1], [1], 1.0).sharpen(model, rows, denoised, logits)

    assert torch.equal(numbers[:, 0], denoised[:, 0])
    assert torch.allclose(log_p[:, :2], logits[:, :2].log_softmax(1))
    unaware, _ = second.denoise(
        NoisyRows(
            rows.x_num[:, 1:], rows.x_cat[:, 1:], rows.masked[:, 1:], rows.sigma[:, 1:], rows.t
        )
    )
    assert torch.allclose(numbers[:, 1:], 2 * denoised[:, 1:] - unaware, atol=1e-5)


def test_the_guide_does_not_see_known_cells(model, rows):
    guide = Guide.hiding(model, 1.0)
    other = rows._replace(x_num=rows.x_num + torch.tensor([5.0, 0.0]))

    seen = [guide._without_known(model, part) for part in (rows, other)]

    assert torch.equal(model.denoise(seen[0])[0][:, 1], model.denoise(seen[1])[0][:, 1])


def test_a_part_has_the_noise_of_the_whole(model):
    with torch.no_grad():
        model.numerical_schedule.raw.copy_(torch.tensor([1.0, 3.0]))

    part = model.part([1], [0], SMALL)

    t = torch.full((1, 1), 0.4)
    whole = model.numerical_schedule.sigma(t)
    assert part.numerical_schedule.sigma(t).item() == pytest.approx(whole[0, 1].item())
    assert part.layout.levels == (2,)
