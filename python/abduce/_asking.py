"""Questions that every fitted model of columns answers: draws, fillings, what follows for one column, and why."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from abduce._base import Mixed, seed_of
from abduce._types import Columns, Rows, Seed


class Asking(Mixed):
    """What a model of all columns says of some given others."""

    def _fields(self) -> list[dict[str, Any]]:
        return self._part("schema")["fields"]

    def _decoded(self, columns: Columns) -> dict[str, NDArray[Any]]:
        """Columns as arrays, levels by their names."""
        fields = {field["name"]: field for field in self._fields()}
        out = {}
        for name, own in columns:
            levels = fields[name].get("levels")
            # Behind the levels stands what the model has never seen.
            out[name] = np.array([*levels, None], dtype=object)[own] if levels else own
        return out

    def draw(
        self, n_samples: int = 1, *, given: Mapping[str, Any] | None = None, random_state: Seed = None
    ) -> dict[str, NDArray[Any]]:
        """Rows drawn from the model, given some cells by the names of their columns: a dict of columns.

        A column of classes is among them. Columns of an array are called x0, x1, and so on.
        """
        check_is_fitted(self, "_model")
        drawn = self._model.sample(int(n_samples), seed_of(random_state), _given(given, self._fields()))
        return self._decoded(drawn)

    def impute(
        self, X: Rows, *, how: Literal["mean", "mode", "draw"] = "mean", random_state: Seed = None
    ) -> dict[str, NDArray[Any]]:
        """The columns of X with their holes filled, by "mean", "mode" or "draw": a dict of columns."""
        check_is_fitted(self, "_model")
        return self._decoded(self._model.complete(self._asked_about(X), how, seed_of(random_state)))

    # How a question is answered depends on its words, which no type knows: users would have to narrow a union by hand.
    def query(self, question: str) -> dict[Any, Any] | Any:
        """What follows for some columns from cells of others, asked in one of three ways.

        - `P(y | x0=5.1, colour=red)`: of a column of levels the probability of each, of numbers their mean and
          variance. `P(a, b | …)` of several columns of levels: the probability of each combination, by tuples.
        - `E(x | …)`: the mean of a column of numbers.
        - `MAP(a, b | …)`: the most probable combination of levels, as `map`, and its `probability`.

        Several columns of numbers at once, conditions other than "=" and interventions are refused.
        """
        check_is_fitted(self, "_model")
        found = re.fullmatch(r"\s*(P|E|MAP)\(([^|]+)(?:\|(.*))?\)\s*", question, re.DOTALL)
        columns = [name.strip() for name in found[2].split(",")] if found else []
        if found is None or not all(columns):
            raise ValueError(
                f"{question!r} is not a question of the form P(column | other=value, …), E(column | …) "
                "or MAP(column, … | …)"
            )
        conditions = _conditions(found[3])
        both = [name for name in columns if name in conditions]
        if both:
            raise ValueError(f"column {both[0]!r} is both asked about and given")
        given = _given(conditions, self._fields())
        if found[1] == "P" and len(columns) == 1:
            return json.loads(self._model.condition(columns[0], given))
        if found[1] == "E":
            if len(columns) > 1:
                raise ValueError("a mean is asked of one column at a time")
            told = json.loads(self._model.condition(columns[0], given))
            if set(told) != {"mean", "variance"} or self._levels(columns[0]):
                raise ValueError(f"column {columns[0]!r} holds levels, which have no mean; ask P or MAP of it")
            return told["mean"]
        told = self._model.joint(columns, given)
        if found[1] == "P":
            return {tuple(levels): probability for levels, probability in told}
        levels, probability = max(told, key=lambda own: own[1])
        return {"map": dict(zip(columns, levels, strict=True)), "probability": probability}

    def _levels(self, name: str) -> list[str] | None:
        return next((field.get("levels") for field in self._fields() if field["name"] == name), None)


def _conditions(text: str | None) -> dict[str, str]:
    """What is known, by the names of columns."""
    given = {}
    for part in (text or "").split(","):
        if not part.strip():
            continue
        name, equals, value = part.partition("=")
        if not equals or not name.strip() or name.rstrip()[-1] in "<>!":
            raise ValueError(f"{part.strip()!r} is not a condition of the form column=value")
        if name.strip() in given:
            raise ValueError(f"column {name.strip()!r} is given twice")
        given[name.strip()] = value.strip()
    return given


def _given(
    given: Mapping[str, Any] | None, fields: Sequence[dict[str, Any]] | None = None
) -> list[tuple[str, float | str]]:
    kinds = {field["name"]: field for field in fields or ()}

    def cell(name: str, value: Any) -> float | str:
        if isinstance(value, str) and name in kinds and not kinds[name].get("levels"):
            try:
                number = float(value)
            except ValueError:
                number = np.nan
            if np.isnan(number):
                raise ValueError(f"column {name!r} holds numbers, and {value!r} is none")
            return number
        if isinstance(value, (bool, np.bool_)):
            # Labels are called as Python calls them, cells of frames as Arrow does.
            told = str(bool(value))
            return told if told in kinds.get(name, {}).get("levels", ()) else told.lower()
        return value if isinstance(value, str) else float(value)

    return [(name, cell(name, value)) for name, value in (given or {}).items()]


class Explaining(Mixed):
    """Why a row is of its class."""

    def explain(self, X: Rows, row: int = 0, *, label: Any = None, against: Any = None) -> dict[str, Any]:
        """What each column adds to the log-odds of a class of a row against another.

        The class is the most probable one, and the other the second, unless they are named. The answer has the
        keys `class`, `against`, `log_odds` and `contributions`, the largest of these first.
        """
        check_is_fitted(self, "_model")
        table = self._asked_about(X)
        named = [None if own is None else str(own) for own in (label, against)]
        return json.loads(self._model.explain(table, int(row), *named))
