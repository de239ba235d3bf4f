import json

import numpy as np
import pandas as pd
import pytest

from sdv_tabdiff.benchmark.worker import (
    JOB,
    RUN,
    Assignment,
    carry_out,
    main,
    peak_memory,
    read_synthetic,
)

from .folders import write_table

COSTS = {'fit_seconds', 'fit_memory', 'model_size', 'sample_seconds', 'rows_per_second'}
TABDIFF = {'synthesizer': 'TabDiff', 'parameters': {'epochs': 1, 'trunk_dims': (8,)}}


@pytest.fixture
def assign(tmp_path):
    data = write_table(tmp_path / 'tables')

    def make(**changes):
        usual = {
            'data': str(data),
            'table': 'animals',
            'target': 'adult',
            'max_rows': None,
            'synthesizer': 'Bootstrap',
        }
        return Assignment(**{**usual, **changes})

    return make


def test_an_assignment_is_found_as_it_was_written(assign, tmp_path):
    assignment = assign(**TABDIFF, seconds=1.5, half=1)

    assignment.write(tmp_path / 'run')

    assert Assignment.read(tmp_path / 'run') == assignment


def test_the_whole_training_part_or_a_half(assign):
    assert len(assign().load().train) == 45
    halves = [assign(half=half).load().train for half in (0, 1)]
    assert [len(half) for half in halves] == [22, 23]
    rows = pd.concat(halves).sort_values(list(halves[0])).reset_index(drop=True)
    everything = assign().load().train.sort_values(list(halves[0])).reset_index(drop=True)
    pd.testing.assert_frame_equal(rows, everything)
    assert len(assign(max_rows=10).load().train) == 10


def test_rows_and_costs_of_tabdiff(assign, tmp_path):
    facts = carry_out(assign(**TABDIFF, impute=True), tmp_path)

    assert set(facts) == {*COSTS, 'imputation_auc', 'imputation_micro_auc'}
    assert all(np.isfinite(list(facts.values())))
    assert 0 < facts['model_size'] < 10
    rows = read_synthetic(tmp_path, assign().load().train)
    assert len(rows) == 45
    assert rows.columns.tolist() == assign().load().train.columns.tolist()


@pytest.mark.parametrize('name', ['Bootstrap', 'GaussianCopula'])
def test_others_cannot_impute(name, assign, tmp_path):
    facts = carry_out(assign(synthesizer=name, impute=True), tmp_path)

    assert set(facts) == COSTS


def test_the_bootstrap_has_the_rows_of_the_table_as_they_are(assign, tmp_path):
    carry_out(assign(), tmp_path)
    real = assign().load().train

    rows = read_synthetic(tmp_path, real)

    assert rows.dtypes.tolist() == real.dtypes.tolist()
    known = set(map(str, real.itertuples(index=False)))
    assert set(map(str, rows.itertuples(index=False))) <= known


def test_the_same_seed_gives_the_same_rows(assign, tmp_path):
    contents = []
    for name in ('a', 'b'):
        (tmp_path / name).mkdir()
        carry_out(assign(**TABDIFF, seed=5), tmp_path / name)
        contents.append(pd.read_csv(tmp_path / name / 'synthetic.csv.gz'))

    pd.testing.assert_frame_equal(*contents)


def test_an_exception_is_a_result(assign, tmp_path, capsys):
    assign(synthesizer='TabDiff', parameters={'epochs': -1}).write(tmp_path)

    main(str(tmp_path))

    assert "'epochs'" in json.loads((tmp_path / RUN).read_text())['problem']
    assert 'SynthesizerInputError' in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.glob('*.json')) == [JOB, RUN]


def test_peak_memory_counts_what_was_given_back():
    before = peak_memory()
    block = np.ones(2**27, dtype=np.uint8)
    del block

    assert peak_memory() >= before
    assert peak_memory() > 50


def test_texts_that_look_like_numbers_stay_texts(tmp_path):
    real = pd.DataFrame({'a': ['1', '2', '3+', None], 'b': [True, False, None, True]})
    real.head(2).to_csv(tmp_path / 'synthetic.csv.gz', index=False)

    rows = read_synthetic(tmp_path, real)

    assert rows['a'].tolist() == ['1', '2']
    assert rows['b'].tolist() == [True, False]


def test_a_failed_imputation_does_not_cost_the_fit(assign, tmp_path, monkeypatch):
    def broken(*_):
        raise RuntimeError('no luck')

    monkeypatch.setattr('sdv_tabdiff.benchmark.worker.imputation_scores', broken)

    facts = carry_out(assign(**TABDIFF, impute=True), tmp_path)

    assert facts['note'] == 'imputation: RuntimeError: no luck'
    assert facts['fit_seconds'] > 0


def test_the_metadata_may_have_another_name_for_the_table(assign, tmp_path):
    path = tmp_path / 'tables' / 'animals.metadata.json'
    path.write_text(path.read_text().replace('"animals"', '"zoo"'))

    facts = carry_out(assign(**TABDIFF), tmp_path)

    assert facts['rows_per_second'] > 0
