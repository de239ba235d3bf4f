import argparse
from pathlib import Path

import pytest

from sdv_tabdiff.benchmark.provenance import command_of, insert, provenance
from sdv_tabdiff.benchmark.tables import BenchmarkError

OPTIONS = argparse.Namespace(
    command='benchmark',
    run=print,
    measure=print,
    insert=Path('x.md'),
    data=Path('/home/me/tables'),
    tables=['a', 'b'],
    target=[('a', 'my column')],
    parameters=['default', 'wide={"epochs": 1}'],
    seeds=[0, 1],
    time_budget=2.5,
    halves=True,
    paper=None,
)


def test_the_command_can_be_given_again():
    assert command_of(OPTIONS) == (
        "sdv-tabdiff benchmark --data tables --tables a,b --target 'a=my column' --parameters "
        'default --parameters \'wide={"epochs": 1}\' --seeds 0,1 --time-budget 2.5 --halves'
    )


def test_versions_and_machine_stand_beside_it():
    text = provenance(OPTIONS)

    assert text.startswith('```bash\nsdv-tabdiff benchmark')
    assert 'torch 2' in text
    assert 'cores' in text


def test_a_report_replaces_the_one_before(tmp_path):
    path = tmp_path / 'page.md'
    path.write_text('# Page\n<!-- begin a -->\nold\n<!-- end a -->\nrest\n')

    insert(path, 'a', 'first')
    insert(path, 'a', 'second')

    assert path.read_text() == ('# Page\n<!-- begin a -->\n\nsecond\n\n<!-- end a -->\nrest\n')


@pytest.mark.parametrize('content', ['', '<!-- begin a -->', '<!-- end a --><!-- begin a -->'])
def test_a_file_without_its_place_is_left_alone(content, tmp_path):
    path = tmp_path / 'page.md'
    path.write_text(content)

    with pytest.raises(BenchmarkError, match='needs the lines'):
        insert(path, 'a', 'text')

    assert path.read_text() == content


def test_no_file(tmp_path):
    with pytest.raises(BenchmarkError, match='Cannot read'):
        insert(tmp_path / 'none.md', 'a', 'text')
