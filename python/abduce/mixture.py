"""Mixtures: scikit-learn's GaussianMixture, and one of any families."""

import json
from collections.abc import Sequence
from itertools import islice
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import DensityMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from abduce import _core, _specifications
from abduce._asking import Asking
from abduce._base import MOST_STARTS, RANDOM_STATES, ModelEstimator, at_least_one, parameters_checked, seed_of, watcher
from abduce._framed import Framed
from abduce._gaussian_starts import AXES, GaussianStarts
from abduce._tables import checked, dense, names_of, spread, weights_of
from abduce._types import Codes, Floats, Rows, Seed

# The defaults of the command line.
USUAL, OPTIONS = (_specifications.defaults("mixture")[part] for part in ("specification", "options"))

# The most numbers of components that are compared.
MOST_NUMBERS = 10_000

# The weight below which the engine calls a component empty.
EMPTY = 1e-9

STRUCTURES = {"full": "full", "tied": "tied", "diag": "diagonal", "spherical": "spherical"}


def numbers_of(n_components: int | Sequence[int]) -> list[int]:
    """The numbers of components to choose from."""
    if isinstance(n_components, range):
        # A range may be longer than any list.
        n_components = list(islice(n_components, MOST_NUMBERS + 1))
    if np.size(n_components) > MOST_NUMBERS:
        raise ValueError(f"n_components names more than {MOST_NUMBERS} numbers of components")
    numbers = np.atleast_1d(np.asarray(n_components)).tolist()
    if not numbers:
        raise ValueError("n_components names no number of components")
    for number in numbers:
        if not number >= 1 or number % 1 != 0:
            raise ValueError(f"n_components names no number of components: {number!r} is not a whole number from 1 up")
    return [int(number) for number in numbers]


class _Mixture(Asking, DensityMixin, ModelEstimator):
    """From a fitted mixture to answers."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _single(self, X: Any, found: Floats) -> NDArray[np.floating]:
        return found.astype(np.float32) if getattr(X, "dtype", None) == np.float32 else found

    def _asked(self, X: Any) -> tuple[Any, _core.Table]:
        check_is_fitted(self)
        X = checked(self, X, reset=False)
        return X, dense(X, names_of(self, X.shape[1]))

    def _asked_about(self, X: Any) -> _core.Table:
        return self._asked(X)[1]

    @property
    def weights_(self) -> Floats:
        """The weight of each component."""
        return np.array(self._part("weights"))

    @property
    def converged_(self) -> bool:
        """Whether the fit converged."""
        return self._part("fit")["converged"]

    @property
    def n_iter_(self) -> int:
        """How many steps the fit took."""
        return self._part("fit")["iterations"]

    def predict(self, X: Rows) -> Codes:
        """The most probable component of each row."""
        _, table = self._asked(X)
        self._warn_of_impossible(table, "components")
        return self._model.best(table, self._threads())

    def predict_proba(self, X: Rows) -> NDArray[np.floating]:
        """The probability of each component for each row."""
        X, table = self._asked(X)
        self._warn_of_impossible(table, "components")
        return self._single(X, self._model.posterior(table, self._threads()))

    def score_samples(self, X: Rows) -> NDArray[np.floating]:
        """The log-density of each row, with hidden cells integrated out."""
        X, table = self._asked(X)
        return self._single(X, self._model.log_density(table, self._threads()))

    def score(self, X: Rows, y: Any = None) -> float:
        """The mean log-density of the rows."""
        return float(np.mean(self.score_samples(X)))

    def fit_predict(self, X: Rows, y: Any = None, sample_weight: ArrayLike | None = None) -> Codes:
        """Fits, and gives the most probable component of each row."""
        return self.fit(X, y, sample_weight=sample_weight).predict(X)

    @property
    def n_components_(self) -> int:
        """The number of components: the chosen one where several were compared."""
        return len(self.weights_)

    @property
    def criteria_(self) -> list[dict[str, Any]] | None:
        """The models that were compared, each with its criteria and whether it was chosen; None without a comparison."""
        check_is_fitted(self, "_model")
        return self._criteria()

    def _parameters_count(self) -> int:
        return self._part("fit")["parameters"]

    def bic(self, X: Rows) -> float:
        """The Bayesian information criterion of rows; less is better."""
        found = self.score_samples(X)
        return float(-2 * np.sum(found) + self._parameters_count() * np.log(len(found)))

    def aic(self, X: Rows) -> float:
        """Akaike's information criterion of rows; less is better."""
        return float(-2 * np.sum(self.score_samples(X)) + 2 * self._parameters_count())


class GaussianMixture(GaussianStarts, _Mixture):
    """A mixture of Gaussians, as `sklearn.mixture.GaussianMixture`.

    Cells may be NaN, rows may have weights, and `n_components` may be several numbers, of which
    the best by `select` is taken: "bic", "aic", "icl" or "cv". Progress is told step by step, whatever
    `verbose_interval` says.
    """

    _parameter_constraints = {
        "n_components": [Interval(Integral, 1, None, closed="left"), "array-like", range],
        "covariance_type": [StrOptions({"full", "tied", "diag", "spherical"})],
        "tol": [Interval(Real, 0.0, None, closed="left")],
        "reg_covar": [Interval(Real, 0.0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_init": [Interval(Integral, 1, MOST_STARTS, closed="both")],
        "init_params": [StrOptions({"kmeans", "random", "random_from_data", "k-means++"})],
        "weights_init": ["array-like", None],
        "means_init": ["array-like", None],
        "precisions_init": ["array-like", None],
        "random_state": RANDOM_STATES,
        "warm_start": ["boolean"],
        "verbose": ["verbose"],
        "verbose_interval": [Interval(Integral, 1, None, closed="left")],
        "select": [StrOptions({"bic", "aic", "icl", "cv"})],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        n_components: int | Sequence[int] = 1,
        *,
        covariance_type: Literal["full", "tied", "diag", "spherical"] = "full",
        tol: float = 1e-3,
        reg_covar: float = 1e-6,
        max_iter: int = 100,
        n_init: int = 1,
        init_params: Literal["kmeans", "random", "random_from_data", "k-means++"] = "kmeans",
        weights_init: ArrayLike | None = None,
        means_init: ArrayLike | None = None,
        precisions_init: ArrayLike | None = None,
        random_state: Seed = None,
        warm_start: bool = False,
        verbose: int = 0,
        verbose_interval: int = 10,
        select: Literal["bic", "aic", "icl", "cv"] = "bic",
        n_jobs: int | None = None,
    ) -> None:
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

    def _options(self, **changes: Any) -> str:
        em = {
            "tolerance": self.tol,
            "stop": "per-row",
            "max_iterations": self.max_iter,
            "acceleration": "none",
        }
        return _specifications.options(
            em=em | changes.pop("em", {}), **({"restarts": 1, "numbered": True, "certainty": False} | changes)
        )

    def _specification(self, components: int | None, target: str | None = None, ridge: float | None = None) -> str:
        return _specifications.mixture(
            target=target,
            components=components,
            reals=_specifications.together(STRUCTURES[self.covariance_type]),
            variance_floor=0.0,
            ridge=self.reg_covar if ridge is None else ridge,
        )

    @parameters_checked
    def fit(self, X: Rows, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learns from rows."""
        X = checked(self, X, reset=True)
        weights = weights_of(sample_weight, X)
        names = names_of(self, X.shape[1])
        numbers = numbers_of(self.n_components)
        if len(numbers) > 1:
            if any(own is not None for own in (self.weights_init, self.means_init, self.precisions_init)):
                raise ValueError("a start is given for one number of components, and n_components are several")
            return self._select(dense(X, names, weights=weights))
        if X.shape[0] < numbers[0]:
            raise ValueError(
                f"Expected n_samples >= n_components but got n_components = {numbers[0]}, n_samples = {X.shape[0]}"
            )
        watch = watcher(self.verbose, "GaussianMixture")
        if self.warm_start and hasattr(self, "_model"):
            table = dense(X, names, weights=weights)
            self._set_fitted(self._fit_from(table, self._model, watch))
        else:
            self._set_fitted(max(self._fits(X, names, weights, watch), key=_lower_bound))
        return self

    def _set_fitted(self, model: _core.Model) -> None:
        # As many components as were asked for are kept, even those without rows.
        weights = np.array(json.loads(model.part("weights")))
        empty = int((weights <= EMPTY).sum())
        if empty:
            model = model.with_warning(f"{empty} of {len(weights)} components are empty: no row belongs to them")
        super()._set_fitted(model)

    def _select(self, table: _core.Table) -> Self:
        grid = {
            "components": numbers_of(self.n_components),
            "covariances": [STRUCTURES[self.covariance_type]],
            "criterion": self.select,
            "folds": 10,
        }
        options = self._options(restarts=max(10, self.n_init), seed=seed_of(self.random_state))
        watch = watcher(self.verbose, "GaussianMixture")
        model = _core.select_mixture(
            table, self._specification(1), _specifications.dumped(grid), options, self._threads(), watch
        )
        self._set_fitted(model)
        return self

    def _gaussians(self) -> list[dict[str, Any]]:
        return self._part("parameters")[0]

    def _spread(self, own: Floats, axes: int) -> Floats:
        """What is known of the columns that have numbers, with NaN for those that have none."""
        return spread(own, self._part("leaves")[0]["columns"], self.n_features_in_, axes)

    @property
    def means_(self) -> Floats:
        """The mean of each component; NaN in a column without a number."""
        return self._spread(np.array([own["mean"] for own in self._gaussians()]), 1)

    def _covariances(self) -> Floats:
        """The covariances of the columns that have numbers."""
        (kind,) = self._gaussians()[0]["covariance"]
        own = np.array([own["covariance"][kind] for own in self._gaussians()])
        if kind == "full":
            d = len(self._gaussians()[0]["mean"])
            own = own.reshape(-1, d, d)
        return own[0] if self.covariance_type == "tied" else own

    @property
    def covariances_(self) -> Floats:
        """The covariances of the components, in the shape that `covariance_type` has."""
        return self._spread(self._covariances(), AXES[self.covariance_type])

    def _precisions_cholesky(self) -> Floats:
        own = self._covariances()
        if self.covariance_type in ("diag", "spherical"):
            return 1.0 / np.sqrt(own)
        identity = np.broadcast_to(np.eye(own.shape[-1]), own.shape)
        return np.swapaxes(np.linalg.solve(np.linalg.cholesky(own), identity), -1, -2)

    @property
    def precisions_cholesky_(self) -> Floats:
        """The Cholesky factors of the precisions."""
        return self._spread(self._precisions_cholesky(), AXES[self.covariance_type])

    @property
    def precisions_(self) -> Floats:
        """The inverses of the covariances."""
        own = self._precisions_cholesky()
        if self.covariance_type in ("diag", "spherical"):
            return self._spread(own**2, AXES[self.covariance_type])
        return self._spread(own @ np.swapaxes(own, -1, -2), 2)

    @property
    def lower_bounds_(self) -> list[float]:
        """The mean log-likelihood of a row before each step."""
        return list(self.trace_[:-1] / self._part("fit")["weight"])

    @property
    def lower_bound_(self) -> float:
        """The mean log-likelihood of a row before the last step."""
        return _lower_bound(self._model)

    def sample(self, n_samples: int = 1) -> tuple[Floats, Codes]:
        """Draws rows, and tells the component of each."""
        check_is_fitted(self)
        columns, components = self._model.sample_with_components(
            at_least_one(n_samples, self.n_features_in_), seed_of(self.random_state)
        )
        drawn = dict(columns)
        return np.column_stack([drawn[name] for name in names_of(self, self.n_features_in_)]), components


def _lower_bound(model: _core.Model) -> float:
    fit = json.loads(model.part("fit"))
    trace = fit["trace"]
    return np.float64(trace[-2 if len(trace) > 1 else -1] / fit["weight"])


class Mixture(Framed, _Mixture):
    """A mixture of products of families: columns of numbers, counts, levels and yes or no together.

    The types of the columns of a frame decide what they are: floats are real, integers are judged by their values, and
    strings and categories are levels. `kinds` overrides that, by names or patterns such as `pixel_*`. The columns of an
    array are real numbers. `unseen` says what a category is that the fitted rows do not have: "impossible" unless
    `smoothing` gives it a probability, or "missing"; `smoothing` is a pseudocount or an m-estimate, as for `NaiveBayes`.
    `prior` is that of the Gaussians of the numbers: "mclust" for the default of R's mclust,
    "normal-inverse-wishart(0.01)" with the rows that the belief in the means is worth, or
    "normal-inverse-wishart(0.01,5)" with the degrees of freedom of the covariances too.
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
        "n_init": [Interval(Integral, 1, MOST_STARTS, closed="both")],
        "smoothing": [Interval(Real, 0, None, closed="left"), str],
        "unseen": [StrOptions({"impossible", "missing"})],
        "variance_floor": [Interval(Real, 0, None, closed="left")],
        "prior": [str, None],
        "select": [StrOptions({"bic", "aic", "icl", "cv"})],
        "random_state": RANDOM_STATES,
        "verbose": ["verbose"],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        n_components: int | Sequence[int] = 1,
        *,
        covariance: str = "full",
        families: dict[str, str] | None = None,
        kinds: dict[str, str] | None = None,
        tails: str | None = None,
        noise: bool = False,
        tol: float = OPTIONS["em"]["tolerance"],
        max_iter: int = OPTIONS["em"]["max_iterations"],
        n_init: int = OPTIONS["restarts"],
        smoothing: float | str = USUAL["smoothing"],
        unseen: Literal["impossible", "missing"] = "impossible",
        variance_floor: float = USUAL["variance_floor"],
        prior: str | None = None,
        select: Literal["bic", "aic", "icl", "cv"] = "bic",
        random_state: Seed = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
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
        self.unseen = unseen
        self.variance_floor = variance_floor
        self.prior = prior
        self.select = select
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _checked_parameters(self) -> dict[str, Any]:
        reals = _specifications.together(_core.covariances(self.covariance)[0])
        changes: dict[str, Any] = {"noise": self.noise} if self.noise else {}
        if self.tails is not None:
            changes["tails"] = self.tails
        if self.prior is not None:
            changes["normal_prior"] = self.prior
        return {
            "reals": reals,
            "families": _specifications.by_column("families", self.families),
            **_specifications.smoothed(self.smoothing),
            "unseen": self.unseen,
            "variance_floor": self.variance_floor,
            **changes,
        }

    @parameters_checked
    def fit(self, X: Rows, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learns from rows."""
        X = self._checked(X, reset=True)
        table = self._learned_table(X, None, weights_of(sample_weight, X))
        em = {"tolerance": self.tol, "max_iterations": self.max_iter}
        options = _specifications.options(em=em, restarts=self.n_init, seed=seed_of(self.random_state))
        watch = watcher(self.verbose, "Mixture")
        parameters = self._checked_parameters()
        covariances = _core.covariances(self.covariance)
        numbers = numbers_of(self.n_components)
        if len(numbers) == 1 and len(covariances) == 1:
            specification = _specifications.mixture(components=numbers[0], **parameters)
            model = _core.fit_mixture("mixture", table, specification, options, None, self._threads(), watch)
        else:
            grid = {
                "components": numbers,
                "covariances": covariances,
                "criterion": self.select,
                "folds": 10,
            }
            specification = _specifications.mixture(components=1, **parameters)
            model = _core.select_mixture(
                table, specification, _specifications.dumped(grid), options, self._threads(), watch
            )
        self._set_fitted(model)
        return self

    def _asked(self, X: Any) -> tuple[Any, _core.Table]:
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        return X, self._asked_table(X)
