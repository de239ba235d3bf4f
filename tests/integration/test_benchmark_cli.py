"""The benchmark commands as their users meet them: tables, files, messages and exit codes."""

import re
import sys
import urllib.error
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from sdv_tabdiff.cli import main
from tests.unit.benchmark.folders import write_table

torch.set_num_threads(1)

SMALL = ['--epochs', '2', '--draws', '2', '--rates', '0.3', '--max-test-rows', '15']
OUTPUT_CELLS = 'sdv-tabdiff-benchmark/imputation-cells.csv'
METHODS = [
    'TabDiff point estimate',
    'TabDiff draw',
    'IterativeImputer',
    'KNNImputer',
    'mean and mode',
]


@pytest.fixture
def folder(tmp_path):
    return str(write_table(tmp_path / 'tables'))


def impute(folder, *arguments):
    return main(['benchmark-imputation', '--data', folder, *SMALL, *arguments])


def fails(capsys, *arguments):
    """The line that a run with wrong input prints to stderr."""
    assert main(list(arguments)) == 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1, f'expected one line without a traceback, got {lines}'
    assert lines[0].startswith('sdv-tabdiff: error: ')
    return lines[0]


class TestImputation:
    def test_both_tasks(self, folder, capsys):
        assert impute(folder, '--target', 'animals=adult', '--output', 'deep/out') == 0

        said = capsys.readouterr()
        assert '| table   | method  | form    | guidance | auc' in said.out
        assert '| table   | rate | method ' in said.out
        assert 'warning' not in said.err
        cells = pd.read_csv('deep/out/imputation-cells.csv')
        assert cells['method'].tolist() == METHODS
        assert cells[['numerical_error', 'categorical_error']].notna().all(axis=None)
        target = pd.read_csv('deep/out/imputation-target.csv').fillna('')
        shown = list(zip(target['method'], target['form'], target['guidance']))
        assert shown == [
            ('TabDiff', '', 0),
            ('TabDiff', 'hidden', 0.6),
            ('TabDiff', 'network', 0.6),
            ('XGBoost', '', ''),
        ]
        assert target['auc'][:3].between(0, 1).all()

    def test_regression_over_seeds(self, folder, capsys):
        arguments = ['--task', 'target', '--target', 'animals=weight', '--seeds', '0,1']
        assert impute(folder, *arguments, '--forms', 'hidden', '--guidance', '0') == 0
        said = capsys.readouterr().out
        assert 'over 2 seeds' in said
        assert re.search(r'\| animals \| TabDiff +\|[ 0|]*\| [\d.]+ ± [\d.e-]+ ', said)
        written = Path('sdv-tabdiff-benchmark')
        assert [path.name for path in written.iterdir()] == ['imputation-target.csv']

    def test_a_second_run_measures_nothing_again(self, folder, capsys):
        arguments = ['--task', 'cells', '--seeds', '1']
        assert impute(folder, *arguments) == 0
        first, content = capsys.readouterr().out, Path(OUTPUT_CELLS).read_bytes()
        assert impute(folder, *arguments) == 0
        assert capsys.readouterr().out == first
        assert Path(OUTPUT_CELLS).read_bytes() == content

    def test_without_xgboost(self, folder, monkeypatch, capsys):
        monkeypatch.setitem(sys.modules, 'xgboost', None)
        arguments = ['--task', 'target', '--target', 'animals=adult', '--guidance', '0']
        assert impute(folder, *arguments) == 0
        assert 'xgboost is not installed' in capsys.readouterr().out

    def test_failures_of_tabdiff_are_failures(self, folder, monkeypatch, capsys):
        def broken(*_):
            raise RuntimeError('no luck')

        monkeypatch.setattr('sdv_tabdiff.TabDiffSynthesizer.fit', broken)
        assert impute(folder, '--task', 'cells') == 1
        said = capsys.readouterr()
        assert 'RuntimeError: no luck' in said.out
        assert "2 of TabDiff's rows failed" in said.err


class TestQuality:
    SMALL = [
        '--synthesizers',
        'TabDiff',
        '--parameters',
        'small={"epochs": 2, "trunk_dims": [8]}',
        '--target',
        'animals=adult',
        '--measures',
        'shape_error,trend_error,c2st_boosted,mle,imputation,dcr_share',
    ]

    def test_results_pictures_and_a_second_run(self, folder, tmp_path, capsys):
        paper = tmp_path / 'paper.csv'
        paper.write_text('metric,dataset,method,value\nshape_error,animals,TabDiff,0.63\n')
        page = tmp_path / 'page.md'
        page.write_text('<!-- begin benchmark -->\n<!-- end benchmark -->\n')
        arguments = ['benchmark', '--data', folder, *self.SMALL, '--paper', str(paper)]
        arguments += ['--insert', str(page)]
        assert main(arguments) == 0

        said = capsys.readouterr()
        assert re.search(r'\| Bootstrap +\| [\d.]+ ', said.out)
        assert 'sdv-tabdiff benchmark --data tables --target animals=adult' in said.out
        assert str(tmp_path) not in said.out
        assert said.out.strip() in page.read_text()
        assert re.search(r'\| TabDiff small +\| [\d.]+ ', said.out)
        assert re.search(r'\| TabDiff \(paper\) +\| 0.63 ', said.out)
        output = Path('sdv-tabdiff-benchmark')
        assert {'quality.csv', 'quality.md', 'quality.html', 'runs'} == {
            path.name for path in output.iterdir()
        }
        content = (output / 'quality.csv').read_bytes()
        assert main(arguments) == 0
        assert capsys.readouterr().out == said.out
        assert (output / 'quality.csv').read_bytes() == content

    def test_failures_are_named_and_counted(self, folder, capsys):
        broken = ['--parameters', 'broken={"epochs": -1}', '--measures', 'shape_error']
        arguments = ['benchmark', '--data', folder, '--synthesizers', 'TabDiff']
        assert main([*arguments, *broken]) == 1
        said = capsys.readouterr()
        assert "'epochs'" in said.out
        assert "1 of TabDiff's rows failed" in said.err

    @pytest.mark.parametrize(
        ('arguments', 'words'),
        [
            (['--synthesizers', 'GPT'], "no synthesizer 'GPT'"),
            (['--measures', 'charm'], "no measure 'charm'"),
            (['--parameters', 'fast'], "'fast' is none of default"),
            (['--paper', 'nowhere.csv'], 'nowhere.csv'),
            (['--tables', 'ants'], "no table 'ants'"),
            (['--insert', 'nowhere.md'], "Cannot read 'nowhere.md'"),
        ],
    )
    def test_wrong_input(self, folder, arguments, words, capsys):
        assert words in fails(capsys, 'benchmark', '--data', folder, *arguments)

    def test_without_a_folder_and_offline(self, tmp_path, monkeypatch, capsys):
        def unreachable(*_, **__):
            raise urllib.error.URLError('no network')

        monkeypatch.setenv('SDV_TABDIFF_CACHE', str(tmp_path))
        monkeypatch.setattr('urllib.request.urlopen', unreachable)

        assert main(['benchmark', '--tables', 'magic']) == 1
        assert 'magic: no connection (no network)' in capsys.readouterr().err


class TestWrongInput:
    def test_no_folder(self, capsys):
        assert "no folder 'x'" in fails(capsys, 'benchmark-imputation', '--data', 'x')

    def test_unknown_table(self, folder, capsys):
        arguments = ['benchmark-imputation', '--data', folder, '--tables', 'animals,ants']
        assert "no table 'ants'" in fails(capsys, *arguments)
        assert not Path('sdv-tabdiff-benchmark').exists()

    def test_missing_split(self, folder, capsys):
        (Path(folder) / 'splits' / 'animals.json').unlink()
        message = fails(capsys, 'benchmark-imputation', '--data', folder)
        assert 'animals.json' in message

    def test_no_target(self, folder, capsys):
        message = fails(capsys, 'benchmark-imputation', '--data', folder, '--task', 'target')
        assert 'Give the targets of animals with --target' in message

    @pytest.mark.parametrize(
        'arguments, words',
        [
            (['--data', 'x', '--rates', '0.1,2'], 'must be from'),
            (['--data', 'x', '--seeds', '0,a'], 'each must be a whole number'),
            (['--data', 'x', '--forms', 'open'], "'open' is none of hidden, network"),
            (['--data', 'x', '--guidance', '-1'], 'must be from 0'),
            (['--data', 'x', '--target', 'animals'], 'must be TABLE=COLUMN'),
            (['--data', 'x', '--draws', '0'], 'must be from 1'),
            ([], '--data'),
        ],
    )
    def test_usage_errors(self, arguments, words, capsys):
        with pytest.raises(SystemExit) as stop:
            main(['benchmark-imputation', *arguments])

        assert stop.value.code == 2
        assert words in capsys.readouterr().err


class TestConditions:
    QUICK = ['--rows', '150', '--known', '20', '--epochs', '2', '--peer-epochs', '1']

    def test_peers(self, capsys):
        arguments = ['--peers', 'GaussianCopula,CTGAN', '--peer-rows', '1', '--output', 'out']
        assert main(['benchmark-conditions', *self.QUICK, *arguments]) == 0

        said = capsys.readouterr()
        assert 'Sampling' not in said.err, "SDV's progress bars reached the user"
        assert 'warning' not in said.err
        assert re.search(r'^\| TabDiff +\|', said.out, re.MULTILINE)
        written = pd.read_csv('out/conditions.csv')
        assert written['method'].tolist() == ['TabDiff', 'GaussianCopula', 'CTGAN']
        assert written['rows_asked'].tolist() == [20, 1, 1]
        assert written['rows_returned'].tolist()[:2] == [20, 1]
        assert written['times_tabdiff'][0] == 1
        pace = written['seconds_per_row']
        none = written['rows_returned'] == 0
        assert (np.isinf(pace) == none).all()
        np.testing.assert_allclose(written['times_tabdiff'], pace / pace[0], rtol=1e-3)

    def test_without_peers(self, capsys):
        assert main(['benchmark-conditions', *self.QUICK, '--peers', '']) == 0
        assert 'CTGAN' not in capsys.readouterr().out

    def test_unknown_peer(self, capsys):
        with pytest.raises(SystemExit):
            main(['benchmark-conditions', '--peers', 'TVAE'])

        assert "'TVAE' is none of GaussianCopula, CTGAN" in capsys.readouterr().err


class TestStepsProfileAndPace:
    def test_steps(self, folder, capsys):
        arguments = ['--data', folder, '--epochs', '2', '--steps', '2,5', '--output', 'out']

        assert main(['benchmark-steps', *arguments]) == 0

        assert '| steps | shape error' in capsys.readouterr().out
        assert pd.read_csv('out/steps.csv')['steps'].tolist() == [2, 5]

    def test_profile(self, folder, capsys):
        arguments = ['--data', folder, '--epochs', '2', '--threads', '1', '--output', 'out']

        assert main(['benchmark-profile', *arguments]) == 0

        assert '| part ' in capsys.readouterr().out
        assert (pd.read_csv('out/profile.csv')['milliseconds'] > 0).all()

    def test_pace(self, folder, capsys):
        arguments = ['--data', folder, '--epochs', '2', '--peer-epochs', '2', '--output', 'out']

        assert main(['benchmark-pace', *arguments]) == 0

        assert '| table ' in capsys.readouterr().out
        written = pd.read_csv('out/pace.csv')
        seconds = written['tabdiff_seconds'], written['ctgan_seconds']
        np.testing.assert_allclose(written['share'], seconds[0] / seconds[1], rtol=1e-3)
