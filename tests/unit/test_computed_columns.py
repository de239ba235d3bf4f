"""Numbers that another column determines, on their way through the codec."""

import numpy as np
import pandas as pd
import pytest
import torch

from sdv_tabdiff.columns import Restriction
from sdv_tabdiff.knowledge import Knowledge, Restrictions
from sdv_tabdiff.quantiles import QuantileMap
from sdv_tabdiff.table import TableCodec

ROWS = 2000


def frames():
    """A number with gaps and what follows from it: values, and scores with their maps."""
    rng = np.random.default_rng(0)
    mood = rng.normal(size=ROWS).round(3)
    strength = np.where(rng.random(ROWS) < 0.1, np.nan, np.abs(mood))
    raw = pd.DataFrame({
        'strength': strength,
        'mood': mood,
        'is_good': (mood > 0.5).astype(float),
        'noise': rng.normal(size=ROWS),
    })
    maps = {name: QuantileMap().fit(raw[name].dropna().to_numpy()) for name in raw}
    return raw, maps, raw.apply(lambda column: maps[column.name].forward(column.to_numpy()))


class Settled:
    """Facts that settle the same rows of every column, and know no cell."""

    def __init__(self, rows):
        self.rows = rows

    def is_settled(self, name):
        return self.rows

    def with_known(self, name, values):
        return values


def codec_of(scores, maps, **parameters):
    return TableCodec(scales=maps, **parameters).fit(scores)


def restored(scores, maps):
    return scores.apply(lambda column: maps[column.name].inverse(column.to_numpy()))


def shuffled(codec, scores):
    """Features in which every column is that of another row."""
    x_num, x_cat = codec.encode(scores)
    x_num = x_num.nan_to_num()  # As a network draws them, beside the states.
    generator = torch.Generator().manual_seed(0)
    for feature in (*x_num.T, *x_cat.T):
        feature[:] = feature[torch.randperm(ROWS, generator=generator)]

    return x_num, x_cat


def test_what_was_encoded_comes_back():
    raw, maps, scores = frames()
    codec = codec_of(scores, maps)

    decoded = restored(codec.decode(*codec.encode(scores)), maps)

    np.testing.assert_allclose(decoded, raw, atol=1e-6)


def test_rows_agree_with_the_column_that_determines_others():
    _, maps, scores = frames()
    codec = codec_of(scores, maps)

    decoded = restored(codec.decode(*shuffled(codec, scores)), maps)

    present = decoded['strength'].notna()
    assert 0.85 < present.mean() < 0.95
    mood = decoded['mood'].round(3)
    np.testing.assert_allclose(decoded['strength'][present], mood[present].abs(), atol=2e-3)
    np.testing.assert_array_equal(decoded['is_good'], (mood > 0.5).astype(float))


def test_a_computed_zero_is_one_to_the_last_digit():
    rng = np.random.default_rng(0)
    # A third of the rows are zero, and a few others nearly so.
    mood = np.where(rng.random(ROWS) < 0.3, 0.0, rng.normal(size=ROWS).round(2) / 3)
    mood[:5] = 2e-17
    raw = pd.DataFrame({'mood': mood, 'strength': np.abs(mood), 'good': mood.clip(min=0)})
    maps = {name: QuantileMap().fit(raw[name].to_numpy()) for name in raw}
    scores = raw.apply(lambda column: maps[column.name].forward(column.to_numpy()))
    codec = codec_of(scores, maps)

    decoded = restored(codec.decode(*codec.encode(scores)), maps)

    as_drawn = codec.decode(*codec.encode(scores), Settled(np.full(ROWS, True)))
    for name in ('strength', 'good'):
        drawn = restored(as_drawn, maps)[name]
        zeros = [(column == 0).sum() for column in (decoded[name], drawn, raw[name])]
        assert zeros[0] >= zeros[1] == zeros[2]
        np.testing.assert_allclose(decoded[name], drawn, atol=1e-6)


def test_settled_cells_stay_as_they_were_drawn():
    _, maps, scores = frames()
    codec = codec_of(scores, maps)
    features = shuffled(codec, scores)
    settled = np.arange(ROWS) < 500

    decoded = codec.decode(*features, Settled(settled))
    as_drawn = codec.decode(*features, Settled(np.full(ROWS, True)))
    computed = codec.decode(*features)

    pd.testing.assert_frame_equal(decoded[:500], as_drawn[:500])
    pd.testing.assert_frame_equal(decoded[500:], computed[500:])
    assert not as_drawn['is_good'].equals(computed['is_good'])


def test_nothing_is_computed_where_every_number_is_continuous():
    _, maps, scores = frames()
    codec = codec_of(scores, maps, max_states=0)
    features = shuffled(codec, scores)

    kept = codec.decode(*features, Settled(np.full(ROWS, True)))

    pd.testing.assert_frame_equal(codec.decode(*features), kept)


@pytest.mark.parametrize(
    ('known', 'restricted', 'expected'),
    [
        ([True, False], False, [True, False]),
        ([False, False], True, [False, True]),
        (None, False, [False, False]),
    ],
)
def test_known_and_restricted_cells_are_settled(known, restricted, expected):
    frame = pd.DataFrame({'x': [1.0, 2.0]})
    cells = pd.DataFrame({} if known is None else {'x': known}, index=frame.index)
    options = [Restriction(low=0), Restriction(missing=True)]
    restrictions = {'x': Restrictions(options, np.array([1, 0]))}

    knowledge = Knowledge(frame, cells, restrictions if restricted else {})

    assert knowledge.is_settled('x').tolist() == expected
