"""Initial parameters of GaussianMixture.

With `init_params` "kmeans", "random" or "random_from_data", or with given parameters, EM starts where scikit-learn's
does, so that both fits agree. All other starts, and random starts of rows with missing values, are the library's.
"""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from abduce import _core, _specifications
from abduce._base import MixinBase, generator_of, seed_of
from abduce._tables import columns_of, dense, empty_columns, free_name
from abduce._types import Floats, Progress

# The number of axes of a covariance that run over columns, and the library's name of its structure.
AXES = {"full": 2, "tied": 2, "diag": 1, "spherical": 0}
SHAPES = {"full": "full", "tied": "full", "diag": "diagonal", "spherical": "spherical"}

# Weights, means and covariances; a covariance has one number, one for each column, or one for each pair of columns.
Start = dict[str, Floats]


class GaussianStartMixin(MixinBase):
    """Fits a mixture of Gaussians from each of `n_init` starts."""

    def _count(self) -> int:
        """The number of components, if it is a single one."""
        return int(np.atleast_1d(np.asarray(self.n_components))[0])

    def _fits(
        self, X: Any, names: list[str], weights: Floats | None, on_progress: Progress | None
    ) -> Iterator[_core.Model]:
        """The fits from all starts, or the best of them."""
        table = dense(X, names, weights=weights)
        given = given_start(self, X)
        init = self._library_init(X)
        draws = generator_of(self.random_state) if init is None and self.init_params != "kmeans" else None
        seed = seed_of(self.random_state) if draws is None else 0
        if init is not None and not given:
            yield self._fit(table, on_progress, init=init, restarts=int(self.n_init), seed=seed)
            return
        for number in range(self.n_init):
            if on_progress is not None and self.n_init > 1:
                on_progress("restart", number + 1, int(self.n_init), np.nan)
            columns, start = list(range(X.shape[1])), Start()
            if len(given) == 3:
                pass
            elif init is not None:
                columns, start = start_of(
                    self._fit(table, None, init=init, seed=seed + number, em={"max_iterations": 0})
                )
            elif self.init_params == "kmeans":
                columns, start = self._cluster_start(X, names, weights, table, seed + number)
            elif self.init_params == "random":
                columns, start = self._share_start(X, names, weights, draws)
            else:
                start = self._row_start(X, draws)
            axes = {"weights": 0, "means": 1, "covariances": AXES[self.covariance_type]}
            start |= {name: columns_of(value, columns, axes[name]) for name, value in given.items()}
            yield self._fit(table, on_progress, self._start_json(start))

    def _fit(
        self, table: _core.Table, on_progress: Progress | None, start: str | None = None, **options: Any
    ) -> _core.Model:
        specification = self._specification(self._count())
        return _core.fit_mixture(
            "mixture", table, specification, self._options(**options), start, self._threads(), on_progress
        )

    def _library_init(self, X: Any) -> str | None:
        """The library's kind of start; None if the start is computed as scikit-learn does."""
        if self.init_params == "k-means++":
            return "kmeans++"
        is_random = self.init_params in ("random", "random_from_data")
        without_variance = self.init_params == "random_from_data" and self.reg_covar == 0
        return "random" if is_random and (without_variance or np.isnan(X).any()) else None

    def _cluster_start(
        self, X: Any, names: list[str], weights: Floats | None, table: _core.Table, seed: int
    ) -> tuple[list[int], Start]:
        """The Gaussians of the clusters of k-means, and their columns."""
        from abduce.cluster import clusters_of

        clusters = clusters_of(table, self._count(), seed, self._threads())
        column = free_name("start", names)
        levels = [str(j) for j in range(self._count())]
        labelled = dense(X, names, weights=weights, labels=(column, levels, clusters))
        specification = self._specification(None, target=column)
        return start_of(_core.fit_mixture("gda", labelled, specification, self._options(), None, self._threads()))

    def _share_start(self, X: Any, names: list[str], weights: Floats | None, draws: Any) -> tuple[list[int], Start]:
        """The Gaussians of all rows, of which every component has a random share."""
        shares = draws.uniform(size=(len(X), self._count()))
        shares /= shares.sum(axis=1)[:, np.newaxis]
        if weights is not None:
            shares *= weights[:, np.newaxis]
        single, parts = self._specification(1), []
        for share in np.ascontiguousarray(shares.T):
            table = dense(X, names, weights=share)
            fit = _core.fit_mixture("mixture", table, single, self._options(), None, self._threads())
            columns, part = start_of(fit)
            parts.append(part)
        start = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        start["weights"] = shares.sum(axis=0) / shares.sum()
        if self.covariance_type == "tied":
            start["covariances"] = np.broadcast_to(start["weights"] @ start["covariances"], start["covariances"].shape)
        return columns, start

    def _row_start(self, X: Any, draws: Any) -> Start:
        """Gaussians at random rows, with the smallest covariance that `reg_covar` allows."""
        k, d = self._count(), X.shape[1]
        rows = draws.choice(len(X), size=k, replace=False)
        unit = {2: np.eye(d), 1: np.ones(d), 0: np.ones(1)}[AXES[self.covariance_type]]
        covariances = np.broadcast_to(self.reg_covar * unit, (k, *unit.shape))
        return {"weights": np.full(k, 1 / k), "means": np.asarray(X[rows], np.float64), "covariances": covariances}

    def _start_json(self, start: Start) -> str:
        """A start as the library reads parameters."""
        kind = self.covariance_type
        covariances = start["covariances"].reshape(self._count(), -1)
        cells = covariances[:, 0] if kind == "spherical" else covariances
        gaussians = [
            {"family": "multivariate", "mean": mean, "covariance": {SHAPES[kind]: covariance}}
            for mean, covariance in zip(start["means"], cells, strict=True)
        ]
        return _specifications.dumped({"weights": start["weights"], "leaves": [gaussians]})


def start_of(model: _core.Model) -> tuple[list[int], Start]:
    """The columns and the parameters of a mixture of Gaussians."""
    (gaussians,) = json.loads(model.part("parameters"))
    covariances = [np.ravel(next(iter(gaussian["covariance"].values()))) for gaussian in gaussians]
    start = {
        "weights": np.array(json.loads(model.part("weights"))),
        "means": np.array([gaussian["mean"] for gaussian in gaussians]),
        "covariances": np.array(covariances),
    }
    return json.loads(model.part("leaves"))[0]["columns"], start


def given_start(estimator: Any, X: Any) -> Start:
    """The checked parameters that the user has given."""
    k, d, kind = estimator._count(), X.shape[1], estimator.covariance_type
    given: Start = {}
    if estimator.weights_init is not None:
        given["weights"] = _checked_weights(estimator.weights_init, k)
    if estimator.means_init is not None:
        given["means"] = check_array(estimator.means_init, dtype=np.float64, ensure_2d=False)
        _check_shape(given["means"], (k, d), "means")
    if estimator.precisions_init is not None:
        precisions = np.asarray(estimator.precisions_init, dtype=np.float64)
        shape = {"full": (k, d, d), "tied": (d, d), "diag": (k, d), "spherical": (k,)}[kind]
        _check_shape(precisions, shape, f"{kind} precision")
        covariances = _inverses(precisions, kind)
        given["covariances"] = np.broadcast_to(covariances, (k, d, d)) if kind == "tied" else covariances
    empty = empty_columns(X)
    if len(given) == 3 and len(empty):
        raise ValueError(f"column {empty[0]} has only missing values, so no start can be given for it")
    return given


def _check_shape(array: Floats, shape: tuple[int, ...], name: str) -> None:
    if array.shape != shape:
        raise ValueError(f"The parameter '{name}' should have the shape of {shape}, but got {array.shape}")


def _checked_weights(weights: Any, components: int) -> Floats:
    weights = check_array(weights, dtype=np.float64, ensure_2d=False)
    _check_shape(weights, (components,), "weights")
    if (weights < 0).any() or (weights > 1).any():
        raise ValueError(
            "The parameter 'weights' should be in the range [0, 1], "
            f"but got max value {weights.max():.5f}, min value {weights.min():.5f}"
        )
    if not np.allclose(weights.sum(), 1.0):
        raise ValueError(f"The parameter 'weights' should be normalized, but got sum(weights) = {weights.sum():.5f}")
    return weights


def _inverses(precisions: Floats, kind: str) -> Floats:
    """The covariances of positive definite precisions."""
    if kind in ("diag", "spherical"):
        if (precisions <= 0).any():
            raise ValueError(f"'{kind} precision' should be positive")
        return 1.0 / precisions
    is_symmetric = np.allclose(precisions, np.swapaxes(precisions, -1, -2))
    if not is_symmetric or (np.linalg.eigvalsh(precisions) <= 0).any():
        raise ValueError(f"'{kind} precision' should be symmetric, positive-definite")
    return np.asarray(np.linalg.inv(precisions), dtype=np.float64)
