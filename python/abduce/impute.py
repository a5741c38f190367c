"""Imputers: missing values filled with what a model of all columns expects of them, given the cells that are seen."""

from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import TransformerMixin
from sklearn.utils._missing import is_scalar_nan
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from abduce import _core, _specifications
from abduce._asking import drawn_copies
from abduce._base import MOST_STARTS, RANDOM_STATES, ModelEstimator, parameters_checked, seed_of, watcher
from abduce._filling import Filling, filled, holes_of, narrowed, widened, wished
from abduce._framed import Framed
from abduce._tables import column_names, is_frame, weights_of
from abduce._types import Rows, Seed

# The defaults of the command line.
OPTIONS = _specifications.defaults("mixture")["options"]


class _Imputer(Framed, TransformerMixin, ModelEstimator):
    """From rows to a mixture, and from a mixture to the cells that are missing."""

    _parameter_constraints = {
        "covariance": [str],
        "how": [StrOptions({"mean", "mode", "draw"})],
        "kinds": [dict, None],
        "tol": [Interval(Real, 0.0, None, closed="left")],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "random_state": RANDOM_STATES,
        "verbose": ["verbose"],
        "missing_values": [Real],
        "add_indicator": ["boolean"],
        "keep_empty_features": ["boolean"],
        "n_jobs": [Integral, None],
    }

    # Whether counts are among the numbers of the Gaussian.
    _counts_together = False
    # What files that were written before these were noted say of them.
    _with_holes = np.array([], dtype=int)
    _empty = np.array([], dtype=int)

    def _components(self) -> int:
        return 1

    def _restarts(self) -> int:
        return 1

    def _checked(self, X: Any, *, reset: bool) -> Any:
        named = not is_scalar_nan(self.missing_values)
        if named and is_frame(X):
            raise ValueError(
                "the missing values of a frame are its nulls; leave missing_values as it is, or pass an array"
            )
        X = super()._checked(X, reset=reset)
        return np.where(X == self.missing_values, np.nan, X) if named else X

    def _note_holes(self, X: Any) -> None:
        """Which columns had missing values, and which nothing else."""
        holes = holes_of(X)
        self._with_holes = np.flatnonzero(holes.any(axis=0))
        self._empty = np.flatnonzero(holes.all(axis=0))

    @parameters_checked
    def fit(self, X: Rows, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learns a mixture of the rows, missing values and all."""
        X = self._checked(X, reset=True)
        self._note_holes(X)
        table = self._learned_table(X, None, weights_of(sample_weight, X))
        model = _core.fit_mixture(
            "mixture",
            table,
            _specifications.mixture(
                components=self._components(),
                reals=_specifications.together(_core.covariances(self.covariance)[0], counts=self._counts_together),
            ),
            _specifications.options(
                em={"tolerance": self.tol, "max_iterations": self.max_iter},
                restarts=self._restarts(),
                seed=seed_of(self.random_state),
            ),
            None,
            self._threads(),
            watcher(self.verbose, type(self).__name__),
        )
        self._set_fitted(model)
        return self

    @property
    def n_iter_(self) -> int:
        """How many steps the fit took."""
        return max(1, self._part("fit")["iterations"])

    def _kept(self) -> NDArray[np.intp]:
        """The columns that are given back."""
        kept = np.arange(self.n_features_in_, dtype=np.intp)
        return kept if self.keep_empty_features else np.setdiff1d(kept, self._empty)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """The names of the columns that `transform` gives back, indicators last."""
        check_is_fitted(self)
        names = np.asarray(_check_feature_names_in(self, input_features), dtype=object)
        told = [f"missingindicator_{name}" for name in names[self._with_holes]] if self.add_indicator else []
        return np.concatenate([names[self._kept()], np.array(told, dtype=object)])

    @property
    def _n_features_out(self) -> int:
        return len(self._kept()) + (len(self._with_holes) if self.add_indicator else 0)

    def transform(self, X: Rows) -> Any:
        """The rows with their missing values filled; a frame comes back as one of its library, its columns of the types they were."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        table = self._asked_about(X)
        return self._filled(X, dict(self._model.complete(table, self.how, seed_of(self.random_state))))

    def _asked_about(self, X: Any) -> _core.Table:
        """Checked rows as a table to fill."""
        table = self._asked_table(X)
        self._warn_of_impossible_fillings(table)
        return table

    def _filled(self, X: Any, completed: dict[str, Any]) -> Any:
        """The rows with their missing values taken from all columns as the model completes them."""
        holes = holes_of(X)[:, self._with_holes] if self.add_indicator else None
        if self._framed:
            return self._filled_frame(X, completed, holes)
        out = self._filled_array(X, completed)[:, self._kept()]
        return out if holes is None else np.hstack([out, holes.astype(out.dtype)])

    def impute(
        self, X: Rows, *, how: Literal["draw"] = "draw", copies: int = 5, random_state: Seed = None
    ) -> list[Any]:
        """So many copies of the rows for multiple imputation, as `transform` gives them back.

        Missing values are drawn, whatever the `how` of the imputer is, and each copy under parameters of its own: those of a fit to the rows
        with random weights (the Bayesian bootstrap) where X are the rows that were fitted, and otherwise to as many rows
        drawn from the model. `random_state` is that of the imputer where it is not given.
        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        seed = self.random_state if random_state is None else random_state
        each = drawn_copies(self._model, self._asked_about(X), how, copies, seed)
        return [self._filled(X, dict(completed)) for completed in each]

    def _filled_array(self, X: Any, completed: dict[str, Any]) -> NDArray[np.floating]:
        out = np.column_stack([completed[name] for name in self._names()]).astype(X.dtype, copy=False)
        # Of a column without a single cell nothing is known; scikit-learn's imputers make it 0.
        out[:, self._empty] = 0.0
        return np.where(np.isnan(X), out, X)

    def _names(self) -> list[str]:
        return [field["name"] for field in self._part("schema")["fields"]]

    def _filled_frame(self, X: Any, completed: dict[str, Any], holes: NDArray[np.bool_] | None) -> Any:
        levels = {field["name"]: field.get("levels") or None for field in self._part("schema")["fields"]}
        fillings = {name: Filling(own, levels[name]) for name, own in completed.items()}
        names = column_names(X)
        fillings |= {names[place]: Filling(np.zeros(len(X))) for place in self._empty}
        out = narrowed(filled(X, fillings), self._kept())
        if holes is not None:
            told = zip(self._with_holes, holes.T, strict=True)
            out = widened(out, {f"missingindicator_{names[place]}": own for place, own in told})
        return wished(out, _get_output_config("transform", self)["dense"])


class GaussianImputer(_Imputer):
    """Fills missing values with what one Gaussian of all columns expects of them.

    `missing_values`, `add_indicator` and `keep_empty_features` are those of `sklearn.impute.SimpleImputer`: a column
    without a single cell is left out, or made 0.
    """

    _counts_together = True

    def __init__(
        self,
        *,
        covariance: str = "full",
        how: Literal["mean", "mode", "draw"] = "mean",
        kinds: dict[str, str] | None = None,
        tol: float = OPTIONS["em"]["tolerance"],
        max_iter: int = OPTIONS["em"]["max_iterations"],
        random_state: Seed = None,
        verbose: int = 0,
        missing_values: float = np.nan,
        add_indicator: bool = False,
        keep_empty_features: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.covariance = covariance
        self.how = how
        self.kinds = kinds
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose
        self.missing_values = missing_values
        self.add_indicator = add_indicator
        self.keep_empty_features = keep_empty_features
        self.n_jobs = n_jobs


class MixtureImputer(_Imputer):
    """Fills missing values with what a mixture of all columns expects of them; columns may be of any kind.

    `missing_values`, `add_indicator` and `keep_empty_features` are those of `sklearn.impute.SimpleImputer`.
    """

    _parameter_constraints = _Imputer._parameter_constraints | {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "n_init": [Interval(Integral, 1, MOST_STARTS, closed="both")],
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        covariance: str = "full",
        how: Literal["mean", "mode", "draw"] = "mean",
        kinds: dict[str, str] | None = None,
        tol: float = OPTIONS["em"]["tolerance"],
        max_iter: int = OPTIONS["em"]["max_iterations"],
        n_init: int = OPTIONS["restarts"],
        random_state: Seed = None,
        verbose: int = 0,
        missing_values: float = np.nan,
        add_indicator: bool = False,
        keep_empty_features: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.covariance = covariance
        self.how = how
        self.kinds = kinds
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.random_state = random_state
        self.verbose = verbose
        self.missing_values = missing_values
        self.add_indicator = add_indicator
        self.keep_empty_features = keep_empty_features
        self.n_jobs = n_jobs

    def _components(self) -> int:
        return self.n_components

    def _restarts(self) -> int:
        return self.n_init
