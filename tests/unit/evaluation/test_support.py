import numpy as np
import pytest
from scipy.spatial.distance import cdist

from sdv_tabdiff.evaluation import alpha_precision, beta_recall
from sdv_tabdiff.evaluation.support import support

from .tables import METADATA, levels, numbers, people


def plane(num_rows, seed, spread=1.0):
    x, y = np.random.default_rng(seed).normal(scale=spread, size=(2, num_rows))
    return numbers(x=x, y=y)


def test_identical_tables_are_perfect():
    frame = people(200)

    assert alpha_precision(frame, frame, METADATA) == pytest.approx(1, abs=0.01)
    assert beta_recall(frame, frame, METADATA) == pytest.approx(1, abs=0.01)


def test_disjoint_supports_score_nothing():
    real, metadata = plane(200, 0)
    far = real + 100

    # At alpha = 0 nothing is expected, at each other level nothing is found.
    assert alpha_precision(real, far, metadata) == pytest.approx(0)
    assert beta_recall(real, far, metadata) == pytest.approx(0)


def test_a_single_point_at_the_centre_is_typical_and_covers_nothing():
    real, metadata = plane(500, 0)
    centre, _ = numbers(x=[real['x'].mean()] * 500, y=[real['y'].mean()] * 500)

    found = support(real, centre, metadata)

    # Every ball around the mean holds all of these rows, so the curve is 1 at each level.
    levels = np.linspace(0, 1, 30)
    expected = 1 - (1 - levels[1:]).sum() / levels.sum()
    assert found.alpha_precision == pytest.approx(expected, abs=0.1)
    assert found.beta_recall < 0.05


def test_too_narrow_rows_are_precise_and_too_wide_ones_cover():
    real, metadata = plane(1000, 0)
    narrow, wide = plane(1000, 1, 0.3)[0], plane(1000, 2, 3.0)[0]

    # The two are no mirror images: swapping the tables is another question.
    assert beta_recall(real, narrow, metadata) < 0.4
    assert alpha_precision(real, wide, metadata) < 0.5
    assert alpha_precision(narrow, real, metadata) < alpha_precision(real, narrow, metadata)


def test_a_sample_of_the_same_distribution_has_full_precision_and_half_the_recall():
    real, metadata = plane(3000, 0)
    other, _ = plane(3000, 1)

    assert alpha_precision(real, other, metadata) == pytest.approx(1, abs=4 / np.sqrt(3000))
    # The nearest of as many independent rows is the nearer one half of the time.
    assert beta_recall(real, other, metadata) == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(3000))


def test_both_against_a_plain_computation():
    real, metadata = plane(80, 0)
    other, _ = plane(60, 1, 1.2)
    low, width = real.min(), real.max() - real.min()
    x, y = ((frame - low).div(width).to_numpy() for frame in (real, other))

    grid = np.linspace(0, 1, 30)
    centre = np.linalg.norm(x - x.mean(axis=0), axis=1)
    radii = np.quantile(centre, grid)
    inside = [(np.linalg.norm(y - x.mean(axis=0), axis=1) <= radius).mean() for radius in radii]
    own = cdist(x, x) + np.diag(np.full(len(x), np.inf))
    cross = cdist(x, y)
    outwards = np.linalg.norm(y[cross.argmin(axis=1)] - y.mean(axis=0), axis=1)
    covered = cross.min(axis=1) <= own.min(axis=1)
    cover = [(covered & (outwards <= radius)).mean() for radius in np.quantile(outwards, grid)]

    found = support(real, other, metadata)

    for value, curve in zip(found, (inside, cover)):
        assert value == pytest.approx(1 - np.abs(grid - curve).sum() / grid.sum(), abs=1e-9)


def test_levels_alone():
    rng = np.random.default_rng(0)
    shares = np.array([0.4, 0.3, 0.2, 0.1])
    real, metadata = levels(**{
        name: rng.choice(list('wxyz'), 400, p=shares) for name in ('a', 'b', 'c')
    })

    found = support(real, real, metadata)

    # Equal rows lie on the same sphere, so that a curve has steps.
    assert found.alpha_precision == found.beta_recall > 0.9


def test_rows_on_one_sphere_are_all_or_nothing():
    real, metadata = levels(a=['x', 'y'] * 50)

    # Every ball that holds one of them holds them all, and 30 levels ask for half on average.
    assert support(real, real, metadata) == (pytest.approx(0), pytest.approx(0))


def test_a_single_real_row_has_no_neighbour():
    real, metadata = numbers(a=[1.0])

    assert np.isnan(beta_recall(real, real, metadata))
