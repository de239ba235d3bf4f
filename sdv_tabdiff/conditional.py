"""Rows with given cells: SDV's conditions, known columns, and imputation."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd
from sdv.errors import SynthesizerInputError
from sdv.single_table.base import FIXED_RNG_SEED

from sdv_tabdiff.completion import ROWS_PER_BATCH, Completer
from sdv_tabdiff.condition_checks import check_conditions
from sdv_tabdiff.conditions import OneOf, PartialRows, condition_frame, partial_rows
from sdv_tabdiff.constrained import check_constraints
from sdv_tabdiff.containers import AnyContainerSynthesizer
from sdv_tabdiff.expression import Expression
from sdv_tabdiff.facts import ColumnFacts
from sdv_tabdiff.imputation import METHODS, Imputer
from sdv_tabdiff.parameters import CHECKS
from sdv_tabdiff.sdv_versions import single_table


class ConditionalSynthesizer(AnyContainerSynthesizer):
    """A synthesizer whose model fills in partly known rows by itself.

    SDV would sample freely, once for each distinct condition, and keep what matches. Here all rows
    go through the model together, whatever their conditions.
    """

    # Strength of the guidance towards the given cells, and what it compares with: without columns
    # of its own, the network that a share of the training made ready for known and hidden cells.
    guidance = 0.0
    guidance_columns: list[str] | None = None
    conditional_share = 0.0

    # What is known of each column of the training data.
    _facts: dict[Any, ColumnFacts] = {}

    def _preprocess_helper(self, table_data: pd.DataFrame) -> pd.DataFrame:
        # SDV first: it knows better how to refuse a column that is not what the metadata say.
        transformed = super()._preprocess_helper(table_data)
        properties = self._original_metadata.tables[self._table_name].columns
        self._facts = {
            name: ColumnFacts.learn(table_data[name], properties[name], self.enforce_rounding)
            for name in table_data.columns
            if name in properties
        }
        return transformed

    def _field_transformers(self) -> dict[Any, Any]:
        return self._data_processor._hyper_transformer.field_transformers

    def _get_fitted_constraints(self) -> list[Any]:
        return [*self._chained_constraints, *self._reject_sampling_constraints]

    @staticmethod
    def _make_condition_dfs(conditions: Iterable[Any]) -> list[pd.DataFrame]:
        # One frame for all conditions, whatever their columns, keeps the order asked for.
        return [condition_frame(conditions)]

    def _validate_conditions_unseen_columns(self, conditions: pd.DataFrame) -> None:
        super()._validate_conditions_unseen_columns(conditions)
        rows = partial_rows(conditions)
        check_conditions(rows, self._facts, self.enforce_min_max_values)
        self._check_limits(rows)
        check_constraints(rows, self._get_fitted_constraints())

    def _check_limits(self, rows: PartialRows) -> None:
        """Raise if the model has nothing to offer in a range or a set."""
        if not self._model:
            return

        expression = Expression(self._field_transformers(), self._model.codec, self._facts)
        for name, (options, _) in rows.limits.items():
            for option in options:
                if expression.allows_nothing(name, option):
                    remedy = 'Use Between.' if isinstance(option, OneOf) else 'Use a wider range.'
                    raise ValueError(f"Column '{name}' has no value in {option!r}. {remedy}")

    def _seed_once(self) -> None:
        if self._model and not self._random_state_set:
            self._set_random_state(FIXED_RNG_SEED)

    def _sample_with_conditions(
        self,
        conditions: pd.DataFrame,
        max_tries_per_batch: int,
        batch_size: int | None,
        progress_bar: Any = None,
        output_file_path: str | None = None,
        keep_extra_columns: bool = False,
    ) -> pd.DataFrame:
        self._seed_once()

        def report(rows: pd.DataFrame) -> None:
            if progress_bar is not None:
                progress_bar.update(len(rows))
            if output_file_path is not None and len(rows):
                path = Path(output_file_path)
                begun = path.exists() and path.stat().st_size > 0
                rows.to_csv(path, index=False, mode='a', header=not begun)

        sampled = Completer(self, self.guidance).complete(
            partial_rows(conditions), max_tries_per_batch, batch_size or ROWS_PER_BATCH, report
        )
        return sampled.set_axis(conditions.index[sampled.index], axis=0)

    def impute(
        self,
        data: Any,
        method: str = 'draw',
        num_draws: int | None = None,
        guidance: float | None = None,
        keep_missing: bool | list[str] = False,
        random_state: int | None = None,
    ) -> Any:
        """Fill in the missing cells of a table.

        Cells that are there stay as they are. The others are drawn given those of the same row.

        Args:
            data (pandas.DataFrame or dict[str, pandas.DataFrame]):
                The table with holes. A column that it lacks counts as all missing. It is not
                changed.
            method (str):
                ``'draw'`` for a draw of each missing cell, ``'mean'`` or ``'median'`` for the best
                guess: the mean or the median of a number or date, the most likely category.
                Defaults to ``'draw'``.
            num_draws (int or None):
                With ``'draw'``, the number of completed tables (multiple imputation); defaults to
                1. With a best guess, the number of draws behind it; defaults to 20.
            guidance (float or None):
                Strength of the guidance towards the known cells; 0 is none. Defaults to that of
                the synthesizer.
            keep_missing (bool or list[str]):
                Whether, or in which columns, a cell may stay missing if the training data were
                missing there too. Defaults to ``False``: every cell is filled in.
            random_state (int or None):
                Seed of the draws. Defaults to ``None``: go on with the synthesizer's own random
                numbers, which ``reset_sampling`` starts anew.

        Returns:
            pandas.DataFrame or dict[str, pandas.DataFrame] or list:
                The whole table, in the container that ``fit`` was given; a list of them for several
                draws.
        """
        imputer = self._imputer(guidance, keep_missing, random_state)
        table = self._table_to_impute(data)
        if method not in METHODS:
            raise SynthesizerInputError(
                f"Invalid value {method!r} for parameter 'method'. Please provide one of {METHODS}."
            )
        self._check_argument('num_draws', num_draws, 'epochs')

        if method != 'draw':
            return self._for_user(imputer.estimate(table, method, num_draws))

        draws = [self._for_user(frame) for frame in imputer.draws(table, num_draws or 1)]
        return draws if num_draws is not None and num_draws > 1 else draws[0]

    def impute_probabilities(
        self,
        data: Any,
        columns: list[str] | None = None,
        guidance: float | None = None,
        keep_missing: bool | list[str] = False,
    ) -> dict[Any, pd.DataFrame]:
        """Probability of each category in the missing cells of a table.

        Args:
            data (pandas.DataFrame or dict[str, pandas.DataFrame]):
                The table with holes. A column that it lacks counts as all missing.
            columns (list[str] or None):
                The categorical columns to look at. Defaults to ``None``: all with missing cells.
            guidance (float or None):
                Strength of the guidance, as in ``impute``.
            keep_missing (bool or list[str]):
                Whether, or in which columns, *missing* counts as a category of its own, as in
                ``impute``.

        Returns:
            dict[str, pandas.DataFrame]:
                For each column a frame with the rows in which it is missing, by the index of
                ``data``, and a column for each category. Each row sums to 1.
        """
        imputer = self._imputer(guidance, keep_missing, None)
        if columns is not None and not isinstance(columns, (list, tuple)):
            raise SynthesizerInputError(
                f"Invalid value {columns!r} for parameter 'columns'. Please provide a list of "
                'column names.'
            )
        if columns is not None:
            columns = [self._string_names().get(name, name) for name in columns]

        shares = imputer.probabilities(self._table_to_impute(data), columns)
        return {self._column_names.get(name, name): frame for name, frame in shares.items()}

    def _imputer(
        self, guidance: float | None, keep_missing: bool | list[str], random_state: int | None
    ) -> Imputer:
        self._validate_fit_before_sample()
        strength = self.guidance if guidance is None else guidance
        self._check_argument('guidance', strength)
        self._check_argument('random_state', random_state)
        if strength and not (self.conditional_share or self.guidance_columns):
            raise SynthesizerInputError(
                f"Invalid value {strength!r} for parameter 'guidance'. This synthesizer was fitted "
                "without 'conditional_share' and without 'guidance_columns'."
            )
        if not isinstance(keep_missing, (bool, list, tuple, set)):
            raise SynthesizerInputError(
                f"Invalid value {keep_missing!r} for parameter 'keep_missing'. Please provide "
                'True, False or a list of column names.'
            )

        kept = list(self._facts) if keep_missing is True else keep_missing or []
        kept = [self._string_names().get(name, name) for name in kept]
        unknown = [name for name in kept if name not in self._facts]
        if unknown:
            raise SynthesizerInputError(
                f"Invalid value {keep_missing!r} for parameter 'keep_missing'. The table has no "
                f"column '{unknown[0]}'."
            )

        self._seed_once()
        return Imputer(self, float(strength), frozenset(kept), random_state)

    @staticmethod
    def _check_argument(name: str, value: Any, like: str | None = None) -> None:
        """Check an argument as the parameter of that name, or the one that it is like."""
        accepts, words = CHECKS[like or name]
        if not accepts(value):
            raise SynthesizerInputError(
                f"Invalid value {value!r} for parameter '{name}'. Please provide {words}."
            )

    def _table_to_impute(self, data: Any) -> pd.DataFrame:
        table = single_table(data)
        if not isinstance(table, pd.DataFrame):
            raise SynthesizerInputError(
                "Invalid value for parameter 'data'. Please provide a pandas DataFrame or a "
                f"dictionary that maps the table name to one, not '{type(data).__name__}'."
            )

        return table.rename(columns=self._string_names())
