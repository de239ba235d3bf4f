"""Synthetic tables judged as a user would: by our measures and by SDV's own functions."""

import numpy as np
import pytest

from sdv_tabdiff.evaluation import evaluate, imputation_scores

from .tables import SDV_2, TABLE, people, people_metadata, quick


@pytest.fixture(scope='module')
def holdout():
    return people(120).sample(100, random_state=1)


def test_all_measures_of_a_fitted_synthesizer(people_synthesizer, people_data, holdout):
    synthetic = people_synthesizer.sample(200)

    found = evaluate(
        people_data, synthetic, people_metadata(), holdout, 'job', people_synthesizer
    ).set_index('measure')

    assert (found['note'] == '').all()
    assert np.isfinite(found['value']).all()
    assert {'imputation_auc', 'imputation_micro_auc', 'mle_auc'} <= set(found.index)


def test_dictionaries_are_as_good(dict_synthesizer, people_data, holdout):
    synthetic = dict_synthesizer.sample(100)
    real = {TABLE: people_data}
    measures = ['shape_error', 'beta_recall', 'imputation', 'dcr_share']

    found = evaluate(
        real,
        synthetic,
        people_metadata(),
        {TABLE: holdout},
        'age',
        dict_synthesizer,
        measures=measures,
    )

    assert np.isfinite(found['value']).all()
    bare = evaluate(people_data, synthetic[TABLE], people_metadata(), measures=['shape_error'])
    assert bare['value'][0] == found['value'][0]


@pytest.mark.parametrize(
    ('target', 'scores'),
    [('job', ['auc', 'micro_auc']), ('age', ['log_rmse']), ('member', ['auc', 'micro_auc'])],
)
def test_imputation_scores(people_synthesizer, holdout, target, scores):
    found = imputation_scores(people_synthesizer, holdout, people_metadata(), target, draws=2)

    assert list(found) == scores
    again = imputation_scores(people_synthesizer, holdout, people_metadata(), target, draws=2)
    assert again == found


def test_a_target_that_follows_from_a_known_column_is_imputed():
    rng = np.random.default_rng(0)
    data = people(1200)
    data['job'] = np.where(rng.random(1200) < 0.5, 'cook', 'smith')
    data['age'] = np.where(data['job'] == 'cook', 20, 60) + rng.integers(0, 5, 1200)
    synthesizer = quick(people_metadata(), epochs=60, trunk_dims=(64,))
    synthesizer.fit(data[:1000])

    scores = imputation_scores(synthesizer, data[1000:], people_metadata(), 'job')

    assert scores['auc'] > 0.95


def test_levels_that_the_synthesizer_never_saw_count_as_missing(people_synthesizer, holdout):
    odd = holdout.assign(job='astronaut')

    found = imputation_scores(people_synthesizer, odd, people_metadata(), 'age', draws=1)

    assert np.isfinite(found['log_rmse'])


@pytest.mark.parametrize('container', ['frame', 'dictionary'])
def test_sdvs_own_reports(container, people_synthesizer, dict_synthesizer, people_data):
    synthesizer = people_synthesizer if container == 'frame' else dict_synthesizer
    synthetic = synthesizer.sample(150)
    bare = synthetic if container == 'frame' else synthetic[TABLE]
    if SDV_2:
        from sdv.evaluation import evaluate_quality, run_diagnostic

        tables = {TABLE: people_data}, {TABLE: bare}
    else:
        from sdv.evaluation.single_table import evaluate_quality, run_diagnostic

        tables = people_data, bare

    diagnostic = run_diagnostic(*tables, people_metadata(), verbose=False)
    quality = evaluate_quality(*tables, people_metadata(), verbose=False)

    assert diagnostic.get_score() == 1.0
    assert 0.5 < quality.get_score() <= 1
