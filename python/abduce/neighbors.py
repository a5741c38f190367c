"""Kernel densities, as `sklearn.neighbors.KernelDensity`; cells may be NaN."""

from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import DensityMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from abduce import _core, _specifications
from abduce._asking import Ranking
from abduce._base import ModelEstimator, at_least_one, parameters_checked, seed_of
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


class KernelDensity(Ranking, DensityMixin, ModelEstimator):
    """A bump on every point, as `sklearn.neighbors.KernelDensity`; the metric is Euclidean.

    `bandwidth` may also be "isj" (improved Sheather–Jones, one column) or "cv". The tree that sums
    are made over is the engine's own, so that `algorithm`, `leaf_size` and `breadth_first` change nothing.
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
        """Learns from points."""
        if self.metric_params:
            raise ValueError("the Euclidean metric, the only one here, has no parameters: leave metric_params out")
        X = checked(self, X, reset=True)
        self._refuse_empty(X)
        weights = weights_of(sample_weight, X)
        rows, width = X.shape
        rule = self.bandwidth
        # scikit-learn's rules say nothing of how widely the points spread.
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

    def _refuse_empty(self, X: Any) -> None:
        """Refuses a column without a number: only rows without a missing value are points."""
        empty = empty_columns(X)
        if len(empty):
            name = names_of(self, X.shape[1])[empty[0]]
            raise ValueError(
                f"feature {name} has no number, and the points of a density are complete rows; leave it out"
            )

    @property
    def bandwidth_(self) -> float | Floats:
        """The bandwidth: a number, or one for each of several columns where "cv" has chosen them."""
        (own,) = self._part("bandwidths")
        ((kind, width),) = own.items()
        if kind == "shared":
            return width
        return np.array(width) if len(width) > 1 else width[0]

    def score_samples(self, X: Rows) -> Floats:
        """The log-density of each row."""
        check_is_fitted(self)
        return self._tolerant().log_density(self._asked_about(X), self._threads())

    def _asked_about(self, X: Any) -> _core.Table:
        X = checked(self, X, reset=False)
        return dense(X, names_of(self, X.shape[1]))

    def _tolerant(self) -> _core.Model:
        """The model, whose answers may be off by as much as `atol` and `rtol` say; where they say nothing, by as little
        as the engine's usually are."""
        if not (self.atol > 0 or self.rtol > 0):
            return self._model
        key = f"within {self.atol} {self.rtol}"
        if key not in self._parts:
            self._parts[key] = self._model.with_tolerance(self.atol, self.rtol)
        return self._parts[key]

    def score(self, X: Rows, y: Any = None) -> float:
        """The log-density of all rows together."""
        return float(np.sum(self.score_samples(X)))

    def sample(self, n_samples: int = 1, random_state: Seed = None) -> Floats:
        """Draws rows."""
        check_is_fitted(self)
        drawn = dict(self._model.sample(at_least_one(n_samples, self.n_features_in_), seed_of(random_state)))
        return np.column_stack([drawn[name] for name in names_of(self, self.n_features_in_)])
