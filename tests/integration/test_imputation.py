"""Filling in the holes of a table."""

import warnings

import numpy as np
import pandas as pd
import pytest

from .requests import KEPT, WIDE, assert_filled, draws, holes, refused, wide
from .tables import fitted

TWINS = {'kind': 'categorical', 'twin': 'categorical', 'number': 'numerical', 'day': 'datetime'}


def twins(num_rows=300):
    """Four columns, each of which tells the others."""
    kind = np.random.default_rng(5).integers(0, 2, num_rows)
    noise = np.random.default_rng(6).normal(0, 1, num_rows)
    return pd.DataFrame({
        'kind': np.where(kind, 'a', 'b'),
        'twin': np.where(kind, 'A', 'B'),
        'number': kind * 100 + noise,
        'day': pd.Timestamp('2020-01-01') + pd.to_timedelta(kind * 1000, 'D'),
    })


@pytest.fixture
def synthesizer(wide_synthesizer):
    return wide_synthesizer


@pytest.fixture(scope='module')
def twins_synthesizer():
    return fitted(
        twins(),
        TWINS,
        epochs=200,
        sampling_steps=12,
        learning_rate=0.01,
        ema_decay=0.9,
        conditional_share=1.0,
        early_stopping=False,
    )


@pytest.mark.parametrize('method', ['draw', 'mean', 'median'])
def test_holes_are_filled_and_nothing_else_changes(synthesizer, method):
    data = holes(wide())
    before = data.copy(deep=True)
    filled = synthesizer.impute(data, method=method, num_draws=draws(method))

    assert_filled(filled, data)
    pd.testing.assert_frame_equal(data, before)


@pytest.mark.parametrize('method', ['draw', 'mean', 'median'])
def test_filled_cells_look_like_the_data(synthesizer, method):
    data = holes(wide().iloc[:40])
    filled = synthesizer.impute(data, method=method, num_draws=1)

    assert (filled['count'] % 1 == 0).all()
    for name in ['count', 'amount', 'share', 'nullable', 'moment']:
        assert filled[name].between(wide()[name].min(), wide()[name].max()).all()
    for name in ['label', 'word', 'flag', 'maybe']:
        assert filled[name].isin(wide()[name].dropna()).all()
    dates = pd.to_datetime(filled['day'], format='%d.%m.%Y')
    assert dates.between('2020-01-01', '2021-12-31').all()
    assert filled['email'].str.contains('@').all()


@pytest.mark.parametrize('method', ['draw', 'mean'])
def test_table_without_holes_comes_back_as_it_is(synthesizer, method):
    data = wide().dropna()
    filled = synthesizer.impute(data, method=method)

    pd.testing.assert_frame_equal(filled, data)
    assert filled is not data


def test_imputing_nothing_takes_no_random_numbers(synthesizer):
    synthesizer.reset_sampling()
    expected = synthesizer.sample(3)
    synthesizer.reset_sampling()
    synthesizer.impute(wide().dropna())

    pd.testing.assert_frame_equal(synthesizer.sample(3), expected)


@pytest.mark.parametrize('method', ['draw', 'mean', 'median'])
def test_row_of_which_nothing_is_known(synthesizer, method):
    data = wide().iloc[:8].copy()
    data['flag'] = data['flag'].astype(object)
    data.loc[[2, 5], :] = None
    data = data.astype({name: wide()[name].dtype for name in ['label', 'nullable', 'word']})
    filled = synthesizer.impute(data, method=method, num_draws=1)

    assert_filled(filled, data)


def test_whole_table_of_which_nothing_is_known(synthesizer):
    data = pd.DataFrame(np.nan, index=range(40), columns=list(WIDE), dtype=object)
    filled = synthesizer.impute(data)

    assert filled.notna().all(axis=None)
    assert filled['amount'].nunique() > 20
    assert filled['key'].is_unique


@pytest.mark.parametrize('method', ['draw', 'mean'])
@pytest.mark.parametrize('name', WIDE)
def test_absent_column_is_made_whole_in_its_own_dtype(synthesizer, name, method):
    data = wide().drop(columns=name).dropna().iloc[:8]
    filled = synthesizer.impute(data, method=method, num_draws=1)

    assert list(filled.columns) == list(WIDE)
    assert filled[name].notna().all()
    assert filled[name].dtype == wide()[name].dtype
    pd.testing.assert_frame_equal(filled.drop(columns=name), data)


def test_several_columns_are_absent(synthesizer):
    data = wide()[['day', 'count']].iloc[:20]
    filled = synthesizer.impute(data)

    assert list(filled.columns) == list(WIDE)
    assert filled.notna().all(axis=None)
    assert filled['count'].tolist() == data['count'].tolist()


@pytest.mark.parametrize('method', ['draw', 'mean', 'median'])
def test_empty_frame_stays_empty(synthesizer, method):
    data = wide().iloc[:0]
    filled = synthesizer.impute(data, method=method)

    pd.testing.assert_frame_equal(filled, data)


def test_empty_frame_has_no_probabilities(synthesizer):
    assert all(len(shares) == 0 for shares in synthesizer.impute_probabilities(wide()[:0]).values())


@pytest.mark.parametrize(
    'index',
    [
        list('edcba'),
        [7, 7, 7, 1, 1],
        [5, -1, 3, 0, 9],
        pd.Index([0.5, 0.4, 0.3, 0.2, 0.1], name='where'),
        pd.MultiIndex.from_tuples([('a', 1), ('a', 0), ('b', 1), ('b', 1), ('c', 1)]),
    ],
    ids=['text', 'duplicates', 'unsorted', 'named', 'levels'],
)
@pytest.mark.parametrize('method', ['draw', 'mean'])
def test_any_index_is_kept(synthesizer, index, method):
    data = holes(wide().iloc[:5], share=0.5).set_axis(index, axis=0)
    filled = synthesizer.impute(data, method=method, num_draws=1)

    assert_filled(filled, data)


def test_columns_in_another_order_stay_there(synthesizer):
    data = holes(wide())[list(WIDE)[::-1]]
    filled = synthesizer.impute(data)

    assert_filled(filled, data)


def test_unseen_category_stays_with_a_warning(synthesizer):
    data = wide().iloc[:6].copy()
    data['label'] = data['label'].astype(object)
    data.loc[1, ['label', 'count']] = ['astronaut', None]
    data.loc[2, 'count'] = None
    with pytest.warns(UserWarning, match="'label' has the value 'astronaut'"):
        filled = synthesizer.impute(data)

    assert filled['label'].tolist() == data['label'].tolist()
    assert filled['count'].notna().all()


def test_unseen_category_in_a_row_without_holes_is_no_matter(synthesizer):
    data = wide().dropna().iloc[:6].copy()
    data['label'] = data['label'].astype(object)
    data.iloc[1, data.columns.get_loc('label')] = 'astronaut'
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        filled = synthesizer.impute(data)

    pd.testing.assert_frame_equal(filled, data)


@pytest.mark.parametrize('method', ['draw', 'mean'])
def test_numbers_and_dates_outside_the_training_range_stay(synthesizer, method):
    data = wide().iloc[:4].copy()
    data['count'] = [10**9, -(10**9), 5, 6]
    data['amount'] = [1e300, -1e300, np.inf, 0.1 + 0.2]
    data['moment'] = pd.to_datetime(['1980-01-01', '2100-01-01', '2020-05-05', '2020-05-05'])
    data['day'] = ['01.01.1980', '01.01.2100', None, None]
    data['share'] = np.nan
    filled = synthesizer.impute(data, method=method, num_draws=1)

    assert_filled(filled, data)
    assert filled['share'].between(0, 2).all()


def test_imputed_keys_are_new(synthesizer):
    data = wide().copy()
    data.loc[::2, 'key'] = None
    filled = synthesizer.impute(data)

    assert filled['key'].is_unique
    assert filled['key'].str.fullmatch('K[0-9]{6}').all()


def test_personal_information_with_holes(synthesizer):
    data = wide().iloc[:20].copy()
    data.loc[::2, 'email'] = None
    filled = synthesizer.impute(data)

    assert filled['email'][1::2].tolist() == data['email'][1::2].tolist()
    assert filled['email'][::2].str.contains('@').all()
    assert not filled['email'][::2].isin(wide()['email']).any()


def test_cells_may_stay_missing_in_all_columns(synthesizer):
    data = pd.DataFrame({'count': range(20, 420)})
    filled = synthesizer.impute(data, keep_missing=True)

    for name in KEPT:
        assert 0 < filled[name].isna().sum() < 400, name
    assert filled.drop(columns=KEPT).notna().all(axis=None)


def test_cells_may_stay_missing_in_some_columns(synthesizer):
    data = pd.DataFrame({'count': range(20, 420)})
    filled = synthesizer.impute(data, keep_missing=['word', 'share', 'count'])

    assert 0 < filled['word'].isna().sum() < 400
    assert 0 < filled['share'].isna().sum() < 400
    assert filled.drop(columns=['word', 'share']).notna().all(axis=None)


def test_several_draws_differ(synthesizer):
    data = holes(wide())
    tables = synthesizer.impute(data, num_draws=3)

    assert isinstance(tables, list)
    assert len(tables) == 3
    for one in tables:
        assert_filled(one, data)
    assert not tables[0]['amount'].equals(tables[1]['amount'])
    assert not tables[1]['amount'].equals(tables[2]['amount'])


def test_one_draw_is_no_list(synthesizer):
    assert isinstance(synthesizer.impute(holes(wide()), num_draws=1), pd.DataFrame)


def test_random_state_repeats_and_leaves_the_synthesizer_alone(synthesizer):
    data = holes(wide(), columns=['amount', 'word', 'day'])
    synthesizer.reset_sampling()
    expected = synthesizer.sample(5)
    synthesizer.reset_sampling()
    first = synthesizer.impute(data, random_state=11)
    pd.testing.assert_frame_equal(synthesizer.sample(5), expected)
    synthesizer.sample(7)
    again = synthesizer.impute(data, random_state=11)
    other = synthesizer.impute(data, random_state=12)

    pd.testing.assert_frame_equal(first, again)
    assert not first['amount'].equals(other['amount'])


def test_random_state_repeats_keys_and_personal_information(synthesizer):
    data = holes(wide(), columns=['key', 'email'])
    first, again = (synthesizer.impute(data, random_state=11) for _ in range(2))

    pd.testing.assert_frame_equal(first, again)


def test_random_state_repeats_several_draws_and_best_guesses(synthesizer):
    data = holes(wide(), columns=['amount', 'word', 'day'])
    for arguments in ({'num_draws': 2}, {'method': 'mean', 'num_draws': 2}):
        first, again = (synthesizer.impute(data, random_state=3, **arguments) for _ in range(2))
        frames = zip(first, again) if isinstance(first, list) else [(first, again)]
        for one, other in frames:
            pd.testing.assert_frame_equal(one, other)


def test_without_random_state_draws_go_on_and_reset_sampling_starts_anew(synthesizer):
    data = holes(wide(), columns=['amount', 'word', 'day'])
    runs = []
    for _ in range(2):
        synthesizer.reset_sampling()
        runs.append([synthesizer.impute(data) for _ in range(2)])

    pd.testing.assert_frame_equal(runs[0][0], runs[1][0])
    pd.testing.assert_frame_equal(runs[0][1], runs[1][1])
    assert not runs[0][0]['amount'].equals(runs[0][1]['amount'])


def test_each_row_is_filled_from_its_own_cells(twins_synthesizer):
    data = twins().sample(frac=1, random_state=0)
    data['twin'] = data['twin'].where(np.arange(300) % 2 == 0, None)
    data['number'] = data['number'].where(np.arange(300) % 3 == 0)
    filled = twins_synthesizer.impute(data)

    assert (filled['twin'] == filled['kind'].str.upper()).mean() > 0.9
    assert ((filled['number'] > 50) == (filled['kind'] == 'a')).mean() > 0.9


@pytest.mark.parametrize('method', ['mean', 'median'])
def test_best_guess_of_a_determined_cell_is_right(twins_synthesizer, method):
    data = twins().iloc[:60]
    holed = data.assign(twin=None, number=np.nan, day=pd.NaT)
    filled = twins_synthesizer.impute(holed, method=method)

    assert filled['twin'].tolist() == data['twin'].tolist()
    assert ((filled['number'] - data['number']).abs() < 30).mean() > 0.9
    assert ((filled['day'] - data['day']).abs() < pd.Timedelta(300, 'D')).mean() > 0.9


def test_best_guess_varies_less_than_draws(synthesizer):
    data = pd.DataFrame({'label': ['x'] * 40})
    draw = synthesizer.impute(data, random_state=0)
    mean = synthesizer.impute(data, method='mean', num_draws=20, random_state=0)

    assert mean['amount'].std() < draw['amount'].std() / 2


def test_probabilities_are_those_of_the_determined_category(twins_synthesizer):
    data = twins().iloc[:60].assign(twin=None)
    data.index = [f'row {row}' for row in range(60)]
    shares = twins_synthesizer.impute_probabilities(data)

    assert list(shares) == ['twin']
    assert set(shares['twin'].columns) == {'A', 'B'}
    assert shares['twin'].index.tolist() == data.index.tolist()
    np.testing.assert_allclose(shares['twin'].sum(axis=1), 1, atol=1e-6)
    guesses = shares['twin'].idxmax(axis=1)
    assert guesses.tolist() == twins()['twin'].iloc[:60].tolist()
    assert (shares['twin'].max(axis=1) > 0.8).mean() > 0.9


def test_probabilities_of_all_columns_of_categories(synthesizer):
    data = holes(wide())
    shares = synthesizer.impute_probabilities(data)

    assert set(shares) == {'label', 'word', 'flag', 'maybe'}
    for name, frame in shares.items():
        assert frame.index.tolist() == data.index[data[name].isna()].tolist()
        assert set(frame.columns) == set(wide()[name].dropna())
        np.testing.assert_allclose(frame.sum(axis=1), 1, atol=1e-6)
        assert (frame >= 0).all(axis=None)


def test_missing_is_a_category_if_it_may_stay(synthesizer):
    data = wide().assign(word=pd.Series(pd.NA, index=range(150), dtype='string'), label=None)
    shares = synthesizer.impute_probabilities(data, keep_missing=['word'])

    assert shares['word'].columns.isna().sum() == 1
    assert set(shares['word'].columns.dropna()) == {'one', 'two'}
    assert not shares['label'].columns.isna().any()
    np.testing.assert_allclose(shares['word'].sum(axis=1), 1, atol=1e-6)
    missing = shares['word'].loc[:, shares['word'].columns.isna()]
    assert 0.02 < missing.to_numpy().mean() < 0.6


def test_probabilities_of_some_columns(synthesizer):
    shares = synthesizer.impute_probabilities(holes(wide()), columns=['label'], guidance=1.0)

    assert list(shares) == ['label']
    np.testing.assert_allclose(shares['label'].sum(axis=1), 1, atol=1e-6)


def test_probabilities_of_a_column_without_holes(synthesizer):
    data = holes(wide(), columns=['word'])

    assert len(synthesizer.impute_probabilities(data, columns=['label'])['label']) == 0


def test_probabilities_take_no_random_numbers(synthesizer):
    synthesizer.reset_sampling()
    expected = synthesizer.sample(5)
    synthesizer.reset_sampling()
    first, again = (synthesizer.impute_probabilities(holes(wide())) for _ in range(2))

    pd.testing.assert_frame_equal(first['word'], again['word'])
    pd.testing.assert_frame_equal(synthesizer.sample(5), expected)


@pytest.mark.parametrize('guidance', [0, 0.5, 3.0])
def test_guidance(synthesizer, guidance):
    data = holes(wide())
    filled = synthesizer.impute(data, guidance=guidance)

    assert_filled(filled, data)


def test_guidance_needs_something_to_compare_with():
    synthesizer = fitted(twins(60), TWINS, conditional_share=0.0)
    data = holes(twins(60), columns=['twin'])

    refused(synthesizer, lambda: synthesizer.impute(data, guidance=0.5), "'guidance'", '0.5')
    shares = synthesizer.impute_probabilities(data)['twin']
    np.testing.assert_allclose(shares.sum(axis=1), 1)
