"""Updating, merging and forgetting: changes of a fitted classifier without its old rows."""

import json
from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import _check_partial_fit_first_call
from sklearn.utils.validation import check_is_fitted

from abduce import _core
from abduce._base import MixinBase, all_or_nothing, parameters_checked
from abduce._labels import encoded, levels_of
from abduce._tables import weights_of
from abduce._types import Codes, Floats, Rows, Target


class IncrementalMixin(MixinBase):
    """Changes a fitted model without the rows it was fitted to."""

    classes_: NDArray[Any]

    @parameters_checked
    def partial_fit(
        self, X: Rows, y: Target, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Adds rows to the model.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
            New rows.
        y : array-like of shape (n_samples,)
            Their labels, some of which may be missing. The name of a Series in the first call becomes the name of the
            column of classes.
        classes : array-like of shape (n_classes,), default=None
            All classes that will ever occur; needed at the first call.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self : estimator
        """
        first = _check_partial_fit_first_call(self, classes)
        X = self._checked(X, reset=first)
        _, codes = self._labels(X, y, self.classes_)
        weights = weights_of(sample_weight, X)
        if first or not hasattr(self, "_model"):
            self._name_target(X, y)
            self._learn(X, codes, weights)
        else:
            self._change("update", X, codes, weights)
        return self

    def _change(self, how: Literal["update", "forget"], X: Any, codes: Codes, weights: Floats | None) -> None:
        model, notes = getattr(self._model, how)(self._table(X, codes, weights), self._threads())
        # A class without rows is removed.
        remaining = json.loads(model.part("names"))
        if len(remaining) < len(self.classes_):
            self.classes_ = self.classes_[[level in remaining for level in levels_of(self.classes_)]]
        self._set_changed(model, notes)

    def forget(self, X: Rows, y: Target, sample_weight: ArrayLike | None = None) -> Self:
        """Removes fitted rows: the model becomes that of a fit without them.

        With `marks=True`, rows that were never fitted, or not so often, are refused. Otherwise they are refused only if
        they contradict the statistics, for example if a class has fewer rows.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
            Rows to remove.
        y : array-like of shape (n_samples,)
            Their labels, none of which may be missing.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights.

        Returns
        -------
        self : estimator
        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        _, codes = encoded(y, self.missing_label, self.classes_)
        with all_or_nothing(self):
            self._change("forget", X, codes, weights_of(sample_weight, X))
        return self

    def merge(self, *others: Self) -> Self:
        """Adds up the models of different rows.

        Parameters
        ----------
        *others : estimator
            Estimators of the same class, fitted with the same options and classes.

        Returns
        -------
        estimator
            A new estimator for all rows.
        """
        check_is_fitted(self)
        for other in others:
            check_is_fitted(other)
            if type(other) is not type(self):
                raise TypeError(f"a {type(self).__name__} cannot be merged with a {type(other).__name__}")
            if not np.array_equal(other.classes_, self.classes_):
                raise ValueError("the classes differ; pass all of them to partial_fit(…, classes=…)")
            if other._target != self._target:
                raise ValueError(
                    f"the labels are named {self._target!r} in one model and {other._target!r} in another; "
                    "fit both to labels of the same name, or without a name"
                )
        import copy

        merged = copy.copy(self)
        model, notes = _core.Model.merge(self._models_to_merge([self, *others]))
        merged._set_changed(model, notes)
        merged._check_model()
        return merged

    def _models_to_merge(self, estimators: Sequence[Self]) -> list[_core.Model]:
        """The models of some estimators, with the same options."""
        return [estimator._model for estimator in estimators]

    def _check_model(self) -> None:
        """Raises an error if a fitted or changed model is not acceptable."""
