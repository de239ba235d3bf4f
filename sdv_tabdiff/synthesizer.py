"""TabDiffSynthesizer: everything that SDV expects, nothing about noise."""

from typing import Any

import numpy as np
import pandas as pd
from sdv.errors import InvalidDataError, SynthesizerInputError

from sdv_tabdiff import routing
from sdv_tabdiff.defaults import (
    TableSize,
    default_dropout,
    default_epochs,
    default_learning_rate,
    default_min_transfer,
    default_trunk,
)
from sdv_tabdiff.diffusion import (
    DenoiserSizes,
    NoiseSettings,
    NonFiniteLossError,
    SamplerSettings,
    TrainingSettings,
)
from sdv_tabdiff.model import TabDiff
from sdv_tabdiff.parameters import check_parameters
from sdv_tabdiff.reporting import ReportingSynthesizer
from sdv_tabdiff.sdv_versions import ProcessingError
from sdv_tabdiff.table import TableCodec
from sdv_tabdiff.transformers import (
    CategoryCodes,
    DatetimeQuantileNormalizer,
    QuantileNormalizer,
)


class EmptyTableError(InvalidDataError, ValueError):
    """The table has no rows. SDV itself raises a ``ValueError`` here, so it is one as well."""


class TabDiffSynthesizer(ReportingSynthesizer):
    """Synthesizer for single tables with a mixed-type diffusion model (TabDiff, ICLR 2025).

    ``fit`` takes a DataFrame or a dictionary of one, and the sampling methods return the same kind
    of container.

    Args:
        metadata (sdv.metadata.Metadata):
            Metadata of the one table to synthesize.
        enforce_min_max_values (bool):
            Whether numbers and dates stay inside the range of the training data. Defaults to
            ``True``.
        enforce_rounding (bool):
            Whether numbers are rounded to the decimals of the training data. Defaults to ``True``.
        locales (list or str):
            Locales of the personal information to make up. Defaults to ``['en_US']``.
        epochs (int or None):
            Largest number of passes over the table. Defaults to ``None``: as many as a table of
            its size needs.
        max_training_time (float or None):
            Largest number of seconds to train. Defaults to ``None``: no limit.
        batch_size (int):
            Rows per training step. Defaults to 1024.
        optimizer (str):
            ``'muon'`` or ``'adam'``. Defaults to ``'muon'``, which learns more in a step.
        learning_rate (float or None):
            Peak learning rate. Defaults to ``None``: 4e-3, and less for a small table, above all
            of categories.
        early_stopping (bool):
            Whether to hold out a tenth of the rows, stop when what is learned about the others no
            longer holds for them, and keep the weights that were best for them. Defaults to
            ``True``.
        dropout (float or None):
            Share of the network's units that each training step leaves out. Defaults to ``None``:
            0, and more for a table of less than 150,000 rows.
        loss_balance (str):
            ``'column'`` if every column counts the same in the loss, ``'kind'`` if the numbers
            together count as much as the categories together. Defaults to ``'column'``.
        numerical_loss_weight (tuple):
            Weight of the numerical loss at the start and at the end of the training. Defaults to
            ``(4.0, 4.0)``: numbers take longer to learn than categories.
        categorical_loss_weight (float):
            Weight of the categorical loss. Defaults to 1.0.
        conditional_share (float):
            Share of each batch that is trained with some cells known, which is what conditions
            and imputation rest on. Defaults to 0.4.
        guidance (float):
            Strength of the guidance towards the given cells of conditional rows: 0 samples from
            the learned conditional distribution, more exaggerates what the given cells imply.
            Defaults to 0.0.
        guidance_columns (list or None):
            Columns to train the paper's second, small network for, which guidance of these columns
            then uses. Defaults to ``None``: guidance compares with the same network, the given
            cells hidden.
        ema_decay (float):
            Decay of the running mean of the weights, per step. Defaults to 0.999.
        token_dim (int):
            Width of a column's embedding. Defaults to 8.
        frequencies (int):
            Frequencies of the sines and cosines of a number that the network sees beside the number
            itself. Defaults to 8.
        encoder_layers (int):
            Transformer layers before the trunk. Defaults to 0.
        decoder_layers (int):
            Transformer layers after the trunk. Defaults to 0.
        trunk (str):
            ``'residual'`` for residual blocks or ``'mlp'`` for the plain layers of the paper.
            Defaults to ``'residual'``.
        trunk_dims (tuple or None):
            Widths of the trunk's blocks or layers. Defaults to ``None``: four, of 48 for a small
            table to 256 for a large one.
        time_dim (int):
            Width of the time embedding, even. Defaults to 32.
        learnable_schedules (bool):
            Whether each column learns its own noise schedule. Defaults to ``False``.
        sigma_min (float):
            Smallest noise of the numbers, in standard deviations. Defaults to 0.01.
        sigma_max (float):
            Largest noise of the numbers. Defaults to 10.0.
        sampling_steps (int):
            Steps of the sampler: fewer are faster, more are better. Defaults to 15.
        solver (str):
            ``'multistep'`` or ``'euler'`` with one network call a step, or ``'heun'`` with two.
            Defaults to ``'multistep'``.
        stochastic_sampler (bool):
            Whether the sampler adds some noise in every step, as in the paper, which lets it take
            back a wrong category. Defaults to ``False``.
        match_marginals (bool):
            Whether the numbers of ``sample`` are calibrated to the quantiles and the range that
            each column has in the training data: as a whole, from 250 rows on. Rows of conditions
            and imputations never are. Defaults to ``True``.
        oversampling (float):
            Largest number of rows that ``sample`` draws for each row that it returns. Boosted trees
            learn to tell drawn rows from the data's, and rows are kept in proportion to their
            odds of being real: what looks made up is rare. As many are drawn as the odds ask for,
            few if the trees hardly see a difference. 1 keeps every row, which is faster. Defaults
            to 8.0.
        max_discrete_values (int):
            A number with at most this many distinct values is modelled value by value. 0 treats
            every number as continuous. Defaults to 128.
        enable_gpu (bool):
            Whether to use a GPU (CUDA or Apple's MPS) if there is one. Defaults to ``True``.
        verbose (bool):
            Whether to show a progress bar while training. Defaults to ``False``.
        random_state (int or None):
            Seed that makes ``fit`` reproducible. Defaults to ``None``: a new one for every fit.
    """

    _model_sdtype_transformers = {
        'numerical': QuantileNormalizer(),
        'datetime': DatetimeQuantileNormalizer(),
        'categorical': CategoryCodes(),
        'boolean': CategoryCodes(),
        'ordinal': CategoryCodes(),
    }

    def __init__(
        self,
        metadata: Any,
        enforce_min_max_values: bool = True,
        enforce_rounding: bool = True,
        locales: list[str] | str = ['en_US'],
        epochs: int | None = None,
        max_training_time: float | None = None,
        batch_size: int = 1024,
        optimizer: str = 'muon',
        learning_rate: float | None = None,
        early_stopping: bool = True,
        dropout: float | None = None,
        loss_balance: str = 'column',
        numerical_loss_weight: tuple[float, float] = (4.0, 4.0),
        categorical_loss_weight: float = 1.0,
        conditional_share: float = 0.4,
        guidance: float = 0.0,
        guidance_columns: list[str] | None = None,
        ema_decay: float = 0.999,
        token_dim: int = 8,
        frequencies: int = 8,
        encoder_layers: int = 0,
        decoder_layers: int = 0,
        trunk: str = 'residual',
        trunk_dims: tuple[int, ...] | None = None,
        time_dim: int = 32,
        learnable_schedules: bool = False,
        sigma_min: float = 0.01,
        sigma_max: float = 10.0,
        sampling_steps: int = 15,
        solver: str = 'multistep',
        stochastic_sampler: bool = False,
        match_marginals: bool = True,
        oversampling: float = 8.0,
        max_discrete_values: int = 128,
        enable_gpu: bool = True,
        verbose: bool = False,
        random_state: int | None = None,
    ):
        super().__init__(
            metadata=metadata,
            enforce_min_max_values=enforce_min_max_values,
            enforce_rounding=enforce_rounding,
            locales=locales,
        )
        self.epochs = epochs
        self.max_training_time = max_training_time
        self.batch_size = batch_size
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.early_stopping = early_stopping
        self.dropout = dropout
        self.loss_balance = loss_balance
        self.numerical_loss_weight = numerical_loss_weight
        self.categorical_loss_weight = categorical_loss_weight
        self.conditional_share = conditional_share
        self.guidance = guidance
        self.guidance_columns = guidance_columns
        self.ema_decay = ema_decay
        self.token_dim = token_dim
        self.frequencies = frequencies
        self.encoder_layers = encoder_layers
        self.decoder_layers = decoder_layers
        self.trunk = trunk
        self.trunk_dims = trunk_dims
        self.time_dim = time_dim
        self.learnable_schedules = learnable_schedules
        self.sigma_min = sigma_min
        self.sigma_max = sigma_max
        self.sampling_steps = sampling_steps
        self.solver = solver
        self.stochastic_sampler = stochastic_sampler
        self.match_marginals = match_marginals
        self.oversampling = oversampling
        self.max_discrete_values = max_discrete_values
        self.enable_gpu = enable_gpu
        self.verbose = verbose
        self.random_state = random_state
        check_parameters(self.get_parameters())

    def add_constraints(self, constraints: list) -> None:
        """Add constraints to the synthesizer.

        Args:
            constraints (list):
                Constraints of ``sdv.cag``.
        """
        super().add_constraints(constraints)
        # SDV rebuilds its data processor for constraints, without this class's transformers.
        self._update_default_transformers()

    def _validate(self, table_data: pd.DataFrame) -> list[str]:
        if len(table_data) == 0:
            raise EmptyTableError([
                f"The table '{self._table_name}' is empty. Provide at least one row."
            ])

        columns = self._original_metadata.tables[self._table_name].columns
        return [
            f"Column '{name}' contains infinite values. Replace them by missing values or by "
            'finite numbers.'
            for name in table_data.select_dtypes('number').columns
            if columns[name]['sdtype'] == 'numerical'
            and np.isinf(table_data[name].to_numpy(dtype=np.float64, na_value=np.nan)).any()
        ]

    def _fit(self, processed_data: pd.DataFrame) -> None:
        codec = self._new_codec(processed_data).fit(processed_data)
        size = TableSize(len(processed_data), codec.number_share, processed_data.shape[1])
        model = self._new_model(size)
        guided = routing.outputs_of(self._checked_guidance_columns(), self._field_transformers())
        try:
            model.fit(processed_data, codec, guided)
        except NonFiniteLossError as error:
            raise ProcessingError(str(error)) from error

        self._model = model

    def _new_codec(self, processed_data: pd.DataFrame) -> TableCodec:
        transformers = self._field_transformers()
        return TableCodec(
            routing.categories(processed_data, self.metadata, transformers),
            routing.null_flags(transformers),
            self.max_discrete_values,
            routing.ordered_codes(transformers),
            routing.scales(transformers),
            self.enforce_rounding,
        )

    def _new_model(self, size: TableSize) -> TabDiff:
        return TabDiff(
            sizes=DenoiserSizes(
                token_dim=self.token_dim,
                frequencies=self.frequencies,
                encoder_layers=self.encoder_layers,
                decoder_layers=self.decoder_layers,
                trunk_dims=tuple(self.trunk_dims or default_trunk(size)),
                residual=self.trunk == 'residual',
                time_dim=self.time_dim,
            ),
            noise=NoiseSettings(
                sigma_min=self.sigma_min,
                sigma_max=self.sigma_max,
                learnable=self.learnable_schedules,
            ),
            training=TrainingSettings(
                epochs=self.epochs or default_epochs(size, self.batch_size),
                batch_size=self.batch_size,
                optimizer=self.optimizer,
                learning_rate=self.learning_rate or default_learning_rate(size),
                dropout=default_dropout(size) if self.dropout is None else self.dropout,
                ema_decay=self.ema_decay,
                balance=self.loss_balance,
                conditional_share=self.conditional_share,
                numerical_weight=tuple(self.numerical_loss_weight),
                categorical_weight=self.categorical_loss_weight,
                min_transfer=default_min_transfer(size),
                validation_share=0.1 if self.early_stopping else 0.0,
                max_seconds=self.max_training_time,
            ),
            sampler=self._sampler_settings(),
            enable_gpu=self.enable_gpu,
            verbose=self.verbose,
            random_state=self.random_state,
            match_marginals=self.match_marginals,
            oversampling=self.oversampling,
        )

    def _checked_guidance_columns(self) -> list[Any]:
        columns = [self._string_names().get(name, name) for name in self.guidance_columns or []]
        unknown = [name for name in columns if name not in self._facts]
        if unknown:
            raise SynthesizerInputError(
                f"Invalid value {self.guidance_columns!r} for parameter 'guidance_columns'. The "
                f"table has no column '{unknown[0]}'."
            )

        return columns

    def _sample(self, num_rows: int) -> pd.DataFrame:
        return self._model.sample(num_rows)

    def set_sampling_steps(self, sampling_steps: int) -> None:
        """Change the number of steps of the sampler, before or after fitting.

        The quality and the seconds of samples depend on it, what was learned does not.

        Args:
            sampling_steps (int):
                Steps of the sampler, at least 1.

        Raises:
            SynthesizerInputError:
                If it is not such a number.
        """
        check_parameters({**self.get_parameters(), 'sampling_steps': sampling_steps})
        self.sampling_steps = sampling_steps
        if self._model is not None:
            self._model.sampler = self._sampler_settings()

    def set_oversampling(self, oversampling: float) -> None:
        """Change how many rows ``sample`` may draw for each row that it returns.

        Before or after fitting; what was learned does not depend on it. A synthesizer fitted with
        ``oversampling=1`` has not learned to choose rows, and keeps every row.

        Args:
            oversampling (float):
                Largest number of rows, at least 1. 1 is the fastest.

        Raises:
            SynthesizerInputError:
                If it is not such a number.
        """
        check_parameters({**self.get_parameters(), 'oversampling': oversampling})
        self.oversampling = oversampling
        if self._model is not None:
            self._model.oversampling = oversampling

    def _sampler_settings(self) -> SamplerSettings:
        return SamplerSettings(
            steps=self.sampling_steps, solver=self.solver, stochastic=self.stochastic_sampler
        )
