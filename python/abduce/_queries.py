"""Questions to fitted models: queries, predicted columns, draws, imputation, tail probabilities, explanations."""

import json
from collections.abc import Iterator, Mapping, Sequence
from numbers import Integral
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from abduce import _core
from abduce._base import MixinBase, checked_n_samples, seed_of
from abduce._imputed import ImputedColumn, filled, frame_like, integer_types, with_columns
from abduce._tables import as_table, fitted_names, is_frame
from abduce._types import Columns, Floats, Rows, Seed, Target

# The levels of a column of booleans from Arrow.
BOOLEAN_LEVELS = ["false", "true"]
Given: TypeAlias = list[tuple[str, float | str]]


def drawn_copies(
    model: _core.Model, table: _core.Table, how: str, copies: int, random_state: Seed
) -> Iterator[Columns]:
    """The completed columns of copies of a table, each under parameters of its own."""
    if how != "draw":
        raise ValueError('copies needs how="draw": means and modes are the same in every copy')
    if copies < 1:
        raise ValueError(f"copies must be positive, not {copies}")
    generator = np.random.RandomState(seed_of(random_state) % 2**32)
    for _ in range(copies):
        drawn = model.with_drawn_parameters(table, seed_of(generator))
        yield drawn.complete(table, how, seed_of(generator))


class TailProbabilityMixin(MixinBase):
    """Tail probabilities of rows, which may have missing values."""

    def tail_probability(self, X: Rows, *, log: bool = False, random_state: Seed = 0) -> Floats:
        """The probability that a drawn row with the same cells is no more likely than each row.

        Unlike log-densities, these probabilities can be compared between rows with different missing values; the
        smallest is that of the most extreme row. They are estimated from up to 10,000 drawn rows, and an exponential
        tail beyond them. Labels are ignored.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows.
        log : bool, default=False
            Whether to return natural logarithms, which distinguish probabilities near 0.
        random_state : int, RandomState, Generator or None, default=0
            Seed or generator of the drawn rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The tail probabilities.
        """
        check_is_fitted(self, "_model")
        found = _core.tail_probabilities(self._model, self._query_table(X), seed_of(random_state), self._threads())
        if found is None:
            raise ValueError("tail probabilities are not available: the model cannot draw all columns of X")
        return found if log else np.exp(found)


class QueryMixin(TailProbabilityMixin):
    """Questions to a model of all columns, any of which may be given."""

    def _fields(self) -> list[dict[str, Any]]:
        return self._part("schema")["fields"]

    def _decoded(self, columns: Columns) -> dict[str, NDArray[Any]]:
        """Columns as arrays, with names of levels, booleans and class labels."""
        fields = {field["name"]: field for field in self._fields()}
        return {name: self._cells(fields[name], cells) for name, cells in columns}

    def _values(self, field: dict[str, Any]) -> NDArray[Any]:
        """The levels of a column as values of the user."""
        levels = field["levels"]
        if field["name"] == getattr(self, "_target", None):
            return self.classes_
        # A model of the command line does not record which columns were boolean; the names of the levels decide.
        booleans = getattr(self, "_boolean_columns", None)
        is_true = levels == BOOLEAN_LEVELS and (booleans is None or field["name"] in booleans)
        return np.array([False, True]) if is_true else np.array(levels, dtype=object)

    def _value_of(self, column: str) -> dict[str, Any]:
        """The values of the levels of a column by their names; empty for a column of numbers."""
        field = self._field(column)
        levels = field.get("levels")
        return dict(zip(levels, self._values(field).tolist(), strict=True)) if levels else {}

    def _cells(self, field: dict[str, Any], cells: NDArray[Any]) -> NDArray[Any]:
        levels = field.get("levels")
        if not levels:
            return cells
        values = self._values(field)
        if np.all((cells >= 0) & (cells < len(levels))):
            return values[cells]
        # The code after the last level is an unseen category.
        return np.array([*values.tolist(), None], dtype=object)[cells]

    def draw(
        self, n_samples: int = 1, *, given: Mapping[str, Any] | None = None, random_state: Seed = None
    ) -> dict[str, NDArray[Any]] | Any:
        """Draws rows from the model.

        Parameters
        ----------
        n_samples : int, default=1
            Number of rows.
        given : dict, default=None
            Values of some columns, or of the `component` of a mixture.
        random_state : int, RandomState, Generator or None, default=None
            Seed or generator of the random numbers.

        Returns
        -------
        frame or dict of ndarray
            A frame of the library and types of the fitted frame, or a dict of columns x0, x1, … for an array; with a
            column of class labels, if any. Columns of integers have whole numbers in the range of their type.
        """
        check_is_fitted(self, "_model")
        model, known = self._conditioned(given)
        self._check_given(known)
        drawn = model.sample(checked_n_samples(n_samples, len(self._fields())), seed_of(random_state), known)
        columns = self._decoded(drawn)
        template = getattr(self, "_frame_template", None)
        return columns if template is None else frame_like(columns, template)

    def predict_column(self, X: Rows, column: str, y: Target | None = None) -> NDArray[Any]:
        """The most probable level of any column of levels, given all other cells of each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows; the cells of the column itself are not used.
        column : str
            Name of the column, or of the column of classes.
        y : array-like of shape (n_samples,), default=None
            Labels of the rows, if known; ignored by mixtures.

        Returns
        -------
        ndarray of shape (n_samples,)
            The most probable levels.
        """
        probabilities = self.predict_column_proba(X, column, y)
        best = np.column_stack(list(probabilities.values())).argmax(axis=1)
        return self._values(self._field(column))[best]

    def predict_column_proba(self, X: Rows, column: str, y: Target | None = None) -> dict[Any, Floats]:
        """The probabilities of the levels of any column of levels, given all other cells of each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows; the cells of the column itself are not used.
        column : str
            Name of the column, or of the column of classes.
        y : array-like of shape (n_samples,), default=None
            Labels of the rows, if known; ignored by mixtures.

        Returns
        -------
        dict of ndarray of shape (n_samples,)
            For each level, its probability in each row.
        """
        check_is_fitted(self, "_model")
        field = self._field(column)
        if not field.get("levels"):
            raise ValueError(f"column {column!r} has no levels to predict: its kind is {field['kind']}")
        if column == getattr(self, "_target", None):
            probabilities = self.predict_proba(X)
        else:
            table = self._query_table(X, y)
            probabilities, impossible = _core.column_posterior(self._model, table, column, self._threads())
            if impossible is not None:
                self._warn_of_rows(impossible, "impossible under the model", f"the probabilities of {column!r} alone")
        return dict(zip(self._values(field).tolist(), probabilities.T, strict=True))

    def _field(self, column: str) -> dict[str, Any]:
        fields = {field["name"]: field for field in self._fields()}
        if column not in fields:
            raise ValueError(f"there is no column {column!r}; there are {', '.join(fields)}")
        return fields[column]

    def _check_given(self, known: Given) -> None:
        """Raises an error for given numbers that the type of their column cannot hold."""
        whole = {field["name"] for field in self._fields() if field.get("whole") or field["kind"] == "count"}
        kinds = integer_types(getattr(self, "_frame_template", None))
        for name, value in known:
            if isinstance(value, str):
                continue
            if (name in whole or name in kinds) and value != round(value):
                raise ValueError(f"column {name!r} has whole numbers, not {value!r}")
            if name in kinds and not np.iinfo(kinds[name]).min <= value <= np.iinfo(kinds[name]).max:
                raise ValueError(f"column {name!r} has type {kinds[name]}, which cannot hold {value!r}")

    def impute(
        self,
        X: Rows,
        *,
        how: Literal["mean", "mode", "draw"] = "mean",
        copies: int | None = None,
        random_state: Seed = None,
    ) -> dict[str, NDArray[Any]] | Any:
        """Fills the missing values of rows.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows with missing values.
        how : {"mean", "mode", "draw"}, default="mean"
            What missing values are replaced by: their conditional mean, their most probable value, or a draw.
        copies : int, default=None
            With `how="draw"`, the number of copies for multiple imputation. Each has parameters of its own: from a fit
            to the rows with random weights (the Bayesian bootstrap) if `X` are the fitted rows, otherwise from a fit to
            as many rows drawn from the model.
        random_state : int, RandomState, Generator or None, default=None
            Seed or generator of the random numbers.

        Returns
        -------
        frame or dict of ndarray, or a list of them
            A frame with the types of `X` and a column of class labels, if any; for an array, a dict of columns. Columns
            of integers are filled with whole numbers in the range of their type. With `copies`, a list.
        """
        check_is_fitted(self, "_model")
        table = self._query_table(X)
        self._warn_of_impossible_fillings(table)
        if copies is None:
            return self._imputed(X, self._model.complete(table, how, seed_of(random_state)))
        return [
            self._imputed(X, completed) for completed in drawn_copies(self._model, table, how, copies, random_state)
        ]

    def _imputed(self, X: Rows, completed: Columns) -> dict[str, NDArray[Any]] | Any:
        """Completed columns as a frame, or as a dict for an array."""
        if not (is_frame(X) and fitted_names(self)):
            return self._decoded(completed)
        levels = {field["name"]: field.get("levels") or None for field in self._fields()}
        target = getattr(self, "_target", None)
        fillings = {name: ImputedColumn(cells, levels[name]) for name, cells in completed if name != target}
        out = filled(as_table(X), fillings)
        return out if target is None else with_columns(out, {target: self._decoded(completed)[target]})

    # The type of the answer depends on the question; with a union, users would have to narrow it.
    def query(
        self, question: str, *, draws: int = 10_000, random_state: Seed = 0, detail: bool = False
    ) -> dict[Any, Any] | Any:
        """Answers a question about some columns, given others.

        - `P(y | x0=5.1, colour=red)`: for a column of levels, the probability of each level (classes as in `classes_`);
          for a column of numbers, mean and variance; for several columns of levels, `P(a, b | …)`, the probability of
          each combination, by tuples.
        - `P(colour=red, x0>5 | …)`: the probability of an event.
        - `E(x | …)`: the mean of a column of numbers.
        - `MAP(a, b | …)`: the most probable combination of levels, as `map`, and its `probability`; for a column of
          numbers, the most probable number and its `density`.

        Conditions are `=`, `!=`, `<`, `<=`, `>`, `>=`, `in {a, b}` and `between a and b`; levels can be compared if they
        are numbers or ordinal. Counts have probabilities: `P(visits=2)`, and `P(visits)` for all counts that are not
        almost impossible. The component of a mixture is the column `component`, numbered from 0 as by `predict`. Names
        and values with a comma, a bar or a sign are quoted: `P("petal width" | colour='red, or pink')`.

        Parameters
        ----------
        question : str
            Question.
        draws : int, default=10000
            Number of rows to draw if the answer has no closed form. Answers are exact if the columns are independent
            within each component or take few values.
        random_state : int, RandomState, Generator or None, default=0
            Seed or generator of the drawn rows.
        detail : bool, default=False
            Whether to return the method and the standard errors too.

        Returns
        -------
        float or dict
            The answer. With `detail`, a dict of `answer`, `method` ("exact" or "draws") and, for draws,
            `standard_error` in the form of the answer, `draws` and `effective_draws`, the equivalent number of
            independent draws.
        """
        check_is_fitted(self, "_model")
        if draws < 1:
            raise ValueError(f"draws must be positive, not {draws}")
        components = None
        if self._component() is not None:
            components = [str(number) for number in range(len(self._part("weights")))]
        found = json.loads(_core.query(self._model, question, draws, seed_of(random_state), components))
        answer = self._answered(found, "probability")
        if not detail:
            return answer
        if found["method"] == "exact":
            return {"answer": answer, "method": "exact"}
        counts = {name: found[name] for name in ("method", "draws", "effective_draws")}
        return {"answer": answer, "standard_error": self._answered(found, "standard_error"), **counts}

    def _answered(self, found: dict[str, Any], number: Literal["probability", "standard_error"]) -> Any:
        """An answer with the values of the user, or its standard errors in the same form."""
        wants_errors = number == "standard_error"
        if "rows" in found:
            keys = [tuple(map(self._plain_value, found["columns"], row["values"])) for row in found["rows"]]
            single = len(found["columns"]) == 1
            return {key[0] if single else key: row[number] for key, row in zip(keys, found["rows"], strict=True)}
        if "variance" in found:
            if wants_errors:
                return {"mean": found["standard_error"], "variance": found["variance_standard_error"]}
            return {"mean": found["mean"], "variance": found["variance"]}
        if "values" in found:
            pairs = zip(found["columns"], found["values"], strict=True)
            best = {column: self._plain_value(column, value) for column, value in pairs}
            return {"map": best, "probability": found[number]}
        if "density" in found:
            return {"map": {found["column"]: found["value"]}, "density": found["density"]}
        return found[number] if wants_errors or "mean" not in found else found["mean"]

    def _plain_value(self, column: str, value: str | float) -> Any:
        """A level as a value of the user, a count or a component as a whole number."""
        if isinstance(value, float):
            return int(value) if value.is_integer() else value
        if column == self._component():
            return int(value)
        return self._value_of(column).get(value, value)

    def _conditioned(self, given: Mapping[str, Any] | None) -> tuple[_core.Model, Given]:
        """The model, conditioned on a given component, and the given cells."""
        name = self._component()
        if name is None or not isinstance(given, Mapping) or name not in given:
            return self._model, _given(given, self._fields())
        others = {column: value for column, value in given.items() if column != name}
        number = self._number_of_component(given[name], len(self._part("weights")))
        return _core.of_component(self._model, number), _given(others, self._fields())

    @staticmethod
    def _number_of_component(value: Any, count: int) -> int:
        if not str(value).isdecimal() or int(value) >= count:
            raise ValueError(f"there is no component {value!r}; components are numbered from 0 to {count - 1}")
        return int(value)

    def _component(self) -> str | None:
        """The column name of the component of a mixture; None if there is no such column."""
        taken = {field["name"] for field in self._fields()}
        return None if hasattr(self, "_target") or "component" in taken else "component"


def _given(given: Mapping[str, Any] | None, fields: Sequence[dict[str, Any]] | None = None) -> Given:
    if not isinstance(given, (Mapping, type(None))):
        raise TypeError(f"given must be a dict of values by column name, not {given!r}")
    kinds = {field["name"]: field for field in fields or ()}

    def cell(name: str, value: Any) -> float | str:
        if isinstance(value, str) and name in kinds and not kinds[name].get("levels"):
            try:
                number = float(value)
            except ValueError:
                number = np.nan
            if not np.isfinite(number):
                raise ValueError(f"column {name!r} has numbers, not {value!r}")
            return number
        if isinstance(value, str) and kinds.get(name, {}).get("levels") == BOOLEAN_LEVELS:
            return value.lower()
        if isinstance(value, (bool, np.bool_)):
            # Boolean labels are named as in Python, boolean cells of frames as in Arrow.
            level = str(bool(value))
            return level if level in kinds.get(name, {}).get("levels", ()) else level.lower()
        if isinstance(value, str):
            return value
        levels = kinds.get(name, {}).get("levels")
        if levels and str(value) in levels:
            return str(value)
        number = float(value)
        if levels:
            spellings = (str(value), str(number), f"{number:g}")
            return next((level for level in spellings if level in levels), spellings[-1])
        if not np.isfinite(number):
            raise ValueError(f"column {name!r} cannot have the value {value}")
        return number

    return [(name, cell(name, value)) for name, value in (given or {}).items()]


class ExplainMixin(QueryMixin):
    """Explanations of predicted classes."""

    def _class_named(self, label: Any) -> str:
        """The name of a class in the model."""
        named = self._value_of(self._target).items()
        return next((level for level, known in named if known == label), str(label))

    def explain(self, X: Rows, row: int = 0, *, label: Any = None, against: Any = None) -> dict[str, Any]:
        """The contribution of each column to the log-odds of a class of a row against another class.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
            Rows.
        row : int, default=0
            Position of the row.
        label : object, default=None
            Class to explain; the most probable one if None.
        against : object, default=None
            Class to compare with; the most probable other class if None.

        Returns
        -------
        dict
            `class`, `against` (labels as in `classes_`), `log_odds` and `contributions`, the largest first.
        """
        check_is_fitted(self, "_model")
        table = self._query_table(X)
        if isinstance(row, bool) or not isinstance(row, Integral):
            raise TypeError(f"row must be a position in X, a whole number from 0, not {row!r}")
        if row < 0:
            raise ValueError(f"Invalid value for 'row': {row} . Rows are numbered from 0.")
        if row >= len(table):
            raise IndexError(f"there is no row {row}: X has {len(table)} rows, numbered from 0")
        named = [None if name is None else self._class_named(name) for name in (label, against)]
        explanation = json.loads(self._model.explain(table, int(row), *named))
        classes = self._value_of(self._target)
        return explanation | {key: classes[explanation[key]] for key in ("class", "against")}
