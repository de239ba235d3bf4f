"""Named parameter sets and the checks of single parameters."""

import numbers
from collections.abc import Callable
from typing import Any

from sdv.errors import SynthesizerInputError

from sdv_tabdiff.diffusion.solvers import SOLVERS
from sdv_tabdiff.diffusion.trainer import OPTIMIZERS

# The setting of the TabDiff paper (Shi et al., ICLR 2025): TabDiffSynthesizer(metadata, **PAPER).
# Two things differ on purpose: the running mean of the weights is updated every step instead of
# every epoch and its last state is used (the paper picks the epoch with the lowest training loss),
# and numbers are rounded to their decimals.
PAPER: dict[str, Any] = {
    'epochs': 8000,
    'batch_size': 4096,
    'optimizer': 'adam',
    'learning_rate': 1e-3,
    'early_stopping': False,
    'dropout': 0.0,
    'loss_balance': 'kind',
    'numerical_loss_weight': (1.0, 0.0),
    'categorical_loss_weight': 1.0,
    'conditional_share': 0.0,
    'ema_decay': 0.997,
    'token_dim': 4,
    'frequencies': 0,
    'encoder_layers': 2,
    'decoder_layers': 2,
    'trunk': 'mlp',
    'trunk_dims': (1024, 2048, 2048, 1024),
    'time_dim': 1024,
    'learnable_schedules': True,
    'sigma_min': 0.002,
    'sigma_max': 80.0,
    'sampling_steps': 50,
    'solver': 'heun',
    'stochastic_sampler': True,
    'match_marginals': False,
    'oversampling': 1.0,
    'max_discrete_values': 0,
}

TRUNKS = ('residual', 'mlp')


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _whole(minimum: int) -> tuple[Callable[[Any], bool], str]:
    return lambda value: _is_whole(value) and value >= minimum, (
        f'a whole number of at least {minimum}'
    )


def _optional(check: tuple[Callable[[Any], bool], str]) -> tuple[Callable[[Any], bool], str]:
    accepts, words = check
    return lambda value: value is None or accepts(value), f'{words}, or None'


def _one_of(options: tuple) -> tuple[Callable[[Any], bool], str]:
    return lambda value: isinstance(value, str) and value in options, f'one of {options}'


def _sequence_of_whole(value: Any) -> bool:
    return (
        isinstance(value, (tuple, list))
        and len(value) > 0
        and all(_is_whole(item) and item >= 1 for item in value)
    )


def _pair_of_weights(value: Any) -> bool:
    return (
        isinstance(value, (tuple, list))
        and len(value) == 2
        and all(_is_number(item) and 0 <= item < float('inf') for item in value)
    )


def _names(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and len(value) > 0


_POSITIVE = (lambda value: _is_number(value) and 0 < value < float('inf')), 'a number above 0'
_NOT_NEGATIVE = (
    (lambda value: _is_number(value) and 0 <= value < float('inf')),
    'a number of at least 0',
)
_AT_LEAST_ONE = (
    (lambda value: _is_number(value) and 1 <= value < float('inf')),
    'a number of at least 1',
)
_SHARE = (lambda value: _is_number(value) and 0 <= value < 1), 'a number from 0 to below 1'
_SHARE_OR_ALL = (lambda value: _is_number(value) and 0 <= value <= 1), 'a number from 0 to 1'
_BOOLEAN = (lambda value: isinstance(value, bool)), 'True or False'

CHECKS: dict[str, tuple[Callable[[Any], bool], str]] = {
    'epochs': _optional(_whole(1)),
    'max_training_time': _optional(_POSITIVE),
    'batch_size': _whole(1),
    'optimizer': _one_of(OPTIMIZERS),
    'learning_rate': _optional(_POSITIVE),
    'early_stopping': _BOOLEAN,
    'dropout': _optional(_SHARE),
    'loss_balance': _one_of(('column', 'kind')),
    'numerical_loss_weight': (_pair_of_weights, 'two numbers of at least 0: (start, end)'),
    'categorical_loss_weight': _NOT_NEGATIVE,
    'conditional_share': _SHARE_OR_ALL,
    'guidance': _NOT_NEGATIVE,
    'guidance_columns': _optional((_names, 'a list of column names')),
    'ema_decay': _SHARE,
    'token_dim': _whole(1),
    'frequencies': _whole(0),
    'encoder_layers': _whole(0),
    'decoder_layers': _whole(0),
    'trunk': _one_of(TRUNKS),
    'trunk_dims': _optional((_sequence_of_whole, 'a tuple of whole numbers of at least 1')),
    'time_dim': _whole(2),
    'learnable_schedules': _BOOLEAN,
    'sigma_min': _POSITIVE,
    'sigma_max': _POSITIVE,
    'sampling_steps': _whole(1),
    'solver': _one_of(SOLVERS),
    'stochastic_sampler': _BOOLEAN,
    'match_marginals': _BOOLEAN,
    'oversampling': _AT_LEAST_ONE,
    'max_discrete_values': _whole(0),
    'enable_gpu': _BOOLEAN,
    'verbose': _BOOLEAN,
    'random_state': _optional(_whole(0)),
}


def check_parameters(parameters: dict[str, Any]) -> None:
    """Raise an error that names the first parameter with a value that is not allowed.

    Args:
        parameters (dict):
            Parameters of the synthesizer by name.

    Raises:
        SynthesizerInputError:
            If a value is of the wrong type or out of range.
    """
    for name, (accepts, words) in CHECKS.items():
        value = parameters[name]
        if not accepts(value):
            raise SynthesizerInputError(
                f"Invalid value {value!r} for parameter '{name}'. Please provide {words}."
            )

    if parameters['time_dim'] % 2:
        raise SynthesizerInputError(
            f"Invalid value {parameters['time_dim']!r} for parameter 'time_dim'. Please provide an "
            'even number.'
        )

    if parameters['sigma_min'] >= parameters['sigma_max']:
        raise SynthesizerInputError(
            f"Invalid value {parameters['sigma_min']!r} for parameter 'sigma_min'. Please provide "
            f"a number below 'sigma_max' ({parameters['sigma_max']!r})."
        )

    if parameters['guidance'] and not (
        parameters['conditional_share'] or parameters['guidance_columns']
    ):
        raise SynthesizerInputError(
            f"Invalid value {parameters['guidance']!r} for parameter 'guidance'. Please provide "
            "'guidance_columns' as well, or a 'conditional_share' above 0."
        )

    if parameters['trunk'] == 'residual' and len(set(parameters['trunk_dims'] or ())) > 1:
        raise SynthesizerInputError(
            f"Invalid value {parameters['trunk_dims']!r} for parameter 'trunk_dims'. Residual "
            "blocks share one width; use equal numbers or trunk='mlp'."
        )
