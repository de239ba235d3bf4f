"""Registration, construction, parameters and metadata."""

import inspect
import subprocess
import sys
from importlib.metadata import entry_points

import numpy as np
import pytest
from sdv.errors import SynthesizerInputError
from sdv.metadata import Metadata
from sdv.metadata.errors import InvalidMetadataError
from sdv.single_table.base import BaseSingleTableSynthesizer

from sdv_tabdiff import PAPER, TabDiffSynthesizer

from .tables import PEOPLE, TABLE, fitted, metadata_of, people, people_metadata, quick

OTHER_VALUES = {
    'enforce_min_max_values': False,
    'enforce_rounding': False,
    'locales': ['de_DE'],
    'epochs': 3,
    'max_training_time': 2.5,
    'batch_size': 17,
    'optimizer': 'adam',
    'learning_rate': 1e-2,
    'early_stopping': False,
    'dropout': 0.25,
    'loss_balance': 'kind',
    'numerical_loss_weight': (1.0, 0.5),
    'categorical_loss_weight': 0.5,
    'conditional_share': 0.25,
    'guidance': 0.5,
    'guidance_columns': ['job'],
    'ema_decay': 0.5,
    'token_dim': 4,
    'frequencies': 2,
    'encoder_layers': 1,
    'decoder_layers': 1,
    'trunk': 'mlp',
    'trunk_dims': (16, 24),
    'time_dim': 8,
    'learnable_schedules': True,
    'sigma_min': 0.02,
    'sigma_max': 20.0,
    'sampling_steps': 3,
    'solver': 'heun',
    'stochastic_sampler': True,
    'match_marginals': False,
    'oversampling': 2.0,
    'max_discrete_values': 0,
    'enable_gpu': False,
    'verbose': True,
    'random_state': 7,
}

INVALID_VALUES = [
    ('enforce_min_max_values', 'yes'),
    ('enforce_rounding', 1),
    ('loss_balance', 'row'),
    *[('epochs', value) for value in (0, -1, 1.5, '10', True)],
    *[('max_training_time', value) for value in (0, -3, 'long', float('nan'), float('inf'))],
    *[('batch_size', value) for value in (0, None, 2.0, '8')],
    *[('learning_rate', value) for value in (0, -1e-3, 'fast', float('inf'))],
    *[('optimizer', value) for value in ('sgd', None, 1)],
    *[('early_stopping', value) for value in (None, 1, 'no')],
    *[('dropout', value) for value in (-0.1, 1, 'much', float('nan'))],
    *[('frequencies', value) for value in (-1, None, 1.5)],
    *[('conditional_share', value) for value in (-0.1, 1.5, None, 'half', float('nan'))],
    *[('guidance', value) for value in (-1, None, 'much', float('inf'), float('nan'))],
    *[('guidance_columns', value) for value in ('job', [], 3)],
    *[('numerical_loss_weight', value) for value in (1.0, (1.0,), (1.0, -1.0), (1.0, 'x'), None)],
    *[('numerical_loss_weight', value) for value in ((1.0, float('inf')), (float('nan'), 1.0))],
    *[('categorical_loss_weight', value) for value in (-1, None, float('nan'))],
    *[('ema_decay', value) for value in (1, 1.5, -0.1, None)],
    *[('token_dim', value) for value in (0, None, 1.5)],
    *[('encoder_layers', value) for value in (-1, None)],
    *[('decoder_layers', value) for value in (-1, '2')],
    *[('trunk', value) for value in ('unet', None, ['mlp'])],
    *[('trunk_dims', value) for value in ((), 256, (0,), (16, 'x'), (16, 32))],
    *[('time_dim', value) for value in (0, 7, None)],
    *[('learnable_schedules', value) for value in ('yes', None)],
    *[('sigma_min', value) for value in (0, None, -1, 'low', 1e6)],
    *[('sigma_max', value) for value in (0, None, float('inf'))],
    *[('sampling_steps', value) for value in (0, None, 2.5)],
    *[('solver', value) for value in ('rk45', None)],
    *[('stochastic_sampler', value) for value in (0, None)],
    *[('match_marginals', value) for value in (1, None)],
    *[('oversampling', value) for value in (0.5, 0, None, 'much', float('inf'), True)],
    *[('max_discrete_values', value) for value in (-1, None, 1.5)],
    *[('enable_gpu', value) for value in ('cuda', None)],
    *[('verbose', value) for value in (2, None)],
    *[('random_state', value) for value in (-1, 1.5, 'seed', True)],
]


def run(code):
    return subprocess.run(
        [sys.executable, '-W', 'error::UserWarning:sdv', '-c', code],
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize(
    'code',
    [
        'import sdv_tabdiff; from sdv.single_table import TabDiffSynthesizer as S; '
        'assert S is sdv_tabdiff.TabDiffSynthesizer',
        'from sdv.single_table import TabDiffSynthesizer as S; import sdv_tabdiff; '
        'assert S is sdv_tabdiff.TabDiffSynthesizer',
        'import sdv.single_table; assert sdv.single_table.TabDiffSynthesizer',
    ],
    ids=['plugin first', 'sdv first', 'sdv alone'],
)
def test_sdv_offers_the_synthesizer_whatever_is_imported_first(code):
    result = run(code)

    assert result.returncode == 0, result.stderr
    assert 'Failed to load' not in result.stderr


def test_entry_point_names_the_class():
    points = entry_points(group='sdv_modules')

    assert points['sdv.single_table:TabDiffSynthesizer'].load() is TabDiffSynthesizer


def test_it_is_a_single_table_synthesizer_of_sdv():
    assert issubclass(TabDiffSynthesizer, BaseSingleTableSynthesizer)


@pytest.mark.parametrize('method', ['sample', 'sample_from_conditions', 'sample_remaining_columns'])
def test_signatures_are_those_of_the_installed_sdv(method):
    ours = inspect.signature(getattr(TabDiffSynthesizer, method))

    assert ours == inspect.signature(getattr(BaseSingleTableSynthesizer, method))


def test_other_values_cover_every_parameter():
    parameters = set(inspect.signature(TabDiffSynthesizer).parameters) - {'metadata'}

    assert parameters == set(OTHER_VALUES)


@pytest.mark.parametrize('name', OTHER_VALUES)
def test_get_parameters_returns_what_was_given(name):
    value = OTHER_VALUES[name]
    given = {name: value, **({'trunk': 'mlp'} if name == 'trunk_dims' else {})}

    assert TabDiffSynthesizer(people_metadata(), **given).get_parameters()[name] == value


def test_get_parameters_makes_an_equal_synthesizer():
    original = TabDiffSynthesizer(people_metadata(), **OTHER_VALUES)
    copy = TabDiffSynthesizer(people_metadata(), **original.get_parameters())

    assert copy.get_parameters() == original.get_parameters() == OTHER_VALUES


def test_get_parameters_are_the_same_after_fit(people_data):
    synthesizer = fitted(people_data, PEOPLE, table={'primary_key': 'key'})
    before = TabDiffSynthesizer(people_metadata(), **synthesizer.get_parameters())

    assert before.get_parameters() == synthesizer.get_parameters()
    assert synthesizer.get_parameters()['epochs'] == 1


@pytest.mark.parametrize(('name', 'value'), INVALID_VALUES)
def test_invalid_parameter_is_named_at_construction(name, value):
    with pytest.raises(SynthesizerInputError, match=f"'{name}'"):
        TabDiffSynthesizer(people_metadata(), **{name: value})


@pytest.mark.parametrize(
    ('name', 'value'),
    [
        ('epochs', np.int64(2)),
        ('learning_rate', np.float32(0.01)),
        ('trunk_dims', [16, 16]),
        ('numerical_loss_weight', [1, 0]),
        ('random_state', np.int32(3)),
        ('max_training_time', 1),
    ],
)
def test_numpy_numbers_and_lists_are_accepted(name, value, people_data):
    synthesizer = fitted(people_data, PEOPLE, table={'primary_key': 'key'}, **{name: value})

    assert len(synthesizer.sample(3)) == 3


def test_unknown_parameter_is_a_type_error():
    with pytest.raises(TypeError, match='cuda_device'):
        TabDiffSynthesizer(people_metadata(), cuda_device=0)


def test_paper_setting_constructs():
    parameters = TabDiffSynthesizer(people_metadata(), **PAPER).get_parameters()

    assert {name: parameters[name] for name in PAPER} == PAPER


@pytest.mark.parametrize('trunk', ['mlp', 'residual'])
@pytest.mark.parametrize('layers', [0, 1])
@pytest.mark.parametrize('solver', ['multistep', 'euler', 'heun'])
def test_every_architecture_and_solver_yields_a_valid_table(trunk, layers, solver, people_data):
    synthesizer = fitted(
        people_data,
        PEOPLE,
        table={'primary_key': 'key'},
        trunk=trunk,
        encoder_layers=layers,
        decoder_layers=layers,
        solver=solver,
        learnable_schedules=bool(layers),
        stochastic_sampler=trunk == 'mlp',
    )
    sample = synthesizer.sample(20)

    synthesizer.get_metadata().validate_data({'people': sample})
    assert sample['age'].between(people_data['age'].min(), people_data['age'].max()).all()


def test_time_limit_ends_the_training():
    synthesizer = fitted(
        people(), PEOPLE, table={'primary_key': 'key'}, epochs=1_000_000, max_training_time=0.2
    )

    assert 1 <= len(synthesizer.get_loss_values()) < 1_000_000


def test_detected_metadata_is_accepted(people_data):
    metadata = Metadata.detect_from_dataframes({TABLE: people_data})
    synthesizer = quick(metadata)
    synthesizer.fit(people_data)
    sample = synthesizer.sample(20)

    metadata.validate_data({TABLE: sample})
    assert sample.dtypes.to_dict() == people_data.dtypes.to_dict()


def test_get_metadata_returns_the_given_metadata(new_synthesizer):
    assert new_synthesizer.get_metadata().to_dict() == people_metadata().to_dict()


def test_the_users_metadata_is_not_changed_by_fit(people_data):
    metadata = people_metadata()
    before = metadata.to_dict()
    synthesizer = quick(metadata)
    synthesizer.fit(people_data)

    assert metadata.to_dict() == before


def test_bad_sdtype_is_sdvs_error():
    with pytest.raises(InvalidMetadataError, match='wonderful'):
        TabDiffSynthesizer(metadata_of({'a': 'wonderful'}))


def test_primary_key_that_is_no_column_is_sdvs_error():
    with pytest.raises(InvalidMetadataError, match='nowhere'):
        TabDiffSynthesizer(metadata_of({'a': 'numerical'}, primary_key='nowhere'))


def test_composite_key_is_sdvs_error():
    columns = {'a': 'id', 'b': 'id'}
    with pytest.raises((SynthesizerInputError, InvalidMetadataError)):
        TabDiffSynthesizer(metadata_of(columns, primary_key=['a', 'b']))


def test_metadata_of_two_tables_is_sdvs_error():
    column = {'columns': {'a': {'sdtype': 'numerical'}}}
    metadata = Metadata.load_from_dict({'tables': {'one': column, 'two': column}})
    with pytest.raises(InvalidMetadataError, match='more than one table|single table'):
        TabDiffSynthesizer(metadata)


def test_bad_regex_is_sdvs_error():
    columns = {'key': {'sdtype': 'id', 'regex_format': '[0-9'}}
    with pytest.raises((SynthesizerInputError, InvalidMetadataError)):
        TabDiffSynthesizer(metadata_of(columns, primary_key='key'))


def test_keyword_and_positional_metadata_are_the_same():
    by_keyword = TabDiffSynthesizer(metadata=people_metadata())

    assert by_keyword.get_parameters() == TabDiffSynthesizer(people_metadata()).get_parameters()
