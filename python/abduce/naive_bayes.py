"""Naive Bayes: scikit-learn's five, and one of mixed columns.

The five have scikit-learn's parameters, attributes and results. Beyond that, cells may be missing
where a column stands alone (GaussianNB, BernoulliNB, CategoricalNB), labels may be missing everywhere,
and models can be merged, forget rows and be exchanged with the command line.
"""

import json
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, StrOptions

from abduce import _core, _specifications
from abduce._classifier import UNLABELLED, ModelClassifier
from abduce._discrete import BernoulliNB, CategoricalNB, ComplementNB, MultinomialNB
from abduce._framed import Framed
from abduce._labels import levels_of
from abduce._types import Codes, Floats

# The defaults of the command line.
USUAL = _specifications.defaults("naive-bayes")["specification"]


class GaussianNB(ModelClassifier):
    """Gaussian naive Bayes, as `sklearn.naive_bayes.GaussianNB`; cells may be NaN."""

    _parameter_constraints = {
        "priors": ["array-like", None],
        "var_smoothing": [Interval(Real, 0, None, closed="left")],
        "missing_label": [object],
        "unlabelled": UNLABELLED,
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
        n_jobs: int | None = None,
    ) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.missing_label = missing_label
        self.unlabelled = unlabelled
        self.n_jobs = n_jobs

    def _learn(self, X: Any, codes: Codes, weights: Floats | None) -> None:
        # The engine may leave rows without a label out.
        self._uneven = weights is not None or bool((codes < 0).any())
        super()._learn(X, codes, weights)

    def _prepare(self, table: _core.Table) -> None:
        # Scikit-learn adds a share of the variance that rows have which all weigh the same.
        if self._uneven:
            self._ridge = {"ridge": self._added(table)}
        else:
            self._ridge = {"ridge_share": self.var_smoothing}

    def _added(self, table: _core.Table) -> float:
        return self.var_smoothing * np.max(_core.variances(table), initial=0.0)

    @property
    def epsilon_(self) -> float:
        """What is added to every variance."""
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
        # The variances of the rows that come in say what is added to all, as in scikit-learn.
        if how == "update":
            self._model = self._model.with_ridge(self._added(self._table(X, codes, weights)))
        super()._change(how, X, codes, weights)

    def _alike(self, estimators: Sequence[Self]) -> list[_core.Model]:
        models = super()._alike(estimators)
        if len({own.var_smoothing for own in estimators}) > 1:
            raise ValueError("var_smoothing differs; models merge that were fitted with the same options")
        # What was added to the variances depends on the rows of each, unless they all weigh the same.
        shares = {json.loads(model.part("provenance"))["specification"].get("ridge_share", 0.0) for model in models}
        if len(shares) == 1 and shares != {0.0}:
            return models
        most = max(own.epsilon_ for own in estimators)
        return [model.with_ridge(most) for model in models]

    @property
    def theta_(self) -> Floats:
        """The mean of each feature in each class."""
        return np.where(self.class_count_[:, None] > 0, np.array(self._leaves("mean")).T, 0.0)

    @property
    def var_(self) -> Floats:
        """The variance of each feature in each class."""
        return np.where(self.class_count_[:, None] > 0, np.array(self._leaves("variance")).T, self.epsilon_)

    @property
    def class_prior_(self) -> Floats:
        """The probability of each class."""
        return np.array(self._part("weights"))


class NaiveBayes(Framed, ModelClassifier):
    """Naive Bayes of mixed columns: numbers, counts, levels and yes or no, each with a family of its own.

    The types of the columns of a frame decide what they are: floats are real, integers are judged by their values, and
    strings and categories are levels. `kinds` overrides that, by names or patterns such as `pixel_*`.
    The columns of an array are real numbers. Any cell and any label may be missing. A category that the fitted rows do
    not have gets the probability that `smoothing` gives it, and is impossible without smoothing; with
    `unseen="missing"` it is a missing value.

    `smoothing` is a pseudocount for each category, or "m=2" for the m-estimate: two rows spread evenly over the
    categories, or with "m=2,pooled" as in the whole table. `class_prior` has the probabilities of the classes, which
    sum to 1, in the order of `classes_` or as a dict by the classes.
    """

    _quiet = ()
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
        "n_jobs": [Integral, None],
    }
    _allow_nan = True

    def __init__(
        self,
        *,
        smoothing: float | str = USUAL["smoothing"],
        class_smoothing: float = USUAL["weight_smoothing"],
        unseen: Literal["impossible", "missing"] = "impossible",
        variance_floor: float = USUAL["variance_floor"],
        kinds: dict[str, str] | None = None,
        families: dict[str, str] | None = None,
        class_prior: ArrayLike | dict[Any, float] | None = None,
        predictive: bool = False,
        missing_label: object = None,
        unlabelled: float | None = None,
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
        self.n_jobs = n_jobs

    def _table(self, X: Any, codes: Codes | None, weights: Floats | None = None) -> _core.Table:
        labels = (self._target, levels_of(self.classes_), codes)
        return self._learned_table(X, labels, weights)

    def _asked(self, X: Any) -> _core.Table:
        codes = np.full(len(X), -1, dtype=np.int64)
        return self._asked_table(X, (self._target, levels_of(self.classes_), codes))

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
        """The probabilities of a dict in the order of the classes."""
        # Files have the labels as strings, and 0 and 0.0 are one label.
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
