import numpy as np
import pandas as pd
import pytest

from sdv_tabdiff.benchmark import quality_report
from sdv_tabdiff.benchmark.paper import load_paper
from sdv_tabdiff.benchmark.quality import COSTS, KEY, ROWS, VALUES
from sdv_tabdiff.benchmark.tables import BenchmarkError

PAPER = """metric,unit,better,dataset,method,value
shape_error,percent,lower,adult,TabDiff,0.63
shape_error,percent,lower,adult,CTGAN,16.84
alpha_precision,percent,higher,adult,TabDiff,99.02
mle,auc,higher,adult,TabDiff,0.912
mle,auc,higher,adult,Real,0.927
mle,rmse,lower,beijing,TabDiff,0.555
imputation,auc percent,higher,adult,TabDiff w=0.0,92.5
imputation,auc percent,higher,adult,TabDiff w=0.6,93.2
imputation,rmse,lower,beijing,TabDiff w=0.0,0.424
shape_error,percent,lower,adult,GReaT,12.12
"""


def results(rows):
    """Results with these cells, by table, synthesizer and seed."""
    frame = pd.DataFrame(rows, columns=['table', 'synthesizer', 'seed', 'shape_error'])
    columns = [*KEY, *ROWS, *VALUES, *COSTS, 'problem']
    frame = frame.reindex(columns=columns)
    frame[['settings', 'problem']] = ''
    frame[list(ROWS)] = 1000
    return frame.assign(fit_seconds=60.0, trend_error=2.0, c2st_boosted=0.5)


@pytest.fixture
def published(tmp_path):
    path = tmp_path / 'paper.csv'
    path.write_text(PAPER)
    return load_paper(path)


def line(text, start):
    (found,) = (part for part in text.splitlines() if part.startswith(f'| {start} '))
    return [cell.strip() for cell in found.split('|')[1:-1]]


class TestPaper:
    def test_figures_are_on_our_scales(self, published):
        figures = published.set_index(['table', 'synthesizer'])

        adult = figures.loc['adult', 'TabDiff']
        assert adult['shape_error'] == 0.63
        assert adult['alpha_precision'] == pytest.approx(0.9902)
        assert adult['mle_auc'] == 0.912
        assert adult['imputation_micro_auc'] == pytest.approx(0.925)
        beijing = figures.loc['beijing', 'TabDiff']
        assert beijing['mle_log_rmse'] == 0.555
        assert beijing['imputation_log_rmse'] == 0.424

    def test_other_files_are_errors(self, tmp_path):
        (tmp_path / 'other.csv').write_text('a,b\n1,2\n')

        with pytest.raises(BenchmarkError, match='metric'):
            load_paper(tmp_path / 'other.csv')
        with pytest.raises(BenchmarkError, match='nowhere'):
            load_paper(tmp_path / 'nowhere.csv')


class TestReport:
    def test_means_and_spreads_over_seeds(self):
        text = quality_report.report(
            results([
                ('adult', 'Bootstrap', '0', 0.3),
                ('adult', 'TabDiff', '0', 0.5),
                ('adult', 'TabDiff', '1', 0.7),
            ])
        )

        assert '### adult: 1,000 training rows, 1,000 test rows' in text
        assert 'over seeds (TabDiff 2)' in text
        assert '0.6 ± 0.14' in text
        assert 'Variants' not in text

    def test_the_paper_stands_below(self, published):
        frame = results([('adult', 'TabDiff', '0', 0.5), ('adult', 'CTGAN', '0', 9.0)])

        text = quality_report.report(frame, published)

        assert line(text, 'TabDiff (paper)')[1] == '0.63'
        assert line(text, 'CTGAN (paper)')[1] == '16.84'
        assert 'GReaT' not in text
        assert line(text, 'Real (paper)')[1] == ''

    def test_a_table_that_the_paper_lacks(self, published):
        text = quality_report.report(results([('mine', 'TabDiff', '0', 0.5)]), published)

        assert '(paper)' not in text

    def test_variants_are_averaged_over_the_tables_that_all_have(self):
        text = quality_report.report(
            results([
                ('adult', 'TabDiff fixed', '0', 0.5),
                ('adult', 'TabDiff learnable', '0', 1.5),
                ('magic', 'TabDiff fixed', '0', 1.5),
                ('magic', 'TabDiff learnable', '0', 2.5),
                ('news', 'TabDiff fixed', '0', 99.0),
                ('beijing', 'TabDiff fixed', '0', 99.0),
                ('beijing', 'TabDiff learnable', '0', np.nan),
            ])
        )

        ablation = text.split('### Variants')[1]
        assert '2 tables (adult, magic)' in ablation
        assert line(ablation, 'TabDiff fixed')[1] == '1'
        assert line(ablation, 'TabDiff learnable')[1] == '2'

    def test_variants_of_which_not_everything_was_measured(self):
        rows = results([
            ('adult', 'TabDiff fixed', '0', 0.5),
            ('adult', 'TabDiff learnable', '0', 1.5),
        ])

        ablation = quality_report.report(rows.assign(c2st_boosted=np.nan)).split('### Variants')[1]

        assert '1 tables (adult)' in ablation
        assert line(ablation, 'TabDiff learnable')[1:] == ['1.5', '2']

    def test_a_failure_is_shown_with_its_reason(self):
        frame = results([('adult', 'CTGAN', '0', np.nan)])
        frame['problem'] = 'ValueError: no | luck'

        assert 'no \\| luck' in quality_report.report(frame)


def test_the_picture_has_a_point_for_each_run(tmp_path):
    frame = results([('adult', 'TabDiff', '0', 0.5), ('magic', 'CTGAN', '0', 9.0)])

    figure = quality_report.plot(frame)

    points = [(list(trace.x), list(trace.y)) for trace in figure.data]
    assert points[0] == ([1.0], [0.5])
    assert len(points) == 6
    text = quality_report.write(frame, tmp_path)
    assert (tmp_path / 'quality.md').read_text() == f'{text}\n'
    assert 'plotly' in (tmp_path / 'quality.html').read_text()
