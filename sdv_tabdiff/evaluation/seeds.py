"""Seeds for code that draws from numpy's global generator."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


@contextmanager
def global_seed(seed: int) -> Iterator[None]:
    """Borrow numpy's global generator, which SDMetrics draws from, and give it back as it was."""
    state = np.random.get_state()  # noqa: NPY002
    np.random.seed(seed)  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(state)  # noqa: NPY002
