"""With real training, the synthetic table is like the real one."""

import numpy as np
import pandas as pd
import pytest

from sdv_tabdiff import TabDiffSynthesizer

from .tables import metadata_of

ROWS = 2000


def table():
    """A number that is missing exactly for one kind, and a number that follows another."""
    rng = np.random.default_rng(0)
    kind = rng.choice(['a', 'b', 'c'], ROWS, p=[0.5, 0.3, 0.2])
    size = rng.gamma(2.0, 10.0, ROWS)
    return pd.DataFrame({
        'kind': kind,
        'size': size.round(3),
        'weight': (size * 2 + rng.normal(0, 4, ROWS)).round(3),
        'detail': np.where(kind == 'b', np.nan, rng.normal(0, 1, ROWS).round(3)),
        'flag': np.where(rng.random(ROWS) < 0.9, kind == 'a', kind != 'a'),
    })


@pytest.fixture(scope='module')
def real():
    return table()


@pytest.fixture(scope='module')
def synthetic(real):
    columns = {
        'kind': 'categorical',
        'size': 'numerical',
        'weight': 'numerical',
        'detail': 'numerical',
        'flag': 'boolean',
    }
    synthesizer = TabDiffSynthesizer(
        metadata_of(columns), epochs=100, enable_gpu=False, random_state=0
    )
    synthesizer.fit(real)
    return synthesizer.sample(ROWS)


def test_missing_exactly_where_another_column_says(synthetic):
    wrong = synthetic['detail'].isna() != (synthetic['kind'] == 'b')

    assert wrong.mean() < 0.02


def test_shares_of_the_categories(real, synthetic):
    # Four standard errors of the difference of two shares of 2,000 rows, and 0.02 for the model.
    difference = synthetic['kind'].value_counts(normalize=True) - real['kind'].value_counts(
        normalize=True
    )

    assert difference.abs().max() < 4 * np.sqrt(2 * 0.25 / ROWS) + 0.02


def test_correlation_of_the_numbers(real, synthetic):
    expected = real['size'].corr(real['weight'], method='spearman')

    assert abs(synthetic['size'].corr(synthetic['weight'], method='spearman') - expected) < 0.05


def test_flag_follows_the_kind(real, synthetic):
    for kind in 'abc':
        expected = real.loc[real['kind'] == kind, 'flag'].mean()
        assert abs(synthetic.loc[synthetic['kind'] == kind, 'flag'].mean() - expected) < 0.08


@pytest.mark.parametrize('column', ['size', 'weight', 'detail'])
def test_distribution_of_each_number(real, synthetic, column):
    grid = np.linspace(0.05, 0.95, 19)
    reached = [
        (synthetic[column].dropna() <= value).mean() for value in real[column].quantile(grid)
    ]

    # The largest gap between two distribution functions of 2,000 rows is below 0.06 by chance.
    assert np.abs(np.array(reached) - grid).max() < 0.09


def test_no_row_is_a_copy_of_a_real_one(real, synthetic):
    copies = synthetic.merge(real, how='inner', on=['size', 'weight'])

    assert len(copies) < 0.01 * ROWS
