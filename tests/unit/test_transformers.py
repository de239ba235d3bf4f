"""The RDT transformers on their own."""

import numpy as np
import pandas as pd
import pytest
from rdt.errors import TransformerInputError

from sdv_tabdiff import CategoryCodes, DatetimeQuantileNormalizer, QuantileNormalizer


def round_trip(transformer, values, **kwargs):
    frame = pd.DataFrame({'x': pd.Series(values, **kwargs)})
    transformed = transformer.fit_transform(frame, 'x')
    return transformed, transformer.reverse_transform(transformed)['x']


class TestQuantileNormalizer:
    def test_numbers_come_back(self):
        values = np.random.default_rng(0).gamma(2, 100, 500)

        transformed, restored = round_trip(QuantileNormalizer(), values)

        assert list(transformed.columns) == ['x']
        np.testing.assert_allclose(restored, values, rtol=1e-9)

    @pytest.mark.parametrize(
        ('values', 'dtype'),
        [
            ([1.5, None, 2.5, 4.0], 'float64'),
            ([1, None, 2, 4], 'Int64'),
            ([1.5, None, 2.5, 4.0], 'Float64'),
            ([1, None, 2, 4], object),
        ],
    )
    def test_missing_values_have_a_column_of_their_own(self, values, dtype):
        transformed, restored = round_trip(QuantileNormalizer(), values, dtype=dtype)

        assert transformed['x.is_null'].tolist() == [0, 1, 0, 0]
        assert transformed['x'].notna().all()
        np.testing.assert_allclose(restored, pd.to_numeric(pd.Series(values)).astype(float))

    def test_a_refit_on_complete_data_drops_the_flag(self):
        transformer = QuantileNormalizer()
        round_trip(transformer, [1.0, None, 3.0])

        transformed, restored = round_trip(transformer, [1.0, 2.0, 3.0])

        assert list(transformed.columns) == ['x']
        assert restored.tolist() == pytest.approx([1, 2, 3])

    def test_missing_values_may_be_drawn_at_random(self):
        values = pd.Series(np.arange(1000.0))
        values[::4] = np.nan

        transformed, restored = round_trip(
            QuantileNormalizer(missing_value_generation='random'), values
        )

        assert list(transformed.columns) == ['x']
        assert restored.isna().mean() == pytest.approx(0.25, abs=4.5 * np.sqrt(0.25 * 0.75 / 1000))

    @pytest.mark.parametrize('value', [1, 0.5, 'many', True])
    def test_a_bad_number_of_knots_is_refused(self, value):
        with pytest.raises(TransformerInputError, match='max_knots'):
            QuantileNormalizer(max_knots=value)

    @pytest.mark.parametrize('values', [[np.nan] * 4, [3.0] * 4, [3.0, np.nan, np.nan, 3.0], [1.0]])
    def test_columns_without_spread(self, values):
        _, restored = round_trip(QuantileNormalizer(), values)

        np.testing.assert_array_equal(restored, values)


class TestDatetimeQuantileNormalizer:
    @pytest.mark.parametrize(
        ('strftime', 'step'),
        [
            ('%Y-%m-%d', '1D'),
            ('%d/%m/%Y %H:%M', '37min'),
            ('%Y-%m-%d %H:%M:%S', '61s'),
            ('%b %d, %Y', '3D'),
        ],
    )
    def test_strings_come_back_in_their_format(self, strftime, step):
        dates = pd.Series(pd.date_range('2021-03-04', periods=200, freq=step)).dt.strftime(strftime)

        _, restored = round_trip(DatetimeQuantileNormalizer(datetime_format=strftime), dates)

        assert restored.tolist() == dates.tolist()

    def test_generated_times_keep_the_unit_of_the_data(self):
        dates = pd.date_range('2021-01-01', periods=300, freq='D').to_series(index=range(300))
        transformer = DatetimeQuantileNormalizer()
        transformer.fit(pd.DataFrame({'x': dates}), 'x')

        scores = pd.DataFrame({'x': np.random.default_rng(0).standard_normal(50)})
        generated = pd.to_datetime(transformer.reverse_transform(scores)['x'])

        assert (generated == generated.dt.normalize()).all()
        assert generated.between(dates.min(), dates.max()).all()

    def test_missing_dates_come_back(self):
        dates = ['2020-01-01', None, '2020-01-03', '2020-02-01']

        transformed, restored = round_trip(
            DatetimeQuantileNormalizer(datetime_format='%Y-%m-%d'), dates
        )

        assert transformed['x.is_null'].tolist() == [0, 1, 0, 0]
        assert restored.isna().tolist() == [False, True, False, False]
        assert restored.dropna().tolist() == [date for date in dates if date]

    def test_an_all_missing_column(self):
        _, restored = round_trip(
            DatetimeQuantileNormalizer(datetime_format='%Y-%m-%d'), [None, None], dtype=object
        )

        assert restored.isna().all()


class TestCategoryCodes:
    @pytest.mark.parametrize(
        ('values', 'dtype'),
        [
            (['a', 'b', None, 'a'], object),
            (['a', 'b', None, 'a'], 'category'),
            (['a', 'b', None, 'a'], 'string'),
            ([True, False, None, True], object),
            ([True, False, None, True], 'boolean'),
            ([1, 3, None, 1], 'Int64'),
            ([1.0, 3.5, None, 1.0], float),
            ([1, 'one', None, 1], object),
        ],
    )
    def test_levels_and_missing_values_come_back(self, values, dtype):
        transformed, restored = round_trip(CategoryCodes(), values, dtype=dtype)

        assert transformed['x'].tolist() == [0, 1, 2, 0]
        assert restored.isna().tolist() == [False, False, True, False]
        assert restored.dropna().tolist() == [value for value in values if value is not None]

    @pytest.mark.parametrize(
        ('values', 'levels', 'ordered'),
        [
            ([10, 9, 11], [9, 10, 11], True),
            ([2.5, 1.0], [1.0, 2.5], True),
            (['b', 'a'], ['b', 'a'], False),
            ([True, False], [True, False], False),
            ([10, 'nine'], [10, 'nine'], False),
        ],
    )
    def test_numbers_are_put_in_order(self, values, levels, ordered):
        transformer = CategoryCodes()
        transformer.fit(pd.DataFrame({'x': pd.Series(values, dtype=object)}), 'x')

        assert transformer.levels == levels
        assert transformer.is_ordered == ordered

    def test_levels_follow_a_given_order(self):
        transformed, _ = round_trip(CategoryCodes(order=['low', 'mid', 'high']), ['high', 'low'])

        assert transformed['x'].tolist() == [1, 0]

    @pytest.mark.parametrize(
        ('order_by', 'values', 'codes'),
        [('alphabetical', ['b', 'a'], [1, 0]), ('numerical_value', [10, 9], [1, 0])],
    )
    def test_levels_may_be_sorted(self, order_by, values, codes):
        transformed, _ = round_trip(CategoryCodes(order_by=order_by), values)

        assert transformed['x'].tolist() == codes

    def test_an_unseen_value_is_an_error_that_names_column_and_value(self):
        transformer = CategoryCodes()
        transformer.fit(pd.DataFrame({'x': ['a', 'b']}), 'x')

        with pytest.raises(TransformerInputError, match="Column 'x' has the value 'c'"):
            transformer.transform(pd.DataFrame({'x': ['a', 'c']}))

    def test_a_bad_order_is_refused(self):
        with pytest.raises(TransformerInputError, match='order_by'):
            CategoryCodes(order_by='size')
