"""The base class of mixtures."""

from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import DensityMixin
from sklearn.utils.validation import check_is_fitted

from abduce import _core
from abduce._base import ModelEstimator
from abduce._queries import QueryMixin
from abduce._tables import checked, dense, names_of
from abduce._types import Codes, Floats, Rows

# The maximum length of `n_components`.
MAX_CANDIDATES = 10_000


def numbers_of(n_components: int | Sequence[int]) -> list[int]:
    """The numbers of components to compare."""
    if isinstance(n_components, range):
        # A range may be too long for a list.
        n_components = list(islice(n_components, MAX_CANDIDATES + 1))
    if np.size(n_components) > MAX_CANDIDATES:
        raise ValueError(f"n_components has more than {MAX_CANDIDATES} numbers")
    numbers = np.atleast_1d(np.asarray(n_components)).tolist()
    if not numbers:
        raise ValueError("n_components is empty")
    for number in numbers:
        if not number >= 1 or number % 1 != 0:
            raise ValueError(f"n_components must be a positive whole number, not {number!r}")
    return [int(number) for number in numbers]


class MixtureEstimator(QueryMixin, DensityMixin, ModelEstimator):
    """The methods of fitted mixtures."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _single(self, X: Any, found: Floats) -> NDArray[np.floating]:
        return found.astype(np.float32) if getattr(X, "dtype", None) == np.float32 else found

    def _checked_with_table(self, X: Any) -> tuple[Any, _core.Table]:
        check_is_fitted(self)
        X = checked(self, X, reset=False)
        return X, dense(X, names_of(self, X.shape[1]))

    def _query_table(self, X: Any, y: Any = None) -> _core.Table:
        return self._checked_with_table(X)[1]

    @property
    def weights_(self) -> Floats:
        """The weight of each component."""
        return np.array(self._part("weights"))

    @property
    def converged_(self) -> bool:
        """Whether the fit converged."""
        return self._part("fit")["converged"]

    @property
    def n_iter_(self) -> int:
        """The number of EM iterations."""
        return self._part("fit")["iterations"]

    def predict(self, X: Rows) -> Codes:
        """The most probable component of each row."""
        _, table = self._checked_with_table(X)
        self._warn_of_impossible(table, "components")
        return self._model.best(table, self._threads())

    def predict_proba(self, X: Rows) -> NDArray[np.floating]:
        """The probability of each component for each row."""
        X, table = self._checked_with_table(X)
        self._warn_of_impossible(table, "components")
        return self._single(X, self._model.posterior(table, self._threads()))

    def score_samples(self, X: Rows) -> NDArray[np.floating]:
        """The log-density of each row, with missing values integrated out."""
        X, table = self._checked_with_table(X)
        return self._single(X, self._model.log_density(table, self._threads()))

    def score(self, X: Rows, y: Any = None) -> float:
        """The mean log-density of the rows."""
        return float(np.mean(self.score_samples(X)))

    def fit_predict(self, X: Rows, y: Any = None, sample_weight: ArrayLike | None = None) -> Codes:
        """Fits, and returns the most probable component of each row."""
        return self.fit(X, y, sample_weight=sample_weight).predict(X)

    @property
    def n_components_(self) -> int:
        """The number of components; the selected one if several were compared."""
        return len(self.weights_)

    @property
    def criteria_(self) -> list[dict[str, Any]] | None:
        """The compared models, each with its criteria and whether it was selected; None without a comparison."""
        check_is_fitted(self, "_model")
        return self._criteria()

    def _free_parameters(self) -> int:
        return self._part("fit")["parameters"]

    def bic(self, X: Rows) -> float:
        """The Bayesian information criterion of `X`; lower is better."""
        found = self.score_samples(X)
        return float(-2 * np.sum(found) + self._free_parameters() * np.log(len(found)))

    def aic(self, X: Rows) -> float:
        """The Akaike information criterion of `X`; lower is better."""
        return float(-2 * np.sum(self.score_samples(X)) + 2 * self._free_parameters())
