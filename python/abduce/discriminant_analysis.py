"""Gaussian discriminant analysis, as `sklearn.discriminant_analysis`; cells and labels may be missing.

Covariances are maximum-likelihood estimates. Shrinkage, custom covariance estimators and solvers other than "svd" are
not supported.
"""

from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from abduce import _core, _specifications
from abduce._base import warn
from abduce._classifier import UNLABELLED, ModelClassifier, RowDensityMixin
from abduce._tables import empty_columns, names_of, refuse_large
from abduce._types import Codes, Floats, Rows


class _Discriminant(RowDensityMixin, ModelClassifier):
    """A multivariate Gaussian for each class."""

    _allow_nan = True
    _name = "gda"
    _covariance = "full"

    def _refuse_unsupported(self) -> None:
        """Raises an error for parameters that are not supported."""
        if self.solver != "svd":
            raise NotImplementedError(f"solver={self.solver!r} is not supported; pass solver='svd'")
        if self.shrinkage is not None:
            raise NotImplementedError("shrinkage not supported with 'svd' solver.")
        if self.covariance_estimator is not None:
            raise ValueError("covariance_estimator is not supported with solver='svd', the only solver")

    def _learn(self, X: Any, codes: Codes, weights: Floats | None) -> None:
        self._refuse_unsupported()
        if len(self.classes_) < 2:
            raise ValueError(f"The number of classes has to be greater than one. Got {len(self.classes_)} class.")
        empty = empty_columns(X)
        if len(empty):
            raise ValueError(f"column {empty[0]} has only missing values; leave it out")
        self._check_rows(X, codes)
        super()._learn(X, codes, weights)
        self._check_model()

    def _check_rows(self, X: Any, codes: Codes) -> None:
        """Raises an error if there are too few rows, as scikit-learn does."""

    def _change(self, how: Literal["update", "forget"], X: Any, codes: Codes, weights: Floats | None) -> None:
        super()._change(how, X, codes, weights)
        self._check_model()

    def _check_model(self) -> None:
        """Raises an error if a fitted or changed model is not acceptable."""

    def _class_prior(self) -> Any:
        if self.priors is None:
            return "learned"
        return self._given_prior(self.priors)

    def _specification(self) -> str:
        return _specifications.gda(
            target=self._target,
            reals=_specifications.together(self._covariance, counts=True),
            variance_floor=0.0,
            ridge=getattr(self, "reg_covar", 0.0),
            unit_share=float(getattr(self, "reg_param", 0.0)),
            class_prior=self._class_prior(),
        )

    def _gaussians(self) -> _core.ClassGaussians:
        if "gaussians" not in self._parts:
            self._parts["gaussians"] = _core.class_gaussians(self._model)
        return self._parts["gaussians"]

    @property
    def priors_(self) -> Floats:
        """The probability of each class."""
        return np.array(self._part("weights"))

    @property
    def means_(self) -> Floats:
        """The mean of each class."""
        return self._gaussians().means()


class LinearDiscriminantAnalysis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _Discriminant):
    """Gaussian classes with one covariance, as `sklearn.discriminant_analysis.LinearDiscriminantAnalysis`.

    The numbers are those of scikit-learn's solver "svd", with the maximum-likelihood covariance. The directions in
    `scalings_`, and so the columns of `transform`, may have the opposite sign.

    Parameters
    ----------
    solver : {"svd"}, default="svd"
        The only solver.
    shrinkage : None, default=None
        Not supported, as in scikit-learn with this solver.
    priors : array-like of shape (n_classes,), default=None
        Prior probabilities of the classes; learned from the labels if None.
    n_components : int, default=None
        Number of columns of `transform`; as many as there are if None.
    store_covariance : bool, default=False
        Without effect: `covariance_` is always available.
    tol : float, default=1e-4
        Singular values below this are treated as zero.
    covariance_estimator : None, default=None
        Not supported, as in scikit-learn with this solver.
    missing_label : object, default=None
        Value that stands for a missing label, besides None and NaN.
    unlabelled : float, default=None
        Weight of a row without a label, from 0 to 1; chosen by cross-validation on the labelled rows if None.
    marks : bool, default=False
        Whether to store a hash of every row, for up to 100,000 rows, by which `forget` recognizes rows that were
        never fitted.
    n_jobs : int, default=None
        Number of threads; all processors if None or -1.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    class_count_ : ndarray of shape (n_classes,)
        Total weight of the rows of each class.
    priors_ : ndarray of shape (n_classes,)
        Probability of each class.
    means_ : ndarray of shape (n_classes, n_features)
        Mean of each class.
    xbar_ : ndarray of shape (n_features,)
        Mean of the class means, weighted by `priors_`.
    covariance_ : ndarray of shape (n_features, n_features)
        Covariance of all classes.
    coef_ : ndarray of shape (n_classes, n_features) or (1, n_features)
        Coefficients of the log-odds.
    intercept_ : ndarray of shape (n_classes,) or (1,)
        Intercepts of the log-odds.
    scalings_ : ndarray of shape (n_features, rank)
        Directions that separate the classes, one per column.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Share of the variance between classes in each direction.
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

    _covariance = "tied"
    _parameter_constraints = {
        "solver": [StrOptions({"svd", "lsqr", "eigen"})],
        "shrinkage": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both"), None],
        "priors": ["array-like", None],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "store_covariance": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
        "covariance_estimator": [HasMethods("fit"), None],
        "missing_label": [object],
        "unlabelled": UNLABELLED,
        "marks": ["boolean"],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        solver: Literal["svd"] = "svd",
        shrinkage: None = None,
        priors: ArrayLike | None = None,
        n_components: int | None = None,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: None = None,
        *,
        missing_label: object = None,
        unlabelled: float | None = None,
        marks: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.missing_label = missing_label
        self.unlabelled = unlabelled
        self.marks = marks
        self.n_jobs = n_jobs

    def _check_rows(self, X: Any, codes: Codes) -> None:
        if X.shape[0] == len(self.classes_):
            raise ValueError("The number of samples must be more than the number of classes.")
        if self.n_components is not None and self.n_components > min(len(self.classes_) - 1, X.shape[1]):
            raise ValueError("n_components cannot be larger than min(n_features, n_classes - 1).")

    def _class_prior(self) -> Any:
        if self.priors is not None and abs(np.sum(self.priors) - 1.0) > 1e-5:
            warn("The priors do not sum to 1. Renormalizing")
        return super()._class_prior()

    @property
    def _max_components(self) -> int:
        most = min(len(self.classes_) - 1, self.n_features_in_)
        return most if self.n_components is None else self.n_components

    @property
    def _n_features_out(self) -> int:
        return self._max_components

    @property
    def covariance_(self) -> Floats:
        """The covariance of all classes; with `priors`, the covariances of the classes averaged by these weights."""
        return self._gaussians().within() if self.priors is None else self._gaussians().average_covariance()

    @property
    def xbar_(self) -> Floats:
        """The mean of the class means, weighted by their probabilities."""
        return self.priors_ @ self.means_

    def _directions(self) -> tuple[Floats, Floats, Floats, Floats]:
        if "directions" not in self._parts:
            self._parts["directions"] = self._gaussians().directions(float(self.tol))
        return self._parts["directions"]

    @property
    def scalings_(self) -> Floats:
        """The directions that separate the classes, one per column."""
        return self._directions()[0]

    @property
    def explained_variance_ratio_(self) -> Floats:
        """The share of the variance between classes in each direction."""
        return self._directions()[1][: self._max_components]

    def _linear(self) -> tuple[Floats, Floats]:
        _, _, coefficients, intercepts = self._directions()
        if len(self.classes_) == 2:
            return coefficients[1:] - coefficients[:1], intercepts[1:] - intercepts[:1]
        return coefficients, intercepts

    @property
    def coef_(self) -> Floats:
        """The coefficients of the log-odds."""
        return self._linear()[0]

    @property
    def intercept_(self) -> Floats:
        """The intercepts of the log-odds."""
        return self._linear()[1]

    def transform(self, X: Rows) -> Floats:
        """The projection of each row onto the directions that separate the classes; for rows with missing values, its mean."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        refuse_large(X)
        if np.isnan(X).any():
            # The projection is linear, so its mean is the projection of the expected cells.
            expected = dict(self._model.complete(self._prediction_table(X), "mean"))
            X = np.column_stack([expected[name] for name in names_of(self, X.shape[1])])
        return ((X - self.xbar_) @ self.scalings_)[:, : self._max_components]

    def _scores(self, X: Rows) -> Floats:
        """log P(class | x) of each row, up to a constant. For complete rows it is linear in x, in the directions in which
        the covariance is not singular, as in scikit-learn."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        refuse_large(X)
        _, _, coefficients, intercepts = self._directions()
        scores = X @ coefficients.T + intercepts
        incomplete = np.isnan(X).any(axis=1)
        if incomplete.any():
            scores[incomplete] = self._model.log_joint(self._prediction_table(X[incomplete]), self._threads())
        return scores

    def decision_function(self, X: Rows) -> Floats:
        """The log-odds of two classes, or a score for each of more classes."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Rows) -> NDArray[Any]:
        """The most probable class of each row."""
        check_is_fitted(self)
        if self._part("calibrated"):
            return super().predict(X)
        best = self._scores(X).argmax(axis=1)
        return self.classes_[best]

    def predict_proba(self, X: Rows) -> Floats:
        """P(class | x) of each row, one column per class."""
        check_is_fitted(self)
        return super().predict_proba(X) if self._part("calibrated") else np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Rows) -> Floats:
        """log P(class | x) of each row, one column per class."""
        from scipy.special import log_softmax

        check_is_fitted(self)
        if self._part("calibrated"):
            return super().predict_log_proba(X)
        return log_softmax(self._scores(X), axis=1)


class QuadraticDiscriminantAnalysis(_Discriminant):
    """Gaussian classes with one covariance each, as `sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis`.

    The axes in `rotations_` may have the opposite sign.

    Parameters
    ----------
    solver : {"svd"}, default="svd"
        The only solver.
    shrinkage : None, default=None
        Not supported, as in scikit-learn with this solver.
    priors : array-like of shape (n_classes,), default=None
        Prior probabilities of the classes; learned from the labels if None.
    reg_param : float, default=0.0
        Share of the identity matrix in every covariance.
    store_covariance : bool, default=False
        Without effect: `covariance_` is always available.
    tol : float, default=1e-4
        A class whose variance along a principal axis is not above this is refused, in the units of `X`; 0 accepts all.
    covariance_estimator : None, default=None
        Not supported, as in scikit-learn with this solver.
    reg_covar : float, default=0.0
        Amount added to every variance.
    missing_label : object, default=None
        Value that stands for a missing label, besides None and NaN.
    unlabelled : float, default=None
        Weight of a row without a label, from 0 to 1; chosen by cross-validation on the labelled rows if None.
    marks : bool, default=False
        Whether to store a hash of every row, for up to 100,000 rows, by which `forget` recognizes rows that were
        never fitted.
    n_jobs : int, default=None
        Number of threads; all processors if None or -1.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    class_count_ : ndarray of shape (n_classes,)
        Total weight of the rows of each class.
    priors_ : ndarray of shape (n_classes,)
        Probability of each class.
    means_ : ndarray of shape (n_classes, n_features)
        Mean of each class.
    covariance_ : list of ndarray of shape (n_features, n_features)
        Covariance of each class.
    rotations_ : list of ndarray of shape (n_features, n_features)
        Principal axes of each class, one per column.
    scalings_ : list of ndarray of shape (n_features,)
        Variances of each class along its principal axes.
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
        "solver": [StrOptions({"svd", "eigen"})],
        "shrinkage": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both"), None],
        "priors": ["array-like", None],
        "reg_param": [Interval(Real, 0, 1, closed="both")],
        "store_covariance": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
        "covariance_estimator": [HasMethods("fit"), None],
        "reg_covar": [Interval(Real, 0, None, closed="left")],
        "missing_label": [object],
        "unlabelled": UNLABELLED,
        "marks": ["boolean"],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        *,
        solver: Literal["svd"] = "svd",
        shrinkage: None = None,
        priors: ArrayLike | None = None,
        reg_param: float = 0.0,
        store_covariance: bool = False,
        tol: float = 1.0e-4,
        covariance_estimator: None = None,
        reg_covar: float = 0.0,
        missing_label: object = None,
        unlabelled: float | None = None,
        marks: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.reg_param = reg_param
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.reg_covar = reg_covar
        self.missing_label = missing_label
        self.unlabelled = unlabelled
        self.marks = marks
        self.n_jobs = n_jobs

    def _check_rows(self, X: Any, codes: Codes) -> None:
        rows = np.bincount(codes[codes >= 0], minlength=len(self.classes_))
        if (rows == 1).any():
            label = self.classes_[int(np.argmax(rows == 1))]
            raise ValueError(f"y has only 1 sample in class {label}, covariance is ill defined.")

    def _check_model(self) -> None:
        for label, variances in zip(self.classes_, self.scalings_, strict=True):
            if (variances <= self.tol).any():
                raise np.linalg.LinAlgError(
                    f"The covariance matrix of class {label} is not full rank. Increase the value of `reg_param` to "
                    "reduce the collinearity."
                )

    def _axes(self) -> list[tuple[Floats, Floats]]:
        if "axes" not in self._parts:
            self._parts["axes"] = self._gaussians().axes()
        return self._parts["axes"]

    @property
    def priors_(self) -> Floats:
        """The probability of each class."""
        learned = np.array(self._part("weights"))
        return learned if self.priors is None else np.array(self.priors)

    @property
    def covariance_(self) -> list[Floats]:
        """The covariance of each class."""
        return self._gaussians().covariances()

    @property
    def scalings_(self) -> list[Floats]:
        """The variances of each class along its principal axes."""
        return [variances for variances, _ in self._axes()]

    @property
    def rotations_(self) -> list[Floats]:
        """The principal axes of each class, one per column."""
        return [axes for _, axes in self._axes()]

    def decision_function(self, X: Rows) -> Floats:
        """The log-odds of two classes, or log P(x, class) up to a constant for each of more classes."""
        check_is_fitted(self)
        joint = self.predict_joint_log_proba(X)
        if len(self.classes_) == 2:
            return joint[:, 1] - joint[:, 0]
        scale = 0.0 if self.priors is None else np.log(np.sum(self.priors))
        return joint + (0.5 * self.n_features_in_ * np.log(2 * np.pi) + scale)
