"""Naive Bayes of binary columns, categories and counts: scikit-learn's four classes."""

from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.preprocessing import binarize as binarized
from sklearn.utils import assert_all_finite
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, check_non_negative

from abduce import _core, _specifications
from abduce._base import warn
from abduce._classifier import UNLABELLED, ModelClassifier, RowDensityMixin
from abduce._tables import NUMBERS, free_name, names_of, native
from abduce._types import Codes, Floats, Rows

# The maximum number of levels of a column, each of which has a name in the model.
MAX_LEVELS = 1 << 24


class _Discrete(ModelClassifier):
    """What the four classes share."""

    def __init__(
        self,
        *,
        alpha: ArrayLike = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: ArrayLike | None = None,
        missing_label: object = None,
        unlabelled: float | None = None,
        marks: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.missing_label = missing_label
        self.unlabelled = unlabelled
        self.marks = marks
        self.n_jobs = n_jobs

    _parameter_constraints = {
        "alpha": [Interval(Real, 0, None, closed="left"), "array-like"],
        "force_alpha": ["boolean"],
        "fit_prior": ["boolean"],
        "class_prior": ["array-like", None],
        "missing_label": [object],
        "unlabelled": UNLABELLED,
        "marks": ["boolean"],
        "n_jobs": [Integral, None],
    }

    def _plots(self) -> list[str]:
        # Codes and counts have no density along an axis.
        return [what for what in super()._plots() if what != "density"]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    def _alpha(self) -> float | Floats:
        """The pseudocount, or an array with one for each column."""
        alpha = np.asarray(self.alpha, dtype=np.float64)
        if alpha.ndim > 0:
            if alpha.shape != (self.n_features_in_,):
                raise ValueError(
                    "When alpha is an array, it should contains `n_features`. "
                    f"Got {alpha.size} elements instead of {self.n_features_in_}."
                )
            if not (alpha >= 0).all():
                raise ValueError("All values in alpha must be greater than 0.")
        least = 1e-10
        if alpha.min() < least and not self.force_alpha:
            warn(
                f"alpha too small will result in numeric errors, setting alpha = {least:.1e}. "
                "Use `force_alpha=True` to keep alpha unchanged."
            )
            alpha = np.asarray(np.maximum(alpha, least))
        return alpha if alpha.ndim > 0 else float(alpha)

    def _smoothing(self, levels: int) -> dict[str, Any]:
        """The smoothing of columns with this number of levels, for a specification."""
        alpha = self._alpha()
        if not isinstance(alpha, np.ndarray):
            return {"smoothing": alpha}
        if getattr(self, "_sparse", False):
            given = [(free_name("x", [self._target]), alpha.tolist())]
        else:
            names = names_of(self, self.n_features_in_)
            given = [(name, [pseudocount] * levels) for name, pseudocount in zip(names, alpha.tolist(), strict=True)]
        # `smoothing` is not used, but must not be 0 for complements.
        return {"smoothing": 1.0, "dirichlet": given}

    def _class_prior(self) -> Any:
        if self.class_prior is not None:
            return self._given_prior(self.class_prior)
        return "learned" if self.fit_prior else "uniform"

    @property
    def class_log_prior_(self) -> Floats:
        """The logarithm of the probability of each class."""
        check_is_fitted(self, "_model")
        if self.class_prior is not None:
            return np.log(self.class_prior)
        with np.errstate(divide="ignore"):
            return np.log(np.array(self._part("weights")))


class BernoulliNB(RowDensityMixin, _Discrete):
    """Naive Bayes of binary columns, as `sklearn.naive_bayes.BernoulliNB`; cells may be NaN.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1.0
        Pseudocount, for all columns or for each.
    force_alpha : bool, default=True
        Whether to use an `alpha` below 1e-10 as it is, instead of raising it to 1e-10.
    binarize : float or None, default=0.0
        Numbers above this are 1, others 0; None if `X` has only zeros and ones.
    fit_prior : bool, default=True
        Whether to learn the class probabilities; otherwise, they are equal.
    class_prior : array-like of shape (n_classes,), default=None
        Class probabilities; overrides `fit_prior`.
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
    class_log_prior_ : ndarray of shape (n_classes,)
        Logarithm of the probability of each class.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        Logarithm of the probability of a 1 in each column, given the class.
    feature_count_ : ndarray of shape (n_classes, n_features)
        Total weight of the rows of each class with a 1 in each column.
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

    _parameter_constraints = _Discrete._parameter_constraints | {
        "binarize": [None, Interval(Real, 0, None, closed="left")],
    }
    _allow_nan = True
    _accept_sparse = "csr"

    def __init__(
        self,
        *,
        alpha: ArrayLike = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: ArrayLike | None = None,
        missing_label: object = None,
        unlabelled: float | None = None,
        marks: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            alpha=alpha,
            force_alpha=force_alpha,
            fit_prior=fit_prior,
            class_prior=class_prior,
            missing_label=missing_label,
            unlabelled=unlabelled,
            marks=marks,
            n_jobs=n_jobs,
        )
        self.binarize = binarize

    def _checked(self, X: Any, *, reset: bool) -> Any:
        X = super()._checked(X, reset=reset)
        if self.binarize is None:
            return X
        if sp.issparse(X):
            return binarized(X, threshold=self.binarize)
        # After the comparison, infinite numbers could not be detected.
        assert_all_finite(X, allow_nan=True, input_name="X")
        return np.where(np.isnan(X), X, X > self.binarize).astype(X.dtype, copy=False)

    def _columns(self, X: Any) -> dict[str, Any]:
        width = X.shape[1]
        return {"kinds": ["binary"] * width, "levels": [["0", "1"]] * width}

    def _specification(self) -> str:
        return _specifications.naive_bayes(
            target=self._target,
            **self._smoothing(levels=2),
            class_prior=self._class_prior(),
            **({"event": "bernoulli"} if self._sparse else {}),
        )

    @property
    def feature_log_prob_(self) -> Floats:
        """The logarithm of the probability of a 1 in each column, given the class."""
        if self._sparse:
            probabilities = np.array([distribution["probabilities"] for distribution in self._part("parameters")[0]])
        else:
            probabilities = np.array(self._leaves("probability")).T
        with np.errstate(divide="ignore"):
            return np.log(probabilities)

    @property
    def feature_count_(self) -> Floats:
        """The total weight of the rows of each class with a 1 in each column."""
        leaves = self._part("statistics")["leaves"]
        if self._sparse:
            return np.array([component["counts"] for component in leaves[0]])
        columns = [leaf["columns"][0] for leaf in self._part("leaves")]
        counts = dict(zip(columns, leaves, strict=True))
        return np.array([[statistics["successes"] for statistics in counts[c]] for c in sorted(counts)]).T


class CategoricalNB(RowDensityMixin, _Discrete):
    """Naive Bayes of categories coded 0, 1, 2, …, as `sklearn.naive_bayes.CategoricalNB`; cells may be NaN.

    Parameters
    ----------
    alpha : float, default=1.0
        Pseudocount.
    force_alpha : bool, default=True
        Whether to use an `alpha` below 1e-10 as it is, instead of raising it to 1e-10.
    fit_prior : bool, default=True
        Whether to learn the class probabilities; otherwise, they are equal.
    class_prior : array-like of shape (n_classes,), default=None
        Class probabilities; overrides `fit_prior`.
    min_categories : int or array-like of shape (n_features,), default=None
        Minimum number of categories of each column.
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
    class_log_prior_ : ndarray of shape (n_classes,)
        Logarithm of the probability of each class.
    n_categories_ : ndarray of shape (n_features,)
        Number of categories of each column.
    feature_log_prob_ : list of ndarray of shape (n_classes, n_categories)
        For each column, the logarithms of the probabilities of its categories, given the class.
    category_count_ : list of ndarray of shape (n_classes, n_categories)
        For each column, the total weight of the rows of each class with each category.
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

    _parameter_constraints = _Discrete._parameter_constraints | {
        "alpha": [Interval(Real, 0, None, closed="left")],
        "min_categories": [None, "array-like", Interval(Integral, 1, None, closed="left")],
    }
    _allow_nan = True
    _dtypes = NUMBERS

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: ArrayLike | None = None,
        min_categories: ArrayLike | None = None,
        missing_label: object = None,
        unlabelled: float | None = None,
        marks: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            alpha=alpha,
            force_alpha=force_alpha,
            fit_prior=fit_prior,
            class_prior=class_prior,
            missing_label=missing_label,
            unlabelled=unlabelled,
            marks=marks,
            n_jobs=n_jobs,
        )
        self.min_categories = min_categories

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.positive_only = True
        return tags

    def _checked(self, X: Any, *, reset: bool) -> Any:
        X = super()._checked(X, reset=reset)
        if reset:
            self.n_categories_ = self._categories(self._categories_in(X))
        return X

    def _prediction_table(self, X: Any, codes: Codes | None = None) -> _core.Table:
        unseen = self._categories_in(X) > self.n_categories_
        if unseen.any():
            column = int(np.argmax(unseen))
            raise IndexError(f"index out of bounds: feature {column} has a category that was not seen in fit")
        return super()._prediction_table(X, codes)

    def _change(self, how: Literal["update", "forget"], X: Any, codes: Codes, weights: Floats | None) -> None:
        found = self._categories_in(X)
        if how == "update":
            self.n_categories_ = np.maximum(self.n_categories_, found)
        super()._change(how, X, codes, weights)

    def merge(self, *others: Self) -> Self:
        """A new estimator for the rows of this one and of others fitted with the same options."""
        merged = super().merge(*others)
        merged.n_categories_ = np.maximum.reduce([estimator.n_categories_ for estimator in (self, *others)])
        return merged

    def _categories_in(self, X: Any) -> Codes:
        """The largest code of each column plus 1; negative codes are refused."""
        least, greatest = _core.range_of_levels(native(X), self._threads())
        if least < 0:
            raise ValueError(f"Negative values in data passed to {type(self).__name__} (input X)")
        if (greatest >= MAX_LEVELS).any():
            column = int(np.argmax(greatest >= MAX_LEVELS))
            raise ValueError(
                f"Categories are coded 0, 1, 2, …, and a column has at most {MAX_LEVELS}; "
                f"column {names_of(self, X.shape[1])[column]} has the value {greatest[column]:g}"
            )
        return greatest.astype(np.int64) + 1

    def _categories(self, seen: NDArray[np.int64]) -> NDArray[np.int64]:
        if self.min_categories is None:
            return seen
        least = np.array(self.min_categories)
        if not np.issubdtype(least.dtype, np.signedinteger):
            raise ValueError(f"'min_categories' should have integral type. Got {least.dtype} instead.")
        if (least > MAX_LEVELS).any():
            raise ValueError(f"'min_categories' is at most {MAX_LEVELS}, not {least.max()}")
        most = np.maximum(seen, least, dtype=np.int64)
        if most.shape != seen.shape:
            raise ValueError(
                f"'min_categories' should have shape ({len(seen)},) when an array-like is provided. Got {least.shape} instead."
            )
        return most

    def _columns(self, X: Any) -> dict[str, Any]:
        levels = [[str(level) for level in range(count)] for count in self.n_categories_]
        return {"kinds": ["categorical"] * X.shape[1], "levels": levels}

    def _specification(self) -> str:
        return _specifications.naive_bayes(
            target=self._target, smoothing=self._alpha(), class_prior=self._class_prior()
        )

    @property
    def feature_log_prob_(self) -> list[Floats]:
        """For each column, the logarithms of the probabilities of its categories, given the class."""
        with np.errstate(divide="ignore"):
            return [np.log(np.array(probabilities)) for probabilities in self._leaves("probabilities")]

    @property
    def category_count_(self) -> list[Floats]:
        """For each column, the total weight of the rows of each class with each category."""
        columns = [leaf["columns"][0] for leaf in self._part("leaves")]
        counts = dict(zip(columns, self._part("statistics")["leaves"], strict=True))
        return [np.array([statistics["counts"] for statistics in counts[c]]) for c in sorted(counts)]


class _Counts(_Discrete):
    """Naive Bayes of counts, dense or sparse."""

    _accept_sparse = "csr"
    _event = "multinomial"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags

    def _checked(self, X: Any, *, reset: bool) -> Any:
        X = super()._checked(X, reset=reset)
        check_non_negative(X, f"{type(self).__name__} (input X)")
        return X

    def _columns(self, X: Any) -> dict[str, Any]:
        return {"kinds": ["count"] * X.shape[1]}

    def _specification(self) -> str:
        return _specifications.naive_bayes(
            target=self._target,
            **self._smoothing(levels=1),
            class_prior=self._class_prior(),
            event=self._event,
        )

    @property
    def feature_count_(self) -> Floats:
        """The weighted sum of each column in each class."""
        return np.array([statistics["counts"] for statistics in self._part("statistics")["leaves"][0]])

    @property
    def feature_log_prob_(self) -> Floats:
        """The logarithm of the probability of each column, given the class."""
        with np.errstate(divide="ignore"):
            return np.log(np.array([distribution["probabilities"] for distribution in self._part("parameters")[0]]))


class MultinomialNB(RowDensityMixin, _Counts):
    """Naive Bayes of counts, as `sklearn.naive_bayes.MultinomialNB`.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1.0
        Pseudocount, for all columns or for each.
    force_alpha : bool, default=True
        Whether to use an `alpha` below 1e-10 as it is, instead of raising it to 1e-10.
    fit_prior : bool, default=True
        Whether to learn the class probabilities; otherwise, they are equal.
    class_prior : array-like of shape (n_classes,), default=None
        Class probabilities; overrides `fit_prior`.
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
    class_log_prior_ : ndarray of shape (n_classes,)
        Logarithm of the probability of each class.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        Logarithm of the probability of each column, given the class.
    feature_count_ : ndarray of shape (n_classes, n_features)
        Weighted sum of each column in each class.
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


class ComplementNB(_Counts):
    """Naive Bayes of counts, estimated from the other classes, as `sklearn.naive_bayes.ComplementNB`.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1.0
        Pseudocount, for all columns or for each.
    force_alpha : bool, default=True
        Whether to use an `alpha` below 1e-10 as it is, instead of raising it to 1e-10.
    fit_prior : bool, default=True
        Whether to learn the class probabilities; otherwise, they are equal.
    class_prior : array-like of shape (n_classes,), default=None
        Class probabilities; overrides `fit_prior`.
    norm : bool, default=False
        Whether to normalize the weights of each class.
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
    class_log_prior_ : ndarray of shape (n_classes,)
        Logarithm of the probability of each class; used only if there is a single class.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        Weight of each column for each class.
    feature_count_ : ndarray of shape (n_classes, n_features)
        Weighted sum of each column in each class.
    feature_all_ : ndarray of shape (n_features,)
        Weighted sum of each column over all classes.
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

    _event = "complement"
    _parameter_constraints = _Discrete._parameter_constraints | {"norm": ["boolean"]}

    def __init__(
        self,
        *,
        alpha: ArrayLike = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: ArrayLike | None = None,
        norm: bool = False,
        missing_label: object = None,
        unlabelled: float | None = None,
        marks: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            alpha=alpha,
            force_alpha=force_alpha,
            fit_prior=fit_prior,
            class_prior=class_prior,
            missing_label=missing_label,
            unlabelled=unlabelled,
            marks=marks,
            n_jobs=n_jobs,
        )
        self.norm = norm

    @property
    def feature_all_(self) -> Floats:
        """The weighted sum of each column over all classes."""
        return self.feature_count_.sum(axis=0)

    def _class_prior(self) -> Any:
        super()._class_prior()
        # The class probabilities are not used, as in scikit-learn.
        return "uniform"

    @property
    def class_log_prior_(self) -> Floats:
        """The logarithm of the probability of each class; used only if there is a single class."""
        check_is_fitted(self, "_model")
        if self.class_prior is not None:
            return np.log(self.class_prior)
        if not self.fit_prior:
            return np.full(len(self.classes_), -np.log(len(self.classes_)))
        with np.errstate(divide="ignore"):
            return np.log(self.class_count_) - np.log(self.class_count_.sum())

    @property
    def feature_log_prob_(self) -> Floats:
        """The weight of each column for each class."""
        logarithms = super().feature_log_prob_
        return logarithms / logarithms.sum(axis=1, keepdims=True) if self.norm else -logarithms

    def predict_joint_log_proba(self, X: Rows) -> Floats:
        """The scores of the classes, one column per class."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        if self.norm or len(self.classes_) == 1:
            scores = np.asarray(X @ self.feature_log_prob_.T)
            return scores + self.class_log_prior_ if len(self.classes_) == 1 else scores
        return self._model.log_joint(self._prediction_table(X), self._threads()) + np.log(len(self.classes_))

    def predict(self, X: Rows) -> NDArray[Any]:
        """The class with the highest score, for each row."""
        if not self.norm:
            return super().predict(X)
        return self.classes_[np.argmax(self.predict_joint_log_proba(X), axis=1)]

    def predict_proba(self, X: Rows) -> Floats:
        """P(class | x) for each row, one column per class."""
        return np.exp(self.predict_log_proba(X)) if self.norm else super().predict_proba(X)
