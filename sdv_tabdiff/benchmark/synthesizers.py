"""The synthesizers to compare: TabDiff in any variant, those of SDV, and others."""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pandas as pd
from sdv.metadata import Metadata
from sdv.single_table import (
    CTGANSynthesizer,
    GaussianCopulaSynthesizer,
    TVAESynthesizer,
)

from sdv_tabdiff.benchmark.tables import BenchmarkError
from sdv_tabdiff.benchmark.timing import seconds_of
from sdv_tabdiff.parameters import PAPER
from sdv_tabdiff.sdv_versions import from_sdv
from sdv_tabdiff.synthesizer import TabDiffSynthesizer

TABDIFF, BOOTSTRAP, MOSTLYAI = 'TabDiff', 'Bootstrap', 'MostlyAI'
PEERS = {
    'CTGAN': CTGANSynthesizer,
    'TVAE': TVAESynthesizer,
    'GaussianCopula': GaussianCopulaSynthesizer,
}
BY_EPOCHS = ('CTGAN', 'TVAE')
MANY_EPOCHS = 1_000_000
DEFAULT_NAMES = (TABDIFF, *PEERS)
NAMES = (*DEFAULT_NAMES, MOSTLYAI, BOOTSTRAP)

# The four corners of the paper's ablation, on top of whatever else a variant says.
ABLATION: dict[str, dict[str, Any]] = {
    f'{schedules}-{sampler}': {
        'learnable_schedules': schedules == 'learnable',
        'stochastic_sampler': sampler == 'stochastic',
    }
    for schedules in ('fixed', 'learnable')
    for sampler in ('deterministic', 'stochastic')
}


@dataclass(frozen=True)
class Variant:
    """TabDiff with parameters of its own."""

    name: str = ''
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """What to call it in a table."""
        return f'{TABDIFF} {self.name}'.strip()


def variants(text: str) -> list[Variant]:
    """The variants that a word of the command line stands for.

    Args:
        text (str):
            ``default``, ``PAPER``, ``ablation`` (the four corners on top of the default),
            ``PAPER-ablation``, one of the corners, such as ``fixed-stochastic``, or
            ``NAME={...}`` with parameters in JSON.

    Raises:
        BenchmarkError:
            If it stands for nothing.
    """
    name, equals, content = text.partition('=')
    if equals:
        return [Variant(name.strip(), _json(content))]
    if name in ABLATION:
        return [Variant(name, ABLATION[name])]

    known = {
        'default': [Variant()],
        'PAPER': [Variant('PAPER', PAPER)],
        'ablation': [Variant(corner, values) for corner, values in ABLATION.items()],
        'PAPER-ablation': [
            Variant(f'PAPER {corner}', {**PAPER, **values}) for corner, values in ABLATION.items()
        ],
    }
    if name not in known:
        words = ', '.join([*known, *ABLATION])
        raise BenchmarkError(f"'{text}' is none of {words}, nor NAME={{...}} in JSON.")

    return known[name]


def _json(text: str) -> dict[str, Any]:
    try:
        parameters = json.loads(text)
    except ValueError as error:
        raise BenchmarkError(f"'{text}' is not JSON: {error}.") from error

    if not isinstance(parameters, dict):
        raise BenchmarkError(f'\'{text}\' must be parameters by name, as in {{"epochs": 10}}.')

    return {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in parameters.items()
    }


class Bootstrap:
    """Training rows, drawn with replacement: what no honest synthesizer can be much closer than."""

    def __init__(self, seed: int):
        self._seed = seed

    def fit(self, data: dict[str, pd.DataFrame] | pd.DataFrame) -> None:
        """Remember the rows."""
        self._rows = from_sdv(data)

    def sample(self, num_rows: int) -> pd.DataFrame:
        """Draw from the rows."""
        drawn = self._rows.sample(num_rows, replace=True, random_state=self._seed)
        return drawn.reset_index(drop=True)


class MostlyAI:
    """The autoregressive model of ``mostlyai-engine``, with its defaults.

    Args:
        metadata: Metadata of the table; it says which columns are categories.
        seed: Seed of its training.
        seconds: Longest training, or None.

    Raises:
        BenchmarkError:
            If the package is not there.
    """

    def __init__(self, metadata: Metadata, seed: int, seconds: float | None = None):
        try:
            from mostlyai.engine import TabularARGN
        except ImportError as error:
            raise BenchmarkError(
                f'mostlyai-engine is not installed, or cannot be imported ({error}): '
                'pip install mostlyai-engine'
            ) from error

        columns = next(iter(metadata.tables.values())).columns
        kinds = ('categorical', 'boolean', 'ordinal')
        self._categories = [name for name in columns if columns[name]['sdtype'] in kinds]
        limit = {} if seconds is None else {'max_training_time': seconds / 60}
        self._model = TabularARGN(
            random_state=seed,
            tgt_encoding_types=dict.fromkeys(self._categories, 'TABULAR_CATEGORICAL'),
            **limit,
        )

    def fit(self, data: dict[str, pd.DataFrame] | pd.DataFrame) -> None:
        """Train on the rows, categories as texts."""
        rows = from_sdv(data).copy()
        self._levels = {}
        for name in self._categories:
            levels = rows[name].dropna().unique()
            self._levels[name] = {str(level): level for level in levels}
            rows[name] = rows[name].map(str, na_action='ignore')

        self._columns = list(rows.columns)
        self._model.fit(rows)

    def sample(self, num_rows: int) -> pd.DataFrame:
        """Generate rows, categories as they were; a level that it made up stays a text."""
        rows = self._model.sample(n_samples=num_rows)[self._columns].reset_index(drop=True)
        for name, levels in self._levels.items():
            texts = rows[name].astype(object)
            rows[name] = texts.map(lambda text, levels=levels: levels.get(text, text))

        return rows


def new_synthesizer(
    name: str,
    metadata: Metadata,
    seed: int,
    parameters: dict[str, Any] | None = None,
    seconds: float | None = None,
) -> Any:
    """A synthesizer of this name, not fitted yet.

    Args:
        name (str):
            One of ``NAMES``.
        metadata (sdv.metadata.Metadata):
            Metadata of the table.
        seed (int):
            Seed of all but SDV's own, which draw from the global generators.
        parameters (dict or None):
            Parameters of the class.
        seconds (float or None):
            How long TabDiff and MostlyAI may train.
    """
    parameters = dict(parameters or {})
    if name == BOOTSTRAP:
        return Bootstrap(seed)
    if name == MOSTLYAI:
        return MostlyAI(metadata, seed, seconds)
    if name != TABDIFF:
        return PEERS[name](metadata, **parameters)
    if seconds is not None:
        # The clock ends the training, not the epochs.
        parameters = {'epochs': MANY_EPOCHS, **parameters, 'max_training_time': seconds}

    return TabDiffSynthesizer(metadata, random_state=seed, **parameters)


def epochs_within(fit: Callable[[int], Any], seconds: float) -> int:
    """How many epochs fit into a time, by trial.

    Args:
        fit (Callable):
            Fits for a number of epochs. Its work before the first epoch may be long.
        seconds (float):
            The time, of which up to a third goes into a single trial.
    """
    fit(1)  # The first fit of a process takes longer.
    shortest = seconds_of(partial(fit, 1))
    more = 2
    while True:
        longer = seconds_of(partial(fit, 1 + more))
        # A difference that noise cannot make, or no time for a longer trial.
        if longer - shortest > max(0.3 * shortest, 0.5) or longer > seconds / 12:
            break

        more *= 4

    epoch = (longer - shortest) / more
    if epoch < 0.05 * longer / (1 + more):
        epoch = longer / (1 + more)

    return max(1, math.floor((seconds - shortest) / epoch) + 1)
