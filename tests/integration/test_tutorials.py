"""Every tutorial runs from its first to its last cell, and shows what it promises."""

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

TUTORIALS = Path(__file__).parents[2] / 'tutorials'
NOTEBOOKS = sorted(TUTORIALS.glob('*.ipynb'))
PLOTLY = 'application/vnd.plotly.v1+json'


def executed(path, folder):
    """The notebook after a run in ``folder``; a cell that fails raises its error."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        cell.pop('outputs', None)
        if cell.cell_type == 'code':
            cell.outputs = []

    resources = {'metadata': {'path': str(folder)}}
    return NotebookClient(
        notebook, timeout=300, kernel_name='python3', resources=resources
    ).execute()


def outputs(notebook):
    return [output for cell in notebook.cells for output in cell.get('outputs', [])]


def printed(notebook):
    streams = [output for output in outputs(notebook) if output.output_type == 'stream']
    return ''.join(output.text for output in streams if output.name == 'stdout')


@pytest.fixture(autouse=True)
def few_threads(monkeypatch):
    # Kernels inherit it. Threads that wait for a busy core slow small tables down.
    monkeypatch.setenv('OMP_NUM_THREADS', '1')


def test_there_are_tutorials():
    assert [path.name for path in NOTEBOOKS][:1] == ['01_quickstart.ipynb']


@pytest.mark.parametrize('path', NOTEBOOKS, ids=lambda path: path.stem)
def test_stored_notebooks_are_small_and_clean(path):
    assert path.stat().st_size < 300_000
    stored = outputs(nbformat.read(path, as_version=4))
    assert not [output for output in stored if output.output_type == 'error']
    assert not [output for output in stored if output.get('name') == 'stderr']


@pytest.mark.parametrize('path', NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path, tmp_path):
    notebook = executed(path, tmp_path)
    assert not [output for output in outputs(notebook) if output.output_type == 'error']
    assert [output for output in outputs(notebook) if PLOTLY in output.get('data', {})]
    assert list(tmp_path.iterdir()) == [], 'a tutorial leaves files in the working directory'
    if path.stem == '01_quickstart':
        said = printed(notebook)
        assert float(re.search(r'Quality: ([\d.]+)%', said)[1]) > 80
        assert 'Diagnostic: 100.0%' in said
        assert 'The same rows again: True' in said
