"""Whether synthetic rows are closer to the rows trained on than to others like them."""

from typing import Any

import numpy as np

from sdv_tabdiff.evaluation.distances import MANHATTAN, nearest
from sdv_tabdiff.evaluation.tables import encode, measured_table


def dcr_share(real: Any, synthetic: Any, metadata: Any, holdout: Any) -> float:
    """The share of synthetic rows that are closer to a training row than to any held-out row.

    DCR is the distance to the closest record: the sum of the absolute differences of the numbers,
    scaled by the range of the training rows, and of the one-hot levels. A model that has learned
    the distribution and not the rows gets 0.5; one that copies training rows gets up to 1.

    The measure is sharpest for a synthesizer fitted to one half of a table, the other half being
    held out. With parts of different size, each part's count is divided by its size, so that 0.5
    is still what no memory would give. Ties are split evenly.

    Args:
        real (pandas.DataFrame or dict):
            The training rows.
        synthetic (pandas.DataFrame or dict):
            The synthetic rows.
        metadata (sdv.metadata.Metadata or dict):
            The metadata of all.
        holdout (pandas.DataFrame or dict):
            Rows of the same kind that the synthesizer never saw.

    Returns:
        float:
            The share, from 0 to 1.
    """
    parts = ((real, 'real'), (holdout, 'held-out'), (synthetic, 'synthetic'))
    tables = [measured_table(data, metadata, role) for data, role in parts]
    trained, unseen, made = encode(tables, metadata)
    to_trained, _ = nearest(made, trained, MANHATTAN)
    to_unseen, _ = nearest(made, unseen, MANHATTAN)
    ties = np.mean(to_trained == to_unseen)
    total = len(trained) + len(unseen)
    for_trained = np.mean(to_trained < to_unseen) / len(trained) + ties / total
    for_unseen = np.mean(to_trained > to_unseen) / len(unseen) + ties / total
    return float(for_trained / (for_trained + for_unseen))
