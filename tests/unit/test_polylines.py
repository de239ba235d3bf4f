"""Straight pieces through points."""

import numpy as np
import pytest

from sdv_tabdiff.polylines import Points, misses

X = np.sort(np.random.default_rng(0).uniform(0, 100, 2000))


def bent(x):
    return np.where(x < 40, 0.3 * x, 12 + 0.8 * (x - 40))


def test_points_beside_the_line_of_their_neighbours():
    y = bent(X)
    y[1000] += 1

    # The point itself and both of its neighbours, and what is next to the bend.
    assert 4 <= misses(X, y, 1e-9) <= 5
    assert misses(X[:2], y[:2], 0.0) == 0


def test_exact_pieces():
    knots, heights = Points(X, bent(X)).exact(1e-9, most=5)

    # Between two points, nobody sees where the bend is.
    assert 3 <= len(knots) <= 4
    np.testing.assert_allclose(np.interp(X, knots, heights), bent(X), atol=1e-6)
    assert Points(X, np.sin(X)).exact(1e-9, most=20) is None


@pytest.mark.parametrize('step', [0.01, 0.1])
def test_rounded_pieces(step):
    y = np.round(bent(X) / step) * step
    knots, heights = Points(X, y).rounded(0.5 * step, step, most=10)

    # Between two points, nobody sees where the bend is.
    assert 3 <= len(knots) <= 4
    np.testing.assert_allclose(knots[1:-1], 40, atol=0.2)
    missed = np.abs(np.interp(X, knots, heights) - y)
    assert missed.max() <= 0.51 * step
    assert Points(X, 10 * np.sin(X)).rounded(0.5 * step, step, most=3) is None
