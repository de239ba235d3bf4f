"""One fit, sampled with different numbers of steps, with a stand-in for the synthesizer."""

import pytest

from sdv_tabdiff.benchmark import imputation, steps
from sdv_tabdiff.benchmark.steps import Plan

from .folders import animals, table_of


class Shuffles:
    """Returns its training rows, with fewer steps fewer different ones."""

    fits = []

    def __init__(self, metadata, random_state, **parameters):
        self.seed = random_state

    def fit(self, data):
        Shuffles.fits.append(self.seed)
        self.rows = data

    def set_sampling_steps(self, number):
        self.steps = number

    def reset_sampling(self):
        pass

    def sample(self, num_rows):
        return self.rows.head(self.steps).sample(num_rows, replace=True, random_state=self.seed)


@pytest.fixture(autouse=True)
def stand_in(monkeypatch):
    monkeypatch.setattr(imputation, 'TabDiffSynthesizer', Shuffles)
    monkeypatch.setattr(Shuffles, 'fits', [])


def run(folder, **plan):
    return steps.run([table_of(animals(100), animals(20, seed=1))], Plan(**plan), folder)


def test_one_fit_for_all_steps(tmp_path):
    frame = run(tmp_path, steps=[3, 100], seeds=[0, 1])

    assert Shuffles.fits == [0, 1]
    assert list(zip(frame['steps'], frame['seed'])) == [
        ('3', '0'), ('100', '0'), ('3', '1'), ('100', '1'),
    ]  # fmt: skip
    few, many = frame['shape_error'][:2]
    assert few > many
    assert (frame[['sample_seconds', 'first_100_seconds', 'rows_per_second']] > 0).all(axis=None)


def test_what_is_measured_is_not_measured_again(tmp_path):
    run(tmp_path, steps=[3])
    run(tmp_path, steps=[3])
    assert Shuffles.fits == [0]

    run(tmp_path, steps=[3, 5])
    assert Shuffles.fits == [0, 0]


def test_the_report_has_a_line_for_each_number_of_steps(tmp_path):
    text = steps.report(run(tmp_path, steps=[3, 100], seeds=[0, 1]))

    assert 'animals, seeds: 2' in text
    first = [line.split()[1] for line in text.splitlines() if line.startswith('| ')]
    assert [word.strip('-') for word in first] == ['steps', '', '3', '100']
