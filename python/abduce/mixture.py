"""Mixtures: scikit-learn's GaussianMixture, and one of any families."""

import json
import re
from numbers import Integral, Real

import numpy as np
from sklearn.base import DensityMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_array, check_is_fitted

from abduce import _core, _specifications
from abduce._asking import Asking
from abduce._base import ModelEstimator, seed_of, watcher
from abduce._framed import Framed
from abduce._tables import checked, dense, free_name, names_of, weights_of

STRUCTURES = {"full": "full", "tied": "tied", "diag": "diagonal", "spherical": "spherical"}


class _Mixture(Asking, DensityMixin, ModelEstimator):
    """From a fitted mixture to answers."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _single(self, X, found):
        return found.astype(np.float32) if getattr(X, "dtype", None) == np.float32 else found

    def _asked(self, X):
        check_is_fitted(self)
        X = checked(self, X, reset=False)
        return X, dense(X, names_of(self, X.shape[1]))

    def _asked_about(self, X):
        return self._asked(X)[1]

    @property
    def weights_(self):
        """The weight of each component."""
        return np.array(self._part("weights"))

    @property
    def converged_(self):
        """Whether the fit converged."""
        return self._part("fit")["converged"]

    @property
    def n_iter_(self):
        """How many steps the fit took."""
        return self._part("fit")["iterations"]

    def predict(self, X):
        """The most probable component of each row."""
        _, table = self._asked(X)
        return self._model.best(table, self._threads())

    def predict_proba(self, X):
        """The probability of each component for each row."""
        X, table = self._asked(X)
        return self._single(X, self._model.posterior(table, self._threads()))

    def score_samples(self, X):
        """The log-density of each row, with hidden cells integrated out."""
        X, table = self._asked(X)
        return self._single(X, self._model.log_density(table, self._threads()))

    def score(self, X, y=None):
        """The mean log-density of the rows."""
        return float(np.mean(self.score_samples(X)))

    def fit_predict(self, X, y=None, sample_weight=None):
        """Fits, and gives the most probable component of each row."""
        return self.fit(X, y, sample_weight=sample_weight).predict(X)

    def _parameters_count(self):
        return self._part("fit")["parameters"]

    def bic(self, X):
        """The Bayesian information criterion of rows; less is better."""
        count = len(X)
        return -2 * self.score(X) * count + self._parameters_count() * np.log(count)

    def aic(self, X):
        """Akaike's information criterion of rows; less is better."""
        return -2 * self.score(X) * len(X) + 2 * self._parameters_count()


class GaussianMixture(_Mixture):
    """A mixture of Gaussians, as `sklearn.mixture.GaussianMixture`.

    Cells may be NaN, rows may have weights, and `n_components` may be several numbers, of which
    the best by `select` is taken: "bic", "aic", "icl" or "cv".
    """

    _parameter_constraints = {
        "n_components": [Interval(Integral, 1, None, closed="left"), "array-like", range],
        "covariance_type": [StrOptions({"full", "tied", "diag", "spherical"})],
        "tol": [Interval(Real, 0.0, None, closed="left")],
        "reg_covar": [Interval(Real, 0.0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "init_params": [StrOptions({"kmeans", "random", "random_from_data", "k-means++"})],
        "weights_init": ["array-like", None],
        "means_init": ["array-like", None],
        "precisions_init": ["array-like", None],
        "random_state": ["random_state"],
        "warm_start": ["boolean"],
        "verbose": ["verbose"],
        "verbose_interval": [Interval(Integral, 1, None, closed="left")],
        "select": [StrOptions({"bic", "aic", "icl", "cv"})],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        n_components=1,
        *,
        covariance_type="full",
        tol=1e-3,
        reg_covar=1e-6,
        max_iter=100,
        n_init=1,
        init_params="kmeans",
        weights_init=None,
        means_init=None,
        precisions_init=None,
        random_state=None,
        warm_start=False,
        verbose=0,
        verbose_interval=10,
        select="bic",
        n_jobs=None,
    ):
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.weights_init = weights_init
        self.means_init = means_init
        self.precisions_init = precisions_init
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.verbose_interval = verbose_interval
        self.select = select
        self.n_jobs = n_jobs

    def _options(self, **changes):
        em = {
            "tolerance": self.tol,
            "stop": "per-row",
            "max_iterations": self.max_iter,
            "acceleration": "none",
        }
        return _specifications.options(em=em | changes.pop("em", {}), **({"restarts": 1, "numbered": True} | changes))

    def _specification(self, components, target=None):
        return _specifications.mixture(
            target=target,
            components=components,
            reals=_specifications.together(STRUCTURES[self.covariance_type]),
            variance_floor=0.0,
            ridge=self.reg_covar,
        )

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None, sample_weight=None):
        """Learns from rows."""
        X = checked(self, X, reset=True)
        weights = weights_of(sample_weight, X)
        names = names_of(self, X.shape[1])
        if not isinstance(self.n_components, (Integral, np.integer)):
            return self._select(dense(X, names, weights=weights))
        if X.shape[0] < self.n_components:
            raise ValueError(
                "Expected n_samples >= n_components "
                f"but got n_components = {self.n_components}, n_samples = {X.shape[0]}"
            )
        watch = watcher(self.verbose, "GaussianMixture")
        if self.warm_start and hasattr(self, "_model"):
            table = dense(X, names, weights=weights)
            self._set_model(self._fit_from(table, self._model, watch))
            return self
        seed = seed_of(self.random_state)
        best = None
        for number in range(self.n_init):
            model = self._fit_once(X, names, weights, seed + number, watch)
            found = _lower_bound(model)
            if best is None or found > best[0]:
                best = (found, model)
        self._set_model(best[1])
        if not self.converged_:
            import warnings

            from sklearn.exceptions import ConvergenceWarning

            warnings.warn(
                "Best performing initialization did not converge. Try different init parameters, "
                "or increase max_iter, tol, or check for degenerate data.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _select(self, table):
        grid = {
            "components": [int(k) for k in self.n_components],
            "covariances": [STRUCTURES[self.covariance_type]],
            "criterion": self.select,
            "folds": 10,
        }
        options = self._options(restarts=max(10, self.n_init), seed=seed_of(self.random_state))
        watch = watcher(self.verbose, "GaussianMixture")
        model = _core.select_mixture(table, self._specification(1), json.dumps(grid), options, self._threads(), watch)
        self._set_model(model)
        return self

    def _fit_from(self, table, start, watch):
        return _core.fit_mixture(
            "mixture",
            table,
            self._specification(self.n_components),
            self._options(),
            start,
            self._threads(),
            watch,
        )

    def _fit_once(self, X, names, weights, seed, watch):
        k = self.n_components
        if self.init_params != "kmeans":
            init = "kmeans++" if self.init_params == "k-means++" else "random"
            table = dense(X, names, weights=weights)
            options = self._options(init=init, seed=seed)
            start = _core.fit_mixture("mixture", table, self._specification(k), options, None, self._threads(), watch)
            given = (self.weights_init, self.means_init, self.precisions_init)
            return start if all(own is None for own in given) else self._given(start, X, names, weights, watch)
        from abduce.cluster import assigned

        codes = assigned(dense(X, names, weights=weights), k, seed, self._threads())
        column = free_name("start", names)
        table = dense(X, names, weights=weights, labels=(column, [str(j) for j in range(k)], codes))
        specification = self._specification(None, target=column)
        start = _core.fit_mixture("gda", table, specification, self._options(marks=False), None, self._threads())
        return self._given(_core.without_labels(start), X, names, weights, watch)

    def _given(self, start, X, names, weights, watch):
        k, d = self.n_components, X.shape[1]
        kind = self.covariance_type
        given_weights = means = covariances = None
        if self.weights_init is not None:
            given_weights = check_array(self.weights_init, dtype=np.float64, ensure_2d=False)
            if given_weights.shape != (k,):
                raise ValueError(
                    f"The parameter 'weights' should have the shape of ({k},), but got {given_weights.shape}"
                )
            if not np.allclose(given_weights.sum(), 1.0):
                raise ValueError(
                    f"The parameter 'weights' should be normalized, but got sum(weights) = {given_weights.sum():.5f}"
                )
        if self.means_init is not None:
            means = check_array(self.means_init, dtype=np.float64, ensure_2d=False)
            if means.shape != (k, d):
                raise ValueError(f"The parameter 'means' should have the shape of ({k}, {d}), but got {means.shape}")
        if self.precisions_init is not None:
            precisions = np.asarray(self.precisions_init, dtype=np.float64)
            covariances = 1.0 / precisions if kind in ("diag", "spherical") else np.linalg.inv(precisions)
        start = _core.gaussian_start(
            start,
            *(
                None if own is None else np.ascontiguousarray(own, dtype=np.float64).ravel().tolist()
                for own in (given_weights, means, covariances)
            ),
        )
        return self._fit_from(dense(X, names, weights=weights), start, watch)

    def _gaussians(self):
        return self._part("parameters")[0]

    @property
    def means_(self):
        """The mean of each component."""
        return np.array([own["mean"] for own in self._gaussians()])

    @property
    def covariances_(self):
        """The covariances of the components, in the shape that `covariance_type` has."""
        (kind,) = self._gaussians()[0]["covariance"]
        own = np.array([own["covariance"][kind] for own in self._gaussians()])
        d = self.n_features_in_
        if kind == "full":
            own = own.reshape(-1, d, d)
        return own[0] if self.covariance_type == "tied" else own

    @property
    def precisions_cholesky_(self):
        """The Cholesky factors of the precisions."""
        own = self.covariances_
        if self.covariance_type in ("diag", "spherical"):
            return 1.0 / np.sqrt(own)
        identity = np.eye(self.n_features_in_)
        return np.swapaxes(np.linalg.solve(np.linalg.cholesky(own), np.broadcast_to(identity, own.shape)), -1, -2)

    @property
    def precisions_(self):
        """The inverses of the covariances."""
        own = self.precisions_cholesky_
        if self.covariance_type in ("diag", "spherical"):
            return own**2
        return own @ np.swapaxes(own, -1, -2)

    @property
    def lower_bounds_(self):
        """The mean log-likelihood of a row before each step."""
        return (self.trace_[:-1] / self._part("fit")["weight"]).tolist()

    @property
    def lower_bound_(self):
        """The mean log-likelihood of a row before the last step."""
        return _lower_bound(self._model)

    def sample(self, n_samples=1):
        """Draws rows, and tells the component of each."""
        check_is_fitted(self)
        if n_samples < 1:
            raise ValueError(f"Invalid value for 'n_samples': {n_samples} . The sampling requires at least one sample.")
        rng = check_random_state(self.random_state)
        counts = rng.multinomial(n_samples, self.weights_ / self.weights_.sum())
        kind, means = self.covariance_type, self.means_
        covariances = self.covariances_
        rows = []
        for j, count in enumerate(counts):
            own = covariances if kind == "tied" else covariances[j]
            if kind in ("full", "tied"):
                rows.append(rng.multivariate_normal(means[j], own, count))
            else:
                rows.append(means[j] + rng.standard_normal((count, means.shape[1])) * np.sqrt(own))
        return np.vstack(rows), np.repeat(np.arange(len(counts)), counts)


def _lower_bound(model):
    fit = json.loads(model.part("fit"))
    trace = fit["trace"]
    return trace[-2 if len(trace) > 1 else -1] / fit["weight"]


def _tails(text):
    """student-t, or student-t(4) with degrees of freedom, as the engine reads it."""
    if text == "gaussian":
        return "gaussian"
    found = re.fullmatch(r"student-t(?:\((.+)\))?", text)
    try:
        degrees = found and found[1] and float(found[1])
    except ValueError:
        found = None
    if not found:
        raise ValueError(f"tails are gaussian, student-t or student-t(4), not {text!r}")
    return {"student-t": {"degrees": degrees}}


class Mixture(Framed, _Mixture):
    """A mixture of products of families: columns of numbers, counts, levels and yes or no together.

    A frame says by its cells what its columns are; the columns of an array are real numbers.
    """

    _parameter_constraints = {
        "n_components": [Interval(Integral, 1, None, closed="left"), "array-like", range],
        "covariance": [str],
        "families": [dict, None],
        "kinds": [dict, None],
        "tails": [str, None],
        "noise": ["boolean"],
        "tol": [Interval(Real, 0.0, None, closed="left")],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "smoothing": [Interval(Real, 0, None, closed="left")],
        "variance_floor": [Interval(Real, 0, None, closed="left")],
        "select": [StrOptions({"bic", "aic", "icl", "cv"})],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        n_components=1,
        *,
        covariance="full",
        families=None,
        kinds=None,
        tails=None,
        noise=False,
        tol=1e-8,
        max_iter=1000,
        n_init=10,
        smoothing=1.0,
        variance_floor=1e-6,
        select="bic",
        random_state=None,
        verbose=0,
        n_jobs=None,
    ):
        self.n_components = n_components
        self.covariance = covariance
        self.families = families
        self.kinds = kinds
        self.tails = tails
        self.noise = noise
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.smoothing = smoothing
        self.variance_floor = variance_floor
        self.select = select
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _checked_parameters(self):
        reals = _specifications.together(self.covariance.lower())
        changes = {"noise": self.noise} if self.noise else {}
        if self.tails is not None:
            changes["tails"] = _tails(self.tails)
        return {
            "reals": reals,
            "families": list((self.families or {}).items()),
            "smoothing": self.smoothing,
            "variance_floor": self.variance_floor,
            **changes,
        }

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None, sample_weight=None):
        """Learns from rows."""
        X = self._checked(X, reset=True)
        table = self._learned_table(X, None, weights_of(sample_weight, X))
        em = {"tolerance": self.tol, "max_iterations": self.max_iter, "acceleration": "auto"}
        options = _specifications.options(em=em, restarts=self.n_init, seed=seed_of(self.random_state))
        watch = watcher(self.verbose, "Mixture")
        parameters = self._checked_parameters()
        if isinstance(self.n_components, (Integral, np.integer)):
            specification = _specifications.mixture(components=int(self.n_components), **parameters)
            model = _core.fit_mixture("mixture", table, specification, options, None, self._threads(), watch)
        else:
            grid = {
                "components": [int(k) for k in self.n_components],
                "covariances": [self.covariance.lower()],
                "criterion": self.select,
                "folds": 10,
            }
            specification = _specifications.mixture(components=1, **parameters)
            model = _core.select_mixture(table, specification, json.dumps(grid), options, self._threads(), watch)
        self._set_model(model)
        return self

    def _asked(self, X):
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        return X, self._asked_table(X)
