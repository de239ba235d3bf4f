"""Rows with given values: conditions and known columns."""

import datetime
import warnings

import numpy as np
import pandas as pd
import pytest
from rdt.transformers import (
    ClusterBasedNormalizer,
    FloatFormatter,
    GaussianNormalizer,
    LabelEncoder,
    OneHotEncoder,
    UniformEncoder,
)
from sdv.cag._errors import ConstraintNotMetError
from sdv.errors import (
    InvalidDataError,
    InvalidDataTypeError,
    SamplingError,
    SynthesizerInputError,
)
from sdv.sampling import Condition, DataFrameCondition
from sdv.utils import load_synthesizer

from .tables import TABLE, fitted, metadata_of, output_in, quick


def sample(synthesizer, *conditions, **arguments):
    return synthesizer.sample_from_conditions(list(conditions), **arguments)


@pytest.mark.parametrize('num_rows', [1, 7, 60])
@pytest.mark.parametrize('job', ['nurse', 'smith', 'cook'])
def test_condition_on_a_category_gives_the_exact_number_of_rows(people_synthesizer, job, num_rows):
    rows = sample(people_synthesizer, Condition({'job': job}, num_rows=num_rows))

    assert rows['job'].tolist() == [job] * num_rows
    assert rows.index.equals(pd.RangeIndex(num_rows))
    people_synthesizer.get_metadata().validate_data({TABLE: rows})


@pytest.mark.parametrize('value', [True, False])
def test_condition_on_a_boolean(people_synthesizer, value):
    rows = sample(people_synthesizer, Condition({'member': value}, num_rows=10))

    assert rows['member'].tolist() == [value] * 10


def test_columns_and_types_are_those_of_the_data(people_synthesizer, people_data):
    rows = sample(people_synthesizer, Condition({'job': 'nurse'}, num_rows=10))

    assert list(rows.columns) == list(people_data.columns)
    assert rows.dtypes.to_dict() == people_data.dtypes.to_dict()


def test_several_columns_in_one_condition(people_synthesizer):
    rows = sample(people_synthesizer, Condition({'job': 'nurse', 'member': False}, num_rows=8))

    assert (rows['job'] == 'nurse').all()
    assert not rows['member'].any()


def test_several_conditions_come_in_the_order_given(people_synthesizer):
    rows = sample(
        people_synthesizer,
        Condition({'job': 'smith'}, num_rows=3),
        Condition({'job': 'nurse'}, num_rows=2),
        Condition({'job': 'smith'}, num_rows=1),
    )

    assert rows['job'].tolist() == ['smith'] * 3 + ['nurse'] * 2 + ['smith']


def test_conditions_on_different_columns(people_synthesizer):
    rows = sample(
        people_synthesizer,
        Condition({'job': 'smith'}, num_rows=3),
        Condition({'member': True}, num_rows=4),
    )

    assert rows['job'].tolist()[:3] == ['smith'] * 3
    assert rows['member'].tolist()[3:] == [True] * 4


def test_frame_of_conditions_keeps_its_order(people_synthesizer):
    wanted = pd.DataFrame({'job': ['cook', 'nurse', 'cook', 'smith']}, index=[9, 3, 5, 1])
    before = wanted.copy(deep=True)
    rows = sample(people_synthesizer, DataFrameCondition(wanted))

    assert rows['job'].tolist() == wanted['job'].tolist()
    pd.testing.assert_frame_equal(wanted, before)


def test_condition_on_missing(people_synthesizer):
    rows = sample(people_synthesizer, Condition({'job': None}, num_rows=5))

    assert len(rows) == 5
    assert rows['job'].isna().all()


def test_condition_on_a_number_with_states():
    data = pd.DataFrame({'a': [1, 2, 3, 4] * 20, 'b': list('xyxy') * 20})
    synthesizer = fitted(data, {'a': 'numerical', 'b': 'categorical'})

    assert sample(synthesizer, Condition({'a': 3}, num_rows=6))['a'].tolist() == [3] * 6


def test_remaining_columns_keep_index_order_and_values(people_synthesizer, people_data):
    known = pd.DataFrame({'job': ['cook', 'nurse', 'smith', 'nurse']}, index=[3, 5, 8, 9])
    before = known.copy(deep=True)
    rows = people_synthesizer.sample_remaining_columns(known)

    assert rows['job'].tolist() == known['job'].tolist()
    assert rows.index.tolist() == known.index.tolist()
    assert list(rows.columns) == list(people_data.columns)
    pd.testing.assert_frame_equal(known, before)


def test_remaining_columns_with_several_known(people_synthesizer):
    known = pd.DataFrame({'member': [True, False, False], 'job': ['nurse', 'nurse', 'cook']})
    rows = people_synthesizer.sample_remaining_columns(known)

    pd.testing.assert_frame_equal(rows[['member', 'job']].reset_index(drop=True), known)


@pytest.mark.parametrize('batch_size', [1, 3, 100])
def test_batches(people_synthesizer, batch_size):
    rows = sample(
        people_synthesizer, Condition({'job': 'nurse'}, num_rows=10), batch_size=batch_size
    )

    assert rows['job'].tolist() == ['nurse'] * 10


def test_keys_are_unique(people_synthesizer):
    rows = sample(
        people_synthesizer,
        Condition({'job': 'nurse'}, num_rows=20),
        Condition({'job': 'smith'}, num_rows=20),
    )

    assert rows['key'].is_unique


def test_output_file_holds_the_rows(people_synthesizer, tmp_path):
    output, path = output_in(tmp_path)
    rows = sample(people_synthesizer, Condition({'job': 'nurse'}, num_rows=10), **output)
    written = pd.read_csv(path)

    assert len(written) == len(rows) == 10
    assert sorted(written['key']) == sorted(rows['key'])


@pytest.mark.parametrize('known', [False, True], ids=['condition', 'remaining'])
def test_unknown_column_is_a_value_error_that_names_it(people_synthesizer, known):
    with pytest.raises(ValueError, match="Unexpected column name 'nowhere'"):
        if known:
            people_synthesizer.sample_remaining_columns(pd.DataFrame({'nowhere': [1]}))
        else:
            sample(people_synthesizer, Condition({'nowhere': 1}))


@pytest.mark.parametrize('known', [False, True], ids=['condition', 'remaining'])
def test_primary_key_is_a_value_error_that_names_it(people_synthesizer, known):
    with pytest.raises(ValueError, match="'key' because it is the primary key"):
        if known:
            people_synthesizer.sample_remaining_columns(pd.DataFrame({'key': ['P-00001']}))
        else:
            sample(people_synthesizer, Condition({'key': 'P-00001'}))


def test_unseen_category_is_a_value_error_that_names_it(people_synthesizer):
    with pytest.raises(ValueError, match='astronaut'):
        sample(people_synthesizer, Condition({'job': 'astronaut'}, num_rows=2))


def test_unseen_category_among_known_columns_is_a_value_error_that_names_it(people_synthesizer):
    with pytest.raises(ValueError, match='astronaut'):
        people_synthesizer.sample_remaining_columns(pd.DataFrame({'job': ['astronaut']}))


@pytest.mark.parametrize('conditions', [['nurse'], [{'job': 'nurse'}], 'nurse', [None]])
def test_what_is_no_condition_is_an_error(people_synthesizer, conditions):
    with pytest.raises((ValueError, AttributeError, TypeError)):
        people_synthesizer.sample_from_conditions(conditions)


@pytest.mark.parametrize('method', ['sample_from_conditions', 'sample_remaining_columns'])
def test_before_fit_is_sdvs_error(new_synthesizer, method):
    given = pd.DataFrame({'job': ['nurse']})
    given = [DataFrameCondition(given)] if method == 'sample_from_conditions' else given

    with pytest.raises(SamplingError, match='not been fitted'):
        getattr(new_synthesizer, method)(given)


def test_reset_sampling_repeats_conditional_samples(people_synthesizer):
    frames = []
    for _ in range(2):
        people_synthesizer.reset_sampling()
        frames.append(sample(people_synthesizer, Condition({'job': 'nurse'}, num_rows=10)))

    pd.testing.assert_frame_equal(*frames)


def test_conditions_do_not_change_the_users_objects(people_synthesizer):
    condition = Condition({'job': 'nurse'}, num_rows=3)
    sample(people_synthesizer, condition)

    assert condition.get_column_values() == {'job': 'nurse'}
    assert condition.get_num_rows() == 3


def test_no_pandas_warnings(people_synthesizer):
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        sample(people_synthesizer, Condition({'job': 'nurse', 'member': False}, num_rows=5))
        people_synthesizer.sample_remaining_columns(pd.DataFrame({'job': ['nurse', 'smith']}))


def test_condition_that_decides_another_column_is_followed():
    rng = np.random.default_rng(0)
    kind = rng.choice(list('ab'), 400)
    data = pd.DataFrame({'kind': kind, 'twin': np.where(kind == 'a', 'A', 'B')})
    columns = {'kind': 'categorical', 'twin': 'categorical'}
    synthesizer = fitted(
        data, columns, epochs=300, sampling_steps=20, learning_rate=0.01, ema_decay=0.9
    )
    rows = sample(synthesizer, Condition({'kind': 'a'}, num_rows=100))

    assert (rows['twin'] == 'A').mean() > 0.9


def test_condition_on_personal_information_is_met(people_synthesizer):
    rows = sample(people_synthesizer, Condition({'email': 'me@home.org'}, num_rows=2))

    assert rows['email'].tolist() == ['me@home.org'] * 2


WIDE = {
    'key': {'sdtype': 'id', 'regex_format': 'K[0-9]{6}'},
    'count': 'numerical',
    'amount': 'numerical',
    'share': 'numerical',
    'nullable': 'numerical',
    'label': 'categorical',
    'word': 'categorical',
    'flag': 'boolean',
    'maybe': 'boolean',
    'moment': 'datetime',
    'day': {'sdtype': 'datetime', 'datetime_format': '%d.%m.%Y'},
    'email': {'sdtype': 'email', 'pii': True},
}


def wide(num_rows=150):
    """Every kind of column and dtype; half of them with gaps."""
    rng = np.random.default_rng(1)
    gap = {name: rng.random(num_rows) < 0.2 for name in ['share', 'nullable', 'word', 'maybe']}
    days = pd.Series(
        pd.Timestamp('2020-01-01') + pd.to_timedelta(rng.integers(0, 700, num_rows), 'D')
    )
    share = np.where(rng.random(num_rows) < 0.4, 0.0, rng.uniform(1, 2, num_rows))
    return pd.DataFrame({
        'key': [f'K{row:06d}' for row in range(num_rows)],
        'count': np.append(rng.integers(0, 1000, num_rows - 1), 0),
        'amount': rng.lognormal(2, 1, num_rows),
        'share': np.where(gap['share'], np.nan, share),
        'nullable': pd.Series(rng.integers(0, 500, num_rows), dtype='Int64').mask(gap['nullable']),
        'label': pd.Series(rng.choice(['x', 'y', 'z'], num_rows), dtype='category'),
        'word': pd.Series(rng.choice(['one', 'two'], num_rows), dtype='string').mask(gap['word']),
        'flag': rng.random(num_rows) < 0.3,
        'maybe': pd.Series(rng.random(num_rows) < 0.5, dtype='boolean').mask(gap['maybe']),
        'moment': days + pd.to_timedelta(rng.integers(0, 86400, num_rows), 's'),
        'day': days.dt.strftime('%d.%m.%Y').mask(rng.random(num_rows) < 0.1, None),
        'email': [f'p{row}@real.org' for row in range(num_rows)],
    })


@pytest.fixture(scope='module')
def wide_synthesizer():
    return fitted(wide(), WIDE, {'primary_key': 'key'})


# What a request that cannot be met may raise: each of them is ours or SDV's way to say so.
SDV_ERRORS = (
    ValueError,
    ConstraintNotMetError,
    InvalidDataError,
    InvalidDataTypeError,
    SynthesizerInputError,
)


def refused(synthesizer, request, *words):
    """Assert that a request is refused by an error that says these words, before any sampling."""
    synthesizer.reset_sampling()
    expected = synthesizer.sample(3)
    synthesizer.reset_sampling()
    with pytest.raises(SDV_ERRORS) as error:
        request()

    message = str(error.value)
    assert 'Sampling terminated' not in message
    assert 'Unable to sample' not in message
    assert all(word in message for word in words), message
    # Neither random numbers nor keys were used up.
    pd.testing.assert_frame_equal(synthesizer.sample(3), expected)


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


@pytest.mark.parametrize('remaining', [False, True], ids=['condition', 'remaining'])
@pytest.mark.parametrize(
    ('name', 'value', 'words'),
    [
        ('nowhere', 1, []),
        ('key', 'K000001', []),
        ('label', 'astronaut', ['astronaut', 'x']),
        ('word', 'three', ['three', 'one']),
        ('flag', 'yes', ['yes']),
        ('label', 3, ['3']),
        ('count', 'many', ['many']),
        ('amount', 'much', ['much']),
        ('count', 1.5, ['1.5', 'whole']),
        ('nullable', 1.5, ['1.5', 'whole']),
        ('count', 10**6, ['1000000']),
        ('amount', -1.0, ['-1.0']),
        ('amount', np.inf, ['inf']),
        ('count', True, ['True']),
        ('moment', 'someday', ['someday']),
        ('moment', '1999-01-01', ['1999-01-01']),
        ('moment', 5, ['5']),
        ('day', '2020-07-05', ['2020-07-05']),
        ('day', '31.02.2020', ['31.02.2020']),
        ('day', pd.Timestamp('1999-01-01'), ['1999-01-01']),
        ('count', None, ['missing']),
        ('amount', np.nan, ['missing']),
        ('label', None, ['missing']),
        ('flag', None, ['missing']),
        ('moment', pd.NaT, ['missing']),
    ],
)
def test_impossible_value_is_refused_by_name(wide_synthesizer, name, value, words, remaining):
    def request():
        if remaining:
            wide_synthesizer.sample_remaining_columns(pd.DataFrame({name: [value]}))
        else:
            sample(wide_synthesizer, Condition({name: value}, num_rows=2))

    refused(wide_synthesizer, request, f"'{name}'", *words)


@pytest.mark.parametrize(
    ('name', 'values', 'culprit'),
    [
        ('label', ['x', 'astronaut'], 'astronaut'),
        ('count', [30, 'many'], "'many'"),
        ('count', [30, 1.5], '1.5'),
        ('amount', [5.5, -7.5], '-7.5'),
        ('moment', ['2020-07-01', 'someday'], "Unexpected value 'someday'"),
        ('day', ['05.07.2020', 'someday'], "Unexpected value 'someday'"),
    ],
)
def test_message_names_the_one_bad_value_among_good_ones(wide_synthesizer, name, values, culprit):
    known = pd.DataFrame({name: values})
    good = f'value {values[0]!r} for'

    refused(
        wide_synthesizer,
        lambda: wide_synthesizer.sample_remaining_columns(known),
        f"'{name}'",
        culprit,
    )
    with pytest.raises(ValueError, match='column') as error:
        wide_synthesizer.sample_remaining_columns(known)
    assert good not in str(error.value)


def test_one_impossible_condition_among_others_is_refused(wide_synthesizer):
    refused(
        wide_synthesizer,
        lambda: sample(
            wide_synthesizer,
            Condition({'label': 'x'}, num_rows=2),
            Condition({'word': 'three'}, num_rows=2),
        ),
        "'word'",
        "'three'",
    )


def test_value_that_cannot_be_hashed_is_refused(wide_synthesizer):
    known = pd.DataFrame({'label': [['x']]})

    refused(wide_synthesizer, lambda: wide_synthesizer.sample_remaining_columns(known), "'label'")


@pytest.mark.parametrize('dtype', ['int64', 'int8', 'Int8', 'float32'])
def test_numbers_beyond_the_data_if_they_are_not_enforced(dtype):
    data = pd.DataFrame({'a': pd.Series(range(100), dtype=dtype), 'b': list('xy') * 50})
    columns = {'a': 'numerical', 'b': 'categorical'}
    synthesizer = fitted(data, columns, enforce_min_max_values=False)
    rows = sample(synthesizer, Condition({'a': 1000}, num_rows=2), Condition({'b': 'x'}, 2))

    assert rows['a'].tolist()[:2] == [1000, 1000]
    assert rows['b'].tolist()[2:] == ['x', 'x']
    assert sample(synthesizer, Condition({'a': 1000}, num_rows=2))['a'].tolist() == [1000, 1000]


@pytest.mark.parametrize(
    'parameters',
    [
        {'guidance': 2.0},
        {'guidance': 2.0, 'guidance_columns': ['b']},
        {'conditional_share': 0.0},
        {'max_discrete_values': 0},
        {'enforce_rounding': False},
        {'stochastic_sampler': False},
    ],
    ids=str,
)
def test_values_are_exact_with_any_parameters(parameters):
    rng = np.random.default_rng(0)
    data = pd.DataFrame({
        'a': rng.normal(size=60),
        'b': list('xyz') * 20,
        'c': rng.integers(0, 9, 60),
    })
    columns = {'a': 'numerical', 'b': 'categorical', 'c': 'numerical'}
    rows = sample(
        fitted(data, columns, **parameters),
        Condition({'a': data['a'][3], 'c': 4}, num_rows=5),
        Condition({'b': 'z'}, num_rows=5),
    )

    assert rows['a'].tolist()[:5] == [data['a'][3]] * 5
    assert rows['c'].tolist()[:5] == [4] * 5
    assert rows['b'].tolist()[5:] == ['z'] * 5
    assert rows.notna().all(axis=None)


@pytest.mark.parametrize(
    'data',
    [
        {'a': list('xyz') * 20, 'b': list('pq') * 30},
        {'a': np.random.default_rng(0).normal(size=60), 'b': np.arange(60)},
        {'a': ['x'] * 60, 'b': [3.5] * 60},
    ],
    ids=['categories', 'numbers', 'constants'],
)
def test_tables_of_one_kind(data):
    data = pd.DataFrame(data)
    kinds = {
        name: 'numerical' if pd.api.types.is_numeric_dtype(data[name]) else 'categorical'
        for name in data
    }
    synthesizer = fitted(data, kinds)
    known = data[['a']].iloc[:7]
    rows = synthesizer.sample_remaining_columns(known)

    pd.testing.assert_frame_equal(rows[['a']], known)
    assert rows['b'].isin(data['b']).all() or data['b'].is_unique
    assert sample(synthesizer, DataFrameCondition(data))['b'].tolist() == data['b'].tolist()


def test_table_without_anything_to_model():
    data = pd.DataFrame({'key': range(30), 'email': [f'a{i}@b.org' for i in range(30)]})
    columns = {'key': 'id', 'email': {'sdtype': 'email', 'pii': True}}
    synthesizer = fitted(data, columns, {'primary_key': 'key'})
    rows = sample(synthesizer, Condition({'email': 'me@home.org'}, num_rows=4))

    assert rows['email'].tolist() == ['me@home.org'] * 4
    assert rows['key'].is_unique


@pytest.mark.parametrize(
    ('column', 'transformer'),
    [
        ('b', UniformEncoder),
        ('b', OneHotEncoder),
        ('b', LabelEncoder),
        ('a', FloatFormatter),
        ('a', GaussianNormalizer),
        ('a', ClusterBasedNormalizer),
    ],
)
def test_values_are_exact_behind_other_transformers(column, transformer):
    rng = np.random.default_rng(0)
    data = pd.DataFrame({'a': rng.normal(size=60), 'b': list('xyyzzz') * 10})
    synthesizer = quick(metadata_of({'a': 'numerical', 'b': 'categorical'}))
    synthesizer.auto_assign_transformers(data)
    synthesizer.update_transformers({column: transformer()})
    synthesizer.fit(data)
    known = data[[column]].iloc[:20]
    rows = synthesizer.sample_remaining_columns(known)

    pd.testing.assert_frame_equal(rows[[column]], known)
    assert rows.notna().all(axis=None)


def test_conditions_after_save_and_load(tmp_path):
    synthesizer = fitted(wide(), WIDE, {'primary_key': 'key'})
    synthesizer.save(str(tmp_path / 'model.pkl'))
    loaded = load_synthesizer(str(tmp_path / 'model.pkl'))
    condition = Condition({'amount': 5.25, 'day': '05.07.2020'}, num_rows=5)
    for one in (synthesizer, loaded):
        one.reset_sampling()
    rows = sample(loaded, condition)

    assert rows['amount'].tolist() == [5.25] * 5
    assert rows['day'].tolist() == ['05.07.2020'] * 5
    pd.testing.assert_frame_equal(rows, sample(synthesizer, condition))
    refused(loaded, lambda: sample(loaded, Condition({'label': 'astronaut'}, 1)), 'astronaut')


def test_conditions_follow_the_latest_fit():
    first = pd.DataFrame({'a': list('xy') * 30, 'b': np.arange(60.0)})
    second = pd.DataFrame({'a': list('pq') * 30, 'b': np.arange(60.0) + 1000})
    synthesizer = fitted(first, {'a': 'categorical', 'b': 'numerical'})
    synthesizer.fit(second)
    rows = sample(synthesizer, Condition({'a': 'p', 'b': 1030.5}, num_rows=3))

    assert rows['a'].tolist() == ['p'] * 3
    assert rows['b'].tolist() == [1030.5] * 3
    refused(synthesizer, lambda: sample(synthesizer, Condition({'a': 'x'}, 1)), "'x'")
    refused(synthesizer, lambda: sample(synthesizer, Condition({'b': 30.0}, 1)), '30.0')


def test_failed_refit_keeps_conditions_working():
    data = pd.DataFrame({'a': list('xy') * 30, 'b': np.arange(60.0)})
    synthesizer = fitted(data, {'a': 'categorical', 'b': 'numerical'})
    bad = pd.DataFrame({'a': list('pq') * 30, 'b': [np.inf] * 60})
    with pytest.raises(InvalidDataError, match='infinite'):
        synthesizer.fit(bad)
    synthesizer.learning_rate = 1e30
    with pytest.raises(Exception, match='finite|loss'):
        synthesizer.fit(bad.assign(b=np.arange(60.0) + 1000))

    rows = sample(synthesizer, Condition({'a': 'x', 'b': 30.0}, num_rows=3))
    assert rows['a'].tolist() == ['x'] * 3
    assert rows['b'].tolist() == [30.0] * 3
    refused(synthesizer, lambda: sample(synthesizer, Condition({'a': 'p'}, 1)), "'p'")


def test_conditions_after_preprocess_and_fit_processed_data():
    synthesizer = quick(metadata_of(WIDE, primary_key='key'))
    synthesizer.fit_processed_data(synthesizer.preprocess(wide()))
    known = wide().drop(columns='key').iloc[:20]
    rows = synthesizer.sample_remaining_columns(known)

    pd.testing.assert_frame_equal(rows.drop(columns='key'), known)
    refused(synthesizer, lambda: sample(synthesizer, Condition({'count': -5}, 1)), '-5')
