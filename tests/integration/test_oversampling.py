"""Rows of a sample are chosen from more rows than are asked for, by how real they look."""

import time

import numpy as np
import pandas as pd
import pytest
from sdv.errors import SynthesizerInputError

from sdv_tabdiff import rows as rows_module
from sdv_tabdiff.critic import MIN_ROWS

from .tables import fitted, metadata_of, quick

SDTYPES = {'limit': 'numerical', 'bill': 'numerical', 'kind': 'categorical'}
ROWS = 4000


def bills(num_rows=ROWS, seed=0):
    """No bill exceeds its limit, and every third reaches it within a hundredth."""
    rng = np.random.default_rng(seed)
    limit = rng.uniform(1, 10, num_rows)
    low = np.where(rng.random(num_rows) < 1 / 3, 0.99, 0.0)
    bill = limit * rng.uniform(low, 1)
    return pd.DataFrame({'limit': limit, 'bill': bill, 'kind': rng.choice(list('ab'), num_rows)})


def exceeding(table):
    return (table['bill'] > table['limit']).mean()


@pytest.fixture(scope='module')
def synthesizer():
    # Dropout keeps the network from drawing the edge by itself.
    settings = {'epochs': 60, 'trunk_dims': (32, 32), 'sampling_steps': 10, 'dropout': 0.3}
    return fitted(bills(), SDTYPES, random_state=0, **settings)


@pytest.fixture
def usual(synthesizer):
    """The synthesizer, at its usual oversampling again after the test."""
    synthesizer.reset_sampling()
    yield synthesizer
    synthesizer.set_oversampling(8.0)


def test_an_edge_that_the_network_blurs_is_sharper_in_chosen_rows(usual):
    chosen = usual.sample(ROWS)
    usual.set_oversampling(1)
    taken_as_they_come = usual.sample(ROWS)

    # Trees look through 255 bins of 4,000 rows, so they blur the edge as well, but less.
    assert exceeding(taken_as_they_come) > 0.1
    assert exceeding(chosen) < 0.75 * exceeding(taken_as_they_come)


@pytest.mark.parametrize('num_rows', [1, 2, 37, 2500])
def test_as_many_rows_as_asked_for(usual, num_rows):
    sample = usual.sample(num_rows)

    assert len(sample) == num_rows
    assert list(sample.index) == list(range(num_rows))


def test_samples_repeat_after_a_reset_and_differ_otherwise(usual):
    first, second = usual.sample(300), usual.sample(300)
    usual.reset_sampling()

    assert not first.equals(second)
    pd.testing.assert_frame_equal(usual.sample(300), first)


@pytest.mark.parametrize(
    ('limit', 'most'), [('MAX_CHOSEN_ROWS', 700), ('MAX_CHOSEN_FEATURES', 900)]
)
def test_large_samples_are_chosen_part_by_part(usual, monkeypatch, limit, most):
    monkeypatch.setattr(rows_module, limit, most)

    sample = usual.sample(2000)

    assert len(sample) == 2000
    assert len(sample.drop_duplicates()) > 1990


def test_a_saved_synthesizer_chooses_the_same_rows(usual, tmp_path):
    from sdv.utils import load_synthesizer

    usual.save(str(tmp_path / 'model.pkl'))
    loaded = load_synthesizer(str(tmp_path / 'model.pkl'))

    pd.testing.assert_frame_equal(loaded.sample(200), usual.sample(200))


def test_shares_of_levels_and_means_stay_those_of_the_data(usual):
    data, sample = bills(), usual.sample(ROWS)

    # Four standard errors of the difference.
    error = 4 * np.sqrt(2 * 0.25 / ROWS)
    assert (sample['kind'] == 'a').mean() == pytest.approx((data['kind'] == 'a').mean(), abs=error)
    for name in ('limit', 'bill'):
        error = 4 * np.sqrt(2 / ROWS) * data[name].std()
        assert sample[name].mean() == pytest.approx(data[name].mean(), abs=error)


def test_small_tables_are_taken_as_they_come():
    synthesizer = fitted(bills(MIN_ROWS - 1), SDTYPES, epochs=1)

    assert synthesizer._model._critic is None
    assert len(synthesizer.sample(10)) == 10


def test_oversampling_of_1_learns_nothing_and_cannot_be_raised_later():
    synthesizer = fitted(bills(), SDTYPES, epochs=1, oversampling=1)
    synthesizer.set_oversampling(3)

    assert synthesizer._model._critic is None
    assert synthesizer.get_parameters()['oversampling'] == 3
    assert len(synthesizer.sample(10)) == 10


def test_a_wrong_number_changes_nothing(usual):
    with pytest.raises(SynthesizerInputError, match="0.5 for parameter 'oversampling'"):
        usual.set_oversampling(0.5)

    assert usual.get_parameters()['oversampling'] == 8.0


def test_a_time_limit_includes_the_choice():
    started = time.monotonic()
    synthesizer = fitted(bills(20_000), SDTYPES, epochs=1_000_000, max_training_time=4)

    # Loading and preparing the data take time of their own, and the last trees may come late.
    assert time.monotonic() - started < 12
    assert synthesizer._model._critic is not None
    assert synthesizer.get_loss_values()['Epoch'].max() > 1


def test_ctrl_c_while_learning_to_choose_keeps_the_model(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr('sdv_tabdiff.model.learn_critic', interrupted)
    synthesizer = quick(metadata_of(SDTYPES), epochs=1)

    with pytest.warns(UserWarning, match='interrupted'):
        synthesizer.fit(bills())

    assert len(synthesizer.sample(20)) == 20
