"""Whether synthetic rows lie where real ones do, and real rows where synthetic ones do.

Alpha-precision and beta-recall of Alaa, van Breugel, Saveliev and van der Schaar, *How Faithful is
your Synthetic Data?* (ICML 2022), in the variant without an embedding: numbers scaled to [0, 1] by
the real data, one-hot levels, Euclidean distances.
"""

from typing import Any, NamedTuple

import numpy as np

from sdv_tabdiff.evaluation.distances import EUCLIDEAN, distances_to_mean, nearest
from sdv_tabdiff.evaluation.tables import EncodedRows, encode, measured_table

LEVELS = np.linspace(0, 1, 30)

# Distances this close are equal but for rounding.
ROUNDING = 1e-9


class Support(NamedTuple):
    """Both measures, from 0 to 1: 1 is best."""

    alpha_precision: float
    beta_recall: float


def support(real: Any, synthetic: Any, metadata: Any) -> Support:
    """Alpha-precision and beta-recall; see the functions of that name.

    Args:
        real (pandas.DataFrame or dict):
            The training rows.
        synthetic (pandas.DataFrame or dict):
            The synthetic rows.
        metadata (sdv.metadata.Metadata or dict):
            The metadata of both.
    """
    rows, made = _encoded(real, synthetic, metadata)
    return Support(_alpha_precision(rows, made), _beta_recall(rows, made))


def alpha_precision(real: Any, synthetic: Any, metadata: Any) -> float:
    """Whether synthetic rows are as typical as real ones, from 0 to 1.

    The ball around the real mean that holds a share alpha of the real rows should hold the same
    share of the synthetic ones: 1 minus the mean deviation over 30 levels of alpha, relative to
    the mean alpha.

    Args:
        real (pandas.DataFrame or dict):
            The training rows.
        synthetic (pandas.DataFrame or dict):
            The synthetic rows.
        metadata (sdv.metadata.Metadata or dict):
            The metadata of both.
    """
    return _alpha_precision(*_encoded(real, synthetic, metadata))


def beta_recall(real: Any, synthetic: Any, metadata: Any) -> float:
    """Whether the synthetic rows cover the real ones, from 0 to 1.

    A real row is covered if its nearest synthetic row is no farther than its nearest other real
    row. The share of rows that are covered by the synthetic rows nearest to their mean, a share
    beta of them, is compared with beta as in ``alpha_precision``.

    Args:
        real (pandas.DataFrame or dict):
            The training rows; at least two.
        synthetic (pandas.DataFrame or dict):
            The synthetic rows.
        metadata (sdv.metadata.Metadata or dict):
            The metadata of both.
    """
    return _beta_recall(*_encoded(real, synthetic, metadata))


def _encoded(real: Any, synthetic: Any, metadata: Any) -> list[EncodedRows]:
    tables = (
        measured_table(real, metadata, 'real'),
        measured_table(synthetic, metadata, 'synthetic'),
    )
    return encode(tables, metadata)


def _alpha_precision(rows: EncodedRows, made: EncodedRows) -> float:
    radii = np.quantile(distances_to_mean(rows, rows), LEVELS)
    distances = distances_to_mean(made, rows)
    return _closeness(np.array([np.mean(distances <= radius + ROUNDING) for radius in radii]))


def _beta_recall(rows: EncodedRows, made: EncodedRows) -> float:
    if len(rows) < 2:
        return float('nan')

    to_real, _ = nearest(rows, rows, EUCLIDEAN, same=True)
    to_made, which = nearest(rows, made, EUCLIDEAN)
    covered = to_made <= to_real + ROUNDING
    # How far out the synthetic rows are that are somebody's nearest.
    outwards = distances_to_mean(made, made)[which]
    radii = np.quantile(outwards, LEVELS)
    return _closeness(
        np.array([np.mean(covered & (outwards <= radius + ROUNDING)) for radius in radii])
    )


def _closeness(curve: np.ndarray) -> float:
    return float(1 - np.abs(LEVELS - curve).sum() / LEVELS.sum())
