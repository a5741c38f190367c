"""k-means, as `sklearn.cluster.KMeans`; cells may be NaN."""

import json
from numbers import Integral, Real

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_array, check_is_fitted

from abduce import _core
from abduce._base import ModelEstimator, seed_of, watcher
from abduce._tables import checked, dense, names_of, weights_of

OPTIONS = {
    "algorithm": "auto",
    "init": "greedy",
    "restarts": 1,
    "tolerance": 0.0,
    "movement": 1e-4,
    "max_iterations": 300,
    "numbered": True,
    "seed": 0,
}


def assigned(table, clusters, seed, threads):
    """The clusters that one start of k-means finds, row by row."""
    model = _core.fit_kmeans(
        table,
        json.dumps({"clusters": clusters, "distance": "euclidean"}),
        json.dumps(OPTIONS | {"seed": seed}),
        threads=threads,
    )
    return model.best(table, threads)


class KMeans(TransformerMixin, ClassNamePrefixFeaturesOutMixin, ClusterMixin, ModelEstimator):
    """Clusters about centres, as `sklearn.cluster.KMeans`; cells may be NaN."""

    _parameter_constraints = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"k-means++", "random"}), callable, "array-like"],
        "n_init": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
        "copy_x": ["boolean"],
        "algorithm": [StrOptions({"lloyd", "elkan", "hamerly", "yinyang", "auto"})],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        n_clusters=8,
        *,
        init="k-means++",
        n_init="auto",
        max_iter=300,
        tol=1e-4,
        verbose=0,
        random_state=None,
        copy_x=True,
        algorithm="lloyd",
        n_jobs=None,
    ):
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

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self):
        return self.cluster_centers_.shape[0]

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None, sample_weight=None):
        """Finds clusters."""
        X = checked(self, X, reset=True)
        if X.shape[0] < self.n_clusters:
            raise ValueError(f"n_samples={X.shape[0]} should be >= n_clusters={self.n_clusters}.")
        weights = weights_of(sample_weight, X)
        start = self._start(X)
        by_name = isinstance(self.init, str)
        restarts = self.n_init
        if restarts == "auto":
            restarts = 10 if by_name and self.init == "random" else 1
        options = OPTIONS | {
            # The ways of computing differ in speed alone; the engine knows the fastest.
            "algorithm": "auto" if self.algorithm == "lloyd" else self.algorithm,
            "init": "random" if by_name and self.init == "random" else "greedy",
            "restarts": restarts,
            "movement": self.tol,
            "max_iterations": self.max_iter,
            "seed": seed_of(self.random_state),
        }
        table = dense(X, names_of(self, X.shape[1]), weights=weights)
        specification = json.dumps({"clusters": self.n_clusters, "distance": "euclidean"})
        watch = watcher(self.verbose, "KMeans")
        model = _core.fit_kmeans(table, specification, json.dumps(options), start, self._threads(), watch)
        self._set_model(model)
        self._dtype = X.dtype
        self.labels_ = model.best(table, self._threads()).astype(np.int32)
        if len(self._part("centres")) < self.n_clusters:
            import warnings

            from sklearn.exceptions import ConvergenceWarning

            warnings.warn(
                f"Number of distinct clusters ({len(self._part('centres'))}) found smaller than n_clusters "
                f"({self.n_clusters}). Possibly due to duplicate points in X.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _start(self, X):
        if isinstance(self.init, str):
            return None
        init = self.init
        if callable(init):
            init = init(X, self.n_clusters, random_state=np.random.RandomState(seed_of(self.random_state)))
        init = check_array(init, dtype=np.float64)
        if init.shape[0] != self.n_clusters:
            raise ValueError(
                f"The shape of the initial centers {init.shape} does not match the number of clusters {self.n_clusters}."
            )
        if init.shape[1] != X.shape[1]:
            raise ValueError(
                f"The shape of the initial centers {init.shape} does not match the number of features of the data {X.shape[1]}."
            )
        return init.tolist()

    @property
    def cluster_centers_(self):
        """The centres."""
        return np.array(self._part("centres"), dtype=getattr(self, "_dtype", np.float64))

    @property
    def inertia_(self):
        """The sum of squared distances to the nearest centres."""
        return self._part("fit")["inertia"]

    @property
    def n_iter_(self):
        """How many times the centres moved."""
        return max(1, self._part("fit")["iterations"])

    def _asked(self, X):
        check_is_fitted(self)
        X = checked(self, X, reset=False)
        return X, dense(X, names_of(self, X.shape[1]))

    def predict(self, X):
        """The nearest centre of each row."""
        _, table = self._asked(X)
        return self._model.best(table, self._threads()).astype(np.int32)

    def fit_predict(self, X, y=None, sample_weight=None):
        """Finds clusters, and gives the nearest centre of each row."""
        return self.fit(X, y, sample_weight=sample_weight).labels_

    def transform(self, X):
        """The distance of each row from each centre."""
        X, table = self._asked(X)
        found = self._model.distances(table, self._threads())
        return found.astype(np.float32) if X.dtype == np.float32 else found

    def score(self, X, y=None, sample_weight=None):
        """The negative sum of squared distances to the nearest centres."""
        X, table = self._asked(X)
        nearest = self._model.distances(table, self._threads()).min(axis=1) ** 2
        weights = weights_of(sample_weight, X)
        return -float(nearest.sum() if weights is None else nearest @ weights)
