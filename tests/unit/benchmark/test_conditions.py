"""The made-up table of the timings."""

import pandas as pd

from sdv_tabdiff.benchmark.conditions import KNOWN, SDTYPES, known_rows, make_table


class TestMakeTable:
    def test_columns(self):
        rows, metadata = make_table(5000)
        metadata.validate()
        assert rows.shape == (5000, 10)
        assert list(rows.columns) == list(SDTYPES)
        assert rows['age'].dtype.kind == 'i'
        assert rows.isna().any().pipe(lambda gaps: list(gaps.index[gaps])) == ['savings']
        categories = rows[[name for name, kind in SDTYPES.items() if kind == 'categorical']]
        assert sorted(categories.nunique()) == [2, 4, 7, 12]

    def test_seed(self):
        pd.testing.assert_frame_equal(make_table(50, 1)[0], make_table(50, 1)[0])
        assert not make_table(50, 1)[0].equals(make_table(50, 2)[0])

    def test_columns_depend_on_each_other(self):
        rows, _ = make_table(5000)
        assert rows[['age', 'income', 'savings']].corr().to_numpy().min() > 0.1
        assert rows.groupby('region')['product'].nunique().max() < 12
        assert rows.groupby('member')['savings'].apply(lambda gaps: gaps.isna().mean()).min() < 0.2
        assert rows['joined'].astype('int64').corr(rows['age']) < -0.3

    def test_known_columns_are_of_three_kinds(self):
        assert sorted(SDTYPES[name] for name in KNOWN) == ['categorical', 'datetime', 'numerical']


class TestKnownRows:
    def test_all_differ_and_come_from_the_table(self):
        rows, _ = make_table(1500)
        known = known_rows(rows, 1000)
        assert len(known.drop_duplicates()) == 1000
        assert len(known.merge(rows, on=KNOWN)) >= 1000

    def test_no_more_than_there_are(self):
        rows, _ = make_table(20)
        assert len(known_rows(pd.concat([rows, rows]), 30)) == 20
