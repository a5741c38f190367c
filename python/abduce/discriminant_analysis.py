"""Gaussian discriminants, as `sklearn.discriminant_analysis`; cells and labels may be missing.

Covariances are of each class or of all, of maximum likelihood. Shrinkage, estimators of covariances of one's own
and solvers other than "svd" are refused.
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
from abduce._classifier import UNLABELLED, ModelClassifier
from abduce._tables import empty_columns, names_of, refuse_large
from abduce._types import Codes, Floats, Rows


class _Discriminant(ModelClassifier):
    """A Gaussian of all columns for each class."""

    _allow_nan = True
    _name = "gda"
    _covariance = "full"

    def _refuse(self) -> None:
        """Says what is not there, rather than to pass over it."""
        if self.solver != "svd":
            raise NotImplementedError(f"solver={self.solver!r} is not there yet; take solver='svd'")
        if self.shrinkage is not None:
            raise NotImplementedError("shrinkage not supported with 'svd' solver.")
        if self.covariance_estimator is not None:
            raise ValueError("covariance_estimator is not supported with solver='svd', the only one here")

    def _learn(self, X: Any, codes: Codes, weights: Floats | None) -> None:
        self._refuse()
        if len(self.classes_) < 2:
            raise ValueError(f"The number of classes has to be greater than one. Got {len(self.classes_)} class.")
        empty = empty_columns(X)
        if len(empty):
            raise ValueError(f"feature {empty[0]} has no number, and no part in a discriminant: leave it out")
        self._check_rows(X, codes)
        super()._learn(X, codes, weights)
        self._settle()

    def _check_rows(self, X: Any, codes: Codes) -> None:
        """Refuses too few rows, as scikit-learn does."""

    def _change(self, how: Literal["update", "forget"], X: Any, codes: Codes, weights: Floats | None) -> None:
        super()._change(how, X, codes, weights)
        self._settle()

    def _settle(self) -> None:
        """What has to hold of a model once it is learned."""

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
    """A covariance that all classes share, as `sklearn.discriminant_analysis.LinearDiscriminantAnalysis`.

    The numbers are those of its solver "svd", the only one here, whose covariance is that of maximum likelihood; so
    `shrinkage` and `covariance_estimator` are refused as they are there. The directions in `scalings_`, and so the
    columns of `transform`, may point the other way. `covariance_` is there whatever `store_covariance` says.
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
        """The covariance that the classes share; with `priors`, their own, mixed by these."""
        return self._gaussians().within() if self.priors is None else self._gaussians().mixed()

    @property
    def xbar_(self) -> Floats:
        """The mean of the classes, by their probabilities."""
        return self.priors_ @ self.means_

    def _directions(self) -> tuple[Floats, Floats, Floats, Floats]:
        if "directions" not in self._parts:
            self._parts["directions"] = self._gaussians().directions(float(self.tol))
        return self._parts["directions"]

    @property
    def scalings_(self) -> Floats:
        """The directions in which the classes lie apart, one per column."""
        return self._directions()[0]

    @property
    def explained_variance_ratio_(self) -> Floats:
        """The share of the variance between classes of each direction."""
        return self._directions()[1][: self._max_components]

    def _linear(self) -> tuple[Floats, Floats]:
        _, _, coefficients, intercepts = self._directions()
        if len(self.classes_) == 2:
            return coefficients[1:] - coefficients[:1], intercepts[1:] - intercepts[:1]
        return coefficients, intercepts

    @property
    def coef_(self) -> Floats:
        """The weight of each feature in the log-odds."""
        return self._linear()[0]

    @property
    def intercept_(self) -> Floats:
        """What is added to it."""
        return self._linear()[1]

    def transform(self, X: Rows) -> Floats:
        """The rows in the directions in which the classes lie apart; of rows with missing values, what is expected of them."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        refuse_large(X)
        if np.isnan(X).any():
            # Directions are linear, so that those of the expected cells are the expected ones.
            expected = dict(self._model.complete(self._asked(X), "mean"))
            X = np.column_stack([expected[name] for name in names_of(self, X.shape[1])])
        return ((X - self.xbar_) @ self.scalings_)[:, : self._max_components]

    def _scores(self, X: Rows) -> Floats:
        """log P(class | x) up to a constant of each row: linear in x, as scikit-learn has it, in the directions in which
        the covariance is not singular; of a row with holes, what the cells that are seen say."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        refuse_large(X)
        _, _, coefficients, intercepts = self._directions()
        scores = X @ coefficients.T + intercepts
        holed = np.isnan(X).any(axis=1)
        if holed.any():
            scores[holed] = self._model.log_joint(self._asked(X[holed]), self._threads())
        return scores

    def decision_function(self, X: Rows) -> Floats:
        """The log-odds of two classes, or a score for each of several."""
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
    """A covariance for each class, as `sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis`.

    The solver is "svd"; `shrinkage` and `covariance_estimator` are refused with it as they are there. `covariance_` is
    there whatever `store_covariance` says, and the axes in `rotations_` may point the other way. `reg_covar` is added
    to every variance. A variance along an axis that is not above `tol` is refused, in whatever units X is; 0 lets all
    pass.
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
        self.n_jobs = n_jobs

    def _check_rows(self, X: Any, codes: Codes) -> None:
        rows = np.bincount(codes[codes >= 0], minlength=len(self.classes_))
        if (rows == 1).any():
            label = self.classes_[int(np.argmax(rows == 1))]
            raise ValueError(f"y has only 1 sample in class {label}, covariance is ill defined.")

    def _settle(self) -> None:
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
        """The log-odds of two classes, or log P(x, class) up to a constant for each of several."""
        check_is_fitted(self)
        joint = self.predict_joint_log_proba(X)
        if len(self.classes_) == 2:
            return joint[:, 1] - joint[:, 0]
        scale = 0.0 if self.priors is None else np.log(np.sum(self.priors))
        return joint + (0.5 * self.n_features_in_ * np.log(2 * np.pi) + scale)
