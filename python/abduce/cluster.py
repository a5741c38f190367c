"""k-means clustering."""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_array, check_is_fitted

from abduce import _core, _specifications
from abduce._base import (
    COMMON_WARNINGS,
    MAX_STARTS,
    RANDOM_STATES,
    ModelEstimator,
    generator_of,
    parameters_checked,
    progress,
    seed_of,
)
from abduce._tables import checked, dense, empty_columns, expand_to_all_columns, names_of, weights_of
from abduce._types import Codes, Rows, Seed

OPTIONS = {
    "algorithm": "auto",
    "init": "greedy",
    "restarts": 1,
    "tolerance": 0.0,
    "movement": 1e-4,
    "max_iterations": 300,
    "numbered": True,
    "by_value": True,
    "seed": 0,
}

# The number of rows above which k-means need not converge to start EM.
MANY_ROWS = 20_000


def clusters_of(table: _core.Table, clusters: int, seed: int, threads: int | None) -> Codes:
    """The cluster of each row, from which EM starts: those of one k-means start or, for many rows, of the better of two
    starts on a sample, which need not converge."""
    options = OPTIONS | {"seed": seed}
    if len(table) > MANY_ROWS:
        options |= {"restarts": 2, "movement": 1e-2}
    model, labels = _core.fit_kmeans(
        table,
        _specifications.dumped({"clusters": clusters, "distance": "euclidean"}),
        _specifications.dumped(options),
        threads=threads,
    )
    return model.best(table, threads) if labels is None else labels


class KMeans(TransformerMixin, ClassNamePrefixFeaturesOutMixin, ClusterMixin, ModelEstimator):
    """k-means, as `sklearn.cluster.KMeans`; cells may be NaN.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    init : {"k-means++", "random"}, callable or array-like of shape (n_clusters, n_features), default="k-means++"
        How the centers are initialized.
    n_init : int or "auto", default="auto"
        Number of starts, of which the best is kept; "auto" is 10 for random rows, otherwise 1.
    max_iter : int, default=300
        Maximum number of iterations.
    tol : float, default=1e-4
        Relative movement of the centers at which the iterations stop.
    verbose : int, default=0
        Whether to report the progress of the fit.
    random_state : int, RandomState, Generator or None, default=None
        Seed or generator of the random numbers.
    copy_x : bool, default=True
        Without effect: `X` is never changed. A sparse `X` is made dense.
    algorithm : {"lloyd", "elkan", "hamerly", "yinyang", "auto"}, default="lloyd"
        Algorithm; all give the same clusters, and "lloyd" and "auto" use the fastest.
    n_jobs : int, default=None
        Number of threads; all processors if None or -1.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Centers; NaN in a column without values.
    labels_ : ndarray of shape (n_samples,)
        Cluster of each fitted row.
    inertia_ : float
        Sum of the squared distances to the nearest centers.
    n_iter_ : int
        Number of iterations.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if `X` was a frame.
    kinds_ : dict
        Kind of each column.
    families_ : dict
        Empty: k-means has no families.
    parameters_ : list of dict
        Empty: k-means has no families.
    trace_ : ndarray
        Inertia before each iteration and at the end.
    fit_report_ : dict
        How the fit went.
    """

    _silenced = COMMON_WARNINGS
    _parameter_constraints = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"k-means++", "random"}), callable, "array-like"],
        "n_init": [StrOptions({"auto"}), Interval(Integral, 1, MAX_STARTS, closed="both")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "verbose": ["verbose"],
        "random_state": RANDOM_STATES,
        "copy_x": ["boolean"],
        "algorithm": [StrOptions({"lloyd", "elkan", "hamerly", "yinyang", "auto"})],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: str | Callable[..., Any] | ArrayLike = "k-means++",
        n_init: int | Literal["auto"] = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        verbose: int = 0,
        random_state: Seed = None,
        copy_x: bool = True,
        algorithm: Literal["lloyd", "elkan", "hamerly", "yinyang", "auto"] = "lloyd",
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.copy_x = copy_x
        self.algorithm = algorithm
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.cluster_centers_.shape[0]

    @parameters_checked
    def fit(self, X: Rows, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fits the clusters to the rows of `X`."""
        X = self._checked(X, reset=True)
        if X.shape[0] < self.n_clusters:
            raise ValueError(f"n_samples={X.shape[0]} should be >= n_clusters={self.n_clusters}.")
        weights = weights_of(sample_weight, X)
        start = self._start(X)
        by_name = isinstance(self.init, str)
        restarts = self.n_init
        if restarts == "auto":
            restarts = 10 if by_name and self.init == "random" else 1
        options = OPTIONS | {
            # All algorithms give the same clusters; "auto" is the fastest.
            "algorithm": "auto" if self.algorithm == "lloyd" else self.algorithm,
            "init": "random" if by_name and self.init == "random" else "greedy",
            "restarts": restarts,
            "movement": self.tol,
            "max_iterations": self.max_iter,
            "seed": seed_of(self.random_state),
        }
        table = dense(X, names_of(self, X.shape[1]), weights=weights)
        specification = _specifications.dumped({"clusters": self.n_clusters, "distance": "euclidean"})
        on_progress = progress(self.verbose, "KMeans")
        model, labels = _core.fit_kmeans(
            table, specification, _specifications.dumped(options), start, self._threads(), on_progress
        )
        self._set_fitted(model)
        self._dtype = X.dtype
        if labels is None:
            labels = model.best(table, self._threads())
        self.labels_ = labels.astype(np.int32)
        return self

    def _translated(self, text: str) -> str:
        found = len(self._part("centres"))
        if found < self.n_clusters and text.startswith(f"only {found} of {self.n_clusters} clusters"):
            return (
                f"Number of distinct clusters ({found}) found smaller than n_clusters "
                f"({self.n_clusters}). Possibly due to duplicate points in X."
            )
        return super()._translated(text)

    def _checked(self, X: Any, *, reset: bool) -> Any:
        X = checked(self, X, reset=reset, accept_sparse=["csr", "csc"])
        return X.toarray() if sp.issparse(X) else X

    def _start(self, X: Any) -> list[list[float]] | None:
        if isinstance(self.init, str):
            return None
        init = self.init
        if callable(init):
            init = init(X, self.n_clusters, random_state=generator_of(self.random_state))
        init = check_array(init, dtype=np.float64)
        if init.shape[0] != self.n_clusters:
            raise ValueError(
                f"The shape of the initial centers {init.shape} does not match the number of clusters {self.n_clusters}."
            )
        if init.shape[1] != X.shape[1]:
            raise ValueError(
                f"The shape of the initial centers {init.shape} does not match the number of features of the data {X.shape[1]}."
            )
        return np.delete(init, empty_columns(X), axis=1).tolist()

    @property
    def cluster_centers_(self) -> NDArray[np.floating]:
        """The centers; NaN in a column without values."""
        centres = expand_to_all_columns(np.array(self._part("centres")), self._part("columns"), self.n_features_in_, 1)
        return centres.astype(getattr(self, "_dtype", np.float64), copy=False)

    @property
    def inertia_(self) -> float:
        """The sum of the squared distances to the nearest centers."""
        found = self._part("fit").get("inertia")
        return np.inf if found is None else found

    @property
    def n_iter_(self) -> int:
        """The number of iterations."""
        return max(1, self._part("fit")["iterations"])

    def _checked_with_table(self, X: Any) -> tuple[Any, _core.Table]:
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        return X, dense(X, names_of(self, X.shape[1]))

    def predict(self, X: Rows) -> NDArray[np.int32]:
        """The cluster of each row."""
        _, table = self._checked_with_table(X)
        return self._model.best(table, self._threads()).astype(np.int32)

    def fit_predict(self, X: Rows, y: Any = None, sample_weight: ArrayLike | None = None) -> NDArray[np.int32]:
        """Fits, and returns the cluster of each row."""
        return self.fit(X, y, sample_weight=sample_weight).labels_

    def fit_transform(self, X: Rows, y: Any = None, sample_weight: ArrayLike | None = None) -> NDArray[np.floating]:
        """Fits, and returns the distance of each row from each center."""
        return self.fit(X, y, sample_weight=sample_weight).transform(X)

    def transform(self, X: Rows) -> NDArray[np.floating]:
        """The distance of each row from each center."""
        X, table = self._checked_with_table(X)
        found = self._model.distances(table, self._threads())
        return found.astype(np.float32) if X.dtype == np.float32 else found

    def score(self, X: Rows, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """The negative sum of the squared distances to the nearest centers.

        For a model of the command line with medoids or the Manhattan or cosine distance, distances are not squared, as
        in `inertia_`.
        """
        X, table = self._checked_with_table(X)
        nearest = self._model.distances(table, self._threads()).min(axis=1)
        if not self._part("plain"):
            nearest = nearest**2
        weights = weights_of(sample_weight, X)
        return -float(nearest.sum() if weights is None else nearest @ weights)
