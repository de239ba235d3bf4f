"""Odd tables through the public API: whatever SDV accepts fits, samples and keeps its promises."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sdmetrics.reports import DiagnosticReport
from sdv.metadata import Metadata

from sdv_tabdiff import TabDiffSynthesizer

DATES = st.dates(pd.Timestamp('1990-01-01').date(), pd.Timestamp('2040-12-31').date())

# Each kind of column: its metadata, a strategy for one value, and the dtype to store it in.
KINDS = {
    'float': ({'sdtype': 'numerical'}, st.floats(-1e9, 1e9).map(lambda x: round(x, 4)), float),
    'tiny': ({'sdtype': 'numerical'}, st.floats(-1e-6, 1e-6), float),
    'integer': ({'sdtype': 'numerical'}, st.integers(-(2**40), 2**40), 'int64'),
    'small': ({'sdtype': 'numerical'}, st.integers(-100, 100), 'int8'),
    'nullable': ({'sdtype': 'numerical'}, st.none() | st.integers(0, 9), 'Int64'),
    'gaps': ({'sdtype': 'numerical'}, st.none() | st.floats(0, 1), float),
    'constant': ({'sdtype': 'numerical'}, st.just(3.5), float),
    'empty': ({'sdtype': 'numerical'}, st.none(), float),
    'text': ({'sdtype': 'categorical'}, st.none() | st.text(max_size=4), object),
    'label': ({'sdtype': 'categorical'}, st.sampled_from(['a', 'b']), 'category'),
    'code': ({'sdtype': 'categorical'}, st.integers(0, 5), 'int64'),
    'flag': ({'sdtype': 'boolean'}, st.booleans(), bool),
    'maybe': ({'sdtype': 'boolean'}, st.none() | st.booleans(), object),
    'day': (
        {'sdtype': 'datetime', 'datetime_format': '%d.%m.%Y'},
        st.none() | DATES.map(lambda day: day.strftime('%d.%m.%Y')),
        object,
    ),
    'moment': ({'sdtype': 'datetime'}, DATES.map(pd.Timestamp), 'datetime64[ns]'),
}


@st.composite
def tables(draw):
    kinds = draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=6, unique=True))
    num_rows = draw(st.integers(1, 25))
    columns = {
        kind: pd.Series(
            draw(st.lists(KINDS[kind][1], min_size=num_rows, max_size=num_rows)),
            dtype=KINDS[kind][2],
        )
        for kind in kinds
    }
    return pd.DataFrame(columns)


def metadata_of(frame):
    columns = {kind: KINDS[kind][0] for kind in frame}
    return Metadata.load_from_dict({'tables': {'table': {'columns': columns}}})


def fit_and_sample(frame, metadata):
    synthesizer = TabDiffSynthesizer(
        metadata, epochs=1, sampling_steps=3, trunk_dims=(8,), random_state=0
    )
    synthesizer.fit(frame)
    return synthesizer.sample(30)


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        yield


@settings(
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(tables())
def test_any_table_fits_and_samples(frame):
    original = frame.copy()

    sampled = fit_and_sample(frame, metadata_of(frame))

    pd.testing.assert_frame_equal(frame, original)
    assert list(sampled.columns) == list(frame.columns)
    assert len(sampled) == 30
    assert sampled.dtypes.tolist() == frame.dtypes.tolist()
    for kind in frame:
        assert frame[kind].isna().any() or sampled[kind].notna().all()
        assert frame[kind].notna().any() or sampled[kind].isna().all()

    numbers = [kind for kind in frame if KINDS[kind][0]['sdtype'] == 'numerical']
    for kind in numbers:
        present = sampled[kind].dropna().to_numpy(dtype=np.float64)
        known = frame[kind].dropna().to_numpy(dtype=np.float64)
        assert len(present) == 0 or (known.min() <= present.min() <= present.max() <= known.max())


@settings(
    max_examples=15,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(tables())
def test_any_table_gets_a_perfect_diagnostic_score(frame):
    metadata = metadata_of(frame)
    sampled = fit_and_sample(frame, metadata)
    report = DiagnosticReport()

    report.generate({'table': frame}, {'table': sampled}, metadata.to_dict(), verbose=False)

    score = report.get_score()
    # SDMetrics has no score for a table with nothing to check, such as one empty column.
    assert score == 1.0 or np.isnan(score)
