"""Reading tables from a folder."""

import json

import numpy as np
import pandas as pd
import pytest

from sdv_tabdiff.benchmark.tables import (
    CATEGORIES,
    NUMBERS,
    TARGETS,
    BenchmarkError,
    load_table,
    table_names,
)
from sdv_tabdiff.evaluation.predictions import AUC, LOG_RMSE

from .folders import SDTYPES, animals, table_of, write_table


class TestTableNames:
    def test_those_of_the_paper_come_first(self, tmp_path):
        for name in ('zebras', 'magic', 'adult', 'ants'):
            write_table(tmp_path, name)

        assert table_names(tmp_path) == ['adult', 'magic', 'ants', 'zebras']

    def test_no_folder(self, tmp_path):
        with pytest.raises(BenchmarkError, match='no folder'):
            table_names(tmp_path / 'nowhere')

    def test_empty_folder(self, tmp_path):
        with pytest.raises(BenchmarkError, match=r'no file .\*\.csv\.gz'):
            table_names(tmp_path)


class TestLoadTable:
    def test_split(self, tmp_path):
        split = {'test_rows': [5, 2], 'val_rows': [0], 'excluded_rows': [59], 'seed': 1}
        write_table(tmp_path, split=split)
        table = load_table(tmp_path, 'animals')
        rows = animals()
        assert len(table.train) == 56
        assert list(table.train.index) == list(range(56))
        np.testing.assert_allclose(table.train['size'], rows['size'].drop([0, 2, 5, 59]))
        np.testing.assert_allclose(table.test['size'], rows['size'].loc[[5, 2]])
        assert list(table.test.index) == [0, 1]

    def test_without_a_target_there_is_no_task(self, tmp_path):
        table = load_table(write_table(tmp_path), 'animals')
        assert (table.target, table.task) == (None, None)

    @pytest.mark.parametrize('target, task', [('adult', AUC), ('weight', LOG_RMSE)])
    def test_given_target(self, target, task, tmp_path):
        table = load_table(write_table(tmp_path), 'animals', {'animals': target})
        assert (table.target, table.task) == (target, task)

    def test_targets_of_the_paper_are_known(self, tmp_path):
        rows = animals().rename(columns={'adult': TARGETS['shoppers']})
        sdtypes = {name: sdtype for name, sdtype in SDTYPES.items() if name != 'adult'}
        write_table(tmp_path, 'shoppers', rows, sdtypes=sdtypes | {'Revenue': 'categorical'})
        table = load_table(tmp_path, 'shoppers')
        assert (table.target, table.task) == ('Revenue', AUC)

    def test_metadata(self, tmp_path):
        table = load_table(write_table(tmp_path), 'animals')
        assert table.metadata.tables['animals'].columns['size'] == {'sdtype': 'numerical'}


class TestErrors:
    def test_unknown_table(self, tmp_path):
        write_table(tmp_path)
        with pytest.raises(BenchmarkError, match="no table 'ants'.*Its tables are: animals"):
            load_table(tmp_path, 'ants')

    @pytest.mark.parametrize('file', ['animals.metadata.json', 'splits/animals.json'])
    def test_missing_file(self, file, tmp_path):
        write_table(tmp_path)
        (tmp_path / file).unlink()
        with pytest.raises(Exception, match=file.split('/')[-1]):
            load_table(tmp_path, 'animals')

    @pytest.mark.parametrize(
        'split', [[], {}, {'test_rows': 3}, {'test_rows': [60]}, {'test_rows': ['a']}]
    )
    def test_split_that_is_none(self, split, tmp_path):
        write_table(tmp_path, split=split)
        with pytest.raises(BenchmarkError, match='is not a split'):
            load_table(tmp_path, 'animals')

    def test_split_that_is_not_json(self, tmp_path):
        write_table(tmp_path)
        (tmp_path / 'splits' / 'animals.json').write_text('{')
        with pytest.raises(BenchmarkError, match='is not a split'):
            load_table(tmp_path, 'animals')

    @pytest.mark.parametrize('test_rows', [[], list(range(60))])
    def test_split_without_rows(self, test_rows, tmp_path):
        write_table(tmp_path, split={'test_rows': test_rows})
        with pytest.raises(BenchmarkError, match='leaves no rows'):
            load_table(tmp_path, 'animals')

    def test_metadata_of_another_table(self, tmp_path):
        write_table(tmp_path)
        path = tmp_path / 'animals.metadata.json'
        content = json.loads(path.read_text())
        content['tables']['animals']['columns']['legs'] = {'sdtype': 'numerical'}
        path.write_text(json.dumps(content))
        with pytest.raises(BenchmarkError, match='legs'):
            load_table(tmp_path, 'animals')

    @pytest.mark.parametrize('target', ['legs', 'born', 'kind'])
    def test_targets_that_are_none(self, target, tmp_path):
        rows = animals().assign(kind='cat')
        write_table(tmp_path, rows=rows, sdtypes=SDTYPES | {'kind': 'categorical'})
        with pytest.raises(BenchmarkError, match=f"'animals': The target '{target}'"):
            load_table(tmp_path, 'animals', {'animals': target})


class TestBenchmarkTable:
    def test_columns_by_sdtype(self):
        table = table_of(animals(), animals())
        assert table.columns(NUMBERS) == ['size', 'weight', 'born']
        assert table.columns(CATEGORIES) == ['colour', 'adult']

    def test_dates_as_numbers(self):
        table = table_of(animals(), animals())
        dates = pd.Series(['1970-01-02', None], name='born')
        np.testing.assert_array_equal(table.as_numbers(dates), [86400, np.nan])

    def test_shortened(self):
        table = table_of(animals(), animals())
        short = table.shortened(10, 20)
        assert (len(short.train), len(short.test)) == (10, 20)
        pd.testing.assert_frame_equal(short.train, table.shortened(10, 5).train)
        assert table.shortened(None, 100).test is table.test

    def test_new_levels_become_gaps(self):
        train = pd.DataFrame({'colour': ['red', None], 'adult': [True, True], 'size': [1.0, 2.0]})
        test = pd.DataFrame({'colour': ['red', 'blue'], 'adult': [False, True], 'size': [3.0, 4.0]})
        sdtypes = {name: SDTYPES[name] for name in train}
        known = table_of(train, test, sdtypes).without_new_levels(test)
        assert known.isna().to_numpy().tolist() == [[False, True, False], [True, False, False]]
