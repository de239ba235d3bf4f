"""TabDiff for the Synthetic Data Vault: mixed-type diffusion for single tables."""

# SDV loads its add-ons, this package among them, while it is being imported. Importing it first
# makes ``import sdv_tabdiff`` and ``import sdv`` work in either order.
import sdv  # noqa: F401, I001

from sdv_tabdiff.conditions import Between, OneOf
from sdv_tabdiff.parameters import PAPER
from sdv_tabdiff.synthesizer import TabDiffSynthesizer
from sdv_tabdiff.transformers import (
    CategoryCodes,
    DatetimeQuantileNormalizer,
    QuantileNormalizer,
)

__version__ = '0.1.0'

__all__ = [
    'PAPER',
    'Between',
    'CategoryCodes',
    'DatetimeQuantileNormalizer',
    'OneOf',
    'QuantileNormalizer',
    'TabDiffSynthesizer',
]
