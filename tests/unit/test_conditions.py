"""Conditions as tables of partly known rows."""

import numpy as np
import pandas as pd
import pytest
from sdv.sampling import Condition, DataFrameCondition

from sdv_tabdiff import Between, OneOf
from sdv_tabdiff.conditions import ANYTHING, condition_frame, partial_rows


def test_all_conditions_in_one_frame_in_the_order_asked_for():
    frame = condition_frame([
        Condition({'a': 1}, num_rows=2),
        Condition({'b': 'x'}),
        DataFrameCondition(pd.DataFrame({'b': ['y', 'z'], 'a': [2, 3]})),
    ])

    assert frame['a'].tolist() == [1, 1, ANYTHING, 2, 3]
    assert frame['b'].tolist() == [ANYTHING, ANYTHING, 'x', 'y', 'z']


def test_equal_columns_keep_their_dtype():
    frame = condition_frame([Condition({'a': 1.5}), Condition({'a': 2.5}, num_rows=2)])

    assert frame['a'].dtype == float


def test_different_dtypes_do_not_change_values():
    large = 2**53 + 1
    frame = condition_frame([Condition({'a': large}), Condition({'a': 0.5})])

    assert frame['a'].tolist() == [large, 0.5]
    assert isinstance(frame['a'][0], (int, np.integer))


def test_what_is_no_condition_is_refused():
    with pytest.raises(ValueError, match='list of Condition'):
        condition_frame([{'a': 1}])


def test_cells_are_known_limited_or_anything():
    frame = pd.DataFrame({
        'a': [1, Between(2, 3), ANYTHING, None, Between(2, 3), OneOf(['x', 'y'])]
    })

    rows = partial_rows(frame.set_axis(list('pqrstu')))

    assert rows.known['a'].tolist() == [True, False, False, True, False, False]
    options, index = rows.limits['a']
    assert options == [Between(2, 3), OneOf(['x', 'y'])]
    assert index.tolist() == [-1, 0, -1, -1, 0, 1]
    assert rows.known_values('a').isna().tolist() == [False, True]


def test_some_of_the_rows():
    rows = partial_rows(pd.DataFrame({'a': [1, Between(2, 3), ANYTHING], 'b': [4, 5, 6]}))
    part = rows.take(np.array([1, 0]))

    assert part.frame['b'].tolist() == [5, 4]
    assert part.known['a'].tolist() == [False, True]
    assert part.limits['a'][1].tolist() == [0, -1]


def test_equal_limits_are_equal():
    assert Between(1, 2) == Between(1, 2) != Between(1)
    assert hash(OneOf(['a', 'b'])) == hash(OneOf(('a', 'b')))
    assert repr(OneOf(['a'])) == "OneOf(['a'])"


@pytest.mark.parametrize('values', ['nurse', 3, None])
def test_a_set_needs_a_list(values):
    with pytest.raises(ValueError, match='list of values'):
        OneOf(values)


def test_a_choice_of_one_is_no_choice():
    rows = partial_rows(pd.DataFrame({'a': [Between(2, 2), OneOf(['x']), OneOf([None])]}))

    assert rows.known['a'].all()
    assert not rows.limits
    assert rows.frame['a'].tolist()[:2] == [2, 'x']
