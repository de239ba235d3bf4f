import numpy as np
import pandas as pd
import pytest
from sdmetrics.single_column import KSComplement

from sdv_tabdiff.evaluation import quality, shape_error, trend_error

from .tables import METADATA, levels, numbers, people


def test_identical_tables_have_no_error():
    frame = people(300)

    assert shape_error(frame, frame, METADATA) == pytest.approx(0)
    assert trend_error(frame, frame, METADATA) == pytest.approx(0)
    assert quality(frame, frame, METADATA, all_pairs=False)['score'] == pytest.approx(1)


def test_independent_columns_have_the_right_shapes_and_the_wrong_trends():
    frame = people(2000)
    shuffled = pd.DataFrame({
        name: frame[name].sample(frac=1, random_state=seed).to_numpy()
        for seed, name in enumerate(frame)
    })

    assert shape_error(frame, shuffled, METADATA) == pytest.approx(0)
    assert trend_error(frame, shuffled, METADATA) > 10


def test_disjoint_supports_are_all_error_in_shape():
    real, metadata = numbers(a=np.arange(50), b=np.arange(50))
    other, _ = numbers(a=np.arange(100, 150), b=np.arange(100, 150))

    assert shape_error(real, other, metadata) == pytest.approx(100)
    assert trend_error(real, other, metadata) == pytest.approx(0)


def test_shape_is_the_mean_of_sdmetrics_column_scores():
    real, metadata = numbers(a=np.arange(50), b=np.arange(50))
    other, _ = numbers(a=np.arange(50) + 10, b=np.arange(50))

    expected = 50 * (1 - KSComplement.compute(real['a'], other['a']))

    assert shape_error(real, other, metadata) == pytest.approx(expected)


def test_sdmetrics_own_thresholds_leave_out_unrelated_pairs():
    rng = np.random.default_rng(0)
    x = rng.normal(size=500)
    real, metadata = numbers(a=x, b=2 * x, c=rng.normal(size=500))
    other = real.assign(c=real['a'])

    assert quality(real, other, metadata, all_pairs=False)['trend'] == pytest.approx(1)
    assert quality(real, other, metadata)['trend'] < 0.75


def test_a_single_column_has_no_trend():
    real, metadata = numbers(a=np.arange(50))

    assert np.isnan(trend_error(real, real, metadata))
    assert shape_error(real, real, metadata) == pytest.approx(0)


def test_large_tables_are_compared_repeatably():
    rng = np.random.default_rng(0)
    real, metadata = levels(a=rng.choice(list('abcd'), 60_000), b=rng.choice(list('xy'), 60_000))
    other = real.sample(frac=1, replace=True, random_state=0)
    before = np.random.get_state()[1].copy()  # noqa: NPY002

    first = quality(real, other, metadata)

    # SDMetrics draws 50,000 rows of each: eight shares, each with a deviation of about 0.0015.
    assert first['trend'] == pytest.approx(1, abs=0.02)
    np.testing.assert_equal(quality(real, other, metadata), first)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
