"""Where the EM of Gaussians begins: by k-means or at random, as scikit-learn's does, or where the user says."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from abduce import _core
from abduce._base import MixinBase, generator_of, seed_of
from abduce._tables import among, dense, empty_columns, free_name
from abduce._types import Codes, Floats, Progress

# How many axes of a covariance are columns.
AXES = {"full": 2, "tied": 2, "diag": 1, "spherical": 0}


class GaussianStartMixin(MixinBase):
    """Fits of a mixture of Gaussians, each from a start of its own."""

    def _count(self) -> int:
        """The number of components, where it is one."""
        return int(np.atleast_1d(np.asarray(self.n_components))[0])

    def _fits(self, X: Any, names: list[str], weights: Floats | None, watch: Progress | None) -> Iterator[_core.Model]:
        """A fit for every start that is asked for."""
        k = self._count()
        table = dense(X, names, weights=weights)
        given = [own is not None for own in (self.weights_init, self.means_init, self.precisions_init)]
        if self.init_params in ("random", "random_from_data"):
            # The numbers that scikit-learn draws, so that both begin at the same place.
            draws = generator_of(self.random_state)
        else:
            seed = seed_of(self.random_state)
        for number in range(self.n_init):
            if watch is not None and self.n_init > 1:
                watch("restart", number + 1, int(self.n_init), np.nan)
            if all(given):
                start = self._made_up(X, names)
            elif self.init_params == "kmeans":
                start = self._clustered(X, names, weights, table, seed + number)
            elif self.init_params == "random":
                start = self._shared_out(X, names, weights, draws)
            elif self.init_params == "random_from_data" and (rows := self._drawn(X, draws)) is not None:
                start = self._narrow(X, names, weights, rows)
            else:
                if self.init_params == "k-means++":
                    init, own = "kmeans++", seed + number
                else:
                    init, own = "random", int(draws.randint(np.iinfo(np.int32).max))
                # Of what is given in part, only the beginning is asked for.
                options = self._options(init=init, seed=own, em={"max_iterations": 0} if any(given) else {})
                start = _core.fit_mixture(
                    "mixture", table, self._specification(k), options, None, self._threads(), watch
                )
                if not any(given):
                    yield start
                    continue
            yield self._fit_from(table, self._given(start, X.shape[1]), watch)

    def _fit_from(self, table: _core.Table, start: _core.Model, watch: Progress | None) -> _core.Model:
        return _core.fit_mixture(
            "mixture",
            table,
            self._specification(self._count()),
            self._options(),
            start,
            self._threads(),
            watch,
        )

    def _made_up(self, X: Any, names: list[str]) -> _core.Model:
        """Gaussians of no rows, of which nothing will be left."""
        k = self._count()
        empty = empty_columns(X)
        if len(empty):
            raise ValueError(f"feature {empty[0]} has no number, so that no start can be given for it")
        return self._start_at(np.zeros((k, X.shape[1])), names, None, np.arange(k), ridge=1.0)

    def _clustered(
        self, X: Any, names: list[str], weights: Floats | None, table: _core.Table, seed: int
    ) -> _core.Model:
        """The Gaussians of the clusters of k-means."""
        from abduce.cluster import clusters_of

        return self._start_at(X, names, weights, clusters_of(table, self._count(), seed, self._threads()))

    def _dealt(self, X: Any, names: list[str], weights: Floats | None) -> _core.Model:
        """The Gaussians of rows dealt out in turn, of which the columns are right."""
        return self._start_at(X, names, weights, np.arange(len(X)) % self._count(), ridge=1.0)

    def _shared_out(
        self, X: Any, names: list[str], weights: Floats | None, draws: np.random.RandomState
    ) -> _core.Model:
        """The Gaussians of all rows, of each of which every component has a share by chance."""
        k, kind = self._count(), self.covariance_type
        shares = draws.uniform(size=(len(X), k))
        shares /= shares.sum(axis=1)[:, np.newaxis]
        if weights is not None:
            shares *= weights[:, np.newaxis]
        single = self._specification(1)
        means, covariances = [], []
        for own in np.ascontiguousarray(shares.T):
            table = dense(X, names, weights=own)
            fit = _core.fit_mixture("mixture", table, single, self._options(marks=False), None, self._threads())
            (gaussian,) = json.loads(fit.part("parameters"))[0]
            means.append(gaussian["mean"])
            covariances.append(next(iter(gaussian["covariance"].values())))
        sizes = shares.sum(axis=0) / shares.sum()
        spread = np.asarray(covariances)
        spread = sizes @ spread if kind == "tied" else spread.ravel()
        return _core.gaussian_start(
            self._dealt(X, names, weights), sizes.tolist(), np.ravel(means).tolist(), spread.tolist()
        )

    def _drawn(self, X: Any, draws: np.random.RandomState) -> Codes | None:
        """Rows to begin at, where they have all that it takes."""
        rows = draws.choice(len(X), size=self._count(), replace=False)
        return None if self.reg_covar == 0 or np.isnan(X[rows]).any() else rows

    def _narrow(self, X: Any, names: list[str], weights: Floats | None, rows: Codes) -> _core.Model:
        """Gaussians at some rows that are as narrow as `reg_covar` lets them be."""
        (k, kind), d = (self._count(), self.covariance_type), X.shape[1]
        one = {"full": np.eye(d), "tied": np.eye(d), "diag": np.ones(d), "spherical": np.ones(1)}[kind].ravel()
        spread = self.reg_covar * (one if kind == "tied" else np.tile(one, k))
        means = np.asarray(X[rows], dtype=np.float64)
        return _core.gaussian_start(
            self._dealt(X, names, weights), [1 / k] * k, means.ravel().tolist(), spread.tolist()
        )

    def _start_at(
        self, X: Any, names: list[str], weights: Floats | None, codes: Codes, ridge: float | None = None
    ) -> _core.Model:
        """The Gaussians of groups of rows."""
        column = free_name("start", names)
        levels = [str(j) for j in range(self._count())]
        table = dense(X, names, weights=weights, labels=(column, levels, codes))
        specification = self._specification(None, target=column, ridge=ridge)
        start = _core.fit_mixture("gda", table, specification, self._options(marks=False), None, self._threads())
        return _core.without_labels(start)

    def _given(self, start: _core.Model, d: int) -> _core.Model:
        """A start with what the user has given of it."""
        k, kind = self._count(), self.covariance_type
        given_weights = means = covariances = None
        if self.weights_init is not None:
            given_weights = check_array(self.weights_init, dtype=np.float64, ensure_2d=False)
            if given_weights.shape != (k,):
                raise ValueError(
                    f"The parameter 'weights' should have the shape of ({k},), but got {given_weights.shape}"
                )
            if (given_weights < 0).any() or (given_weights > 1).any():
                raise ValueError(
                    "The parameter 'weights' should be in the range [0, 1], "
                    f"but got max value {given_weights.max():.5f}, min value {given_weights.min():.5f}"
                )
            if not np.allclose(given_weights.sum(), 1.0):
                raise ValueError(
                    f"The parameter 'weights' should be normalized, but got sum(weights) = {given_weights.sum():.5f}"
                )
        if self.means_init is not None:
            means = check_array(self.means_init, dtype=np.float64, ensure_2d=False)
            if means.shape != (k, d):
                raise ValueError(f"The parameter 'means' should have the shape of ({k}, {d}), but got {means.shape}")
        if self.precisions_init is not None:
            precisions = np.asarray(self.precisions_init, dtype=np.float64)
            shape = {"full": (k, d, d), "tied": (d, d), "diag": (k, d), "spherical": (k,)}[kind]
            if precisions.shape != shape:
                raise ValueError(
                    f"The parameter '{kind} precision' should have the shape of {shape}, but got {precisions.shape}"
                )
            if kind in ("diag", "spherical"):
                if (precisions <= 0).any():
                    raise ValueError(f"'{kind} precision' should be positive")
            elif (
                not np.allclose(precisions, np.swapaxes(precisions, -1, -2))
                or (np.linalg.eigvalsh(precisions) <= 0).any()
            ):
                raise ValueError(f"'{kind} precision' should be symmetric, positive-definite")
            covariances = 1.0 / precisions if kind in ("diag", "spherical") else np.linalg.inv(precisions)
        # A column without a number has no part in the Gaussians.
        columns = json.loads(start.part("leaves"))[0]["columns"]
        means = None if means is None else among(means, columns, 1)
        covariances = None if covariances is None else among(covariances, columns, AXES[kind])
        return _core.gaussian_start(
            start,
            *(
                None if own is None else np.ascontiguousarray(own, dtype=np.float64).ravel().tolist()
                for own in (given_weights, means, covariances)
            ),
        )
