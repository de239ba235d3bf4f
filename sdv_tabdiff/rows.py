"""Rows of the processed table from a trained network, in batches, with or without knowledge."""

import math
import time
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor
from tqdm import tqdm

from sdv_tabdiff.choice import PORTIONS
from sdv_tabdiff.critic import MAX_ROWS, MIN_ROWS, Critic
from sdv_tabdiff.diffusion import (
    Given,
    Guide,
    MixedDiffusion,
    SamplerSettings,
    level_probabilities,
    sample,
)
from sdv_tabdiff.diffusion.validation import slices
from sdv_tabdiff.knowledge import (
    Knowledge,
    hide_others,
    leading_cells,
    settle_copies,
    to_given,
)
from sdv_tabdiff.origins import settle_origins
from sdv_tabdiff.table import TableCodec

# Logits of one batch of sampled rows: four million floats are 16 MiB.
MAX_LOGITS_PER_BATCH = 2**22
MIN_BATCH_ROWS = 64

# Rows of a batch on a CPU: with more, what the network computes no longer fits into its caches.
MAX_CPU_ROWS = 2048

# Rows that are chosen at a time, and features of the rows that they are chosen from: it keeps the
# memory flat. Sixteen million floats are 128 MiB.
MAX_CHOSEN_ROWS, MAX_CHOSEN_FEATURES = 2**16, 2**24


class RowSampler:
    """Samples rows of the processed table.

    Args:
        network: The trained network, on its device.
        codec: Between the table and tensors.
        settings: How to sample.
        guide: How to guide towards known cells, or None.
        generator: Source of randomness, on the network's device.
        verbose: Whether to show a progress bar on long work.
        match_marginals: Whether rows that nothing is known of are calibrated, as a whole, to the
            quantiles and the range of each column of the data.
        critic: What to choose rows by that nothing is known of, or None to take all.
        max_rows_per_row: Largest number of rows to choose one from.
    """

    def __init__(
        self,
        network: MixedDiffusion,
        codec: TableCodec,
        settings: SamplerSettings,
        guide: Guide | None,
        generator: torch.Generator,
        verbose: bool = False,
        match_marginals: bool = True,
        critic: Critic | None = None,
        max_rows_per_row: float = 1.0,
    ):
        self.match_marginals = match_marginals
        self.critic = critic
        self.max_rows_per_row = max_rows_per_row
        self.network = network
        self.codec = codec
        self.settings = settings
        self.guide = guide
        self.generator = generator
        self.verbose = verbose
        self.device = network.layout.mask_codes.device

    def sample(self, num_rows: int, knowledge: Knowledge | None = None) -> pd.DataFrame:
        """Rows of the processed table, with a ``RangeIndex``."""
        if num_rows == 0:
            numbers = torch.empty((0, self.codec.num_numerical))
            return self.codec.decode(numbers, torch.empty((0, len(self.codec.levels))))

        if knowledge is not None:
            if self.codec.determined:
                knowledge = settle_origins(knowledge, self.codec, self.generator)
            if self.codec.copying:
                knowledge = settle_copies(knowledge, self.codec, self.generator)

            drawn = self._draw_all(num_rows, knowledge)
            return self.codec.decode(*drawn, knowledge)

        x_num, x_cat = self._choose(num_rows) if self._is_choosy else self.draw(num_rows)
        if self.match_marginals:
            features = x_num.shape[1] + x_cat.shape[1]
            uniform = torch.rand((features, 2), device=self.device, generator=self.generator)
            x_num, x_cat = self.codec.cover_ranges(x_num, x_cat, uniform.cpu())

        return self.codec.decode(x_num, x_cat)

    @property
    def _is_choosy(self) -> bool:
        return self.critic is not None and self.max_rows_per_row > 1

    def draw(self, num_rows: int) -> tuple[Tensor, Tensor]:
        """Numbers and codes of one free row or more, on the CPU."""
        x_num, x_cat = self._draw_all(num_rows, None)
        if self.match_marginals:
            x_num = self.codec.match_quantiles(x_num, x_cat)

        return x_num, x_cat

    def _draw_all(self, num_rows: int, knowledge: Knowledge | None) -> tuple[Tensor, Tensor]:
        x_num, x_cat = zip(*self._batches(num_rows, knowledge))
        return torch.cat(x_num).cpu(), torch.cat(x_cat).cpu()

    def _choose(self, num_rows: int) -> tuple[Tensor, Tensor]:
        """Numbers and codes of rows that the critic takes for rows of the data."""
        assert self.critic is not None
        parts = []
        for part in slices(num_rows, self.rows_per_choice()):
            count = part.stop - part.start
            drawn = self.draw(self.critic.rows_for(count, self.max_rows_per_row))
            rows = self.codec.appearance(self.codec.decode(*drawn))
            uniforms = torch.rand(PORTIONS, device=self.device, generator=self.generator)
            positions = self.critic.choose(rows, count, uniforms.cpu().numpy())
            parts.append([feature[torch.from_numpy(positions)] for feature in drawn])

        x_num, x_cat = zip(*parts)
        return torch.cat(x_num), torch.cat(x_cat)

    def rows_per_choice(self) -> int:
        """Rows that are chosen at a time."""
        assert self.critic is not None
        features = self.codec.num_numerical + len(self.codec.levels)
        drawn = self.critic.rows_for(MAX_CHOSEN_ROWS, self.max_rows_per_row)
        share = min(1.0, MAX_CHOSEN_FEATURES / (features * drawn))
        return max(1, math.floor(share * MAX_CHOSEN_ROWS))

    def level_probabilities(
        self, knowledge: Knowledge, columns: Iterable[Any]
    ) -> dict[Any, pd.DataFrame]:
        """For each categorical column a frame with a row per row and a column per level."""
        given = to_given(knowledge, self.codec)
        # A question about probabilities leaves the random numbers of the samples alone.
        generator = torch.Generator(self.device).manual_seed(0)
        batches = [
            level_probabilities(
                self.network,
                self.settings,
                given.take(rows).to(self.device),
                self.guide,
                generator,
            ).cpu()
            for rows in slices(len(knowledge), self.rows_per_batch())
        ]
        shares = torch.cat(batches).double().exp().numpy()
        return {name: self._shares_of(name, shares) for name in columns}

    def _shares_of(self, name: Any, shares: np.ndarray) -> pd.DataFrame:
        levels = pd.Index(self.codec.column(name).levels, dtype=object)
        if name not in self.codec.categorical_names:
            return pd.DataFrame(np.ones((len(shares), len(levels))), columns=levels)

        position = self.codec.categorical_names.index(name)
        return pd.DataFrame(shares[:, self.network.layout.slice_of(position)], columns=levels)

    def rows_per_batch(self) -> int:
        """Rows that are sampled at a time."""
        rows = max(MAX_LOGITS_PER_BATCH // max(self.network.layout.num_logits, 256), 1)
        return min(rows, MAX_CPU_ROWS) if self.device.type == 'cpu' else rows

    def _batches(
        self, num_rows: int, knowledge: Knowledge | None
    ) -> Iterator[tuple[Tensor, Tensor]]:
        """Sampled rows in batches that keep the memory flat."""
        batch = self.rows_per_batch()
        done = 0
        show = self.verbose and num_rows > batch
        with tqdm(total=num_rows, disable=not show, unit='row', desc='Sampling') as bar:
            while done < num_rows:
                rows = np.arange(done, min(done + batch, num_rows))
                try:
                    part = None if knowledge is None else knowledge.take(rows)
                    drawn = self._draw(len(rows), part)
                except torch.OutOfMemoryError as error:
                    if batch <= MIN_BATCH_ROWS:
                        raise torch.OutOfMemoryError(
                            f'The GPU has not enough memory to sample {batch} rows at a time. Free '
                            'some of its memory or use enable_gpu=False.'
                        ) from error

                    torch.cuda.empty_cache()
                    batch = max(batch // 2, MIN_BATCH_ROWS)
                    continue

                yield drawn
                done += len(rows)
                bar.update(len(rows))

    def _draw(self, num_rows: int, knowledge: Knowledge | None) -> tuple[Tensor, Tensor]:
        if knowledge is None:
            return self._run(num_rows, None)

        given = to_given(knowledge, self.codec).to(self.device)
        leading = leading_cells(knowledge, self.codec).to(self.device)
        if bool(leading.any()):
            given = self._settle(given, leading)

        return self._run(num_rows, given)

    def _settle(self, given: Given, leading: Tensor) -> Given:
        """Draw the cells with a range or a set first, and take them as known from there on.

        The other cells must follow them. Drawn together, they would be drawn early on as if there
        were no restriction.
        """
        rows = leading.any(dim=1).nonzero().flatten()
        cells = leading[rows]
        part = given.take(rows)
        first = part if self.settings.renoise_known else hide_others(part, cells)
        x_num, x_cat = self._run(len(rows), first)
        if part.limits is not None:
            x_num = part.limits.redraw_narrow(x_num, self.generator)
        x_num = torch.where(self.codec.has_number(x_cat), x_num, torch.nan)
        return given.put(rows, part.with_known(cells, x_num, x_cat))

    def _run(self, num_rows: int, given: Given | None) -> tuple[Tensor, Tensor]:
        return sample(self.network, num_rows, self.settings, self.generator, given, self.guide)


def learn_critic(sampler: RowSampler, frame: pd.DataFrame, seconds: float | None = None) -> Critic:
    """A critic of what a sampler draws.

    Args:
        sampler: The sampler.
        frame: The processed table that its network was trained on.
        seconds: How long it may take, or None.
    """
    started = time.monotonic()
    count = min(len(frame), MAX_ROWS)
    if seconds is not None:
        count = min(count, _rows_within(seconds / 2, sampler))

    made = sampler.codec.appearance(sampler.codec.decode(*sampler.draw(count)))
    device, generator = sampler.device, sampler.generator
    chosen = torch.randperm(len(frame), device=device, generator=generator)[:count].cpu().numpy()
    real = sampler.codec.appearance(frame.iloc[chosen])
    seed = int(torch.randint(2**31, (), device=device, generator=generator))

    def is_over() -> bool:
        return seconds is not None and time.monotonic() - started > seconds

    # Trees that see which columns are equal ask for many more rows, for little.
    return Critic(seed, hidden=len(sampler.codec.copying)).fit(real, made, is_over)


def _rows_within(seconds: float, sampler: RowSampler) -> int:
    """How many rows can be drawn in a time, at least ``MIN_ROWS``, by trial."""
    started = time.monotonic()
    sampler.draw(MIN_ROWS)
    return math.ceil(MIN_ROWS * max(1.0, seconds / (time.monotonic() - started) - 1))
