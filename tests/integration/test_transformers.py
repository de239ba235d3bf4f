"""Which transformers are assigned, and replacing them."""

import warnings

import numpy as np
import pandas as pd
import pytest
from rdt.transformers import (
    AnonymizedFaker,
    BinaryEncoder,
    ClusterBasedNormalizer,
    FloatFormatter,
    GaussianNormalizer,
    LabelEncoder,
    OneHotEncoder,
    OptimizedTimestampEncoder,
    OrderedLabelEncoder,
    PseudoAnonymizedFaker,
    RegexGenerator,
    UniformEncoder,
    UnixTimestampEncoder,
)
from sdv.errors import RefitWarning, SynthesizerInputError
from sdv.single_table import CTGANSynthesizer, GaussianCopulaSynthesizer

from sdv_tabdiff import CategoryCodes, DatetimeQuantileNormalizer, QuantileNormalizer

from .tables import (
    PEOPLE,
    SDV_2,
    TABLE,
    for_reference,
    metadata_of,
    needs_sdv_2,
    people_metadata,
    quick,
)

DEFAULTS = {
    'key': RegexGenerator,
    'age': QuantileNormalizer,
    'income': QuantileNormalizer,
    'job': CategoryCodes,
    'member': CategoryCodes,
    'joined': DatetimeQuantileNormalizer,
    'email': AnonymizedFaker,
}

DATES = {'datetime_format': '%Y-%m-%d'}

REPLACEMENTS = [
    ('age', FloatFormatter, {}),
    ('age', FloatFormatter, {'missing_value_generation': 'from_column'}),
    ('income', FloatFormatter, {}),
    ('income', FloatFormatter, {'missing_value_generation': 'from_column'}),
    ('income', FloatFormatter, {'missing_value_generation': None}),
    ('income', GaussianNormalizer, {}),
    ('income', ClusterBasedNormalizer, {}),
    ('income', QuantileNormalizer, {'missing_value_generation': 'random'}),
    ('income', QuantileNormalizer, {'missing_value_generation': None}),
    ('income', QuantileNormalizer, {'max_knots': 5}),
    ('job', LabelEncoder, {}),
    ('job', LabelEncoder, {'add_noise': True}),
    ('job', UniformEncoder, {}),
    ('job', OneHotEncoder, {}),
    ('job', CategoryCodes, {'order_by': 'alphabetical'}),
    ('job', None, {}),
    ('member', BinaryEncoder, {}),
    ('member', LabelEncoder, {}),
    ('member', UniformEncoder, {}),
    ('member', OneHotEncoder, {}),
    ('member', None, {}),
    ('joined', UnixTimestampEncoder, DATES),
    ('joined', OptimizedTimestampEncoder, DATES),
    ('joined', UnixTimestampEncoder, {**DATES, 'missing_value_generation': 'from_column'}),
    ('email', AnonymizedFaker, {'provider_name': 'internet', 'function_name': 'ipv4'}),
    ('email', PseudoAnonymizedFaker, {'provider_name': 'internet', 'function_name': 'email'}),
    ('key', AnonymizedFaker, {'function_name': 'bothify', 'cardinality_rule': 'unique'}),
]


def replace(synthesizer, data, replacements):
    with warnings.catch_warnings():
        warnings.filterwarnings('ignore', 'Replacing the default transformer')
        synthesizer.auto_assign_transformers(data)
        synthesizer.update_transformers(replacements)


def test_get_transformers_before_fit_says_how_to_get_them(new_synthesizer):
    with pytest.raises(ValueError, match='auto_assign_transformers'):
        new_synthesizer.get_transformers()


def test_auto_assign_shows_our_defaults_in_the_order_of_the_columns(new_synthesizer, people_data):
    new_synthesizer.auto_assign_transformers(people_data)
    assigned = new_synthesizer.get_transformers()

    assert list(assigned) == list(DEFAULTS)
    assert {name: type(transformer) for name, transformer in assigned.items()} == DEFAULTS


def test_fit_uses_our_defaults(people_synthesizer):
    used = people_synthesizer.get_transformers()

    assert {name: type(transformer) for name, transformer in used.items()} == DEFAULTS


@needs_sdv_2
def test_ordinal_column_gets_codes_in_the_order_of_the_metadata():
    order = ['low', 'middle', 'high']
    metadata = metadata_of({'level': {'sdtype': 'ordinal', 'range_values': order}})
    data = pd.DataFrame({'level': ['high', 'low', 'middle', 'low'] * 5})
    synthesizer = quick(metadata)
    processed = synthesizer.preprocess(data)

    assert isinstance(synthesizer.get_transformers()['level'], CategoryCodes)
    assert processed['level'].tolist() == [2, 0, 1, 0] * 5


@needs_sdv_2
@pytest.mark.parametrize('method', ['get_transformers', 'update_transformers'])
def test_wrong_table_name_is_refused(new_synthesizer, people_data, method):
    new_synthesizer.auto_assign_transformers(people_data)
    arguments = [{}] if method == 'update_transformers' else []

    with pytest.raises(ValueError, match='nowhere'):
        getattr(new_synthesizer, method)(*arguments, table_name='nowhere')


@needs_sdv_2
def test_right_table_name_is_accepted(new_synthesizer, people_data):
    new_synthesizer.auto_assign_transformers(people_data)
    new_synthesizer.update_transformers({'age': FloatFormatter()}, table_name=TABLE)

    assert isinstance(new_synthesizer.get_transformers(TABLE)['age'], FloatFormatter)


@pytest.mark.parametrize(('column', 'kind', 'arguments'), REPLACEMENTS)
def test_any_transformer_of_rdt_may_replace_a_default(column, kind, arguments, people_data):
    synthesizer = quick(people_metadata())
    transformer = kind and kind(**arguments)
    replace(synthesizer, people_data, {column: transformer})
    synthesizer.fit(people_data)
    sample = synthesizer.sample(40)

    assert type(synthesizer.get_transformers()[column]) is type(transformer)
    synthesizer.get_metadata().validate_data({TABLE: sample})
    assert list(sample.columns) == list(people_data.columns)
    assert sample['job'].dropna().isin(people_data['job'].dropna()).all()
    assert sample['member'].isin([True, False]).all()
    assert sample['income'].dropna().between(*people_data['income'].agg(['min', 'max'])).all()
    assert sample['joined'].between(people_data['joined'].min(), people_data['joined'].max()).all()
    assert sample['age'].notna().all()


def test_replacing_all_transformers_at_once_works(people_data):
    synthesizer = quick(people_metadata())
    replacements = {
        'age': FloatFormatter(),
        'income': GaussianNormalizer(),
        'job': OneHotEncoder(),
        'member': UniformEncoder(),
        'joined': UnixTimestampEncoder(datetime_format='%Y-%m-%d'),
    }
    replace(synthesizer, people_data, replacements)
    synthesizer.fit(people_data)

    synthesizer.get_metadata().validate_data({TABLE: synthesizer.sample(30)})


def test_ordered_label_encoder_may_replace_the_default(people_data):
    data = people_data.dropna(subset=['job']).reset_index(drop=True)
    synthesizer = quick(people_metadata())
    replace(synthesizer, data, {'job': OrderedLabelEncoder(order=['cook', 'nurse', 'smith'])})
    synthesizer.fit(data)

    assert set(synthesizer.sample(60)['job']) <= {'cook', 'nurse', 'smith'}


def test_one_hot_encoded_category_keeps_its_levels_apart(people_data):
    synthesizer = quick(people_metadata())
    replace(synthesizer, people_data, {'job': OneHotEncoder()})
    processed = synthesizer.preprocess(people_data)

    assert {'job.value0', 'job.value1', 'job.value2', 'job.value3'} <= set(processed.columns)


def test_update_before_assignment_is_an_error(new_synthesizer):
    with pytest.raises(Exception, match='prepared for fitting'):
        new_synthesizer.update_transformers({'age': FloatFormatter()})


def test_update_after_fit_warns_that_a_refit_is_needed(people_data, new_synthesizer):
    new_synthesizer.fit(people_data)

    with pytest.warns(RefitWarning, match='refit'):
        new_synthesizer.update_transformers({'age': FloatFormatter()})


def test_sampling_still_works_between_update_and_refit(people_data, new_synthesizer):
    new_synthesizer.fit(people_data)
    with pytest.warns(RefitWarning):
        new_synthesizer.update_transformers({'age': FloatFormatter()})

    new_synthesizer.fit(people_data)

    assert isinstance(new_synthesizer.get_transformers()['age'], FloatFormatter)
    assert len(new_synthesizer.sample(5)) == 5


def test_key_needs_a_generator(new_synthesizer, people_data):
    new_synthesizer.auto_assign_transformers(people_data)

    with pytest.raises(SynthesizerInputError, match="'key' is a key"):
        new_synthesizer.update_transformers({'key': LabelEncoder()})


def test_fitted_transformer_is_refused(new_synthesizer, people_data):
    transformer = FloatFormatter()
    transformer.fit(people_data, 'age')
    new_synthesizer.auto_assign_transformers(people_data)

    with pytest.raises(SynthesizerInputError, match='already been fit'):
        new_synthesizer.update_transformers({'age': transformer})


def test_transformer_of_another_sdtype_is_refused(new_synthesizer, people_data):
    new_synthesizer.auto_assign_transformers(people_data)

    with pytest.raises(Exception, match='LabelEncoder|age'):
        new_synthesizer.update_transformers({'age': LabelEncoder()})


def test_transformer_of_an_unknown_column_is_refused(new_synthesizer, people_data):
    new_synthesizer.auto_assign_transformers(people_data)

    with pytest.raises(Exception, match='nowhere'):
        new_synthesizer.update_transformers({'nowhere': FloatFormatter()})


@pytest.mark.parametrize('synthesizer_class', [GaussianCopulaSynthesizer, CTGANSynthesizer])
@pytest.mark.parametrize(
    ('column', 'kind', 'arguments'),
    [
        ('age', QuantileNormalizer, {}),
        ('income', QuantileNormalizer, {}),
        ('joined', DatetimeQuantileNormalizer, DATES),
        ('job', CategoryCodes, {}),
    ],
)
def test_our_transformers_work_in_sdvs_own_synthesizers(
    synthesizer_class, column, kind, arguments, people_data
):
    parameters = {'epochs': 1, 'batch_size': 20} if synthesizer_class is CTGANSynthesizer else {}
    synthesizer = synthesizer_class(people_metadata(), **parameters)
    replace(synthesizer, for_reference(people_data), {column: kind(**arguments)})
    synthesizer.fit(for_reference(people_data))
    sample = synthesizer.sample(50)
    sample = (sample[TABLE] if SDV_2 else sample)[column].dropna()

    assert len(sample) > 20
    assert sample.dtype == people_data[column].dtype
    assert sample.between(
        people_data[column].dropna().min(), people_data[column].dropna().max()
    ).all()


def test_processed_data_is_numbers_only(new_synthesizer, people_data):
    processed = new_synthesizer.preprocess(people_data)

    assert all(np.issubdtype(dtype, np.number) for dtype in processed.dtypes)
    assert not processed.isna().to_numpy().any()
    assert not {'key', 'email'} & set(processed.columns)
    assert set(PEOPLE) - {'key', 'email'} <= set(processed.columns)
