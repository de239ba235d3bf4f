"""Products of matrices in the precision that the hardware is made for."""

import pytest
import torch

from sdv_tabdiff.diffusion import CategoryLayout, Denoiser, DenoiserSizes, precision
from sdv_tabdiff.diffusion.muon import orthogonalised

CPU = torch.device('cpu')
BFLOAT16_STEP = 2.0**-8


@pytest.fixture(params=[True, False], ids=['units', 'no units'])
def units(request, monkeypatch):
    monkeypatch.setattr(precision, 'has_bfloat16_units', lambda device_type: request.param)
    return request.param


def matrices(dtype):
    generator = torch.Generator().manual_seed(0)
    return (torch.randn(8, 8, generator=generator, dtype=dtype) for _ in range(2))


def test_products_of_float32_use_the_units_that_there_are(units):
    one, other = matrices(torch.float32)
    with precision.fast_products(CPU):
        product = one @ other

    assert product.dtype == (torch.bfloat16 if units else torch.float32)
    # Both factors are rounded; eight terms of about 1 add up.
    error = (product.float() - one @ other).abs().max()
    assert error < (40 * BFLOAT16_STEP if units else 1e-12)


def test_products_of_float64_are_left_alone(units):
    one, other = matrices(torch.float64)
    with precision.fast_products(CPU):
        product = one @ other

    assert product.dtype == torch.float64
    assert precision.product_dtype(one) == torch.float64


def test_orthogonalised_matrices_are_near_those_of_float64(units):
    stack = torch.randn(2, 24, 12, generator=torch.Generator().manual_seed(0))
    exact = orthogonalised(stack.double())

    found = orthogonalised(stack)

    assert found.dtype == torch.float32
    assert (found - exact).abs().max() < (10 * BFLOAT16_STEP if units else 1e-5)


@pytest.mark.parametrize('times', [1, 6])
def test_denoised_rows_are_near_those_of_exact_products(units, times):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        denoiser = Denoiser(2, CategoryLayout([3]), DenoiserSizes(trunk_dims=(16, 16)))
        x_num, x_cat, t = torch.randn(6, 2), torch.randint(0, 4, (6, 1)), torch.rand(times, 1)

    with torch.no_grad():
        exact = denoiser(x_num, x_cat, 1 + t.expand(-1, 2), t)
        with precision.fast_products(CPU):
            found = denoiser(x_num, x_cat, 1 + t.expand(-1, 2), t)

    for ours, theirs in zip(found, exact):
        assert ours.dtype == torch.float32
        assert (ours - theirs).abs().max() < (20 * BFLOAT16_STEP if units else 1e-12)


@pytest.mark.parametrize('device_type', ['cpu', 'cuda', 'mps', 'xpu'])
def test_any_device_may_be_asked(device_type):
    assert precision.has_bfloat16_units(device_type) in (True, False)


def test_units_are_those_of_the_processor(monkeypatch):
    answers = {'_is_avx512_bf16_supported': False, '_is_amx_tile_supported': False}
    for name, answer in answers.items():
        monkeypatch.setattr(torch.cpu, name, lambda answer=answer: answer, raising=False)

    assert not precision.has_bfloat16_units.__wrapped__('cpu')

    monkeypatch.setattr(torch.cpu, '_is_amx_tile_supported', lambda: True)
    assert precision.has_bfloat16_units.__wrapped__('cpu')
