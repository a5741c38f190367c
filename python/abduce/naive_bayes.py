"""Naive Bayes: scikit-learn's five, and one of mixed columns.

The five have scikit-learn's parameters, attributes and results. Beyond that, cells may be missing
where a column stands alone (GaussianNB, BernoulliNB, CategoricalNB), labels may be missing everywhere,
and models can be merged, forget rows and be exchanged with the command line.
"""

import warnings
from numbers import Integral, Real

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import binarize as binarized
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, check_non_negative

from abduce import _core, _specifications
from abduce._classifier import ModelClassifier
from abduce._framed import Framed
from abduce._labels import levels_of


class GaussianNB(ModelClassifier):
    """Gaussian naive Bayes, as `sklearn.naive_bayes.GaussianNB`; cells may be NaN."""

    _parameter_constraints = {
        "priors": ["array-like", None],
        "var_smoothing": [Interval(Real, 0, None, closed="left")],
        "missing_label": [object],
        "n_jobs": [Integral, None],
    }
    _allow_nan = True

    def __init__(self, *, priors=None, var_smoothing=1e-9, missing_label=None, n_jobs=None):
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.missing_label = missing_label
        self.n_jobs = n_jobs

    def _prepare(self, table):
        variances = _core.variances(table)
        self.epsilon_ = self.var_smoothing * np.max(variances, initial=0.0)

    def _specification(self):
        prior = "learned"
        if self.priors is not None:
            prior = self._given_prior(self.priors)
            if not np.isclose(np.sum(self.priors), 1.0):
                raise ValueError("The sum of the priors should be 1.")
        return _specifications.mixture(
            target=self._target,
            variance_floor=0.0,
            ridge=self.epsilon_,
            class_prior=prior,
        )

    def _change(self, how, X, codes, weights):
        # The variances of the rows that come in say what is added to all, as in scikit-learn.
        if how == "update":
            self._prepare(self._table(X, codes, weights))
            self._model = self._model.with_ridge(self.epsilon_)
        super()._change(how, X, codes, weights)

    @property
    def theta_(self):
        """The mean of each feature in each class."""
        return np.where(self.class_count_[:, None] > 0, np.array(self._leaves("mean")).T, 0.0)

    @property
    def var_(self):
        """The variance of each feature in each class."""
        return np.where(self.class_count_[:, None] > 0, np.array(self._leaves("variance")).T, self.epsilon_)

    @property
    def class_prior_(self):
        """The probability of each class."""
        return np.array(self._part("weights"))


class _Discrete(ModelClassifier):
    """What naive Bayes of counts and levels share."""

    def __init__(
        self, *, alpha=1.0, force_alpha=True, fit_prior=True, class_prior=None, missing_label=None, n_jobs=None
    ):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.missing_label = missing_label
        self.n_jobs = n_jobs

    _parameter_constraints = {
        "alpha": [Interval(Real, 0, None, closed="left")],
        "force_alpha": ["boolean"],
        "fit_prior": ["boolean"],
        "class_prior": ["array-like", None],
        "missing_label": [object],
        "n_jobs": [Integral, None],
    }

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    def _alpha(self):
        least = 1e-10
        if self.alpha < least and not self.force_alpha:
            warnings.warn(
                f"alpha too small will result in numeric errors, setting alpha = {least:.1e}. "
                "Use `force_alpha=True` to keep alpha unchanged.",
                stacklevel=4,
            )
            return least
        return self.alpha

    def _class_prior(self):
        if self.class_prior is not None:
            return self._given_prior(self.class_prior)
        return "learned" if self.fit_prior else "uniform"

    @property
    def class_log_prior_(self):
        """The logarithm of the probability of each class."""
        if self.class_prior is not None:
            return np.log(self.class_prior)
        with np.errstate(divide="ignore"):
            return np.log(np.array(self._part("weights")))


class BernoulliNB(_Discrete):
    """Naive Bayes of features that are there or not, as `sklearn.naive_bayes.BernoulliNB`; cells may be NaN."""

    _parameter_constraints = _Discrete._parameter_constraints | {
        "binarize": [None, Interval(Real, 0, None, closed="left")],
    }
    _allow_nan = True
    _accept_sparse = "csr"

    def __init__(
        self,
        *,
        alpha=1.0,
        force_alpha=True,
        binarize=0.0,
        fit_prior=True,
        class_prior=None,
        missing_label=None,
        n_jobs=None,
    ):
        super().__init__(
            alpha=alpha,
            force_alpha=force_alpha,
            fit_prior=fit_prior,
            class_prior=class_prior,
            missing_label=missing_label,
            n_jobs=n_jobs,
        )
        self.binarize = binarize

    def _checked(self, X, *, reset):
        X = super()._checked(X, reset=reset)
        if self.binarize is None:
            return X
        if sp.issparse(X):
            return binarized(X, threshold=self.binarize)
        return np.where(np.isnan(X), X, X > self.binarize).astype(X.dtype, copy=False)

    def _columns(self, X):
        width = X.shape[1]
        return {"kinds": ["binary"] * width, "levels": [["0", "1"]] * width}

    def _specification(self):
        return _specifications.mixture(
            target=self._target,
            smoothing=self._alpha(),
            class_prior=self._class_prior(),
            **({"event": "bernoulli"} if self._sparse else {}),
        )

    @property
    def feature_log_prob_(self):
        """The logarithm of the probability of each feature in each class."""
        if self._sparse:
            own = np.array([own["probabilities"] for own in self._part("parameters")[0]])
        else:
            own = np.array(self._leaves("probability")).T
        with np.errstate(divide="ignore"):
            return np.log(own)

    @property
    def feature_count_(self):
        """The weight of the rows of each class that have each feature."""
        leaves = self._part("statistics")["leaves"]
        if self._sparse:
            return np.array([own["counts"] for own in leaves[0]])
        columns = [leaf["columns"][0] for leaf in self._part("leaves")]
        counts = dict(zip(columns, leaves, strict=True))
        return np.array([[own["successes"] for own in counts[c]] for c in sorted(counts)]).T


class CategoricalNB(_Discrete):
    """Naive Bayes of levels 0, 1, 2, …, as `sklearn.naive_bayes.CategoricalNB`; cells may be NaN."""

    _parameter_constraints = _Discrete._parameter_constraints | {
        "min_categories": [None, "array-like", Interval(Integral, 1, None, closed="left")],
    }
    _allow_nan = True

    def __init__(
        self,
        *,
        alpha=1.0,
        force_alpha=True,
        fit_prior=True,
        class_prior=None,
        min_categories=None,
        missing_label=None,
        n_jobs=None,
    ):
        super().__init__(
            alpha=alpha,
            force_alpha=force_alpha,
            fit_prior=fit_prior,
            class_prior=class_prior,
            missing_label=missing_label,
            n_jobs=n_jobs,
        )
        self.min_categories = min_categories

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.positive_only = True
        return tags

    def _checked(self, X, *, reset):
        X = super()._checked(X, reset=reset)
        with np.errstate(invalid="ignore"):
            if np.nanmin(X, initial=0) < 0:
                raise ValueError(f"Negative values in data passed to {type(self).__name__} (input X)")
            X = np.floor(X)
        if reset:
            most = np.nanmax(X, axis=0, initial=0).astype(np.int64) + 1
            self.n_categories_ = self._categories(most)
        elif X.shape[0] and (np.nan_to_num(X) >= self.n_categories_).any():
            column = int(np.argmax((np.nan_to_num(X) >= self.n_categories_).any(axis=0)))
            raise IndexError(f"index out of bounds: feature {column} has a category that was not seen in fit")
        return X

    def _categories(self, seen):
        if self.min_categories is None:
            return seen
        least = np.array(self.min_categories)
        if not np.issubdtype(least.dtype, np.signedinteger):
            raise ValueError(f"'min_categories' should have integral type. Got {least.dtype} instead.")
        most = np.maximum(seen, least, dtype=np.int64)
        if most.shape != seen.shape:
            raise ValueError(
                f"'min_categories' should have shape ({len(seen)},) when an array-like is provided. Got {least.shape} instead."
            )
        return most

    def _columns(self, X):
        levels = [[str(level) for level in range(count)] for count in self.n_categories_]
        return {"kinds": ["categorical"] * X.shape[1], "levels": levels}

    def _specification(self):
        return _specifications.mixture(target=self._target, smoothing=self._alpha(), class_prior=self._class_prior())

    @property
    def feature_log_prob_(self):
        """For each feature, the logarithms of the probabilities of its levels in each class."""
        with np.errstate(divide="ignore"):
            return [np.log(np.array(own)) for own in self._leaves("probabilities")]

    @property
    def category_count_(self):
        """For each feature, the weight of each level in each class."""
        columns = [leaf["columns"][0] for leaf in self._part("leaves")]
        counts = dict(zip(columns, self._part("statistics")["leaves"], strict=True))
        return [np.array([own["counts"] for own in counts[c]]) for c in sorted(counts)]


class _Counts(_Discrete):
    """Naive Bayes of counts, dense or sparse."""

    _accept_sparse = "csr"
    _event = "multinomial"

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags

    def _checked(self, X, *, reset):
        X = super()._checked(X, reset=reset)
        check_non_negative(X, f"{type(self).__name__} (input X)")
        return X

    def _columns(self, X):
        return {"kinds": ["count"] * X.shape[1]}

    def _specification(self):
        return _specifications.mixture(
            target=self._target,
            smoothing=self._alpha(),
            class_prior=self._class_prior(),
            event=self._event,
        )

    @property
    def feature_count_(self):
        """The weight of each feature in each class."""
        return np.array([own["counts"] for own in self._part("statistics")["leaves"][0]])

    @property
    def feature_log_prob_(self):
        """The logarithm of the probability of each feature in each class."""
        with np.errstate(divide="ignore"):
            return np.log(np.array([own["probabilities"] for own in self._part("parameters")[0]]))


class MultinomialNB(_Counts):
    """Naive Bayes of counts, as `sklearn.naive_bayes.MultinomialNB`."""


class ComplementNB(_Counts):
    """Naive Bayes of counts against what the other classes make of them, as `sklearn.naive_bayes.ComplementNB`."""

    _event = "complement"
    _parameter_constraints = _Discrete._parameter_constraints | {"norm": ["boolean"]}

    def __init__(
        self,
        *,
        alpha=1.0,
        force_alpha=True,
        fit_prior=True,
        class_prior=None,
        norm=False,
        missing_label=None,
        n_jobs=None,
    ):
        super().__init__(
            alpha=alpha,
            force_alpha=force_alpha,
            fit_prior=fit_prior,
            class_prior=class_prior,
            missing_label=missing_label,
            n_jobs=n_jobs,
        )
        self.norm = norm

    def _class_prior(self):
        super()._class_prior()
        # The weights of the classes play no part, as in scikit-learn.
        return "uniform"

    @property
    def class_log_prior_(self):
        """The logarithm of the probability of each class; unused where there are several."""
        if self.class_prior is not None:
            return np.log(self.class_prior)
        if not self.fit_prior:
            return np.full(len(self.classes_), -np.log(len(self.classes_)))
        with np.errstate(divide="ignore"):
            return np.log(self.class_count_) - np.log(self.class_count_.sum())

    @property
    def feature_log_prob_(self):
        """The weight of each feature for each class."""
        logarithms = super().feature_log_prob_
        return logarithms / logarithms.sum(axis=1, keepdims=True) if self.norm else -logarithms

    def predict_joint_log_proba(self, X):
        """The scores of the classes, one column per class."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        if self.norm or len(self.classes_) == 1:
            scores = np.asarray(X @ self.feature_log_prob_.T)
            return scores + self.class_log_prior_ if len(self.classes_) == 1 else scores
        return self._model.log_joint(self._asked(X), self._threads()) + np.log(len(self.classes_))

    def predict(self, X):
        """The class with the highest score of each row."""
        if not self.norm:
            return super().predict(X)
        return self.classes_[np.argmax(self.predict_joint_log_proba(X), axis=1)]

    def predict_proba(self, X):
        """P(class | x) of each row, one column per class."""
        return np.exp(self.predict_log_proba(X)) if self.norm else super().predict_proba(X)


class NaiveBayes(Framed, ModelClassifier):
    """Naive Bayes of mixed columns: numbers, counts, levels and yes or no, each with a family of its own.

    A frame says by its cells what its columns are, as on the command line; `kinds` overrides that.
    The columns of an array are real numbers. Any cell and any label may be missing.
    """

    _parameter_constraints = {
        "smoothing": [Interval(Real, 0, None, closed="left")],
        "class_smoothing": [Interval(Real, 0, None, closed="left")],
        "variance_floor": [Interval(Real, 0, None, closed="left")],
        "kinds": [dict, None],
        "families": [dict, None],
        "class_prior": ["array-like", StrOptions({"uniform"}), None],
        "predictive": ["boolean"],
        "missing_label": [object],
        "n_jobs": [Integral, None],
    }
    _allow_nan = True

    def __init__(
        self,
        *,
        smoothing=1.0,
        class_smoothing=0.0,
        variance_floor=1e-6,
        kinds=None,
        families=None,
        class_prior=None,
        predictive=False,
        missing_label=None,
        n_jobs=None,
    ):
        self.smoothing = smoothing
        self.class_smoothing = class_smoothing
        self.variance_floor = variance_floor
        self.kinds = kinds
        self.families = families
        self.class_prior = class_prior
        self.predictive = predictive
        self.missing_label = missing_label
        self.n_jobs = n_jobs

    def _table(self, X, codes, weights=None):
        labels = (self._target, levels_of(self.classes_), codes)
        return self._learned_table(X, labels, weights)

    def _asked(self, X):
        codes = np.full(len(X), -1, dtype=np.int64)
        return self._asked_table(X, (self._target, levels_of(self.classes_), codes))

    def _specification(self):
        prior = "learned"
        if isinstance(self.class_prior, str):
            prior = self.class_prior
        elif self.class_prior is not None:
            prior = self._given_prior(self.class_prior)
        return _specifications.mixture(
            target=self._target,
            smoothing=self.smoothing,
            weight_smoothing=self.class_smoothing,
            variance_floor=self.variance_floor,
            families=list((self.families or {}).items()),
            class_prior=prior,
            predictive=self.predictive,
        )

    @property
    def class_prior_(self):
        """The probability of each class."""
        return np.array(self._part("weights"))
