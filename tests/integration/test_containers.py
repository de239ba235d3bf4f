"""A frame in, a frame out; a dictionary in, a dictionary out, on every SDV."""

import numpy as np
import pandas as pd
import pytest
from sdv.errors import InvalidDataError, InvalidDataTypeError
from sdv.sampling import Condition

from .tables import TABLE, people, people_metadata, quick


def known(value='nurse', rows=3):
    return pd.DataFrame({'job': [value] * rows})


SAMPLERS = {
    'sample': lambda synthesizer: synthesizer.sample(3),
    'sample nothing': lambda synthesizer: synthesizer.sample(0),
    'batches': lambda synthesizer: synthesizer.sample(3, batch_size=2),
    'conditions': lambda synthesizer: synthesizer.sample_from_conditions([
        Condition({'job': 'nurse'}, num_rows=3)
    ]),
    'remaining': lambda synthesizer: synthesizer.sample_remaining_columns(known()),
}


@pytest.mark.parametrize('sampler', SAMPLERS)
def test_frame_in_frame_out(people_synthesizer, people_data, sampler):
    sample = SAMPLERS[sampler](people_synthesizer)

    assert isinstance(sample, pd.DataFrame)
    assert list(sample.columns) == list(people_data.columns)


@pytest.mark.parametrize('sampler', SAMPLERS)
def test_dict_in_dict_out(dict_synthesizer, people_data, sampler):
    sample = SAMPLERS[sampler](dict_synthesizer)

    assert list(sample) == [TABLE]
    assert list(sample[TABLE].columns) == list(people_data.columns)


def test_both_containers_give_the_same_rows(people_synthesizer, dict_synthesizer):
    people_synthesizer.reset_sampling()
    dict_synthesizer.reset_sampling()

    pd.testing.assert_frame_equal(people_synthesizer.sample(25), dict_synthesizer.sample(25)[TABLE])


def test_known_columns_may_be_a_dict(dict_synthesizer):
    sample = dict_synthesizer.sample_remaining_columns({TABLE: known()})

    assert sample[TABLE]['job'].tolist() == ['nurse'] * 3


@pytest.mark.parametrize('container', ['frame', 'dict'])
def test_preprocess_returns_the_container_that_it_got(new_synthesizer, people_data, container):
    given = {TABLE: people_data} if container == 'dict' else people_data
    processed = new_synthesizer.preprocess(given)

    assert isinstance(processed, dict) == (container == 'dict')
    new_synthesizer.fit_processed_data(processed)
    assert isinstance(new_synthesizer.sample(2), dict) == (container == 'dict')


@pytest.mark.parametrize('container', ['frame', 'dict'])
def test_a_refit_may_change_the_container(people_data, container):
    first, second = {TABLE: people_data}, people_data
    if container == 'dict':
        first, second = second, first

    synthesizer = quick(people_metadata())
    synthesizer.fit(first)
    synthesizer.fit(second)

    assert isinstance(synthesizer.sample(1), dict) == (container == 'dict')


def test_preprocess_of_a_dict_does_not_change_the_container_of_the_fit(people_data):
    synthesizer = quick(people_metadata())
    synthesizer.fit(people_data)
    with pytest.warns(UserWarning):
        synthesizer.preprocess({TABLE: people_data})

    assert isinstance(synthesizer.sample(1), pd.DataFrame)


@pytest.mark.parametrize('method', ['validate', 'auto_assign_transformers'])
@pytest.mark.parametrize('container', ['frame', 'dict'])
def test_other_methods_take_both_containers(new_synthesizer, people_data, method, container):
    given = {TABLE: people_data} if container == 'dict' else people_data

    assert getattr(new_synthesizer, method)(given) is None


@pytest.mark.parametrize('container', ['frame', 'dict'])
def test_validate_finds_errors_in_both_containers(new_synthesizer, people_data, container):
    wrong = people_data.assign(age='old')
    with pytest.raises(InvalidDataError, match='age'):
        new_synthesizer.validate({TABLE: wrong} if container == 'dict' else wrong)


@pytest.mark.parametrize('method', ['fit', 'preprocess', 'validate'])
def test_wrong_table_name_is_refused_by_name(new_synthesizer, people_data, method):
    with pytest.raises((InvalidDataError, ValueError), match='nowhere|people'):
        getattr(new_synthesizer, method)({'nowhere': people_data})


@pytest.mark.parametrize('method', ['fit', 'preprocess', 'validate'])
def test_two_tables_are_refused(new_synthesizer, people_data, method):
    with pytest.raises(Exception, match='one table|single|multiple|more than one|2'):
        getattr(new_synthesizer, method)({TABLE: people_data, 'other': people_data})


def test_empty_dict_is_refused(new_synthesizer):
    with pytest.raises(Exception, match='table|data|empty|0'):
        new_synthesizer.fit({})

    assert not new_synthesizer.get_info()['is_fit']


@pytest.mark.parametrize(
    'data',
    [
        None,
        'people.csv',
        [[1, 2], [3, 4]],
        np.zeros((4, 7)),
        pd.Series([1.0, 2.0], name='age'),
        {TABLE: np.zeros((4, 7))},
        {TABLE: None},
    ],
    ids=['None', 'path', 'list', 'array', 'series', 'dict of array', 'dict of None'],
)
@pytest.mark.parametrize('method', ['fit', 'preprocess', 'validate'])
def test_what_is_no_table_is_refused_clearly(new_synthesizer, method, data):
    with pytest.raises((InvalidDataTypeError, InvalidDataError, TypeError), match='DataFrame'):
        getattr(new_synthesizer, method)(data)


def test_one_row_frame_is_a_frame():
    synthesizer = quick(people_metadata())
    synthesizer.fit(people(1))

    assert isinstance(synthesizer.sample(2), pd.DataFrame)


class Frame(pd.DataFrame):
    """A user's own kind of frame."""

    @property
    def _constructor(self):
        return Frame


def test_subclass_of_a_frame_is_a_frame(people_data, people_synthesizer):
    synthesizer = quick(people_metadata())
    synthesizer.fit(Frame(people_data))
    people_synthesizer.reset_sampling()

    assert synthesizer.sample(10).equals(people_synthesizer.sample(10))


def test_failed_fit_with_a_dict_keeps_the_container_of_the_earlier_fit(people_data):
    synthesizer = quick(people_metadata())
    synthesizer.fit(people_data)
    with pytest.raises(InvalidDataError):
        synthesizer.fit({TABLE: people_data.iloc[:0]})

    assert isinstance(synthesizer.sample(1), pd.DataFrame)
