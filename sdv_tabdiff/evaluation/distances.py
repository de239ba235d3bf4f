"""Distances between the rows of mixed tables, in blocks: never all pairs at once.

Two rows differ by their scaled numbers and by their levels, which count as if they were one-hot
encoded: a different level is 2 in the sum of absolute differences and in that of squares.
"""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from sdv_tabdiff.evaluation.tables import EncodedRows

# Bytes of one block of distances; three of them exist at a time. Blocks, and those of the levels,
# which are half as large, must be above 32 MiB: the C library of Linux gives such pieces of memory
# back when they are freed, and with smaller ones the process would grow by each of them.
BLOCK_BYTES = 2**27

MANHATTAN, EUCLIDEAN = 'manhattan', 'euclidean'


def nearest(
    rows: EncodedRows, others: EncodedRows, metric: str, same: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """The distance of each row to the nearest of the others, and which one that is.

    Args:
        rows (EncodedRows):
            Where to measure from.
        others (EncodedRows):
            Where to measure to; at least one row, two if ``same``.
        metric (str):
            ``'manhattan'`` or ``'euclidean'``.
        same (bool):
            Whether both are the same table, in which a row is not its own neighbour.

    Returns:
        tuple[numpy.ndarray, numpy.ndarray]:
            Distances and positions. Of several nearest rows the first one counts.
    """
    distances, positions = [], []
    for start, block in _blocks(rows, others, metric):
        if same:
            block[torch.arange(len(block)), torch.arange(start, start + len(block))] = torch.inf

        closest = block.min(dim=1)
        distances.append(closest.values)
        positions.append(closest.indices)

    return torch.cat(distances).numpy(), torch.cat(positions).numpy()


def _blocks(rows: EncodedRows, others: EncodedRows, metric: str) -> Iterator[tuple[int, Tensor]]:
    size = max(1, BLOCK_BYTES // (8 * len(others)))
    other_numbers, other_codes = _tensors(others)
    numbers, codes = _tensors(rows)
    for start in range(0, len(rows), size):
        part = slice(start, start + size)
        yield start, _distances(numbers[part], codes[part], other_numbers, other_codes, metric)


def _tensors(rows: EncodedRows) -> tuple[Tensor, Tensor]:
    # Codes are small whole numbers: exact in float32, which halves their cost.
    return torch.from_numpy(rows.numbers), torch.from_numpy(rows.codes).float()


def _distances(
    numbers: Tensor, codes: Tensor, other_numbers: Tensor, other_codes: Tensor, metric: str
) -> Tensor:
    total = torch.zeros((len(numbers), len(other_numbers)), dtype=torch.float64)
    if numbers.shape[1] and metric == MANHATTAN:
        total = torch.cdist(numbers, other_numbers, p=1)
    elif numbers.shape[1]:
        # Without matrix products: their rounding would tell equal distances apart.
        mode = 'donot_use_mm_for_euclid_dist'
        total = torch.cdist(numbers, other_numbers, p=2, compute_mode=mode).square_()

    if codes.shape[1]:
        total.add_(torch.cdist(codes, other_codes, p=0), alpha=2)

    return total if metric == MANHATTAN else total.sqrt_()


def distances_to_mean(rows: EncodedRows, reference: EncodedRows) -> np.ndarray:
    """The Euclidean distance of each row to the mean of the reference's rows."""
    total = np.square(rows.numbers - reference.numbers.mean(axis=0)).sum(axis=1)
    for column, levels in zip(rows.codes.T, reference.codes.T):
        size = int(max(column.max(), levels.max())) + 1
        shares = np.bincount(levels, minlength=size) / len(levels)
        # |onehot(x) - shares|^2
        total = total + 1 - 2 * shares[column] + np.square(shares).sum()

    return np.sqrt(np.maximum(total, 0))
