"""Plots with matplotlib, which is imported only when needed.

All plots show answers of the model: predictions and probabilities for rows and the points of a grid, log-densities, the
trace of the fit. Columns that are not drawn are missing in the points of the grid, so their predictions are those of the
drawn columns alone.

Density contours are highest density regions (Hyndman, 1996, "Computing and graphing highest density regions"): the level
for a probability is a quantile of the density over rows drawn from the model.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from abduce.bayes import Hypotheses
    from abduce.families import Distribution

# Points along each axis of a grid, and along a curve.
STEPS = 100
CURVE = 400
# The probabilities within contours, and the number of rows drawn to find them.
SHARES = (0.95, 0.75, 0.5, 0.25)
DRAWN = 4000
MARKERS = "os^Dv*PX"
# The attributes with the centers of classes or clusters.
CENTERS = ("cluster_centers_", "means_", "theta_")


def axes_of(ax: Axes | None) -> Axes:
    """The given axes, or those of a new figure."""
    try:
        import matplotlib.pyplot
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install matplotlib") from error
    return matplotlib.pyplot.subplots()[1] if ax is None else ax


def known_plot(what: str, known: Sequence[str]) -> str:
    """The kind of plot, if it is known."""
    if what not in known:
        raise ValueError(f"there is no plot {what!r}; available plots: {', '.join(known)}")
    return what


def colours_of(count: int) -> list[Any]:
    """A colour for each class."""
    import matplotlib

    if count <= 10:
        return [matplotlib.colormaps["tab10"](j) for j in range(count)]
    return [matplotlib.colormaps["turbo"](j / (count - 1)) for j in range(count)]


class PlotMixin:
    """Plots of a fitted model and of rows."""

    def plot(
        self,
        X: Any = None,
        what: str | None = None,
        *,
        features: int | str | Sequence[int | str] | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """Draws the model with matplotlib.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), default=None
            Rows to draw. A density needs none: its range is then that of rows drawn from the model.
        what : {"classification", "uncertainty", "density", "criteria", "trace"}, default=None
            Kind of plot; the first available one if None.

            - "classification": rows coloured by their predicted class, component or cluster, over the regions predicted
              from the drawn columns alone; for one column, a line of rows for each class.
            - "uncertainty": the same, with larger symbols for less certain predictions.
            - "density": contours with a probability of 25, 50, 75 and 95 %; for one column, a curve.
            - "criteria": the criterion of each compared number of components.
            - "trace": the log-likelihood, or the inertia of k-means, at each iteration.
        features : int, str or sequence of them, default=None
            Positions or names of one or two columns; the first two with values if None.
        ax : matplotlib.axes.Axes, default=None
            Axes to draw into; those of a new figure if None.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self, "_model")
        known = self._plots()
        if what is None:
            of_rows = ("classification", "uncertainty", "criteria")
            what = known[0] if X is not None else next(kind for kind in known if kind not in of_rows)
        known_plot(what, known)
        if what == "trace":
            return _draw_trace(self, axes_of(ax))
        if what == "criteria":
            return _draw_criteria(self, axes_of(ax))
        if what != "density" and X is None:
            raise ValueError(f"a plot of {what} needs rows: plot(X, what={what!r})")
        scene = Scene(self, X, features)
        if what == "density":
            return scene.draw_density(axes_of(ax))
        return scene.draw_classes(axes_of(ax), uncertain=what == "uncertainty")

    def _plots(self) -> list[str]:
        """The available kinds of plots."""
        by_method = {"classification": "predict", "uncertainty": "predict_proba", "density": "score_samples"}
        known = [what for what, method in by_method.items() if hasattr(self, method)]
        if self._part("fit").get("selection"):  # type: ignore[attr-defined]
            known.append("criteria")
        return [*known, "trace"]


class Scene:
    """The drawn columns of a model, rows, and a grid over them."""

    def __init__(self, estimator: Any, X: Any, features: int | str | Sequence[int | str] | None) -> None:
        from abduce._tables import names_of

        self.estimator = estimator
        self.X = X
        self.names = names_of(estimator, estimator.n_features_in_)
        self.framed = getattr(estimator, "_framed", False)
        self.columns = self._positions(features)
        self.drawn_names = [self.names[position] for position in self.columns]
        self.rows = None if X is None else self._cells(self.columns)

    def _positions(self, features: int | str | Sequence[int | str] | None) -> list[int]:
        if features is None:
            features = self._first_two()
        elif isinstance(features, (int, np.integer, str)):
            features = [features]
        positions = []
        for feature in features:
            if isinstance(feature, str):
                if feature not in self.names:
                    raise ValueError(f"there is no column {feature!r}; there are {', '.join(self.names)}")
                feature = self.names.index(feature)
            if not 0 <= feature < len(self.names):
                raise ValueError(f"there is no column {feature}; there are {len(self.names)}, numbered from 0")
            positions.append(int(feature))
        if len(positions) not in (1, 2) or len(set(positions)) < len(positions):
            raise ValueError("a plot shows one column or two different ones: features=(0, 1)")
        for position in positions:
            if self.framed and self._field(position).get("levels"):
                raise ValueError(f"column {self.names[position]!r} has levels, but an axis needs numbers")
        return positions

    def _first_two(self) -> list[int]:
        """The first two columns of numbers with values; the first column if there are none."""
        shown = (c for c in range(len(self.names)) if not (self.framed and self._field(c).get("levels")))
        return list(islice(filter(self._has_cells, shown), 2)) or [0]

    def _has_cells(self, position: int) -> bool:
        if self.X is None:
            cells = dict(self.estimator._model.sample(1, 0))[self.names[position]]
        elif self.framed:
            return bool(not self._table().column(self.names[position]).is_null(nan_is_null=True).to_numpy().all())
        else:
            cells = self._cells([position])
        return bool(not np.isnan(cells).all())

    def _field(self, position: int) -> dict[str, Any]:
        fields = self.estimator._part("schema")["fields"]
        found: dict[str, Any] = next(field for field in fields if field["name"] == self.names[position])
        return found

    def _table(self) -> Any:
        """The rows of a frame as an Arrow table."""
        import pyarrow

        from abduce._tables import arrow_of

        return pyarrow.table(arrow_of(self.X))

    def _cells(self, columns: list[int]) -> NDArray[np.float64]:
        """Some columns of the rows as numbers."""
        from abduce._tables import checked

        if self.framed:
            table = self._table()
            cells = [table.column(self.names[column]).to_numpy() for column in columns]
            return np.column_stack(cells).astype(np.float64)
        cells = checked(self.estimator, self.X, reset=False, accept_sparse="csr")[:, columns]
        return np.asarray(cells.toarray() if hasattr(cells, "toarray") else cells, dtype=np.float64)

    def _drawn(self) -> NDArray[np.float64]:
        """The drawn columns of rows drawn from the model."""
        drawn = dict(self.estimator._model.sample(DRAWN, 0))
        return np.column_stack([drawn[name] for name in self.drawn_names]).astype(np.float64)

    def _axes(self, rows: NDArray[np.float64], steps: int) -> list[NDArray[np.float64]]:
        """The points along each axis, slightly beyond the rows if the model allows it."""
        tags = self.estimator.__sklearn_tags__().input_tags
        axes = []
        for column, cells in zip(self.columns, rows.T, strict=True):
            cells = cells[~np.isnan(cells)]
            if not len(cells):
                raise ValueError(f"no row has a number in column {self.names[column]!r}")
            low, high = cells.min(), cells.max()
            beyond = 0.0 if tags.positive_only else 0.05 * (high - low) or 0.5
            points = np.linspace(low - beyond, high + beyond, steps)
            if hasattr(self.estimator, "kinds") and self._field(column)["kind"] == "count":
                points = np.unique(np.maximum(np.round(points), 0.0))
            axes.append(points)
        return axes

    def ask(self, method: str, points: NDArray[np.float64]) -> NDArray[Any]:
        """The answers of the model for points in the drawn columns; the other columns are missing."""
        if self.framed:
            import pyarrow

            cells = {name: pyarrow.nulls(len(points)) for name in self.names}
            cells |= {name: pyarrow.array(numbers) for name, numbers in zip(self.drawn_names, points.T, strict=True)}
            X: Any = pyarrow.table(cells)
        else:
            X = np.full((len(points), len(self.names)), np.nan)
            X[:, self.columns] = points
        with warnings.catch_warnings():
            # The columns are in the order of the model.
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            # The points are not rows of the user.
            warnings.filterwarnings("ignore", message=".*was constant when the model was fitted")
            found: NDArray[Any] = getattr(self.estimator, method)(X)
        return found

    def _can_hide(self) -> bool:
        if len(self.columns) == len(self.names):
            return True
        tags = self.estimator.__sklearn_tags__().input_tags
        return bool(tags.allow_nan) and not getattr(self.estimator, "_sparse", False)

    def _codes(self, found: NDArray[Any]) -> NDArray[Any]:
        classes = getattr(self.estimator, "classes_", None)
        return found if classes is None else np.searchsorted(classes, found)

    def _label(self, ax: Axes) -> None:
        ax.set_xlabel(self.drawn_names[0])
        if len(self.columns) == 2:
            ax.set_ylabel(self.drawn_names[1])

    def draw_density(self, ax: Axes) -> Axes:
        """A density curve, or contours of highest density regions."""
        if not self._can_hide():
            raise ValueError("this model does not support missing values, so its density needs all columns")
        drawn = self._drawn()
        axes = self._axes(drawn if self.rows is None else self.rows, CURVE if len(self.columns) == 1 else STEPS)
        self._label(ax)
        if len(self.columns) == 1:
            (x,) = axes
            ax.plot(x, np.exp(self.ask("score_samples", x[:, None])), marker="o" if len(x) < CURVE else None)
            if self.rows is not None:
                ax.plot(self.rows[:, 0], np.zeros(len(self.rows)), "|", color="0.5")
            ax.set_ylabel("density")
            return ax
        x, y = axes
        if self.rows is not None:
            ax.scatter(self.rows[:, 0], self.rows[:, 1], s=8, color="0.7", zorder=0)
        points = np.column_stack([grid.ravel() for grid in np.meshgrid(x, y)])
        density = np.exp(self.ask("score_samples", points)).reshape(len(y), len(x))
        held = np.exp(self.ask("score_samples", drawn))
        levels = np.unique(np.quantile(held, [1.0 - share for share in SHARES]))
        ax.contour(x, y, density, levels=levels)
        return ax

    def draw_classes(self, ax: Axes, *, uncertain: bool) -> Axes:
        """Rows by predicted class, over the regions of the classes."""
        assert self.rows is not None
        estimator = self.estimator
        count = len(estimator._part("names"))
        labels = getattr(estimator, "classes_", np.arange(count))
        colours = colours_of(count)
        codes = self._codes(estimator.predict(self.X))
        sizes = np.full(len(codes), 20.0)
        if uncertain:
            sizes = 4.0 + 196.0 * (1.0 - estimator.predict_proba(self.X).max(axis=1))
        self._label(ax)
        flat = len(self.columns) == 1
        heights = codes.astype(np.float64) if flat else self.rows[:, -1]
        if flat:
            ax.set_yticks(range(count), [str(label) for label in labels])
        elif self._can_hide():
            self._draw_regions(ax, colours)
        seen = ~np.isnan(self.rows).any(axis=1)
        for code in range(count):
            members = seen & (codes == code)
            if members.any():
                ax.scatter(
                    self.rows[members, 0],
                    heights[members],
                    s=sizes[members],
                    color=[colours[code]],
                    marker=MARKERS[code % len(MARKERS)],
                    label=str(labels[code]),
                )
        centers = next((getattr(estimator, name) for name in CENTERS if hasattr(estimator, name)), None)
        if centers is not None and not flat:
            ax.plot(*centers[:, self.columns].T, "k+", markersize=12, markeredgewidth=2, linestyle="none")
        if not flat and count <= len(MARKERS):
            ax.legend()
        return ax

    def _draw_regions(self, ax: Axes, colours: list[Any]) -> None:
        from matplotlib.colors import ListedColormap

        assert self.rows is not None
        x, y = self._axes(self.rows, STEPS)
        points = np.column_stack([grid.ravel() for grid in np.meshgrid(x, y)])
        codes = self._codes(self.ask("predict", points)).reshape(len(y), len(x))
        ax.pcolormesh(
            x,
            y,
            codes,
            cmap=ListedColormap(colours),
            vmin=-0.5,
            vmax=len(colours) - 0.5,
            alpha=0.15,
            shading="nearest",
            zorder=0,
        )


def _draw_trace(estimator: Any, ax: Axes) -> Axes:
    trace = estimator.trace_
    ax.plot(np.arange(len(trace)), trace, marker=".")
    ax.set_xlabel("iteration")
    ax.set_ylabel("inertia" if "inertia" in estimator._part("fit") else "log-likelihood")
    return ax


def _draw_criteria(estimator: Any, ax: Axes) -> Axes:
    selection = estimator._part("fit")["selection"]
    tried, criterion = selection["tried"], selection["criterion"]
    for covariance in dict.fromkeys(candidate["covariance"] for candidate in tried):
        compared = [row for row in tried if row["covariance"] == covariance and row.get(criterion) is not None]
        ax.plot(
            [row["components"] for row in compared], [row[criterion] for row in compared], marker="o", label=covariance
        )
    chosen = tried[selection["chosen"]]
    ax.plot(chosen["components"], chosen[criterion], "*", color="k", markersize=14, label="chosen")
    ax.set_xlabel("components")
    ax.set_ylabel(f"{criterion} (lower is better)")
    ax.legend()
    return ax


def draw_distribution(distribution: Distribution, what: str, ax: Axes | None) -> Axes:
    """The density of a distribution or its distribution function, between the 0.001 and 0.999 quantiles."""
    known_plot(what, ("density", "cdf"))
    ask = distribution.pdf if what == "density" else distribution.cdf
    low, high = distribution.ppf([0.001, 0.999])
    ax = axes_of(ax)
    ax.set_xlabel("x")
    if distribution.is_discrete:
        x = np.unique(np.round(np.linspace(low, high, CURVE)))
        if what == "density":
            ax.vlines(x, 0.0, ask(x))
            ax.plot(x, ask(x), "o")
        else:
            ax.step(x, ask(x), where="post")
        ax.set_ylabel("probability")
        return ax
    beyond = 0.02 * (high - low) or 0.5
    x = np.linspace(low - beyond, high + beyond, CURVE)
    ax.plot(x, ask(x))
    ax.set_ylabel("density" if what == "density" else "probability")
    return ax


def draw_hypotheses(hypotheses: Hypotheses, what: str, ax: Axes | None) -> Axes:
    """The probabilities of hypotheses or outcomes as bars."""
    known_plot(what, ("posterior", "predictive"))
    bars = hypotheses.posterior if what == "posterior" else hypotheses.predictive
    ax = axes_of(ax)
    ax.bar([str(name) for name in bars], list(bars.values()))
    ax.set_ylabel("probability")
    return ax
