"""The base class of all estimators, which holds a fitted model of the Rust library."""

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
from abduce._plots import PlotMixin
from abduce._report import ReportMixin
from abduce._types import Floats, Progress, Seed

F = TypeVar("F", bound=Callable[..., Any])


def parameters_checked(fit: F) -> F:
    """Checks the parameters of an estimator before a fit, and leaves it unchanged if the fit fails.

    scikit-learn's own decorator loses the types.
    """

    @functools.wraps(fit)
    def checked_fit(self: Any, *arguments: Any, **named: Any) -> Any:
        with all_or_nothing(self):
            return fit(self, *arguments, **named)

    return cast(F, _fit_context(prefer_skip_nested_validation=True)(checked_fit))


# The values of `random_state`, for scikit-learn's parameter checks.
RANDOM_STATES = ["random_state", np.random.Generator]


def generator_of(random_state: Seed) -> np.random.RandomState:
    """The generator to draw from: NumPy's global one for None, as in scikit-learn's `check_random_state`."""
    if isinstance(random_state, np.random.Generator):
        # Both share their state, so drawing advances the generator of the user.
        return np.random.RandomState(random_state.bit_generator)
    return check_random_state(random_state)


def seed_of(random_state: Seed) -> int:
    """A seed for the library: an int itself, or a number drawn from a generator."""
    if isinstance(random_state, (int, np.integer)):
        if not 0 <= random_state < 2**64:
            raise ValueError(f"random_state must be a whole number from 0 to 2**64 - 1, not {random_state}")
        return int(random_state)
    return int(generator_of(random_state).randint(2**32, dtype=np.uint64))


def checked_n_samples(n_samples: int, columns: int = 1) -> int:
    """The number of rows to draw, if that many rows fit into memory."""
    if not isinstance(n_samples, (int, np.integer)):
        raise TypeError(f"n_samples must be a whole number, not {n_samples!r}")
    if n_samples < 1:
        raise ValueError(f"Invalid value for 'n_samples': {n_samples} . The sampling requires at least one sample.")
    # Rows are drawn, and then copied into arrays.
    refuse_beyond_memory(2 * int(n_samples) * max(columns, 1), f"n_samples={n_samples}")
    return int(n_samples)


def refuse_beyond_memory(numbers: int, what: str) -> None:
    """Raises MemoryError if this many numbers need more memory than the machine has."""
    import os

    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        memory = 1 << 40
    if 8 * numbers > memory:
        raise MemoryError(f"{what} needs {8 * numbers:.3g} bytes, more than the {memory:.3g} of this machine")


def threads_of(n_jobs: int | None) -> int | None:
    """The number of threads: all processors for None and -1, all but one for -2, and so on, as in joblib."""
    import os

    if n_jobs is None:
        return None
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0; pass a positive number, or -1 for all processors")
    processors = os.cpu_count() or 1
    # More threads than processors only take time to start.
    return min(n_jobs, max(64, 4 * processors)) if n_jobs > 0 else max(1, processors + 1 + n_jobs)


def progress(verbose: int, what: str) -> Progress | None:
    """Reports the progress of a fit: with tqdm if it is installed, otherwise line by line."""
    if not verbose:
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return lambda *event: print(f"{what}: {_progress_line(*event)}")
    bar = tqdm(desc=what, leave=False)
    position = ProgressPosition()

    def report(kind: str, number: int, of: int, figure: float) -> None:
        bar.n, bar.total = position.after(kind, number, of)
        bar.set_postfix_str(kind if np.isnan(figure) else f"{kind} {figure:.6g}")

    return report


class ProgressPosition:
    """The position in a fit, by the outermost of candidates, restarts and iterations.

    Restarts run in parallel and report in any order; the position never decreases.
    """

    ORDER = ("candidate", "replicate", "restart", "iteration")

    def __init__(self) -> None:
        self.kind, self.number, self.of = "iteration", 0, 0

    def after(self, kind: str, number: int, of: int) -> tuple[int, int | None]:
        """The position after an event, and the last position."""
        if kind in self.ORDER and of:
            outer = self.ORDER.index(kind) - self.ORDER.index(self.kind)
            if outer < 0 and of > 1:
                self.kind, self.number, self.of = kind, number, of
            elif outer == 0:
                self.number, self.of = max(self.number, number), max(self.of, of)
        return self.number, self.of or None


def _progress_line(kind: str, number: int, of: int, figure: float) -> str:
    """A line about an event of a fit."""
    place = f" {number} of {of}" if of else ""
    return f"{kind}{place}" if np.isnan(figure) else f"{kind}{place} {figure:.6g}"


@contextmanager
def all_or_nothing(estimator: Any) -> Iterator[None]:
    """Leaves an estimator unchanged if something fails."""
    before = estimator.__dict__.copy()
    try:
        yield
    except BaseException:
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise


# How warnings of scikit-learn's category ConvergenceWarning begin.
NOT_CONVERGED = ("not converged", "Number of distinct clusters")

# Parameters that warnings of the library advise to change.
ADVISED = re.compile(r"\b(?:max_iter|tol|variance_floor|n_init|smoothing|unlabelled|kinds|families)\b")

# Frequent warnings that scikit-learn's classifiers and k-means do not have.
COMMON_WARNINGS: tuple[str, ...] = ("almost no variance", "is constant and", "spreads more than")

# The maximum number of starts, whose results are kept until the best is known.
MAX_STARTS = 1_000_000


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Warns at the line of the user's code that called this package, directly or through scikit-learn."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in ("abduce", "sklearn"):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)


class ModelEstimator(ReportMixin, PlotMixin, BaseEstimator):
    """An estimator with a fitted model of the Rust library."""

    # Parts of warnings that only `fit_report_` has.
    _silenced: tuple[str, ...] = ()

    def _set_model(self, model: _core.Model) -> None:
        """Sets the model, and clears the cache of the previous one."""
        self._model = model
        self._parts: dict[str, Any] = {}

    def _set_fitted(self, model: _core.Model) -> None:
        """Sets a model that was just fitted, and passes on its warnings."""
        self._set_model(model)
        self._warn_of(self._part("warnings"))

    def _set_changed(self, model: _core.Model, notes: Sequence[str]) -> None:
        """Sets a changed model, and passes on the notes of the change and new warnings."""
        before = self._part("warnings")
        self._set_model(model)
        self._warn_of([*notes, *(text for text in self._part("warnings") if text not in before)])

    def _warn_of(self, texts: Sequence[str]) -> None:
        for text in texts:
            if not any(words in text for words in self._silenced):
                text = self._translated(text)
                warn(text, ConvergenceWarning if text.startswith(NOT_CONVERGED) else UserWarning)

    def _warn_of_impossible(self, table: _core.Table, of: str) -> None:
        """Warns about rows that are impossible under the model: their answer is the weights of classes or components."""
        found = _core.impossible_rows(self._model, table, False, self._threads())
        if found is not None:
            self._warn_of_rows(found, "impossible under the model", f"the weights of the {of}")

    @staticmethod
    def _warn_of_rows(found: tuple[int, int], what: str, answer: str) -> None:
        """Warns about rows, given their number and the first of them, and says what their answer is."""
        rows, first = found
        which = f"row {first} is" if rows == 1 else f"{rows} rows (first: row {first}) are"
        gets = "it gets" if rows == 1 else "they get"
        warn(f"{which} {what}; {gets} {answer}")

    def _warn_of_impossible_fillings(self, table: _core.Table) -> None:
        """Warns about rows with missing values that are impossible under the model, and so have no conditional."""
        found = _core.impossible_rows(self._model, table, True, self._threads())
        if found is not None:
            rows, first = found
            which = f"row {first} has" if rows == 1 else f"{rows} rows (first: row {first}) have"
            verb, possessive = ("is", "its") if rows == 1 else ("are", "their")
            warn(
                f"{which} missing values and {verb} impossible under the model; "
                f"filled as if all {possessive} cells were missing"
            )

    def _translated(self, text: str) -> str:
        """A warning with the parameters of this estimator, without advice about others."""
        known = self._get_param_names()
        if "variance_floor" not in known:
            text = text.replace("variance_floor", "reg_covar") if "reg_covar" in known else text
            text = text.replace(" (variance_floor)", "")
        first, *others = text.split("; ")
        return "; ".join([first, *(clause for clause in others if set(ADVISED.findall(clause)) <= set(known))])

    def _part(self, name: str) -> Any:
        """A part of the model file."""
        if name not in self._parts:
            self._parts[name] = json.loads(self._model.part(name))
        return self._parts[name]

    if not TYPE_CHECKING:
        # A type checker reports unknown attributes itself.
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
        """The log-likelihood, or the inertia of k-means, before each iteration and at the end."""
        check_is_fitted(self, "_model")
        return np.array([np.nan if x is None else x for x in self._part("fit")["trace"]])

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return state | {"_parts": {}} if "_parts" in state else state

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the model to a file, which the command line and the Rust library can read.

        Parameters
        ----------
        path : str or path-like
            File to write.
        """
        check_is_fitted(self, "_model")
        from abduce._files import description

        self._model.with_estimator(json.dumps(description(self))).save(path)

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
    MixinBase = ModelEstimator
else:
    # To a type checker, a mixin is an estimator.
    MixinBase = object


def _shown(value: Any) -> str:
    return f"{value:,.6g}" if isinstance(value, float) else str(value)


__all__ = [
    "COMMON_WARNINGS",
    "MAX_STARTS",
    "RANDOM_STATES",
    "ModelEstimator",
    "checked_n_samples",
    "generator_of",
    "parameters_checked",
    "progress",
    "refuse_beyond_memory",
    "seed_of",
    "threads_of",
    "warn",
]
