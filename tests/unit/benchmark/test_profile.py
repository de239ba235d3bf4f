"""Where the time goes, on a small table."""

import pytest

from sdv_tabdiff.benchmark import profile
from sdv_tabdiff.benchmark.profile import MEASURES, OPTIMIZER, OUTSIDE, SAMPLE, STEP, Plan, kind_of

from .folders import animals, table_of


@pytest.mark.parametrize(
    ('operator', 'kind'),
    [
        ('aten::addmm', 'products'),
        ('aten::baddbmm', 'products'),
        ('mkldnn::_linear_pointwise', 'products'),
        ('aten::bernoulli_', 'randomness'),
        ('aten::copy_', 'copies'),
        ('aten::mul', 'other operators'),
        ('Optimizer.step#Muon.step', 'other operators'),
    ],
)
def test_kinds_of_operators(operator, kind):
    assert kind_of(operator) == kind


@pytest.fixture(scope='module')
def frame(tmp_path_factory):
    table = table_of(animals(300), animals(20, seed=1))
    return profile.run([table], Plan(epochs=40, threads=1), tmp_path_factory.mktemp('profile'))


def test_a_row_for_the_training_and_one_for_the_sampling(frame):
    assert list(frame['part']) == [STEP, SAMPLE]
    assert (frame['problem'] == '').all()
    assert (frame['milliseconds'] > 0).all()
    assert (frame['products'] > 0).all()


def test_shares_add_up_unless_watching_took_longer_than_the_work(frame):
    parts = frame[[name for name in MEASURES[1:] if name != OPTIMIZER]].sum(axis=1)

    assert (parts >= 1 - 1e-5).all()
    assert ((parts < 1 + 1e-5) | (frame[OUTSIDE] == 0)).all()


def test_only_the_training_has_an_optimizer(frame):
    assert frame[OPTIMIZER][0] > 0 == frame[OPTIMIZER][1]


def test_report(frame):
    text = profile.report(frame)

    assert text.count(STEP) == text.count(SAMPLE) == 1
    assert '| milliseconds' in text
