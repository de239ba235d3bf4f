"""Odd tables with odd requests: what is given comes back, and no hole stays."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from sdv_tabdiff import Between, OneOf, TabDiffSynthesizer

from .test_any_table import KINDS, metadata_of, tables

ORDERED = ['numerical', 'datetime']


def few(max_examples):
    return settings(
        max_examples=max_examples,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )


def fit(frame):
    synthesizer = TabDiffSynthesizer(
        metadata_of(frame),
        epochs=1,
        sampling_steps=3,
        trunk_dims=(8,),
        enable_gpu=False,
        random_state=0,
    )
    synthesizer.fit(frame)
    return synthesizer


def same(left, right):
    """Whether two columns hold the same values, bit for bit, and are missing in the same rows."""
    left, right = left.astype(object).tolist(), right.astype(object).tolist()
    pairs = zip(left, right, strict=True)
    return all(pd.isna(b) if pd.isna(a) else bool(a == b) for a, b in pairs)


def some_columns(draw, frame):
    names = st.lists(st.sampled_from(list(frame.columns)), min_size=1, unique=True)
    return draw(names)


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        yield


@few(20)
@given(tables(), st.data())
def test_any_cells_of_the_data_may_be_known(frame, data):
    names = some_columns(data.draw, frame)
    order = data.draw(st.permutations(range(len(frame))))
    known = frame[names].iloc[order]
    before = known.copy(deep=True)
    rows = fit(frame).sample_remaining_columns(known)

    assert rows.index.tolist() == known.index.tolist()
    assert list(rows.columns) == list(frame.columns)
    assert rows.dtypes.tolist() == frame.dtypes.tolist()
    assert all(same(rows[name], known[name]) for name in names)
    pd.testing.assert_frame_equal(known, before)


@few(20)
@given(tables(), st.data())
def test_any_range_and_set_is_kept_to(frame, data):
    limits = {}
    for name in some_columns(data.draw, frame):
        present = frame[name].dropna()
        sdtype = KINDS[name][0]['sdtype']
        if len(present) == 0:
            continue
        picked = [present.iloc[row] for row in data.draw(st.tuples(*[row_of(present)] * 2))]
        if sdtype in ORDERED:
            limits[name] = Between(*sorted(picked, key=lambda value: point(name, value)))
        else:
            missing = [None] if frame[name].isna().any() else []
            limits[name] = OneOf(picked + missing)

    if not limits:
        return

    known = pd.DataFrame({name: [limit] * 10 for name, limit in limits.items()})
    rows = fit(frame).sample_remaining_columns(known)

    assert len(rows) == 10
    assert rows.dtypes.tolist() == frame.dtypes.tolist()
    for name, limit in limits.items():
        if isinstance(limit, OneOf):
            assert all(value in limit.choices for value in rows[name].dropna())
            assert None in limit.choices or rows[name].notna().all()
        else:
            low, high = point(name, limit.low), point(name, limit.high)
            assert all(low <= point(name, value) <= high for value in rows[name])


def row_of(column):
    return st.integers(0, len(column) - 1)


def point(name, value):
    return pd.to_datetime(value, format='%d.%m.%Y') if name == 'day' else value


@few(20)
@given(tables(), st.sampled_from(['draw', 'mean', 'median']), st.integers(0, 2**16))
def test_any_holes_are_filled(frame, method, seed):
    synthesizer = fit(frame)
    rng = np.random.default_rng(seed)
    holed = pd.DataFrame({
        name: (frame[name].astype(object) if frame[name].dtype == bool else frame[name]).mask(
            rng.random(len(frame)) < 0.4
        )
        for name in frame
    })
    before = holed.copy(deep=True)
    filled = synthesizer.impute(holed, method=method, num_draws=1, random_state=seed)

    pd.testing.assert_frame_equal(holed, before)
    assert filled.index.equals(holed.index)
    assert filled.dtypes.tolist() == holed.dtypes.tolist()
    for name in frame:
        there = holed[name].notna()
        assert same(filled[name][there], holed[name][there])
        assert filled[name].notna().all() or frame[name].isna().all()

    for shares in synthesizer.impute_probabilities(holed).values():
        assert np.allclose(shares.sum(axis=1), 1, atol=1e-5)
