"""Fixtures that only read-only tests share."""

import warnings

import pytest

from .requests import WIDE, wide
from .tables import TABLE, fitted, people, people_metadata, quick


@pytest.fixture(autouse=True)
def no_files_left_behind(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope='session')
def people_data():
    return people()


@pytest.fixture(scope='session')
def people_synthesizer(people_data):
    """Fitted with a DataFrame. Sampling from it is all that a test may do with it."""
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        synthesizer = quick(people_metadata())
        synthesizer.fit(people_data)

    return synthesizer


@pytest.fixture(scope='session')
def dict_synthesizer(people_data):
    """Fitted with a dictionary. Sampling from it is all that a test may do with it."""
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        synthesizer = quick(people_metadata())
        synthesizer.fit({TABLE: people_data})

    return synthesizer


@pytest.fixture
def new_synthesizer():
    """An unfitted synthesizer of the people table."""
    return quick(people_metadata())


@pytest.fixture(scope='session')
def wide_synthesizer():
    """Fitted to every kind of column. Sampling from it is all that a test may do with it."""
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        return fitted(wide(), WIDE, {'primary_key': 'key'})
