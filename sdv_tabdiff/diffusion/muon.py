"""Muon: steps along the orthogonalised momentum of a weight matrix (Jordan et al. 2024).

A gradient of a matrix has a few large singular values and many small ones. Setting all of them to 1
moves every direction of the matrix at the same pace, where Adam mostly moves the large ones: the
network learns more in each step. PyTorch's own version always computes in bfloat16, for which most
CPUs have no units.
"""

import math
from collections.abc import Iterable

import torch
from torch import Tensor

from sdv_tabdiff.diffusion.precision import product_dtype

# Odd quintic polynomials ``a x + b x^3 + c x^5``. Each takes the interval that the one before leads
# to as close to 1 as such a polynomial can, beginning with [0.01, 1] (Amsel et al. 2025, 'The Polar
# Express', show that no other three do better).
POLYNOMIALS = (
    (8.0934, -23.6204, 17.4462),
    (3.6366, -2.7219, 0.5365),
    (2.6613, -1.9772, 0.4526),
)

# Root mean square of the entries of one of Adam's steps, in learning rates: with it, both take the
# same learning rate (Liu et al. 2025, 'Muon is scalable').
ADAM_RMS = 0.2


def orthogonalised(matrices: Tensor) -> Tensor:
    """Matrices with the same singular vectors and singular values near 1.

    Only products of matrices are needed, no decomposition.

    Args:
        matrices: Shape ``(count, rows, columns)``.

    Returns:
        Tensor:
            Same shape. Singular values above a hundredth of the norm become 0.73 to 1.27; smaller
            ones grow 78-fold.
    """
    tall = matrices.shape[1] > matrices.shape[2]
    x = matrices.mT if tall else matrices
    # The norm bounds all singular values; a little less than 1 leaves room for rounding.
    x = x / (1.01 * x.norm(dim=(1, 2), keepdim=True)).clamp(min=1e-7)
    # Three digits are enough for singular values that are only near 1.
    x = x.to(product_dtype(x))
    for a, b, c in POLYNOMIALS:
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)

    return (x.mT if tall else x).to(matrices.dtype)


class Muon(torch.optim.Optimizer):
    """Optimiser of weight matrices.

    Args:
        parameters: Matrices.
        lr: Learning rate, on the scale of Adam's.
        momentum: Decay of the running mean of the gradients.
        turns: Matrices of one shape take turns: each moves only every so many steps, so many times
            as far. All gradients count, and a momentum hardly changes in a few steps, so little
            is lost; but what takes the time is saved.
    """

    def __init__(
        self, parameters: Iterable[Tensor], lr: float, momentum: float = 0.95, turns: int = 1
    ):
        super().__init__(parameters, {'lr': lr, 'momentum': momentum, 'turns': turns})
        if any(matrix.ndim != 2 for group in self.param_groups for matrix in group['params']):
            raise ValueError('Muon is for matrices only.')

        self._steps = 0

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """One update of the matrices whose turn it is and that have a gradient."""
        for group in self.param_groups:
            by_shape: dict[torch.Size, list[Tensor]] = {}
            for matrix in group['params']:
                if matrix.grad is not None:
                    by_shape.setdefault(matrix.shape, []).append(matrix)

            for (rows, columns), matrices in by_shape.items():
                momenta = self._momenta(matrices, group['momentum'])
                # No more turns than there are matrices to take them.
                turns = min(group['turns'], len(matrices))
                these = slice(self._steps % turns, None, turns)
                directions = orthogonalised(momenta[these])
                size = turns * group['lr'] * ADAM_RMS * math.sqrt(max(rows, columns))
                torch._foreach_add_(matrices[these], list(directions.unbind()), alpha=-size)

        self._steps += 1

    def _momenta(self, matrices: list[Tensor], decay: float) -> Tensor:
        """Running means of the gradients, with a look ahead (Nesterov), as one tensor."""
        gradients = [matrix.grad for matrix in matrices if matrix.grad is not None]
        for matrix in matrices:
            if 'mean' not in self.state[matrix]:
                self.state[matrix]['mean'] = torch.zeros_like(matrix)

        means = [self.state[matrix]['mean'] for matrix in matrices]
        torch._foreach_lerp_(means, gradients, 1 - decay)
        return torch.stack(torch._foreach_lerp(gradients, means, decay))
