"""How long work takes, with how many threads."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch


def seconds_of(work: Callable[[], Any]) -> float:
    """Seconds that some work takes."""
    start = time.monotonic()
    work()
    return time.monotonic() - start


@contextmanager
def torch_threads(count: int | None) -> Iterator[None]:
    """A context in which torch has so many threads, as many as before if None."""
    before = torch.get_num_threads()
    torch.set_num_threads(count or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)
