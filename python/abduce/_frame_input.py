"""Frames with columns of any kind, or arrays of numbers, as input of estimators."""

import re
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from abduce import _core, _specifications
from abduce._base import MixinBase, warn
from abduce._number_strings import warn_of_number_strings
from abduce._tables import (
    arrow_of,
    as_table,
    boolean_columns_of,
    cell_of,
    checked,
    dense,
    is_frame,
    is_polars,
    matches,
    names_of,
    refuse_duplicate_names,
    without_rows,
    without_sparse,
)
from abduce._types import Floats, Labels

# How unseen categories are treated, for warnings.
TREATED_AS = {
    "missing": "treated as missing",
    "smoothed": "given the smoothed probability of an unseen category",
    "impossible": "given probability 0",
}


class FrameInputMixin(MixinBase):
    """Converts frames, whose types determine the kinds of columns, and arrays, whose columns are real, to tables."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _checked(self, X: Any, *, reset: bool) -> Any:
        X = without_sparse(as_table(X))
        if reset:
            self._framed = is_frame(X)
            self._frame_template: Any = None
        elif self._framed and not is_frame(X):
            raise ValueError(f"{type(self).__name__} was fitted to a frame with named columns, but X has no names")
        if not self._framed:
            return self._checked_array(X, reset=reset)
        named = X
        if not hasattr(X, "__dataframe__"):
            # scikit-learn reads the column names of Arrow tables, but not those of polars and DuckDB.
            import pyarrow

            named = pyarrow.table(X)
            X = X if is_polars(X) else named
        refuse_duplicate_names(X)
        validate_data(self, named, reset=reset, skip_check_array=True)
        if reset:
            self._frame_template = without_rows(X)
            warn_of_number_strings(X, [name for name, _ in _specifications.by_column("kinds", self.kinds)])
        return X

    def _checked_array(self, X: Any, *, reset: bool) -> Any:
        try:
            return checked(self, X, reset=reset)
        except ValueError as error:
            reason, _, cell = str(error).partition(": ")
            if reason != "could not convert string to float":
                raise
            cell = re.sub(r"^np\.str_\((.*)\)$", r"\1", cell, flags=re.DOTALL)
            raise ValueError(
                f"X is an array with the string {cell}, but the columns of an array are numbers; for columns of categories "
                "pass a data frame, as by pandas.DataFrame(X)"
            ) from error

    def _training_table(self, X: Any, labels: Labels | None = None, weights: Floats | None = None) -> _core.Table:
        """The table to fit."""
        kinds = dict(_specifications.by_column("kinds", self.kinds))
        if labels is not None:
            # The `kinds_` of another fit include the column of classes.
            kinds.pop(labels[0], None)
        if not self._framed:
            names = names_of(self, X.shape[1])
            given = self._kinds_of_array(names, kinds) if kinds else None
            return dense(X, names, kinds=given, labels=labels, weights=weights)
        frame = arrow_of(X)
        self._boolean_columns = boolean_columns_of(frame)
        table, notes = _core.table_of_frame(frame, list(kinds.items()), labels, weights)
        for note in notes:
            warn(note)
        return table

    @staticmethod
    def _kinds_of_array(names: list[str], kinds: dict[str, str]) -> list[str]:
        """The kind of each column: that of the last pattern that matches."""
        found_kinds = dict.fromkeys(names, "real")
        for pattern, kind in kinds.items():
            found = [name for name in names if matches(pattern, name)]
            if not found:
                raise ValueError(f"kinds has {pattern!r}, which matches no column; the columns are {', '.join(names)}")
            if kind not in ("real", "count"):
                raise ValueError(
                    f"the kind of an array column must be real or count, not {kind}; pass a frame for other kinds"
                )
            found_kinds |= dict.fromkeys(found, kind)
        return list(found_kinds.values())

    def _table_for_model(self, X: Any, labels: Labels | None = None, weights: Floats | None = None) -> _core.Table:
        """New rows as a table with the columns of the model."""
        if self._framed:
            frame = arrow_of(X) if labels is None else _with_labels(arrow_of(X), labels)
            table, _ = _core.table_of_frame(frame, model=self._model, target=labels and labels[0], weights=weights)
        else:
            table = dense(X, names_of(self, X.shape[1]), labels=labels, weights=weights)
        for name, rows in _core.changed_constants(self._model, table, self._threads()):
            plural = "row has" if rows == 1 else "rows have"
            warn(
                f'column "{name}" was constant when the model was fitted; {rows} {plural} another value, which is ignored'
            )
        if self._framed:
            self._warn_of_unseen(X, table)
        return table

    def _warn_of_unseen(self, X: Any, table: _core.Table) -> None:
        """Warns about unseen categories, and how they are treated."""
        for name, cells, row, treated_as in _core.unseen_categories(self._model, table, self._threads()):
            hold = "cell holds a category" if cells == 1 else "cells hold categories"
            they, first = ("it is", "") if cells == 1 else ("they are", "first: ")
            warn(
                f'column "{name}": {cells} {hold} that the fitted rows do not have '
                f'({first}"{cell_of(X, name, row)}" in row {row}); {they} {TREATED_AS[treated_as]}'
            )


def _with_labels(frame: Any, labels: Labels) -> Any:
    """A frame with a column of the known labels, if there are any."""
    import pyarrow

    name, levels, codes = labels
    if codes is None or not (codes >= 0).any():
        return frame
    cells = pyarrow.array([*levels, None], pyarrow.string())
    return pyarrow.table(frame).append_column(name, cells.take(pyarrow.array(np.where(codes < 0, len(levels), codes))))
