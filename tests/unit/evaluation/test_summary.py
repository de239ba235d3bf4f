import numpy as np
import pandas as pd
import pytest
from sdv.errors import InvalidDataError

from sdv_tabdiff import evaluation
from sdv_tabdiff.evaluation import MEASURES, evaluate, summary

from .tables import METADATA, levels, numbers, people


def values(frame):
    return frame.set_index('measure')['value']


def test_each_value_is_that_of_its_function():
    real, made, unseen = people(200, 0), people(200, 1), people(150, 2)

    found = values(evaluate(real, made, METADATA, unseen, 'job', seed=3))

    pair = real, made, METADATA
    assert found['shape_error'] == evaluation.shape_error(*pair)
    assert found['trend_error'] == evaluation.trend_error(*pair)
    assert found['sdmetrics_score'] == evaluation.quality(*pair, all_pairs=False)['score']
    assert found['alpha_precision'] == evaluation.alpha_precision(*pair)
    assert found['beta_recall'] == evaluation.beta_recall(*pair)
    assert found['c2st_logistic'] == evaluation.logistic_detection(*pair, seed=3)
    assert found['c2st_boosted'] == evaluation.boosted_detection(*pair, seed=3)
    assert found['mle_auc'] == evaluation.ml_efficiency(made, unseen, METADATA, 'job', 3)['auc']
    assert found['dcr_share'] == evaluation.dcr_share(*pair, unseen)
    assert np.isnan(found['imputation'])


def test_what_is_not_given_is_noted():
    frame = people(60)

    notes = evaluate(frame, frame, METADATA).set_index('measure')['note']

    assert notes['mle'] == 'needs holdout, target'
    assert notes['imputation'] == 'needs synthesizer, holdout, target'
    assert notes['dcr_share'] == 'needs holdout'
    assert (notes.drop(['mle', 'imputation', 'dcr_share']) == '').all()


def test_some_measures_in_the_order_asked_for():
    frame = people(60)

    found = evaluate(frame, frame, METADATA, measures=['beta_recall', 'shape_error'])

    assert found['measure'].tolist() == ['beta_recall', 'shape_error']
    assert found['best'].tolist() == ['higher', 'lower']


def test_an_unknown_measure_is_named():
    frame = people(10)

    with pytest.raises(ValueError, match="'charm'"):
        evaluate(frame, frame, METADATA, measures=['charm'])


def test_without_xgboost_the_others_are_measured(monkeypatch):
    monkeypatch.setitem(__import__('sys').modules, 'xgboost', None)
    frame = people(60)

    found = evaluate(frame, frame, METADATA, frame, 'job').set_index('measure')

    assert 'sdv-tabdiff[benchmark]' in found.loc['c2st_boosted', 'note']
    assert 'sdv-tabdiff[benchmark]' in found.loc['mle', 'note']
    assert found.loc['shape_error', 'value'] == pytest.approx(0)


@pytest.mark.parametrize(
    ('frame', 'metadata'),
    [
        numbers(a=[1.0, 2.0, 3.0, 4.0] * 5),
        numbers(a=[np.nan] * 20, b=np.arange(20.0)),
        numbers(a=[1.0] * 20, b=np.arange(20.0)),
        levels(a=['x'] * 20),
        levels(a=[None] * 20, b=['x', 1] * 10),
        numbers(a=[1.0, 2.0]),
    ],
    ids=['one number', 'all missing', 'constant', 'one level', 'mixed levels', 'two rows'],
)
def test_odd_tables_are_measured_as_far_as_possible(frame, metadata):
    target = list(metadata['columns'])[-1]
    arguments = {'holdout': frame, 'target': target}
    if metadata['columns'][target]['sdtype'] == 'categorical' and frame[target].nunique() < 2:
        arguments.pop('target')

    found = evaluate(frame, frame, metadata, **arguments).set_index('measure')

    assert {name.split('_auc')[0].split('_micro')[0] for name in found.index} >= {'dcr_share'}
    assert found.loc['dcr_share', 'value'] == 0.5
    assert (found['value'].notna() | (found['note'] != '')).all()


def test_every_measure_is_described():
    assert set(MEASURES) == {
        'shape_error', 'trend_error', 'sdmetrics_score', 'sdmetrics_trend', 'alpha_precision',
        'beta_recall', 'c2st_logistic', 'c2st_boosted', 'mle', 'imputation', 'dcr_share',
    }  # fmt: skip


def test_a_measure_that_fails_is_noted_and_the_others_go_on(monkeypatch):
    def broken(*_):
        raise RuntimeError('no luck')

    monkeypatch.setitem(
        MEASURES, 'c2st_logistic', summary.Measure(lambda tables: tables.detection(broken))
    )
    frame = people(60)

    found = evaluate(frame, frame, METADATA).set_index('measure')

    assert found.loc['c2st_logistic', 'note'] == 'RuntimeError: no luck'
    assert found.loc['beta_recall', 'value'] > 0.9


@pytest.mark.parametrize(
    ('changes', 'words'),
    [
        ({'synthetic': people(5).drop(columns='job')}, 'synthetic table lacks'),
        ({'holdout': people(5).iloc[:0]}, 'held-out table has no rows'),
        ({'target': 'joined'}, "target 'joined'"),
    ],
)
def test_wrong_input_is_an_error_at_once(changes, words):
    frame = people(30)
    usual = {'real': frame, 'synthetic': frame, 'holdout': frame, 'target': 'job'}

    with pytest.raises((InvalidDataError, ValueError), match=words):
        evaluate(metadata=METADATA, **{**usual, **changes})


def test_integer_column_names():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({0: rng.normal(size=60), 1: list('ab') * 30})
    metadata = {'columns': {'0': {'sdtype': 'numerical'}, '1': {'sdtype': 'categorical'}}}

    for target in (1, '1'):
        found = evaluate(frame, frame, metadata, frame, target).set_index('measure')
        assert found['note'].drop('imputation').eq('').all()
