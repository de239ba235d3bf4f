"""The quantiles of a column of numbers, and samples that are given them.

A trained network gets the shape of a column a little wrong, by about a hundredth of the rows, and a
sample adds its own chance. Both show in no single row, but in every comparison of the column as a
whole. Survey statisticians calibrate a sample to totals that they know (Deville and Sarndal 1992);
the quantiles of the training data are known, so samples can be calibrated to them.
"""

import numpy as np

from sdv_tabdiff.quantiles import FloatArray

# Fewer rows per level would follow the chance of single rows.
ROWS_PER_LEVEL = 50
MIN_LEVELS, MAX_LEVELS = 5, 200


def _levels(count: int) -> FloatArray:
    """Evenly spaced shares between 0 and 1."""
    return (np.arange(count) + 0.5) / count


class Marginal:
    """The quantiles of a column.

    Args:
        values: The column without missing values.
    """

    def __init__(self, values: FloatArray):
        count = min(max(len(values) // ROWS_PER_LEVEL, 1), MAX_LEVELS)
        self._quantiles = np.quantile(values, _levels(count))

    def match(self, values: FloatArray) -> FloatArray:
        """Sampled values, moved so that they have the quantiles of the column.

        Each is moved by what the quantiles around it differ by, so neighbours stay neighbours, and
        what a value says about the other columns of its row stays as it was. Values of too few rows
        to speak of quantiles are left as they are.

        Args:
            values: A sample, in any order.

        Returns:
            numpy.ndarray:
                The values in the same order.
        """
        count = min(len(values) // ROWS_PER_LEVEL, len(self._quantiles))
        if count < MIN_LEVELS:
            return values

        levels = _levels(count)
        sampled = np.quantile(values, levels)
        wanted = np.interp(levels, _levels(len(self._quantiles)), self._quantiles)
        return values + np.interp(values, sampled, wanted - sampled)
