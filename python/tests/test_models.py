"""Models can be saved, merged, updated and forget rows, and work in scikit-learn's tools."""

import json
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import abduce
from abduce import families
from abduce.cluster import KMeans
from abduce.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from abduce.impute import GaussianImputer
from abduce.mixture import GaussianMixture, Mixture
from abduce.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB, NaiveBayes
from abduce.neighbors import KernelDensity

X, Y = load_iris(return_X_y=True)
FITTED = [
    GaussianNB(),
    BernoulliNB(binarize=3.0),
    CategoricalNB(),
    MultinomialNB(),
    NaiveBayes(),
    LinearDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(),
    GaussianMixture(3, random_state=0),
    Mixture(3, random_state=0),
    KMeans(3, random_state=0),
    KernelDensity(bandwidth=0.5),
    GaussianImputer(),
]


def answers(model, rows=X):
    for name in ("predict_proba", "score_samples"):
        if hasattr(model, name):
            return getattr(model, name)(rows)
    return model.transform(rows)


@pytest.mark.parametrize("estimator", FITTED, ids=lambda value: type(value).__name__)
def test_files_and_pickles_keep_all_answers(estimator, tmp_path):
    model = clone(estimator).fit(X, Y)
    path = tmp_path / "model.abduce"
    model.save(path)
    for copy in (abduce.load(path), pickle.loads(pickle.dumps(model))):
        assert type(copy) is type(model)
        np.testing.assert_array_equal(answers(copy), answers(model))
        if hasattr(model, "predict"):
            np.testing.assert_array_equal(copy.predict(X), model.predict(X))


def test_files_and_pickles_of_sparse_models_keep_all_answers(tmp_path):
    rows = sp.csr_matrix(np.floor(X))
    model = MultinomialNB().fit(rows, Y)
    model.save(tmp_path / "model.abduce")
    np.testing.assert_array_equal(answers(abduce.load(tmp_path / "model.abduce"), rows), answers(model, rows))


def test_forgetting_equals_a_fit_without_the_rows():
    model = GaussianNB().fit(X, Y)
    model.forget(X[::5], Y[::5])
    kept = np.arange(len(X)) % 5 != 0
    never = GaussianNB(var_smoothing=0).fit(X[kept], Y[kept])
    np.testing.assert_allclose(model.theta_, never.theta_, rtol=1e-9)
    np.testing.assert_allclose(model.var_ - model.epsilon_, never.var_, rtol=1e-6)


@pytest.mark.parametrize("name", ["MultinomialNB", "BernoulliNB"])
def test_merging_equals_a_fit_to_all_rows(name):
    make = getattr(abduce, name)
    rows = np.floor(X)
    parts = [make().partial_fit(rows[i::2], Y[i::2], classes=[0, 1, 2]) for i in range(2)]
    np.testing.assert_allclose(
        parts[0].merge(parts[1]).feature_log_prob_, make().fit(rows, Y).feature_log_prob_, rtol=1e-12
    )


def test_grids_pipelines_and_calibration():
    pipeline = make_pipeline(StandardScaler(), GaussianNB())
    search = GridSearchCV(pipeline, {"gaussiannb__var_smoothing": [1e-9, 1e-2, 1.0]}, cv=3).fit(X, Y)
    assert search.best_score_ > 0.9
    mixtures = make_pipeline(StandardScaler(), GaussianMixture(random_state=0))
    search = GridSearchCV(mixtures, {"gaussianmixture__n_components": [1, 2, 3]}, cv=3).fit(X)
    assert np.isfinite(search.best_score_)
    calibrated = CalibratedClassifierCV(GaussianNB(), cv=3).fit(X, Y)
    np.testing.assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1.0)
    assert cross_val_score(GaussianNB(), X, Y).mean() > 0.9


def test_imputers_return_frames():
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    out = KMeans(3, random_state=0).set_output(transform="pandas").fit_transform(frame)
    assert list(out.columns) == ["kmeans0", "kmeans1", "kmeans2"]
    assert KMeans(3, random_state=0).fit(frame).cluster_centers_.shape == (3, 4)
    with pytest.raises(ValueError, match="feature names"):
        GaussianNB().fit(frame, Y).predict(frame[["b", "a", "c", "d"]])


def test_two_threads_may_fit_at_once_and_threads_change_nothing():
    found = {}

    def fit(jobs):
        found[jobs] = GaussianMixture(3, random_state=0, n_jobs=jobs).fit(X).means_

    threads = [threading.Thread(target=fit, args=(jobs,)) for jobs in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(found[1], found[2])
    np.testing.assert_array_equal(found[1], found[3])


def test_large_sparse_matrices_are_not_made_dense():
    rows, columns, each = 200_000, 100_000, 20
    rng = np.random.default_rng(0)
    indices = rng.integers(0, columns, rows * each)
    matrix = sp.csr_matrix((np.ones(rows * each), indices, np.arange(0, rows * each + 1, each)), (rows, columns))
    labels = rng.integers(0, 2, rows)
    model = MultinomialNB().fit(matrix, labels)
    assert model.predict(matrix[:1000]).shape == (1000,)


def test_invalid_input_raises_python_exceptions():
    with pytest.raises(ValueError, match="infinity"):
        GaussianNB().fit(np.where(X > 7, np.inf, X), Y)
    with pytest.raises(ValueError, match="no row has a label"):
        GaussianNB().fit(X, np.full(len(X), np.nan))
    with pytest.raises(ValueError, match="not an abduce model"):
        abduce.load(Path(__file__))
    with pytest.raises(OSError):
        abduce.load("there/is/none.abduce")


def test_the_package_imports_libraries_lazily():
    """Estimators are imported on first use."""
    code = (
        "import sys, abduce; print(sorted(m for m in sys.modules if m.split('.')[0] in ('sklearn', 'scipy', 'pandas')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_reports():
    model = GaussianMixture(2, random_state=0).fit(X)
    assert "log-likelihood" in model._repr_html_()
    assert np.all(np.diff(model.trace_) > -1e-6)
    assert json.loads(model._model.part("fit"))["rows"] == 150


def test_the_chosen_bandwidth_is_an_attribute(tmp_path):
    one = KernelDensity(bandwidth="isj").fit(X[:, :1])
    assert isinstance(one.bandwidth_, float)
    np.testing.assert_allclose(
        KernelDensity(bandwidth=one.bandwidth_).fit(X[:, :1]).score_samples(X[:, :1]), one.score_samples(X[:, :1])
    )
    several = KernelDensity(bandwidth="cv").fit(X)
    assert several.bandwidth_.shape == (4,)
    scaled = X / several.bandwidth_
    log_density = KernelDensity(bandwidth=1.0).fit(scaled).score_samples(scaled) - np.log(several.bandwidth_).sum()
    np.testing.assert_allclose(several.score_samples(X), log_density)
    assert KernelDensity(bandwidth=0.5).fit(X).bandwidth_ == 0.5
    several.save(tmp_path / "model.abduce")
    np.testing.assert_array_equal(abduce.load(tmp_path / "model.abduce").bandwidth_, several.bandwidth_)


def test_models_of_weighted_rows_can_be_merged():
    weights = np.linspace(0.5, 2.0, len(X))
    parts = [GaussianNB().fit(X[i::2], Y[i::2], weights[i::2]) for i in range(2)]
    whole = GaussianNB().fit(X, Y, weights)
    merged = parts[0].merge(parts[1])
    np.testing.assert_allclose(merged.theta_, whole.theta_)
    np.testing.assert_allclose(merged.var_, whole.var_, rtol=1e-6)
    assert merged.epsilon_ == max(part.epsilon_ for part in parts)
    with pytest.raises(ValueError, match="var_smoothing differs"):
        parts[0].merge(GaussianNB(var_smoothing=0.1).fit(X, Y, weights))


def test_distributions_with_equal_parameters_are_equal():
    assert families.gamma(2, 0.5) == families.gamma(2, 0.5) != families.gamma(2, 1)
    assert len({families.gamma(2, 0.5), families.gamma(2, 0.5), families.beta(2, 0.5)}) == 2


@pytest.mark.parametrize(
    "make", [GaussianNB, NaiveBayes, LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis], ids=str
)
def test_a_class_without_remaining_rows_is_removed(make):
    model = make().fit(X, Y).forget(X[:50], Y[:50])
    assert model.classes_.tolist() == [1, 2]
    np.testing.assert_allclose(model.predict_proba(X), make().fit(X[50:], Y[50:]).predict_proba(X), atol=1e-6)


def test_a_row_impossible_in_every_class_gets_the_class_weights():
    model = BernoulliNB(alpha=0).fit([[0, 0], [0, 1]], [0, 1])
    np.testing.assert_allclose(np.exp(model.predict_log_proba([[1, 1]])), model.predict_proba([[1, 1]]))


def test_covariance_structures_may_be_a_list():
    rows, _ = load_iris(return_X_y=True)
    listed = Mixture([1, 2], covariance=["EEE", "VVV"], random_state=0).fit(rows)
    named = Mixture([1, 2], covariance="EEE,VVV", random_state=0).fit(rows)
    assert listed.bic(rows) == named.bic(rows)


def test_bounds_of_parameters_may_be_a_dict():
    numbers = [1.0, 2.0, 4.0, 3.0]
    pairs = families.estimate("gaussian", numbers, above=[("mean", 3.0)])
    assert families.estimate("gaussian", numbers, above={"mean": 3.0}) == pairs
    assert families.estimate("gaussian", numbers, above=("mean", 3)) == pairs
