import numpy as np
import pandas as pd
import pytest

from sdv_tabdiff.evaluation import ml_efficiency

from .tables import METADATA, people

CATEGORY = {'columns': {'x': {'sdtype': 'numerical'}, 'y': {'sdtype': 'categorical'}}}
NUMBER = {'columns': {'x': {'sdtype': 'numerical'}, 'y': {'sdtype': 'numerical'}}}


def steps(num_rows, seed, answers):
    x = np.random.default_rng(seed).random(num_rows)
    return pd.DataFrame({'x': x, 'y': np.array(list(answers), dtype=object)[(3 * x).astype(int)]})


def test_a_target_that_follows_from_the_others_is_learned():
    scores = ml_efficiency(steps(500, 0, 'aab'), steps(500, 1, 'aab'), CATEGORY, 'y')

    assert scores['auc'] > 0.99
    assert scores['micro_auc'] > 0.99


def test_several_levels():
    scores = ml_efficiency(steps(500, 0, 'abc'), steps(500, 1, 'abc'), CATEGORY, 'y')

    assert scores['auc'] > 0.99


def test_an_unrelated_target_cannot_be_learned():
    rng = np.random.default_rng(0)
    real, synthetic = (steps(2000, seed, 'aab') for seed in (0, 1))
    synthetic['y'] = rng.permutation(synthetic['y'])

    auc = ml_efficiency(synthetic, real, CATEGORY, 'y')['auc']

    assert auc == pytest.approx(0.5, abs=0.12)


def test_swapped_answers_are_learned_the_wrong_way_round():
    assert ml_efficiency(steps(500, 0, 'aab'), steps(500, 1, 'bba'), CATEGORY, 'y')['auc'] < 0.01


def test_a_single_level_teaches_nothing():
    synthetic = steps(500, 0, 'aaa')

    assert ml_efficiency(synthetic, steps(500, 1, 'aab'), CATEGORY, 'y')['auc'] == 0.5


def test_a_level_that_is_new_or_lacking():
    synthetic = steps(600, 0, 'abd')

    scores = ml_efficiency(synthetic, steps(500, 1, 'abc'), CATEGORY, 'y')

    # 'a' and 'b' are found, nothing is known of 'c'; rows that say 'd' teach nothing.
    assert scores['auc'] == pytest.approx(2.5 / 3, abs=0.1)


def test_numbers_are_compared_by_their_logarithms_if_they_reach_ten():
    rng = np.random.default_rng(0)
    x = rng.random(1000)
    large = pd.DataFrame({'x': x, 'y': np.exp(3 + 2 * x)})
    small = pd.DataFrame({'x': x, 'y': x - 0.5})

    assert ml_efficiency(large, large, NUMBER, 'y')['log_rmse'] < 0.05
    assert ml_efficiency(small, small, NUMBER, 'y')['rmse'] < 0.05


def test_noise_is_the_floor_of_the_error():
    rng = np.random.default_rng(0)
    parts = []
    for _ in range(2):
        x = rng.random(4000)
        parts.append(pd.DataFrame({'x': x, 'y': x + rng.normal(0, 0.3, 4000)}))

    assert ml_efficiency(*parts, NUMBER, 'y')['rmse'] == pytest.approx(0.3, abs=0.02)


@pytest.mark.parametrize('target', ['job', 'income', 'member', 'grade'])
def test_gaps_dates_and_keys_do_no_harm(target):
    scores = ml_efficiency(people(300, 0), people(200, 1), METADATA, target)

    assert all(np.isfinite(list(scores.values())))


@pytest.mark.parametrize('target', ['joined', 'key', 'email', 'nowhere'])
def test_targets_that_cannot_be_predicted(target):
    with pytest.raises(ValueError, match=f"'{target}'"):
        ml_efficiency(people(30, 0), people(30, 1), METADATA, target)


def test_few_rows():
    scores = ml_efficiency(people(4, 0), people(50, 1), METADATA, 'member')

    assert 0 <= scores['auc'] <= 1
