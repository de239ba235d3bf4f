"""In which precision products of matrices are computed."""

from contextlib import AbstractContextManager, nullcontext
from functools import cache

import torch
from torch import Tensor


@cache
def has_bfloat16_units(device_type: str) -> bool:
    """Whether the hardware multiplies matrices of bfloat16, and does not only pretend to.

    With units for it (AVX512-BF16, AMX, tensor cores) such products take half the time of those of
    float32 or less; without, they take up to a hundred times as long.
    """
    if device_type == 'cuda':
        return torch.cuda.is_available() and torch.cuda.is_bf16_supported(including_emulation=False)
    if device_type == 'cpu':
        asked = ('_is_avx512_bf16_supported', '_is_amx_tile_supported')
        return any(getattr(torch.cpu, name, lambda: False)() for name in asked)

    return False


def fast_products(device: torch.device) -> AbstractContextManager:
    """A context in which products of float32 matrices are computed as fast as the device can.

    Weights, sums, norms and losses stay in float32, and what a product adds up does, too. Products
    of float64 matrices are left as they are.
    """
    if has_bfloat16_units(device.type):
        return torch.autocast(device.type, dtype=torch.bfloat16)

    return nullcontext()


def product_dtype(matrix: Tensor) -> torch.dtype:
    """The dtype in which products of a matrix are fastest; its own, if that is not float32."""
    fast = matrix.dtype == torch.float32 and has_bfloat16_units(matrix.device.type)
    return torch.bfloat16 if fast else matrix.dtype
