"""Imputers, which fill missing values with their expectation given the other cells of the row."""

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
from abduce._base import MAX_STARTS, RANDOM_STATES, ModelEstimator, parameters_checked, progress, seed_of
from abduce._frame_input import FrameInputMixin
from abduce._imputed import ImputedColumn, as_library, filled, missing_cells, with_columns, with_columns_at
from abduce._queries import drawn_copies
from abduce._tables import column_names, is_frame, weights_of
from abduce._types import Rows, Seed

# The defaults of the command line.
OPTIONS = _specifications.defaults("mixture")["options"]


class _Imputer(FrameInputMixin, TransformerMixin, ModelEstimator):
    """Fits a mixture to rows, and fills missing values by it."""

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

    # Whether counts are columns of the Gaussian.
    _counts_together = False
    # The defaults for old model files, which do not have these attributes.
    _with_missing = np.array([], dtype=int)
    _empty = np.array([], dtype=int)

    def _components(self) -> int:
        return 1

    def _restarts(self) -> int:
        return 1

    def _checked(self, X: Any, *, reset: bool) -> Any:
        named = not is_scalar_nan(self.missing_values)
        if named and is_frame(X):
            raise ValueError("the missing values of a frame are its nulls; pass an array, or leave missing_values out")
        X = super()._checked(X, reset=reset)
        return np.where(X == self.missing_values, np.nan, X) if named else X

    def _note_missing(self, X: Any) -> None:
        """Stores which columns have missing values, and which have only missing values."""
        missing = missing_cells(X)
        self._with_missing = np.flatnonzero(missing.any(axis=0))
        self._empty = np.flatnonzero(missing.all(axis=0))

    @parameters_checked
    def fit(self, X: Rows, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fits the mixture to the rows of `X`."""
        X = self._checked(X, reset=True)
        self._note_missing(X)
        table = self._training_table(X, None, weights_of(sample_weight, X))
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
            progress(self.verbose, type(self).__name__),
        )
        self._set_fitted(model)
        return self

    @property
    def n_iter_(self) -> int:
        """The number of EM iterations."""
        return max(1, self._part("fit")["iterations"])

    def _kept(self) -> NDArray[np.intp]:
        """The positions of the columns that `transform` returns."""
        kept = np.arange(self.n_features_in_, dtype=np.intp)
        return kept if self.keep_empty_features else np.setdiff1d(kept, self._empty)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """The names of the columns that `transform` returns, indicators last."""
        check_is_fitted(self)
        names = np.asarray(_check_feature_names_in(self, input_features), dtype=object)
        indicators = [f"missingindicator_{name}" for name in names[self._with_missing]] if self.add_indicator else []
        return np.concatenate([names[self._kept()], np.array(indicators, dtype=object)])

    @property
    def _n_features_out(self) -> int:
        return len(self._kept()) + (len(self._with_missing) if self.add_indicator else 0)

    def transform(self, X: Rows) -> Any:
        """The rows with their missing values filled, as an array or a frame with the types of `X`."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        table = self._query_table(X)
        return self._filled(X, dict(self._model.complete(table, self.how, seed_of(self.random_state))))

    def _query_table(self, X: Any) -> _core.Table:
        """Checked rows as a table."""
        table = self._table_for_model(X)
        self._warn_of_impossible_fillings(table)
        return table

    def _filled(self, X: Any, completed: dict[str, Any]) -> Any:
        """The rows with their missing values replaced by those of the completed columns."""
        missing = missing_cells(X)[:, self._with_missing] if self.add_indicator else None
        if self._framed:
            return self._filled_frame(X, completed, missing)
        out = self._filled_array(X, completed)[:, self._kept()]
        return out if missing is None else np.hstack([out, missing.astype(out.dtype)])

    def impute(
        self, X: Rows, *, how: Literal["draw"] = "draw", copies: int = 5, random_state: Seed = None
    ) -> list[Any]:
        """Copies of the rows with drawn values, for multiple imputation.

        Each copy has parameters of its own: from a fit to the rows with random weights (the Bayesian bootstrap) if `X`
        are the fitted rows, otherwise from a fit to as many rows drawn from the model.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows with missing values.
        how : {"draw"}, default="draw"
            Missing values are always drawn, whatever `how` the imputer has.
        copies : int, default=5
            Number of copies.
        random_state : int, RandomState, Generator or None, default=None
            Seed or generator of the random numbers; that of the imputer if None.

        Returns
        -------
        list
            The copies, as `transform` returns them.
        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        seed = self.random_state if random_state is None else random_state
        each = drawn_copies(self._model, self._query_table(X), how, copies, seed)
        return [self._filled(X, dict(completed)) for completed in each]

    def _filled_array(self, X: Any, completed: dict[str, Any]) -> NDArray[np.floating]:
        out = np.column_stack([completed[name] for name in self._names()]).astype(X.dtype, copy=False)
        # Columns without values become 0, as in scikit-learn's imputers.
        out[:, self._empty] = 0.0
        return np.where(np.isnan(X), out, X)

    def _names(self) -> list[str]:
        return [field["name"] for field in self._part("schema")["fields"]]

    def _filled_frame(self, X: Any, completed: dict[str, Any], missing: NDArray[np.bool_] | None) -> Any:
        levels = {field["name"]: field.get("levels") or None for field in self._part("schema")["fields"]}
        fillings = {name: ImputedColumn(cells, levels[name]) for name, cells in completed.items()}
        names = column_names(X)
        fillings |= {names[place]: ImputedColumn(np.zeros(len(X))) for place in self._empty}
        out = with_columns_at(filled(X, fillings), self._kept())
        if missing is not None:
            indicators = zip(self._with_missing, missing.T, strict=True)
            out = with_columns(out, {f"missingindicator_{names[place]}": column for place, column in indicators})
        return as_library(out, _get_output_config("transform", self)["dense"])


class GaussianImputer(_Imputer):
    """Fills missing values with their expectation under one Gaussian of all columns.

    Parameters
    ----------
    covariance : str, default="full"
        Covariance of the numbers: "full", "tied", "diagonal", "spherical", "identity" or a code of mclust.
    how : {"mean", "mode", "draw"}, default="mean"
        What missing values are replaced by: their conditional mean, their most probable value, or a draw.
    kinds : dict, default=None
        Kinds of columns, by names or patterns such as "pixel_*"; overrides the types of a frame.
    tol : float, default=1e-8
        Relative change of the log-likelihood at which EM stops.
    max_iter : int, default=1000
        Maximum number of EM iterations.
    random_state : int, RandomState, Generator or None, default=None
        Seed or generator of the random numbers.
    verbose : int, default=0
        Whether to report the progress of the fit.
    missing_values : float, default=nan
        Number that stands for a missing value in an array.
    add_indicator : bool, default=False
        Whether to append a column for each column with missing values in the fitted rows, which is 1 if the value is
        missing.
    keep_empty_features : bool, default=False
        Whether to fill columns without values with 0 instead of leaving them out.
    n_jobs : int, default=None
        Number of threads; all processors if None or -1.

    Attributes
    ----------
    n_iter_ : int
        Number of EM iterations.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if `X` was a frame.
    kinds_ : dict
        Kind of each column.
    families_ : dict
        Family of each column.
    parameters_ : list of dict
        Columns, family and parameters of each fitted distribution.
    trace_ : ndarray
        Log-likelihood before each iteration and at the end.
    fit_report_ : dict
        How the fit went.
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
    """Fills missing values with their expectation under a mixture of all columns, which may be of any kind.

    Parameters
    ----------
    n_components : int, default=2
        Number of components.
    covariance : str, default="full"
        Covariance of the numbers: "full", "tied", "diagonal", "spherical", "identity" or a code of mclust.
    how : {"mean", "mode", "draw"}, default="mean"
        What missing values are replaced by: their conditional mean, their most probable value, or a draw.
    kinds : dict, default=None
        Kinds of columns, by names or patterns such as "pixel_*"; overrides the types of a frame.
    tol : float, default=1e-8
        Relative change of the log-likelihood at which EM stops.
    max_iter : int, default=1000
        Maximum number of EM iterations.
    n_init : int, default=10
        Number of starts, of which the best fit is kept.
    random_state : int, RandomState, Generator or None, default=None
        Seed or generator of the random numbers.
    verbose : int, default=0
        Whether to report the progress of the fit.
    missing_values : float, default=nan
        Number that stands for a missing value in an array.
    add_indicator : bool, default=False
        Whether to append a column for each column with missing values in the fitted rows, which is 1 if the value is
        missing.
    keep_empty_features : bool, default=False
        Whether to fill columns without values with 0 instead of leaving them out.
    n_jobs : int, default=None
        Number of threads; all processors if None or -1.

    Attributes
    ----------
    n_iter_ : int
        Number of EM iterations.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if `X` was a frame.
    kinds_ : dict
        Kind of each column.
    families_ : dict
        Family of each column.
    parameters_ : list of dict
        Columns, family and parameters of each fitted distribution.
    trace_ : ndarray
        Log-likelihood before each iteration and at the end.
    fit_report_ : dict
        How the fit went.
    """

    _parameter_constraints = _Imputer._parameter_constraints | {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "n_init": [Interval(Integral, 1, MAX_STARTS, closed="both")],
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
