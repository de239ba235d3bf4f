"""What a user is told when something is wrong."""

import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest
from sdv.errors import InvalidDataError, SynthesizerInputError, SynthesizerProcessingError

from .tables import PEOPLE, fitted, metadata_of, people, people_metadata, quick


@pytest.mark.parametrize(
    ('change', 'named'),
    [
        (lambda data: data.drop(columns='age'), 'age'),
        (lambda data: data.assign(surplus=1), 'surplus'),
        (lambda data: data.assign(age='old'), 'age'),
        (lambda data: data.assign(member='perhaps'), 'member'),
        (lambda data: data.assign(joined='yesterday'), 'joined'),
        (lambda data: data.assign(key='P-00001'), 'key'),
        (lambda data: data.assign(key=[None, *data['key'][1:]]), 'key'),
    ],
    ids=['missing', 'surplus', 'number', 'boolean', 'date', 'repeated key', 'missing key'],
)
def test_data_that_disagrees_with_the_metadata_is_sdvs_error(people_data, change, named):
    with pytest.raises(InvalidDataError, match=named):
        quick(people_metadata()).fit(change(people_data))


@pytest.mark.parametrize('method', ['fit', 'preprocess', 'validate'])
def test_empty_table_is_named(new_synthesizer, people_data, method):
    with pytest.raises(InvalidDataError, match="'people' is empty"):
        getattr(new_synthesizer, method)(people_data.iloc[:0])


@pytest.mark.parametrize('value', [np.inf, -np.inf])
@pytest.mark.parametrize('dtype', ['float64', 'float32', 'Float64'])
def test_infinite_values_are_named(value, dtype):
    data = pd.DataFrame({'good': np.arange(20.0), 'bad': np.arange(20.0)})
    data.loc[3, 'bad'] = value
    synthesizer = quick(metadata_of({'good': 'numerical', 'bad': 'numerical'}))

    with pytest.raises(InvalidDataError, match="'bad'") as caught:
        synthesizer.fit(data.astype({'bad': dtype}))
    assert "'good'" not in str(caught.value)


def test_infinite_values_in_a_category_are_levels():
    data = pd.DataFrame({'a': [np.inf, 1.0] * 20})

    assert set(fitted(data, {'a': 'categorical'}).sample(40)['a']) == {np.inf, 1.0}


def test_all_infinite_columns_are_named_at_once():
    data = pd.DataFrame({'a': [np.inf, 1.0], 'b': [1.0, -np.inf]})
    synthesizer = quick(metadata_of({'a': 'numerical', 'b': 'numerical'}))

    with pytest.raises(InvalidDataError) as caught:
        synthesizer.fit(data)
    assert "'a'" in str(caught.value)
    assert "'b'" in str(caught.value)


def test_a_loss_that_explodes_is_never_a_silent_bad_model():
    synthesizer = quick(people_metadata(), learning_rate=1e30, epochs=20)
    try:
        synthesizer.fit(people())
    except (SynthesizerProcessingError, SynthesizerInputError) as error:
        assert 'learning_rate' in str(error)
    else:
        assert np.isfinite(synthesizer.get_loss_values()['Loss']).all()
        assert synthesizer.sample(20)['age'].between(18, 90).all()


def test_failed_training_is_not_called_fitted():
    synthesizer = quick(people_metadata(), learning_rate=1e30, epochs=20)
    try:
        synthesizer.fit(people())
    except Exception:
        assert not synthesizer.get_info()['is_fit']
    else:
        assert len(synthesizer.sample(1)) == 1


def test_ctrl_c_keeps_the_best_model_so_far_and_says_so():
    synthesizer = fitted(people(), PEOPLE, table={'primary_key': 'key'})  # Warms up.
    synthesizer = quick(
        people_metadata(), epochs=10_000_000, early_stopping=False, max_training_time=60
    )
    main = threading.main_thread().ident
    timer = threading.Timer(1.5, lambda: signal.pthread_kill(main, signal.SIGINT))
    # A job in the background of a shell ignores Ctrl-C unless told otherwise.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer.start()
    started = time.monotonic()
    try:
        with pytest.warns(UserWarning, match='interrupted'):
            synthesizer.fit(people())
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, handler)

    assert time.monotonic() - started < 30
    assert synthesizer.get_info()['is_fit']
    assert len(synthesizer.get_loss_values()) > 1
    assert synthesizer.sample(10)['age'].between(18, 90).all()


def test_error_messages_show_the_value_and_what_is_allowed():
    with pytest.raises(SynthesizerInputError, match=r"-5.*'batch_size'.*at least 1"):
        quick(people_metadata(), batch_size=-5)
