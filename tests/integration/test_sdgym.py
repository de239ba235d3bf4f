"""SDGym, which runs with SDV 1.38 only, finds and measures the synthesizer."""

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip('sdgym', reason='SDGym needs SDV 1.38')

SCRIPT = Path(__file__).parents[2] / 'tutorials' / 'sdgym_benchmark.py'
SCORES = ['Quality_Score', 'Diagnostic_Score', 'Privacy_Score']
COSTS = ['Train_Time', 'Sample_Time', 'Peak_Memory_MB', 'Synthesizer_Size_MB']


@pytest.fixture(scope='module')
def script():
    spec = importlib.util.spec_from_file_location('sdgym_benchmark', SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_by_name(script):
    names = 'TabDiffSynthesizer,GaussianCopulaSynthesizer'

    results = script.main(['--max-rows', '60', '--synthesizers', names]).set_index('Synthesizer')

    row = results.loc['TabDiffSynthesizer']
    assert row[SCORES].between(0, 1).all()
    assert row['Diagnostic_Score'] == 1
    assert (row[COSTS] > 0).all()
    assert Path('sdgym-results.csv').exists()


def test_variants(script):
    arguments = ['--max-rows', '60', '--synthesizers', 'TabDiffSynthesizer', '--epochs', '1']

    results = script.main(arguments).set_index('Synthesizer')

    assert results.loc['Variant:TabDiffSynthesizerVariant', SCORES].notna().all()


def test_own_tables(script, tmp_path):
    from tests.unit.benchmark.folders import write_table

    folder = write_table(tmp_path / 'tables')
    arguments = ['--data', str(folder), '--tables', 'animals', '--max-rows', '40']

    # By name: SDGym 0.15.1 makes one variant of a class per process.
    results = script.main([*arguments, '--synthesizers', 'TabDiffSynthesizer'])

    assert set(results['Dataset']) == {'animals'}
    assert results['Quality_Score'].notna().all()
