"""Losses, noise schedules and their figures."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from sdv.errors import NotFittedError

from .tables import PEOPLE, fitted, people

LOSSES = ['Loss', 'Numerical Loss', 'Categorical Loss']
VALIDATION = [f'Validation {name}' for name in LOSSES]
REPORTS = [
    'get_loss_values',
    'get_loss_values_plot',
    'get_noise_schedules',
    'get_noise_schedules_plot',
]


@pytest.fixture(scope='module')
def synthesizer():
    return fitted(people(200), PEOPLE, table={'primary_key': 'key'}, epochs=5)


@pytest.fixture(scope='module')
def constant():
    return fitted(pd.DataFrame({'a': [1.0] * 20}), {'a': 'numerical'})


@pytest.mark.parametrize('report', REPORTS)
def test_before_fit_is_sdvs_error(new_synthesizer, report):
    with pytest.raises(NotFittedError, match='not available yet'):
        getattr(new_synthesizer, report)()


def test_loss_values_have_one_row_per_epoch(synthesizer):
    losses = synthesizer.get_loss_values()

    assert list(losses.columns) == ['Epoch', *LOSSES, *VALIDATION]
    assert losses['Epoch'].is_monotonic_increasing
    assert losses['Epoch'].is_unique
    assert 1 <= len(losses) <= 5


def test_losses_are_finite(synthesizer):
    assert np.isfinite(synthesizer.get_loss_values()[[*LOSSES, *VALIDATION]]).to_numpy().all()


def test_total_lies_between_its_parts_the_same_way_in_every_epoch(synthesizer):
    losses = synthesizer.get_loss_values()

    for prefix in ('', 'Validation '):
        numerical = losses[f'{prefix}Numerical Loss']
        categorical = losses[f'{prefix}Categorical Loss']
        share = (losses[f'{prefix}Loss'] - categorical) / (numerical - categorical)
        assert share.between(0, 1).all()
        np.testing.assert_allclose(share, share[0], rtol=1e-3)


def test_without_early_stopping_there_is_no_validation_loss():
    synthesizer = fitted(people(), PEOPLE, table={'primary_key': 'key'}, early_stopping=False)
    losses = synthesizer.get_loss_values()

    assert losses[VALIDATION].isna().to_numpy().all()
    assert np.isfinite(losses[LOSSES]).to_numpy().all()


def test_training_lowers_the_loss():
    kind = np.random.default_rng(0).choice(list('ab'), 500)
    data = pd.DataFrame({'kind': kind, 'twin': kind})
    synthesizer = fitted(
        data,
        {'kind': 'categorical', 'twin': 'categorical'},
        epochs=100,
        learning_rate=0.01,
        early_stopping=False,
    )
    losses = synthesizer.get_loss_values()['Loss']

    assert losses.iloc[-10:].mean() < 0.9 * losses.iloc[:10].mean()


def test_changing_the_returned_losses_changes_nothing(synthesizer):
    expected = synthesizer.get_loss_values()
    synthesizer.get_loss_values().iloc[:, 1:] = 0.0

    pd.testing.assert_frame_equal(synthesizer.get_loss_values(), expected)


def test_refit_replaces_the_losses(people_data):
    synthesizer = fitted(people_data, PEOPLE, table={'primary_key': 'key'})
    synthesizer.fit(people_data)

    assert len(synthesizer.get_loss_values()) == 1


def test_losses_of_a_constant_table_are_an_empty_frame_of_numbers(constant):
    losses = constant.get_loss_values()

    assert losses.empty
    assert list(losses.columns) == ['Epoch', *LOSSES, *VALIDATION]
    assert all(np.issubdtype(dtype, np.number) for dtype in losses.dtypes)


def test_noise_schedules_name_every_modelled_column(synthesizer):
    schedules = synthesizer.get_noise_schedules()

    assert list(schedules.columns) == ['Column', 'Kind', 'Exponent']
    assert set(schedules['Column']) == set(PEOPLE) - {'key', 'email'}
    assert set(schedules['Kind']) == {'numerical', 'categorical'}
    assert not schedules.duplicated(['Column', 'Kind']).any()
    assert np.isfinite(schedules['Exponent']).all()


def test_fixed_schedules_are_those_of_the_paper(synthesizer):
    exponents = synthesizer.get_noise_schedules().groupby('Kind')['Exponent']

    assert exponents.nunique().tolist() == [1, 1]
    assert exponents.first().to_dict() == {'categorical': 1.0, 'numerical': 7.0}


def test_learned_schedules_differ_between_columns():
    synthesizer = fitted(
        people(200),
        PEOPLE,
        table={'primary_key': 'key'},
        epochs=40,
        learnable_schedules=True,
        learning_rate=0.05,
        early_stopping=False,
        ema_decay=0.0,
    )
    schedules = synthesizer.get_noise_schedules()

    assert (schedules.groupby('Kind')['Exponent'].std() > 0).all()
    assert (schedules['Exponent'] > 0).all()


def test_integer_names_appear_in_the_schedules():
    data = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 2)), columns=[7, 8])
    synthesizer = fitted(data, {'7': 'numerical', '8': 'numerical'})

    assert synthesizer.get_noise_schedules()['Column'].tolist() == [7, 8]


@pytest.mark.parametrize(
    ('report', 'default'),
    [
        ('get_loss_values_plot', 'TabDiff loss function'),
        ('get_noise_schedules_plot', 'TabDiff noise schedules'),
    ],
)
def test_figures_have_titles(synthesizer, report, default):
    figure = getattr(synthesizer, report)()
    named = getattr(synthesizer, report)(title='Mine')

    assert isinstance(figure, go.Figure)
    assert figure.layout.title.text == default
    assert named.layout.title.text == 'Mine'
    assert figure.layout.xaxis.title.text in ('Epoch', 'Time')


def test_loss_figure_shows_the_losses(synthesizer):
    figure = synthesizer.get_loss_values_plot()
    losses = synthesizer.get_loss_values()
    shown = {trace.name: trace for trace in figure.data if trace.showlegend}

    assert set(shown) == {'Training, each epoch', 'Training', 'Validation'}
    np.testing.assert_allclose(shown['Training, each epoch'].y, losses['Loss'])
    np.testing.assert_allclose(shown['Validation'].y, losses['Validation Loss'])


def test_noise_figure_has_a_rising_curve_for_every_schedule(synthesizer):
    curves = synthesizer.get_noise_schedules_plot().data

    assert len(curves) == len(synthesizer.get_noise_schedules())
    assert all((np.diff(curve.y) >= 0).all() for curve in curves)
    assert {curve.name for curve in curves} == set(PEOPLE) - {'key', 'email'}


@pytest.mark.parametrize('report', ['get_loss_values_plot', 'get_noise_schedules_plot'])
def test_figures_of_a_constant_table_are_empty_not_broken(constant, report):
    assert isinstance(getattr(constant, report)(), go.Figure)
    assert constant.get_noise_schedules().empty
