"""TabDiff on a processed table: codec, training and sampling in one object, without SDV."""

import math
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor
from tqdm import tqdm

from sdv_tabdiff.critic import MIN_ROWS, Critic
from sdv_tabdiff.diffusion import (
    DenoiserSizes,
    EpochReport,
    Guide,
    MixedDiffusion,
    NoiseSettings,
    SamplerSettings,
    TrainingSettings,
    train,
)
from sdv_tabdiff.knowledge import Knowledge
from sdv_tabdiff.reports import loss_table, noise_table, postfix
from sdv_tabdiff.rows import RowSampler, learn_critic
from sdv_tabdiff.table import TableCodec

# The network that guides, if one is asked for: it has only a few columns to know.
GUIDE_SIZES = DenoiserSizes(trunk_dims=(128, 128))

# Seed of the samples of a loaded model.
AFTER_LOADING = 0

# Share of a time limit that is kept for the critic.
CRITIC_SHARE = 0.15


def choose_device(enable_gpu: bool) -> torch.device:
    """CUDA, else Apple's MPS, else the CPU; always the CPU if ``enable_gpu`` is False."""
    if enable_gpu and torch.cuda.is_available():
        return torch.device('cuda')
    if enable_gpu and torch.backends.mps.is_available():
        return torch.device('mps')

    return torch.device('cpu')


class TabDiff:
    """A mixed-type diffusion model of one processed table.

    Args:
        sizes (DenoiserSizes):
            Sizes of the network.
        noise (NoiseSettings):
            Parameters of the noise schedules.
        training (TrainingSettings):
            How to train.
        sampler (SamplerSettings):
            How to sample.
        enable_gpu (bool):
            Whether to use a GPU if there is one.
        verbose (bool):
            Whether to show a progress bar.
        random_state (int or None):
            Seed of the training.
        match_marginals (bool):
            Whether free samples are calibrated to the quantiles of the columns.
        oversampling (float):
            Largest number of rows to sample for each row of a free sample, of which a critic
            chooses. 1 takes every row.
    """

    def __init__(
        self,
        sizes: DenoiserSizes,
        noise: NoiseSettings,
        training: TrainingSettings,
        sampler: SamplerSettings,
        enable_gpu: bool = True,
        verbose: bool = False,
        random_state: int | None = None,
        match_marginals: bool = True,
        oversampling: float = 1.0,
    ):
        self.match_marginals = match_marginals
        self.oversampling = oversampling
        self.sizes = sizes
        self.noise = noise
        self.training = training
        self.sampler = sampler
        self.enable_gpu = enable_gpu
        self.verbose = verbose
        self.random_state = random_state
        self.reports: list[EpochReport] = []
        self._generator: torch.Generator | None = None
        self._network: MixedDiffusion | None = None
        self._guide: Guide | None = None
        self._critic: Critic | None = None

    def fit(
        self, frame: pd.DataFrame, codec: TableCodec, guide_columns: Iterable[Any] = ()
    ) -> None:
        """Learn the distribution of the rows of ``frame``.

        Ctrl-C stops the training, not the program: the best weights so far are kept.

        Args:
            frame (pandas.DataFrame):
                The processed table.
            codec (TableCodec):
                What its columns are to the model, fitted to them.
            guide_columns (Iterable):
                Columns to train a second network for, which guidance then uses.
        """
        device = choose_device(self.enable_gpu)
        generator = torch.Generator(device)
        seed = generator.seed() if self.random_state is None else int(self.random_state)
        generator.manual_seed(seed)
        self.reports = []
        self._network = None
        self._guide = None
        self._critic = None
        self.codec = codec
        if not self.codec.levels and not self.codec.num_numerical:
            return  # Nothing varies, so there is nothing to learn.

        x_num, x_cat = (part.to(device) for part in self.codec.encode(frame))
        self._network = self._build(x_cat, seed).to(device)
        self._generator = generator
        finished = self._train(self._network, x_num, x_cat, generator, self.reports, 'Training')
        self._fit_guide(x_num, x_cat, guide_columns, generator)
        if finished and self._wants_critic(len(frame)):
            self._fit_critic(frame)

    def _build(self, x_cat: Tensor, seed: int) -> MixedDiffusion:
        # torch initialises weights from its global generator: borrow it and give it back.
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            network = MixedDiffusion(
                self.codec.num_numerical,
                self.codec.levels,
                self.sizes,
                self.noise,
                self.codec.feature_columns,
            )
            network.denoiser.tokenizer.start_in_order(self.codec.ordered_levels)

        network.denoiser.start_at_marginals(_log_frequencies(x_cat.cpu(), self.codec.levels))
        return network

    def _fit_guide(
        self, x_num: Tensor, x_cat: Tensor, columns: Iterable[Any], generator: torch.Generator
    ) -> None:
        """Train the paper's second network, of some columns alone."""
        assert self._network is not None
        numerical, categorical = self.codec.features_of(columns)
        if not numerical and not categorical:
            return

        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(generator.initial_seed())
            guide = self._network.part(numerical, categorical, GUIDE_SIZES)

        guide = guide.to(x_num.device)
        data = x_num[:, numerical], x_cat[:, categorical]
        self._train(guide, *data, generator, [], 'Training the guide')
        self._guide = Guide(guide, numerical, categorical, strength=0.0)

    def _wants_critic(self, num_rows: int) -> bool:
        return self.oversampling > 1 and num_rows >= MIN_ROWS

    def _training_of(self, num_rows: int) -> TrainingSettings:
        """How to train, with time left for the critic if there is a limit."""
        seconds = self.training.max_seconds
        if seconds is None or not self._wants_critic(num_rows):
            return self.training

        return replace(self.training, max_seconds=(1 - CRITIC_SHARE) * seconds)

    def _fit_critic(self, frame: pd.DataFrame) -> None:
        """Train the trees that choose among sampled rows."""
        seconds = self.training.max_seconds
        try:
            self._critic = learn_critic(
                self._rows(0.0), frame, None if seconds is None else CRITIC_SHARE * seconds
            )
        except KeyboardInterrupt:
            warnings.warn(
                'Training was interrupted at its last part, which is not needed: samples will take '
                'every row as it comes.',
                stacklevel=2,
            )

    def _train(
        self,
        network: MixedDiffusion,
        x_num: Tensor,
        x_cat: Tensor,
        generator: torch.Generator,
        reports: list[EpochReport],
        title: str,
    ) -> bool:
        """Train a network; returns whether it came to its end."""
        finished = True
        epochs = train(network, x_num, x_cat, self._training_of(len(x_num)), generator)
        with tqdm(total=self.training.epochs, disable=not self.verbose, unit='epoch') as bar:
            bar.set_description(title)
            try:
                for report in epochs:
                    reports.append(report)
                    bar.set_postfix(postfix(report), refresh=False)
                    bar.update(report.epoch - bar.n)
            except KeyboardInterrupt:
                finished = False
                warnings.warn(
                    f'{title} was interrupted after {len(reports)} epochs. The best model so far '
                    'is kept and ready to sample from.',
                    stacklevel=2,
                )

            # Training may stop long before its last epoch: a full bar says that this is the end.
            bar.total = bar.n
            bar.refresh()

        network.requires_grad_(False).eval()
        return finished

    def set_random_state(self, random_state: int) -> None:
        """Start the random numbers of ``sample`` anew from a seed."""
        device = choose_device(self.enable_gpu)
        self._generator = torch.Generator(device).manual_seed(random_state)

    @contextmanager
    def seeded(self, random_state: int | None) -> Iterator[None]:
        """Random numbers of a seed of their own for a while; None changes nothing."""
        usual = self._generator
        if random_state is not None:
            self.set_random_state(random_state)
        try:
            yield
        finally:
            if random_state is not None:
                self._generator = usual

    def sample(self, num_rows: int) -> pd.DataFrame:
        """Generate rows of the processed table.

        Args:
            num_rows (int):
                Number of rows.

        Returns:
            pandas.DataFrame:
                The rows, with a ``RangeIndex``.
        """
        return self._sample(num_rows, None, 0.0)

    def complete(self, knowledge: Knowledge, guidance: float = 0.0) -> pd.DataFrame:
        """Generate rows of which something is known.

        Args:
            knowledge (Knowledge):
                Known cells and restrictions.
            guidance (float):
                Strength of the guidance.

        Returns:
            pandas.DataFrame:
                One row for each row of ``knowledge``, with a ``RangeIndex``.
        """
        return self._sample(len(knowledge), knowledge, guidance)

    def level_probabilities(
        self, knowledge: Knowledge, columns: Iterable[Any], guidance: float = 0.0
    ) -> dict[Any, pd.DataFrame]:
        """Probability of each level of categorical columns, given what is known.

        Args:
            knowledge (Knowledge):
                Known cells and restrictions.
            columns (Iterable):
                Categorical columns.
            guidance (float):
                Strength of the guidance.

        Returns:
            dict[Any, pandas.DataFrame]:
                For each column a frame with a row per row and a column per level.
        """
        if self._network is None:
            levels = {name: self.codec.column(name).levels for name in columns}
            ones = np.ones((len(knowledge), 1))
            return {name: pd.DataFrame(ones, columns=levels[name]) for name in columns}

        return self._rows(guidance).level_probabilities(knowledge, columns)

    def _sample(self, num_rows: int, knowledge: Knowledge | None, guidance: float) -> pd.DataFrame:
        if self._network is None:
            return self.codec.decode(torch.empty((num_rows, 0)), torch.empty((num_rows, 0)))

        return self._rows(guidance).sample(num_rows, knowledge)

    def _rows(self, guidance: float) -> RowSampler:
        """A sampler on the device of the day."""
        assert self._network is not None
        device = choose_device(self.enable_gpu)
        guide = None
        if guidance:
            guide = replace(self._guide or Guide.hiding(self._network, 0.0), strength=guidance)
            guide.model.to(device)
        if self._generator is None:
            # Loaded from a file: who loads it twice gets the same rows twice.
            self._generator = torch.Generator(device).manual_seed(AFTER_LOADING)

        # A network that was never trained with known cells is shown them with noise.
        untrained = self.training.conditional_share == 0
        settings = replace(self.sampler, renoise_known=untrained)
        return RowSampler(
            self._network.to(device),
            self.codec,
            settings,
            guide,
            self._generator,
            self.verbose,
            self.match_marginals,
            self._critic,
            self.oversampling,
        )

    @property
    def loss_values(self) -> pd.DataFrame:
        """Losses of each epoch."""
        return loss_table(self.reports)

    def noise_levels(self, times: np.ndarray) -> pd.DataFrame:
        """Noise of each feature at the given times, in long form."""
        return noise_table(self._network, self.codec if self._network else None, times)

    def __getstate__(self) -> dict[str, Any]:
        # A file must load on a machine without a GPU, and a generator cannot be pickled.
        state = self.__dict__.copy()
        state['_generator'] = None
        if self._network is not None:
            self._network.cpu()
        if self._guide is not None:
            self._guide.model.cpu()

        return state


def _log_frequencies(x_cat: Tensor, levels: Iterable[int]) -> Tensor:
    """Log share of each level of each column, side by side; unseen ones count half a row."""
    parts = [
        torch.bincount(x_cat[:, column], minlength=size).clamp(min=0.5).log() - math.log(len(x_cat))
        for column, size in enumerate(levels)
    ]
    return torch.cat(parts).float() if parts else torch.empty(0)
