from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from sdv_tabdiff.evaluation import distances
from sdv_tabdiff.evaluation.distances import EUCLIDEAN, MANHATTAN, nearest
from sdv_tabdiff.evaluation.tables import EncodedRows

SHAPES = [(3, 2), (3, 0), (0, 2)]


def rows(num_rows, shape, seed):
    rng = np.random.default_rng(seed)
    return EncodedRows(rng.random((num_rows, shape[0])), rng.integers(0, 4, (num_rows, shape[1])))


def one_hot(encoded):
    levels = [np.eye(4)[codes] for codes in encoded.codes.T]
    return np.column_stack([encoded.numbers, *levels])


@pytest.mark.parametrize('shape', SHAPES)
@pytest.mark.parametrize(
    ('metric', 'of_scipy'), [(MANHATTAN, 'cityblock'), (EUCLIDEAN, 'euclidean')]
)
@pytest.mark.parametrize('block_bytes', [1, 8 * 40 * 7, distances.BLOCK_BYTES])
def test_nearest_is_that_of_one_hot_rows(shape, metric, of_scipy, block_bytes, monkeypatch):
    monkeypatch.setattr(distances, 'BLOCK_BYTES', block_bytes)
    first, second = rows(50, shape, 0), rows(40, shape, 1)

    found, positions = nearest(first, second, metric)

    expected = cdist(one_hot(first), one_hot(second), of_scipy)
    np.testing.assert_allclose(found, expected.min(axis=1), atol=1e-12)
    np.testing.assert_allclose(expected[np.arange(50), positions], found, atol=1e-12)


@pytest.mark.parametrize('block_bytes', [1, distances.BLOCK_BYTES])
def test_a_row_is_not_its_own_neighbour(block_bytes, monkeypatch):
    monkeypatch.setattr(distances, 'BLOCK_BYTES', block_bytes)
    table = rows(50, (3, 2), 0)

    found, positions = nearest(table, table, MANHATTAN, same=True)

    assert (positions != np.arange(50)).all()
    expected = cdist(one_hot(table), one_hot(table), 'cityblock')
    np.fill_diagonal(expected, np.inf)
    np.testing.assert_allclose(found, expected.min(axis=1), atol=1e-12)


@pytest.mark.parametrize('shape', SHAPES)
def test_distances_to_the_mean(shape):
    first, second = rows(50, shape, 0), rows(40, shape, 1)

    found = distances.distances_to_mean(first, second)

    expected = np.linalg.norm(one_hot(first) - one_hot(second).mean(axis=0), axis=1)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.skipif(not Path('/proc/self/status').exists(), reason='asks Linux for its memory')
def test_memory_does_not_grow_with_the_rows(monkeypatch):
    usage = []

    def watched(*arguments):
        status = Path('/proc/self/status').read_text(encoding='ascii')
        usage.append(int(status.split('VmRSS:')[1].split()[0]) / 1024)
        return of_block(*arguments)

    of_block = distances._distances
    monkeypatch.setattr(distances, '_distances', watched)

    nearest(rows(4000, (1, 2), 0), rows(50_000, (1, 2), 1), MANHATTAN)

    # The distances of all pairs are 1,500 MiB.
    assert len(usage) > 10
    assert max(usage) - usage[0] < 400
