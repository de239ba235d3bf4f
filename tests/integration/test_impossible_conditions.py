"""Conditions that cannot be met are refused by name, before any sampling."""

import numpy as np
import pandas as pd
import pytest
from sdv.sampling import Condition

from .requests import refused, sample


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
