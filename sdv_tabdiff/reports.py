"""Training and noise as tables, for users and plots."""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import torch

from sdv_tabdiff.diffusion import EpochReport, MixedDiffusion
from sdv_tabdiff.table import TableCodec

LOSSES = {
    'Epoch': 'epoch',
    'Loss': 'loss',
    'Numerical Loss': 'numerical',
    'Categorical Loss': 'categorical',
    'Validation Loss': 'validation_loss',
    'Validation Numerical Loss': 'validation_numerical',
    'Validation Categorical Loss': 'validation_categorical',
}


def loss_table(reports: Sequence[EpochReport]) -> pd.DataFrame:
    """One row of losses per epoch."""
    rows = [[getattr(report, name) for name in LOSSES.values()] for report in reports]
    return pd.DataFrame(rows, columns=list(LOSSES), dtype=float).astype({'Epoch': int})


def noise_table(
    network: MixedDiffusion | None, codec: TableCodec | None, times: np.ndarray
) -> pd.DataFrame:
    """Noise of each feature at the given times, in long form; empty without a network."""
    columns = ['Column', 'Kind', 'Exponent', 'Time', 'Noise']
    if network is None or codec is None:
        return pd.DataFrame(columns=columns)

    network = network.cpu()
    t = torch.as_tensor(times, dtype=torch.float32).reshape(-1, 1)
    numerical, categorical = network.numerical_schedule, network.categorical_schedule
    parts = [
        ('numerical', codec.numerical_names, numerical.rho, numerical.sigma(t)),
        ('categorical', codec.categorical_names, categorical.k, categorical.mask_probability(t)),
    ]
    rows = [
        pd.DataFrame({
            'Column': name,
            'Kind': kind,
            'Exponent': float(exponents[index]),
            'Time': times,
            'Noise': noise[:, index].numpy(),
        })
        for kind, names, exponents, noise in parts
        for index, name in enumerate(names)
    ]
    return pd.concat(rows, ignore_index=True)[columns]


def postfix(report: EpochReport) -> dict[str, str]:
    """What a progress bar says after an epoch."""
    shown = {'loss': f'{report.loss:.4f}'}
    if not math.isnan(report.validation_loss):
        shown['validation'] = f'{report.validation_loss:.4f}'

    return shown
