"""The model of a processed table: devices, files, interruption, batches."""

import pickle

import numpy as np
import pandas as pd
import pytest
import torch

from sdv_tabdiff import rows as rows_module
from sdv_tabdiff.diffusion import (
    DenoiserSizes,
    Given,
    Guide,
    MixedDiffusion,
    NoiseSettings,
    Roles,
    SamplerSettings,
    TrainingSettings,
    sample,
)
from sdv_tabdiff.diffusion.course import Course
from sdv_tabdiff.diffusion.solvers import SOLVERS
from sdv_tabdiff.diffusion.trainer import Trainer
from sdv_tabdiff.diffusion.validation import Validation
from sdv_tabdiff.knowledge import Knowledge, Restriction, Restrictions
from sdv_tabdiff.model import TabDiff, choose_device
from sdv_tabdiff.table import TableCodec
from tests.fake_cuda import fake_cuda

SMALL = DenoiserSizes(trunk_dims=(16,), time_dim=8)
PAPER_LIKE = DenoiserSizes(
    token_dim=4, encoder_layers=1, decoder_layers=1, trunk_dims=(16, 32), residual=False
)


def frame(num_rows=120):
    rng = np.random.default_rng(0)
    return pd.DataFrame({
        'x': rng.standard_normal(num_rows),
        'y': rng.choice(list('abc'), num_rows),
    })


def fit(model, table, **kwargs):
    model.fit(table, TableCodec(['y']).fit(table), **kwargs)


def build(epochs=2, **kwargs):
    return TabDiff(
        SMALL,
        NoiseSettings(),
        TrainingSettings(epochs=epochs, batch_size=32),
        SamplerSettings(5),
        random_state=0,
        **kwargs,
    )


def fitted(**kwargs):
    model = build(**kwargs)
    fit(model, frame())
    return model


def test_the_cpu_is_used_if_no_gpu_is_wanted():
    assert choose_device(enable_gpu=False) == torch.device('cpu')


@pytest.mark.parametrize('learnable', [True, False])
@pytest.mark.parametrize('sizes', [SMALL, PAPER_LIKE], ids=['residual', 'paper'])
def test_no_tensor_of_a_gpu_run_is_left_on_the_cpu(sizes, learnable):
    with fake_cuda() as parameters:
        with torch.device('cuda'):
            model = MixedDiffusion(2, [3, 3, 7], sizes, NoiseSettings(learnable=learnable))
        parameters += model.parameters()
        trainer = Trainer(model, TrainingSettings(schedule_every=1), Course(10, None))
        x_num = torch.empty((8, 2), device='cuda')
        x_cat = torch.empty((8, 3), device='cuda', dtype=torch.int64)

        losses = trainer.step(x_num, x_cat, None)
        validation = Validation(model, x_num, x_cat, None).losses(trainer.ema.model)

        assert {part.device.type for part in (losses, *validation)} == {'cuda'}
        known = torch.ones((4, 5), device='cuda', dtype=torch.bool)
        given = Given(x_num[:4], x_cat[:4], Roles(known, ~known, 2))
        guide = Guide.hiding(trainer.ema.model, 0.5)
        for solver in SOLVERS:
            rows = sample(trainer.ema.model, 4, SamplerSettings(3, solver))
            guided = sample(trainer.ema.model, 4, SamplerSettings(3, solver), None, given, guide)
            assert {part.device.type for part in (*rows, *guided)} == {'cuda'}


def test_a_fake_run_would_notice_a_tensor_on_the_wrong_device():
    with fake_cuda(), torch.device('cuda'):
        model = MixedDiffusion(1, [3], SMALL)
        x_cat, ones = torch.empty((2, 1), dtype=torch.int64), torch.ones((1, 1))
        with pytest.raises(RuntimeError, match='same device'):
            model.denoiser(torch.empty((2, 1), device='cpu'), x_cat, ones, ones)


def test_a_pickle_does_not_grow_with_the_training_rows():
    # Rows kept in any form, encoded or not, would show in the size. (Quantiles grow up to 200.)
    sizes = []
    for num_rows in (10_000, 15_000):
        model = build()
        fit(model, frame(num_rows))
        sizes.append(len(pickle.dumps(model)))

    assert abs(sizes[1] - sizes[0]) < 500


def test_a_loaded_model_samples_the_same_rows():
    model = fitted()
    loaded = pickle.loads(pickle.dumps(model))

    for one in (model, loaded):
        one.set_random_state(3)

    pd.testing.assert_frame_equal(model.sample(20), loaded.sample(20))


def test_rows_are_the_same_in_small_batches_of_memory(monkeypatch):
    model = fitted()
    monkeypatch.setattr(rows_module, 'MAX_LOGITS_PER_BATCH', 256 * 7)

    rows = model.sample(30)

    assert len(rows) == 30
    assert isinstance(rows.index, pd.RangeIndex)


def test_a_full_gpu_means_smaller_batches(monkeypatch):
    model = fitted()
    counts = []

    def full_above_100_rows(network, count, *args):
        if count > 100:
            raise torch.OutOfMemoryError('full')
        counts.append(count)
        return sample(network, count, *args)

    monkeypatch.setattr(rows_module, 'sample', full_above_100_rows)

    assert len(model.sample(1000)) == 1000
    assert max(counts) <= 100


def test_a_gpu_without_any_room_is_a_clear_error(monkeypatch):
    model = fitted()

    def always_full(*args):
        raise torch.OutOfMemoryError('full')

    monkeypatch.setattr(rows_module, 'sample', always_full)

    with pytest.raises(torch.OutOfMemoryError, match='enable_gpu=False'):
        model.sample(10)


def test_ctrl_c_keeps_the_best_model_so_far(monkeypatch):
    model = build(epochs=1000)
    steps = []
    step = Trainer.step

    def interrupted(self, *args):
        steps.append(1)
        if len(steps) == 30:
            raise KeyboardInterrupt
        return step(self, *args)

    monkeypatch.setattr(Trainer, 'step', interrupted)

    with pytest.warns(UserWarning, match='interrupted after 7 epochs'):
        fit(model, frame())

    assert len(model.loss_values) == 7
    assert len(model.sample(10)) == 10


def test_global_random_states_are_untouched():
    torch.manual_seed(5)
    np.random.seed(5)  # noqa: NPY002
    before = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002

    model = fitted()
    model.sample(5)

    assert torch.equal(torch.get_rng_state(), before[0])
    assert (np.random.get_state()[1] == before[1]).all()  # noqa: NPY002


def test_the_progress_bar_is_shown_only_on_request(capsys):
    fitted()
    assert capsys.readouterr().err == ''

    fitted(verbose=True)
    shown = capsys.readouterr().err
    assert 'Training' in shown and 'loss' in shown and 'validation' in shown


def knowledge(num_rows=30, **columns):
    given = pd.DataFrame({name: [value] * num_rows for name, value in columns.items()})
    return Knowledge(given, given.notna())


def test_known_cells_come_back_as_they_are():
    rows = fitted().complete(knowledge(x=0.25, y='b'))

    assert rows['x'].to_numpy() == pytest.approx(0.25, abs=1e-5)
    assert (rows['y'] == 'b').all()
    assert rows.index.equals(pd.RangeIndex(30))


@pytest.mark.parametrize('share', [0.0, 0.5])
@pytest.mark.parametrize('guidance', [0.0, 0.7])
@pytest.mark.parametrize('guide_columns', [(), ('x',), ('y',)])
def test_every_kind_of_guidance_fills_the_rows(share, guidance, guide_columns):
    model = TabDiff(
        SMALL,
        NoiseSettings(),
        TrainingSettings(epochs=2, batch_size=32, conditional_share=share),
        SamplerSettings(5),
        random_state=0,
    )
    fit(model, frame(), guide_columns=guide_columns)

    rows = model.complete(knowledge(y='a'), guidance)

    assert len(rows) == 30 and rows.notna().all().all()
    assert (rows['y'] == 'a').all()


def test_leading_cells_stay_in_their_limits():
    limits = {
        'x': Restrictions([Restriction(low=0.5, high=1.0)], np.zeros(40, dtype=int)),
        'y': Restrictions([Restriction(allowed=frozenset('ac'))], np.arange(40) % 2 - 1),
    }
    nothing = pd.DataFrame(index=range(40))
    rows = fitted().complete(Knowledge(nothing, nothing, limits))

    assert rows['x'].between(0.5 - 1e-4, 1.0 + 1e-4).all()
    assert set(rows['y'][1::2]) <= {'a', 'c'}


def test_probabilities_of_levels_sum_to_one():
    shares = fitted().level_probabilities(knowledge(x=0.1), ['y'])['y']

    assert set(shares.columns) == set('abc')
    assert shares.sum(axis=1).to_numpy() == pytest.approx(1)


def test_a_seed_for_a_while_leaves_the_usual_random_numbers_alone():
    model = fitted()
    model.set_random_state(0)
    expected = [model.sample(5), model.sample(5)]

    model.set_random_state(0)
    first = model.sample(5)
    with model.seeded(7):
        other = model.sample(5)
    with model.seeded(7):
        again = model.sample(5)

    pd.testing.assert_frame_equal(first, expected[0])
    pd.testing.assert_frame_equal(other, again)
    pd.testing.assert_frame_equal(model.sample(5), expected[1])


def test_a_table_in_which_nothing_varies_has_certain_levels():
    model = build()
    fit(model, pd.DataFrame({'y': ['a'] * 60}))

    assert model.complete(knowledge(3, y='a'))['y'].tolist() == ['a'] * 3
    assert (
        model.level_probabilities(knowledge(3, y=None), ['y'])['y'].to_numpy().tolist()
        == [[1.0]] * 3
    )
