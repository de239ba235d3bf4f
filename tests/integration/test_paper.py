"""The paper's setting, with fewer epochs and a narrower trunk."""

import pytest

from sdv_tabdiff import PAPER, TabDiffSynthesizer

from .tables import people, people_metadata

ABLATION = [
    {'learnable_schedules': learnable, 'stochastic_sampler': stochastic}
    for learnable in (True, False)
    for stochastic in (True, False)
]


def small(**changes):
    parameters = {**PAPER, 'epochs': 2, 'trunk_dims': (32, 64, 32), 'time_dim': 16}
    return TabDiffSynthesizer(people_metadata(), **{**parameters, **changes})


def test_the_parameters_are_those_of_the_paper():
    parameters = TabDiffSynthesizer(people_metadata(), **PAPER).get_parameters()

    assert {name: parameters[name] for name in PAPER} == PAPER
    assert parameters['trunk_dims'] == (1024, 2048, 2048, 1024)
    assert parameters['sigma_max'] == 80.0


@pytest.mark.parametrize('changes', ABLATION)
def test_every_cell_of_the_ablation_runs(changes):
    synthesizer = small(**changes)
    synthesizer.fit(people())

    assert len(synthesizer.sample(20)) == 20


def test_every_number_is_continuous():
    synthesizer = small()
    synthesizer.fit(people())

    schedules = synthesizer.get_noise_schedules()
    numbers = [
        name
        for name, column in people_metadata().tables['people'].columns.items()
        if column['sdtype'] == 'numerical'
    ]
    assert set(numbers) <= set(schedules.loc[schedules['Kind'] == 'numerical', 'Column'])


def test_learnable_schedules_differ_between_columns():
    synthesizer = small(epochs=30)
    synthesizer.fit(people())

    exponents = synthesizer.get_noise_schedules().groupby('Kind')['Exponent']
    assert (exponents.nunique() > 1).all()
