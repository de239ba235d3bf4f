"""What is known of processed rows, as tensors."""

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import norm

from sdv_tabdiff.knowledge import (
    Knowledge,
    Restriction,
    Restrictions,
    hide_others,
    leading_cells,
    to_given,
)
from sdv_tabdiff.table import TableCodec


@pytest.fixture
def codec():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({
        'smooth': rng.standard_normal(1000),
        'inflated': np.where(rng.random(1000) < 0.5, 0.0, rng.standard_normal(1000)),
        'gaps': np.where(rng.random(1000) < 0.3, np.nan, rng.integers(0, 3, 1000)),
        'label': rng.choice(['a', 'b', 'c'], 1000),
    })
    return TableCodec(['label']).fit(frame)


def knowledge(restrictions=None, **columns):
    frame = pd.DataFrame(columns)
    return Knowledge(frame, frame.notna(), restrictions or {})


def test_known_columns_are_known_in_all_their_features(codec):
    given = to_given(knowledge(inflated=[0.0, 1.5], label=['b', None]), codec)
    known = dict(zip([*codec.numerical_names, *codec.categorical_names], given.roles.known.T))
    features = [*codec.numerical_names, *codec.categorical_names]

    assert features.count('inflated') == 2
    for feature, cells in zip(features, given.roles.known.T.tolist()):
        expected = {'inflated': [True, True], 'label': [True, False]}.get(feature, [False, False])
        assert cells == expected
    assert known['label'].tolist() == [True, False]
    # The first row is in the state 'exactly zero' and has no number.
    number = given.x_num[:, codec.numerical_names.index('inflated')]
    assert number[0].isnan() and not number[1].isnan()


def test_a_value_between_the_states_is_taken_for_the_nearest(codec):
    given = to_given(knowledge(gaps=[0.2, 1.9]), codec)

    assert given.x_cat[:, codec.categorical_names.index('gaps')].tolist() == [0, 2]


def test_a_range_weighs_states_and_the_continuous_part(codec):
    limit = Restrictions([Restriction(low=-0.5, high=0.5)], np.array([0, -1]))
    given = to_given(knowledge({'inflated': limit}, label=['a', 'b']), codec)

    column = codec.column('inflated')
    choice = given.limits.choices[codec.categorical_names.index('inflated')]
    zero, continuous = choice.log_weights[choice.set_of[0]].tolist()
    bounds = [(end - column._mean) / column._scale for end in (-0.5, 0.5)]
    assert zero == 0
    assert np.exp(continuous) == pytest.approx(np.diff(norm.cdf(bounds))[0], rel=1e-4)
    assert choice.log_weights[choice.set_of[1]].tolist() == [0, 0]
    position = codec.numerical_names.index('inflated')
    assert given.limits.low[0, position].item() == pytest.approx(bounds[0], rel=1e-4)
    assert given.limits.low[1, position].isneginf()


def test_a_range_without_states_or_numbers_is_empty(codec):
    assert codec.column('gaps').restrict(Restriction(low=0.2, high=0.8)).is_empty
    assert codec.column('inflated').restrict(Restriction(low=50, high=60)).is_empty
    assert not codec.column('gaps').restrict(Restriction(low=0.2, high=1.8)).is_empty


def test_missing_is_allowed_only_on_request(codec):
    column = codec.column('gaps')
    missing = column.num_levels - 1

    assert np.isneginf(column.restrict(Restriction()).log_weights[missing])
    assert column.restrict(Restriction(missing=True)).log_weights[missing] == 0


def test_a_set_of_levels(codec):
    allowed = codec.column('label').restrict(Restriction(allowed=frozenset('ac')))

    levels = codec.column('label').levels
    assert [level for level, weight in zip(levels, allowed.log_weights) if weight == 0] == [
        level for level in levels if level in 'ac'
    ]


def test_only_leading_cells_are_drawn_first(codec):
    restrictions = {
        'label': Restrictions([Restriction(allowed=frozenset('a'))], np.array([0, -1])),
        'gaps': Restrictions([Restriction(leads=False)], np.array([0, 0])),
    }
    rows = knowledge(restrictions, smooth=[0.5, 0.1])
    leading = leading_cells(rows, codec)

    names = np.array([*codec.numerical_names, *codec.categorical_names])
    assert [list(names[row]) for row in leading.numpy()] == [['label'], []]
    hidden = hide_others(to_given(rows, codec), leading).roles
    assert list(names[hidden.wanted[0].numpy()]) == ['label']
    assert list(names[hidden.known[0].numpy()]) == ['smooth']


def test_some_of_the_rows():
    limit = Restrictions([Restriction(low=1)], np.array([0, -1, 0]))
    part = knowledge({'x': limit}, y=[1.0, None, 3.0]).take(np.array([2, 0]))

    assert part.frame['y'].tolist() == [3, 1]
    assert part.restrictions['x'].index.tolist() == [0, 0]
    assert len(part) == 2


def test_states_say_which_numbers_there_are(codec):
    position = codec.numerical_names.index('inflated')
    states = torch.zeros(3, len(codec.levels), dtype=torch.int64)
    states[1, codec.categorical_names.index('inflated')] = 1

    assert codec.has_number(states)[:, position].tolist() == [False, True, False]
    assert codec.has_number(states)[:, codec.numerical_names.index('smooth')].all()


def test_features_and_their_columns(codec):
    numerical, categorical = codec.features_of(['inflated', 'label'])

    assert [codec.numerical_names[i] for i in numerical] == ['inflated']
    assert {codec.categorical_names[i] for i in categorical} == {'inflated', 'label'}
    names = [*codec.numerical_names, *codec.categorical_names]
    by_column = {}
    for name, column in zip(names, codec.feature_columns):
        by_column.setdefault(name, set()).add(column)
    assert all(len(columns) == 1 for columns in by_column.values())
