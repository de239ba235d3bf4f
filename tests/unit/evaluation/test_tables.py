import numpy as np
import pandas as pd
import pytest
from sdv.errors import InvalidDataError
from sdv.metadata import Metadata

from sdv_tabdiff.evaluation import logistic_detection, trend_error
from sdv_tabdiff.evaluation.tables import encode, measured_columns, measured_table

from .tables import METADATA, levels, numbers, people


@pytest.mark.parametrize(
    'metadata',
    [METADATA, METADATA['tables']['people'], Metadata.load_from_dict(METADATA)],
    ids=['dictionary', 'one table', 'of SDV'],
)
def test_keys_and_personal_data_are_not_measured(metadata):
    measured = list(measured_columns(metadata))

    assert measured == ['age', 'income', 'joined', 'job', 'member', 'grade']


def test_metadata_of_several_tables_are_refused():
    tables = METADATA['tables']['people']

    with pytest.raises(ValueError, match='2'):
        measured_columns({'tables': {'a': tables, 'b': tables}})


class TestMeasuredTable:
    @pytest.mark.parametrize('in_dictionary', [False, True])
    def test_dates_become_numbers(self, in_dictionary):
        frame = people(20)

        table = measured_table({'people': frame} if in_dictionary else frame, METADATA, 'real')

        dates = pd.to_datetime(frame['joined'])
        assert table['joined'].isna().tolist() == dates.isna().tolist()
        assert (table['joined'].dropna() == dates.dropna().astype('int64')).all()

    @pytest.mark.parametrize(
        'convert',
        [
            pd.to_datetime,
            lambda text: pd.to_datetime(text).astype('datetime64[s]'),
            lambda text: pd.to_datetime(text).dt.date.astype(object),
            lambda text: pd.to_datetime(text).dt.tz_localize('UTC'),
        ],
        ids=['ns', 's', 'objects', 'time zone'],
    )
    def test_dates_may_come_in_any_form(self, convert):
        frame = people(20)
        other = frame.assign(joined=convert(frame['joined']))

        expected = measured_table(frame, METADATA, 'real')['joined']

        pd.testing.assert_series_equal(measured_table(other, METADATA, 'real')['joined'], expected)

    def test_rows_are_counted_anew_and_the_frame_is_left_alone(self):
        frame = people(20).iloc[5:]
        copy = frame.copy()

        table = measured_table(frame, METADATA, 'real')

        assert table.index.tolist() == list(range(15))
        pd.testing.assert_frame_equal(frame, copy)

    def test_infinity_counts_as_missing(self):
        frame, metadata = numbers(a=[1.0, np.inf, -np.inf])

        assert measured_table(frame, metadata, 'real')['a'].isna().tolist() == [False, True, True]

    def test_errors_name_the_table_and_the_column(self):
        frame = people(5)

        with pytest.raises(InvalidDataError, match='held-out table has no rows'):
            measured_table(frame.iloc[:0], METADATA, 'held-out')
        with pytest.raises(InvalidDataError, match=r"synthetic table lacks .*'job'"):
            measured_table(frame.drop(columns='job'), METADATA, 'synthetic')
        with pytest.raises(InvalidDataError, match=r"'age' of the real table"):
            measured_table(frame.assign(age='old'), METADATA, 'real')

    @pytest.mark.parametrize(
        ('values', 'datetime_format'),
        [
            (['2019-01-31 00:00:00+0100', None], '%Y-%m-%d %H:%M:%S%z'),
            (['2019-01-31 00:00:00+0100', '2019-01-31 01:00:00+0200'], '%Y-%m-%d %H:%M:%S%z'),
            ([20190130, None], '%Y%m%d'),
            ([20190130], '%Y%m%d'),
            (['2019-01-30T23:00'], None),
        ],
    )
    def test_dates_with_zones_and_numbers_for_dates(self, values, datetime_format):
        properties = {'sdtype': 'datetime', 'datetime_format': datetime_format}

        table = measured_table(pd.DataFrame({'a': values}), {'columns': {'a': properties}}, 'real')

        found = pd.to_datetime(table['a'].dropna()).dt.normalize()
        assert (found == pd.Timestamp('2019-01-30')).all()
        assert len(found) == pd.Series(values).notna().sum()

    @pytest.mark.parametrize(
        ('values', 'dtypes'),
        [
            (['a', 'b', None, 'a'], ['category', 'string', object]),
            ([True, False, None, True], ['boolean', object]),
            ([1, 2, None, 1], ['Int64', 'Int8', float]),
            ([1, 2, 1], ['uint8', 'int64', 'Int64', 'category']),
        ],
    )
    def test_levels_are_the_same_in_every_dtype(self, values, dtypes):
        metadata = {'columns': {'a': {'sdtype': 'categorical'}, 'b': {'sdtype': 'categorical'}}}
        frames = [
            pd.DataFrame({
                'a': pd.Series(values * 10, dtype=dtype),
                'b': list('uv' * 5) * len(values),
            })
            for dtype in dtypes
        ]

        for frame in frames:
            assert trend_error(frames[0], frame, metadata) == pytest.approx(0)
            assert logistic_detection(frames[0], frame, metadata) > 0.9
            first, second = encode(
                [measured_table(one, metadata, 'x') for one in (frames[0], frame)], metadata
            )
            np.testing.assert_array_equal(first.codes, second.codes)

    @pytest.mark.parametrize('metadata', [{0: 'numerical'}, {'0': 'numerical'}])
    def test_names_may_be_integers(self, metadata):
        described = {'columns': {name: {'sdtype': kind} for name, kind in metadata.items()}}

        table = measured_table(pd.DataFrame({0: [1.0, 2.0]}), described, 'real')

        assert table.columns.tolist() == ['0']


class TestEncode:
    def test_the_first_table_sets_the_scale(self):
        real, metadata = numbers(a=[0.0, 10.0])
        synthetic, _ = numbers(a=[5.0, 20.0])

        first, second = encode([real, synthetic], metadata)

        assert first.numbers.tolist() == [[0.0], [1.0]]
        assert second.numbers.tolist() == [[0.5], [2.0]]
        assert first.codes.shape == (2, 0)

    def test_a_constant_column_has_no_scale(self):
        real, metadata = numbers(a=[3.0, 3.0])
        synthetic, _ = numbers(a=[3.0, 4.0])

        assert encode([real, synthetic], metadata)[1].numbers.tolist() == [[0.0], [1.0]]

    def test_a_missing_number_is_the_mean_with_a_level_of_its_own(self):
        real, metadata = numbers(a=[0.0, 10.0])
        synthetic, _ = numbers(a=[np.nan, 10.0])

        first, second = encode([real, synthetic], metadata)

        assert second.numbers.tolist() == [[0.5], [1.0]]
        assert first.codes.tolist() == [[0], [0]]
        assert second.codes.tolist() == [[1], [0]]

    def test_levels_have_the_same_code_in_all_tables(self):
        real, metadata = levels(a=['x', 'y', None])
        synthetic, _ = levels(a=['y', 'z', None])

        first, second = encode([real, synthetic], metadata)

        assert first.codes[:, 0].tolist() == [0, 1, 3]
        assert second.codes[:, 0].tolist() == [1, 2, 3]

    def test_a_level_that_gaps_turned_into_a_float_is_the_same(self):
        metadata = {'columns': {'a': {'sdtype': 'categorical'}}}

        first, second = encode(
            [pd.DataFrame({'a': [1, 2]}), pd.DataFrame({'a': [2.0, np.nan]})], metadata
        )

        assert second.codes[0] == first.codes[1]
