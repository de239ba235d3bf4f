"""Conditions that leave a choice: ranges of numbers and dates, sets of categories."""

import math

import numpy as np
import pandas as pd
import pytest
from rdt.transformers import FloatFormatter, LabelEncoder, OneHotEncoder, UniformEncoder
from sdv.sampling import Condition, DataFrameCondition
from sdv.utils import load_synthesizer

from sdv_tabdiff import Between, OneOf

from .requests import refused, sample, wide
from .tables import fitted, metadata_of, output_in, quick

COLUMNS = {
    'whole': 'numerical',
    'real': 'numerical',
    'rounded': 'numerical',
    'few': 'numerical',
    'atom': 'numerical',
    'nullable': 'numerical',
    'constant': 'numerical',
    'empty': 'numerical',
    'moment': 'datetime',
    'day': {'sdtype': 'datetime', 'datetime_format': '%d.%m.%Y'},
    'job': 'categorical',
    'label': 'categorical',
    'code': 'categorical',
    'flag': 'boolean',
    'maybe': 'boolean',
    'email': {'sdtype': 'email', 'pii': True},
}


def table(num_rows=200):
    rng = np.random.default_rng(4)
    days = pd.Series(
        pd.Timestamp('2020-01-01') + pd.to_timedelta(rng.integers(0, 900, num_rows), 'D')
    )
    atom = np.where(rng.random(num_rows) < 0.6, 0.0, rng.uniform(-5, 5, num_rows))
    nullable = pd.Series(rng.integers(0, 300, num_rows), dtype='Int64')
    return pd.DataFrame({
        'whole': rng.integers(-500, 500, num_rows),
        'real': rng.normal(0, 10, num_rows),
        'rounded': rng.uniform(0, 100, num_rows).round(1),
        'few': rng.choice([1, 2, 4, 8], num_rows),
        'atom': np.where(rng.random(num_rows) < 0.2, np.nan, atom),
        'nullable': nullable.mask(rng.random(num_rows) < 0.3),
        'constant': 3.5,
        'empty': np.nan,
        'moment': days + pd.to_timedelta(rng.integers(0, 86400, num_rows), 's'),
        'day': days.dt.strftime('%d.%m.%Y').mask(rng.random(num_rows) < 0.2, None),
        'job': pd.Series(rng.choice(['nurse', 'smith', 'cook'], num_rows), dtype=object).mask(
            rng.random(num_rows) < 0.2, None
        ),
        'label': pd.Series(rng.choice(['x', 'y', 'z'], num_rows), dtype='category'),
        'code': rng.integers(10, 16, num_rows),
        'flag': rng.random(num_rows) < 0.3,
        'maybe': pd.Series(rng.random(num_rows) < 0.5, dtype='boolean').mask(
            rng.random(num_rows) < 0.3
        ),
        'email': [f'p{row}@real.org' for row in range(num_rows)],
    })


def twins(num_rows=400):
    """Two numbers that are almost the same, which half they are in, and a date that goes along."""
    rng = np.random.default_rng(2)
    left = rng.uniform(0, 100, num_rows)
    return pd.DataFrame({
        'left': left,
        'right': left + rng.normal(0, 1, num_rows),
        'half': np.where(left < 50, 'low', 'high'),
        'day': pd.Timestamp('2020-01-01') + pd.to_timedelta((left * 10).round(), 'D'),
    })


@pytest.fixture(scope='module')
def synthesizer():
    return fitted(table(), COLUMNS)


@pytest.fixture(scope='module')
def twins_synthesizer():
    columns = {'left': 'numerical', 'right': 'numerical', 'half': 'categorical', 'day': 'datetime'}
    return fitted(
        twins(),
        columns,
        epochs=400,
        sampling_steps=16,
        learning_rate=0.01,
        ema_decay=0.97,
        trunk_dims=(64, 64),
        conditional_share=1.0,
        early_stopping=False,
    )


def as_dates(column):
    return pd.to_datetime(column, format='%d.%m.%Y')


RANGES = {
    'whole': [(-20, 20), (400, None), (None, -400), (7, 7), (-20.5, 20.5), (0, math.inf)],
    'real': [(-1.0, 1.0), (5, None), (None, -5.0), (0.5, 0.51), (None, None)],
    'rounded': [(10, 20), (90.5, 91), (33.3, 33.3)],
    'few': [(2, 4), (3, 8), (8, None), (2, 2)],
    'atom': [(1, 4), (-1, 1), (0, 0), (None, -1), (0, None)],
    'nullable': [(100, 120), (290, None)],
    'constant': [(3.5, 3.5), (0, None)],
}


@pytest.mark.parametrize(
    ('name', 'ends'), [(name, ends) for name, all_ends in RANGES.items() for ends in all_ends]
)
def test_all_numbers_are_in_the_range(synthesizer, name, ends):
    rows = sample(synthesizer, Condition({name: Between(*ends)}, num_rows=50))
    low, high = (-math.inf if ends[0] is None else ends[0]), ends[1]

    assert len(rows) == 50
    assert rows[name].notna().all()
    assert rows[name].between(low, math.inf if high is None else high).all()
    assert rows.dtypes.to_dict() == table().dtypes.to_dict()


def test_range_of_one_real_number_is_that_number(synthesizer):
    value = table()['real'].iloc[3]
    rows = sample(synthesizer, Condition({'real': Between(value, value)}, num_rows=5))

    assert rows['real'].tolist() == [value] * 5


@pytest.mark.parametrize(
    ('low', 'high'),
    [
        (pd.Timestamp('2020-06-01'), pd.Timestamp('2020-06-30')),
        ('2020-06-01', '2020-06-30 12:00'),
        (pd.Timestamp('2022-01-01'), None),
        (None, '2020-03-01'),
        (np.datetime64('2021-01-01'), pd.Timestamp('2021-02-01').to_pydatetime()),
    ],
)
def test_all_timestamps_are_in_the_range(synthesizer, low, high):
    rows = sample(synthesizer, Condition({'moment': Between(low, high)}, num_rows=40))

    assert len(rows) == 40
    assert low is None or (rows['moment'] >= pd.Timestamp(low)).all()
    assert high is None or (rows['moment'] <= pd.Timestamp(high)).all()
    assert rows['moment'].dtype == table()['moment'].dtype


@pytest.mark.parametrize(
    ('low', 'high'),
    [
        ('01.06.2020', '30.06.2020'),
        ('01.06.2020', '02.06.2020'),
        ('05.06.2020', '05.06.2020'),
        (pd.Timestamp('2020-06-01'), pd.Timestamp('2020-06-30')),
        ('01.01.2022', None),
        (None, '01.03.2020'),
    ],
)
def test_all_dates_of_a_column_of_text_are_in_the_range(synthesizer, low, high):
    rows = sample(synthesizer, Condition({'day': Between(low, high)}, num_rows=40))
    dates = as_dates(rows['day'])
    ends = [as_dates(end) if isinstance(end, str) else end for end in (low, high)]

    assert len(rows) == 40
    assert dates.notna().all()
    assert low is None or (dates >= ends[0]).all()
    assert high is None or (dates <= ends[1]).all()


def test_range_is_used_in_all_its_width(synthesizer):
    rows = sample(synthesizer, Condition({'whole': Between(-100, 100)}, num_rows=300))

    assert rows['whole'].nunique() > 50
    assert rows['whole'].min() < -50
    assert rows['whole'].max() > 50


def test_range_around_an_atom_has_the_atom_and_its_neighbours(synthesizer):
    rows = sample(synthesizer, Condition({'atom': Between(-2, 2)}, num_rows=300))

    assert 0.2 < (rows['atom'] == 0).mean() < 1
    assert (rows['atom'] != 0).any()


SETS = {
    'job': [['nurse', 'cook'], ['smith'], ['nurse', None], [None], ['cook', np.nan]],
    'label': [['x', 'z'], ('y',), np.array(['x', 'y'])],
    'code': [[11, 13], {10, 15}, range(10, 13)],
    'flag': [[True], [True, False]],
    'maybe': [[True], [False, None], [None]],
    'few': [[1, 8], [4]],
}


@pytest.mark.parametrize(
    ('name', 'choices'), [(name, choices) for name, all_ in SETS.items() for choices in all_]
)
def test_all_values_are_in_the_set(synthesizer, name, choices):
    rows = sample(synthesizer, Condition({name: OneOf(choices)}, num_rows=80))
    allowed = pd.Series(list(choices), dtype=object)
    present = allowed.dropna().tolist()

    assert len(rows) == 80
    assert rows[name].dropna().isin(present).all()
    assert set(rows[name].dropna()) == set(present)
    assert rows[name].isna().any() == allowed.isna().any()
    assert rows.dtypes.to_dict() == table().dtypes.to_dict()


def test_ranges_sets_and_values_together(synthesizer):
    condition = {
        'whole': Between(0, 50),
        'day': Between('01.06.2020', None),
        'job': OneOf(['cook', None]),
        'real': 1.25,
        'flag': True,
    }
    rows = sample(synthesizer, Condition(condition, num_rows=60))

    assert len(rows) == 60
    assert rows['whole'].between(0, 50).all()
    assert (as_dates(rows['day']) >= pd.Timestamp('2020-06-01')).all()
    assert rows['job'].dropna().eq('cook').all()
    assert (rows['real'] == 1.25).all()
    assert rows['flag'].all()


@pytest.mark.parametrize('remaining', [False, True])
def test_cells_of_a_frame(synthesizer, remaining):
    known = pd.DataFrame(
        {
            'whole': [Between(0, 5), 77, Between(None, -400), Between(0, 5)],
            'job': ['cook', OneOf(['nurse', 'smith']), None, OneOf([None])],
            'day': [Between('01.06.2020', '05.06.2020'), '07.06.2020', None, Between()],
        },
        index=['d', 'a', 'a', 'c'],
    )
    before = known.copy(deep=True)
    if remaining:
        rows = synthesizer.sample_remaining_columns(known)
        assert rows.index.tolist() == ['d', 'a', 'a', 'c']
    else:
        rows = sample(synthesizer, DataFrameCondition(known))

    whole, job, day = (rows[name].tolist() for name in known)
    assert 0 <= whole[0] <= 5
    assert whole[1] == 77
    assert whole[2] <= -400
    assert 0 <= whole[3] <= 5
    assert job[0] == 'cook'
    assert job[1] in ('nurse', 'smith')
    assert pd.isna(job[2])
    assert pd.isna(job[3])
    assert day[0] in [f'0{number}.06.2020' for number in range(1, 6)]
    assert day[1] == '07.06.2020'
    assert pd.isna(day[2])
    assert isinstance(day[3], str)
    assert rows.dtypes.to_dict() == table().dtypes.to_dict()
    pd.testing.assert_frame_equal(known, before)


def test_different_ranges_in_each_of_hundreds_of_rows(synthesizer):
    lows = np.arange(-300, 300, 6)
    known = pd.DataFrame({'whole': [Between(low, low + 20) for low in lows.tolist()]})
    rows = synthesizer.sample_remaining_columns(known)

    assert rows['whole'].between(lows, lows + 20).all()
    assert rows['whole'].nunique() > 60


def test_conditions_with_and_without_ranges_keep_their_order(synthesizer):
    rows = sample(
        synthesizer,
        Condition({'whole': Between(0, 9)}, num_rows=3),
        Condition({'job': 'cook'}, num_rows=2),
        Condition({'whole': 77}, num_rows=2),
        Condition({'job': OneOf(['smith'])}, num_rows=1),
    )

    assert rows['whole'][:3].between(0, 9).all()
    assert rows['job'].tolist()[3:5] == ['cook'] * 2
    assert rows['whole'].tolist()[5:7] == [77] * 2
    assert rows['job'].tolist()[7] == 'smith'


def test_ranges_are_written_to_the_output(synthesizer, tmp_path):
    output, path = output_in(tmp_path)
    condition = Condition({'whole': Between(0, 9)}, num_rows=10)
    rows = sample(synthesizer, condition, batch_size=4, **output)

    assert pd.read_csv(path)['whole'].tolist() == rows['whole'].tolist()
    assert rows['whole'].between(0, 9).all()


def test_reset_sampling_repeats_ranges_and_the_second_call_differs(synthesizer):
    condition = Condition({'real': Between(0, 5), 'job': OneOf(['cook', 'smith'])}, num_rows=30)
    frames = []
    for _ in range(2):
        synthesizer.reset_sampling()
        frames.append(sample(synthesizer, condition))
    again = sample(synthesizer, condition)

    pd.testing.assert_frame_equal(*frames)
    assert not np.array_equal(again['real'], frames[1]['real'])


def test_one_draw_is_enough_for_a_narrow_range(synthesizer):
    condition = Condition({'real': Between(0.5, 0.6), 'whole': Between(0, 3)}, num_rows=50)

    assert len(sample(synthesizer, condition, max_tries_per_batch=3)) == 50


def test_number_follows_its_twin_in_a_range(twins_synthesizer):
    rows = sample(twins_synthesizer, Condition({'left': Between(80, 90)}, num_rows=100))

    assert rows['left'].between(80, 90).all()
    assert rows['right'].between(70, 100).mean() > 0.8
    assert (rows['half'] == 'high').mean() > 0.8
    assert (rows['day'] > pd.Timestamp('2021-06-01')).mean() > 0.8


def test_numbers_follow_a_range_of_dates(twins_synthesizer):
    first = Between(None, pd.Timestamp('2020-01-01') + pd.Timedelta(200, 'D'))
    rows = sample(twins_synthesizer, Condition({'day': first}, num_rows=100))

    assert (rows['left'] < 35).mean() > 0.8
    assert (rows['half'] == 'low').mean() > 0.8


def test_numbers_follow_a_set(twins_synthesizer):
    rows = sample(twins_synthesizer, Condition({'half': OneOf(['high'])}, num_rows=100))

    assert (rows['half'] == 'high').all()
    assert (rows['left'] > 42).mean() > 0.8


IMPOSSIBLE = {
    'nowhere': ('nowhere', Between(0, 1), []),
    'reversed': ('whole', Between(10, 5), ['10', '5']),
    'reversed dates': ('moment', Between('2021-01-01', '2020-01-01'), ['2021-01-01']),
    'above': ('whole', Between(5000, None), ['5000']),
    'below': ('real', Between(None, -1e6), ['1000000']),
    'dates outside': ('moment', Between('1999-01-01', '1999-12-31'), ['1999']),
    'text dates outside': ('day', Between(None, '01.01.1999'), ['01.01.1999']),
    'between whole numbers': ('whole', Between(1.2, 1.8), ['1.2']),
    'between decimals': ('rounded', Between(50.01, 50.09), ['50.01', '0.1']),
    'between seconds': (
        'moment',
        Between('2020-06-01 10:00:00.1', '2020-06-01 10:00:00.9'),
        ['2020-06-01'],
    ),
    'between states': ('few', Between(5, 7), ['5', '7']),
    'between categories': ('job', Between('cook', 'nurse'), ['OneOf']),
    'between booleans': ('flag', Between(0, 1), ['OneOf']),
    'between emails': ('email', Between('a', 'b'), []),
    'text end': ('whole', Between('few', 'many'), ['few']),
    'second end is text': ('whole', Between(1, 'many'), ['many']),
    'bad date': ('moment', Between('someday', None), ['someday']),
    'bad text date': ('day', Between(None, '31.02.2020'), ['31.02.2020']),
    'number for a date': ('day', Between(3, 4), ['3']),
    'empty column': ('empty', Between(0, 1), []),
    'a value of an empty column': ('empty', 1.0, ['no values']),
    'beside a constant': ('constant', Between(4, 5), ['4']),
    'no choice': ('job', OneOf([]), ['empty']),
    'unseen choice': ('job', OneOf(['cook', 'astronaut']), ['astronaut']),
    'unseen code': ('code', OneOf([10, 99]), ['99']),
    'unseen state': ('few', OneOf([3, 5]), ['3']),
    'missing choice': ('label', OneOf(['x', None]), ['missing']),
    'one of the dates': ('moment', OneOf(['2020-06-01', '2020-06-02']), ['datetime']),
    'one of the text dates': ('day', OneOf(['01.06.2020', '02.06.2020']), ['datetime']),
    'one of the reals': ('real', OneOf([0.5, 0.6]), ['Between']),
    'one of the emails': ('email', OneOf(['a@b.org', 'c@b.org']), []),
    'unhashable choice': ('job', OneOf([['cook']]), ['cook']),
    'text in a set of numbers': ('few', OneOf([1, 'two']), ['two']),
}


@pytest.mark.parametrize('remaining', [False, True], ids=['condition', 'remaining'])
@pytest.mark.parametrize('case', IMPOSSIBLE)
def test_impossible_request_is_refused_by_name(synthesizer, case, remaining):
    name, option, words = IMPOSSIBLE[case]

    def request():
        if remaining:
            synthesizer.sample_remaining_columns(pd.DataFrame({name: [option]}))
        else:
            sample(synthesizer, Condition({name: option}, num_rows=2))

    refused(synthesizer, request, f"'{name}'", *words)


def test_range_for_the_primary_key_is_refused():
    data = pd.DataFrame({'key': range(50), 'number': np.arange(50.0)})
    keyed = fitted(data, {'key': 'id', 'number': 'numerical'}, {'primary_key': 'key'})

    refused(keyed, lambda: sample(keyed, Condition({'key': Between(1, 5)}, 1)), "'key'")


@pytest.mark.parametrize('values', ['cook', 5, None, b'cook'])
def test_set_of_what_is_no_list_is_an_error(values):
    with pytest.raises(ValueError, match='OneOf'):
        OneOf(values)


def test_ranges_and_sets_print_as_they_are_written():
    assert repr(Between(1, None)) == 'Between(low=1, high=None)'
    assert repr(OneOf(('a', None))) == "OneOf(['a', None])"
    assert Between(1, 2) == Between(1, 2)
    assert OneOf(['a']) == OneOf(('a',))


def test_extension_dtypes_keep_their_dtype():
    columns = {name: 'numerical' for name in ['count', 'nullable']}
    columns |= {'label': 'categorical', 'word': 'categorical', 'maybe': 'boolean'}
    data = wide()[list(columns)]
    rows = sample(
        fitted(data, columns),
        Condition({'nullable': Between(100, 200), 'word': OneOf(['one'])}, num_rows=20),
        Condition({'maybe': OneOf([True]), 'label': OneOf(['x', 'y'])}, num_rows=20),
    )

    assert rows['nullable'][:20].between(100, 200).all()
    assert rows['word'][:20].eq('one').all()
    assert rows['maybe'][20:].eq(True).all()
    assert rows['label'][20:].isin(['x', 'y']).all()
    assert rows.dtypes.to_dict() == data.dtypes.to_dict()


def test_integer_column_names():
    data = pd.DataFrame({0: np.arange(60.0), 1: list('abc') * 20})
    numbered = fitted(data, {'0': 'numerical', '1': 'categorical'})
    rows = sample(numbered, Condition({0: Between(10, 20), 1: OneOf(['a', 'c'])}, num_rows=30))

    assert rows[0].between(10, 20).all()
    assert rows[1].isin(['a', 'c']).all()


@pytest.mark.parametrize(
    'parameters',
    [
        {'conditional_share': 0.0},
        {'guidance': 1.0},
        {'max_discrete_values': 0},
        {'enforce_min_max_values': False},
        {'enforce_rounding': False},
    ],
    ids=str,
)
def test_limits_hold_with_any_parameters(parameters):
    rng = np.random.default_rng(0)
    data = pd.DataFrame({
        'a': rng.normal(size=100),
        'b': list('xyzx') * 25,
        'c': rng.integers(0, 9, 100),
    })
    columns = {'a': 'numerical', 'b': 'categorical', 'c': 'numerical'}
    condition = {'a': Between(0, 1), 'b': OneOf(['y', 'z']), 'c': Between(3, 5)}
    rows = sample(fitted(data, columns, **parameters), Condition(condition, num_rows=40))

    assert len(rows) == 40
    assert rows['a'].between(0, 1).all()
    assert rows['b'].isin(['y', 'z']).all()
    assert rows['c'].between(3, 5).all()


@pytest.mark.parametrize(
    ('column', 'transformer'),
    [('b', UniformEncoder), ('b', OneHotEncoder), ('b', LabelEncoder), ('a', FloatFormatter)],
)
def test_limits_hold_behind_other_transformers(column, transformer):
    rng = np.random.default_rng(0)
    data = pd.DataFrame({'a': rng.normal(size=100), 'b': list('xyyzz') * 20})
    other = quick(metadata_of({'a': 'numerical', 'b': 'categorical'}))
    other.auto_assign_transformers(data)
    other.update_transformers({column: transformer()})
    other.fit(data)
    condition = {'a': Between(0, 1), 'b': OneOf(['y', 'x'])}
    rows = sample(other, Condition(condition, num_rows=30))

    assert len(rows) == 30
    assert rows['a'].between(0, 1).all()
    assert rows['b'].isin(['y', 'x']).all()


def test_ranges_after_save_and_load(tmp_path):
    data = pd.DataFrame({'a': np.arange(60.0), 'b': list('xyz') * 20})
    synthesizer = fitted(data, {'a': 'numerical', 'b': 'categorical'})
    synthesizer.save(str(tmp_path / 'model.pkl'))
    loaded = load_synthesizer(str(tmp_path / 'model.pkl'))
    rows = sample(loaded, Condition({'a': Between(3, 9), 'b': OneOf(['z', 'x'])}, num_rows=20))

    assert rows['a'].between(3, 9).all()
    assert rows['b'].isin(['z', 'x']).all()


@pytest.mark.parametrize(
    ('given', 'twin'), [('left', 'right'), ('right', 'left')], ids=['forward', 'backward']
)
def test_number_that_decides_another_is_followed(twins_synthesizer, given, twin):
    known = pd.DataFrame({given: np.repeat(np.linspace(15, 85, 8), 25)})
    rows = twins_synthesizer.sample_remaining_columns(known)
    error = (rows[twin] - rows[given]).abs()

    assert error.median() < 5
    assert np.corrcoef(rows[given], rows[twin])[0, 1] > 0.8


def test_category_that_decides_a_number_is_followed(twins_synthesizer):
    rows = sample(
        twins_synthesizer,
        Condition({'half': 'low'}, num_rows=100),
        Condition({'half': 'high'}, num_rows=100),
    )

    assert (rows['left'][:100] < 58).mean() > 0.8
    assert (rows['left'][100:] > 42).mean() > 0.8
