"""What every estimator shares: a fitted model of the engine, which is asked, written and read."""

import functools
import html
import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from sklearn.base import BaseEstimator, _fit_context
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from abduce import _core
from abduce._plots import Plotting
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


def seed_of(random_state: Seed) -> int:
    """A seed for the engine: 0 where nothing is said, so that a fit can be repeated."""
    if random_state is None:
        return 0
    if isinstance(random_state, (int, np.integer)):
        if not 0 <= random_state < 2**64:
            raise ValueError(f"random_state is a whole number from 0 to 2**64 - 1, not {random_state}")
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def at_least_one(n_samples: int) -> int:
    """How many rows to draw."""
    if not isinstance(n_samples, (int, np.integer)):
        raise TypeError(f"n_samples is a whole number, not {n_samples!r}")
    if n_samples < 1:
        raise ValueError(f"Invalid value for 'n_samples': {n_samples} . The sampling requires at least one sample.")
    return int(n_samples)


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

    def watch(kind: str, number: int, of: int, figure: float) -> None:
        bar.total = of or None
        bar.n = number
        bar.set_postfix_str(kind if np.isnan(figure) else f"{kind} {figure:.6g}")

    return watch


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


class ModelEstimator(Plotting, BaseEstimator):
    """An estimator that has learned a model of the engine."""

    def _set_model(self, model: _core.Model, notes: Sequence[str] = ()) -> None:
        """Takes a model over, and forgets what was known of the one before."""
        self._model = model
        self._parts: dict[str, Any] = {}
        for note in notes:
            warnings.warn(note, UserWarning, stacklevel=3)

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


__all__ = ["ModelEstimator", "at_least_one", "parameters_checked", "seed_of", "threads_of", "watcher"]
