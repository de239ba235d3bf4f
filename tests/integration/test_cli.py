"""The command line as its users meet it: exit codes, messages and files."""

import contextlib
import io
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch

from sdv_tabdiff import __version__, demo
from sdv_tabdiff.cli import main

torch.set_num_threads(1)

QUICK = ['--no-peers', '--max-training-time', '1']
SCRIPT = [sys.executable, '-c', 'import sys; from sdv_tabdiff.cli import main; sys.exit(main())']


def people(rows=80):
    random = np.random.default_rng(0)
    ages = random.integers(18, 90, rows)
    return pd.DataFrame({
        'id': np.arange(1000, 1000 + rows),
        'team': random.choice(['red', 'green', 'blue'], rows, p=[0.6, 0.3, 0.1]),
        'age': ages,
        'income': np.where(
            random.random(rows) < 0.2, np.nan, ages * 100 + random.normal(0, 50, rows)
        ),
        'member': random.random(rows) < 0.5,
        'joined': pd.to_datetime('2020-01-01')
        + pd.to_timedelta(random.integers(0, 900, rows), 'D'),
    })


METADATA = {
    'METADATA_SPEC_VERSION': 'V1',
    'tables': {
        'members': {
            'primary_key': 'id',
            'columns': {
                'id': {'sdtype': 'id'},
                'team': {'sdtype': 'categorical'},
                'age': {'sdtype': 'numerical'},
                'income': {'sdtype': 'numerical'},
                'member': {'sdtype': 'boolean'},
                'joined': {'sdtype': 'datetime', 'datetime_format': '%Y-%m-%d'},
            },
        }
    },
    'relationships': [],
}


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def csv():
    people().to_csv('people.csv', index=False)
    return 'people.csv'


@pytest.fixture(scope='module')
def finished(tmp_path_factory):
    """A run on a CSV file of one's own, for tests that look at what it left."""
    base = tmp_path_factory.mktemp('finished')
    people().to_csv(base / 'people.csv', index=False)
    folder = base / 'deep' / 'results'
    said, complaints = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complaints):
        code = main(['demo', '--data', str(base / 'people.csv'), '--output', str(folder), *QUICK])

    assert code == 0, complaints.getvalue()
    return SimpleNamespace(folder=folder, said=said.getvalue(), complaints=complaints.getvalue())


def metadata_file(content, name='metadata.json'):
    Path(name).write_text(content if isinstance(content, str) else json.dumps(content))
    return name


def fails(capsys, *arguments):
    """The line that a run with wrong input prints to stderr."""
    assert main(['demo', *QUICK, *arguments]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1, f'expected one line without a traceback, got {lines}'
    assert lines[0].startswith('sdv-tabdiff: error: ')
    return lines[0]


def run(*arguments):
    return subprocess.run([*SCRIPT, *arguments], capture_output=True, text=True, timeout=120)


class TestProgram:
    def test_without_arguments_it_prints_its_help_and_fails(self, capsys):
        assert main([]) == 2
        said = capsys.readouterr().err
        assert 'usage: sdv-tabdiff' in said
        assert 'try TabDiff on an example' in said

    @pytest.mark.parametrize('arguments', [['--help'], ['demo', '--help']])
    def test_help(self, arguments, capsys):
        with pytest.raises(SystemExit) as stop:
            main(arguments)

        assert stop.value.code == 0
        assert 'demo' in capsys.readouterr().out

    def test_version(self, capsys):
        with pytest.raises(SystemExit) as stop:
            main(['--version'])

        assert stop.value.code == 0
        assert capsys.readouterr().out == f'sdv-tabdiff {__version__}\n'

    @pytest.mark.parametrize(
        'arguments, words',
        [
            (['dance'], 'dance'),
            (['demo', '--tables'], '--tables'),
            (['demo', '--max-rows', '0'], 'must be from 1'),
            (['demo', '--max-rows', 'many'], 'invalid whole number'),
            (['demo', '--max-training-time', 'nan'], '--max-training-time'),
            (['demo', '--seed', '-1'], 'must be from 0'),
            (['demo', '--metadata', 'metadata.json'], '--metadata needs --data'),
        ],
    )
    def test_usage_errors(self, arguments, words, capsys):
        with pytest.raises(SystemExit) as stop:
            main(arguments)

        assert stop.value.code == 2
        assert words in capsys.readouterr().err


class TestDemo:
    def test_example(self, capsys):
        assert main(['demo', *QUICK]) == 0

        said = capsys.readouterr().out
        assert '215 rows, 17 columns' in said
        assert said.index('Time') < said.index('[1/2] Fitting TabDiff') < said.index('Quality')
        assert 'Written to sdv-tabdiff-demo' in said
        written = pd.read_csv('sdv-tabdiff-demo/synthetic.csv')
        real = demo.load_example().rows
        assert list(written.columns) == list(real.columns)
        assert len(written) == len(real)

    def test_own_table_with_detected_metadata(self, finished):
        assert finished.complaints == ''
        assert '80 rows, 6 columns' in finished.said
        scores = re.search(r'^TabDiff((?: +[\d.]+ %){4})', finished.said, re.MULTILINE)
        assert all(30 < float(score) <= 100 for score in scores[1].split()[::2])
        written = pd.read_csv(finished.folder / 'synthetic.csv')
        assert list(written.columns) == list(people().columns)
        assert set(written['team']) <= {'red', 'green', 'blue'}
        assert written['age'].between(18, 90).all()

    def test_it_names_the_files_that_it_writes(self, finished):
        files = {path.name for path in finished.folder.iterdir()}
        assert files == {'metadata.json', 'report.html', 'synthetic.csv'}
        assert f'Written to {finished.folder}' in finished.said
        assert all(name in finished.said for name in files)

    def test_report_is_one_file_with_a_plot_for_each_column_but_the_key(self, finished):
        page = (finished.folder / 'report.html').read_text(encoding='utf-8')
        assert not re.search(r'<(script|link|img)[^>]+(src|href)=', page), 'not self-contained'
        for column in ('team', 'age', 'income', 'member', 'joined'):
            assert f'"text":"{column}"' in page

        assert '"text":"id"' not in page

    def test_the_metadata_it_writes_can_be_given_back(self, finished, csv):
        written = str(finished.folder / 'metadata.json')
        assert main(['demo', '--data', csv, '--metadata', written, *QUICK]) == 0

    @pytest.mark.parametrize('single_table', [False, True])
    def test_own_table_with_given_metadata(self, single_table, csv, capsys):
        content = METADATA
        if single_table:
            content = METADATA['tables']['members'] | {'METADATA_SPEC_VERSION': 'SINGLE_TABLE_V1'}

        arguments = ['demo', '--data', csv, '--metadata', metadata_file(content), *QUICK]
        assert main(arguments) == 0
        assert capsys.readouterr().err == ''
        saved = json.loads(Path('sdv-tabdiff-demo/metadata.json').read_text())
        (table,) = saved['tables'].values()
        assert table['columns']['age'] == {'sdtype': 'numerical'}
        keys = pd.read_csv('sdv-tabdiff-demo/synthetic.csv')['id']
        assert keys.is_unique

    def test_it_says_what_it_takes_of_the_table(self, capsys):
        people().rename(columns={'team': 'city'}).to_csv('people.csv', index=False)
        assert main(['demo', '--data', 'people.csv', '--max-rows', '50', *QUICK]) == 0
        said = capsys.readouterr().out
        assert 'a random 50 rows of 80 (see --max-rows)' in said
        assert 'made up instead of learned, as personal data: city (city)' in said
        assert len(pd.read_csv('sdv-tabdiff-demo/synthetic.csv')) == 50

    def test_peers(self, capsys):
        people(50).to_csv('people.csv', index=False)
        assert main(['demo', '--data', 'people.csv', '--max-training-time', '2']) == 0

        said = capsys.readouterr()
        assert said.err == '', 'warnings of the peers reached the user'
        rows = re.findall(r'^(TabDiff|CTGAN|TVAE) +[\d.]+ %.* s$', said.out, re.MULTILINE)
        assert rows == ['TabDiff', 'CTGAN', 'TVAE']
        lengths = {len(row) for row in said.out.splitlines() if row.endswith((' s', 'Fit time'))}
        assert len(lengths) == 1, 'the columns of the score table are not aligned'


class TestWrongInput:
    def test_missing_file(self, capsys):
        message = fails(capsys, '--data', 'nowhere.csv')
        assert message.endswith("Cannot read 'nowhere.csv': No such file or directory.")
        assert not Path('sdv-tabdiff-demo').exists()

    def test_folder_for_a_file(self, tmp_path, capsys):
        assert 'Cannot read' in fails(capsys, '--data', str(tmp_path))

    @pytest.mark.parametrize(
        'content, words',
        [
            (b'', 'is empty'),
            (b'age,city\n', 'has no rows'),
            (b'\x00\xff\xfe\x89PNG\n\xff,\xfe', 'is not a CSV file'),
            (b'age,city\n1,Bonn\n2,Riga,3,4\n', 'is not a CSV file'),
        ],
    )
    def test_unreadable_files(self, content, words, capsys):
        Path('broken.csv').write_bytes(content)
        assert words in fails(capsys, '--data', 'broken.csv')

    @pytest.mark.parametrize(
        'content, words',
        [
            ('{', 'Cannot use the metadata'),
            ('[1, 2]', 'Cannot use the metadata'),
            ('{}', 'Cannot use the metadata'),
            ({'tables': {'a': {'columns': {'id': {'sdtype': 'colour'}}}}}, 'colour'),
            ({'tables': {'a': {'columns': {}}}}, "Table 'a' has 0 columns"),
            ({'tables': {name: METADATA['tables']['members'] for name in 'ab'}}, '2 tables'),
        ],
    )
    def test_bad_metadata(self, content, words, csv, capsys):
        assert words in fails(capsys, '--data', csv, '--metadata', metadata_file(content))

    def test_missing_metadata(self, csv, capsys):
        assert 'nowhere.json' in fails(capsys, '--data', csv, '--metadata', 'nowhere.json')

    def test_data_that_does_not_match_the_metadata(self, capsys):
        people().drop(columns='team').to_csv('people.csv', index=False)
        message = fails(capsys, '--data', 'people.csv', '--metadata', metadata_file(METADATA))
        assert 'does not match the metadata' in message
        assert "'team'" in message

    def test_output_that_is_a_file(self, csv, capsys):
        Path('taken').write_text('')
        assert "Cannot write 'taken'" in fails(capsys, '--data', csv, '--output', 'taken')

    def test_errors_come_without_a_traceback_from_the_shell(self):
        finished = run('demo', '--data', 'nowhere.csv')
        assert finished.returncode == 1
        assert finished.stdout == ''
        assert finished.stderr.splitlines() == [
            "sdv-tabdiff: error: Cannot read 'nowhere.csv': No such file or directory."
        ]


class TestInterrupt:
    def test_before_the_training(self, monkeypatch, capsys):
        def interrupted():
            raise KeyboardInterrupt

        monkeypatch.setattr(demo, 'load_example', interrupted)
        before = signal.getsignal(signal.SIGINT)
        assert main(['demo']) == 130
        assert capsys.readouterr().err == 'sdv-tabdiff: interrupted\n'
        assert signal.getsignal(signal.SIGINT) is before

    @pytest.mark.skipif(os.name == 'nt', reason='Windows sends no SIGINT to a child')
    def test_while_training(self):
        """Stops the program, although a synthesizer on its own would keep its model and go on."""
        environment = os.environ | {'OMP_NUM_THREADS': '1'}
        process = subprocess.Popen(
            [*SCRIPT, 'demo'],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for line in process.stdout:
            if 'Fitting TabDiff' in line:
                break

        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=2)

        process.send_signal(signal.SIGINT)
        said, complaint = process.communicate(timeout=20)
        assert process.returncode == 130
        assert complaint == 'sdv-tabdiff: interrupted\n'
        assert 'CTGAN' not in said
