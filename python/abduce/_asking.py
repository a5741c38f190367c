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
from abduce._questions import ONLY_EQUAL, Question, is_comparison, parsed
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
    def query(self, question: str) -> dict[Any, Any] | Any:
        """What follows for some columns from cells of others, asked in one of four ways.

        - `P(y | x0=5.1, colour=red)`: of a column of levels the probability of each, by what it is (classes as in
          `classes_`), of numbers their mean and variance. `P(a, b | …)` of several columns of levels: the probability of each combination, by tuples.
        - `P(colour=red, size=big | …)`: the probability that columns of levels have these ones, a number.
        - `E(x | …)`: the mean of a column of numbers.
        - `MAP(a, b | …)`: the most probable combination of levels, as `map`, and its `probability`; of one column of
          numbers, the most probable number and its `density`.

        Counts have probabilities: `P(visits=2)` is one, and `P(visits)` all that are not next to impossible. The
        components of a mixture are asked about as `P(component | …)`, given as `P(x | component=0)`, and counted from
        0, as `predict` counts them.

        What holds a comma, a bar or an equals sign stands in quotes: `P("petal width" | colour='red, or pink')`.
        Several columns of numbers at once, conditions other than "=" and interventions are refused.
        """
        check_is_fitted(self, "_model")
        asked = parsed(question)
        self._check_comparisons(asked)
        model, given = self._conditioned(asked.given)
        if asked.columns == [self._component()] and asked.kind != "E":
            return self._of_components(model, asked, given)
        if asked.kind == "E":
            return self._mean(model, asked.columns, given)
        if asked.asked[0][1] is not None:
            return self._probability(model, asked, given)
        if len(asked.asked) == 1 and self._levels(asked.columns[0]) == []:
            return self._of_numbers(model, asked.kind, asked.columns[0], given)
        if asked.kind == "P" and len(asked.asked) == 1:
            single = json.loads(model.condition(asked.columns[0], given))
            values = self._value_of(asked.columns[0])
            return {values.get(level, level): probability for level, probability in single.items()}
        told = model.joint(asked.columns, given)
        each = [self._value_of(column) for column in asked.columns]

        def named(levels: list[str]) -> tuple[Any, ...]:
            return tuple(values[level] for values, level in zip(each, levels, strict=True))

        if asked.kind == "P":
            return {named(levels): probability for levels, probability in told}
        levels, probability = max(told, key=lambda own: own[1])
        return {"map": dict(zip(asked.columns, named(levels), strict=True)), "probability": probability}

    def _check_comparisons(self, asked: Question) -> None:
        """Refuses comparisons that would pass for names of columns."""
        names = {field["name"] for field in self._fields()}
        for name in asked.columns:
            if name not in names and is_comparison(name):
                raise ValueError(f"{name!r} is no column; {ONLY_EQUAL}, as in P(column=value)")

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

    def _of_components(self, model: _core.Model, asked: Question, given: Given) -> Any:
        found = _core.component_probabilities(model, given)
        value = asked.asked[0][1]
        if value is not None:
            return found[self._number_of_component(value, len(found))]
        if asked.kind == "P":
            return dict(enumerate(found))
        best = int(np.argmax(found))
        return {"map": {asked.columns[0]: best}, "probability": found[best]}

    def _of_numbers(self, model: _core.Model, kind: str, column: str, given: Given) -> dict[Any, Any]:
        """The distribution of a column of numbers: of counts, their probabilities; otherwise, mean and variance."""
        if kind == "MAP":
            value, density, discrete = _core.most_probable_number(model, column, given)
            own = {"map": {column: int(value) if discrete else value}}
            return own | {"probability" if discrete else "density": density}
        found = _core.count_probabilities(model, column, given)
        if found is not None:
            return {int(count): probability for count, probability in found}
        return json.loads(model.condition(column, given))

    def _mean(self, model: _core.Model, columns: list[str], given: Given) -> float:
        if len(columns) > 1:
            raise ValueError("a mean is asked of one column at a time")
        told = json.loads(model.condition(columns[0], given))
        if set(told) != {"mean", "variance"} or self._levels(columns[0]):
            raise ValueError(f"column {columns[0]!r} holds levels, which have no mean; ask P or MAP of it")
        return told["mean"]

    def _probability(self, model: _core.Model, asked: Question, given: Given) -> float:
        """The probability that columns have certain levels or counts."""
        events = {name: value for name, value in asked.asked if value is not None}
        if len(events) < len(asked.asked):
            raise ValueError("a column is asked about twice")
        probability, known = 1.0, list(given)
        # The chain rule: P(a, b) = P(a) P(b | a).
        for name, value in _given(events, self._fields()):
            if probability > 0.0:
                probability *= self._probability_of(model, name, value, known)
            known.append((name, value))
        return probability

    def _probability_of(self, model: _core.Model, name: str, value: float | str, given: Given) -> float:
        """The probability that a column has a level or a count."""
        levels = self._levels(name)
        if levels and value not in levels:
            raise ValueError(f"column {name!r} has no level {value!r}; the levels are {', '.join(levels)}")
        if levels or levels is None:
            return json.loads(model.condition(name, given))[value]
        found = _core.count_probabilities(model, name, given, [float(value)])
        if found is None:
            raise ValueError(f"column {name!r} holds numbers, of which each has a density, not a probability")
        return found[0][1]

    def _levels(self, name: str) -> list[str] | None:
        """The levels of a column: none of numbers, None where there is no such column."""
        return next((field.get("levels", []) for field in self._fields() if field["name"] == name), None)


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
