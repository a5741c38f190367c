"""Questions that every fitted model of columns answers: draws, fillings, what follows for one column, and why."""

import json
import re

import numpy as np
from sklearn.utils.validation import check_is_fitted

from abduce._base import seed_of


class Asking:
    """What a model of all columns says of some given others."""

    def _fields(self):
        return self._part("schema")["fields"]

    def _decoded(self, columns):
        """Columns as arrays, levels by their names."""
        fields = {field["name"]: field for field in self._fields()}
        out = {}
        for name, own in columns:
            levels = fields[name].get("levels")
            out[name] = np.array(levels, dtype=object)[own] if levels else own
        return out

    def draw(self, n_samples=1, *, given=None, random_state=None):
        """Rows drawn from the model, given some cells by the names of their columns: a dict of columns.

        A column of classes is among them. Columns of an array are called x0, x1, and so on.
        """
        check_is_fitted(self, "_model")
        drawn = self._model.sample(int(n_samples), seed_of(random_state), _given(given))
        return self._decoded(drawn)

    def impute(self, X, *, how="mean", random_state=None):
        """The columns of X with their holes filled, by "mean", "mode" or "draw": a dict of columns."""
        check_is_fitted(self, "_model")
        return self._decoded(self._model.complete(self._asked_about(X), how, seed_of(random_state)))

    def query(self, question):
        """What follows for one column from cells of others: `query("P(y | x0=5.1, colour=red)")`.

        Of a column of levels the probability of each, of numbers their mean and variance. Questions about
        several columns at once, and conditions other than "=", are not answered yet.
        """
        check_is_fitted(self, "_model")
        found = re.fullmatch(r"\s*P\(\s*([^|,()]+?)\s*(?:\|(.*))?\)\s*", question, re.DOTALL)
        if not found:
            raise ValueError(f"{question!r} is not a question of the form P(column | other=value, …)")
        given = {}
        for part in (found[2] or "").split(","):
            if not part.strip():
                continue
            name, equals, value = part.partition("=")
            if not equals or not name.strip() or name.rstrip()[-1] in "<>!":
                raise ValueError(f"{part.strip()!r} is not a condition of the form column=value")
            given[name.strip()] = value.strip()
        return json.loads(self._model.condition(found[1], _given(given, self._fields())))


def _given(given, fields=None):
    kinds = {field["name"]: field for field in fields or ()}

    def cell(name, value):
        if isinstance(value, str) and name in kinds and not kinds[name].get("levels"):
            try:
                return float(value)
            except ValueError:
                raise ValueError(f"column {name!r} holds numbers, and {value!r} is none") from None
        if isinstance(value, (bool, np.bool_)):
            return str(bool(value)).lower()
        return value if isinstance(value, str) else float(value)

    return [(name, cell(name, value)) for name, value in (given or {}).items()]


class Explaining:
    """Why a row is of its class."""

    def explain(self, X, row=0, *, label=None, against=None):
        """What each column adds to the log-odds of a class of a row against another.

        The class is the most probable one, and the other the second, unless they are named. The answer has the
        keys `class`, `against`, `log_odds` and `contributions`, the largest of these first.
        """
        check_is_fitted(self, "_model")
        table = self._asked_about(X)
        named = [None if own is None else str(own) for own in (label, against)]
        return json.loads(self._model.explain(table, int(row), *named))
