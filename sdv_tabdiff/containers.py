"""What users may pass to a synthesizer and what they get back, on every version of SDV."""

import copy
import numbers
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pandas as pd
from sdv.errors import InvalidDataError
from sdv.sampling import Condition, DataFrameCondition
from sdv.single_table.base import BaseSingleTableSynthesizer

from sdv_tabdiff.sdv_versions import for_sdv, from_sdv, same_signature, single_table

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
    '_facts',
)


class AnyContainerSynthesizer(BaseSingleTableSynthesizer):
    """A synthesizer that takes a DataFrame or a dictionary of one, and returns what it was given.

    Column names may be integers. The user's frame is never changed, and an earlier fit survives a
    later one that fails.
    """

    _fitting = False

    # Whether the sampling methods return dictionaries.
    _returns_dict = False

    # Integer names of columns by the strings that SDV knows them by: of the fitted table, and of
    # the last one that went through ``preprocess``.
    _column_names: dict[str, Any] = {}
    _processed_names: dict[str, Any] = {}

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
        if self._column_names:
            frame.columns = [self._column_names.get(name, name) for name in frame.columns]

        return self._contained(frame, self._returns_dict)

    def _no_rows(self) -> pd.DataFrame:
        names = self._original_metadata.tables[self._table_name].columns
        dtypes = self._data_processor._dtypes
        return pd.DataFrame({name: pd.Series(dtype=dtypes.get(name, object)) for name in names})

    def _string_names(self) -> dict[Any, str]:
        return {name: string for string, name in self._column_names.items()}

    def _with_string_columns(self, condition: Any) -> Any:
        names = self._string_names()
        if names and isinstance(condition, Condition):
            values = condition.get_column_values()
            return Condition(
                {names.get(name, name): value for name, value in values.items()},
                num_rows=condition.get_num_rows(),
            )
        if names and isinstance(condition, DataFrameCondition):
            return DataFrameCondition(condition.get_dataframe().rename(columns=names))

        return condition

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


def integer_names(table: pd.DataFrame) -> dict[str, Any]:
    """Column names by their strings, if any of them is an integer."""
    if not any(isinstance(name, int) for name in table.columns):
        return {}

    return {str(name): name for name in table.columns}


def _check_num_rows(num_rows: Any) -> None:
    whole = isinstance(num_rows, numbers.Integral) and not isinstance(num_rows, bool)
    if not whole or num_rows < 0:
        raise ValueError(f"'num_rows' must be a whole number of at least 0, got {num_rows!r}.")
