"""Kernel density estimation."""

from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import DensityMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from abduce import _core, _specifications
from abduce._base import ModelEstimator, checked_n_samples, parameters_checked, seed_of
from abduce._queries import TailProbabilityMixin
from abduce._tables import checked, dense, empty_columns, names_of, weights_of
from abduce._types import Floats, Rows, Seed

KERNELS = {
    "gaussian": "gaussian",
    "tophat": "tophat",
    "epanechnikov": "epanechnikov",
    "exponential": "exponential",
    "linear": "triangular",
    "cosine": "cosine",
}


class KernelDensity(TailProbabilityMixin, DensityMixin, ModelEstimator):
    """A kernel density, as `sklearn.neighbors.KernelDensity`, with the Euclidean metric; cells may be NaN.

    Parameters
    ----------
    bandwidth : float or {"scott", "silverman", "isj", "cv"}, default=1.0
        Bandwidth, or how to choose it: "isj" is the improved Sheather–Jones method for one column, "cv" is
        cross-validation.
    algorithm : {"kd_tree", "ball_tree", "auto"}, default="auto"
        Without effect: the library has its own tree.
    kernel : {"gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"}, default="gaussian"
        Kernel.
    metric : {"euclidean"}, default="euclidean"
        The only metric.
    atol : float, default=0
        Absolute tolerance of densities.
    rtol : float, default=0
        Relative tolerance of densities; with both 0, a small relative tolerance.
    breadth_first : bool, default=True
        Without effect.
    leaf_size : int, default=40
        Without effect.
    metric_params : None, default=None
        Not supported: the Euclidean metric has no parameters.
    n_jobs : int, default=None
        Number of threads; all processors if None or -1.

    Attributes
    ----------
    bandwidth_ : float or ndarray
        Bandwidth; one for each of several columns if "cv" chose them.
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

    _parameter_constraints = {
        "bandwidth": [
            Interval(Real, 0, None, closed="neither"),
            StrOptions({"scott", "silverman", "isj", "cv"}),
        ],
        "algorithm": [StrOptions({"kd_tree", "ball_tree", "auto"})],
        "kernel": [StrOptions(set(KERNELS))],
        "metric": [StrOptions({"euclidean"})],
        "atol": [Interval(Real, 0, None, closed="left")],
        "rtol": [Interval(Real, 0, None, closed="left")],
        "breadth_first": ["boolean"],
        "leaf_size": [Interval(Integral, 1, None, closed="left")],
        "metric_params": [None, dict],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        *,
        bandwidth: float | Literal["scott", "silverman", "isj", "cv"] = 1.0,
        algorithm: Literal["kd_tree", "ball_tree", "auto"] = "auto",
        kernel: Literal["gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"] = "gaussian",
        metric: Literal["euclidean"] = "euclidean",
        atol: float = 0,
        rtol: float = 0,
        breadth_first: bool = True,
        leaf_size: int = 40,
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.bandwidth = bandwidth
        self.algorithm = algorithm
        self.kernel = kernel
        self.metric = metric
        self.atol = atol
        self.rtol = rtol
        self.breadth_first = breadth_first
        self.leaf_size = leaf_size
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    @parameters_checked
    def fit(self, X: Rows, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fits the density to the complete rows of `X`."""
        if self.metric_params:
            raise ValueError("the Euclidean metric, the only one supported, has no parameters: leave metric_params out")
        X = checked(self, X, reset=True)
        self._refuse_empty_columns(X)
        weights = weights_of(sample_weight, X)
        rows, width = X.shape
        rule = self.bandwidth
        # scikit-learn's rules do not depend on the scale of the columns.
        if rule == "scott":
            rule = rows ** (-1 / (width + 4))
        elif rule == "silverman":
            rule = (rows * (width + 2) / 4) ** (-1 / (width + 4))
        specification = {
            "target": None,
            "estimator": "kde",
            "kernel": KERNELS[self.kernel],
            "selection": {"rule": rule if isinstance(rule, str) else {"number": float(rule)}},
        }
        table = dense(X, names_of(self, width), weights=weights)
        self._set_fitted(_core.fit_density(table, _specifications.dumped(specification), self._threads()))
        return self

    def _refuse_empty_columns(self, X: Any) -> None:
        """Raises an error if a column has no values: only complete rows are points."""
        empty = empty_columns(X)
        if len(empty):
            name = names_of(self, X.shape[1])[empty[0]]
            raise ValueError(f"column {name} has only missing values, and only complete rows are points; leave it out")

    @property
    def bandwidth_(self) -> float | Floats:
        """The bandwidth; one for each of several columns if "cv" chose them."""
        (bandwidth,) = self._part("bandwidths")
        ((kind, width),) = bandwidth.items()
        if kind == "shared":
            return width
        return np.array(width) if len(width) > 1 else width[0]

    def score_samples(self, X: Rows) -> Floats:
        """The log-density of each row."""
        check_is_fitted(self)
        return self._tolerant().log_density(self._query_table(X), self._threads())

    def _query_table(self, X: Any) -> _core.Table:
        X = checked(self, X, reset=False)
        return dense(X, names_of(self, X.shape[1]))

    def _tolerant(self) -> _core.Model:
        """The model with the tolerances `atol` and `rtol`, or the default tolerance if both are 0."""
        if not (self.atol > 0 or self.rtol > 0):
            return self._model
        key = f"within {self.atol} {self.rtol}"
        if key not in self._parts:
            self._parts[key] = self._model.with_tolerance(self.atol, self.rtol)
        return self._parts[key]

    def score(self, X: Rows, y: Any = None) -> float:
        """The sum of the log-densities of the rows."""
        return float(np.sum(self.score_samples(X)))

    def sample(self, n_samples: int = 1, random_state: Seed = None) -> Floats:
        """Draws rows."""
        check_is_fitted(self)
        drawn = dict(self._model.sample(checked_n_samples(n_samples, self.n_features_in_), seed_of(random_state)))
        return np.column_stack([drawn[name] for name in names_of(self, self.n_features_in_)])
