"""Columns that are made up rather than modelled: keys, ids and personal information."""

import re

import numpy as np
import pandas as pd
import pytest
from rdt.transformers import AnonymizedFaker, RegexGenerator

from sdv_tabdiff import CategoryCodes

from .tables import TABLE, fitted, metadata_of, quick

ROWS = 50
PII = {
    'email': [f'person{row}@real.org' for row in range(ROWS)],
    'name': [f'Real Person {row}' for row in range(ROWS)],
    'first_name': [f'Realname{row}' for row in range(ROWS)],
    'phone_number': [f'555-01{row:02d}-real' for row in range(ROWS)],
    'ssn': [f'000-00-{row:04d}' for row in range(ROWS)],
    'street_address': [f'{row} Real Street' for row in range(ROWS)],
    'ipv4_address': [f'10.0.0.{row}' for row in range(ROWS)],
    'credit_card_number': [str(4 * 10**15 + row) for row in range(ROWS)],
}
NUMBER = {'number': 'numerical'}


def with_number(**columns):
    return pd.DataFrame({**columns, 'number': np.random.default_rng(0).normal(size=ROWS)})


@pytest.mark.parametrize('sdtype', PII)
def test_personal_information_is_made_up(sdtype):
    data = with_number(secret=PII[sdtype])
    sample = fitted(data, {'secret': {'sdtype': sdtype, 'pii': True}, **NUMBER}).sample(100)

    assert not sample['secret'].isin(data['secret']).any()
    assert sample['secret'].notna().all()
    assert sample['secret'].nunique() > 20


def test_personal_information_with_gaps_has_gaps():
    data = with_number(email=[None, 'real@real.org'] * (ROWS // 2))
    sample = fitted(data, {'email': 'email', **NUMBER}).sample(100)

    assert 0.2 < sample['email'].isna().mean() < 0.8


def test_a_table_of_personal_information_only():
    data = pd.DataFrame({'email': PII['email'], 'name': PII['name']})
    synthesizer = fitted(data, {'email': 'email', 'name': 'name'})
    sample = synthesizer.sample(30)

    assert list(sample.columns) == ['email', 'name']
    assert sample.notna().to_numpy().all()
    assert not sample['email'].isin(data['email']).any()


def test_locale_of_personal_information():
    data = with_number(name=PII['name'])
    columns = {'name': 'name', **NUMBER}
    sample = fitted(data, columns, locales=['ja_JP']).sample(20)['name']

    assert all(ord(character) > 0x2FFF for character in sample[0].replace(' ', ''))


def test_non_pii_columns_are_modelled():
    cities = ['Berlin', 'Oslo', 'Rome', 'Oslo', 'Oslo'] * (ROWS // 5)
    synthesizer = fitted(
        with_number(town=cities), {'town': {'sdtype': 'city', 'pii': False}, **NUMBER}
    )

    assert set(synthesizer.sample(100)['town']) == set(cities)
    assert isinstance(synthesizer.get_transformers()['town'], CategoryCodes)


def test_unknown_sdtype_is_anonymised():
    data = with_number(what=[f'thing-{row}' for row in range(ROWS)])
    sample = fitted(data, {'what': 'unknown', **NUMBER}).sample(20)

    assert not sample['what'].isin(data['what']).any()


def test_regex_key_matches_its_pattern_and_is_unique():
    data = with_number(key=[f'AB-{row:04d}' for row in range(ROWS)])
    columns = {'key': {'sdtype': 'id', 'regex_format': 'AB-[0-9]{4}'}, **NUMBER}
    synthesizer = fitted(data, columns, table={'primary_key': 'key'})
    sample = synthesizer.sample(200)

    assert isinstance(synthesizer.get_transformers()['key'], RegexGenerator)
    assert sample['key'].map(lambda key: bool(re.fullmatch('AB-[0-9]{4}', key))).all()
    assert sample['key'].is_unique


@pytest.mark.parametrize('key', [list(range(ROWS)), [f'k{row}' for row in range(ROWS)]])
def test_key_without_pattern_is_unique_and_keeps_its_dtype(key):
    data = with_number(key=key)
    sample = fitted(data, {'key': 'id', **NUMBER}, table={'primary_key': 'key'}).sample(300)

    assert sample['key'].is_unique
    assert sample['key'].dtype == data['key'].dtype


def test_personal_information_as_a_key_is_unique():
    data = with_number(email=PII['email'])
    synthesizer = fitted(data, {'email': 'email', **NUMBER}, table={'primary_key': 'email'})
    sample = synthesizer.sample(200)

    assert isinstance(synthesizer.get_transformers()['email'], AnonymizedFaker)
    assert sample['email'].is_unique
    assert not sample['email'].isin(data['email']).any()


def test_alternate_keys_are_unique():
    data = with_number(
        key=range(ROWS), email=PII['email'], code=[f'C{row:03d}' for row in range(ROWS)]
    )
    columns = {
        'key': 'id',
        'email': 'email',
        'code': {'sdtype': 'id', 'regex_format': 'C[0-9]{3}'},
        **NUMBER,
    }
    table = {'primary_key': 'key', 'alternate_keys': ['email', 'code']}
    synthesizer = fitted(data, columns, table=table)
    sample = synthesizer.sample(150)

    assert sample[['key', 'email', 'code']].nunique().tolist() == [150, 150, 150]
    synthesizer.get_metadata().validate_data({TABLE: sample})


def test_id_without_pattern_that_is_no_key_has_the_ids_of_the_data():
    ids = [f'shop {row % 4}' for row in range(ROWS)]
    synthesizer = fitted(with_number(shop=ids), {'shop': 'id', **NUMBER})

    assert set(synthesizer.sample(100)['shop']) <= set(ids)


def test_whole_number_id_that_is_no_key_keeps_its_dtype():
    ids = pd.Series(range(ROWS)) % 4 + 10
    sample = fitted(with_number(shop=ids), {'shop': 'id', **NUMBER}).sample(100)

    assert sample['shop'].dtype == ids.dtype
    assert sample['shop'].isin(ids).all()


def test_id_with_gaps_that_is_no_key_has_gaps():
    ids = [None, 'a', 'b', 'a', 'b'] * (ROWS // 5)
    sample = fitted(with_number(shop=ids), {'shop': 'id', **NUMBER}).sample(200)

    assert set(sample['shop'].dropna()) <= {'a', 'b'}
    assert sample['shop'].isna().any()


def test_id_with_a_pattern_that_is_no_key_matches_it():
    data = with_number(code=[f'{row:03d}' for row in range(ROWS)])
    columns = {'code': {'sdtype': 'id', 'regex_format': '[0-9]{3}'}, **NUMBER}
    sample = fitted(data, columns).sample(60)

    assert sample['code'].map(lambda code: bool(re.fullmatch('[0-9]{3}', code))).all()


@pytest.mark.parametrize('rows', [0, 1, 40])
def test_a_table_of_keys_only(rows):
    data = pd.DataFrame({'key': range(ROWS), 'other': [f'o{row}' for row in range(ROWS)]})
    table = {'primary_key': 'key', 'alternate_keys': ['other']}
    synthesizer = fitted(data, {'key': 'id', 'other': 'id'}, table=table)
    sample = synthesizer.sample(rows)

    assert len(sample) == rows
    assert list(sample.columns) == ['key', 'other']
    assert sample['key'].is_unique


def test_a_table_of_keys_only_can_be_reset_and_reported():
    data = pd.DataFrame({'key': range(ROWS)})
    synthesizer = fitted(data, {'key': 'id'}, table={'primary_key': 'key'})
    first = synthesizer.sample(5)
    synthesizer.reset_sampling()

    pd.testing.assert_frame_equal(first, synthesizer.sample(5))
    assert synthesizer.get_loss_values().empty
    assert synthesizer.get_noise_schedules().empty
    assert synthesizer.get_loss_values_plot().layout.title.text


def test_refit_from_modelled_columns_to_keys_only_and_back():
    data = with_number(key=range(ROWS))
    synthesizer = quick(metadata_of({'key': 'id', **NUMBER}, primary_key='key'))
    synthesizer.fit(data)
    synthesizer.fit(data.assign(number=1.0))
    assert (synthesizer.sample(5)['number'] == 1.0).all()

    synthesizer.fit(data)
    assert synthesizer.sample(20)['number'].nunique() > 5


def test_keys_do_not_depend_on_where_the_key_column_stands():
    data = with_number(key=[f'K{row:04d}' for row in range(ROWS)])
    columns = {**NUMBER, 'key': {'sdtype': 'id', 'regex_format': 'K[0-9]{4}'}}
    sample = fitted(data[['number', 'key']], columns, table={'primary_key': 'key'}).sample(30)

    assert list(sample.columns) == ['number', 'key']
    assert sample['key'].is_unique
