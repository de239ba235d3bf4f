import sys
from types import ModuleType

import pandas as pd
import pytest
from sdv.metadata import Metadata

from sdv_tabdiff import PAPER, TabDiffSynthesizer
from sdv_tabdiff.benchmark import timing
from sdv_tabdiff.benchmark.synthesizers import (
    Bootstrap,
    epochs_within,
    new_synthesizer,
    variants,
)
from sdv_tabdiff.benchmark.tables import BenchmarkError

from .folders import animals, described

METADATA = Metadata.load_from_dict(described())


class TestVariants:
    def test_default(self):
        (variant,) = variants('default')

        assert variant.title == 'TabDiff'
        assert variant.parameters == {}

    def test_paper(self):
        (variant,) = variants('PAPER')

        assert variant.title == 'TabDiff PAPER'
        assert variant.parameters == PAPER

    @pytest.mark.parametrize(('word', 'base'), [('ablation', {}), ('PAPER-ablation', PAPER)])
    def test_ablation_has_four_corners(self, word, base):
        found = variants(word)

        corners = {
            (one.parameters['learnable_schedules'], one.parameters['stochastic_sampler'])
            for one in found
        }
        assert len(found) == len(corners) == 4
        assert all(base.items() - one.parameters.items() <= base.items() for one in found)
        assert len({one.title for one in found}) == 4

    def test_one_corner(self):
        (variant,) = variants('learnable-deterministic')

        assert variant.parameters == {'learnable_schedules': True, 'stochastic_sampler': False}

    def test_parameters_in_json(self):
        (variant,) = variants('wide={"trunk_dims": [64, 64], "epochs": 3}')

        assert variant.title == 'TabDiff wide'
        assert variant.parameters == {'trunk_dims': (64, 64), 'epochs': 3}
        new_synthesizer('TabDiff', METADATA, 0, variant.parameters)

    @pytest.mark.parametrize('text', ['nonsense', 'a={', 'a=[1]', 'a=3'])
    def test_what_stands_for_nothing_is_an_error(self, text):
        with pytest.raises(BenchmarkError, match=text.split('=')[0]):
            variants(text.replace('a=', 'a='))


def test_bootstrap_draws_training_rows():
    rows = animals()
    bootstrap = Bootstrap(seed=1)
    bootstrap.fit({'animals': rows})

    drawn = bootstrap.sample(200)

    assert len(drawn) == 200
    assert drawn.index.tolist() == list(range(200))
    assert set(drawn['size']) <= set(rows['size'])
    assert drawn.duplicated().any()
    pd.testing.assert_frame_equal(drawn, bootstrap.sample(200))


def test_tabdiff_gets_its_seed_and_its_time():
    synthesizer = new_synthesizer('TabDiff', METADATA, 7, {'epochs': 2}, seconds=30)

    assert isinstance(synthesizer, TabDiffSynthesizer)
    assert synthesizer.random_state == 7
    assert synthesizer.max_training_time == 30
    assert synthesizer.epochs == 2
    assert new_synthesizer('TabDiff', METADATA, 7, seconds=30).epochs > 10_000


class FakeARGN:
    """Gives back what it was trained on, and remembers how it was made."""

    def __init__(self, **arguments):
        self.arguments = arguments
        FakeARGN.made = self

    def fit(self, rows):
        self.rows = rows

    def sample(self, n_samples):
        return self.rows.iloc[:n_samples].set_index(pd.Index(range(5, 5 + n_samples)))


class TestMostlyAI:
    def test_categories_go_as_texts_and_come_back_as_they_were(self, monkeypatch):
        module = ModuleType('mostlyai.engine')
        module.TabularARGN = FakeARGN
        monkeypatch.setitem(sys.modules, 'mostlyai', ModuleType('mostlyai'))
        monkeypatch.setitem(sys.modules, 'mostlyai.engine', module)
        columns = {'year': {'sdtype': 'categorical'}, 'size': {'sdtype': 'numerical'}}
        metadata = Metadata.load_from_dict({'tables': {'table': {'columns': columns}}})
        rows = pd.DataFrame({'year': [2010, 2011, None], 'size': [1.5, 2.5, 3.5]})

        synthesizer = new_synthesizer('MostlyAI', metadata, 3, seconds=90)
        synthesizer.fit(rows)
        made = synthesizer.sample(3)

        assert FakeARGN.made.rows['year'].tolist()[:2] == ['2010.0', '2011.0']
        assert FakeARGN.made.arguments == {
            'random_state': 3,
            'tgt_encoding_types': {'year': 'TABULAR_CATEGORICAL'},
            'max_training_time': 1.5,
        }
        assert made['year'].tolist()[:2] == [2010, 2011]
        assert made['year'].isna().tolist() == [False, False, True]
        assert made['size'].tolist() == [1.5, 2.5, 3.5]
        assert made.index.tolist() == [0, 1, 2]

    def test_without_the_package(self, monkeypatch):
        monkeypatch.setitem(sys.modules, 'mostlyai.engine', None)

        with pytest.raises(BenchmarkError, match='pip install mostlyai-engine'):
            new_synthesizer('MostlyAI', METADATA, 0)


class Clock:
    """A clock that fits move on: some seconds of their own, and some for each epoch."""

    def __init__(self, start, epoch):
        self.now, self.start, self.epoch = 0.0, start, epoch
        self.first = True

    def monotonic(self):
        return self.now

    def fit(self, epochs):
        self.now += self.start + self.epoch * epochs + (100 if self.first else 0)
        self.first = False


@pytest.mark.parametrize(
    ('start', 'epoch', 'seconds', 'epochs'),
    [
        (4, 2, 100, 48),
        (4, 2, 6, 1),
        (4, 2, 1, 1),
        (0.5, 0.001, 120, 119_500),
        (0, 0.03, 120, 4_000),
    ],
)
def test_epochs_fill_the_time(start, epoch, seconds, epochs, monkeypatch):
    clock = Clock(start, epoch)
    monkeypatch.setattr(timing, 'time', clock)

    assert epochs_within(clock.fit, seconds) == pytest.approx(epochs, rel=0.01, abs=1)


def test_an_epoch_that_takes_no_time_of_its_own_is_not_repeated_for_ever(monkeypatch):
    clock = Clock(start=1, epoch=0)
    monkeypatch.setattr(timing, 'time', clock)

    assert epochs_within(clock.fit, 10) < 100
