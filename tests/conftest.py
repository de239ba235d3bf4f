"""Settings of all tests."""

import random

import numpy as np
import pytest
import torch
from hypothesis import settings

# Threads cost more than they bring on tables of this size, and the tests run side by side.
torch.set_num_threads(1)

# The same examples in every run, so that a failure is always that of the change at hand.
settings.register_profile('repeatable', derandomize=True, deadline=None)
settings.load_profile('repeatable')


@pytest.fixture(autouse=True)
def global_seeds():
    """Start the generators that SDV's own synthesizers draw from anew for each test."""
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002
    torch.manual_seed(0)
