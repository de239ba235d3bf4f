"""Seconds and threads of some work."""

import pytest
import torch

from sdv_tabdiff.benchmark.timing import seconds_of, torch_threads


def test_seconds_are_those_of_the_work(monkeypatch):
    clock = iter([3.0, 7.5])
    monkeypatch.setattr('time.monotonic', lambda: next(clock))

    assert seconds_of(lambda: None) == 4.5


def test_threads_are_given_back_whatever_happens():
    before = torch.get_num_threads()
    with pytest.raises(ValueError), torch_threads(before + 1):
        assert torch.get_num_threads() == before + 1
        raise ValueError

    assert torch.get_num_threads() == before


def test_no_number_changes_nothing():
    before = torch.get_num_threads()
    with torch_threads(None):
        assert torch.get_num_threads() == before
