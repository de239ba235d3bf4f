"""How long a fit takes beside one of CTGAN, with a stand-in for the synthesizers."""

import pytest
import torch

from sdv_tabdiff.benchmark import pace
from sdv_tabdiff.benchmark.pace import Plan, seconds_of_all_epochs

from .folders import animals, table_of


@pytest.mark.parametrize('few', [1, 8])
def test_seconds_that_are_linear_in_the_epochs_are_found_exactly(few):
    found = seconds_of_all_epochs(lambda epochs: 20 + 3 * epochs, few, 300)

    assert found == pytest.approx(20 + 3 * 300)


def test_all_epochs_are_measured_if_there_are_no_more():
    # What one epoch takes is measured once more, and taken away again.
    assert seconds_of_all_epochs({1: 5.0, 4: 11.0}.get, 3, 4) == 11.0


class Stand:
    """Remembers what was fitted, with how many threads."""

    fits = []

    def __init__(self, name, parameters):
        self.name, self.parameters = name, {'epochs': 300, **(parameters or {})}

    def get_parameters(self):
        return self.parameters

    def fit(self, data):
        rows = next(iter(data.values())) if isinstance(data, dict) else data
        threads = torch.get_num_threads()
        Stand.fits.append((self.name, self.parameters['epochs'], len(rows), threads))


@pytest.fixture(autouse=True)
def stand_in(monkeypatch):
    def new(name, metadata, seed, parameters=None):
        return Stand(name, parameters)

    monkeypatch.setattr(pace, 'new_synthesizer', new)
    monkeypatch.setattr(pace, 'WARM_UP_ROWS', 50)
    monkeypatch.setattr(Stand, 'fits', [])


def run(folder, **plan):
    return pace.run([table_of(animals(100), animals(20, seed=1))], Plan(**plan), folder)


def test_a_few_epochs_of_ctgan_and_the_whole_fit_of_tabdiff(tmp_path):
    before = torch.get_num_threads()
    frame = run(tmp_path, peer_epochs=4, threads=1, parameters={'epochs': 7})

    assert Stand.fits == [
        ('CTGAN', 1, 50, 1), ('CTGAN', 5, 100, 1), ('CTGAN', 1, 100, 1), ('TabDiff', 7, 100, 1),
    ]  # fmt: skip
    assert torch.get_num_threads() == before
    assert list(frame['table']) == ['animals']
    assert 'animals' in pace.report(frame)


def test_what_is_measured_is_not_measured_again(tmp_path):
    run(tmp_path)
    count = len(Stand.fits)

    run(tmp_path)
    assert len(Stand.fits) == count

    run(tmp_path, peer_epochs=2)
    assert len(Stand.fits) == 2 * count
