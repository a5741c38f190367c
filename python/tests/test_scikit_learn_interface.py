"""Estimators with scikit-learn's names have its parameters, methods, attributes and errors, and agree on tables of many shapes.

One table lists the differences and their reasons. Additional parameters and methods are not differences.
"""

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.cluster
import sklearn.discriminant_analysis
import sklearn.mixture
import sklearn.naive_bayes
import sklearn.neighbors
from sklearn.datasets import load_iris

import abduce

X, Y = load_iris(return_X_y=True)
MODULES = {
    "GaussianNB": "naive_bayes",
    "BernoulliNB": "naive_bayes",
    "CategoricalNB": "naive_bayes",
    "MultinomialNB": "naive_bayes",
    "ComplementNB": "naive_bayes",
    "LinearDiscriminantAnalysis": "discriminant_analysis",
    "QuadraticDiscriminantAnalysis": "discriminant_analysis",
    "GaussianMixture": "mixture",
    "KMeans": "cluster",
    "KernelDensity": "neighbors",
}
ACCEPTED = {
    ("KernelDensity", "tree_"): "the library has its own tree, which Python does not expose",
}
COUNTED = ["BernoulliNB", "MultinomialNB", "ComplementNB"]


def pair(name):
    """The class of this package and that of scikit-learn."""
    return getattr(abduce, name), getattr(getattr(sklearn, MODULES[name]), name)


def rows(name):
    return X.astype(int) if name == "CategoricalNB" else X


@pytest.mark.parametrize("name", MODULES)
def test_constructors_have_the_parameters_and_defaults_of_scikit_learn(name):
    ours, theirs = (inspect.signature(estimator).parameters for estimator in pair(name))
    for key, parameter in theirs.items():
        assert ours[key].default == parameter.default, key
        assert ours[key].kind == parameter.kind, key
    assert all(ours[key].kind == inspect.Parameter.KEYWORD_ONLY for key in ours if key not in theirs)


@pytest.mark.parametrize("name", MODULES)
def test_fitted_objects_have_the_methods_and_attributes_of_scikit_learn(name):
    frame = pd.DataFrame(rows(name), columns=list("abcd"))
    options = {"store_covariance": True} if "Discriminant" in name else {}
    ours, theirs = (estimator(**options).fit(frame, Y) for estimator in pair(name))
    for key in dir(theirs):
        if key.startswith("_") or (name, key) in ACCEPTED:
            continue
        value, other = getattr(ours, key), getattr(theirs, key)
        if not callable(other):
            assert without_rows(value) == without_rows(other), key
            continue
        value, other = inspect.signature(value).parameters, inspect.signature(other).parameters
        assert list(value)[: len(other)] == list(other), key
        for parameter in other:
            assert value[parameter].default == other[parameter].default, (key, parameter)


def without_rows(value):
    """A description of a value: the shape and type of an array, a list of descriptions, or a type."""
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype
    if isinstance(value, list):
        return [without_rows(item) for item in value[:1]]
    return type(value)


def same(value, other, tolerance=1e-8):
    if isinstance(other, list):
        assert len(value) == len(other)
        for a, b in zip(value, other, strict=True):
            same(a, b, tolerance)
        return
    value, other = np.asarray(value), np.asarray(other)
    assert value.shape == other.shape
    size = np.abs(other[np.isfinite(other)]).max(initial=1.0)
    np.testing.assert_allclose(value, other, rtol=tolerance, atol=tolerance * size)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "BernoulliNB", "CategoricalNB", "GaussianNB"])
def test_naive_bayes_agrees_with_scikit_learn_on_tables_of_many_shapes(name, seed):
    rng = np.random.default_rng(seed)
    count, width, classes = rng.integers(6, 60), rng.integers(1, 8), rng.integers(2, 4)
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, count)])
    labels = np.array(["a", "b", "c"])[y] if seed % 2 else y * 2.0 - 1
    # Some weights are 0, but not those of the first row of each class.
    weights = [None, np.concatenate([np.ones(classes), rng.integers(0, 3, count)]), rng.random(len(y)) + 0.1][seed % 3]
    options = {}
    if name == "GaussianNB":
        table = rng.normal(size=(len(y), width)) + y[:, None]
    elif name == "CategoricalNB":
        table = rng.integers(0, 4, (len(y), width))
    else:
        # Some columns are empty.
        table = rng.poisson(rng.random(width) * rng.integers(0, 3), (len(y), width)).astype(float)
        options = {"alpha": 0.3 if seed % 2 or name == "BernoulliNB" else rng.random(width) + 0.1}
        table = [lambda rows: rows, sp.csr_matrix, sp.csc_array][seed % 3](table)
    ours, theirs = (estimator(**options).fit(table, labels, weights) for estimator in pair(name))
    for key in (
        "classes_ class_count_ class_log_prior_ class_prior_ feature_count_ feature_log_prob_ feature_all_ "
        "category_count_ n_categories_ theta_ var_ epsilon_"
    ).split():
        if not hasattr(theirs, key):
            continue
        if key == "classes_":
            np.testing.assert_array_equal(ours.classes_, theirs.classes_)
        else:
            same(getattr(ours, key), getattr(theirs, key))
    for method in ("predict_joint_log_proba", "predict_log_proba", "predict_proba"):
        same(getattr(ours, method)(table), getattr(theirs, method)(table))


def test_every_column_may_have_its_own_smoothing():
    counts = np.random.default_rng(0).poisson(0.4, (40, 5)).astype(float)
    y = np.arange(40) % 2
    alpha = np.array([0.1, 2.0, 0.5, 1.0, 3.0])
    for table in (counts, sp.csr_matrix(counts)):
        # scikit-learn's BernoulliNB fails with an array; the expected formula is that for a number.
        model = abduce.BernoulliNB(alpha=alpha).fit(table, y)
        present = np.array([(counts[y == label] > 0).sum(axis=0) for label in (0, 1)])
        expected = np.log((present + alpha) / (20 + 2 * alpha))
        same(model.feature_log_prob_, expected)
    for name in COUNTED:
        for wrong in ([1.0, 2.0], -alpha):
            with pytest.raises(ValueError):
                pair(name)[0](alpha=wrong).fit(counts, y)


def test_matrices_keep_their_empty_columns_when_rows_are_forgotten():
    counts = sp.csr_matrix(np.array([[1.0, 0, 0], [2, 1, 0], [0, 3, 0], [1, 1, 4]]))
    y = np.array([0, 1, 0, 1])
    model = abduce.MultinomialNB().fit(counts, y).forget(counts[3:], y[3:])
    other = sklearn.naive_bayes.MultinomialNB().fit(counts[:3], y[:3])
    same(model.feature_log_prob_, other.feature_log_prob_)


def test_batches_may_have_new_categories():
    first, second = np.array([[0, 1], [1, 0], [0, 0]]), np.array([[3, 0], [1, 2], [0, 1]])
    ours, theirs = (estimator() for estimator in pair("CategoricalNB"))
    for model in (ours, theirs):
        model.partial_fit(first, [0, 1, 1], classes=[0, 1]).partial_fit(second, [1, 0, 1])
    same(ours.feature_log_prob_, theirs.feature_log_prob_)
    same(ours.category_count_, theirs.category_count_)
    same(ours.predict_proba(second), theirs.predict_proba(second))
    for model in (ours, theirs):
        with pytest.raises(IndexError):
            model.predict([[7, 0]])


@pytest.mark.parametrize("seed", range(12))
def test_discriminants_agree_with_scikit_learn_on_tables_of_many_shapes(seed):
    rng = np.random.default_rng(seed)
    classes, width = rng.integers(2, 5), rng.integers(2, 6)
    y = np.arange(30 + rng.integers(0, 40)) % classes
    table = rng.normal(size=(len(y), width)) @ rng.normal(size=(width, width)) + rng.normal(size=(classes, width))[y]
    priors = None if seed % 2 else rng.dirichlet(np.ones(classes))
    ours, theirs = (estimator(priors=priors, reg_param=0.2) for estimator in pair("QuadraticDiscriminantAnalysis"))
    for model in (ours, theirs):
        model.set_params(store_covariance=True).fit(table, y)
    same(ours.covariance_, theirs.covariance_)
    same(ours.scalings_, theirs.scalings_)
    same([abs(rotation) for rotation in ours.rotations_], [abs(rotation) for rotation in theirs.rotations_], 1e-6)
    for method in ("decision_function", "predict_proba", "predict_log_proba"):
        same(getattr(ours, method)(table), getattr(theirs, method)(table))
    # Some columns are constant or collinear.
    if seed % 3 == 1:
        table[:, 0] = 3.0
    elif seed % 3 == 2:
        table[:, 0] = 2 * table[:, 1]
    ours, theirs = (estimator(priors=priors).fit(table, y) for estimator in pair("LinearDiscriminantAnalysis"))
    for key in ("means_", "priors_", "xbar_", "coef_", "intercept_", "explained_variance_ratio_"):
        same(getattr(ours, key), getattr(theirs, key), 1e-7)
    same(abs(ours.scalings_), abs(theirs.scalings_), 1e-7)
    same(abs(ours.transform(table)), abs(theirs.transform(table)), 1e-7)
    same(ours.decision_function(table), theirs.decision_function(table), 1e-7)
    same(ours.predict_proba(table), theirs.predict_proba(table))
    np.testing.assert_array_equal(ours.predict(table), theirs.predict(table))


NONSENSE = [
    ("LinearDiscriminantAnalysis", {"n_components": 5}, X, Y),
    ("LinearDiscriminantAnalysis", {"shrinkage": 0.5}, X, Y),
    ("LinearDiscriminantAnalysis", {"priors": [-1, 1, 1]}, X, Y),
    ("LinearDiscriminantAnalysis", {}, X[:3], [0, 1, 2]),
    ("QuadraticDiscriminantAnalysis", {"shrinkage": 0.5}, X, Y),
    ("QuadraticDiscriminantAnalysis", {"reg_param": 2.0}, X, Y),
    ("QuadraticDiscriminantAnalysis", {}, X[:3], [0, 1, 1]),
    ("QuadraticDiscriminantAnalysis", {}, np.ones((6, 2)), [0, 1] * 3),
    ("QuadraticDiscriminantAnalysis", {}, X, np.zeros(150)),
    ("GaussianNB", {"priors": [0.5, 0.1, 0.1]}, X, Y),
    ("GaussianNB", {"var_smoothing": -1.0}, X, Y),
    ("MultinomialNB", {"alpha": -1.0}, X, Y),
    ("MultinomialNB", {}, -X, Y),
    ("CategoricalNB", {"alpha": [1.0, 1.0]}, X.astype(int), Y),
    ("CategoricalNB", {"min_categories": [1.5, 2, 2, 2]}, X.astype(int), Y),
    ("GaussianMixture", {"n_components": 200}, X, None),
    ("GaussianMixture", {"n_components": 2, "weights_init": [1.5, -0.5]}, X, None),
    ("GaussianMixture", {"n_components": 2, "precisions_init": np.ones((2, 4, 4))}, X, None),
    ("GaussianMixture", {"n_components": 2, "means_init": np.ones((2, 3))}, X, None),
    ("KMeans", {"n_clusters": 200}, X, None),
    ("KMeans", {"n_clusters": 2, "init": X[:3], "n_init": 1}, X, None),
    ("KernelDensity", {"bandwidth": -1.0}, X, None),
    ("KernelDensity", {"kernel": "box"}, X, None),
]
NONSENSE += [(name, {}, np.empty((0, 4)), np.empty(0)) for name in MODULES]


@pytest.mark.parametrize(("name", "options", "table", "y"), NONSENSE)
def test_invalid_input_raises_the_errors_of_scikit_learn(name, options, table, y):
    ours, theirs = pair(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(Exception) as expected:
            theirs(**options).fit(table, y)
        with pytest.raises(Exception) as found:
            ours(**options).fit(table, y)
    assert issubclass(found.type, ValueError if issubclass(expected.type, ValueError) else expected.type)


def test_unsupported_parameters_are_refused():
    for name, options in [
        ("LinearDiscriminantAnalysis", {"solver": "lsqr"}),
        ("LinearDiscriminantAnalysis", {"solver": "eigen", "shrinkage": "auto"}),
        ("QuadraticDiscriminantAnalysis", {"solver": "eigen"}),
    ]:
        with pytest.raises(NotImplementedError, match="svd"):
            pair(name)[0](**options).fit(X, Y)
    with pytest.raises(ValueError, match="metric"):
        abduce.KernelDensity(metric="manhattan").fit(X)


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_draws_of_a_mixture_come_from_their_components(kind):
    model = abduce.GaussianMixture(3, covariance_type=kind, random_state=0).fit(X)
    drawn, components = model.sample(30_000)
    assert (np.diff(components) >= 0).all()
    covariances = np.broadcast_to(model.covariances_, (3, 4, 4)) if kind in ("full", "tied") else None
    for j in range(3):
        rows = drawn[components == j]
        assert len(rows) / len(drawn) == pytest.approx(model.weights_[j], abs=0.02)
        np.testing.assert_allclose(rows.mean(axis=0), model.means_[j], atol=0.03)
        if covariances is not None:
            np.testing.assert_allclose(np.cov(rows.T), covariances[j], atol=0.03)
    np.testing.assert_array_equal(model.sample(5)[0], model.sample(5)[0])


@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csc_array])
def test_k_means_accepts_sparse_rows(form):
    start = X[[0, 60, 120]]
    ours, theirs = (estimator(3, init=start, n_init=1).fit(form(X)) for estimator in pair("KMeans"))
    same(ours.cluster_centers_, theirs.cluster_centers_)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    same(ours.transform(form(X)), theirs.transform(form(X)))
    np.testing.assert_array_equal(ours.predict(form(X)), ours.labels_)
