"""What is known of a computed column, and what that says of the column it is computed from."""

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import norm

from sdv_tabdiff.columns import Restriction
from sdv_tabdiff.knowledge import Knowledge, Restrictions
from sdv_tabdiff.origins import settle_origins
from sdv_tabdiff.quantiles import QuantileMap
from sdv_tabdiff.table import TableCodec

ROWS = 4000
MEAN = 0.7


def frame():
    """A mood with its strength, and marks with their class and with points."""
    rng = np.random.default_rng(0)
    mood = rng.normal(MEAN, 1, ROWS)
    marks = rng.integers(0, 101, ROWS).astype(float)
    return pd.DataFrame({
        'mood': mood,
        'strength': np.abs(mood),
        'marks': marks,
        'class': np.digitize(marks, [40, 60, 80]).astype(float),
        'points': 3 * marks + 5,
        'other': rng.normal(size=ROWS),
    })


MAPS = {name: QuantileMap().fit(column.to_numpy()) for name, column in frame().items()}
CODEC = TableCodec(scales=MAPS).fit(frame().apply(lambda part: MAPS[part.name].forward(part)))


def settled(restrictions=None, **columns):
    """What is known after settling, from known values."""
    known = pd.DataFrame(columns, dtype=float)
    scores = known.apply(lambda part: MAPS[part.name].forward(part.to_numpy()))
    knowledge = Knowledge(scores, known.notna(), restrictions or {})
    return settle_origins(knowledge, CODEC, torch.Generator().manual_seed(0))


def values(knowledge, name):
    found = MAPS[name].inverse(knowledge.frame[name].to_numpy())
    return found[knowledge.cells(name)]


def within(name, low, high, rows):
    ends = MAPS[name].forward(np.array([low, high], dtype=float))
    return {name: Restrictions([Restriction(*ends)], np.zeros(rows, dtype=int))}


def test_what_follows_from_what():
    found = {(source.name, target.name) for _, source, target in CODEC.determined}

    assert found == {('mood', 'strength'), ('marks', 'class'), ('marks', 'points')}


def test_another_unit_says_all():
    found = settled(points=[5, 152, 305])

    np.testing.assert_allclose(values(found, 'marks'), [0, 49, 100], atol=1e-6)


def test_a_class_says_where_to_look():
    found = settled(**{'class': [1, 3, np.nan]})
    restrictions = found.restrictions['marks']

    assert not found.cells('marks').any()
    assert restrictions.binding.tolist() == [True, True, False]
    ends = [
        MAPS['marks'].inverse(np.array([option.low, option.high]))
        for option in (restrictions.options[index] for index in restrictions.index[:2])
    ]
    np.testing.assert_allclose(ends, [[40, 59], [80, 100]], atol=1e-6)
    assert found.is_settled('class').tolist() == [True, True, False]


def test_a_strength_is_that_of_either_mood_as_often_as_in_the_data():
    found = settled(strength=np.full(3000, 0.5))
    moods = values(found, 'mood')

    np.testing.assert_allclose(np.abs(moods), 0.5, atol=1e-3)
    share = norm.pdf(0.5, MEAN) / (norm.pdf(0.5, MEAN) + norm.pdf(-0.5, MEAN))
    # The rows of the data from 0.46 to 0.54 are about 200; those drawn are 3,000.
    allowed = 4 * np.sqrt(share * (1 - share) * (1 / 200 + 1 / 3000))
    assert abs((moods > 0).mean() - share) < allowed


def test_a_range_is_met_by_what_it_follows_from():
    found = settled(within('points', 35, 65, 2), other=[0.0, 1.0])
    (option,) = found.restrictions['marks'].options

    ends = MAPS['marks'].inverse(np.array([option.low, option.high]))
    np.testing.assert_allclose(ends, [10, 20], atol=1e-6)
    assert found.is_settled('marks').all()
    # Its points are to be computed, then.
    assert not found.is_settled('points').any()
    assert not found.take(np.array([1])).is_settled('points').any()


def test_what_is_known_of_the_source_stays():
    restrictions = within('marks', 0, 10, 2)

    found = settled(restrictions, points=[50.0, 80.0])
    assert found.restrictions == restrictions
    assert not found.cells('marks').any()

    found = settled(points=[50.0, 80.0], marks=[99.0, np.nan])
    np.testing.assert_allclose(values(found, 'marks'), [99, 25], atol=1e-6)


def test_other_rows_keep_their_restrictions():
    low = Restriction(high=MAPS['marks'].forward(np.array([10.0]))[0])
    restrictions = {'marks': Restrictions([low], np.array([0, -1]))}

    found = settled(restrictions, **{'class': [np.nan, 2.0]}).restrictions['marks']

    assert found.options[found.index[0]] == low
    assert found.binding.tolist() == [True, True]
    assert restrictions['marks'].index.tolist() == [0, -1]


@pytest.mark.parametrize('column', ['strength', 'points', 'class'])
def test_what_comes_from_nowhere_says_nothing(column):
    missing = {column: Restrictions([Restriction(missing=True)], np.zeros(2, dtype=int))}
    for found in (settled(**{column: [np.nan, np.nan]}), settled(missing, other=[1.0, 2.0])):
        assert not found.is_settled('marks').any()
        assert not found.is_settled('mood').any()


def test_from_one_to_the_next():
    rng = np.random.default_rng(1)
    first = rng.integers(0, 1000, 2000).astype(float)
    chain = pd.DataFrame({'c': 2 * (first + 7), 'b': first + 7, 'a': np.minimum(first, 500)})
    maps = {name: QuantileMap().fit(column.to_numpy()) for name, column in chain.items()}
    scores = chain.apply(lambda part: maps[part.name].forward(part.to_numpy()))
    codec = TableCodec(scales=maps).fit(scores)
    known = scores.head(50).assign(a=np.nan, b=np.nan)

    found = settle_origins(Knowledge(known, known.notna()), codec, torch.Generator().manual_seed(0))

    assert {target.name for _, _, target in codec.determined} == {'c', 'a'}
    np.testing.assert_allclose(maps['b'].inverse(found.frame['b'].to_numpy()), chain['b'][:50])
