"""The parts of the demo that need no training."""

import math

import numpy as np
import pandas as pd
import pytest
import torch
from sdv.metadata import Metadata

from sdv_tabdiff import demo
from sdv_tabdiff.cli import score_table

FULL = dict(zip(demo.SCORES, (0.9, 0.95, 0.85, 1.0)))


def table_of(**columns):
    """A table of columns, each given as its sdtype and its values."""
    metadata = Metadata.load_from_dict({
        'tables': {
            't': {'columns': {name: {'sdtype': kind} for name, (kind, _) in columns.items()}}
        }
    })
    rows = pd.DataFrame({name: values for name, (_, values) in columns.items()})
    return demo.Table('t', rows, metadata, len(rows))


def titles(table, synthetic=None):
    synthetic = table.rows if synthetic is None else synthetic
    return [figure.layout.title.text for figure in demo.column_figures(table, synthetic)]


class TestResult:
    def test_scores_become_per_cent(self):
        result = demo.Result('TabDiff', 12.34, pd.DataFrame(), FULL)
        assert result.cells() == ['TabDiff', '90.0 %', '95.0 %', '85.0 %', '100.0 %', '12.3 s']

    def test_scores_that_do_not_exist(self):
        result = demo.Result('TabDiff', 1, pd.DataFrame(), FULL | {'Column Pair Trends': math.nan})
        assert result.cells()[3] == 'n/a'

    def test_failures_have_their_reason_instead_of_scores(self):
        result = demo.Result('TVAE', 1, problem='no luck')
        assert result.cells() == ['TVAE', 'failed: no luck']


class TestScoreTable:
    def test_numbers_are_aligned_and_failures_keep_their_words(self):
        results = [
            demo.Result('TabDiff', 9, pd.DataFrame(), FULL),
            demo.Result('CTGAN', 1000, pd.DataFrame(), FULL | {'Quality': 0.0512}),
            demo.Result('TVAE', 1, problem='a reason that is much longer than a number'),
        ]
        assert score_table(demo.HEADER, results).splitlines() == [
            'Synthesizer  Quality  Column Shapes  Column Pair Trends  Diagnostic  Fit time',
            '-----------------------------------------------------------------------------',
            'TabDiff       90.0 %         95.0 %              85.0 %     100.0 %     9.0 s',
            'CTGAN          5.1 %         95.0 %              85.0 %     100.0 %  1000.0 s',
            'TVAE         failed: a reason that is much longer than a number',
        ]


class TestScore:
    def test_a_copy_is_perfect_and_noise_is_not(self):
        random = np.random.default_rng(0)
        x = random.normal(size=500)
        table = table_of(
            x=('numerical', x),
            y=('numerical', 2 * x + 0.1 * random.normal(size=500)),
            c=('categorical', np.where(x > 0, 'up', 'down')),
        )
        assert demo.score(table, table.rows) == pytest.approx(dict.fromkeys(demo.SCORES, 1.0))
        shuffled = table.rows.apply(lambda column: random.permutation(column))
        scores = demo.score(table, shuffled)
        assert scores['Column Shapes'] == pytest.approx(1.0)
        assert scores['Column Pair Trends'] < 0.8
        assert scores['Quality'] < 0.9


class TestRunPeer:
    def test_a_failure_is_a_result(self):
        table = table_of(x=('numerical', [1.0, 2.0, 3.0]))
        broken = demo.Table('t', table.rows.rename(columns={'x': 'z'}), table.metadata, 3)
        result = demo.run_peer('TVAE', broken)
        assert result.synthetic is None
        assert 'does not match the metadata' in result.problem
        assert '\n' not in result.problem

    def test_the_random_numbers_of_the_caller_are_untouched(self):
        table = table_of(x=('numerical', [1.0, 2.0, 3.0]))
        broken = demo.Table('t', table.rows.drop(columns='x'), table.metadata, 3)
        torch_before = torch.get_rng_state()
        numpy_before = np.random.get_state()[1].copy()  # noqa: NPY002
        demo.run_peer('CTGAN', broken)
        assert torch.equal(torch.get_rng_state(), torch_before)
        assert (np.random.get_state()[1] == numpy_before).all()  # noqa: NPY002


class TestColumnFigures:
    def test_every_kind_of_column_that_can_be_drawn(self):
        dates = pd.Series(pd.date_range('2020-01-01', periods=30))
        table = table_of(
            key=('id', range(30)),
            number=('numerical', np.linspace(0, 1, 30)),
            date=('datetime', dates.dt.strftime('%Y-%m-%d')),
            word=('categorical', ['a', 'b', None] * 10),
            flag=('boolean', [True, False] * 15),
            constant=('numerical', [7.0] * 30),
        )
        assert titles(table) == ['number', 'date', 'word', 'flag', 'constant']

    def test_columns_that_cannot_be_read_are_left_out(self):
        table = table_of(
            empty=('numerical', [np.nan] * 100),
            words=('categorical', [f'word {number}' for number in range(100)]),
        )
        assert titles(table) == []

    def test_a_column_that_was_synthesized_as_missing_does_not_break_the_page(self):
        table = table_of(word=('categorical', ['a', 'b'] * 5), x=('numerical', np.arange(10.0)))
        assert titles(table, table.rows.assign(word=None)) == ['x']

    def test_numbers_with_bars_are_in_order(self):
        table = table_of(months=('categorical', [12, 3, 6, 12, 12, 3]))
        (figure,) = demo.column_figures(table, table.rows)
        assert list(figure.layout.xaxis.categoryarray) == [3, 6, 12]


class TestHtmlPage:
    def test_names_from_the_table_are_text_and_not_markup(self):
        table = table_of(**{'<script>x</script>': ('boolean', [True, False])})
        results = [demo.Result('TabDiff', 1, table.rows, FULL)]
        results.append(demo.Result('TVAE', 1, problem='<b>bold</b>'))
        figures = list(demo.column_figures(table, table.rows))
        page = demo.html_page(table, results, figures)
        assert '<script>x' not in page
        assert '<b>bold' not in page


class TestLoadTable:
    def test_a_sample_is_reproducible_and_keeps_the_order_of_rows(self, tmp_path):
        path = tmp_path / 'numbers.csv'
        pd.DataFrame({'x': range(1000), 'y': np.arange(1000) % 7}).to_csv(path, index=False)
        table = demo.load_table(path, max_rows=100, seed=1)
        assert table.name == 'numbers'
        assert (len(table.rows), table.total_rows) == (100, 1000)
        assert table.rows['x'].is_monotonic_increasing
        assert table.rows.equals(demo.load_table(path, max_rows=100, seed=1).rows)
        assert not table.rows.equals(demo.load_table(path, max_rows=100, seed=2).rows)
