"""Saving rows, going on with a run, and Markdown."""

import math

import pandas as pd
import pytest

from sdv_tabdiff.benchmark.results import (
    Job,
    ResultFile,
    in_words,
    markdown,
    run_jobs,
    summarised,
)
from sdv_tabdiff.benchmark.tables import BenchmarkError
from sdv_tabdiff.evaluation import NotInstalledError


def opened(tmp_path):
    return ResultFile(tmp_path / 'results.csv', ['method', 'rate'], ['error', 'seconds'])


def job(file, method, work=lambda: {'error': 1.5}, rate=0.1):
    return Job(file, {'method': method, 'rate': rate}, work)


def must_not_run():
    raise AssertionError('this row was there already')


class TestResultFile:
    def test_rows_are_found_again(self, tmp_path):
        opened(tmp_path).append({'method': 'a, "b"', 'rate': 0.1, 'error': 0.25})
        file = opened(tmp_path)
        assert file.done({'method': 'a, "b"', 'rate': 0.1})
        assert not file.done({'method': 'a, "b"', 'rate': 0.3})
        frame = file.frame([{'method': 'a, "b"', 'rate': 0.1}])
        assert frame['error'].tolist() == [0.25]
        assert math.isnan(frame['seconds'][0])

    def test_file_is_a_plain_csv(self, tmp_path):
        file = opened(tmp_path)
        for method in 'ab':
            file.append({'method': method, 'rate': 0.5, 'error': 1 / 3, 'seconds': math.inf})

        assert file.path.read_text() == (
            'method,rate,error,seconds,problem\na,0.5,0.333333,inf,\nb,0.5,0.333333,inf,\n'
        )

    def test_a_problem_is_tried_again_and_the_last_row_counts(self, tmp_path):
        key = {'method': 'a', 'rate': 0.1}
        file = opened(tmp_path)
        file.append({**key, 'problem': 'bad\nluck'})
        assert not opened(tmp_path).done(key)
        assert opened(tmp_path).frame([key])['problem'].tolist() == ['bad luck']
        file.append({**key, 'error': 3})
        assert opened(tmp_path).done(key)
        assert opened(tmp_path).frame([key])['error'].tolist() == [3]

    def test_half_a_row_is_dropped(self, tmp_path):
        file = opened(tmp_path)
        for method in 'ab':
            file.append({'method': method, 'rate': 0.1, 'error': 1})

        content = file.path.read_text()
        file.path.write_text(content[:-3])
        again = opened(tmp_path)
        assert again.done({'method': 'a', 'rate': 0.1})
        assert not again.done({'method': 'b', 'rate': 0.1})
        again.append({'method': 'b', 'rate': 0.1, 'error': 1})
        assert file.path.read_text() == content

    def test_other_columns(self, tmp_path):
        (tmp_path / 'results.csv').write_text('a,b\n1,2\n')
        with pytest.raises(BenchmarkError, match='choose another --output'):
            opened(tmp_path)


class TestRunJobs:
    def test_resuming(self, tmp_path, capsys):
        file = opened(tmp_path)

        def interrupted():
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            run_jobs([job(file, 'a'), job(file, 'b', interrupted), job(file, 'c')])

        again = opened(tmp_path)
        jobs = [job(again, 'a', must_not_run), job(again, 'b'), job(again, 'c')]
        run_jobs(jobs)
        frame = again.frame(job.key for job in jobs)
        assert frame['method'].tolist() == ['a', 'b', 'c']
        assert frame['error'].tolist() == [1.5] * 3
        assert (frame['seconds'] >= 0).all()
        assert (frame['problem'] == '').all()
        assert len(file.path.read_text().splitlines()) == 4
        assert capsys.readouterr().out == ''

    def test_problems_do_not_stop_the_others(self, tmp_path):
        def broken():
            raise RuntimeError('no luck')

        def absent():
            raise NotInstalledError('not there')

        file = opened(tmp_path)
        jobs = [job(file, 'a', broken), job(file, 'b', absent), job(file, 'c')]
        run_jobs(jobs)
        frame = file.frame(job.key for job in jobs)
        assert frame['problem'].tolist() == ['RuntimeError: no luck', 'not there', '']

    def test_own_seconds(self, tmp_path):
        file = opened(tmp_path)
        run_jobs([job(file, 'a', lambda: {'seconds': 42})])
        assert file.frame([{'method': 'a', 'rate': 0.1}])['seconds'].tolist() == [42]


class TestSummary:
    def test_mean_and_spread(self):
        frame = pd.DataFrame({
            'method': ['b', 'a', 'b'],
            'error': [1.0, 5.0, 3.0],
            'other': [math.nan] * 3,
            'problem': [''] * 3,
        })
        texts = summarised(frame, ['method'], ['error', 'other'])
        assert texts.to_dict('list') == {'method': ['b', 'a'], 'error': ['2 ± 1.4', '5']}

    def test_problems_are_shown(self):
        frame = pd.DataFrame({
            'method': ['a', 'a'],
            'error': [math.nan, 0.123456],
            'problem': ['bad', ''],
        })
        texts = summarised(frame, ['method'], ['error'])
        assert texts.to_dict('list') == {'method': ['a'], 'error': ['0.1235'], 'problem': ['bad']}

    @pytest.mark.parametrize(
        'value, text', [(12345.6, '12,346'), (math.inf, 'inf'), (0.00012346, '0.0001235')]
    )
    def test_numbers(self, value, text):
        frame = pd.DataFrame({'method': ['a'], 'error': [value], 'problem': ['']})
        assert summarised(frame, ['method'], ['error'])['error'].tolist() == [text]


def test_settings_in_words():
    assert in_words({'epochs': 5, 'max_rows': None, 'trunk_dims': [8]}) == 'epochs=5 trunk_dims=[8]'
    assert in_words({}) == ''


def test_markdown():
    frame = pd.DataFrame({'method': ['a|b', 'longer'], 'log_rmse': ['1', '']})
    assert markdown(frame).splitlines() == [
        '| method | log rmse |',
        '| ------ | -------- |',
        r'| a\|b   | 1        |',
        '| longer |          |',
    ]
