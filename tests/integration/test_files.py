"""Saving, loading and copying."""

import copy
import io
import pickle
import subprocess
import sys

import cloudpickle
import numpy as np
import pandas as pd
import pytest
import torch
from sdv.errors import SamplingError
from sdv.utils import load_synthesizer

from sdv_tabdiff import TabDiffSynthesizer

from .tables import PEOPLE, SDV_2, TABLE, fitted, metadata_of, people, people_metadata, quick

# Runs where every storage of a file must already be on the CPU.
LOAD_ELSEWHERE = """
import sys
import pandas as pd
import torch
torch.cuda.is_available = lambda: False
from sdv.utils import load_synthesizer
synthesizer = load_synthesizer(sys.argv[1])
synthesizer.reset_sampling()
synthesizer.sample(9).to_csv(sys.argv[2], index=False)
"""


@pytest.fixture
def synthesizer(people_data):
    return fitted(people_data, PEOPLE, table={'primary_key': 'key'})


def saved(synthesizer, tmp_path):
    path = tmp_path / 'synthesizer.pkl'
    synthesizer.save(str(path))
    return path


def test_loaded_synthesizer_is_one_of_ours(synthesizer, tmp_path):
    loaded = load_synthesizer(saved(synthesizer, tmp_path))

    assert type(loaded) is TabDiffSynthesizer
    assert loaded.get_parameters() == synthesizer.get_parameters()
    assert loaded.get_info() == synthesizer.get_info()
    assert loaded.get_metadata().to_dict() == synthesizer.get_metadata().to_dict()
    assert repr(loaded.get_transformers()) == repr(synthesizer.get_transformers())
    pd.testing.assert_frame_equal(loaded.get_loss_values(), synthesizer.get_loss_values())
    pd.testing.assert_frame_equal(loaded.get_noise_schedules(), synthesizer.get_noise_schedules())


@pytest.mark.skipif(SDV_2, reason='SDV 2 has no load method')
def test_load_method_of_sdv_1(synthesizer, tmp_path):
    loaded = TabDiffSynthesizer.load(str(saved(synthesizer, tmp_path)))

    assert len(loaded.sample(3)) == 3


def test_saving_right_after_fit_gives_the_same_samples(synthesizer, tmp_path):
    loaded = load_synthesizer(saved(synthesizer, tmp_path))

    pd.testing.assert_frame_equal(loaded.sample(30), synthesizer.sample(30))


def test_reset_after_loading_gives_the_same_samples(synthesizer, tmp_path):
    expected = synthesizer.sample(30)
    loaded = load_synthesizer(saved(synthesizer, tmp_path))
    loaded.reset_sampling()

    pd.testing.assert_frame_equal(loaded.sample(30), expected)


def test_sampling_after_loading_without_reset_works(synthesizer, tmp_path):
    first = synthesizer.sample(10)
    loaded = load_synthesizer(saved(synthesizer, tmp_path))
    sample = loaded.sample(10)

    assert len(sample) == 10
    assert loaded.sample(20)['age'].between(18, 90).all()
    assert not sample['income'].equals(first['income'])


def test_loading_twice_gives_the_same_samples(synthesizer, tmp_path):
    synthesizer.sample(10)
    path = saved(synthesizer, tmp_path)
    first, second = (load_synthesizer(path).sample(10) for _ in range(2))

    pd.testing.assert_frame_equal(first, second)


def test_saving_does_not_disturb_the_synthesizer(people_data, synthesizer, tmp_path):
    untouched = fitted(people_data, PEOPLE, table={'primary_key': 'key'})
    expected = [untouched.sample(10), untouched.sample(10)]
    first = synthesizer.sample(10)
    saved(synthesizer, tmp_path)

    pd.testing.assert_frame_equal(first, expected[0])
    pd.testing.assert_frame_equal(synthesizer.sample(10), expected[1])


def test_the_container_survives(people_data, tmp_path):
    synthesizer = fitted({TABLE: people_data}, PEOPLE, table={'primary_key': 'key'})
    loaded = load_synthesizer(saved(synthesizer, tmp_path))

    assert list(loaded.sample(2)) == [TABLE]


def test_integer_names_survive(tmp_path):
    data = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 2)))
    synthesizer = fitted(data, {'0': 'numerical', '1': 'numerical'})

    assert list(load_synthesizer(saved(synthesizer, tmp_path)).sample(2).columns) == [0, 1]


def test_a_loaded_synthesizer_can_be_fitted_again(synthesizer, tmp_path, people_data):
    loaded = load_synthesizer(saved(synthesizer, tmp_path))
    loaded.fit(people_data)

    pd.testing.assert_frame_equal(loaded.sample(15), synthesizer.sample(15))


def test_saving_an_unfitted_synthesizer_warns(new_synthesizer, tmp_path):
    with pytest.warns(UserWarning, match='not yet been fitted'):
        path = saved(new_synthesizer, tmp_path)

    loaded = load_synthesizer(path)
    with pytest.raises(SamplingError):
        loaded.sample(1)
    loaded.fit(people())
    assert len(loaded.sample(4)) == 4


def test_saving_a_fitted_synthesizer_does_not_warn(synthesizer, tmp_path, recwarn):
    saved(synthesizer, tmp_path)

    assert not recwarn.list


def test_file_holds_no_keys_and_no_personal_information(synthesizer, tmp_path, people_data):
    content = saved(synthesizer, tmp_path).read_bytes()

    assert b'nurse' in content
    for column in ('key', 'email'):
        assert not any(value.encode() in content for value in people_data[column])


def test_file_does_not_grow_with_the_rows(tmp_path):
    sizes = []
    for num_rows in (3000, 12_000):
        rng = np.random.default_rng(0)
        data = pd.DataFrame({'a': rng.normal(size=num_rows), 'b': rng.choice(list('xy'), num_rows)})
        synthesizer = fitted(data, {'a': 'numerical', 'b': 'categorical'})
        sizes.append(saved(synthesizer, tmp_path).stat().st_size)

    # Quantiles are all that a file keeps of a column: 16 bytes for each of at most 1000 knots.
    assert sizes[1] - sizes[0] < 16 * 1000 + 1000


def test_file_loads_where_there_is_no_gpu(synthesizer, tmp_path):
    path = saved(synthesizer, tmp_path)
    elsewhere = tmp_path / 'elsewhere.csv'
    subprocess.run(
        [sys.executable, '-W', 'ignore', '-c', LOAD_ELSEWHERE, str(path), str(elsewhere)],
        check=True,
        capture_output=True,
    )
    synthesizer.reset_sampling()

    pd.testing.assert_frame_equal(
        pd.read_csv(elsewhere), synthesizer.sample(9), check_dtype=False, rtol=1e-6
    )


def test_every_tensor_in_the_file_is_on_the_cpu(synthesizer, tmp_path):
    path = saved(synthesizer, tmp_path)
    devices = set()

    class Unpickler(pickle.Unpickler):
        def find_class(self, module, name):
            found = super().find_class(module, name)
            if name == '_load_from_bytes':
                return lambda content: devices_of(torch.load(io.BytesIO(content)), devices)

            return found

    with open(path, 'rb') as file:
        Unpickler(file).load()

    assert devices == {'cpu'}


def devices_of(storage, devices):
    devices.add(storage.device.type)
    return storage


@pytest.mark.parametrize('content', [b'', b'not a synthesizer', b'\x80\x04'], ids=repr)
def test_corrupt_file_is_an_error(tmp_path, content):
    path = tmp_path / 'corrupt.pkl'
    path.write_bytes(content)

    with pytest.raises((pickle.UnpicklingError, EOFError, ValueError)):
        load_synthesizer(path)


def test_truncated_file_is_an_error(synthesizer, tmp_path):
    path = saved(synthesizer, tmp_path)
    path.write_bytes(path.read_bytes()[:-200])

    with pytest.raises((pickle.UnpicklingError, EOFError)):
        load_synthesizer(path)


@pytest.mark.parametrize('fit', [False, True], ids=['unfitted', 'fitted'])
def test_deep_copy_is_independent(people_data, fit):
    original = quick(people_metadata())
    if fit:
        original.fit(people_data)

    duplicate = copy.deepcopy(original)
    duplicate.fit(people_data.assign(age=30))

    assert (duplicate.sample(10)['age'] == 30).all()
    assert original.get_info()['is_fit'] == fit
    if fit:
        assert original.sample(40)['age'].nunique() > 3


def test_cloudpickle_after_sampling_works(synthesizer):
    expected = synthesizer.sample(5)
    loaded = cloudpickle.loads(cloudpickle.dumps(synthesizer))
    loaded.reset_sampling()

    pd.testing.assert_frame_equal(loaded.sample(5), expected)


def test_constant_table_can_be_saved(tmp_path):
    synthesizer = fitted(pd.DataFrame({'a': [1.0] * 20}), {'a': 'numerical'})
    loaded = load_synthesizer(saved(synthesizer, tmp_path))

    assert (loaded.sample(3)['a'] == 1).all()
    assert loaded.get_metadata().to_dict() == metadata_of({'a': 'numerical'}).to_dict()
