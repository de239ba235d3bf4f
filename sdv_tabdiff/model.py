"""TabDiff on a processed table: codec, training and sampling in one object, without SDV."""

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor
from tqdm import tqdm

from sdv_tabdiff.diffusion import (
    DenoiserSizes,
    EpochReport,
    MixedDiffusion,
    NoiseSettings,
    SamplerSettings,
    TrainingSettings,
    sample,
    train,
)
from sdv_tabdiff.table import TableCodec

# Logits of one batch of sampled rows: four million floats are 16 MiB.
MAX_LOGITS_PER_BATCH = 2**22
MIN_BATCH_ROWS = 64


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
        max_states (int):
            Number of distinct values up to which a number is modelled as a set of states.
        enable_gpu (bool):
            Whether to use a GPU if there is one.
        verbose (bool):
            Whether to show a progress bar.
        random_state (int or None):
            Seed of the training.
    """

    def __init__(
        self,
        sizes: DenoiserSizes,
        noise: NoiseSettings,
        training: TrainingSettings,
        sampler: SamplerSettings,
        max_states: int,
        enable_gpu: bool = True,
        verbose: bool = False,
        random_state: int | None = None,
    ):
        self.sizes = sizes
        self.noise = noise
        self.training = training
        self.sampler = sampler
        self.max_states = max_states
        self.enable_gpu = enable_gpu
        self.verbose = verbose
        self.random_state = random_state
        self.reports: list[EpochReport] = []
        self._generator: torch.Generator | None = None
        self._network: MixedDiffusion | None = None

    def fit(
        self,
        frame: pd.DataFrame,
        categories: Iterable[Any] = (),
        null_flags: Mapping[Any, Any] | None = None,
    ) -> None:
        """Learn the distribution of the rows of ``frame``.

        Ctrl-C stops the training, not the program: the best weights so far are kept.

        Args:
            frame (pandas.DataFrame):
                The processed table.
            categories (Iterable):
                Its categorical columns.
            null_flags (dict):
                For a column of numbers, the column that flags its missing values.
        """
        device = choose_device(self.enable_gpu)
        generator = torch.Generator(device)
        seed = generator.seed() if self.random_state is None else int(self.random_state)
        generator.manual_seed(seed)
        self.reports = []
        self._network = None
        self.codec = TableCodec(categories, null_flags, self.max_states).fit(frame)
        if not self.codec.levels and not self.codec.num_numerical:
            return  # Nothing varies, so there is nothing to learn.

        x_num, x_cat = self.codec.encode(frame)
        self._network = self._build(x_cat, seed).to(device)
        self._train(x_num.to(device), x_cat.to(device), generator)

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

        network.denoiser.start_at_marginals(_log_frequencies(x_cat, self.codec.levels))
        return network

    def _train(self, x_num: Tensor, x_cat: Tensor, generator: torch.Generator) -> None:
        assert self._network is not None
        reports = train(self._network, x_num, x_cat, self.training, generator)
        with tqdm(total=self.training.epochs, disable=not self.verbose, unit='epoch') as bar:
            bar.set_description('Training')
            try:
                for report in reports:
                    self.reports.append(report)
                    bar.set_postfix(_postfix(report), refresh=False)
                    bar.update(report.epoch - bar.n)
            except KeyboardInterrupt:
                warnings.warn(
                    f'Training was interrupted after {len(self.reports)} epochs. The best model '
                    'so far is kept and ready to sample from.',
                    stacklevel=2,
                )

            # Training may stop long before its last epoch: a full bar says that this is the end.
            bar.total = bar.n
            bar.refresh()

        self._network.requires_grad_(False).eval()
        self._generator = generator

    def set_random_state(self, random_state: int) -> None:
        """Start the random numbers of ``sample`` anew from a seed."""
        device = choose_device(self.enable_gpu)
        self._generator = torch.Generator(device).manual_seed(random_state)

    def sample(self, num_rows: int) -> pd.DataFrame:
        """Generate rows of the processed table.

        Args:
            num_rows (int):
                Number of rows.

        Returns:
            pandas.DataFrame:
                The rows, with a ``RangeIndex``.
        """
        if self._network is None:
            return self.codec.decode(torch.empty((num_rows, 0)), torch.empty((num_rows, 0)))

        self._network.to(choose_device(self.enable_gpu))
        if self._generator is None:
            self._generator = torch.Generator(choose_device(self.enable_gpu))
            self._generator.seed()

        frames = [self.codec.decode(*rows) for rows in self._batches(num_rows)]
        if not frames:
            return self.codec.decode(*(torch.empty((0, n)) for n in self._feature_counts()))

        return pd.concat(frames, ignore_index=True)

    def _batches(self, num_rows: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Sampled rows in batches that keep the memory flat."""
        assert self._network is not None
        batch = max(MAX_LOGITS_PER_BATCH // max(self._network.layout.num_logits, 256), 1)
        remaining = num_rows
        show = self.verbose and num_rows > batch
        with tqdm(total=num_rows, disable=not show, unit='row', desc='Sampling') as bar:
            while remaining > 0:
                count = min(batch, remaining)
                try:
                    rows = sample(self._network, count, self.sampler, self._generator)
                except torch.OutOfMemoryError as error:
                    if batch <= MIN_BATCH_ROWS:
                        raise torch.OutOfMemoryError(
                            f'The GPU has not enough memory to sample {batch} rows at a time. Free '
                            'some of its memory or use enable_gpu=False.'
                        ) from error

                    torch.cuda.empty_cache()
                    batch = max(batch // 2, MIN_BATCH_ROWS)
                    continue

                yield rows
                remaining -= count
                bar.update(count)

    def _feature_counts(self) -> tuple[int, int]:
        return self.codec.num_numerical, len(self.codec.levels)

    @property
    def loss_values(self) -> pd.DataFrame:
        """Losses of each epoch."""
        losses = pd.DataFrame(
            [
                (
                    report.epoch,
                    report.loss,
                    report.numerical,
                    report.categorical,
                    report.validation_loss,
                    report.validation_numerical,
                    report.validation_categorical,
                )
                for report in self.reports
            ],
            columns=[
                'Epoch',
                'Loss',
                'Numerical Loss',
                'Categorical Loss',
                'Validation Loss',
                'Validation Numerical Loss',
                'Validation Categorical Loss',
            ],
            dtype=float,
        )
        return losses.astype({'Epoch': int})

    def noise_levels(self, times: np.ndarray) -> pd.DataFrame:
        """Noise of each feature at the given times, in long form."""
        columns = ['Column', 'Kind', 'Exponent', 'Time', 'Noise']
        if self._network is None:
            return pd.DataFrame(columns=columns)

        network = self._network.cpu()
        t = torch.as_tensor(times, dtype=torch.float32).reshape(-1, 1)
        parts = [
            (
                'numerical',
                self.codec.numerical_names,
                network.numerical_schedule.rho,
                network.numerical_schedule.sigma(t),
            ),
            (
                'categorical',
                self.codec.categorical_names,
                network.categorical_schedule.k,
                network.categorical_schedule.mask_probability(t),
            ),
        ]
        rows = [
            pd.DataFrame({
                'Column': name,
                'Kind': kind,
                'Exponent': float(exponents[index]),
                'Time': times,
                'Noise': noise[:, index].numpy(),
            })
            for kind, names, exponents, noise in parts
            for index, name in enumerate(names)
        ]
        return pd.concat(rows, ignore_index=True)[columns]

    def __getstate__(self) -> dict[str, Any]:
        # A file must load on a machine without a GPU, and a generator cannot be pickled.
        state = self.__dict__.copy()
        state['_generator'] = None
        if self._network is not None:
            self._network.cpu()

        return state


def _log_frequencies(x_cat: Tensor, levels: Iterable[int]) -> Tensor:
    """Log share of each level of each column, side by side; unseen ones count half a row."""
    parts = [
        torch.bincount(x_cat[:, column], minlength=size).clamp(min=0.5).log() - math.log(len(x_cat))
        for column, size in enumerate(levels)
    ]
    return torch.cat(parts).float() if parts else torch.empty(0)


def _postfix(report: EpochReport) -> dict[str, str]:
    shown = {'loss': f'{report.loss:.4f}'}
    if not math.isnan(report.validation_loss):
        shown['validation'] = f'{report.validation_loss:.4f}'

    return shown
