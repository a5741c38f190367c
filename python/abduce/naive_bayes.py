"""Naive Bayes: scikit-learn's five classes, and one for mixed columns.

The five have scikit-learn's parameters, attributes and results. In addition, cells may be missing if columns are
modelled separately (GaussianNB, BernoulliNB, CategoricalNB), labels may always be missing, and models can be merged,
can forget rows, and can be exchanged with the command line.
"""

import json
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, StrOptions

from abduce import _core, _specifications
from abduce._classifier import UNLABELLED, ModelClassifier, RowDensityMixin
from abduce._discrete import BernoulliNB, CategoricalNB, ComplementNB, MultinomialNB
from abduce._frame_input import FrameInputMixin
from abduce._labels import levels_of
from abduce._types import Codes, Floats

# The defaults of the command line.
DEFAULTS = _specifications.defaults("naive-bayes")["specification"]


class GaussianNB(RowDensityMixin, ModelClassifier):
    """Gaussian naive Bayes, as `sklearn.naive_bayes.GaussianNB`; cells may be NaN.

    Parameters
    ----------
    priors : array-like of shape (n_classes,), default=None
        Prior probabilities of the classes; learned from the labels if None.
    var_smoothing : float, default=1e-9
        Share of the largest variance of all columns that is added to every variance.
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
    class_prior_ : ndarray of shape (n_classes,)
        Probability of each class.
    theta_ : ndarray of shape (n_classes, n_features)
        Mean of each column in each class.
    var_ : ndarray of shape (n_classes, n_features)
        Variance of each column in each class.
    epsilon_ : float
        Amount added to every variance.
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
        "priors": ["array-like", None],
        "var_smoothing": [Interval(Real, 0, None, closed="left")],
        "missing_label": [object],
        "unlabelled": UNLABELLED,
        "marks": ["boolean"],
        "n_jobs": [Integral, None],
    }
    _allow_nan = True

    def __init__(
        self,
        *,
        priors: ArrayLike | None = None,
        var_smoothing: float = 1e-9,
        missing_label: object = None,
        unlabelled: float | None = None,
        marks: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.missing_label = missing_label
        self.unlabelled = unlabelled
        self.marks = marks
        self.n_jobs = n_jobs

    def _learn(self, X: Any, codes: Codes, weights: Floats | None) -> None:
        # Rows without a label may be left out of the fit.
        self._has_uneven_rows = weights is not None or bool((codes < 0).any())
        super()._learn(X, codes, weights)

    def _prepare(self, table: _core.Table) -> None:
        # scikit-learn adds a share of the variance of the unweighted rows.
        if self._has_uneven_rows:
            self._ridge = {"ridge": self._added_variance(table)}
        else:
            self._ridge = {"ridge_share": self.var_smoothing}

    def _added_variance(self, table: _core.Table) -> float:
        return self.var_smoothing * np.max(_core.variances(table), initial=0.0)

    @property
    def epsilon_(self) -> float:
        """The amount added to every variance."""
        return np.float64(max((leaf["prior"].get("ridge", 0.0) for leaf in self._part("leaves")), default=0.0))

    def _specification(self) -> str:
        prior = "learned"
        if self.priors is not None:
            prior = self._given_prior(self.priors)
            if not np.isclose(np.sum(self.priors), 1.0):
                raise ValueError("The sum of the priors should be 1.")
        return _specifications.naive_bayes(
            target=self._target,
            variance_floor=0.0,
            **self._ridge,
            class_prior=prior,
        )

    def _change(self, how: Literal["update", "forget"], X: Any, codes: Codes, weights: Floats | None) -> None:
        # The new rows determine the amount added to all variances, as in scikit-learn.
        if how == "update":
            self._model = self._model.with_ridge(self._added_variance(self._table(X, codes, weights)))
        super()._change(how, X, codes, weights)

    def _models_to_merge(self, estimators: Sequence[Self]) -> list[_core.Model]:
        models = super()._models_to_merge(estimators)
        if len({estimator.var_smoothing for estimator in estimators}) > 1:
            raise ValueError("var_smoothing differs; only models fitted with the same options can be merged")
        # The amount added to the variances depends on the rows of each model, unless rows have no weights.
        shares = {json.loads(model.part("provenance"))["specification"].get("ridge_share", 0.0) for model in models}
        if len(shares) == 1 and shares != {0.0}:
            return models
        most = max(estimator.epsilon_ for estimator in estimators)
        return [model.with_ridge(most) for model in models]

    @property
    def theta_(self) -> Floats:
        """The mean of each column in each class."""
        return np.where(self.class_count_[:, None] > 0, np.array(self._leaves("mean")).T, 0.0)

    @property
    def var_(self) -> Floats:
        """The variance of each column in each class."""
        return np.where(self.class_count_[:, None] > 0, np.array(self._leaves("variance")).T, self.epsilon_)

    @property
    def class_prior_(self) -> Floats:
        """The probability of each class."""
        return np.array(self._part("weights"))


class NaiveBayes(FrameInputMixin, RowDensityMixin, ModelClassifier):
    """Naive Bayes for mixed columns: real numbers, counts, categories and binary columns, each with its own family.

    The type of a column of a frame decides its kind: floats are real, the kind of integers follows from their values,
    and strings and categories are categorical. The columns of an array are real. Any cell and any label may be missing.

    Parameters
    ----------
    smoothing : float or str, default=1.0
        Pseudocount of each category, or an m-estimate: "m=2" spreads two rows evenly over the categories,
        "m=2,pooled" in the proportions of the whole table.
    class_smoothing : float, default=0.0
        Pseudocount of each class.
    unseen : {"impossible", "missing"}, default="impossible"
        How a category that does not occur in the fitted rows is treated: with the probability that `smoothing` gives
        it, which is 0 without smoothing, or as a missing value.
    variance_floor : float, default=1e-6
        Smallest variance, as a share of the variance of the column.
    kinds : dict, default=None
        Kinds of columns, by names or patterns such as "pixel_*"; overrides the types of a frame.
    families : dict, default=None
        Families of columns, by names or patterns.
    class_prior : array-like, dict or "uniform", default=None
        Probabilities of the classes, which sum to 1, in the order of `classes_` or by class; learned if None.
    predictive : bool, default=False
        Whether to predict with the posterior predictive distribution instead of point estimates.
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
    class_prior_ : ndarray of shape (n_classes,)
        Probability of each class.
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

    _silenced = ()
    _parameter_constraints = {
        "smoothing": [Interval(Real, 0, None, closed="left"), str],
        "class_smoothing": [Interval(Real, 0, None, closed="left")],
        "unseen": [StrOptions({"impossible", "missing"})],
        "variance_floor": [Interval(Real, 0, None, closed="left")],
        "kinds": [dict, None],
        "families": [dict, None],
        "class_prior": ["array-like", dict, StrOptions({"uniform"}), None],
        "predictive": ["boolean"],
        "missing_label": [object],
        "unlabelled": UNLABELLED,
        "marks": ["boolean"],
        "n_jobs": [Integral, None],
    }
    _allow_nan = True

    def __init__(
        self,
        *,
        smoothing: float | str = DEFAULTS["smoothing"],
        class_smoothing: float = DEFAULTS["weight_smoothing"],
        unseen: Literal["impossible", "missing"] = "impossible",
        variance_floor: float = DEFAULTS["variance_floor"],
        kinds: dict[str, str] | None = None,
        families: dict[str, str] | None = None,
        class_prior: ArrayLike | dict[Any, float] | None = None,
        predictive: bool = False,
        missing_label: object = None,
        unlabelled: float | None = None,
        marks: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.smoothing = smoothing
        self.class_smoothing = class_smoothing
        self.unseen = unseen
        self.variance_floor = variance_floor
        self.kinds = kinds
        self.families = families
        self.class_prior = class_prior
        self.predictive = predictive
        self.missing_label = missing_label
        self.unlabelled = unlabelled
        self.marks = marks
        self.n_jobs = n_jobs

    def _table(self, X: Any, codes: Codes | None, weights: Floats | None = None) -> _core.Table:
        labels = (self._target, levels_of(self.classes_), codes)
        return self._training_table(X, labels, weights)

    def _prediction_table(self, X: Any, codes: Codes | None = None) -> _core.Table:
        if codes is None:
            codes = np.full(len(X), -1, dtype=np.int64)
        return self._table_for_model(X, (self._target, levels_of(self.classes_), codes))

    def _specification(self) -> str:
        prior = "learned"
        if isinstance(self.class_prior, str):
            prior = self.class_prior
        elif self.class_prior is not None:
            priors = self._in_order(self.class_prior) if isinstance(self.class_prior, dict) else self.class_prior
            prior = self._given_prior(priors)
            if not np.isclose(np.sum(priors), 1.0):
                raise ValueError(f"The sum of class_prior should be 1, not {np.sum(priors):g}.")
        return _specifications.naive_bayes(
            target=self._target,
            **_specifications.smoothed(self.smoothing),
            weight_smoothing=self.class_smoothing,
            unseen=self.unseen,
            variance_floor=self.variance_floor,
            families=_specifications.by_column("families", self.families),
            class_prior=prior,
            predictive=self.predictive,
        )

    def _in_order(self, class_prior: dict[Any, float]) -> list[float]:
        """The probabilities of a dict, in the order of the classes."""
        # Model files have the labels as strings, and 0 and 0.0 are the same label.
        named = {str(label): probability for label, probability in class_prior.items()}
        levels = levels_of(self.classes_)
        labels = zip(self.classes_.tolist(), levels, strict=True)
        found = [class_prior.get(label, named.get(level)) for label, level in labels]
        given = [probability for probability in found if probability is not None]
        if not len(given) == len(levels) == len(class_prior):
            raise ValueError(
                f"class_prior names the classes {', '.join(named)}, but the classes are {', '.join(levels)}"
            )
        return given

    @property
    def class_prior_(self) -> Floats:
        """The probability of each class."""
        return np.array(self._part("weights"))


__all__ = ["BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB", "NaiveBayes"]
