"""Random numbers: repeatable where asked, fresh where not, and never the user's own."""

import os
import random
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import torch

from .tables import PEOPLE, fitted, people_metadata, quick

KEY = {'primary_key': 'key'}
MODELLED = ['age', 'income', 'job', 'member', 'joined']

CODE = """
import numpy as np, pandas as pd
from sdv.metadata import Metadata
from sdv_tabdiff import TabDiffSynthesizer
numbers = np.random.default_rng(0).normal(size=50).round(4)
data = pd.DataFrame({'a': numbers, 'b': list('xyxzy') * 10})
columns = {'a': {'sdtype': 'numerical'}, 'b': {'sdtype': 'categorical'}}
metadata = Metadata.load_from_dict({'tables': {'t': {'columns': columns}}})
synthesizer = TabDiffSynthesizer(metadata, epochs=2, random_state=5, enable_gpu=False)
synthesizer.fit(data)
print(synthesizer.sample(8).to_csv())
"""


def global_states():
    numpy_state = np.random.get_state()  # noqa: NPY002
    return repr(random.getstate()), repr(numpy_state), torch.get_rng_state().tolist()


def test_two_samples_differ(people_synthesizer):
    first, second = people_synthesizer.sample(30), people_synthesizer.sample(30)

    assert not first[MODELLED].equals(second[MODELLED])


def test_reset_sampling_repeats_the_samples(people_synthesizer):
    people_synthesizer.reset_sampling()
    first = [people_synthesizer.sample(count) for count in (5, 12)]
    people_synthesizer.reset_sampling()
    second = [people_synthesizer.sample(count) for count in (5, 12)]

    for one, other in zip(first, second):
        pd.testing.assert_frame_equal(one, other)


def test_reset_sampling_right_after_fit_changes_nothing(people_data):
    plain, reset = (fitted(people_data, PEOPLE, table=KEY) for _ in range(2))
    reset.reset_sampling()

    pd.testing.assert_frame_equal(plain.sample(20), reset.sample(20))


def test_reset_sampling_before_fit_is_harmless(new_synthesizer, people_data):
    new_synthesizer.reset_sampling()
    new_synthesizer.fit(people_data)

    assert len(new_synthesizer.sample(3)) == 3


@pytest.mark.parametrize('random_state', [0, 1, 2**31])
def test_equal_seeds_give_equal_tables(people_data, random_state):
    first, second = (
        fitted(people_data, PEOPLE, table=KEY, random_state=random_state) for _ in range(2)
    )

    pd.testing.assert_frame_equal(first.get_loss_values(), second.get_loss_values())
    pd.testing.assert_frame_equal(first.sample(40), second.sample(40))


def test_different_seeds_give_different_models(people_data):
    first, second = (fitted(people_data, PEOPLE, table=KEY, random_state=seed) for seed in (0, 1))

    assert not first.get_loss_values().equals(second.get_loss_values())


def test_no_seed_gives_a_new_model_each_time(people_data):
    first, second = (fitted(people_data, PEOPLE, table=KEY, random_state=None) for _ in range(2))

    assert not first.get_loss_values().equals(second.get_loss_values())


def test_no_seed_does_not_follow_the_users_global_seed(people_data):
    losses = []
    for _ in range(2):
        torch.manual_seed(0)
        synthesizer = fitted(people_data, PEOPLE, table=KEY, random_state=None)
        losses.append(synthesizer.get_loss_values())

    assert not losses[0].equals(losses[1])


def test_the_seed_wins_over_the_global_random_state(people_data):
    samples = []
    for seed in (1, 2):
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002
        torch.manual_seed(seed)
        samples.append(fitted(people_data, PEOPLE, table=KEY).sample(20)[MODELLED])

    pd.testing.assert_frame_equal(*samples)


@pytest.mark.parametrize('random_state', [None, 3])
def test_fit_leaves_the_global_random_state_alone(random_state, people_data):
    synthesizer = quick(people_metadata(), random_state=random_state)
    before = global_states()
    synthesizer.fit(people_data)

    assert global_states() == before


def test_sampling_leaves_the_global_random_state_alone(people_data):
    synthesizer = fitted(people_data, PEOPLE, table=KEY)
    before = global_states()
    synthesizer.sample(20)
    synthesizer.sample(20)
    synthesizer.sample_remaining_columns(pd.DataFrame({'job': ['nurse', 'cook']}))

    assert global_states() == before


def test_a_second_synthesizer_does_not_disturb_the_first(people_data):
    alone = fitted(people_data, PEOPLE, table=KEY)
    expected = [alone.sample(10), alone.sample(10)]
    disturbed = fitted(people_data, PEOPLE, table=KEY)
    first = disturbed.sample(10)
    quick(people_metadata(), random_state=9).fit(people_data)
    second = disturbed.sample(10)

    pd.testing.assert_frame_equal(first, expected[0])
    pd.testing.assert_frame_equal(second, expected[1])


def test_reports_do_not_change_what_is_sampled(people_data):
    plain, looked_at = (fitted(people_data, PEOPLE, table=KEY) for _ in range(2))
    first = looked_at.sample(5)
    looked_at.get_loss_values_plot()
    looked_at.get_noise_schedules_plot()
    looked_at.get_info()

    pd.testing.assert_frame_equal(plain.sample(5), first)
    pd.testing.assert_frame_equal(plain.sample(5), looked_at.sample(5))


def test_the_same_rows_whatever_the_hash_seed():
    outputs = [
        subprocess.run(
            [sys.executable, '-W', 'ignore', '-c', CODE],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, 'PYTHONHASHSEED': seed, 'OMP_NUM_THREADS': '1'},
        ).stdout
        for seed in ('1', '2')
    ]

    assert outputs[0] == outputs[1]
    assert outputs[0].count('\n') > 8
