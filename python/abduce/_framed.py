"""Estimators that take frames with columns of any kind, as well as arrays of numbers."""

from typing import Any

from sklearn.utils.validation import validate_data

from abduce import _core
from abduce._base import Mixed, warn
from abduce._filling import emptied
from abduce._tables import arrow_of, checked, dense, is_frame, is_polars, names_of, refuse_twins, tabled, truths_of
from abduce._types import Floats, Labels


class Framed(Mixed):
    """From a frame or an array to a table. A frame says by its cells what its columns are; those of an array are real."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _checked(self, X: Any, *, reset: bool) -> Any:
        X = tabled(X)
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
            self._like = emptied(X)
        return X

    def _learned_table(self, X: Any, labels: Labels | None = None, weights: Floats | None = None) -> _core.Table:
        """The table to learn from."""
        kinds = dict(self.kinds or {})
        if not self._framed:
            names = names_of(self, X.shape[1])
            for name, kind in kinds.items():
                if name not in names:
                    raise ValueError(f"kinds names column {name!r}, and X has none such; there are {', '.join(names)}")
                if kind not in ("real", "count"):
                    raise ValueError(f"a column of an array is real or count, not {kind}; hand over a frame for others")
            given = [kinds.get(name, "real") for name in names] if kinds else None
            return dense(X, names, kinds=given, labels=labels, weights=weights)
        frame = arrow_of(X)
        self._truths = truths_of(frame)
        table, notes = _core.table_of_frame(frame, list(kinds.items()), labels, weights)
        for note in notes:
            warn(note)
        return table

    def _asked_table(self, X: Any, labels: Labels | None = None, weights: Floats | None = None) -> _core.Table:
        """The table to ask about; without labels, those of a model of classes are hidden."""
        if not self._framed:
            return dense(X, names_of(self, X.shape[1]), labels=labels, weights=weights)
        table, _ = _core.table_of_frame(
            arrow_of(X), model=self._model, target=labels and labels[0], labels=None, weights=weights
        )
        return table
