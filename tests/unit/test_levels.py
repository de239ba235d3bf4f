import pandas as pd
import pytest

from sdv_tabdiff.levels import distinct_levels


@pytest.mark.parametrize(
    ('values', 'dtype', 'expected'),
    [
        (['b', 'a', None, 'b'], object, ['b', 'a']),
        (['', '\0', 'a', 'a\0b', 'a'], object, ['', '\0', 'a', 'a\0b']),
        (['', '\0', None], 'string', ['', '\0']),
        (['x', None, 'y', 'x'], 'category', ['x', 'y']),
        ([3, 1, 3], 'int64', [3, 1]),
        ([3, None, 1], 'Int64', [3, 1]),
        ([True, None, False], 'boolean', [True, False]),
        ([None, None], object, []),
    ],
)
def test_each_value_once_in_order_of_appearance(values, dtype, expected):
    levels = distinct_levels(pd.Series(values, dtype=dtype))

    assert list(levels) == expected
