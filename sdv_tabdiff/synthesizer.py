"""TabDiffSynthesizer: everything that SDV expects, nothing about noise."""

import copy
import math
import numbers
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from sdv.errors import InvalidDataError, NotFittedError
from sdv.sampling import Condition, DataFrameCondition
from sdv.single_table.base import BaseSingleTableSynthesizer
from sdv.single_table.utils import detect_discrete_columns

from sdv_tabdiff import plots
from sdv_tabdiff.diffusion import (
    DenoiserSizes,
    NoiseSettings,
    NonFiniteLossError,
    SamplerSettings,
    TrainingSettings,
)
from sdv_tabdiff.model import TabDiff
from sdv_tabdiff.parameters import check_parameters
from sdv_tabdiff.sdv_versions import (
    ProcessingError,
    for_sdv,
    from_sdv,
    same_signature,
    single_table,
)
from sdv_tabdiff.transformers import (
    CategoryCodes,
    DatetimeQuantileNormalizer,
    QuantileNormalizer,
)

# Steps that the default gives to a table: more for a larger one, but never for its rows alone.
STEPS_PER_ROOT_ROW = 20
MIN_STEPS, MAX_STEPS = 400, 10_000

# State of a fitted synthesizer that a failed refit must not destroy.
_FITTED_STATE = (
    '_fitted',
    '_random_state_set',
    '_data_processor',
    '_chained_constraints',
    '_reject_sampling_constraints',
    '_constraints_fitted',
    '_column_names',
    '_returns_dict',
)


class EmptyTableError(InvalidDataError, ValueError):
    """The table has no rows. SDV itself raises a ``ValueError`` here, so it is one as well."""


class TabDiffSynthesizer(BaseSingleTableSynthesizer):
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
        learning_rate (float):
            Peak learning rate. Defaults to 2e-3.
        early_stopping (bool):
            Whether to hold out a tenth of the rows, stop when their loss no longer falls, and keep
            the weights that were best for them. Defaults to ``True``.
        loss_balance (str):
            ``'column'`` if every column counts the same in the loss, ``'kind'`` if the numbers
            together count as much as the categories together. Defaults to ``'column'``.
        numerical_loss_weight (tuple):
            Weight of the numerical loss at the start and at the end of the training. Defaults to
            ``(1.0, 1.0)``.
        categorical_loss_weight (float):
            Weight of the categorical loss. Defaults to 1.0.
        ema_decay (float):
            Decay of the running mean of the weights, per step. Defaults to 0.999.
        token_dim (int):
            Width of a column's embedding. Defaults to 8.
        encoder_layers (int):
            Transformer layers before the trunk. Defaults to 0.
        decoder_layers (int):
            Transformer layers after the trunk. Defaults to 0.
        trunk (str):
            ``'residual'`` for residual blocks or ``'mlp'`` for the plain layers of the paper.
            Defaults to ``'residual'``.
        trunk_dims (tuple):
            Widths of the trunk's blocks or layers. Defaults to ``(256, 256, 256)``.
        time_dim (int):
            Width of the time embedding, even. Defaults to 32.
        learnable_schedules (bool):
            Whether each column learns its own noise schedule. Defaults to ``False``.
        sigma_min (float):
            Smallest noise of the numbers, in standard deviations. Defaults to 0.01.
        sigma_max (float):
            Largest noise of the numbers. Defaults to 10.0.
        sampling_steps (int):
            Steps of the sampler: fewer are faster, more are better. Defaults to 50.
        solver (str):
            ``'multistep'`` or ``'euler'`` with one network call a step, or ``'heun'`` with two.
            Defaults to ``'multistep'``.
        stochastic_sampler (bool):
            Whether the sampler adds some noise in every step, as in the paper, which lets it take
            back a wrong category. Defaults to ``False``.
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
        learning_rate: float = 2e-3,
        early_stopping: bool = True,
        loss_balance: str = 'column',
        numerical_loss_weight: tuple[float, float] = (1.0, 1.0),
        categorical_loss_weight: float = 1.0,
        ema_decay: float = 0.999,
        token_dim: int = 8,
        encoder_layers: int = 0,
        decoder_layers: int = 0,
        trunk: str = 'residual',
        trunk_dims: tuple[int, ...] = (256, 256, 256),
        time_dim: int = 32,
        learnable_schedules: bool = False,
        sigma_min: float = 0.01,
        sigma_max: float = 10.0,
        sampling_steps: int = 50,
        solver: str = 'multistep',
        stochastic_sampler: bool = False,
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
        self.learning_rate = learning_rate
        self.early_stopping = early_stopping
        self.loss_balance = loss_balance
        self.numerical_loss_weight = numerical_loss_weight
        self.categorical_loss_weight = categorical_loss_weight
        self.ema_decay = ema_decay
        self.token_dim = token_dim
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
        self.max_discrete_values = max_discrete_values
        self.enable_gpu = enable_gpu
        self.verbose = verbose
        self.random_state = random_state
        check_parameters(self.get_parameters())
        self._returns_dict = False
        # Integer names of columns by the strings that SDV knows them by: of the fitted table, and
        # of the last one that went through ``preprocess``.
        self._column_names: dict[str, Any] = {}
        self._processed_names: dict[str, Any] = {}

    # Containers: users may pass a frame or a dict on any SDV, and get back what they gave.

    def fit(self, data: Any) -> None:
        """Fit this model to the original data.

        Args:
            data (pandas.DataFrame or dict[str, pandas.DataFrame]):
                The table, or a dictionary that maps its name to it. It is not changed.
        """
        table = for_sdv(data, self._table_name)
        with self._kept_on_error():
            self._returns_dict = isinstance(data, dict)
            self._column_names = integer_names(single_table(data))
            super().fit(table)

    def preprocess(self, data: Any) -> Any:
        """Transform the raw data to the numbers and codes that the model sees.

        Args:
            data (pandas.DataFrame or dict[str, pandas.DataFrame]):
                The table.

        Returns:
            pandas.DataFrame or dict[str, pandas.DataFrame]:
                The processed table, in the container of ``data``.
        """
        table = for_sdv(data, self._table_name)
        if not self._fitting:
            self._processed_names = integer_names(single_table(data))

        return self._contained(from_sdv(super().preprocess(table)), isinstance(data, dict))

    def fit_processed_data(self, processed_data: Any) -> None:
        """Fit this model to data that went through ``preprocess``.

        Args:
            processed_data (pandas.DataFrame or dict[str, pandas.DataFrame]):
                The processed table.
        """
        table = for_sdv(processed_data, self._table_name)
        if self._fitting:
            self._fit_table(table)
            return

        with self._kept_on_error():
            self._check_processed(from_sdv(table))
            self._returns_dict = isinstance(processed_data, dict)
            self._column_names = self._processed_names
            self._fit_table(table)

    def _fit_table(self, table: Any) -> None:
        if from_sdv(table).empty:
            self._model = None  # Only keys and made-up columns: there is nothing to model.

        super().fit_processed_data(table)

    def _check_processed(self, processed: pd.DataFrame) -> None:
        expected = self._data_processor._hyper_transformer._output_columns
        missing = [name for name in expected if name not in processed.columns]
        if missing:
            raise InvalidDataError([
                f"The processed data lacks the columns {missing}. Use the output of 'preprocess'."
            ])

    def validate(self, data: Any) -> None:
        """Check the data against the metadata and the constraints.

        Args:
            data (pandas.DataFrame or dict[str, pandas.DataFrame]):
                The table.
        """
        super().validate(for_sdv(data, self._table_name))

    def auto_assign_transformers(self, data: Any) -> None:
        """Assign a transformer to each column, for ``get_transformers`` and later changes.

        Args:
            data (pandas.DataFrame or dict[str, pandas.DataFrame]):
                The table.
        """
        super().auto_assign_transformers(for_sdv(data, self._table_name))

    @same_signature(BaseSingleTableSynthesizer.sample)
    def sample(self, num_rows: Any, *args: Any, **kwargs: Any) -> Any:
        """Sample rows of the table.

        Args:
            num_rows (int):
                Number of rows.
            *args, **kwargs:
                As in the installed SDV: batches, the file to write to, the number of tries.

        Returns:
            pandas.DataFrame or dict[str, pandas.DataFrame]:
                The rows, in the container that ``fit`` was given.
        """
        self._validate_fit_before_sample()
        if num_rows is not None:
            _check_num_rows(num_rows)

        sampled = from_sdv(super().sample(num_rows, *args, **kwargs))
        return self._for_user(self._no_rows() if num_rows == 0 else sampled)

    @same_signature(BaseSingleTableSynthesizer.sample_from_conditions)
    def sample_from_conditions(self, conditions: Any, *args: Any, **kwargs: Any) -> Any:
        """Sample rows that meet conditions.

        Args:
            conditions (list[sdv.sampling.Condition or sdv.sampling.DataFrameCondition]):
                The conditions, each with its number of rows.
            *args, **kwargs:
                As in the installed SDV: batches, the file to write to, the number of tries.

        Returns:
            pandas.DataFrame or dict[str, pandas.DataFrame]:
                The rows, in the container that ``fit`` was given.
        """
        self._validate_fit_before_sample()
        conditions = [self._with_string_columns(condition) for condition in conditions]
        sampled = super().sample_from_conditions(conditions, *args, **kwargs)
        return self._for_user(from_sdv(sampled))

    @same_signature(BaseSingleTableSynthesizer.sample_remaining_columns)
    def sample_remaining_columns(self, known_columns: Any, *args: Any, **kwargs: Any) -> Any:
        """Sample the other columns of rows of which some columns are known.

        Args:
            known_columns (pandas.DataFrame):
                The known columns.
            *args, **kwargs:
                As in the installed SDV: batches, the file to write to, the number of tries.

        Returns:
            pandas.DataFrame or dict[str, pandas.DataFrame]:
                The rows, in the container that ``fit`` was given.
        """
        self._validate_fit_before_sample()
        known_columns = single_table(known_columns).rename(columns=self._string_names())
        sampled = super().sample_remaining_columns(known_columns, *args, **kwargs)
        return self._for_user(from_sdv(sampled))

    def _contained(self, frame: pd.DataFrame, as_dict: bool) -> Any:
        return {self._table_name: frame} if as_dict else frame

    def _for_user(self, frame: pd.DataFrame) -> Any:
        return self._contained(frame.rename(columns=self._column_names), self._returns_dict)

    def _no_rows(self) -> pd.DataFrame:
        names = self._original_metadata.tables[self._table_name].columns
        dtypes = self._data_processor._dtypes
        return pd.DataFrame({name: pd.Series(dtype=dtypes.get(name, object)) for name in names})

    def _string_names(self) -> dict[Any, str]:
        return {name: string for string, name in self._column_names.items()}

    def _with_string_columns(self, condition: Any) -> Any:
        names = self._string_names()
        if isinstance(condition, Condition):
            values = condition.get_column_values()
            return Condition(
                {names.get(name, name): value for name, value in values.items()},
                num_rows=condition.get_num_rows(),
            )
        if isinstance(condition, DataFrameCondition):
            return DataFrameCondition(condition.get_dataframe().rename(columns=names))

        return condition

    # Fitting

    _fitting = False

    @contextmanager
    def _kept_on_error(self) -> Iterator[None]:
        """Keep an earlier fit usable if this one fails."""
        earlier = None
        if self._fitted:
            earlier = {name: copy.deepcopy(self.__dict__[name]) for name in _FITTED_STATE}

        self._fitting = True
        try:
            yield
        except BaseException:
            if earlier is not None:
                self.__dict__.update(earlier)
            raise
        finally:
            del self._fitting

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
        model = self._new_model(len(processed_data))
        try:
            model.fit(processed_data, self._categories(processed_data), self._null_flags())
        except NonFiniteLossError as error:
            raise ProcessingError(str(error)) from error

        self._model = model

    def _default_epochs(self, num_rows: int) -> int:
        steps = np.clip(STEPS_PER_ROOT_ROW * math.sqrt(num_rows), MIN_STEPS, MAX_STEPS)
        return math.ceil(steps * self.batch_size / max(num_rows, self.batch_size))

    def _new_model(self, num_rows: int) -> TabDiff:
        return TabDiff(
            sizes=DenoiserSizes(
                token_dim=self.token_dim,
                encoder_layers=self.encoder_layers,
                decoder_layers=self.decoder_layers,
                trunk_dims=tuple(self.trunk_dims),
                residual=self.trunk == 'residual',
                time_dim=self.time_dim,
            ),
            noise=NoiseSettings(
                sigma_min=self.sigma_min,
                sigma_max=self.sigma_max,
                learnable=self.learnable_schedules,
            ),
            training=TrainingSettings(
                epochs=self.epochs or self._default_epochs(num_rows),
                batch_size=self.batch_size,
                learning_rate=self.learning_rate,
                ema_decay=self.ema_decay,
                balance=self.loss_balance,
                numerical_weight=tuple(self.numerical_loss_weight),
                categorical_weight=self.categorical_loss_weight,
                validation_share=0.1 if self.early_stopping else 0.0,
                max_seconds=self.max_training_time,
            ),
            sampler=SamplerSettings(
                steps=self.sampling_steps, solver=self.solver, stochastic=self.stochastic_sampler
            ),
            max_states=self.max_discrete_values,
            enable_gpu=self.enable_gpu,
            verbose=self.verbose,
            random_state=self.random_state,
        )

    def _field_transformers(self) -> dict[Any, Any]:
        return self._data_processor._hyper_transformer.field_transformers

    def _categories(self, processed_data: pd.DataFrame) -> set[Any]:
        transformers = self._field_transformers()
        codes = {
            column
            for transformer in transformers.values()
            if isinstance(transformer, CategoryCodes)
            for column in transformer.output_columns or []
        }
        rest = processed_data.drop(columns=list(codes & set(processed_data.columns)))
        return codes | set(detect_discrete_columns(self.metadata, rest, transformers))

    def _null_flags(self) -> dict[str, str]:
        """For each column of numbers, the column that flags where it is missing."""
        return {
            transformer.column_prefix: f'{transformer.column_prefix}.is_null'
            for transformer in self._field_transformers().values()
            if transformer is not None and 'is_null' in transformer.output_properties
        }

    # Sampling

    def _validate_conditions_unseen_columns(self, conditions: pd.DataFrame) -> None:
        super()._validate_conditions_unseen_columns(conditions)
        for column, transformer in self._field_transformers().items():
            if not isinstance(transformer, CategoryCodes) or column not in conditions:
                continue

            known = set(transformer.levels)
            for value in conditions[column].drop_duplicates():
                if value not in known and not (pd.isna(value) and transformer.has_missing):
                    raise ValueError(
                        f"Unexpected value {value!r} for column '{column}'. Use one of its "
                        f'{len(transformer.levels)} values in the original data.'
                    )

    def _sample(self, num_rows: int, conditions: dict | None = None) -> pd.DataFrame:
        if conditions is not None:
            # SDV then samples freely and keeps the rows that match.
            raise NotImplementedError('Conditions are met by rejection.')

        return self._model.sample(num_rows)

    # What training and noise looked like

    def _fitted_model(self, what: str) -> TabDiff | None:
        if not self._fitted:
            raise NotFittedError(
                f'{what} are not available yet. Please fit your synthesizer first.'
            )

        return self._model

    def get_loss_values(self) -> pd.DataFrame:
        """Get the losses of each epoch.

        Returns:
            pandas.DataFrame:
                Per epoch the training and the validation loss, in total and split into its
                numerical and its categorical part. The validation loss is missing if no rows are
                held out.

        Raises:
            NotFittedError:
                If the synthesizer has not been fitted.
        """
        model = self._fitted_model('Loss values')
        return model.loss_values if model else self._new_model(1).loss_values

    def get_loss_values_plot(self, title: str = 'TabDiff loss function') -> go.Figure:
        """Plot the losses of each epoch.

        Args:
            title (str):
                Title of the figure.

        Returns:
            plotly.graph_objects.Figure:
                The figure.

        Raises:
            NotFittedError:
                If the synthesizer has not been fitted.
        """
        return plots.loss_plot(self.get_loss_values(), title)

    def get_noise_schedules(self) -> pd.DataFrame:
        """Get the noise schedule of each column.

        Returns:
            pandas.DataFrame:
                For each column that the model sees as a number the exponent ``rho`` of its
                power-mean schedule, for each that it sees as a category the exponent ``k`` of its
                log-linear schedule. A number with states (repeated values, missing ones) has both.

        Raises:
            NotFittedError:
                If the synthesizer has not been fitted.
        """
        noise = self._noise_levels(num_times=2)
        return noise.drop_duplicates(['Column', 'Kind'])[
            ['Column', 'Kind', 'Exponent']
        ].reset_index(drop=True)

    def get_noise_schedules_plot(self, title: str = 'TabDiff noise schedules') -> go.Figure:
        """Plot the noise of each column against time.

        Args:
            title (str):
                Title of the figure.

        Returns:
            plotly.graph_objects.Figure:
                The figure.

        Raises:
            NotFittedError:
                If the synthesizer has not been fitted.
        """
        return plots.noise_plot(self._noise_levels(num_times=101), title)

    def _noise_levels(self, num_times: int) -> pd.DataFrame:
        model = self._fitted_model('Noise schedules') or self._new_model(1)
        noise = model.noise_levels(np.linspace(0, 1, num_times))
        return noise.assign(Column=noise['Column'].replace(self._column_names))


def integer_names(table: pd.DataFrame) -> dict[str, Any]:
    """Column names by their strings, if any of them is an integer."""
    if not any(isinstance(name, int) for name in table.columns):
        return {}

    return {str(name): name for name in table.columns}


def _check_num_rows(num_rows: Any) -> None:
    whole = isinstance(num_rows, numbers.Integral) and not isinstance(num_rows, bool)
    if not whole or num_rows < 0:
        raise ValueError(f"'num_rows' must be a whole number of at least 0, got {num_rows!r}.")
