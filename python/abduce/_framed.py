"""Estimators that take frames with columns of any kind, as well as arrays of numbers."""

from typing import Any

from sklearn.utils.validation import validate_data

from abduce import _core, _specifications
from abduce._base import Mixed, warn
from abduce._tables import (
    arrow_of,
    cell_of,
    checked,
    dense,
    is_frame,
    is_polars,
    likeness,
    matches,
    names_of,
    refuse_twins,
    tabled,
    truths_of,
    without_sparse,
)
from abduce._types import Floats, Labels

# What unseen categories are taken for, as warnings have it.
TAKEN_FOR = {
    "missing": "treated as missing",
    "smoothed": "given the smoothed probability of an unseen category",
    "impossible": "given probability 0",
}


class Framed(Mixed):
    """From a frame or an array to a table. A frame says by its cells what its columns are; those of an array are real."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _checked(self, X: Any, *, reset: bool) -> Any:
        X = without_sparse(tabled(X))
        if reset:
            self._framed = is_frame(X)
            self._like: Any = None
        elif self._framed and not is_frame(X):
            raise ValueError(f"{type(self).__name__} was fitted on a frame with named columns; X has none")
        if not self._framed:
            return checked(self, X, reset=reset)
        named = X
        if not hasattr(X, "__dataframe__"):
            # A relation of DuckDB knows the names of its columns only as Arrow does, and scikit-learn those of polars.
            import pyarrow

            named = pyarrow.table(X)
            X = X if is_polars(X) else named
        refuse_twins(X)
        validate_data(self, named, reset=reset, skip_check_array=True)
        if reset:
            self._like = likeness(X)
        return X

    def _learned_table(self, X: Any, labels: Labels | None = None, weights: Floats | None = None) -> _core.Table:
        """The table to learn from."""
        kinds = dict(_specifications.by_column("kinds", self.kinds))
        if labels is not None:
            # The `kinds_` of another fit name the column of classes too.
            kinds.pop(labels[0], None)
        if not self._framed:
            names = names_of(self, X.shape[1])
            given = self._kinds_of_array(names, kinds) if kinds else None
            return dense(X, names, kinds=given, labels=labels, weights=weights)
        frame = arrow_of(X)
        self._truths = truths_of(frame)
        table, notes = _core.table_of_frame(frame, list(kinds.items()), labels, weights)
        for note in notes:
            warn(note)
        return table

    @staticmethod
    def _kinds_of_array(names: list[str], kinds: dict[str, str]) -> list[str]:
        """The kind of each column; of several patterns that match it, the last one counts."""
        own = dict.fromkeys(names, "real")
        for pattern, kind in kinds.items():
            found = [name for name in names if matches(pattern, name)]
            if not found:
                raise ValueError(f"kinds names column {pattern!r}, and X has none such; there are {', '.join(names)}")
            if kind not in ("real", "count"):
                raise ValueError(f"a column of an array is real or count, not {kind}; hand over a frame for others")
            own |= dict.fromkeys(found, kind)
        return list(own.values())

    def _asked_table(self, X: Any, labels: Labels | None = None, weights: Floats | None = None) -> _core.Table:
        """The table to ask about; without labels, those of a model of classes are hidden."""
        if self._framed:
            table, _ = _core.table_of_frame(
                arrow_of(X), model=self._model, target=labels and labels[0], labels=None, weights=weights
            )
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
        """Warns of categories that the fitted rows do not have, and of what they are taken for."""
        for name, cells, row, taken_for in _core.unseen_categories(self._model, table, self._threads()):
            hold = "cell holds a category" if cells == 1 else "cells hold categories"
            they, first = ("it is", "") if cells == 1 else ("they are", "first: ")
            warn(
                f'column "{name}": {cells} {hold} that the fitted rows do not have '
                f'({first}"{cell_of(X, name, row)}" in row {row}); {they} {TAKEN_FOR[taken_for]}'
            )
