import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_info

from sdv_tabdiff.benchmark import quality, worker
from sdv_tabdiff.benchmark.quality import Plan, run
from sdv_tabdiff.benchmark.synthesizers import Variant
from sdv_tabdiff.benchmark.tables import load_table
from sdv_tabdiff.evaluation import evaluate

from .folders import animals, write_table

SMALL = Variant('', {'epochs': 1, 'trunk_dims': (8,)})
MEASURES = ('shape_error', 'dcr_share', 'imputation')


@pytest.fixture
def folder(tmp_path):
    return write_table(tmp_path / 'tables')


@pytest.fixture
def table(folder):
    return load_table(folder, 'animals', {'animals': 'adult'})


@pytest.fixture
def processes(monkeypatch):
    """Let the work of a process be done in this one; says what was done."""
    done = []

    def here(command, **_):
        assert command[1:3] == ['-m', 'sdv_tabdiff.benchmark.worker']
        assignment = worker.Assignment.read(worker.Path(command[3]))
        done.append((assignment.synthesizer, assignment.seed, assignment.half))
        worker.main(command[3])

    monkeypatch.setattr(quality.subprocess, 'run', here)
    return done


def plan(folder, **changes):
    usual = {'synthesizers': ['TabDiff'], 'variants': [SMALL], 'measures': MEASURES}
    return Plan(folder, **{**usual, **changes})


def test_a_row_for_each_synthesizer_and_seed(folder, table, processes, tmp_path):
    frame = run([table], plan(folder, seeds=[0, 1], peer_seeds=[0]), tmp_path / 'out')

    assert list(zip(frame['synthesizer'], frame['seed'])) == [
        ('Bootstrap', '0'),
        ('TabDiff', '0'),
        ('TabDiff', '1'),
    ]
    assert (frame['problem'] == '').all()
    assert frame[['shape_error', 'dcr_share', 'fit_seconds', 'fit_memory']].notna().all(axis=None)
    assert frame['imputation_auc'].notna().tolist() == [False, True, True]
    assert frame['train_rows'].tolist() == [45] * 3


def test_all_measures(folder, table, processes, tmp_path):
    frame = run([table], Plan(folder, synthesizers=[]), tmp_path / 'out')

    found = set(frame.columns[frame.notna().all()])
    assert {'shape_error', 'c2st_boosted', 'mle_auc', 'beta_recall', 'dcr_share'} <= found


def test_the_bootstrap_is_the_floor_and_no_secret(folder, table, processes, tmp_path):
    frame = run([table], plan(folder, synthesizers=[], halves=True), tmp_path / 'out')

    assert frame['shape_error'][0] < 15
    assert frame['dcr_share'][0] > 0.9
    assert frame['dcr_share_halves'][0] > 0.9
    assert processes == [('Bootstrap', 0, half) for half in (None, 0, 1)]


def test_a_stopped_benchmark_goes_on_where_it_was(folder, table, processes, tmp_path, monkeypatch):
    usual = quality.evaluate

    def interrupted(*arguments, **options):
        if len(processes) == 2:
            raise KeyboardInterrupt

        return usual(*arguments, **options)

    monkeypatch.setattr(quality, 'evaluate', interrupted)
    with pytest.raises(KeyboardInterrupt):
        run([table], plan(folder, seeds=[0, 1], peer_seeds=[0]), tmp_path / 'out')

    monkeypatch.setattr(quality, 'evaluate', usual)
    frame = run([table], plan(folder, seeds=[0, 1], peer_seeds=[0]), tmp_path / 'out')

    # The fit that was done is not done again, although it had no row yet.
    assert processes == [('Bootstrap', 0, None), ('TabDiff', 0, None), ('TabDiff', 1, None)]
    assert len(frame) == 3
    again = run([table], plan(folder, seeds=[0, 1], peer_seeds=[0]), tmp_path / 'out')
    pd.testing.assert_frame_equal(again, frame)
    assert len(processes) == 3


def test_a_failure_is_recorded_and_tried_again(folder, table, processes, tmp_path):
    broken = [Variant('broken', {'epochs': -1}), SMALL]

    frame = run([table], plan(folder, variants=broken), tmp_path / 'out')

    assert frame['synthesizer'].tolist() == ['Bootstrap', 'TabDiff broken', 'TabDiff']
    assert "'epochs'" in frame['problem'][1]
    assert frame['problem'][[0, 2]].tolist() == ['', '']
    run([table], plan(folder, variants=broken), tmp_path / 'out')
    assert len(processes) == 4


def test_a_process_that_dies_is_a_failure(folder, table, tmp_path, monkeypatch):
    monkeypatch.setattr(quality.subprocess, 'run', lambda *_, **__: None)

    frame = run([table], plan(folder), tmp_path / 'out')

    assert frame['problem'].str.contains('without a result').all()


def test_other_parameters_are_another_run(folder, table, processes, tmp_path):
    for epochs in (1, 2):
        variant = Variant('', {'epochs': epochs, 'trunk_dims': (8,)})
        run([table], plan(folder, variants=[variant]), tmp_path / 'out')

    assert processes == [('Bootstrap', 0, None), ('TabDiff', 0, None), ('TabDiff', 0, None)]


def test_a_table_without_a_target(folder, processes, tmp_path):
    frame = run(
        [load_table(folder, 'animals')], plan(folder, measures=('mle', 'shape_error')), tmp_path
    )

    assert (frame['problem'] == '').all()
    assert np.isfinite(frame['shape_error']).all()


def test_another_target_or_other_rows_are_another_run(folder, processes, tmp_path):
    for target in ('adult', 'weight'):
        table = load_table(folder, 'animals', {'animals': target})
        run([table], plan(folder, synthesizers=[]), tmp_path / 'out')

    write_table(folder, rows=animals(seed=9))
    frame = run([load_table(folder, 'animals')], plan(folder, synthesizers=[]), tmp_path / 'out')

    assert len(pd.read_csv(tmp_path / 'out' / 'quality.csv')) == 3
    assert len(frame) == 1


def test_rows_of_an_earlier_table_are_not_taken_for_those_of_a_new_one(
    folder, table, processes, tmp_path
):
    run([table], plan(folder, synthesizers=[]), tmp_path / 'out')
    write_table(folder, rows=animals(seed=9))
    table = load_table(folder, 'animals', {'animals': 'adult'})

    frame = run([table], plan(folder, synthesizers=[]), tmp_path / 'out')

    assert len(processes) == 2
    assert frame['dcr_share'][0] > 0.9


def test_a_measure_without_its_library_is_tried_again(folder, table, processes, tmp_path):
    plan_of_trees = plan(folder, synthesizers=[], measures=('shape_error', 'c2st_boosted'))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(__import__('sys').modules, 'xgboost', None)
        frame = run([table], plan_of_trees, tmp_path / 'out')

    assert 'c2st_boosted: xgboost is not installed' in frame['problem'][0]
    assert frame['shape_error'].notna().all()
    frame = run([table], plan_of_trees, tmp_path / 'out')
    assert frame['problem'][0] == ''
    assert frame['c2st_boosted'].notna().all()
    assert len(processes) == 1


def test_a_limit_of_threads_reaches_the_measures(folder, table, processes, tmp_path, monkeypatch):
    threads = []

    def watched(*args, **options):
        threads.append({library['num_threads'] for library in threadpool_info()})
        return evaluate(*args, **options)

    monkeypatch.setattr(quality, 'evaluate', watched)
    before = threadpool_info()
    run([table], plan(folder, synthesizers=[], threads=1), tmp_path / 'out')

    assert threads == [{1}]
    assert [library['num_threads'] for library in threadpool_info()][: len(before)] == [
        library['num_threads'] for library in before
    ]


def test_a_limit_of_threads_reaches_the_process(folder, table, tmp_path, monkeypatch):
    environments = []
    monkeypatch.setattr(
        quality.subprocess, 'run', lambda _, env, **__: environments.append(env['OMP_NUM_THREADS'])
    )

    frame = run([table], plan(folder, synthesizers=['CTGAN'], threads=3), tmp_path / 'out')

    # The bootstrap has nothing to do with threads; its row is good for any number of them.
    assert environments[1:] == ['3']
    assert frame['settings'].str.contains('threads=3').tolist() == [False, True]
