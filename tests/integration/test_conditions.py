"""Rows with given values: conditions and known columns."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sdv.errors import (
    SamplingError,
)
from sdv.sampling import Condition, DataFrameCondition

from .requests import sample
from .tables import TABLE, fitted, output_in


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
