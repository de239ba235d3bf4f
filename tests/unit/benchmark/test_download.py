"""Fetching is tested on archives of a few rows, in the form of those of UCI."""

import json
import zipfile

import numpy as np
import pandas as pd
import pytest

from sdv_tabdiff.benchmark import download
from sdv_tabdiff.benchmark.sources import CHANNELS, SOURCES, WEEKDAYS
from sdv_tabdiff.benchmark.tables import BenchmarkError, load_table, table_names

ADULT = '39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White,'


def adult(num_rows=30):
    lines = [f'{ADULT} Male, 2174, 0, {row}, United-States, <=50K' for row in range(num_rows)]
    lines[3] = lines[3].replace('State-gov', '?').replace('<=50K', '>50K')
    tests = [f'{line}.' for line in lines[:10]]
    return {
        'adult.data': '\n'.join([*lines, '']),
        'adult.test': '\n'.join(['|1x3 Cross validator', *tests, '']),
        'Index': 'not a table',
    }


def magic():
    lines = [f'{row}.5,1,2,3,4,5,6,7,8,9,{"gh"[row % 2]}' for row in range(41)]
    return {'magic04.data': '\n'.join(lines)}


def beijing():
    rows = pd.DataFrame({
        'No': range(1, 51), 'year': 2010, 'month': 1, 'day': 1, 'hour': 0,
        'pm2.5': [np.nan, *range(49)], 'DEWP': 1, 'TEMP': 1.0, 'PRES': 1.0, 'cbwd': 'NW',
        'Iws': 1.79, 'Is': 0, 'Ir': 0,
    })  # fmt: skip
    return {'PRSA_data_2010.1.1-2014.12.31.csv': rows.to_csv(index=False, na_rep='NA')}


def news():
    rows = pd.DataFrame({'url': ['http://x'] * 40, ' n_tokens_title': 3.0, ' kw_avg': 0.5})
    for names in (CHANNELS, WEEKDAYS):
        for position, name in enumerate(names):
            rows[f' {name}'] = (np.arange(40) % len(names) == position).astype(float)

    rows[[' is_weekend', ' shares']] = [0.0, 100]
    return {'OnlineNewsPopularity/OnlineNewsPopularity.csv': rows.to_csv(index=False)}


def diabetes():
    source = SOURCES['diabetes']
    rows = pd.DataFrame({name: ['No'] * 50 for name in source.levels})
    rows['readmitted'] = ['NO', '<30', '>30', 'NO', 'NO'] * 10
    rows['max_glu_serum'] = rows['A1Cresult'] = 'None'
    rows['race'] = ['?', *['Caucasian'] * 49]
    rows['age'] = ['[0-10)', '[10-20)', '[90-100)', '[70-80)', '[40-50)'] * 10
    for name in download.SOURCES['diabetes'].read.__globals__['DIABETES_NUMBERS']:
        if name != 'age':
            rows[name] = 1

    return {'dataset/diabetic_data.csv': rows.assign(encounter_id=1).to_csv(index=False)}


def shoppers():
    rows = pd.DataFrame(1, range(20), [*SOURCES['shoppers'].levels, 'BounceRates'])
    rows['Revenue'] = [True, False] * 10
    return {'online_shoppers_intention.csv': rows.to_csv(index=False)}


ARCHIVES = {
    'adult': adult, 'magic': magic, 'beijing': beijing, 'news': news, 'diabetes': diabetes,
    'shoppers': shoppers,
}  # fmt: skip


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A folder in the place of UCI's server, and an empty cache."""
    monkeypatch.setenv('SDV_TABDIFF_CACHE', str(tmp_path / 'cache'))
    root = tmp_path / 'server'
    for name, files in ARCHIVES.items():
        path = root / SOURCES[name].path
        path.parent.mkdir(parents=True)
        with zipfile.ZipFile(path, 'w') as archive:
            for member, content in files().items():
                archive.writestr(member, content)

    return root.as_uri()


def fetched(name, server):
    folder = download.fetch([name], server)
    return load_table(folder, name), pd.read_csv(folder / f'{name}.csv.gz')


@pytest.mark.parametrize('name', ARCHIVES)
def test_a_fetched_table_can_be_loaded(name, server):
    table, rows = fetched(name, server)

    assert table.target in rows
    assert len(table.train) and len(table.test)
    categories = set(table.columns(['categorical']))
    assert categories == set(SOURCES[name].levels)


def test_adult(server):
    table, rows = fetched('adult', server)

    assert len(rows) == 40
    assert rows['workclass'].isna().sum() == 2
    assert rows['income'].value_counts().to_dict() == {'<=50K': 38, '>50K': 2}
    assert rows['sex'][0] == 'Male'


def test_magic_without_its_first_row(server):
    _, rows = fetched('magic', server)

    assert len(rows) == 40
    assert rows['Length'][0] == 1.5


def test_beijing_without_rows_that_lack_the_target(server):
    table, rows = fetched('beijing', server)

    assert 'No' not in rows
    assert len(table.train) + len(table.test) == 49
    assert table.train['pm2.5'].notna().all()


def test_news_has_levels_for_channel_and_weekday(server):
    _, rows = fetched('news', server)

    assert rows['data_channel'].tolist() == [row % 6 for row in range(40)]
    assert rows['weekday'].tolist() == [row % 7 for row in range(40)]
    assert rows.columns.tolist() == [
        'n_tokens_title',
        'kw_avg',
        'shares',
        'data_channel',
        'weekday',
    ]
    assert rows['n_tokens_title'].dtype == 'int64'


def test_diabetes(server):
    table, rows = fetched('diabetes', server)

    assert rows['age'][:5].tolist() == [0, 1, 9, 7, 4]
    assert rows['readmitted'][:5].tolist() == [0, 1, 1, 0, 0]
    assert (rows['A1Cresult'] == 'none').all()
    assert rows['race'].isna().sum() == 1
    assert (len(table.train), len(table.test)) == (30, 10)


def test_default_is_read_from_excel(monkeypatch):
    asked = {}

    def read_excel(content, header):
        asked['content'], asked['header'] = content.read(), header
        return pd.DataFrame({'ID': [1], 'SEX': [2]})

    monkeypatch.setattr(pd, 'read_excel', read_excel)

    rows = SOURCES['default'].read({'default of credit card clients.xls': b'xls'})

    assert asked == {'content': b'xls', 'header': 1}
    assert rows.columns.tolist() == ['SEX']


def test_every_level_of_a_shuffled_split_is_in_its_training_part():
    rows = pd.DataFrame({'a': [*range(9), *[9] * 41], 'b': range(50)})

    split = SOURCES['magic'].split(rows, ['a'])

    assert len(split['test_rows']) == 5
    assert rows.drop(index=split['test_rows'])['a'].nunique() == 10


def test_a_table_is_fetched_once(server, monkeypatch):
    download.fetch(['magic'], server)
    monkeypatch.setattr(download.urllib.request, 'urlopen', None)

    folder = download.fetch(['magic'], server)

    assert table_names(folder) == ['magic']


def test_offline_the_error_says_what_failed_and_keeps_the_rest(server):
    with pytest.raises(BenchmarkError) as caught:
        download.fetch(None, server)

    message = str(caught.value)
    assert '1 of 7 tables' in message
    assert 'default: no connection' in message
    assert '--data' in message
    assert 'adult' in table_names(download.cache_folder())


def test_a_file_that_is_no_archive(server, tmp_path):
    (tmp_path / 'server' / SOURCES['magic'].path).write_bytes(b'<html>sorry</html>')

    with pytest.raises(BenchmarkError, match='magic: BadZipFile'):
        download.fetch(['magic'], server)

    assert not (download.cache_folder() / 'magic.csv.gz').exists()


def test_unknown_tables_have_no_address(server):
    with pytest.raises(BenchmarkError, match='mine'):
        download.fetch(['mine'], server)


def test_the_metadata_are_sdvs():
    rows = pd.DataFrame({'Length': [1.0], 'class': ['g']})

    content = json.loads(json.dumps(download.metadata('magic', SOURCES['magic'], rows)))

    assert content['tables']['magic']['columns'] == {
        'Length': {'sdtype': 'numerical'},
        'class': {'sdtype': 'categorical'},
    }
