"""Processed table to tensors and back."""

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sdv_tabdiff.table import TableCodec


def codec_of(frame, **kwargs):
    return TableCodec(**kwargs).fit(frame)


def test_each_kind_of_number_becomes_its_kind_of_feature():
    rng = np.random.default_rng(0)
    smooth = rng.standard_normal(500)
    frame = pd.DataFrame({
        'smooth': smooth,
        'few': rng.integers(0, 4, 500).astype(float),
        'inflated': np.where(rng.random(500) < 0.5, 0.0, smooth),
        'gaps': np.where(rng.random(500) < 0.5, np.nan, smooth),
        'constant': 1.0,
        'label': rng.choice(['a', 'b', 'c'], 500),
    })

    codec = codec_of(frame, categories=['label'])

    assert codec.numerical_names == ['smooth', 'inflated', 'gaps']
    assert dict(zip(codec.categorical_names, codec.levels)) == {
        'inflated': 2,
        'gaps': 2,
        'label': 3,
        'few': 4,
    }
    assert codec.levels == sorted(codec.levels)


def test_numbers_are_standardised_and_missing_where_a_state_says_all():
    frame = pd.DataFrame({'x': np.r_[np.zeros(50), np.arange(1.0, 101.0)]})

    x_num, x_cat = codec_of(frame).encode(frame)

    assert x_num[:50].isnan().all()
    assert x_num[50:].mean().item() == pytest.approx(0, abs=1e-6)
    assert x_num[50:].std(correction=0).item() == pytest.approx(1, abs=1e-6)
    assert x_cat.flatten().tolist() == [0] * 50 + [1] * 100


def test_a_flag_of_missing_values_is_part_of_its_column():
    frame = pd.DataFrame({'x': np.arange(100.0), 'x.is_null': [1.0] * 20 + [0.0] * 80})

    codec = codec_of(frame, null_flags={'x': 'x.is_null'})
    decoded = codec.decode(*codec.encode(frame))

    assert codec.categorical_names == ['x']
    assert decoded['x.is_null'].tolist() == frame['x.is_null'].tolist()
    assert decoded['x'].notna().all()
    np.testing.assert_allclose(decoded['x'][20:], frame['x'][20:], atol=1e-4)


def test_every_number_is_continuous_if_so_wished():
    frame = pd.DataFrame({'x': [0.0, 1.0] * 50})

    codec = codec_of(frame, max_states=0)

    assert codec.num_numerical == 1
    assert codec.levels == []


def test_a_table_in_which_nothing_varies_has_no_features():
    frame = pd.DataFrame({'x': [1.0] * 5, 'y': ['a'] * 5, 'z': [np.nan] * 5})
    codec = codec_of(frame, categories=['y'])

    x_num, x_cat = codec.encode(frame)

    assert x_num.shape == x_cat.shape == (5, 0)
    pd.testing.assert_frame_equal(codec.decode(x_num, x_cat), frame)


def test_numbers_never_leave_the_range_of_the_data():
    frame = pd.DataFrame({'x': np.arange(100.0)})
    codec = codec_of(frame)

    decoded = codec.decode(torch.tensor([[-99.0], [99.0]]), torch.empty(2, 0))

    assert decoded['x'].tolist() == [0.0, 99.0]


COLUMNS = {
    'float': st.one_of(st.floats(-1e6, 1e6).map(lambda x: round(x, 6)), st.none(), st.just(0.0)),
    'integer': st.integers(-5, 5),
    'text': st.one_of(st.text(max_size=3), st.none()),
    'boolean': st.booleans(),
}


@settings(max_examples=150)
@given(
    st.lists(st.fixed_dictionaries(COLUMNS), min_size=1, max_size=40),
    st.sampled_from([0, 3, 128]),
)
def test_any_table_survives_the_round_trip(rows, max_states):
    frame = pd.DataFrame(rows).astype({'float': float, 'text': object})
    codec = codec_of(frame, categories=['text', 'boolean'], max_states=max_states)

    decoded = codec.decode(*codec.encode(frame))

    assert decoded.dtypes.tolist() == frame.dtypes.tolist()
    assert decoded['text'].isna().tolist() == frame['text'].isna().tolist()
    assert decoded['text'].dropna().tolist() == frame['text'].dropna().tolist()
    assert decoded['boolean'].tolist() == frame['boolean'].tolist()
    assert decoded['integer'].tolist() == frame['integer'].tolist()
    # Features are float32: seven digits of the column's spread.
    spread = np.nan_to_num(np.ptp(frame['float'].dropna())) if frame['float'].notna().any() else 0
    np.testing.assert_allclose(decoded['float'], frame['float'], atol=1e-5 * spread, rtol=1e-5)


class TestCoverRanges:
    def fitted(self):
        rng = np.random.default_rng(0)
        numbers = rng.standard_normal(1000)
        frame = pd.DataFrame({
            'plain': numbers,
            'inflated': np.where(numbers > 0, 0.0, numbers),
            'grade': np.clip(np.round(3 * numbers), -9, 9),
            'gaps': np.where(numbers > 0.5, np.nan, np.round(numbers)),
        })
        codec = TableCodec().fit(frame)
        assert codec.num_numerical == 2
        return codec, frame

    def covered(self, rows, draw=0.999):
        """Rows of the table that leave out both ends, before and after covering the ranges."""
        codec, frame = self.fitted()
        inner = frame.sort_values('plain').iloc[20:-20].sample(rows, random_state=0, replace=True)
        features = codec.encode(inner)
        copies = [part.clone() for part in features]

        covered = codec.cover_ranges(*features, torch.full((5, 2), draw))

        for part, copy in zip(features, copies):
            assert torch.equal(part.nan_to_num(), copy.nan_to_num())
        before, after = codec.decode(*features), codec.decode(*covered)
        changed = (before.fillna(99) != after.fillna(99)).sum()
        return frame, after, changed

    def test_as_many_rows_as_there_were_cover_the_range(self):
        frame, made, changed = self.covered(1100)

        for name in frame:
            assert made[name].min() == pytest.approx(frame[name].min())
            assert made[name].max() == pytest.approx(frame[name].max())
        # One row for each end that none had reached; a gap is never one of them.
        assert changed.max() == 2
        assert made['gaps'].isna().any()
        assert made['plain'].nunique() > 500

    def test_a_small_sample_is_left_as_it_is(self):
        _, _, changed = self.covered(400, draw=0.0)

        assert changed.sum() == 0

    @pytest.mark.parametrize(('draw', 'expected'), [(0.45, 2), (0.55, 0)])
    def test_between_chance_decides(self, draw, expected):
        _, _, changed = self.covered(750, draw)

        assert changed['plain'] == changed['grade'] == expected

    def test_ends_that_are_reached_stay(self):
        codec, frame = self.fitted()
        features = codec.encode(frame)

        covered = codec.cover_ranges(*features, torch.zeros((5, 2)))

        for part, same in zip(features, covered):
            assert torch.equal(part.nan_to_num(), same.nan_to_num())


class TestMatchQuantiles:
    def test_only_rows_that_have_a_number_are_moved(self):
        rng = np.random.default_rng(0)
        values = np.where(rng.random(2000) < 0.3, 0.0, rng.normal(size=2000))
        codec = TableCodec().fit(pd.DataFrame({'amount': values}))
        x_num, x_cat = codec.encode(pd.DataFrame({'amount': values}))
        too_small = 0.8 * x_num

        matched = codec.match_quantiles(too_small, x_cat)

        has_number = values != 0
        assert torch.equal(matched.isnan(), x_num.isnan())
        assert matched[has_number].std().item() == pytest.approx(1, abs=0.03)
        assert too_small[has_number].std().item() == pytest.approx(0.8, abs=0.01)
