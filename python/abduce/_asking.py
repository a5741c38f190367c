"""Questions that every fitted model of columns answers: draws, fillings, what follows for one column, and why."""

import json
from collections.abc import Iterator, Mapping, Sequence
from numbers import Integral
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from abduce import _core
from abduce._base import Mixed, at_least_one, seed_of
from abduce._filling import Filling, filled, framed, integer_types, widened
from abduce._tables import is_frame, own_names, tabled
from abduce._types import Columns, Floats, Rows, Seed

# The levels of a column of truths, as Arrow calls them.
TRUTHS = ["false", "true"]
Given: TypeAlias = list[tuple[str, float | str]]


def drawn_copies(
    model: _core.Model, table: _core.Table, how: str, copies: int, random_state: Seed
) -> Iterator[Columns]:
    """Completed columns of so many copies of a table, each under parameters of its own."""
    if how != "draw":
        raise ValueError('copies needs how="draw": means and modes are the same in every copy')
    if copies < 1:
        raise ValueError(f"copies is a whole number from 1 up, not {copies}")
    generator = np.random.RandomState(seed_of(random_state) % 2**32)
    for _ in range(copies):
        drawn = model.with_drawn_parameters(table, seed_of(generator))
        yield drawn.complete(table, how, seed_of(generator))


class Ranking(Mixed):
    """How far out rows lie, whatever cells of them are seen."""

    def tail_probability(self, X: Rows, *, log: bool = False, random_state: Seed = 0) -> Floats:
        """The probability that a row drawn from the model is no likelier than each row of X, given the cells it has.

        Log-densities of rows with different missing values cannot be compared; these probabilities can, so that the
        least is the row farthest out. They are estimated from up to 10,000 drawn rows, beyond which the tail is taken
        to be exponential. `log=True` gives natural logarithms, which tell apart probabilities that are next to 0.
        Labels have no part in it.
        """
        check_is_fitted(self, "_model")
        found = _core.tail_probabilities(self._model, self._asked_about(X), seed_of(random_state), self._threads())
        if found is None:
            raise ValueError("the model cannot draw all columns of X, so that there are no tail probabilities")
        return found if log else np.exp(found)


class Asking(Ranking):
    """What a model of all columns says of some given others."""

    def _fields(self) -> list[dict[str, Any]]:
        return self._part("schema")["fields"]

    def _decoded(self, columns: Columns) -> dict[str, NDArray[Any]]:
        """Columns as arrays: levels by their names, truths and labels as what they are."""
        fields = {field["name"]: field for field in self._fields()}
        return {name: self._cells(fields[name], own) for name, own in columns}

    def _values(self, field: dict[str, Any]) -> NDArray[Any]:
        """What the levels of a column are to the user."""
        levels = field["levels"]
        if field["name"] == getattr(self, "_target", None):
            return self.classes_
        # Where it is not known what cells were, as of a model of the command line, they look like truths.
        truths = getattr(self, "_truths", None)
        is_true = levels == TRUTHS and (truths is None or field["name"] in truths)
        return np.array([False, True]) if is_true else np.array(levels, dtype=object)

    def _value_of(self, column: str) -> dict[str, Any]:
        """The same by the names that the engine has for them; nothing of a column of numbers."""
        field = next(field for field in self._fields() if field["name"] == column)
        levels = field.get("levels")
        return dict(zip(levels, self._values(field).tolist(), strict=True)) if levels else {}

    def _cells(self, field: dict[str, Any], own: NDArray[Any]) -> NDArray[Any]:
        levels = field.get("levels")
        if not levels:
            return own
        values = self._values(field)
        if np.all((own >= 0) & (own < len(levels))):
            return values[own]
        # Behind the levels stands what the model has never seen.
        return np.array([*values.tolist(), None], dtype=object)[own]

    def draw(
        self, n_samples: int = 1, *, given: Mapping[str, Any] | None = None, random_state: Seed = None
    ) -> dict[str, NDArray[Any]] | Any:
        """Rows drawn from the model, given some cells by the names of their columns, or the `component` of a mixture.

        They are a frame of the library and with the types of the frame that was fitted, or a dict of columns x0, x1, …
        where that was an array. A column of classes is among them, by their labels. Draws of a column of integers are
        whole numbers, clipped to the range of its type.
        """
        check_is_fitted(self, "_model")
        model, known = self._conditioned(given)
        self._check_held(known)
        drawn = model.sample(at_least_one(n_samples, len(self._fields())), seed_of(random_state), known)
        columns = self._decoded(drawn)
        return framed(columns, self._like) if getattr(self, "_like", None) is not None else columns

    def _check_held(self, known: Given) -> None:
        """Refuses given numbers that the columns of drawn rows would have to round or clip."""
        whole = {field["name"] for field in self._fields() if field.get("whole") or field["kind"] == "count"}
        kinds = integer_types(getattr(self, "_like", None))
        for name, value in known:
            if isinstance(value, str):
                continue
            if (name in whole or name in kinds) and value != round(value):
                raise ValueError(f"column {name!r} holds whole numbers, and {value!r} is none")
            if name in kinds and not np.iinfo(kinds[name]).min <= value <= np.iinfo(kinds[name]).max:
                raise ValueError(f"column {name!r} is of type {kinds[name]}, which cannot hold {value!r}")

    def impute(
        self,
        X: Rows,
        *,
        how: Literal["mean", "mode", "draw"] = "mean",
        copies: int | None = None,
        random_state: Seed = None,
    ) -> dict[str, NDArray[Any]] | Any:
        """The rows of X with their missing values filled, by "mean", "mode" or "draw".

        A frame comes back as one of its library, its columns of the types they were, with the column of classes where
        there is one; an array as a dict of columns. Columns of integers are filled with whole numbers, clipped to the
        range of their type.

        With `copies` and `how="draw"`, a list of so many for multiple imputation: each is drawn under parameters of its
        own, those of a fit to the rows with random weights (the Bayesian bootstrap) where X are the rows that were
        fitted, and otherwise to as many rows drawn from the model.
        """
        check_is_fitted(self, "_model")
        table = self._asked_about(X)
        self._warn_of_impossible_fillings(table)
        if copies is None:
            return self._imputed(X, self._model.complete(table, how, seed_of(random_state)))
        return [self._imputed(X, own) for own in drawn_copies(self._model, table, how, copies, random_state)]

    def _imputed(self, X: Rows, completed: Columns) -> dict[str, NDArray[Any]] | Any:
        """Completed columns as what X is."""
        if not (is_frame(X) and own_names(self)):
            return self._decoded(completed)
        levels = {field["name"]: field.get("levels") or None for field in self._fields()}
        target = getattr(self, "_target", None)
        fillings = {name: Filling(own, levels[name]) for name, own in completed if name != target}
        out = filled(tabled(X), fillings)
        return out if target is None else widened(out, {target: self._decoded(completed)[target]})

    # How a question is answered depends on its words, which no type knows: users would have to narrow a union by hand.
    def query(
        self, question: str, *, draws: int = 10_000, random_state: Seed = 0, detail: bool = False
    ) -> dict[Any, Any] | Any:
        """What follows for some columns from what is known of others.

        - `P(y | x0=5.1, colour=red)`: of a column of levels the probability of each, by what it is (classes as in
          `classes_`), of numbers their mean and variance. `P(a, b | …)` of several columns of levels: the probability of each combination, by tuples.
        - `P(colour=red, x0>5 | …)`: the probability of an event, a number.
        - `E(x | …)`: the mean of a column of numbers.
        - `MAP(a, b | …)`: the most probable combination of levels, as `map`, and its `probability`; of one column of
          numbers, the most probable number and its `density`.

        Conditions are `=`, `!=`, `<`, `<=`, `>`, `>=`, `in {a, b}` and `between a and b`; levels are compared where they are numbers or
        ordinal. Counts have probabilities: `P(visits=2)` is one, and `P(visits)` all that are not next to impossible. The
        components of a mixture are asked about as `P(component | …)`, given as `P(x | component=0)`, and counted from
        0, as `predict` counts them.

        What holds a comma, a bar or a sign stands in quotes: `P("petal width" | colour='red, or pink')`.

        Answers are exact where the columns are independent within each component or take few values. Otherwise so many
        rows are drawn as `draws` says. With `detail=True` the answer comes as a dict: `answer`, `method` ("exact" or "draws") and, by
        draws, `standard_error` in the form of the answer, `draws` and `effective_draws`, the number of independent draws worth as much.
        """
        check_is_fitted(self, "_model")
        if draws < 1:
            raise ValueError(f"draws is a whole number from 1 up, not {draws}")
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
        """An answer of the engine as users know its columns and levels, or its standard errors in the same form."""
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
        """A level as the user knows it, a count or a component as a whole number."""
        if isinstance(value, float):
            return int(value) if value.is_integer() else value
        if column == self._component():
            return int(value)
        return self._value_of(column).get(value, value)

    def _conditioned(self, given: Mapping[str, Any] | None) -> tuple[_core.Model, Given]:
        """The model to ask, and the cells that are given: a component that is given is the only one of it."""
        name = self._component()
        if name is None or not isinstance(given, Mapping) or name not in given:
            return self._model, _given(given, self._fields())
        others = {column: value for column, value in given.items() if column != name}
        number = self._number_of_component(given[name], len(self._part("weights")))
        return _core.of_component(self._model, number), _given(others, self._fields())

    @staticmethod
    def _number_of_component(value: Any, count: int) -> int:
        if not str(value).isdecimal() or int(value) >= count:
            raise ValueError(f"there is no component {value!r}; they are counted from 0 to {count - 1}")
        return int(value)

    def _component(self) -> str | None:
        """The name by which the component of a mixture is asked about; None where there is no such question."""
        taken = {field["name"] for field in self._fields()}
        return None if hasattr(self, "_target") or "component" in taken else "component"


def _given(given: Mapping[str, Any] | None, fields: Sequence[dict[str, Any]] | None = None) -> Given:
    if not isinstance(given, (Mapping, type(None))):
        raise TypeError(f"what is given is a dict of cells by the names of their columns, not {given!r}")
    kinds = {field["name"]: field for field in fields or ()}

    def cell(name: str, value: Any) -> float | str:
        if isinstance(value, str) and name in kinds and not kinds[name].get("levels"):
            try:
                number = float(value)
            except ValueError:
                number = np.nan
            if not np.isfinite(number):
                raise ValueError(f"column {name!r} holds numbers, and {value!r} is none")
            return number
        if isinstance(value, str) and kinds.get(name, {}).get("levels") == TRUTHS:
            return value.lower()
        if isinstance(value, (bool, np.bool_)):
            # Labels are called as Python calls them, cells of frames as Arrow does.
            told = str(bool(value))
            return told if told in kinds.get(name, {}).get("levels", ()) else told.lower()
        if isinstance(value, str):
            return value
        levels = kinds.get(name, {}).get("levels")
        if levels and str(value) in levels:
            return str(value)
        number = float(value)
        if levels:
            told = (str(value), str(number), f"{number:g}")
            return next((level for level in told if level in levels), told[-1])
        if not np.isfinite(number):
            raise ValueError(f"column {name!r} cannot be given as {value}")
        return number

    return [(name, cell(name, value)) for name, value in (given or {}).items()]


class Explaining(Asking):
    """Why a row is of its class."""

    def _class_named(self, label: Any) -> str:
        """What the engine calls a class."""
        named = self._value_of(self._target).items()
        return next((level for level, own in named if own == label), str(label))

    def explain(self, X: Rows, row: int = 0, *, label: Any = None, against: Any = None) -> dict[str, Any]:
        """What each column adds to the log-odds of a class of a row against another.

        The class is the most probable one, and the other the second, unless they are named. The answer has the
        keys `class`, `against` (labels as in `classes_`), `log_odds` and `contributions`, the largest of these first.
        """
        check_is_fitted(self, "_model")
        table = self._asked_about(X)
        if isinstance(row, bool) or not isinstance(row, Integral):
            raise TypeError(f"row is the place of a row in X, a whole number counted from 0, not {row!r}")
        if row < 0:
            raise ValueError(f"Invalid value for 'row': {row} . Rows are counted from 0.")
        if row >= len(table):
            raise IndexError(f"there is no row {row}: X has {len(table)}, counted from 0")
        named = [None if own is None else self._class_named(own) for own in (label, against)]
        told = json.loads(self._model.explain(table, int(row), *named))
        classes = self._value_of(self._target)
        return told | {key: classes[told[key]] for key in ("class", "against")}
