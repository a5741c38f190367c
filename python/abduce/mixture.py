"""Mixtures: scikit-learn's GaussianMixture, and one for columns of any kind."""

import json
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from abduce import _core, _specifications
from abduce._base import (
    MAX_STARTS,
    RANDOM_STATES,
    checked_n_samples,
    parameters_checked,
    progress,
    seed_of,
)
from abduce._frame_input import FrameInputMixin
from abduce._gaussian_starts import AXES, GaussianStartMixin
from abduce._mixture_base import MixtureEstimator, numbers_of
from abduce._tables import checked, dense, expand_to_all_columns, names_of, weights_of
from abduce._types import Codes, Floats, Rows, Seed

# The defaults of the command line.
DEFAULTS, OPTIONS = (_specifications.defaults("mixture")[part] for part in ("specification", "options"))

# The weight up to which the library reports a component as empty.
EMPTY = 1e-9

STRUCTURES = {"full": "full", "tied": "tied", "diag": "diagonal", "spherical": "spherical"}


class GaussianMixture(GaussianStartMixin, MixtureEstimator):
    """A mixture of Gaussians, as `sklearn.mixture.GaussianMixture`; cells may be NaN.

    Parameters
    ----------
    n_components : int or sequence of int, default=1
        Number of components; of several numbers, the best by `select` is used.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        Structure of the covariances.
    tol : float, default=1e-3
        Change of the mean log-likelihood at which EM stops.
    reg_covar : float, default=1e-6
        Amount added to every variance.
    max_iter : int, default=100
        Maximum number of EM iterations.
    n_init : int, default=1
        Number of starts, of which the best fit is kept.
    init_params : {"kmeans", "k-means++", "random", "random_from_data"}, default="kmeans"
        How starts are initialized. The random starts are those of scikit-learn if no cell is missing.
    weights_init : array-like of shape (n_components,), default=None
        Initial weights.
    means_init : array-like of shape (n_components, n_features), default=None
        Initial means.
    precisions_init : array-like, default=None
        Initial inverses of the covariances, with the shape of `covariances_`.
    random_state : int, RandomState, Generator or None, default=None
        Seed or generator of the random numbers.
    warm_start : bool, default=False
        Whether to start from the previous fit.
    verbose : int, default=0
        Whether to report the progress of the fit.
    verbose_interval : int, default=10
        Without effect: every iteration is reported.
    select : {"bic", "aic", "icl", "cv"}, default="bic"
        Criterion that selects the number of components; "cv" is cross-validation.
    n_jobs : int, default=None
        Number of threads; all processors if None or -1.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        Weight of each component.
    means_ : ndarray of shape (n_components, n_features)
        Mean of each component; NaN in a column without values.
    covariances_ : ndarray
        Covariance of each component, with the shape of scikit-learn's for `covariance_type`.
    precisions_ : ndarray
        Inverses of the covariances.
    precisions_cholesky_ : ndarray
        Cholesky factors of the precisions.
    lower_bound_ : float
        Mean log-likelihood of a row before the last iteration.
    lower_bounds_ : list of float
        Mean log-likelihood of a row before each iteration.
    converged_ : bool
        Whether the fit converged.
    n_iter_ : int
        Number of EM iterations.
    n_components_ : int
        Number of components; the selected one if several were compared.
    criteria_ : list of dict or None
        The compared models, each with its criteria and whether it was selected.
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
        "n_components": [Interval(Integral, 1, None, closed="left"), "array-like", range],
        "covariance_type": [StrOptions({"full", "tied", "diag", "spherical"})],
        "tol": [Interval(Real, 0.0, None, closed="left")],
        "reg_covar": [Interval(Real, 0.0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_init": [Interval(Integral, 1, MAX_STARTS, closed="both")],
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

    def _specification(self, components: int | None, target: str | None = None) -> str:
        return _specifications.mixture(
            target=target,
            components=components,
            reals=_specifications.together(STRUCTURES[self.covariance_type]),
            variance_floor=0.0,
            ridge=self.reg_covar,
        )

    @parameters_checked
    def fit(self, X: Rows, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fits the mixture to the rows of `X`."""
        X = checked(self, X, reset=True)
        weights = weights_of(sample_weight, X)
        names = names_of(self, X.shape[1])
        numbers = numbers_of(self.n_components)
        if len(numbers) > 1:
            if any(start is not None for start in (self.weights_init, self.means_init, self.precisions_init)):
                raise ValueError("weights_init, means_init and precisions_init need a single number of components")
            return self._select(dense(X, names, weights=weights))
        if X.shape[0] < numbers[0]:
            raise ValueError(
                f"Expected n_samples >= n_components but got n_components = {numbers[0]}, n_samples = {X.shape[0]}"
            )
        on_progress = progress(self.verbose, "GaussianMixture")
        if self.warm_start and hasattr(self, "_model"):
            table = dense(X, names, weights=weights)
            self._set_fitted(self._fit(table, on_progress, self._model.part("start")))
        else:
            self._set_fitted(max(self._fits(X, names, weights, on_progress), key=_lower_bound))
        return self

    def _set_fitted(self, model: _core.Model) -> None:
        # All requested components are kept, even empty ones.
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
            "folds": 5,
        }
        options = self._options(restarts=max(10, self.n_init), seed=seed_of(self.random_state))
        on_progress = progress(self.verbose, "GaussianMixture")
        model = _core.select_mixture(
            table, self._specification(1), _specifications.dumped(grid), options, self._threads(), on_progress
        )
        self._set_fitted(model)
        return self

    def _gaussians(self) -> list[dict[str, Any]]:
        return self._part("parameters")[0]

    def _spread(self, numbers: Floats, axes: int) -> Floats:
        """Parameters of the columns with values, with NaN for the others."""
        return expand_to_all_columns(numbers, self._part("leaves")[0]["columns"], self.n_features_in_, axes)

    @property
    def means_(self) -> Floats:
        """The mean of each component; NaN in a column without values."""
        return self._spread(np.array([component["mean"] for component in self._gaussians()]), 1)

    def _covariances(self) -> Floats:
        """The covariances of the columns with values."""
        (kind,) = self._gaussians()[0]["covariance"]
        covariances = np.array([component["covariance"][kind] for component in self._gaussians()])
        if kind == "full":
            d = len(self._gaussians()[0]["mean"])
            covariances = covariances.reshape(-1, d, d)
        return covariances[0] if self.covariance_type == "tied" else covariances

    @property
    def covariances_(self) -> Floats:
        """The covariances of the components, with the shape of scikit-learn's for `covariance_type`."""
        return self._spread(self._covariances(), AXES[self.covariance_type])

    def _precisions_cholesky(self) -> Floats:
        covariances = self._covariances()
        if self.covariance_type in ("diag", "spherical"):
            return 1.0 / np.sqrt(covariances)
        identity = np.broadcast_to(np.eye(covariances.shape[-1]), covariances.shape)
        return np.swapaxes(np.linalg.solve(np.linalg.cholesky(covariances), identity), -1, -2)

    @property
    def precisions_cholesky_(self) -> Floats:
        """The Cholesky factors of the precisions."""
        return self._spread(self._precisions_cholesky(), AXES[self.covariance_type])

    @property
    def precisions_(self) -> Floats:
        """The inverses of the covariances."""
        factors = self._precisions_cholesky()
        if self.covariance_type in ("diag", "spherical"):
            return self._spread(factors**2, AXES[self.covariance_type])
        return self._spread(factors @ np.swapaxes(factors, -1, -2), 2)

    @property
    def lower_bounds_(self) -> list[float]:
        """The mean log-likelihood of a row before each iteration."""
        return list(self.trace_[:-1] / self._part("fit")["weight"])

    @property
    def lower_bound_(self) -> float:
        """The mean log-likelihood of a row before the last iteration."""
        return _lower_bound(self._model)

    def sample(self, n_samples: int = 1) -> tuple[Floats, Codes]:
        """Draws rows, and returns the component of each."""
        check_is_fitted(self)
        columns, components = self._model.sample_with_components(
            checked_n_samples(n_samples, self.n_features_in_), seed_of(self.random_state)
        )
        drawn = dict(columns)
        return np.column_stack([drawn[name] for name in names_of(self, self.n_features_in_)]), components


def _lower_bound(model: _core.Model) -> float:
    fit = json.loads(model.part("fit"))
    trace = fit["trace"]
    return np.float64(trace[-2 if len(trace) > 1 else -1] / fit["weight"])


class Mixture(FrameInputMixin, MixtureEstimator):
    """A mixture for real numbers, counts, categories and binary columns together.

    The type of a column of a frame decides its kind: floats are real, the kind of integers follows from their values,
    and strings and categories are categorical. The columns of an array are real. Within a component, the real numbers
    have a multivariate Gaussian, and other columns are independent.

    Parameters
    ----------
    n_components : int or sequence of int, default=1
        Number of components; of several numbers, the best by `select` is used.
    covariance : str or list of str, default="full"
        Covariance of the real numbers: "full", "tied", "diagonal", "spherical", "identity" or a code of mclust such as
        "VVE"; of several, in a list or separated by commas, or of "all", the best by `select` is used.
    families : dict, default=None
        Families of columns, by names or patterns.
    kinds : dict, default=None
        Kinds of columns, by names or patterns such as "pixel_*"; overrides the types of a frame.
    tails : str, default=None
        "student-t" replaces the Gaussians by multivariate Student t distributions.
    noise : bool, default=False
        Whether to add a uniform component.
    tol : float, default=1e-8
        Relative change of the log-likelihood at which EM stops.
    max_iter : int, default=1000
        Maximum number of EM iterations.
    n_init : int, default=10
        Number of starts, of which the best fit is kept.
    smoothing : float or str, default=0.0
        Pseudocount of each category, or an m-estimate: "m=2" spreads two rows evenly over the categories,
        "m=2,pooled" in the proportions of the whole table.
    unseen : {"impossible", "missing"}, default="impossible"
        How a category that does not occur in the fitted rows is treated: with the probability that `smoothing` gives
        it, which is 0 without smoothing, or as a missing value.
    variance_floor : float, default=1e-6
        Smallest variance, as a share of the variance of the column.
    prior : str, default=None
        Prior of the Gaussians: "mclust" for the default of R's mclust, or "normal-inverse-wishart(0.01,5)" with the
        pseudocount of the mean and, optionally, the degrees of freedom.
    select : {"bic", "aic", "icl", "cv"}, default="bic"
        Criterion that selects the number of components; "cv" is cross-validation.
    random_state : int, RandomState, Generator or None, default=None
        Seed or generator of the random numbers.
    verbose : int, default=0
        Whether to report the progress of the fit.
    n_jobs : int, default=None
        Number of threads; all processors if None or -1.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        Weight of each component.
    converged_ : bool
        Whether the fit converged.
    n_iter_ : int
        Number of EM iterations.
    n_components_ : int
        Number of components; the selected one if several were compared.
    criteria_ : list of dict or None
        The compared models, each with its criteria and whether it was selected.
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
        "n_components": [Interval(Integral, 1, None, closed="left"), "array-like", range],
        "covariance": [str, "array-like"],
        "families": [dict, None],
        "kinds": [dict, None],
        "tails": [str, None],
        "noise": ["boolean"],
        "tol": [Interval(Real, 0.0, None, closed="left")],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "n_init": [Interval(Integral, 1, MAX_STARTS, closed="both")],
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
        covariance: str | Sequence[str] = "full",
        families: dict[str, str] | None = None,
        kinds: dict[str, str] | None = None,
        tails: str | None = None,
        noise: bool = False,
        tol: float = OPTIONS["em"]["tolerance"],
        max_iter: int = OPTIONS["em"]["max_iterations"],
        n_init: int = OPTIONS["restarts"],
        smoothing: float | str = DEFAULTS["smoothing"],
        unseen: Literal["impossible", "missing"] = "impossible",
        variance_floor: float = DEFAULTS["variance_floor"],
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

    def _structures(self) -> list[str]:
        """The covariance structures to choose from."""
        structures = self.covariance if isinstance(self.covariance, str) else ",".join(map(str, self.covariance))
        return _core.covariances(structures)

    def _specified(self) -> dict[str, Any]:
        reals = _specifications.together(self._structures()[0])
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
        """Fits the mixture to the rows of `X`."""
        X = self._checked(X, reset=True)
        table = self._training_table(X, None, weights_of(sample_weight, X))
        em = {"tolerance": self.tol, "max_iterations": self.max_iter}
        options = _specifications.options(em=em, restarts=self.n_init, seed=seed_of(self.random_state))
        on_progress = progress(self.verbose, "Mixture")
        parameters = self._specified()
        covariances = self._structures()
        numbers = numbers_of(self.n_components)
        if len(numbers) == 1 and len(covariances) == 1:
            specification = _specifications.mixture(components=numbers[0], **parameters)
            model = _core.fit_mixture("mixture", table, specification, options, None, self._threads(), on_progress)
        else:
            grid = {
                "components": numbers,
                "covariances": covariances,
                "criterion": self.select,
                "folds": 5,
            }
            specification = _specifications.mixture(components=1, **parameters)
            model = _core.select_mixture(
                table, specification, _specifications.dumped(grid), options, self._threads(), on_progress
            )
        self._set_fitted(model)
        return self

    def _checked_with_table(self, X: Any) -> tuple[Any, _core.Table]:
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        return X, self._table_for_model(X)
