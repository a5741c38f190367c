"""Estimators with scikit-learn's names agree with scikit-learn: attributes, probabilities and predictions."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.naive_bayes as theirs
from sklearn.cluster import KMeans as TheirKMeans
from sklearn.datasets import load_iris, make_blobs
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as TheirLinear
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis as TheirQuadratic
from sklearn.mixture import GaussianMixture as TheirMixture
from sklearn.neighbors import KernelDensity as TheirDensity

import abduce.naive_bayes as ours
from abduce.cluster import KMeans
from abduce.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from abduce.mixture import GaussianMixture
from abduce.neighbors import KernelDensity

ROWS, WIDTH = 500, 20
RNG = np.random.default_rng(0)
LABELS = RNG.integers(0, 3, ROWS)
WEIGHTS = RNG.random(ROWS)
REALS = RNG.normal(size=(ROWS, WIDTH)) + 0.3 * LABELS[:, None]
COUNTS = RNG.poisson(1 + LABELS[:, None] * RNG.random(WIDTH) * 2, (ROWS, WIDTH)).astype(float)
YES_NO = (COUNTS > 1).astype(float)
LEVELS = RNG.integers(0, 4, (ROWS, WIDTH))
COUNTED = ["feature_log_prob_", "class_log_prior_", "class_count_", "feature_count_"]

NAIVE = [
    ("GaussianNB", {}, REALS, ["theta_", "var_", "class_prior_", "class_count_", "epsilon_"]),
    ("GaussianNB", {"priors": [0.2, 0.3, 0.5], "var_smoothing": 1e-3}, REALS, ["theta_", "var_", "class_prior_"]),
    ("GaussianNB", {}, REALS.astype(np.float32), ["class_prior_"]),
    ("GaussianNB", {}, np.asfortranarray(REALS), ["theta_", "var_"]),
    ("BernoulliNB", {"alpha": 0.5}, YES_NO, COUNTED),
    ("BernoulliNB", {"binarize": 1.0, "fit_prior": False}, COUNTS, COUNTED),
    ("BernoulliNB", {"alpha": 0.5}, sp.csr_matrix(YES_NO), COUNTED),
    ("MultinomialNB", {"alpha": 0.5}, COUNTS, COUNTED),
    ("MultinomialNB", {"class_prior": [0.2, 0.3, 0.5]}, sp.csr_array(COUNTS), COUNTED),
    ("MultinomialNB", {}, sp.csc_matrix(COUNTS * 0.37), COUNTED),
    ("ComplementNB", {"alpha": 0.5}, COUNTS, COUNTED),
    ("ComplementNB", {"norm": True}, sp.csr_matrix(COUNTS), COUNTED),
    ("CategoricalNB", {"min_categories": 6}, LEVELS, ["feature_log_prob_", "class_log_prior_", "category_count_"]),
]


def close(a, b):
    if isinstance(a, list):
        for array, other in zip(a, b, strict=True):
            close(array, other)
    else:
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-8)


def agree(a, b, X, attributes):
    for name in attributes:
        close(getattr(a, name), getattr(b, name))
    for method in ("predict_joint_log_proba", "predict_log_proba", "predict_proba"):
        close(getattr(a, method)(X), getattr(b, method)(X))
    np.testing.assert_array_equal(a.predict(X), b.predict(X))


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weighted"])
@pytest.mark.parametrize(("name", "parameters", "X", "attributes"), NAIVE)
def test_naive_bayes_agrees_with_scikit_learn(name, parameters, X, attributes, weights):
    a = getattr(ours, name)(**parameters).fit(X, LABELS, weights)
    b = getattr(theirs, name)(**parameters).fit(X, LABELS, weights)
    if X.dtype == np.float32:
        np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), rtol=1e-3, atol=1e-5)
        return
    agree(a, b, X, attributes)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("priors", [None, "given"])
def test_discriminants_agree_with_scikit_learn(classes, priors):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < classes], y[y < classes]
    given = None if priors is None else np.arange(1, classes + 1) / np.arange(1, classes + 1).sum()
    a = LinearDiscriminantAnalysis(priors=given).fit(X, y)
    b = TheirLinear(priors=given).fit(X, y)
    for name in ("means_", "priors_", "coef_", "intercept_", "xbar_"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-6, atol=1e-8)
    for method in ("predict_proba", "decision_function"):
        np.testing.assert_allclose(getattr(a, method)(X), getattr(b, method)(X), rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(a.predict(X), b.predict(X))
    a = QuadraticDiscriminantAnalysis(priors=given).fit(X, y)
    b = TheirQuadratic(priors=given, store_covariance=True).fit(X, y)
    for covariance, other in zip(a.covariance_, b.covariance_, strict=True):
        close(covariance, other)
    for method in ("predict_proba", "decision_function"):
        np.testing.assert_allclose(getattr(a, method)(X), getattr(b, method)(X), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize(
    ("name", "X"),
    [
        ("GaussianNB", REALS),
        ("BernoulliNB", YES_NO),
        ("MultinomialNB", COUNTS),
        ("ComplementNB", sp.csr_matrix(COUNTS)),
    ],
)
def test_partial_fit_agrees_with_scikit_learn(name, X):
    a, b = getattr(ours, name)(), getattr(theirs, name)()
    for start in range(0, ROWS, 100):
        for model in (a, b):
            model.partial_fit(X[start : start + 100], LABELS[start : start + 100], classes=[0, 1, 2])
    agree(a, b, X, COUNTED if name != "GaussianNB" else ["theta_", "var_", "class_prior_", "class_count_"])


IRIS = load_iris(return_X_y=True)[0]
BLOBS = make_blobs(800, n_features=5, centers=4, random_state=3, cluster_std=1.5)[0]


def matched(a, b):
    """For each mean in `a`, the nearest in `b`."""
    return np.argmin(((a[:, None] - b[None]) ** 2).sum(-1), axis=1)


@pytest.mark.parametrize(("X", "k"), [(IRIS, 3), (BLOBS, 4)], ids=["iris", "blobs"])
@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_gaussian_mixtures_agree_with_scikit_learn(X, k, kind):
    a = GaussianMixture(k, covariance_type=kind, random_state=0).fit(X)
    b = TheirMixture(k, covariance_type=kind, random_state=0).fit(X)
    order = matched(a.means_, b.means_)
    assert sorted(order) == list(range(k))
    assert a.n_iter_ == b.n_iter_
    assert a.converged_ == b.converged_
    close(a.means_, b.means_[order])
    close(a.weights_, b.weights_[order])
    for name in ("covariances_", "precisions_", "precisions_cholesky_"):
        other = getattr(b, name)
        np.testing.assert_allclose(getattr(a, name), other if kind == "tied" else other[order], rtol=1e-7, atol=1e-8)
    close(a.lower_bound_, b.lower_bound_)
    close(a.score_samples(X), b.score_samples(X))
    close(a.predict_proba(X), b.predict_proba(X)[:, order])
    close([a.bic(X), a.aic(X), a.score(X)], [b.bic(X), b.aic(X), b.score(X)])


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_given_starts_agree_with_scikit_learn(kind):
    precisions = {"full": [np.eye(4) * j for j in (1, 2, 3)], "tied": np.eye(4) * 2, "diag": np.full((3, 4), 2.0)}
    options = {
        "covariance_type": kind,
        "means_init": IRIS[[0, 60, 120]],
        "weights_init": [0.5, 0.3, 0.2],
        "precisions_init": precisions.get(kind, [1.0, 2.0, 3.0]),
        "max_iter": 7,
        "tol": 0,
    }
    with pytest.warns(UserWarning):
        a = GaussianMixture(3, random_state=0, **options).fit(IRIS)
    with pytest.warns(UserWarning):
        b = TheirMixture(3, random_state=0, **options).fit(IRIS)
    close(a.means_, b.means_)
    close(a.lower_bound_, b.lower_bound_)


@pytest.mark.parametrize(("X", "k"), [(IRIS, 3), (BLOBS, 4)], ids=["iris", "blobs"])
def test_k_means_agrees_with_scikit_learn(X, k):
    start = X[[0, 60, 120, 1][:k]]
    a, b = (estimator(k, init=start, n_init=1).fit(X) for estimator in (KMeans, TheirKMeans))
    assert a.n_iter_ == b.n_iter_
    close(a.cluster_centers_, b.cluster_centers_)
    close(a.inertia_, b.inertia_)
    np.testing.assert_array_equal(a.labels_, b.labels_)
    close(a.transform(X), b.transform(X))
    close(a.score(X), b.score(X))
    weights = np.linspace(0.1, 2, len(X))
    a, b = (estimator(k, init=start, n_init=1).fit(X, sample_weight=weights) for estimator in (KMeans, TheirKMeans))
    close(a.cluster_centers_, b.cluster_centers_)
    assert KMeans(k, random_state=0).fit(X).inertia_ <= 1.01 * TheirKMeans(k, random_state=0, n_init=10).fit(X).inertia_


@pytest.mark.parametrize("kernel", ["gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"])
@pytest.mark.parametrize("bandwidth", [0.5, "scott", "silverman"])
def test_kernel_densities_agree_with_scikit_learn(kernel, bandwidth):
    # scikit-learn's cosine kernel is not normalized for several columns.
    points = IRIS[:, :1] if kernel == "cosine" else IRIS
    a = KernelDensity(kernel=kernel, bandwidth=bandwidth).fit(points)
    b = TheirDensity(kernel=kernel, bandwidth=bandwidth).fit(points)
    assert a.bandwidth_ == pytest.approx(b.bandwidth_)
    found, exact = a.score_samples(points + 0.01), b.score_samples(points + 0.01)
    seen = np.isfinite(exact)
    np.testing.assert_allclose(found[seen], exact[seen], rtol=1e-8, atol=1e-8)
    assert (found[~seen] == -np.inf).all()


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("init", ["random", "random_from_data"])
def test_random_starts_agree_with_scikit_learn(kind, init):
    if (kind, init) == ("tied", "random_from_data"):
        pytest.skip("scikit-learn begins with all rows over the number of components for a variance")
    options = {"covariance_type": kind, "init_params": init, "random_state": 4, "n_init": 3, "max_iter": 40}
    a = GaussianMixture(3, **options).fit(BLOBS)
    b = TheirMixture(3, **options).fit(BLOBS)
    np.testing.assert_allclose(a.lower_bound_, b.lower_bound_, rtol=1e-8)
    # If several starts converge to the same fit, rounding decides which is the best.
    order = matched(a.means_, b.means_)
    np.testing.assert_allclose(a.means_, b.means_[order], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(a.weights_, b.weights_[order], rtol=1e-4)
    single = options | {"n_init": 1}
    a, b = GaussianMixture(3, **single).fit(BLOBS), TheirMixture(3, **single).fit(BLOBS)
    assert a.n_iter_ == b.n_iter_
    close(a.means_, b.means_)
