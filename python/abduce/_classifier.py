"""The base class of all classifiers."""

import warnings
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import accuracy_score
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from abduce import _core, _specifications
from abduce._base import COMMON_WARNINGS, MixinBase, ModelEstimator, parameters_checked, warn
from abduce._incremental import IncrementalMixin
from abduce._labels import encoded, is_missing, labels_of, levels_of, with_plain_type
from abduce._queries import ExplainMixin
from abduce._tables import (
    FLOATS,
    checked,
    column_names,
    dense,
    fitted_names,
    free_name,
    is_frame,
    names_of,
    sparse,
    weights_of,
)
from abduce._types import Codes, Floats, Rows, Target

# The values of `unlabelled`: the weight of a row without a label, or None to choose it by cross-validation.
UNLABELLED = [Interval(Real, 0, 1, closed="both"), None]


class RowDensityMixin(MixinBase):
    """The density of rows under a classifier."""

    def score_samples(self, X: Rows) -> Floats:
        """The log-density of each row, summed over the classes, with missing values integrated out.

        `predict_joint_log_proba` has the log-density of each row together with each class.
        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        return self._model.log_density(self._prediction_table(X), self._threads())


class ModelClassifier(IncrementalMixin, ExplainMixin, ClassifierMixin, ModelEstimator):
    """Fits a model of classes to X and y; a subclass defines its specification.

    Rows whose label is missing have the weight `unlabelled`, from 0 to 1; None chooses it by cross-validation on the
    labelled rows.
    """

    # The name of the model in its file, and what X may contain.
    _name = "naive-bayes"
    _allow_nan = False
    _accept_sparse: str | bool = False
    _dtypes: Sequence[type] = FLOATS
    _silenced = COMMON_WARNINGS
    # The position of the labels among the columns, if they are not last: in files of the command line.
    _target_at: int | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._allow_nan
        tags.input_tags.sparse = bool(self._accept_sparse)
        return tags

    def _checked(self, X: Any, *, reset: bool) -> Any:
        X = checked(
            self, X, reset=reset, allow_nan=self._allow_nan, accept_sparse=self._accept_sparse, dtype=self._dtypes
        )
        if not self._accept_sparse:
            return X
        # Sparse rows are documents in the model, dense rows are columns; later rows are converted to what was fitted.
        if reset:
            self._sparse = sp.issparse(X)
        if sp.issparse(X) == self._sparse:
            return X
        return sp.csr_array(X) if self._sparse else X.toarray()

    def _table(self, X: Any, codes: Codes | None, weights: Floats | None = None) -> _core.Table:
        """X as a table with labels: the code −1 is a missing label, None means that all are missing."""
        labels = (self._target, levels_of(self.classes_), codes)
        if sp.issparse(X):
            # Creating thousands of names is slow; the library can create them, or the model has them.
            columns = self._model if codes is None else fitted_names(self) or X.shape[1]
            return sparse(X, columns, labels=labels, weights=weights, name=free_name("x", [self._target]))
        return dense(
            X,
            names_of(self, X.shape[1]),
            labels=labels,
            weights=weights,
            labels_at=self._target_at,
            **self._columns(X),
        )

    def _columns(self, X: Any) -> dict[str, Any]:
        """The kinds and levels of the columns."""
        return {}

    def _prediction_table(self, X: Any, codes: Codes | None = None) -> _core.Table:
        """X as a table for answers of the model, without labels unless their codes are given."""
        return self._table(X, codes)

    def _query_table(self, X: Any, y: Target | None = None) -> _core.Table:
        X = self._checked(X, reset=False)
        if y is None:
            return self._prediction_table(X)
        check_consistent_length(X, y)
        return self._prediction_table(X, encoded(y, self.missing_label, self.classes_)[1])

    def _specification(self) -> str:
        raise NotImplementedError

    def _labels(self, X: Any, y: Target, classes: NDArray[Any] | None = None) -> tuple[NDArray[Any], Codes]:
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        check_consistent_length(X, y)
        return encoded(y, self.missing_label, classes)

    @parameters_checked
    def fit(self, X: Rows, y: Target, sample_weight: ArrayLike | None = None) -> Self:
        """Fits the model.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels, some of which may be missing. The name of a Series becomes the name of the column of classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self : estimator
        """
        X = self._checked(X, reset=True)
        self.classes_, codes = self._labels(X, y)
        self._name_target(X, y)
        self._learn(X, codes, weights_of(sample_weight, X))
        return self

    def _name_target(self, X: Any, y: Target) -> None:
        """Names the column of labels after the Series `y`, unless it has no name or X has this column; then `y`."""
        name = getattr(y, "name", None)
        if not (isinstance(name, str) and name.strip()) or name in self._names(X):
            name = free_name("y", fitted_names(self))
        self._target = str(name)
        self._target_at = None

    def _names(self, X: Any) -> list[str]:
        """The names of the columns of checked rows."""
        return column_names(X) if is_frame(X) else names_of(self, X.shape[1])

    def _learn(self, X: Any, codes: Codes, weights: Floats | None) -> None:
        table = self._table(X, codes, weights)
        self._prepare(table)
        model = _core.fit_mixture(
            self._name,
            table,
            self._specification(),
            _specifications.options(marks=self.marks, **self._weight_of_unlabelled()),
            threads=self._threads(),
        )
        self._set_fitted(model)

    def _weight_of_unlabelled(self) -> dict[str, Any]:
        """The option for the weight of rows without a label; empty if it is to be chosen."""
        return {} if self.unlabelled is None else {"unlabelled": {"weight": float(self.unlabelled)}}

    def _prepare(self, table: _core.Table) -> None:
        """Computes what the specification needs to know about the rows."""

    @property
    def class_count_(self) -> Floats:
        """The total weight of the rows of each class."""
        return np.array(self._part("statistics")["weights"])

    def predict(self, X: Rows) -> NDArray[Any]:
        """The most probable class of each row."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        table = self._prediction_table(X)
        self._warn_of_impossible(table, "classes")
        return self.classes_[self._model.best(table, self._threads())]

    def score(self, X: Rows, y: Target, sample_weight: ArrayLike | None = None) -> float:
        """The accuracy on the rows that have a label; NaN, with a warning, if none has."""
        check_consistent_length(X, y)
        labels = labels_of(y)
        seen = ~is_missing(labels, self.missing_label)
        if not seen.any():
            warn("no row has a label, so there is no score", UndefinedMetricWarning)
            return np.nan
        weights = None if sample_weight is None else np.asarray(sample_weight)[seen]
        return float(accuracy_score(with_plain_type(labels[seen]), self.predict(X)[seen], sample_weight=weights))

    def predict_joint_log_proba(self, X: Rows) -> Floats:
        """log P(x, class) for each row, one column per class."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        return self._model.log_joint(self._prediction_table(X), self._threads())

    def predict_log_proba(self, X: Rows) -> Floats:
        """log P(class | x) for each row, one column per class."""
        check_is_fitted(self)
        if self._part("calibrated"):
            with np.errstate(divide="ignore"):
                return np.log(self.predict_proba(X))
        joint = self.predict_joint_log_proba(X)
        most = joint.max(axis=1, keepdims=True)
        possible = np.isfinite(most)
        most = np.where(possible, most, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            total = np.log(np.exp(joint - most).sum(axis=1, keepdims=True)) + most
            posterior = joint - total
        if possible.all():
            return posterior
        # A row that is impossible in every class gets the class weights, as in predict_proba.
        with np.errstate(divide="ignore"), warnings.catch_warnings():
            # Warnings about single columns were given above.
            warnings.filterwarnings("ignore", 'column "')
            return np.where(possible, posterior, np.log(self.predict_proba(X)))

    def predict_proba(self, X: Rows) -> Floats:
        """P(class | x) for each row, one column per class."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        table = self._prediction_table(X)
        self._warn_of_impossible(table, "classes")
        return self._model.posterior(table, self._threads())

    def decide(
        self, X: Rows, *, costs: Mapping[tuple[Any, Any], float] | ArrayLike | None = None, abstain_below: float = 0.0
    ) -> NDArray[Any]:
        """The class of least expected cost of each row, or None if no class is probable enough.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
            Rows.
        costs : dict, DataFrame or array-like of shape (n_classes, n_classes), default=None
            Cost of each decision: `costs[true, decided]`, by pairs of classes or as a matrix in the order of `classes_`.
            A pandas DataFrame has the true classes as its index and the decisions as its columns, in any order.
            A pair that is missing in a dict, and every pair if None, costs 0 if the classes are equal, otherwise 1.
        abstain_below : float, default=0.0
            Rows whose most probable class is less probable than this get no decision.

        Returns
        -------
        ndarray of shape (n_samples,)
            The decisions. If some rows get none, the dtype is object, and these rows are None.
        """
        if not (isinstance(abstain_below, Real) and 0.0 <= float(abstain_below) <= 1.0):
            raise ValueError(f"abstain_below must be a number from 0 to 1, not {abstain_below!r}")
        probabilities = self.predict_proba(X)
        # einsum adds in the same order for any number of threads.
        expected = None if costs is None else np.einsum("rt,td->rd", probabilities, self._cost_matrix(costs))
        decided = self.classes_[probabilities.argmax(axis=1) if expected is None else expected.argmin(axis=1)]
        abstained = probabilities.max(axis=1) < abstain_below
        if abstained.any():
            decided = decided.astype(object)
            decided[abstained] = None
        return decided

    def _cost_matrix(self, costs: Mapping[tuple[Any, Any], float] | ArrayLike) -> Floats:
        """The cost of each decision, by true class and decision."""
        matrix = 1.0 - np.eye(len(self.classes_))
        if hasattr(costs, "index") and hasattr(costs, "columns"):
            frame: Any = costs
            classes = self.classes_.tolist()
            for names in (frame.index.tolist(), frame.columns.tolist()):
                if len(names) != len(classes) or set(names) != set(classes):
                    raise ValueError(
                        f"the index and the columns of costs must be the classes {', '.join(map(str, classes))}"
                    )
            costs = frame.loc[classes, classes].to_numpy()
        if isinstance(costs, Mapping):
            places = {label: place for place, label in enumerate(self.classes_.tolist())}
            for pair, cost in costs.items():
                if not (isinstance(pair, tuple) and len(pair) == 2 and all(label in places for label in pair)):
                    raise ValueError(
                        f"costs has {pair!r}, which is not a pair of classes; the classes are {', '.join(map(str, places))}"
                    )
                matrix[places[pair[0]], places[pair[1]]] = cost
        else:
            if np.shape(costs) != matrix.shape:
                raise ValueError(f"costs must have a row and a column for each of the {len(matrix)} classes")
            matrix = np.asarray(costs, dtype=np.float64)
        if not np.isfinite(matrix).all():
            raise ValueError("costs must be finite numbers")
        return matrix

    def _leaves(self, key: str) -> list[Any]:
        """A parameter of every column: for each column, one number per class."""
        leaves = zip(self._part("leaves"), self._part("parameters"), strict=True)
        found = {leaf["columns"][0]: [distribution[key] for distribution in parameters] for leaf, parameters in leaves}
        # Columns without values have no parameters.
        return [found.get(column, [np.nan] * len(self.classes_)) for column in range(self.n_features_in_)]

    def _given_prior(self, priors: ArrayLike) -> dict[str, Any]:
        """Probabilities of the classes, for a specification."""
        priors = np.asarray(priors, dtype=np.float64)
        if priors.shape != (len(self.classes_),):
            raise ValueError("Number of priors must match number of classes.")
        if not np.isfinite(priors).all():
            raise ValueError("Priors must be finite numbers, not NaN or infinity.")
        if (priors < 0).any():
            raise ValueError("Priors must be non-negative.")
        return {"given": list(zip(levels_of(self.classes_), priors.tolist(), strict=True))}
