"""Imputers: holes filled with what a model of all columns expects of them, given the cells that are seen."""

from numbers import Integral, Real

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from abduce import _core, _specifications
from abduce._base import ModelEstimator, seed_of, watcher
from abduce._framed import Framed
from abduce._tables import weights_of


class _Imputer(Framed, OneToOneFeatureMixin, TransformerMixin, ModelEstimator):
    """From rows to a mixture, and from a mixture to the cells that are missing."""

    _parameter_constraints = {
        "covariance": [str],
        "how": [StrOptions({"mean", "mode", "draw"})],
        "kinds": [dict, None],
        "tol": [Interval(Real, 0.0, None, closed="left")],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
        "n_jobs": [Integral, None],
    }

    def _components(self):
        return 1

    def _restarts(self):
        return 1

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None, sample_weight=None):
        """Learns a mixture of the rows, holes and all."""
        X = self._checked(X, reset=True)
        table = self._learned_table(X, None, weights_of(sample_weight, X))
        model = _core.fit_mixture(
            "mixture",
            table,
            _specifications.mixture(
                components=self._components(), reals=_specifications.together(self.covariance.lower())
            ),
            _specifications.options(
                em={"tolerance": self.tol, "max_iterations": self.max_iter, "acceleration": "auto"},
                restarts=self._restarts(),
                seed=seed_of(self.random_state),
            ),
            None,
            self._threads(),
            watcher(self.verbose, type(self).__name__),
        )
        self._set_model(model)
        return self

    @property
    def n_iter_(self):
        """How many steps the fit took."""
        return max(1, self._part("fit")["iterations"])

    def transform(self, X):
        """The rows with their holes filled; a frame comes back as a frame."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        filled = dict(self._model.complete(self._asked_table(X), self.how, seed_of(self.random_state)))
        if not self._framed:
            out = np.column_stack([filled[name] for name in self._names()]).astype(X.dtype, copy=False)
            return np.where(np.isnan(X), out, X)
        return self._as_frame(X, filled)

    def _names(self):
        return [field["name"] for field in self._part("schema")["fields"]]

    def _as_frame(self, X, filled):
        fields = {field["name"]: field for field in self._part("schema")["fields"]}
        cells = {}
        for name, own in filled.items():
            levels = fields[name].get("levels")
            cells[name] = np.array(levels, dtype=object)[own] if levels else own
        if not hasattr(X, "iloc"):
            import pyarrow

            X = pyarrow.table(X).to_pandas()
        out = X.copy()
        for name in out.columns:
            holes = out[name].isna().to_numpy()
            if holes.any() and str(name) in cells:
                own = cells[str(name)][holes]
                kind = out[name].dtype
                if kind.kind in "iufb" and str(kind) != "bool":
                    out[name] = out[name].astype("float64")
                out.loc[holes, name] = own
        return out


class GaussianImputer(_Imputer):
    """Fills holes with what one Gaussian of all columns expects of them."""

    def __init__(
        self,
        *,
        covariance="full",
        how="mean",
        kinds=None,
        tol=1e-8,
        max_iter=1000,
        random_state=None,
        verbose=0,
        n_jobs=None,
    ):
        self.covariance = covariance
        self.how = how
        self.kinds = kinds
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs


class MixtureImputer(_Imputer):
    """Fills holes with what a mixture of all columns expects of them; columns may be of any kind."""

    _parameter_constraints = _Imputer._parameter_constraints | {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_components=2,
        *,
        covariance="full",
        how="mean",
        kinds=None,
        tol=1e-8,
        max_iter=1000,
        n_init=10,
        random_state=None,
        verbose=0,
        n_jobs=None,
    ):
        self.n_components = n_components
        self.covariance = covariance
        self.how = how
        self.kinds = kinds
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _components(self):
        return self.n_components

    def _restarts(self):
        return self.n_init
