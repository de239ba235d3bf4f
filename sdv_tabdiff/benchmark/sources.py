"""The paper's seven tables as UCI publishes them, and as the benchmark uses them.

All are under the Creative Commons licence CC BY 4.0. Each function reads the files of one archive
and changes what the TabDiff paper changed: identifiers go, one-hot columns become levels, ``?``
becomes a missing value.
"""

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

Files = Mapping[str, bytes]

ADULT = (
    'age workclass fnlwgt education education.num marital.status occupation relationship race sex '
    'capital.gain capital.loss hours.per.week native.country income'
).split()
MAGIC = 'Length Width Size Conc Conc1 Asym M3Long M3Trans Alpha Dist class'.split()
CHANNELS = [
    f'data_channel_is_{name}'
    for name in ('lifestyle', 'entertainment', 'bus', 'socmed', 'tech', 'world')
]
WEEKDAYS = [
    f'weekday_is_{name}'
    for name in ('monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday')
]
DIABETES_NUMBERS = (
    'num_lab_procedures num_medications number_outpatient number_emergency number_inpatient age '
    'time_in_hospital num_procedures number_diagnoses'
).split()
DIABETES_LEVELS = (
    'race gender admission_type_id discharge_disposition_id admission_source_id diag_1 diag_2 '
    'diag_3 max_glu_serum A1Cresult metformin repaglinide nateglinide chlorpropamide glimepiride '
    'glipizide glyburide tolbutamide pioglitazone rosiglitazone acarbose miglitol tolazamide '
    'insulin glyburide-metformin change diabetesMed readmitted'
).split()


def read_adult(files: Files) -> pd.DataFrame:
    """The official training rows, then the official test rows."""
    parts = [
        pd.read_csv(
            io.BytesIO(files[name]),
            names=ADULT,
            skiprows=skip,
            skipinitialspace=True,
            na_values='?',
            keep_default_na=False,
        )
        for name, skip in (('adult.data', 0), ('adult.test', 1))
    ]
    rows = pd.concat(parts, ignore_index=True)
    return rows.assign(income=rows['income'].str.rstrip('.'))


def read_default(files: Files) -> pd.DataFrame:
    """Credit card clients, from an Excel file with a title above its header."""
    content = io.BytesIO(files['default of credit card clients.xls'])
    return pd.read_excel(content, header=1).drop(columns='ID')


def read_shoppers(files: Files) -> pd.DataFrame:
    """Online shoppers, unchanged."""
    return pd.read_csv(io.BytesIO(files['online_shoppers_intention.csv']))


def read_magic(files: Files) -> pd.DataFrame:
    """Telescope events without the first one, which the reference code takes for a header."""
    return pd.read_csv(io.BytesIO(files['magic04.data']), names=MAGIC, skiprows=1)


def read_beijing(files: Files) -> pd.DataFrame:
    """Hourly air quality without row numbers."""
    content = io.BytesIO(files['PRSA_data_2010.1.1-2014.12.31.csv'])
    return pd.read_csv(content).drop(columns='No')


def read_news(files: Files) -> pd.DataFrame:
    """News articles, their channel and weekday as levels."""
    rows = pd.read_csv(io.BytesIO(files['OnlineNewsPopularity.csv']))
    rows = rows.rename(columns=str.strip)
    levels = {
        'data_channel': rows[CHANNELS].to_numpy().argmax(axis=1),
        'weekday': rows[WEEKDAYS].to_numpy().argmax(axis=1),
    }
    rows = rows.drop(columns=['url', 'is_weekend', *CHANNELS, *WEEKDAYS]).assign(**levels)
    # Counts are published as 4.0; kw_avg_avg and their like are real numbers.
    whole = [name for name in rows if (rows[name] == rows[name].round()).all()]
    return rows.astype(dict.fromkeys(whole, 'int64'))


def read_diabetes(files: Files) -> pd.DataFrame:
    """Hospital stays: decades of age, and whether there was another stay."""
    rows = pd.read_csv(
        io.BytesIO(files['diabetic_data.csv']),
        na_values='?',
        keep_default_na=False,
        low_memory=False,
    )
    rows = rows[[*DIABETES_NUMBERS, *DIABETES_LEVELS]]
    return rows.assign(
        age=rows['age'].str.extract(r'\[(\d+)0-')[0].fillna('0').astype(int),
        readmitted=(rows['readmitted'] != 'NO').astype(int),
        # A reader would take None for a missing value; it says that no test was made.
        **{name: rows[name].replace('None', 'none') for name in ('max_glu_serum', 'A1Cresult')},
    )


def official_split(rows: pd.DataFrame, levels: Sequence[str]) -> dict[str, list[int]]:
    """Adult's: the first 32,561 rows to train on."""
    return {'test_rows': list(range(min(32_561, len(rows) * 2 // 3), len(rows)))}


def shuffled_split(rows: pd.DataFrame, levels: Sequence[str]) -> dict[str, list[int]]:
    """The reference code's: 90 % to train on, such that every level is among them.

    Rows without a target are in neither part; only Beijing has any.
    """
    excluded = np.flatnonzero(rows['pm2.5'].isna()) if 'pm2.5' in rows else np.empty(0, dtype=int)
    used = np.setdiff1d(np.arange(len(rows)), excluded)
    order = np.arange(len(used))
    for seed in range(1234, 1334):
        np.random.RandomState(seed).shuffle(order)  # noqa: NPY002
        train, test = np.split(used[order], [int(0.9 * len(used))])
        if all(rows[name].iloc[train].nunique() == rows[name].nunique() for name in levels):
            break

    return {'test_rows': sorted(test.tolist()), 'excluded_rows': excluded.tolist()}


def stratified_split(rows: pd.DataFrame, levels: Sequence[str]) -> dict[str, list[int]]:
    """Diabetes': 60 % to train on, 20 % each to choose by and to test on."""
    from sklearn.model_selection import train_test_split

    target = rows['readmitted']
    rest, test = train_test_split(
        np.arange(len(rows)), test_size=0.2, stratify=target, random_state=42
    )
    _, chosen = train_test_split(rest, test_size=0.25, stratify=target.iloc[rest], random_state=42)
    return {'val_rows': sorted(chosen.tolist()), 'test_rows': sorted(test.tolist())}


@dataclass(frozen=True)
class Source:
    """Where a table comes from.

    Args:
        path: The archive below UCI's address.
        read: Makes a table of its files.
        levels: The categorical columns; all others are numerical.
        split: Chooses the rows to test on.
    """

    path: str
    read: Callable[[Files], pd.DataFrame]
    levels: Sequence[str]
    split: Callable[[pd.DataFrame, Sequence[str]], dict[str, list[int]]] = shuffled_split


SOURCES = {
    'adult': Source(
        '2/adult.zip',
        read_adult,
        'workclass education marital.status occupation relationship race sex native.country '
        'income'.split(),
        official_split,
    ),
    'default': Source(
        '350/default+of+credit+card+clients.zip',
        read_default,
        'SEX EDUCATION MARRIAGE PAY_0 PAY_2 PAY_3 PAY_4 PAY_5 PAY_6'.split()
        + ['default payment next month'],
    ),
    'shoppers': Source(
        '468/online+shoppers+purchasing+intention+dataset.zip',
        read_shoppers,
        'Month OperatingSystems Browser Region TrafficType VisitorType Weekend Revenue'.split(),
    ),
    'magic': Source('159/magic+gamma+telescope.zip', read_magic, ['class']),
    'beijing': Source(
        '381/beijing+pm2+5+data.zip', read_beijing, 'year month day hour cbwd'.split()
    ),
    'news': Source('332/online+news+popularity.zip', read_news, ['data_channel', 'weekday']),
    'diabetes': Source(
        '296/diabetes+130-us+hospitals+for+years+1999-2008.zip',
        read_diabetes,
        DIABETES_LEVELS,
        stratified_split,
    ),
}
