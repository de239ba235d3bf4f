"""What the default parameters mean for tables of different sizes."""

import math

import pytest
from sdv.metadata import Metadata

from sdv_tabdiff import PAPER, TabDiffSynthesizer
from sdv_tabdiff.defaults import (
    ENOUGH_STEPS_PER_ROW,
    LAX_TRANSFER,
    LEARNING_RATE,
    LESS_FOR_NUMBERS,
    MAX_STEPS,
    MAX_WIDTH,
    MIN_LEARNING_RATE,
    MIN_STEPS,
    MIN_WIDTH,
    STRICT_TRANSFER,
    TableSize,
)


def model_of(num_rows, number_share=0.0, columns=1, **parameters):
    described = {'columns': {'number': {'sdtype': 'numerical'}}}
    metadata = Metadata.load_from_dict({'tables': {'table': described}})
    size = TableSize(num_rows, number_share, columns)
    return TabDiffSynthesizer(metadata, **parameters)._new_model(size)


def training_of(num_rows, **parameters):
    return model_of(num_rows, **parameters).training


def steps_of(num_rows, **parameters):
    training = training_of(num_rows, **parameters)
    return training.epochs * math.ceil(num_rows / training.batch_size)


def test_larger_tables_get_more_steps_but_fewer_per_row():
    sizes = [2000, 20_000, 100_000]
    steps = [steps_of(rows) for rows in sizes]

    assert steps == sorted(steps)
    assert steps[-1] / sizes[-1] < steps[0] / sizes[0]


@pytest.mark.parametrize('num_rows', [1, 5, 100, 1025, 10_000, 1_000_000, 20_000_000])
def test_steps_are_bounded(num_rows):
    # The number of epochs is whole, so the last one may go beyond.
    one_epoch = math.ceil(num_rows / training_of(num_rows).batch_size)

    assert MIN_STEPS <= steps_of(num_rows) <= MAX_STEPS + 2 * one_epoch


def test_tables_of_more_columns_get_more_steps():
    steps = [steps_of(30_000, columns=columns) for columns in (1, 20, 60, 1000)]

    assert steps[0] < steps[1] < steps[2] == steps[3] < MAX_STEPS
    # Of a small table, only its rows would be learned.
    assert steps_of(500, columns=1000) == steps_of(500, columns=1)


def test_narrower_networks_get_more_steps_for_each_row_but_only_enough():
    steps_a_row = [steps_of(rows, columns=10) / rows for rows in (40_000, 20_000, 10_000, 5_000)]

    assert steps_a_row[0] < steps_a_row[1]
    assert max(steps_a_row) < 1.05 * ENOUGH_STEPS_PER_ROW


def test_small_tables_of_numbers_get_more_steps_than_those_of_categories():
    assert steps_of(500, number_share=1.0) > steps_of(500) == MIN_STEPS


def test_small_tables_are_trained_with_smaller_steps():
    sizes = (50, 500, 2000, 10_000, 1_000_000)
    rates = [training_of(rows).learning_rate for rows in sizes]

    assert MIN_LEARNING_RATE == rates[0] == rates[1] < rates[2] < rates[3]
    assert rates[3] == rates[4] == LEARNING_RATE


def test_small_tables_of_numbers_are_trained_with_larger_steps_than_those_of_categories():
    rates = [training_of(500, number_share=share).learning_rate for share in (0.0, 0.5, 1.0)]

    assert MIN_LEARNING_RATE == rates[0] < rates[1] < rates[2] == LEARNING_RATE


def test_larger_tables_get_a_wider_network():
    trunks = [model_of(rows).sizes.trunk_dims for rows in (5, 3000, 9000, 20_000, 1_000_000)]
    widths = [trunk[0] for trunk in trunks]

    assert all(set(trunk) == {width} for trunk, width in zip(trunks, widths))
    assert widths == sorted(set(widths))
    assert (widths[0], widths[-1]) == (MIN_WIDTH, MAX_WIDTH)
    assert model_of(5, trunk_dims=(8,)).sizes.trunk_dims == (8,)


def test_small_tables_get_dropout():
    shares = [training_of(rows).dropout for rows in (1, 300, 9000, 150_000, 1_000_000)]

    assert shares[0] >= shares[1] > shares[2] > shares[3] == shares[4] == 0
    assert shares[0] <= 0.5
    assert training_of(300, number_share=1.0).dropout == shares[1] / 2
    assert training_of(10_000, number_share=1.0).dropout == pytest.approx(0)
    assert training_of(5, dropout=0.1).dropout == 0.1
    assert training_of(5, dropout=0.0).dropout == 0


def test_the_end_of_the_training_is_strictest_for_tables_of_a_medium_size():
    sizes = (1, 1000, 5000, 9000, 16_000, 30_000, 100_000, 20_000_000)
    demands = [training_of(rows).min_transfer for rows in sizes]

    assert demands[:4] == sorted(demands[:4])
    assert demands[4:] == sorted(demands[4:], reverse=True)
    assert demands[4] == max(demands) == STRICT_TRANSFER
    assert demands[0] == demands[1] == demands[6] == demands[7] == LAX_TRANSFER
    assert LAX_TRANSFER < demands[3] < STRICT_TRANSFER

    numbers = training_of(16_000, number_share=1.0).min_transfer
    assert LAX_TRANSFER < numbers == pytest.approx(STRICT_TRANSFER - LESS_FOR_NUMBERS)


@pytest.mark.parametrize('num_rows', [50, 1_000_000])
def test_given_parameters_are_taken_as_they_are(num_rows):
    training = training_of(num_rows, epochs=3, learning_rate=0.5, optimizer='adam')

    assert (training.epochs, training.learning_rate, training.optimizer) == (3, 0.5, 'adam')


def test_the_paper_has_its_own():
    training = training_of(50, **PAPER)

    assert (training.epochs, training.learning_rate, training.optimizer) == (8000, 1e-3, 'adam')
