"""Which fits and rows a plan leads to, with a stand-in for the synthesizer."""

import numpy as np
import pandas as pd
import pytest

from sdv_tabdiff.benchmark import imputation
from sdv_tabdiff.benchmark.imputation import CELLS, TARGET, Plan
from sdv_tabdiff.evaluation.predictions import AUC, LOG_RMSE

from .folders import SDTYPES, animals, table_of

pytestmark = pytest.mark.filterwarnings('ignore::sklearn.exceptions.ConvergenceWarning')

TRUTH = animals(80, seed=1)


class KnowsTheTruth:
    """Fills in the true values; guidance makes its probabilities worse."""

    made = []

    def __init__(self, metadata, random_state, **parameters):
        self.parameters = parameters
        KnowsTheTruth.made.append((random_state, parameters))

    def fit(self, data):
        self.columns = list(data.columns)

    def impute(self, data, method='draw', num_draws=None, guidance=None, random_state=None):
        full = data.reindex(columns=self.columns)
        full = full.where(full.notna(), TRUTH.loc[data.index])
        if method == 'draw' and (num_draws or 1) > 1:
            return [full.assign(weight=full['weight'] * factor) for factor in (0.5, 2.0)]

        return full

    def impute_probabilities(self, data, columns=None, guidance=None):
        assert 'adult' not in data
        chance = np.where(TRUTH['adult'], 0.9, 0.2) if not guidance else np.full(len(data), 0.5)
        return {'adult': pd.DataFrame({True: chance, False: 1 - chance}, index=data.index)}


@pytest.fixture(autouse=True)
def stand_in(monkeypatch):
    monkeypatch.setattr(imputation, 'TabDiffSynthesizer', KnowsTheTruth)
    monkeypatch.setattr(KnowsTheTruth, 'made', [])


def run(tmp_path, tasks, target='adult', **plan):
    task = AUC if target == 'adult' else LOG_RMSE
    table = table_of(animals(100), TRUTH, target=target, task=task if target else None)
    return imputation.run([table], tasks, Plan(**plan), tmp_path)


class TestTarget:
    def test_one_fit_for_each_form_and_one_row_without_guidance(self, tmp_path):
        frame = run(tmp_path, [TARGET], guidance=[0, 0.6, 2])[TARGET]
        shown = list(zip(frame['method'], frame['form'], frame['guidance']))
        assert shown == [
            ('TabDiff', '', '0'),
            ('TabDiff', 'hidden', '0.6'),
            ('TabDiff', 'hidden', '2'),
            ('TabDiff', 'network', '0.6'),
            ('TabDiff', 'network', '2'),
            ('XGBoost', '', ''),
        ]
        assert KnowsTheTruth.made == [(0, {}), (0, {'guidance_columns': ['adult']})]
        assert (frame['problem'][:5] == '').all()
        assert frame['auc'][:5].tolist() == [1, 0.5, 0.5, 0.5, 0.5]
        assert frame['train_rows'].eq(100).all() and frame['test_rows'].eq(80).all()

    @pytest.mark.parametrize(
        'forms, guidance, fits',
        [
            (['network'], [0, 0.6], [{'guidance_columns': ['adult']}]),
            (['network'], [0], [{}]),
            (['hidden'], [0, 0.6], [{}]),
            (['hidden', 'network'], [0], [{}]),
        ],
    )
    def test_no_fit_that_is_not_needed(self, forms, guidance, fits, tmp_path):
        run(tmp_path, [TARGET], forms=forms, guidance=guidance)
        assert [parameters for _, parameters in KnowsTheTruth.made] == fits

    def test_regression_takes_the_mean_of_the_logarithms(self, tmp_path):
        # The stand-in draws half and twice the truth.
        frame = run(tmp_path, [TARGET], 'weight', guidance=[0])[TARGET]
        small = TRUTH['weight'] < 2
        expected = np.where(small, np.log(2 * TRUTH['weight']) / 2 - np.log(TRUTH['weight']), 0)
        expected = np.sqrt(np.mean(expected**2))
        assert frame['log_rmse'][0] == pytest.approx(expected, abs=1e-5)

    def test_regression_of_a_single_draw(self, tmp_path):
        frame = run(tmp_path, [TARGET], 'weight', guidance=[0], draws=1)[TARGET]
        assert frame['log_rmse'][0] == 0

    def test_trees_give_a_level_that_only_test_rows_have_no_chance(self):
        test = animals(40, seed=3).assign(kind=['cat', 'dog', 'cow', 'elk'] * 10)
        train = animals(100).assign(kind=['cat', 'dog', 'cow', 'cat'] * 25)
        sdtypes = SDTYPES | {'kind': 'categorical'}
        table = table_of(train, test, sdtypes, target='kind', task=AUC)
        scores = imputation._target_by_trees(table, 0)
        assert 0 <= scores['auc'] <= 1

    def test_no_rows_without_a_target(self, tmp_path):
        assert run(tmp_path, [TARGET], target=None)[TARGET].empty


class TestCells:
    def test_methods_and_rates(self, tmp_path):
        frame = run(tmp_path, [CELLS], target=None, rates=[0.1, 0.5], forms=['network'])[CELLS]
        methods = [
            'TabDiff point estimate',
            'TabDiff draw',
            'IterativeImputer',
            'KNNImputer',
            'mean and mode',
        ]
        assert frame['method'].tolist() == methods * 2
        assert frame['rate'].tolist() == ['0.1'] * 5 + ['0.5'] * 5
        assert (frame['problem'] == '').all()
        own = frame['method'].str.startswith('TabDiff')
        assert (frame.loc[own, ['numerical_error', 'categorical_error']] == 0).all(axis=None)
        assert (frame.loc[~own, 'numerical_error'] > 0).all()
        assert KnowsTheTruth.made == [(0, {})]

    def test_rows(self, tmp_path):
        frame = run(tmp_path, [CELLS], rates=[0.1], max_rows=50, max_test_rows=80)[CELLS]
        assert frame['train_rows'].eq(50).all() and frame['test_rows'].eq(80).all()


class TestRun:
    def test_tasks_share_a_fit(self, tmp_path):
        run(tmp_path, [TARGET, CELLS], seeds=[3, 4], rates=[0.1], forms=['hidden'])
        assert KnowsTheTruth.made == [(3, {}), (4, {})]

    def test_what_is_there_is_not_measured_again(self, tmp_path):
        first = run(tmp_path, [TARGET, CELLS], rates=[0.1])
        fits = len(KnowsTheTruth.made)
        again = run(tmp_path, [TARGET, CELLS], rates=[0.1])
        assert len(KnowsTheTruth.made) == fits
        for task, frame in first.items():
            found = frame['problem'] == ''  # XGBoost need not be installed.
            pd.testing.assert_frame_equal(frame[found], again[task][found])

    def test_other_settings_are_other_rows(self, tmp_path):
        run(tmp_path, [CELLS], rates=[0.1])
        frame = run(tmp_path, [CELLS], rates=[0.1], parameters={'epochs': 3})[CELLS]
        assert KnowsTheTruth.made == [(0, {}), (0, {'epochs': 3})]
        assert len(frame) == 5
        lines = (tmp_path / 'imputation-cells.csv').read_text().splitlines()
        assert len(lines) == 1 + 5 + 2, 'the peers do not depend on the epochs of TabDiff'

    def test_report(self, tmp_path):
        frames = run(tmp_path, [TARGET, CELLS], seeds=[0, 1], rates=[0.1])
        text = imputation.report(frames)
        assert 'over 2 seeds' in text
        assert '| animals | TabDiff | hidden  | 0.6' in text
        assert ' ± ' in text
        assert '| table   | rate | method' in text
