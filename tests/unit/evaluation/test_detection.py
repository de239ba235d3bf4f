import numpy as np
import pandas as pd
import pytest
from sdmetrics.single_table import LogisticDetection

from sdv_tabdiff.evaluation import NotInstalledError, boosted_detection, logistic_detection

from .tables import METADATA, levels, numbers, people

BOTH = pytest.mark.parametrize('measure', [logistic_detection, boosted_detection])


@BOTH
def test_two_samples_of_one_distribution_cannot_be_told_apart(measure):
    score = measure(people(1500, 0), people(1500, 1), METADATA)

    # A mean of three areas under the curve of 500 rows each, of which only the upper half counts.
    assert score > 1 - 2 * 3 / np.sqrt(12 * 500)


@BOTH
def test_disjoint_supports_are_told_apart_always(measure):
    real, metadata = numbers(a=np.linspace(0, 1, 100))

    # Trees put their limits next to a row, and may misplace that one.
    assert measure(real, real + 5, metadata) == pytest.approx(0, abs=0.02)


@BOTH
def test_the_order_of_the_tables_does_not_matter(measure):
    real, metadata = numbers(a=np.random.default_rng(0).normal(size=900))
    other, _ = numbers(a=np.random.default_rng(1).normal(0.5, size=900))

    assert measure(real, other, metadata) == pytest.approx(measure(other, real, metadata), abs=0.08)


def test_only_trees_see_a_wrong_dependence():
    rng = np.random.default_rng(0)
    x = rng.normal(size=1500)
    real, metadata = numbers(x=x, y=x)
    mirrored, _ = numbers(x=x, y=np.where(rng.random(1500) < 0.5, x, -x))

    # Half of the mirrored rows are as good as real: the best possible score is 0.5.
    assert logistic_detection(real, mirrored, metadata) > 0.85
    assert 0.5 < boosted_detection(real, mirrored, metadata) < 0.75


def test_a_shift_has_the_score_of_its_area_under_the_curve():
    rng = np.random.default_rng(0)
    real, metadata = numbers(a=rng.normal(size=6000))
    other, _ = numbers(a=rng.normal(1, size=6000))

    # P(X < Y) of two normals one apart is Phi(1 / sqrt(2)) = 0.7602.
    assert logistic_detection(real, other, metadata) == pytest.approx(2 - 2 * 0.7602, abs=0.03)
    assert boosted_detection(real, other, metadata) == pytest.approx(2 - 2 * 0.7602, abs=0.06)


def test_the_logistic_score_is_that_of_sdmetrics():
    real, metadata = numbers(a=np.random.default_rng(0).normal(size=300))
    other, _ = numbers(a=np.random.default_rng(1).normal(0.3, size=300))
    np.random.seed(7)  # noqa: NPY002
    expected = LogisticDetection.compute(real, other, metadata)

    assert logistic_detection(real, other, metadata, seed=7) == pytest.approx(expected)


@BOTH
def test_it_repeats_and_leaves_the_global_generator_alone(measure):
    real, other = people(200, 0), people(200, 1, related=False)
    np.random.seed(3)  # noqa: NPY002
    expected = np.random.random()  # noqa: NPY002
    np.random.seed(3)  # noqa: NPY002

    first = measure(real, other, METADATA, seed=1)

    assert np.random.random() == expected  # noqa: NPY002
    assert measure(real, other, METADATA, seed=1) == first


def test_trees_take_tables_of_different_size():
    real, metadata = levels(a=['x', 'y', None] * 100)

    assert boosted_detection(real, real.iloc[:60], metadata) > 0.5
    assert np.isnan(boosted_detection(real, real.iloc[:2], metadata))


def test_without_xgboost_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__('sys').modules, 'xgboost', None)
    real, metadata = numbers(a=[1.0, 2.0, 3.0])

    with pytest.raises(NotInstalledError, match=r'sdv-tabdiff\[benchmark\]'):
        boosted_detection(real, real, metadata)


def test_booleans_are_not_left_out():
    metadata = {'columns': {'a': {'sdtype': 'boolean'}}}
    real, other = pd.DataFrame({'a': [True] * 99}), pd.DataFrame({'a': [False] * 99})

    assert logistic_detection(real, other, metadata) == pytest.approx(0)


@pytest.mark.parametrize(
    ('real', 'other', 'expected'),
    [
        (['x', 'y'], ['x', 'y'], 1),
        (['x', 'y'], ['x', None], 0.25),
        (['x', 'y'], ['z', 'z'], 0),
        (['x', None], [None, 'x'], 1),
        (['x', 1], [1, 'x'], 1),
        ([1, 2], [3, 4], 0),
    ],
)
def test_new_missing_and_mixed_levels(real, other, expected):
    real, metadata = levels(a=real * 90)
    other, _ = levels(a=other * 90)

    # Where only the x of both tables can be confused, the area under the curve is 0.875.
    assert logistic_detection(real, other, metadata) == pytest.approx(expected, abs=0.15)
