"""Fitting, refitting, preprocessing, and what fitting must leave alone."""

import warnings
from datetime import date

import numpy as np
import pandas as pd
import pytest
import sdv
from sdv.errors import InvalidDataError, NotFittedError, RefitWarning, SamplingError

from .tables import PEOPLE, TABLE, fitted, metadata_of, people, people_metadata, quick

MIXED = {'number': 'numerical', 'kind': 'categorical'}


def mixed(num_rows=40, seed=0, low=0, kinds='abc'):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({
        'number': rng.uniform(low, low + 1, num_rows).round(3),
        'kind': rng.choice(list(kinds), num_rows),
    })


@pytest.fixture
def fitted_people(people_data):
    synthesizer = quick(people_metadata())
    synthesizer.fit(people_data)
    return synthesizer


def test_fit_returns_nothing(new_synthesizer, people_data):
    assert new_synthesizer.fit(people_data) is None


def test_get_info_before_and_after_fit(new_synthesizer, people_data):
    before = new_synthesizer.get_info()
    new_synthesizer.fit(people_data)
    after = new_synthesizer.get_info()

    assert before['class_name'] == after['class_name'] == 'TabDiffSynthesizer'
    assert (before['is_fit'], after['is_fit']) == (False, True)
    assert before['last_fit_date'] is None
    assert after['last_fit_date'] == date.today().strftime('%Y-%m-%d')
    assert after['fitted_sdv_version'] == sdv.version.community


def test_fit_is_silent(new_synthesizer, people_data, capsys):
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        new_synthesizer.fit(people_data)

    captured = capsys.readouterr()
    assert captured.out == captured.err == ''


def test_verbose_fit_shows_a_progress_bar(people_data, capsys):
    quick(people_metadata(), verbose=True).fit(people_data)

    assert 'epoch' in capsys.readouterr().err


@pytest.mark.parametrize(
    'index',
    [
        pd.RangeIndex(80),
        pd.Index(np.arange(80) + 1000),
        pd.Index(np.zeros(80, dtype=int)),
        pd.Index([f'row {row}' for row in range(80)], name='rows'),
        pd.date_range('2024-01-01', periods=80),
        pd.Index(np.random.default_rng(0).permutation(80)),
        pd.MultiIndex.from_product([range(8), range(10)]),
    ],
    ids=['range', 'offset', 'duplicated', 'strings', 'dates', 'shuffled', 'multi'],
)
def test_the_index_of_the_data_does_not_matter(index, people_data, people_synthesizer):
    data = people_data.set_axis(index, axis=0)
    before = data.copy(deep=True)
    synthesizer = quick(people_metadata())
    synthesizer.fit(data)
    people_synthesizer.reset_sampling()

    pd.testing.assert_frame_equal(data, before)
    pd.testing.assert_frame_equal(synthesizer.sample(15), people_synthesizer.sample(15))


@pytest.mark.parametrize('method', ['fit', 'preprocess', 'validate', 'auto_assign_transformers'])
@pytest.mark.parametrize('container', ['frame', 'dict'])
def test_the_users_data_is_not_changed(method, container, people_data):
    data = people_data.astype({'job': 'category', 'age': 'Int64'})
    before = data.copy(deep=True)
    given = {TABLE: data} if container == 'dict' else data
    getattr(quick(people_metadata()), method)(given)

    pd.testing.assert_frame_equal(data, before)
    assert container == 'frame' or given[TABLE] is data


def test_read_only_data_is_accepted():
    values = np.random.default_rng(0).normal(size=(30, 2))
    values.flags.writeable = False
    data = pd.DataFrame(values, columns=['a', 'b'], copy=False)

    assert len(fitted(data, {'a': 'numerical', 'b': 'numerical'}).sample(5)) == 5


def test_a_view_of_a_larger_frame_is_accepted_without_warning():
    larger = people(160)
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        quick(people_metadata()).fit(larger[larger['age'] > 40])


def test_column_order_of_the_data_may_differ_from_the_metadata(people_data):
    reverse = people_data[people_data.columns[::-1]]
    sample = fitted(reverse, PEOPLE, table={'primary_key': 'key'}).sample(10)

    assert set(sample.columns) == set(PEOPLE)
    assert sample['age'].between(18, 90).all()


def test_refit_on_other_data_forgets_the_earlier_data():
    synthesizer = fitted(mixed(low=0, kinds='abc'), MIXED)
    synthesizer.fit(mixed(low=100, kinds='xyz', seed=1))
    sample = synthesizer.sample(50)

    assert sample['number'].between(100, 101).all()
    assert set(sample['kind']) <= set('xyz')


def test_refit_equals_a_first_fit():
    again = fitted(mixed(seed=1), MIXED)
    again.sample(3)
    again.fit(mixed(seed=2))

    pd.testing.assert_frame_equal(again.sample(20), fitted(mixed(seed=2), MIXED).sample(20))


def test_refit_after_gaps_on_complete_data_has_no_gaps():
    gaps = mixed()
    gaps.loc[::3, 'number'] = np.nan
    gaps.loc[::4, 'kind'] = None
    synthesizer = fitted(gaps, MIXED)
    synthesizer.fit(mixed())

    assert synthesizer.sample(100).notna().to_numpy().all()


def test_refit_on_data_with_gaps_has_gaps():
    gaps = mixed()
    gaps.loc[::2, 'number'] = np.nan
    synthesizer = fitted(mixed(), MIXED)
    synthesizer.fit(gaps)

    assert synthesizer.sample(100)['number'].isna().any()


def test_refit_with_another_dtype_uses_the_new_dtype():
    synthesizer = fitted(mixed(), MIXED)
    synthesizer.fit(mixed().assign(number=np.arange(40, dtype='int32')))

    assert synthesizer.sample(5)['number'].dtype == np.dtype('int32')


@pytest.mark.parametrize(
    'bad',
    [
        mixed().drop(columns='kind'),
        mixed().assign(number='text'),
        mixed().iloc[:0],
        mixed().assign(number=np.inf),
        [1, 2, 3],
    ],
    ids=['missing column', 'wrong type', 'empty', 'infinite', 'list'],
)
def test_failed_refit_keeps_the_earlier_fit(bad):
    synthesizer, untouched = (fitted(mixed(), MIXED) for _ in range(2))
    with pytest.raises(Exception):  # noqa: B017
        synthesizer.fit(bad)

    assert synthesizer.get_info()['is_fit']
    pd.testing.assert_frame_equal(synthesizer.sample(20), untouched.sample(20))
    pd.testing.assert_frame_equal(synthesizer.get_loss_values(), untouched.get_loss_values())


def test_failed_refit_keeps_constraints_and_transformers():
    synthesizer = fitted(mixed(), MIXED)
    before = synthesizer.get_transformers()
    with pytest.raises(InvalidDataError):
        synthesizer.fit(mixed().iloc[:0])

    assert repr(synthesizer.get_transformers()) == repr(before)
    assert synthesizer.get_metadata().to_dict() == metadata_of(MIXED).to_dict()


def test_failed_first_fit_leaves_it_unfitted_and_fittable(people_data):
    synthesizer = quick(people_metadata())
    with pytest.raises(InvalidDataError):
        synthesizer.fit(people_data.drop(columns='age'))

    assert not synthesizer.get_info()['is_fit']
    with pytest.raises(SamplingError):
        synthesizer.sample(1)
    with pytest.raises(NotFittedError):
        synthesizer.get_loss_values()

    synthesizer.fit(people_data)
    assert len(synthesizer.sample(2)) == 2


def test_preprocess_then_fit_processed_equals_fit(people_data, people_synthesizer):
    synthesizer = quick(people_metadata())
    processed = synthesizer.preprocess(people_data)
    synthesizer.fit_processed_data(processed)
    people_synthesizer.reset_sampling()

    pd.testing.assert_frame_equal(synthesizer.sample(25), people_synthesizer.sample(25))


def test_fit_processed_data_does_not_change_the_processed_data(new_synthesizer, people_data):
    processed = new_synthesizer.preprocess(people_data)
    before = processed.copy(deep=True)
    new_synthesizer.fit_processed_data(processed)

    pd.testing.assert_frame_equal(processed, before)


def test_fit_processed_data_on_a_part_of_the_rows(new_synthesizer, people_data):
    processed = new_synthesizer.preprocess(people_data)
    new_synthesizer.fit_processed_data(processed.iloc[:30])

    assert len(new_synthesizer.sample(12)) == 12


def test_preprocess_does_not_fit(new_synthesizer, people_data):
    new_synthesizer.preprocess(people_data)

    assert not new_synthesizer.get_info()['is_fit']
    with pytest.raises(SamplingError):
        new_synthesizer.sample(1)


def test_preprocess_after_fit_warns_that_a_refit_is_needed(fitted_people, people_data):
    with pytest.warns(RefitWarning, match='already been fitted'):
        fitted_people.preprocess(people_data)


def test_preprocess_keeps_one_row_per_row(new_synthesizer, people_data):
    assert len(new_synthesizer.preprocess(people_data)) == len(people_data)


def test_modified_metadata_is_warned_about(people_data):
    metadata = people_metadata()
    synthesizer = quick(metadata)
    metadata.update_column('age', sdtype='categorical')

    with pytest.warns(UserWarning, match='metadata has been modified'):
        synthesizer.fit(people_data)


def test_two_synthesizers_of_one_metadata_do_not_share_state():
    metadata = metadata_of(MIXED)
    first, second = quick(metadata), quick(metadata)
    first.fit(mixed(low=0))
    second.fit(mixed(low=100))

    assert first.sample(20)['number'].between(0, 1).all()
    assert second.sample(20)['number'].between(100, 101).all()
