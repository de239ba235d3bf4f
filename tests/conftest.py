"""Settings of all tests."""

import torch

# Threads cost more than they bring on tables of this size, and the tests run side by side.
torch.set_num_threads(1)
