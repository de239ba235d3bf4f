"""Run code on CUDA without CUDA: tensors that know their device and hold no data."""

import ctypes
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

# c10::DeviceType, see c10/core/DeviceType.h
CUDA, META = 1, 14


def _lend_device_guard() -> None:
    """Give the CPU build of torch a CUDA device guard: that of 'meta', which does nothing.

    Without one, autograd refuses to record an operation on a CUDA tensor, even a fake one.
    """
    if torch.version.cuda is not None:
        return

    library = ctypes.CDLL(str(Path(torch.__file__).parent / 'lib' / 'libc10.so'))
    registry = (ctypes.c_void_p * (META + 1)).in_dll(
        library, '_ZN3c104impl26device_guard_impl_registryE'
    )
    registry[CUDA] = registry[META]


@contextmanager
def fake_cuda() -> Iterator[list[nn.Parameter]]:
    """A context in which ``device='cuda'`` works, and mixing devices raises.

    The backward pass itself needs a real accelerator. It follows the devices of the forward pass,
    so here it only leaves a gradient at each of the parameters that the caller puts into the list.
    """
    _lend_device_guard()

    def backward(loss: torch.Tensor) -> None:
        assert loss.requires_grad and loss.device.type == 'cuda'
        for parameter in parameters:
            parameter.grad = torch.empty_like(parameter)

    parameters: list[nn.Parameter] = []
    with (
        FakeTensorMode() as mode,
        patch.object(torch.Tensor, 'backward', backward),
        # A deep copy of a fake tensor would otherwise copy the mode, and modes do not mix.
        patch.object(FakeTensorMode, '__deepcopy__', lambda self, memo: mode, create=True),
        warnings.catch_warnings(),
    ):
        warnings.filterwarnings('ignore', message='CUDA is not available')
        warnings.filterwarnings('ignore', message='Accessing the data pointer of FakeTensor')
        yield parameters
