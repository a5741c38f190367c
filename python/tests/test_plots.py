"""Plots show the numbers of the model, and only plots import matplotlib."""

import subprocess
import sys

import matplotlib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.contour import QuadContourSet
from matplotlib.figure import Figure

from abduce import bayes, families
from abduce._plots import SHARES
from abduce.cluster import KMeans
from abduce.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from abduce.impute import GaussianImputer, MixtureImputer
from abduce.mixture import GaussianMixture, Mixture
from abduce.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, NaiveBayes
from abduce.neighbors import KernelDensity

X, Y = load_iris(return_X_y=True)
NAMES = ["a", "b", "c", "d"]
CLASSES = [
    GaussianNB(),
    BernoulliNB(binarize=3.0),
    CategoricalNB(),
    MultinomialNB(),
    ComplementNB(),
    NaiveBayes(),
    LinearDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(),
    GaussianMixture(3, random_state=0),
    Mixture(3, random_state=0),
    KMeans(3, random_state=0),
]
DENSITIES = [
    GaussianMixture(3, random_state=0),
    Mixture(2, random_state=0),
    KernelDensity(bandwidth=0.5),
    GaussianNB(),
    QuadraticDiscriminantAnalysis(),
]


@pytest.fixture
def ax():
    return Figure().subplots()


@pytest.fixture(autouse=True)
def no_figure_stays():
    yield
    pyplot.close("all")


def by_name(value):
    return type(value).__name__


def points_of(ax):
    """The points of each class, by its label."""
    return {
        collection.get_label(): np.asarray(collection.get_offsets())
        for collection in ax.collections
        if collection.get_label()[0] != "_"
    }


@pytest.mark.parametrize("estimator", CLASSES, ids=by_name)
@pytest.mark.parametrize("features", [(0, 1), (2, 3)])
def test_points_are_grouped_by_predicted_class(estimator, features, ax):
    model = clone(estimator).fit(X, Y)
    assert model.plot(X, features=features, ax=ax) is ax
    found = points_of(ax)
    predicted = model.predict(X)
    assert set(found) == {str(label) for label in predicted}
    for label in np.unique(predicted):
        np.testing.assert_array_equal(found[str(label)], X[predicted == label][:, features])


@pytest.mark.parametrize("estimator", CLASSES, ids=by_name)
def test_regions_are_the_predictions_of_their_points(estimator, ax):
    model = clone(estimator).fit(X[:, :2], Y)
    model.plot(X[:, :2], what="classification", ax=ax)
    (mesh,) = [collection for collection in ax.collections if isinstance(collection, matplotlib.collections.QuadMesh)]
    x, y = (np.unique(axis) for axis in np.moveaxis(mesh.get_coordinates(), -1, 0))
    middles = np.meshgrid((x[1:] + x[:-1]) / 2, (y[1:] + y[:-1]) / 2)
    grid = np.column_stack([middle.ravel() for middle in middles])
    if isinstance(model, (BernoulliNB, CategoricalNB)):
        grid = np.clip(grid, X[:, :2].min(axis=0), X[:, :2].max(axis=0))
    agreeing = np.mean(mesh.get_array().ravel() == model.predict(grid))
    # At the border of two regions, rounding decides.
    assert agreeing > 0.99


def test_regions_depend_only_on_the_drawn_columns(ax):
    model = GaussianNB().fit(X, Y)
    model.plot(X, features=(1, 3), ax=ax)
    pair = GaussianNB().fit(X[:, [1, 3]], Y)
    other = pair.plot(X[:, [1, 3]])
    meshes = [drawn.collections[0].get_array() for drawn in (ax, other)]
    np.testing.assert_array_equal(*meshes)
    # A model that does not support missing values has no regions in some of its columns.
    counts = MultinomialNB().fit(X, Y).plot(X)
    assert not [
        collection for collection in counts.collections if isinstance(collection, matplotlib.collections.QuadMesh)
    ]


def test_symbols_are_larger_where_the_class_is_less_probable(ax):
    model = GaussianNB().fit(X, Y)
    model.plot(X, "uncertainty", ax=ax)
    sizes = np.full(len(X), np.nan)
    predicted = model.predict(X)
    for collection in ax.collections[1:]:
        sizes[predicted == int(collection.get_label())] = collection.get_sizes()
    np.testing.assert_allclose(sizes, 4 + 196 * (1 - model.predict_proba(X).max(axis=1)))


def test_centers_are_those_of_the_model(ax):
    model = KMeans(3, random_state=0).fit(X)
    model.plot(X, features=(2, 0), ax=ax)
    np.testing.assert_array_equal(ax.lines[0].get_xydata(), model.cluster_centers_[:, [2, 0]])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x2", "x0")


@pytest.mark.parametrize("estimator", DENSITIES, ids=by_name)
@pytest.mark.parametrize("given", [True, False])
def test_contours_are_at_their_density_levels(estimator, given, ax):
    model = clone(estimator).fit(X, Y)
    model.plot(X if given else None, what="density", features=(0, 2), ax=ax)
    (contours,) = [collection for collection in ax.collections if isinstance(collection, QuadContourSet)]
    assert len(contours.levels) == len(SHARES)
    for level, path in zip(contours.levels, contours.get_paths(), strict=True):
        rows = np.full((len(path.vertices), 4), np.nan)
        rows[:, [0, 2]] = path.vertices
        density = np.exp(model.score_samples(rows))
        # Lines are clipped at the border, and straight between the points of the grid.
        assert np.median(np.abs(density / level - 1)) < 0.02


def test_contours_contain_their_probabilities(ax):
    model = GaussianMixture(3, random_state=0).fit(X[:, :2])
    model.plot(what="density", ax=ax)
    (contours,) = [collection for collection in ax.collections if isinstance(collection, QuadContourSet)]
    drawn = model.draw(20_000, random_state=5)
    density = np.exp(model.score_samples(np.column_stack([drawn["x0"], drawn["x1"]])))
    for level, share in zip(contours.levels, SHARES, strict=True):
        assert np.mean(density > level) == pytest.approx(share, abs=0.03)


@pytest.mark.parametrize("estimator", DENSITIES, ids=by_name)
def test_the_curve_of_one_column_is_its_density(estimator, ax):
    model = clone(estimator).fit(X, Y)
    model.plot(X, what="density", features=2, ax=ax)
    x, y = ax.lines[0].get_data()
    rows = np.full((len(x), 4), np.nan)
    rows[:, 2] = x
    np.testing.assert_array_equal(y, np.exp(model.score_samples(rows)))
    assert 0.85 < np.trapezoid(y, x) < 1.0001
    np.testing.assert_array_equal(ax.lines[1].get_xdata(), X[:, 2])


@pytest.mark.parametrize("select", ["bic", "icl", "cv"])
def test_criteria_are_those_of_the_selection(select, ax):
    model = GaussianMixture(range(1, 5), select=select, random_state=0).fit(X)
    model.plot(what="criteria", ax=ax)
    selection = model._part("fit")["selection"]
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), [1, 2, 3, 4])
    values = np.array([candidate[select] for candidate in selection["tried"]])
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), values)
    assert ax.lines[1].get_xdata()[0] == len(model.weights_) == 1 + np.argmin(values)
    with pytest.raises(ValueError, match="no plot 'criteria'"):
        GaussianMixture(2).fit(X).plot(what="criteria")


@pytest.mark.parametrize(
    "estimator",
    [*CLASSES, *DENSITIES, GaussianImputer(), MixtureImputer(2, random_state=0)],
    ids=by_name,
)
def test_the_trace_of_every_model_can_be_drawn(estimator, ax):
    model = clone(estimator).fit(X, Y)
    model.plot(what="trace", ax=ax)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), model.trace_)
    assert ax.get_ylabel() == ("inertia" if isinstance(model, KMeans) else "log-likelihood")


FRAMES = [lambda frame: frame, pl.from_pandas, pa.Table.from_pandas]


@pytest.mark.parametrize("of", FRAMES, ids=["pandas", "polars", "pyarrow"])
def test_frames_are_drawn_by_the_names_of_their_columns(of, ax):
    frame = pd.DataFrame(X, columns=NAMES).assign(kind=np.array(["u", "v", "w"])[Y], count=Y * 2)
    frame.loc[3, "c"] = None
    mixed = of(frame)
    model = NaiveBayes(kinds={"count": "count"}).fit(mixed, Y)
    model.plot(mixed, features=("c", "count"), ax=ax)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("c", "count")
    drawn = sum(len(points) for points in points_of(ax).values())
    assert drawn == len(X) - 1
    mixture = Mixture(2, random_state=0).fit(mixed)
    mixture.plot(mixed, what="density", features=["a", "b"], ax=Figure().subplots())
    with pytest.raises(ValueError, match="'kind' has levels"):
        mixture.plot(mixed, features=("a", "kind"))


def test_sparse_rows_and_named_columns_are_drawn_without_warnings(recwarn, ax):
    rows = sp.csr_matrix(np.floor(X))
    model = MultinomialNB().fit(rows, Y)
    model.plot(rows, ax=ax)
    assert sum(len(points) for points in points_of(ax).values()) == len(X)
    frame = pd.DataFrame(X, columns=NAMES)
    GaussianNB().fit(frame, Y).plot(frame, features="c", ax=Figure().subplots())
    GaussianMixture(2).fit(frame).plot(frame, what="density", ax=Figure().subplots())
    assert not [str(warning.message) for warning in recwarn if "feature names" in str(warning.message)]


def test_more_classes_than_colours_are_drawn(ax):
    labels = np.arange(len(X)) % 12
    GaussianNB().fit(X, labels).plot(X, ax=ax)


def test_the_default_plot_is_the_first_available():
    assert GaussianMixture(2).fit(X).plot().get_xlabel() == "x0"
    assert KernelDensity().fit(X[:, :1]).plot().get_ylabel() == "density"
    assert GaussianNB().fit(X[:, :1], Y).plot().get_ylabel() == "density"
    assert MultinomialNB().fit(X, Y).plot().get_xlabel() == "iteration"
    assert GaussianImputer().fit(X).plot().get_xlabel() == "iteration"
    assert KMeans(2).fit(X).plot().get_ylabel() == "inertia"


@pytest.mark.parametrize(
    ("distribution", "what", "answers"),
    [(families.gamma(2, 0.5), "density", "pdf"), (families.gamma(2, 0.5), "cdf", "cdf")],
)
def test_a_curve_is_that_of_its_distribution(distribution, what, answers, ax):
    assert distribution.plot(what, ax=ax) is ax
    x, y = ax.lines[0].get_data()
    np.testing.assert_array_equal(y, getattr(distribution, answers)(x))
    assert x.max() > distribution.ppf(0.999)


def test_discrete_distributions_are_drawn_as_lines(ax):
    distribution = families.poisson(3.5)
    assert distribution.is_discrete and not families.gamma(2, 0.5).is_discrete
    distribution.plot(ax=ax)
    x, y = ax.lines[0].get_data()
    np.testing.assert_array_equal(x, np.arange(distribution.ppf(0.001), distribution.ppf(0.999) + 1))
    np.testing.assert_array_equal(y, distribution.pdf(x))


@pytest.mark.parametrize(
    "distribution",
    [families.beta(0.5, 0.5), families.bernoulli(0.3), families.uniform(0, 1), families.student_t(0, 1, 1)],
    ids=repr,
)
def test_unusual_distributions_are_drawn(distribution, ax):
    distribution.plot(ax=ax).figure.canvas.draw()


def test_bars_are_probabilities_of_hypotheses(ax):
    test = bayes.Hypotheses({"cancer": 0.008, "healthy": 0.992}, {"positive": [0.98, 0.03]})
    test.observe("positive")
    test.plot(ax=ax)
    assert [bar.get_height() for bar in ax.patches] == list(test.posterior.values())
    assert [label.get_text() for label in ax.get_xticklabels()] == ["cancer", "healthy"]
    bars = test.plot("predictive").patches
    assert [bar.get_height() for bar in bars] == list(test.predictive.values())


def test_given_axes_leave_pyplot_alone(ax):
    model = GaussianMixture(2, random_state=0).fit(X)
    settings = dict(matplotlib.rcParams)
    for what in ("classification", "uncertainty", "density", "trace"):
        model.plot(X, what, ax=ax)
    assert pyplot.get_fignums() == []
    assert dict(matplotlib.rcParams) == settings
    before = pyplot.figure().gca()
    assert model.plot(X) is not before
    assert not before.has_data()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"what": "circles"}, "classification, uncertainty, density, trace"),
        ({"what": "classification"}, "needs rows"),
        ({"what": "density", "features": (0, 0)}, "two different"),
        ({"what": "density", "features": (0, 1, 2)}, "one column or two"),
        ({"what": "density", "features": 7}, "no column 7"),
        ({"what": "density", "features": "z"}, "no column 'z'"),
    ],
)
def test_impossible_plots_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        GaussianMixture(2).fit(X).plot(**arguments)
    assert pyplot.get_fignums() == []


def test_an_unfitted_estimator_cannot_be_drawn():
    with pytest.raises(NotFittedError):
        GaussianMixture(2).plot(X)


def test_without_matplotlib_the_error_names_the_package_to_install():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from abduce.mixture import GaussianMixture\n"
        "from abduce import families\n"
        "model = GaussianMixture(1).fit([[0.0], [1.0], [2.0]])\n"
        "for plot in (model.plot, families.gamma(2, 0.5).plot):\n"
        "    try: plot()\n"
        "    except ImportError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["plots need matplotlib: pip install matplotlib"] * 2


@pytest.mark.parametrize(
    "estimator",
    [GaussianMixture(3, random_state=0), Mixture(3, random_state=0), KMeans(3, random_state=0)],
    ids=lambda value: type(value).__name__,
)
def test_rows_with_an_empty_column_are_drawn(estimator, ax):
    rows = np.column_stack([X[:, 0], np.full(len(X), np.nan), X[:, 2]])
    model = clone(estimator).fit(rows)
    model.plot(rows, ax=ax)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x0", "x2")
    assert len(ax.collections) >= 3
    middles = getattr(model, "cluster_centers_", getattr(model, "means_", None))
    if middles is not None:
        np.testing.assert_array_equal(ax.lines[0].get_xydata(), middles[:, [0, 2]])
    if hasattr(model, "score_samples"):
        model.plot(what="density", features=(0, 2))
        assert model.plot(what="density").get_ylabel() == "x2"
        with pytest.raises(ValueError, match="no row has a number in column 'x1'"):
            model.plot(what="density", features=1)


def test_columns_of_numbers_are_drawn_after_columns_of_levels():
    frame = pd.DataFrame({"kind": ["a", "b", "a", "b"], "x": [1.0, 2.0, 3.0, 4.0], "z": [0.0, 2.0, 1.0, 5.0]})
    ax = NaiveBayes().fit(frame, [0, 0, 1, 1]).plot(frame)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x", "z")
