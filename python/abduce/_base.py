"""What every estimator shares: a fitted model of the engine, which is asked, written and read."""

import functools
import html
import json
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from sklearn.base import BaseEstimator, _fit_context
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from abduce import _core
from abduce._plots import Plotting
from abduce._report import Reporting
from abduce._types import Floats, Seed, Watch

F = TypeVar("F", bound=Callable[..., Any])


def parameters_checked(fit: F) -> F:
    """Has the parameters of an estimator checked before it is fitted, and leaves it as it was if the fit fails.

    scikit-learn's own decorator loses the types.
    """

    @functools.wraps(fit)
    def whole(self: Any, *arguments: Any, **named: Any) -> Any:
        with all_or_nothing(self):
            return fit(self, *arguments, **named)

    return cast(F, _fit_context(prefer_skip_nested_validation=True)(whole))


# What `random_state` may be, in the words of scikit-learn's parameter checks.
RANDOM_STATES = ["random_state", np.random.Generator]


def generator_of(random_state: Seed) -> np.random.RandomState:
    """The generator to draw from: NumPy's global one for None, as scikit-learn's `check_random_state` has it."""
    if isinstance(random_state, np.random.Generator):
        # Both share one state, so that the generator of the user moves on.
        return np.random.RandomState(random_state.bit_generator)
    return check_random_state(random_state)


def seed_of(random_state: Seed) -> int:
    """A seed for the engine: an int is its own seed, anything else is drawn from."""
    if isinstance(random_state, (int, np.integer)):
        if not 0 <= random_state < 2**64:
            raise ValueError(f"random_state is a whole number from 0 to 2**64 - 1, not {random_state}")
        return int(random_state)
    return int(generator_of(random_state).randint(2**32, dtype=np.uint64))


def at_least_one(n_samples: int, columns: int = 1) -> int:
    """How many rows of so many columns to draw."""
    if not isinstance(n_samples, (int, np.integer)):
        raise TypeError(f"n_samples is a whole number, not {n_samples!r}")
    if n_samples < 1:
        raise ValueError(f"Invalid value for 'n_samples': {n_samples} . The sampling requires at least one sample.")
    # The engine draws rows before they are copied into arrays.
    refuse_beyond_memory(2 * int(n_samples) * max(columns, 1), f"n_samples={n_samples}")
    return int(n_samples)


def refuse_beyond_memory(numbers: int, what: str) -> None:
    """Raises MemoryError where so many numbers would need more memory than the machine has."""
    import os

    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        memory = 1 << 40
    if 8 * numbers > memory:
        raise MemoryError(f"{what} needs {8 * numbers:.3g} bytes, more than the {memory:.3g} of this machine")


def threads_of(n_jobs: int | None) -> int | None:
    """How many threads: all of them for None and -1, all but so many for less, as joblib counts."""
    import os

    if n_jobs is None:
        return None
    if n_jobs == 0:
        raise ValueError("n_jobs == 0 has no meaning; take 1 or more, or -1 for all processors")
    processors = os.cpu_count() or 1
    # Threads that no processor runs only take time to start.
    return min(n_jobs, max(64, 4 * processors)) if n_jobs > 0 else max(1, processors + 1 + n_jobs)


def watcher(verbose: int, what: str) -> Watch | None:
    """Tells of a fit as it goes on: by tqdm where it is installed, otherwise line by line."""
    if not verbose:
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return lambda *news: print(f"{what}: {_told(*news)}")
    bar = tqdm(desc=what, leave=False)
    stage = Stage()

    def watch(kind: str, number: int, of: int, figure: float) -> None:
        bar.n, bar.total = stage.place(kind, number, of)
        bar.set_postfix_str(kind if np.isnan(figure) else f"{kind} {figure:.6g}")

    return watch


class Stage:
    """How far a fit is, by the outermost thing that it counts: candidates, restarts or iterations.

    Restarts run in parallel, and their reports arrive in any order; the place never goes back.
    """

    ORDER = ("candidate", "replicate", "restart", "iteration")

    def __init__(self) -> None:
        self.kind, self.number, self.of = "iteration", 0, 0

    def place(self, kind: str, number: int, of: int) -> tuple[int, int | None]:
        """The place after a report, and how many there will be."""
        if kind in self.ORDER and of:
            outer = self.ORDER.index(kind) - self.ORDER.index(self.kind)
            if outer < 0 and of > 1:
                self.kind, self.number, self.of = kind, number, of
            elif outer == 0:
                self.number, self.of = max(self.number, number), max(self.of, of)
        return self.number, self.of or None


def _told(kind: str, number: int, of: int, figure: float) -> str:
    """What happened in a fit, in a line."""
    place = f" {number} of {of}" if of else ""
    return f"{kind}{place}" if np.isnan(figure) else f"{kind}{place} {figure:.6g}"


@contextmanager
def all_or_nothing(estimator: Any) -> Iterator[None]:
    """Leaves an estimator as it was if something fails."""
    before = estimator.__dict__.copy()
    try:
        yield
    except BaseException:
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise


# How warnings begin that are of scikit-learn's ConvergenceWarning.
NOT_CONVERGED = ("not converged", "Number of distinct clusters")

# Parameters that the engine advises to change.
ADVISED = re.compile(r"\b(?:max_iter|tol|variance_floor|n_init|smoothing|unlabelled|kinds|families)\b")

# What users of scikit-learn's classifiers and k-means are not warned of: ordinary data are so.
ORDINARY: tuple[str, ...] = ("almost no variance", "is constant and", "spreads more than")

# The most starts of a fit: the results of all of them are kept until the best is known.
MOST_STARTS = 1_000_000


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Warns at the line of the user that called this package, directly or through scikit-learn."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in ("abduce", "sklearn"):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)


class ModelEstimator(Reporting, Plotting, BaseEstimator):
    """An estimator that has learned a model of the engine."""

    # Words of the engine's warnings that are reported by `fit_report_` alone.
    _quiet: tuple[str, ...] = ()

    def _set_model(self, model: _core.Model) -> None:
        """Takes a model over, and forgets what was known of the one before."""
        self._model = model
        self._parts: dict[str, Any] = {}

    def _set_fitted(self, model: _core.Model) -> None:
        """Takes over a model that was just fitted, and warns of what the engine warns of."""
        self._set_model(model)
        self._warn_of(self._part("warnings"))

    def _set_changed(self, model: _core.Model, notes: Sequence[str]) -> None:
        """Takes over a changed model, and warns of the change and of what the engine did not warn of before."""
        before = self._part("warnings")
        self._set_model(model)
        self._warn_of([*notes, *(text for text in self._part("warnings") if text not in before)])

    def _warn_of(self, texts: Sequence[str]) -> None:
        for text in texts:
            if not any(words in text for words in self._quiet):
                own = self._in_own_words(text)
                warn(own, ConvergenceWarning if own.startswith(NOT_CONVERGED) else UserWarning)

    def _warn_of_impossible(self, table: _core.Table, of: str) -> None:
        """Warns of rows that are impossible under the model, which get the weights of classes or components."""
        found = _core.impossible_rows(self._model, table, False, self._threads())
        if found is not None:
            rows, first = found
            which = f"row {first} is" if rows == 1 else f"{rows} rows (first: row {first}) are"
            gets = "it gets" if rows == 1 else "they get"
            warn(f"{which} impossible under the model; {gets} the weights of the {of}")

    def _warn_of_impossible_fillings(self, table: _core.Table) -> None:
        """Warns of rows with missing values that are impossible under the model, of which nothing follows."""
        found = _core.impossible_rows(self._model, table, True, self._threads())
        if found is not None:
            rows, first = found
            which = f"row {first} has" if rows == 1 else f"{rows} rows (first: row {first}) have"
            own = ("is", "it") if rows == 1 else ("are", "them")
            warn(
                f"{which} missing values and {own[0]} impossible under the model; "
                f"filled as if nothing were seen of {own[1]}"
            )

    def _in_own_words(self, text: str) -> str:
        """A warning of the engine with the parameters that this estimator has, without advice about others."""
        own = self._get_param_names()
        if "variance_floor" not in own:
            text = text.replace("variance_floor", "reg_covar") if "reg_covar" in own else text
            text = text.replace(" (variance_floor)", "")
        first, *others = text.split("; ")
        return "; ".join([first, *(clause for clause in others if set(ADVISED.findall(clause)) <= set(own))])

    def _part(self, name: str) -> Any:
        """A part of the model file."""
        if name not in self._parts:
            self._parts[name] = json.loads(self._model.part(name))
        return self._parts[name]

    if not TYPE_CHECKING:
        # Of what is not there a type checker has its own to say.
        def __getattr__(self, name):
            if name.endswith("_") and not name.startswith("_") and "_model" not in self.__dict__:
                raise NotFittedError(
                    f"This {type(self).__name__} instance is not fitted yet: it has no {name!r} before 'fit'."
                )
            return super().__getattribute__(name)

    def _threads(self) -> int | None:
        return threads_of(getattr(self, "n_jobs", None))

    @property
    def trace_(self) -> Floats:
        """The log-likelihood before each iteration and at the end; the inertia of k-means."""
        check_is_fitted(self, "_model")
        return np.array([np.nan if x is None else x for x in self._part("fit")["trace"]])

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return state | {"_parts": {}} if "_parts" in state else state

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the model to a file, which the command line and the Rust library read too."""
        check_is_fitted(self, "_model")
        from abduce._files import described

        self._model.with_estimator(json.dumps(described(self))).save(path)

    def _repr_html_(self) -> str:
        if not hasattr(self, "_model"):
            return super()._repr_html_()
        fit = self._part("fit")
        figures = {
            "rows": f"{fit['rows']:,}",
            "log-likelihood": fit["log_likelihood"],
            "BIC": fit["bic"],
            "iterations": fit["iterations"],
            "converged": fit["converged"],
        }
        cells = "".join(
            f"<tr><th style='text-align:left'>{name}</th><td>{html.escape(_shown(value))}</td></tr>"
            for name, value in figures.items()
            if value is not None
        )
        return f"<div>{super()._repr_html_()}<table>{cells}</table></div>"


if TYPE_CHECKING:
    Mixed = ModelEstimator
else:
    # What is mixed into an estimator is one itself; only a type checker has to be told so.
    Mixed = object


def _shown(value: Any) -> str:
    return f"{value:,.6g}" if isinstance(value, float) else str(value)


__all__ = [
    "MOST_STARTS",
    "ORDINARY",
    "RANDOM_STATES",
    "ModelEstimator",
    "at_least_one",
    "generator_of",
    "parameters_checked",
    "refuse_beyond_memory",
    "seed_of",
    "threads_of",
    "warn",
    "watcher",
]
