"""Known cells, ranges and sets of the user's columns in terms of the processed table."""

from typing import Any

import numpy as np
import pandas as pd
from rdt.errors import TransformerInputError, TransformerProcessingError

from sdv_tabdiff.condition_checks import range_points
from sdv_tabdiff.conditions import Between, OneOf, PartialRows
from sdv_tabdiff.facts import ColumnFacts
from sdv_tabdiff.knowledge import Knowledge, Restriction, Restrictions
from sdv_tabdiff.table import TableCodec

FLAG = '.is_null'
GRID = 9


class Expression:
    """Translates single columns through their transformers.

    Args:
        transformers: The fitted RDT transformer of each column; None leaves a column as it is.
        codec: The fitted codec.
        facts: What is known of each column.
    """

    def __init__(
        self, transformers: dict[Any, Any], codec: TableCodec, facts: dict[Any, ColumnFacts]
    ):
        self._transformers = transformers
        self._facts = facts
        self._modelled = set(codec.columns)
        self._codec = codec
        self._increasing: dict[Any, bool] = {}

    def knowledge(self, rows: PartialRows, whole: frozenset[Any] = frozenset()) -> Knowledge:
        """What the model is told about rows.

        Args:
            rows (PartialRows):
                What is known, by column before the transformers.
            whole (frozenset):
                Columns whose other cells must not be missing.
        """
        frame = pd.DataFrame(index=rows.frame.index)
        known = pd.DataFrame(index=rows.frame.index)
        for name in rows.frame.columns:
            values = rows.known_values(name)
            outputs = self._transform(name, values) if len(values) else None
            if outputs is not None:
                for output in outputs.columns:
                    frame[output] = outputs[output].reindex(frame.index)
                    known[output] = rows.known[name].to_numpy()

        restrictions = {}
        for name in dict.fromkeys([*rows.limits, *whole]):
            output = self._single_output(name)
            if output is not None:
                column = self._restrictions(name, rows, name in whole)
                if column is not None:
                    restrictions[output] = column

        return Knowledge(frame, known, restrictions)

    def allows_nothing(self, name: Any, option: Between | OneOf) -> bool:
        """Whether a range or set leaves nothing that the model could generate."""
        output = self._single_output(name)
        restriction = self._restriction(name, option) if output is not None else None
        if restriction is None:
            return False

        return self._codec.column(output).restrict(restriction).is_empty

    def _restrictions(self, name: Any, rows: PartialRows, whole: bool) -> Restrictions | None:
        options, index = rows.limits.get(name, ([], np.full(len(rows), -1)))
        restrictions = [self._restriction(name, option) for option in options]
        if any(restriction is None for restriction in restrictions):
            return None  # Not expressible in the transformer's terms: left to rejection.

        if whole:
            index = np.where(index < 0, len(restrictions), index)
            restrictions.append(self._not_missing(name))

        return Restrictions([option for option in restrictions if option is not None], index)

    def _restriction(self, name: Any, option: Between | OneOf) -> Restriction | None:
        if isinstance(option, OneOf):
            return self._set(name, option)

        facts = self._facts[name]
        if name not in self._increasing:
            self._increasing[name] = self._is_increasing(name, facts)
        if not self._increasing[name]:
            return None

        low, high = range_points(option, facts)
        # Values are rounded later on: half a step beyond the end still ends up inside.
        half = 0.5 * facts.step if facts.step is not None else None
        ends = [low, high] if half is None else [low - half, high + half]
        scores = self._scores(name, pd.Series(ends))
        return Restriction(
            -np.inf if low <= facts.low else scores[0],
            np.inf if high >= facts.high else scores[1],
        )

    def _not_missing(self, name: Any) -> Restriction:
        levels = self._facts[name].levels
        if levels is None or self._is_number(name):
            return Restriction(missing=False, leads=False)

        allowed = self._outputs(name, pd.Series(levels, dtype=object))
        return Restriction(allowed=allowed, leads=False)

    def _is_number(self, name: Any) -> bool:
        """Whether the model sees a continuum where the user has levels: some encoders do that."""
        output = self._single_output(name)
        return output is not None and self._codec.column(output).numerical

    def _set(self, name: Any, option: OneOf) -> Restriction | None:
        choices = pd.Series(list(option.choices), dtype=object)
        # To some transformers a missing value is a level like others, to others a flag.
        facts = self._facts.get(name)
        is_level = facts is None or facts.levels is not None
        if is_level and self._is_number(name):
            return None

        allowed = self._outputs(name, choices if is_level else choices.dropna())
        return None if allowed is None else Restriction(allowed=allowed, missing=choices.hasnans)

    def _outputs(self, name: Any, values: pd.Series) -> frozenset[Any] | None:
        """What the model sees of values; None if it does not see the column."""
        if len(values) == 0:
            return frozenset()

        outputs = self._transform(name, values.infer_objects())
        return None if outputs is None else frozenset(outputs[self._single_output(name)])

    def _is_increasing(self, name: Any, facts: ColumnFacts) -> bool:
        if facts.low == facts.high:
            return False

        span = facts.high - facts.low
        points = pd.Series([facts.low + span * (number / GRID) for number in range(GRID)])
        scores = self._scores(name, points)
        return scores is not None and bool((np.diff(scores) > 0).all())

    def _scores(self, name: Any, points: pd.Series) -> np.ndarray:
        outputs = self._transform(name, points)
        if outputs is None:
            return np.full(len(points), np.nan)

        return outputs[self._single_output(name)].to_numpy(dtype=np.float64, na_value=np.nan)

    def _single_output(self, name: Any) -> Any:
        """The one column that the model has for a column, its flag aside; None if not just one."""
        transformer = self._transformers.get(name)
        outputs = [name] if transformer is None else transformer.get_output_columns()
        outputs = [output for output in outputs if not str(output).endswith(FLAG)]
        return outputs[0] if len(outputs) == 1 and outputs[0] in self._modelled else None

    def _transform(self, name: Any, values: pd.Series) -> pd.DataFrame | None:
        """Some values of a column behind its transformer; None if it is not modelled."""
        if name not in self._transformers:
            return None

        if name in self._facts:
            values = self._facts[name].like_column(values)

        outputs = values.to_frame(name)
        try:
            if self._transformers[name] is not None:
                outputs = self._transformers[name].transform(outputs)
        except (TransformerInputError, TransformerProcessingError):
            return None

        kept = [column for column in outputs.columns if column in self._modelled]
        return outputs[kept] if kept else None
