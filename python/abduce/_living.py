"""Classifiers that take in rows, add up and forget."""

import json
from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import _check_partial_fit_first_call
from sklearn.utils.validation import check_is_fitted

from abduce import _core
from abduce._base import Mixed, all_or_nothing, parameters_checked
from abduce._labels import encoded, levels_of
from abduce._tables import weights_of
from abduce._types import Codes, Floats, Rows, Target


class LivingClassifier(Mixed):
    """Changes a fitted model without the rows it was fitted on."""

    classes_: NDArray[Any]

    @parameters_checked
    def partial_fit(
        self, X: Rows, y: Target, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Takes in more rows; all classes there will ever be are named at the first call."""
        first = _check_partial_fit_first_call(self, classes)
        X = self._checked(X, reset=first)
        _, codes = self._labels(X, y, self.classes_)
        weights = weights_of(sample_weight, X)
        if first or not hasattr(self, "_model"):
            self._learn(X, codes, weights)
        else:
            self._change("update", X, codes, weights)
        return self

    def _change(self, how: Literal["update", "forget"], X: Any, codes: Codes, weights: Floats | None) -> None:
        model, notes = getattr(self._model, how)(self._table(X, codes, weights), self._threads())
        # A class is gone once all its rows are.
        left = json.loads(model.part("names"))
        if len(left) < len(self.classes_):
            self.classes_ = self.classes_[[level in left for level in levels_of(self.classes_)]]
        self._set_changed(model, notes)

    def forget(self, X: Rows, y: Target, sample_weight: ArrayLike | None = None) -> Self:
        """Takes rows out that were learned from; what is left is as if they had never been seen.

        No marks of single rows are kept but in files of the command line, so that rows never learned from are refused
        only where statistics rule them out, as more rows than a class has.
        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        _, codes = encoded(y, self.missing_label, self.classes_)
        with all_or_nothing(self):
            self._change("forget", X, codes, weights_of(sample_weight, X))
        return self

    def merge(self, *others: Self) -> Self:
        """A new estimator of the rows of this one and of others, fitted with the same options."""
        check_is_fitted(self)
        for other in others:
            check_is_fitted(other)
            if type(other) is not type(self):
                raise TypeError(f"a {type(self).__name__} merges with its like, not with a {type(other).__name__}")
            if not np.array_equal(other.classes_, self.classes_):
                raise ValueError("the classes differ; name them all with partial_fit(…, classes=…)")
        import copy

        merged = copy.copy(self)
        model, notes = _core.Model.merge(self._alike([self, *others]))
        merged._set_changed(model, notes)
        merged._settle()
        return merged

    def _alike(self, estimators: Sequence[Self]) -> list[_core.Model]:
        """The models of some estimators, fitted with the same options."""
        return [own._model for own in estimators]

    def _settle(self) -> None:
        """What has to hold of a model once it is learned."""
