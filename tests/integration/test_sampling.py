"""Rows, columns, types, ranges, files and errors of ``sample``."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ks_2samp
from sdv.errors import SamplingError, SynthesizerInputError
from sdv.evaluation import run_diagnostic

from .tables import SDV_2, TABLE, fitted, needs_sdv_2, output_in


@pytest.mark.parametrize('num_rows', [0, 1, 2, 79, 80, 81, 500, np.int64(3)])
def test_sample_has_the_requested_number_of_rows(people_synthesizer, num_rows):
    sample = people_synthesizer.sample(num_rows)

    assert len(sample) == num_rows
    pd.testing.assert_index_equal(sample.index, pd.RangeIndex(num_rows), exact=False)


def test_the_number_of_steps_may_be_changed_after_fitting():
    data = pd.DataFrame({'number': np.random.default_rng(0).normal(size=80)})
    synthesizer = fitted(data, {'number': 'numerical'}, sampling_steps=2)
    two = synthesizer.sample(50)

    synthesizer.set_sampling_steps(3)
    synthesizer.reset_sampling()
    three = synthesizer.sample(50)
    synthesizer.set_sampling_steps(2)
    synthesizer.reset_sampling()

    assert synthesizer.get_parameters()['sampling_steps'] == 2
    assert not three.equals(two)
    pd.testing.assert_frame_equal(synthesizer.sample(50), two)


@pytest.mark.parametrize('steps', [0, 2.5, None, True])
def test_a_wrong_number_of_steps_is_refused_and_changes_nothing(people_synthesizer, steps):
    before = people_synthesizer.sampling_steps

    with pytest.raises(SynthesizerInputError, match="'sampling_steps'.*at least 1"):
        people_synthesizer.set_sampling_steps(steps)

    assert people_synthesizer.sampling_steps == before
    assert len(people_synthesizer.sample(3)) == 3


def test_num_rows_may_be_named(people_synthesizer):
    assert len(people_synthesizer.sample(num_rows=4)) == 4


@pytest.mark.parametrize('num_rows', [0, 1, 30])
def test_columns_are_those_of_the_data_in_order(people_synthesizer, people_data, num_rows):
    assert list(people_synthesizer.sample(num_rows).columns) == list(people_data.columns)


def test_empty_sample_has_the_types_of_the_data(people_synthesizer, people_data):
    assert people_synthesizer.sample(0).dtypes.to_dict() == people_data.dtypes.to_dict()


def test_sample_has_the_types_of_the_data(people_synthesizer, people_data):
    assert people_synthesizer.sample(30).dtypes.to_dict() == people_data.dtypes.to_dict()


def test_sample_is_valid_for_the_metadata(people_synthesizer):
    people_synthesizer.get_metadata().validate_data({TABLE: people_synthesizer.sample(100)})


def test_sdvs_diagnostic_finds_nothing_wrong(people_synthesizer, people_data):
    tables = [{TABLE: people_data}, {TABLE: people_synthesizer.sample(80)}]
    report = run_diagnostic(*tables, people_synthesizer.get_metadata(), verbose=False)

    assert report.get_score() == 1.0


@pytest.mark.parametrize('batch_size', [1, 7, 50, 100, 1000])
def test_batches_make_up_the_requested_rows(people_synthesizer, batch_size):
    sample = people_synthesizer.sample(50, batch_size=batch_size)

    assert len(sample) == 50
    assert sample.index.equals(pd.RangeIndex(50))
    assert sample['key'].is_unique


def test_keys_go_on_over_several_samples(people_synthesizer):
    people_synthesizer.reset_sampling()
    first, second = people_synthesizer.sample(20), people_synthesizer.sample(20)

    assert pd.concat([first, second])['key'].is_unique


@pytest.mark.parametrize('num_rows', [-1, 1.5, '10', True, float('nan'), [3]])
def test_bad_number_of_rows_is_a_value_error(people_synthesizer, num_rows):
    with pytest.raises(ValueError, match='num_rows'):
        people_synthesizer.sample(num_rows)


def test_no_number_of_rows_is_sdvs_error(people_synthesizer):
    with pytest.raises(ValueError, match='must specify the number of rows'):
        people_synthesizer.sample(None)


def test_sample_before_fit_is_sdvs_error(new_synthesizer):
    with pytest.raises(SamplingError, match='not been fitted'):
        new_synthesizer.sample(10)


@pytest.mark.parametrize('arguments', [[None], [-1], ['ten']])
def test_sample_before_fit_comes_before_other_errors(new_synthesizer, arguments):
    with pytest.raises(SamplingError):
        new_synthesizer.sample(*arguments)


@needs_sdv_2
def test_unknown_main_table_is_refused(people_synthesizer):
    with pytest.raises(ValueError, match='nowhere'):
        people_synthesizer.sample(1, main_table_name='nowhere')


@needs_sdv_2
@pytest.mark.parametrize('num_rows', [0, 4])
def test_main_table_may_be_named(people_synthesizer, num_rows):
    assert len(people_synthesizer.sample(num_rows, main_table_name=TABLE)) == num_rows


def test_sampling_is_silent(people_synthesizer, capsys):
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        people_synthesizer.sample(20)

    captured = capsys.readouterr()
    assert captured.out == captured.err == ''


def test_sampling_in_batches_shows_progress(people_synthesizer, capsys):
    people_synthesizer.sample(20, batch_size=5)

    assert 'Sampling rows' in capsys.readouterr().err


@pytest.mark.parametrize('batch_size', [None, 7])
def test_file_holds_what_is_returned(people_synthesizer, tmp_path, batch_size):
    output, path = output_in(tmp_path)
    sample = people_synthesizer.sample(21, batch_size=batch_size, **output)
    written = pd.read_csv(path)

    assert list(written.columns) == list(sample.columns)
    pd.testing.assert_frame_equal(written, sample, check_dtype=False)


def test_existing_file_is_not_overwritten(people_synthesizer, tmp_path):
    output, path = output_in(tmp_path)
    path.write_text('mine')

    with pytest.raises(AssertionError, match='already exist'):
        people_synthesizer.sample(5, **output)

    assert path.read_text() == 'mine'


@needs_sdv_2
def test_output_folder_is_made(people_synthesizer, tmp_path):
    people_synthesizer.sample(5, output_folder_path=str(tmp_path / 'new' / 'folder'))

    assert len(pd.read_csv(tmp_path / 'new' / 'folder' / f'{TABLE}.csv')) == 5


def test_file_of_integer_columns_has_their_names(tmp_path):
    data = pd.DataFrame({0: np.arange(30.0), 1: list('abc') * 10})
    output, path = output_in(tmp_path)
    sample = fitted(data, {'0': 'numerical', '1': 'categorical'}).sample(9, **output)

    assert list(sample.columns) == [0, 1]
    assert pd.read_csv(path).columns.tolist() == ['0', '1']
    assert len(pd.read_csv(path)) == 9


def test_no_file_is_written_unless_asked(people_synthesizer, tmp_path):
    people_synthesizer.sample(30, batch_size=10)

    assert list(tmp_path.iterdir()) == []


def test_complete_columns_stay_complete(people_synthesizer, people_data):
    complete = people_data.columns[people_data.notna().all()]

    assert people_synthesizer.sample(300)[complete].notna().to_numpy().all()


@pytest.mark.parametrize('column', ['income', 'job'])
def test_columns_with_gaps_have_gaps(people_synthesizer, column):
    share = people_synthesizer.sample(400)[column].isna().mean()

    assert 0 < share < 0.6


@pytest.mark.parametrize('column', ['age', 'income', 'joined'])
def test_values_stay_in_the_range_of_the_data(people_synthesizer, people_data, column):
    sample = people_synthesizer.sample(500)[column].dropna()

    assert sample.between(people_data[column].min(), people_data[column].max()).all()


def test_categories_are_those_of_the_data(people_synthesizer, people_data):
    sample = people_synthesizer.sample(500)

    assert set(sample['job'].dropna()) == set(people_data['job'].dropna())
    assert set(sample['member']) == {True, False}


@pytest.mark.parametrize('decimals', [0, 1, 3, 6])
@pytest.mark.parametrize('max_discrete_values', [0, 128])
def test_numbers_are_rounded_as_in_the_data(decimals, max_discrete_values):
    values = np.random.default_rng(0).uniform(-5, 5, 200).round(decimals)
    sample = fitted(
        pd.DataFrame({'a': values}), {'a': 'numerical'}, max_discrete_values=max_discrete_values
    ).sample(100)['a']

    assert (sample.round(decimals) == sample).all()


def test_numbers_are_not_rounded_without_enforce_rounding():
    values = np.random.default_rng(0).uniform(0, 1000, 300).round(1)
    sample = fitted(
        pd.DataFrame({'a': values}),
        {'a': 'numerical'},
        enforce_rounding=False,
        max_discrete_values=0,
    ).sample(100)['a']

    assert (sample.round(1) != sample).any()


def test_generated_numbers_are_not_just_copies_of_the_data():
    values = np.random.default_rng(0).normal(size=200)
    sample = fitted(pd.DataFrame({'a': values}), {'a': 'numerical'}).sample(100)['a']

    assert sample.nunique() > 90
    assert not sample.isin(values).all()


@pytest.mark.parametrize('attribute', ['columns', 'index'])
def test_changing_a_sample_does_not_change_the_next_one(people_synthesizer, attribute):
    people_synthesizer.reset_sampling()
    first = people_synthesizer.sample(10)
    names = list(getattr(first, attribute))
    setattr(first, attribute, range(len(names)))
    first.iloc[:] = None

    assert list(people_synthesizer.sample(10).columns) != list(range(7))
    assert people_synthesizer.sample(10)['age'].notna().all()


def test_max_tries_is_accepted(people_synthesizer):
    assert len(people_synthesizer.sample(10, max_tries_per_batch=1)) == 10


def test_output_argument_is_that_of_the_installed_sdv(people_synthesizer):
    wrong = 'output_file_path' if SDV_2 else 'output_folder_path'

    with pytest.raises(TypeError, match=wrong):
        people_synthesizer.sample(1, **{wrong: 'x'})


@pytest.mark.parametrize('match', [True, False])
def test_a_sample_has_the_quantiles_of_the_data_unless_told_otherwise(match):
    data = pd.DataFrame(np.random.default_rng(0).normal(size=(1000, 2)), columns=['a', 'b'])
    # A single step ends near the mean of each column.
    settings = {'sampling_steps': 1, 'match_marginals': match}
    synthesizer = fitted(data, dict.fromkeys('ab', 'numerical'), **settings)

    sample = synthesizer.sample(1000)

    error = max(ks_2samp(data[name], sample[name]).statistic for name in data)
    # Each of 20 levels is met to within the rows between two of them.
    assert (error < 0.05) == match


def test_conditional_samples_are_not_calibrated_to_the_whole_table():
    rng = np.random.default_rng(0)
    group = rng.choice(['low', 'high'], 2000)
    data = pd.DataFrame({'a': rng.normal(size=2000) + 20 * (group == 'high'), 'group': group})
    sdtypes = {'a': 'numerical', 'group': 'categorical'}
    synthesizer = fitted(data, sdtypes, epochs=60, random_state=0)

    sample = synthesizer.sample_remaining_columns(pd.DataFrame({'group': ['high'] * 500}))

    # Calibrated to all rows, half of them would be low.
    assert (sample['a'] > 10).mean() > 0.9
