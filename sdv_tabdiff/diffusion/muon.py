"""Muon: steps along the orthogonalised momentum of a weight matrix (Jordan et al. 2024).

A gradient of a matrix has a few large singular values and many small ones. Setting all of them to 1
moves every direction of the matrix at the same pace, where Adam mostly moves the large ones: the
network learns more in each step. PyTorch's own version computes in bfloat16, for which most CPUs
have no units.
"""

import math
from collections.abc import Iterable

import torch
from torch import Tensor

# Coefficients of the quintic iteration: it need not converge to exactly 1, only close to it, fast.
QUINTIC = (3.4445, -4.7750, 2.0315)
ITERATIONS = 5

# Root mean square of the entries of one of Adam's steps, in learning rates: with it, both take the
# same learning rate (Liu et al. 2025, 'Muon is scalable').
ADAM_RMS = 0.2


def orthogonalised(matrices: Tensor, iterations: int = ITERATIONS) -> Tensor:
    """Matrices with the same singular vectors and all singular values close to 1.

    Args:
        matrices: Shape ``(count, rows, columns)``.
        iterations: Newton-Schulz iterations.

    Returns:
        Tensor:
            Same shape; singular values between about 0.7 and 1.2, those that were 0 still 0.
    """
    tall = matrices.shape[1] > matrices.shape[2]
    x = matrices.mT if tall else matrices
    # A norm of 1 bounds all singular values by 1, as the iteration requires.
    x = x / x.norm(dim=(1, 2), keepdim=True).clamp(min=1e-7)
    a, b, c = QUINTIC
    for _ in range(iterations):
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)

    return x.mT if tall else x


class Muon(torch.optim.Optimizer):
    """Optimiser of weight matrices.

    Args:
        parameters: Matrices.
        lr: Learning rate, on the scale of Adam's.
        momentum: Decay of the running mean of the gradients.
    """

    def __init__(self, parameters: Iterable[Tensor], lr: float, momentum: float = 0.95):
        super().__init__(parameters, {'lr': lr, 'momentum': momentum})
        if any(matrix.ndim != 2 for group in self.param_groups for matrix in group['params']):
            raise ValueError('Muon is for matrices only.')

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """One update of every matrix that has a gradient."""
        for group in self.param_groups:
            by_shape: dict[torch.Size, list[Tensor]] = {}
            for matrix in group['params']:
                if matrix.grad is not None:
                    by_shape.setdefault(matrix.shape, []).append(matrix)

            for (rows, columns), matrices in by_shape.items():
                directions = orthogonalised(self._momenta(matrices, group['momentum']))
                size = group['lr'] * ADAM_RMS * math.sqrt(max(rows, columns))
                torch._foreach_add_(matrices, list(directions.unbind()), alpha=-size)

    def _momenta(self, matrices: list[Tensor], decay: float) -> Tensor:
        """Running means of the gradients, with a look ahead (Nesterov), as one tensor."""
        gradients = [matrix.grad for matrix in matrices if matrix.grad is not None]
        for matrix in matrices:
            if 'mean' not in self.state[matrix]:
                self.state[matrix]['mean'] = torch.zeros_like(matrix)

        means = [self.state[matrix]['mean'] for matrix in matrices]
        torch._foreach_lerp_(means, gradients, 1 - decay)
        return torch.stack(torch._foreach_lerp(gradients, means, decay))
