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


class TestEqualColumns:
    """In many rows a payment is the bill, and the delivery on the day of the order."""

    @pytest.fixture(scope='class')
    def orders(self):
        rng = np.random.default_rng(0)
        bill = rng.lognormal(5, 1, ROWS).round(2)
        in_full = rng.random(ROWS) < 0.4
        ordered = pd.Timestamp('2024-01-01') + pd.to_timedelta(rng.integers(0, 400, ROWS), unit='D')
        later = pd.to_timedelta(rng.integers(1, 30, ROWS), unit='D')
        return pd.DataFrame({
            'bill': bill,
            'paid': np.where(in_full, bill, (bill * rng.random(ROWS)).round(2)),
            'ordered': ordered,
            'delivered': np.where(in_full, ordered, ordered + later),
        })

    @pytest.fixture(scope='class')
    def synthesizer(self, orders):
        columns = {
            'bill': 'numerical',
            'paid': 'numerical',
            'ordered': 'datetime',
            'delivered': 'datetime',
        }
        synthesizer = TabDiffSynthesizer(
            metadata_of(columns), epochs=60, enable_gpu=False, random_state=0
        )
        synthesizer.fit(orders)
        return synthesizer

    def test_they_are_equal_as_often_and_together(self, orders, synthesizer):
        made = synthesizer.sample(ROWS)
        paid, delivered = made['paid'] == made['bill'], made['delivered'] == made['ordered']

        # Four standard errors of a difference of shares, and 0.03 for the model.
        share = (orders['paid'] == orders['bill']).mean()
        tolerance = 4 * np.sqrt(2 * share * (1 - share) / ROWS) + 0.03
        assert abs(paid.mean() - share) < tolerance
        assert (paid == delivered).mean() > 0.9

    def test_a_given_source_is_copied(self, synthesizer):
        given = pd.DataFrame({'bill': np.linspace(20, 900, 300).round(2)})

        made = synthesizer.sample_remaining_columns(given)

        assert np.array_equal(made['bill'], given['bill'])
        assert 0.2 < (made['paid'] == made['bill']).mean() < 0.6

    def test_a_given_copy_comes_back_as_given_and_the_source_may_equal_it(
        self, orders, synthesizer
    ):
        given = orders[['paid']].sample(400, random_state=0).reset_index(drop=True)

        made = synthesizer.sample_remaining_columns(given)

        assert np.array_equal(made['paid'], given['paid'])
        # Two fifths of the payments equal the bill; four standard errors of 400 rows.
        assert abs((made['paid'] == made['bill']).mean() - 0.4) < 4 * np.sqrt(0.24 / 400) + 0.03
        same = made['paid'] == made['bill']
        assert (same == (made['delivered'] == made['ordered'])).mean() > 0.85
