"""Numbers that equal another column in many rows."""

import numpy as np
import pandas as pd
import pytest
import torch

from sdv_tabdiff.columns import Restriction
from sdv_tabdiff.copies import MAX_COPY_SHARE, MIN_COPY_SHARE, Values, find_sources, which_source
from sdv_tabdiff.knowledge import Knowledge, Restrictions, settle_copies
from sdv_tabdiff.number_column import NumberColumn
from sdv_tabdiff.quantiles import QuantileMap
from sdv_tabdiff.table import TableCodec

ROWS = 4000


class Same:
    """Scores that are the values."""

    repeated = np.empty(0)
    step = None

    def forward(self, values):
        return values

    def inverse(self, scores):
        return scores


def values(numbers):
    return Values(Same(), np.asarray(numbers, dtype=float))


def bills(share=0.3, seed=0, missing=0.0):
    """Payments, of which a share equal the bill, on scales of their own."""
    rng = np.random.default_rng(seed)
    bill = np.round(rng.lognormal(7, 1, ROWS), 2)
    bill[rng.random(ROWS) < missing] = np.nan
    part = np.round(rng.lognormal(5, 1, ROWS), 2)
    paid = np.where((rng.random(ROWS) < share) & ~np.isnan(bill), bill, part)
    raw = pd.DataFrame({'bill': bill, 'paid': paid})
    maps = {name: QuantileMap().fit(raw[name].dropna().to_numpy()) for name in raw}
    return raw, maps, raw.apply(lambda column: maps[column.name].forward(column.to_numpy()))


def restored(scores, maps):
    return scores.apply(lambda column: maps[column.name].inverse(column.to_numpy()))


class TestFindSources:
    def test_the_most_frequent_first(self):
        rng = np.random.default_rng(0)
        one, other, column = rng.random((3, ROWS))
        column[:400], column[400:1200] = one[:400], other[400:1200]

        found = find_sources(
            values(column), {'one': values(one), 'other': values(other)}, np.full(ROWS, True)
        )

        assert found == ['other', 'one']

    @pytest.mark.parametrize(
        ('share', 'expected'),
        [(0.8 * MIN_COPY_SHARE, []), (1.2 * MIN_COPY_SHARE, ['source']),
         (0.95 * MAX_COPY_SHARE, ['source']), (1.05 * MAX_COPY_SHARE, [])],
    )  # fmt: skip
    def test_neither_a_few_rows_nor_nearly_all(self, share, expected):
        source, column = np.random.default_rng(0).random((2, ROWS))
        column[: int(share * ROWS)] = source[: int(share * ROWS)]

        assert find_sources(values(column), {'source': values(source)}, np.full(ROWS, True)) == (
            expected
        )

    def test_rows_with_a_state_of_their_own_do_not_count(self):
        column = np.zeros(ROWS)

        assert find_sources(values(column), {'source': values(column)}, np.full(ROWS, False)) == []

    def test_missing_values_are_equal_to_nothing(self):
        gaps = values([np.nan, np.nan, 1.0])

        assert which_source(values([np.nan, 2.0, 1.0]), [gaps]).tolist() == [-1, -1, 0]


class TestCodec:
    def test_equality_is_a_state_and_comes_back_exactly(self):
        raw, maps, scores = bills()
        codec = TableCodec(scales=maps).fit(scores)

        x_num, x_cat = codec.encode(scores)
        again = restored(codec.decode(x_num, x_cat), maps)

        assert codec.levels == [2]
        equal = (raw['bill'] == raw['paid']).to_numpy()
        assert np.array_equal(x_num[:, 1].isnan().numpy(), equal)
        np.testing.assert_allclose(again, raw, rtol=1e-5)
        assert (np.abs(again['bill'] - again['paid']) < 1e-6)[equal].all()

    def test_a_generated_bill_is_paid_to_the_cent(self):
        _, maps, scores = bills()
        codec = TableCodec(scales=maps).fit(scores)
        numbers = torch.randn((500, 2), generator=torch.Generator().manual_seed(0))

        made = restored(codec.decode(numbers, torch.zeros((500, 1), dtype=torch.int64)), maps)

        low, high = maps['paid'].inverse(np.array([-50.0, 50.0]))
        np.testing.assert_allclose(made['paid'], made['bill'].clip(low, high), rtol=1e-9)

    def test_without_a_source_the_number_counts(self):
        raw, maps, scores = bills(missing=0.2)
        codec = TableCodec(scales=maps).fit(scores)
        x_num, x_cat = codec.encode(scores.fillna({'bill': np.nan}))
        everything_paid = x_cat.clone()
        position = codec.categorical_names.index('paid')
        everything_paid[:, position] = 0

        made = restored(codec.decode(x_num.nan_to_num(), everything_paid), maps)

        assert made['paid'].notna().all()
        assert made['bill'].isna().equals(raw['bill'].isna())

    def test_it_takes_a_scale_and_states(self):
        _, maps, scores = bills()

        assert TableCodec().fit(scores).levels == []
        assert TableCodec(scales=maps, max_states=0).fit(scores).levels == []

    @pytest.mark.parametrize(
        ('restriction', 'copies_allowed'),
        [(Restriction(), True), (Restriction(missing=True), True), (Restriction(low=0.0), False)],
    )
    def test_a_range_excludes_copies_of_what_is_not_known(self, restriction, copies_allowed):
        _, maps, scores = bills()
        bill = NumberColumn('bill', scale=maps['bill'])
        bill.fit(scores)
        paid = NumberColumn('paid', scale=maps['paid'], candidates=[bill])
        paid.fit(scores)

        weights = paid.restrict(restriction).log_weights

        assert len(weights) == paid.num_levels == 2
        assert np.isfinite(weights[0]) == copies_allowed
        assert np.isfinite(weights[1])


class TestSettleCopies:
    def settled(self, restrictions=None, **columns):
        _, maps, scores = bills()
        codec = TableCodec(scales=maps).fit(scores)
        frame = pd.DataFrame({
            name: maps[name].forward(np.asarray(column, dtype=float))
            for name, column in columns.items()
        })
        knowledge = Knowledge(frame, frame.notna(), restrictions or {})
        found = settle_copies(knowledge, codec, torch.Generator().manual_seed(0))
        assert list(knowledge.frame.columns) == list(columns)
        return maps, found

    def test_as_often_as_in_the_data_the_source_is_what_the_copy_is(self):
        paid = bills()[0]['paid'].to_numpy()
        maps, found = self.settled(paid=paid)

        known = found.cells('bill')
        bills_known = maps['bill'].inverse(found.frame['bill'].to_numpy())[known]
        assert abs(known.mean() - 0.3) < 4 * np.sqrt(2 * 0.21 / ROWS)
        np.testing.assert_allclose(bills_known, paid[known], rtol=1e-9)

    def test_as_often_as_with_such_a_value(self):
        # The more is paid, the likelier it is all of the bill.
        rng = np.random.default_rng(0)
        bill = rng.uniform(1, 1000, 4000).round(2)
        is_full = rng.random(4000) < bill / 1000
        paid = np.where(is_full, bill, (bill * rng.random(4000)).round(2))
        maps = {'bill': QuantileMap().fit(bill), 'paid': QuantileMap().fit(paid)}
        scores = pd.DataFrame({'bill': bill, 'paid': paid}).apply(
            lambda column: maps[column.name].forward(column.to_numpy())
        )
        codec = TableCodec(scales=maps).fit(scores)
        known = scores.assign(bill=np.nan)

        found = settle_copies(
            Knowledge(known, known.notna()), codec, torch.Generator().manual_seed(0)
        )

        for low, high in ((0, 100), (300, 400), (900, 1000)):
            rows = (paid >= low) & (paid < high)
            truth, share = is_full[rows].mean(), found.cells('bill')[rows].mean()
            assert abs(truth - share) < 4 * np.sqrt(0.5 / rows.sum()) + 0.02

    def test_what_is_known_stays(self):
        maps, found = self.settled(paid=[100.0] * 50, bill=[200.0] * 50)

        assert found.cells('bill').all()
        assert (found.frame['bill'] == maps['bill'].forward(np.array([200.0]))[0]).all()

    def test_a_restricted_source_is_left_open(self):
        restrictions = {'bill': Restrictions([Restriction(low=1.0)], np.zeros(200, dtype=int))}
        _, found = self.settled(restrictions, paid=[100.0] * 200)

        assert not found.cells('bill').any()

    def test_a_value_that_the_source_cannot_have_is_no_copy(self):
        maps, found = self.settled(paid=[0.5] * 200)

        assert maps['bill'].inverse(np.array([-50.0]))[0] > 0.5
        assert not found.cells('bill').any()


def test_whoever_looks_at_a_row_sees_which_column_a_number_equals():
    raw, maps, scores = bills()
    codec = TableCodec(scales=maps).fit(scores)

    seen = codec.appearance(scores)

    np.testing.assert_array_equal(seen[:, -1], np.where(raw['paid'] == raw['bill'], 0, -1))
    np.testing.assert_allclose(seen[:, 0], raw['bill'])
