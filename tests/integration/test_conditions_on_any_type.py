"""Conditions on columns of every sdtype and dtype."""

import datetime

import numpy as np
import pandas as pd
import pytest
from sdv.sampling import Condition, DataFrameCondition

from .requests import WIDE, sample, wide
from .tables import TABLE, fitted, output_in

GIVEN = {
    'count': [wide()['count'].median().item() // 1, 17, np.int32(500), 500.0],
    'amount': [wide()['amount'].iloc[7], 0.1 + 7.2, np.nextafter(5.0, 6.0), 5],
    'share': [0.0, wide()['share'].max(), 1.2345678901234567],
    'nullable': [17, 17.0, np.int64(400)],
    'label': ['x', 'z'],
    'word': ['one'],
    'flag': [True, False, np.bool_(True)],
    'maybe': [True, False],
    'moment': [
        pd.Timestamp('2020-07-01 12:34:56.789'),
        pd.Timestamp('2020-07-01').to_pydatetime(),
        np.datetime64('2020-07-01T01:02:03'),
    ],
    'day': ['05.07.2020'],
    'email': ['me@home.org'],
}


@pytest.mark.parametrize(
    ('name', 'value'), [(name, value) for name, values in GIVEN.items() for value in values]
)
def test_any_value_comes_back_exactly_and_in_the_dtype_of_the_data(wide_synthesizer, name, value):
    rows = sample(wide_synthesizer, Condition({name: value}, num_rows=4))

    assert (rows[name] == value).all()
    assert len(rows) == 4
    assert rows.dtypes.to_dict() == wide().dtypes.to_dict()
    assert list(rows.columns) == list(WIDE)


@pytest.mark.parametrize('missing', [None, np.nan, pd.NA])
@pytest.mark.parametrize('name', ['share', 'nullable', 'word', 'maybe', 'day'])
def test_condition_on_missing_in_columns_of_any_dtype(wide_synthesizer, name, missing):
    rows = sample(wide_synthesizer, Condition({name: missing}, num_rows=5))

    assert len(rows) == 5
    assert rows[name].isna().all()
    assert rows.dtypes.to_dict() == wide().dtypes.to_dict()


def test_condition_on_no_date(wide_synthesizer):
    rows = sample(wide_synthesizer, Condition({'day': pd.NaT}, num_rows=3))

    assert rows['day'].isna().tolist() == [True] * 3


@pytest.mark.parametrize('text', ['2020-07-01', '2020-07-01 12:34:56'])
def test_text_is_a_date_for_a_column_of_timestamps(wide_synthesizer, text):
    rows = sample(wide_synthesizer, Condition({'moment': text}, num_rows=3))

    assert rows['moment'].tolist() == [pd.Timestamp(text)] * 3
    assert rows['moment'].dtype == wide()['moment'].dtype


@pytest.mark.parametrize(
    'date', [pd.Timestamp('2020-07-05'), datetime.date(2020, 7, 5), np.datetime64('2020-07-05')]
)
def test_date_is_written_in_the_format_of_a_column_of_text(wide_synthesizer, date):
    rows = sample(wide_synthesizer, Condition({'day': date}, num_rows=3))

    assert rows['day'].tolist() == ['05.07.2020'] * 3


def test_dates_without_a_format_may_be_text():
    days = pd.Series(pd.date_range('2021-01-01', periods=60)).dt.strftime('%Y-%m-%d')
    data = pd.DataFrame({'day': days, 'number': np.arange(60.0)})
    synthesizer = fitted(data, {'day': 'datetime', 'number': 'numerical'})
    rows = sample(
        synthesizer,
        Condition({'day': '2021-02-03'}, num_rows=2),
        Condition({'day': pd.Timestamp('2021-02-03')}, num_rows=1),
    )

    assert pd.to_datetime(rows['day']).tolist() == [pd.Timestamp('2021-02-03')] * 3
    assert rows['day'].dtype == object


def test_all_columns_but_the_key_at_once(wide_synthesizer):
    known = wide().drop(columns='key')
    rows = wide_synthesizer.sample_remaining_columns(known)

    pd.testing.assert_frame_equal(rows.drop(columns='key'), known)
    assert rows['key'].is_unique


def test_frame_of_conditions_with_gaps_means_missing(wide_synthesizer):
    known = wide()[['share', 'nullable', 'word', 'maybe', 'day']]
    rows = sample(wide_synthesizer, DataFrameCondition(known))

    pd.testing.assert_frame_equal(rows[list(known)], known)


def test_hundreds_of_distinct_rows_at_once(wide_synthesizer):
    rng = np.random.default_rng(3)
    known = pd.DataFrame({'amount': rng.uniform(2, 20, 700), 'count': rng.integers(1, 900, 700)})
    rows = sample(wide_synthesizer, DataFrameCondition(known))

    pd.testing.assert_frame_equal(rows[['amount', 'count']], known)


def test_thousands_of_rows(wide_synthesizer):
    rows = sample(wide_synthesizer, Condition({'label': 'y', 'count': 3}, num_rows=3000))

    assert len(rows) == 3000
    assert (rows['label'] == 'y').all()
    assert (rows['count'] == 3).all()
    assert rows['key'].is_unique
    assert rows['amount'].nunique() > 1000


def test_order_of_conditions_on_different_columns_is_kept(wide_synthesizer):
    rows = sample(
        wide_synthesizer,
        Condition({'count': 1}, num_rows=2),
        Condition({'label': 'z'}, num_rows=3),
        DataFrameCondition(pd.DataFrame({'amount': [3.5, 2.5], 'count': [8, 9]}, index=[4, 1])),
        Condition({'count': 2, 'word': None}, num_rows=1),
        Condition({'day': '05.07.2020'}, num_rows=2),
    )

    assert len(rows) == 10
    assert rows.index.equals(pd.RangeIndex(10))
    assert rows['count'].tolist()[:2] == [1, 1]
    assert rows['label'].tolist()[2:5] == ['z'] * 3
    assert rows['amount'].tolist()[5:7] == [3.5, 2.5]
    assert rows['count'].tolist()[5:8] == [8, 9, 2]
    assert pd.isna(rows['word'][7])
    assert rows['day'].tolist()[8:] == ['05.07.2020'] * 2
    assert rows.dtypes.to_dict() == wide().dtypes.to_dict()
    # Where nothing is asked for, values vary.
    assert rows['amount'].nunique() == 10


@pytest.mark.parametrize(
    'index',
    [
        ['b', 'a', 'c'],
        [7, 7, 7],
        [5, -1, 3],
        pd.Index([2.5, 1.5, 0.5], name='where'),
        pd.MultiIndex.from_tuples([('a', 1), ('a', 0), ('b', 1)], names=['p', 'q']),
        pd.date_range('2020-01-01', periods=3)[::-1],
    ],
    ids=['text', 'duplicates', 'unsorted', 'named', 'levels', 'dates'],
)
def test_remaining_columns_keep_any_index(wide_synthesizer, index):
    known = pd.DataFrame({'count': [3, 1, 2], 'word': ['one', None, 'two']}, index=index)
    before = known.copy(deep=True)
    rows = wide_synthesizer.sample_remaining_columns(known)

    pd.testing.assert_index_equal(rows.index, known.index)
    assert rows['count'].tolist() == [3, 1, 2]
    assert rows['word'].isna().tolist() == [False, True, False]
    pd.testing.assert_frame_equal(known, before)


def test_remaining_columns_with_personal_information_known(wide_synthesizer):
    known = pd.DataFrame({'email': ['b@home.org', None, 'a@home.org'], 'count': [1, 2, 3]})
    rows = wide_synthesizer.sample_remaining_columns(known)

    assert rows['email'].tolist()[::2] == ['b@home.org', 'a@home.org']
    assert rows['count'].tolist() == [1, 2, 3]


@pytest.mark.parametrize('batch_size', [1, 2, 5])
def test_batches_keep_rows_with_their_conditions(wide_synthesizer, batch_size):
    known = pd.DataFrame({'count': [5, 3, 4, 1, 2]}, index=list('edcba'))
    rows = wide_synthesizer.sample_remaining_columns(known, batch_size=batch_size)

    assert rows['count'].tolist() == [5, 3, 4, 1, 2]
    assert rows.index.tolist() == list('edcba')
    assert rows['key'].is_unique


def test_one_try_is_enough(wide_synthesizer):
    rows = sample(
        wide_synthesizer,
        Condition({'amount': 3.25, 'word': None, 'flag': True}, num_rows=50),
        max_tries_per_batch=1,
    )

    assert len(rows) == 50


@pytest.mark.parametrize('batch_size', [None, 3])
@pytest.mark.parametrize('remaining', [False, True])
def test_output_holds_all_rows_in_order(wide_synthesizer, tmp_path, batch_size, remaining):
    output, path = output_in(tmp_path)
    known = pd.DataFrame({'count': [5, 3, 4, 1, 2, 9, 8]})
    arguments = {'batch_size': batch_size, **output}
    if remaining:
        rows = wide_synthesizer.sample_remaining_columns(known, **arguments)
    else:
        rows = sample(wide_synthesizer, DataFrameCondition(known), **arguments)

    written = pd.read_csv(path)
    assert written['count'].tolist() == known['count'].tolist()
    assert written['key'].tolist() == rows['key'].tolist()
    assert list(written.columns) == list(WIDE)


def test_second_call_differs_and_reset_repeats_both(wide_synthesizer):
    runs = []
    for _ in range(2):
        wide_synthesizer.reset_sampling()
        condition = Condition({'count': 30}, num_rows=20)
        runs.append([sample(wide_synthesizer, condition) for _ in range(2)])

    assert not np.array_equal(runs[0][0]['amount'], runs[0][1]['amount'])
    pd.testing.assert_frame_equal(runs[0][0], runs[1][0])
    pd.testing.assert_frame_equal(runs[0][1], runs[1][1])


@pytest.mark.parametrize('method', ['conditions', 'remaining'])
def test_fitted_with_a_dictionary_returns_one(dict_synthesizer, method):
    known = pd.DataFrame({'job': ['cook', 'nurse']})
    if method == 'conditions':
        rows = dict_synthesizer.sample_from_conditions([DataFrameCondition(known)])
    else:
        rows = dict_synthesizer.sample_remaining_columns(known)

    assert list(rows) == [TABLE]
    assert rows[TABLE]['job'].tolist() == ['cook', 'nurse']


def test_remaining_columns_of_a_dictionary(dict_synthesizer):
    known = {TABLE: pd.DataFrame({'job': ['cook', 'nurse']})}

    assert dict_synthesizer.sample_remaining_columns(known)[TABLE]['job'].tolist() == [
        'cook',
        'nurse',
    ]


def test_integer_column_names():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({0: rng.normal(size=60), 1: list('abc') * 20, 2: [True, False] * 30})
    metadata = {'0': 'numerical', '1': 'categorical', '2': 'boolean'}
    synthesizer = fitted(data, metadata)
    value = data[0][5]
    rows = sample(synthesizer, Condition({0: value, 2: False}, 3), Condition({1: 'b'}, 2))

    assert list(rows.columns) == [0, 1, 2]
    assert rows[0].tolist()[:3] == [value] * 3
    assert rows[2].tolist()[:3] == [False] * 3
    assert rows[1].tolist()[3:] == ['b'] * 2
    known = pd.DataFrame({1: ['c', 'a'], 0: [value, 0.0]})
    rows = synthesizer.sample_remaining_columns(known)
    assert rows[1].tolist() == ['c', 'a']
    assert rows[0].tolist() == [value, 0.0]
