"""Gaussian discriminants, as `sklearn.discriminant_analysis`; cells and labels may be missing.

What is here is what the engine fits today: covariances of each class or of all, of maximum likelihood.
Shrinkage, dimension reduction (`transform`) and estimators of one's own are not.
"""

from numbers import Integral, Real

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from abduce import _specifications
from abduce._classifier import ModelClassifier


class _Discriminant(ModelClassifier):
    """A Gaussian of all columns for each class."""

    _allow_nan = True
    _name = "gda"
    _covariance = "full"

    def _prepare(self, table):
        if len(self.classes_) < 2:
            raise ValueError(f"The number of classes has to be greater than one; got {len(self.classes_)} class")

    def _class_prior(self):
        if self.priors is None:
            return "learned"
        return self._given_prior(self.priors)

    def _specification(self):
        return _specifications.mixture(
            target=self._target,
            reals=_specifications.together(self._covariance),
            variance_floor=0.0,
            ridge=getattr(self, "reg_covar", 0.0),
            class_prior=self._class_prior(),
        )

    @property
    def priors_(self):
        """The probability of each class."""
        return np.array(self._part("weights"))

    @property
    def means_(self):
        """The mean of each class."""
        return np.array([own["mean"] for own in self._part("parameters")[0]])

    def _covariances(self):
        d = self.n_features_in_
        return [np.array(own["covariance"]["full"]).reshape(d, d) for own in self._part("parameters")[0]]


class LinearDiscriminantAnalysis(_Discriminant):
    """A covariance that all classes share, as `sklearn.discriminant_analysis.LinearDiscriminantAnalysis`.

    The numbers are those of its solver "svd", the only one here, whose covariance is that of maximum likelihood.
    """

    _covariance = "tied"
    _parameter_constraints = {
        "solver": [StrOptions({"svd"})],
        "priors": ["array-like", None],
        "missing_label": [object],
        "n_jobs": [Integral, None],
    }

    def __init__(self, solver="svd", *, priors=None, missing_label=None, n_jobs=None):
        self.solver = solver
        self.priors = priors
        self.missing_label = missing_label
        self.n_jobs = n_jobs

    @property
    def covariance_(self):
        """The covariance that all classes share."""
        return self._covariances()[0]

    @property
    def xbar_(self):
        """The mean of the classes, by their probabilities."""
        return self.priors_ @ self.means_

    def _linear(self):
        means = self.means_
        middle = self.xbar_
        coefficients = np.linalg.solve(self.covariance_, (means - middle).T).T
        intercepts = np.log(self.priors_) - 0.5 * np.sum((means - middle) * coefficients, axis=1)
        intercepts = intercepts - coefficients @ middle
        if len(self.classes_) == 2:
            return coefficients[1:] - coefficients[:1], intercepts[1:] - intercepts[:1]
        return coefficients, intercepts

    @property
    def coef_(self):
        """The weight of each feature in the log-odds."""
        return self._linear()[0]

    @property
    def intercept_(self):
        """What is added to it."""
        return self._linear()[1]

    def decision_function(self, X):
        """The log-odds of two classes, or a score for each of several."""
        joint = self.predict_joint_log_proba(X)
        if len(self.classes_) == 2:
            return joint[:, 1] - joint[:, 0]
        X = self._checked(X, reset=False)
        if not np.isnan(X).any():
            coefficients, intercepts = self._linear()
            return X @ coefficients.T + intercepts
        return joint


class QuadraticDiscriminantAnalysis(_Discriminant):
    """A covariance for each class, as `sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis`.

    `covariance_` is there whatever `store_covariance` says.
    """

    _parameter_constraints = {
        "priors": ["array-like", None],
        "store_covariance": ["boolean"],
        "missing_label": [object],
        "n_jobs": [Integral, None],
        "reg_covar": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(self, *, priors=None, store_covariance=False, reg_covar=0.0, missing_label=None, n_jobs=None):
        self.priors = priors
        self.store_covariance = store_covariance
        self.reg_covar = reg_covar
        self.missing_label = missing_label
        self.n_jobs = n_jobs

    @property
    def covariance_(self):
        """The covariance of each class."""
        return self._covariances()

    def decision_function(self, X):
        """The log-odds of two classes, or log P(x, class) up to a constant for each of several."""
        check_is_fitted(self)
        joint = self.predict_joint_log_proba(X)
        if len(self.classes_) == 2:
            return joint[:, 1] - joint[:, 0]
        return joint + 0.5 * self.n_features_in_ * np.log(2 * np.pi)
