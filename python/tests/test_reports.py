"""Reports of fitted models, warnings, and arguments beyond the memory of the machine."""

import json
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

import abduce
from abduce import families
from abduce._base import ProgressPosition
from abduce._files import ESTIMATORS

RNG = np.random.default_rng(0)
X = np.vstack([RNG.normal(size=(50, 2)), RNG.normal(6, 1, size=(50, 2))])
Y = np.repeat([0, 1], 50)


def test_a_fit_that_does_not_converge_warns_at_the_line_of_the_user():
    with pytest.warns(ConvergenceWarning, match="raise max_iter or tol") as caught:
        abduce.Mixture(3, max_iter=1, n_init=1, random_state=0).fit(X)
    assert caught[0].filename == __file__
    with pytest.warns(ConvergenceWarning) as caught:
        make_pipeline(abduce.Mixture(3, max_iter=1, n_init=1, random_state=0)).fit(X)
    assert caught[0].filename == __file__


def test_warnings_of_the_library_reach_the_user():
    constant = np.column_stack([X, np.ones(100)])
    with pytest.warns(UserWarning, match='column "x2" is constant'):
        model = abduce.NaiveBayes().fit(constant, Y)
    assert any("constant" in warning for warning in model.fit_report_["warnings"])


def test_loading_a_file_does_not_repeat_warnings(tmp_path):
    with pytest.warns(ConvergenceWarning):
        model = abduce.Mixture(3, max_iter=1, n_init=1, random_state=0).fit(X)
    model.save(tmp_path / "model.abduce")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert abduce.load(tmp_path / "model.abduce").fit_report_ == model.fit_report_


def test_a_report_has_the_results_of_the_fit():
    model = abduce.Mixture([1, 2, 3], random_state=0).fit(X)
    report = model.fit_report_
    assert report["components"] == model.n_components_ == 2
    assert report["bic"] == pytest.approx(model.bic(X))
    assert report["log_likelihood"] == pytest.approx(model.score(X) * 100)
    assert [candidate["components"] for candidate in model.criteria_] == [1, 2, 3]
    assert [candidate["components"] for candidate in model.criteria_ if candidate["chosen"]] == [2]
    assert min(model.criteria_, key=lambda candidate: candidate["bic"])["chosen"]
    assert report["columns"][0] == {"name": "x0", "kind": "real", "family": "multivariate"}


@pytest.mark.parametrize("name", [name for names in ESTIMATORS.values() for name in names])
def test_every_model_has_a_report(name):
    rows = np.abs(np.round(X)) % 4
    model = getattr(abduce, name)(**({"tol": 0.0} if name.startswith("Quad") else {})).fit(rows, Y)
    report = model.fit_report_
    assert report["rows"] == 100
    assert set(report) == set(abduce.GaussianNB().fit(X, Y).fit_report_)
    assert set(model.kinds_) >= {"x0", "x1"}
    assert [column["kind"] for column in report["columns"]] == list(model.kinds_.values())
    if name in ("KMeans", "KernelDensity"):
        assert model.parameters_ == []
        return
    assert {"x0", "x1"} <= set(model.families_)
    for leaf in model.parameters_:
        assert len(leaf["components"]) == report["components"]
    if hasattr(model, "classes_"):
        assert report["components"] == 2
    json.dumps(report)


def test_the_criteria_of_all_candidates_are_reported():
    for model in (abduce.GaussianMixture(range(1, 4), random_state=0), abduce.Mixture([1, 2, 3], random_state=0)):
        model.fit(X)
        assert model.criteria_ == model.fit_report_["selection"]
        for candidate in model.criteria_:
            assert {"components", "covariance", "bic", "aic", "icl", "log_likelihood", "chosen"} <= set(candidate)


def test_the_weight_of_unlabelled_rows_is_reported():
    labels = [None if n % 2 else int(y) for n, y in enumerate(Y)]
    weight = abduce.NaiveBayes().fit(X, labels).fit_report_["unlabelled_weight"]
    assert 0 <= weight <= 1


@pytest.mark.parametrize("n", [10**13, 2**63, 2**64, 10**30])
def test_more_rows_than_memory_are_refused(n):
    mixture = abduce.GaussianMixture(2, random_state=0).fit(X)
    for draw in (
        mixture.sample,
        mixture.draw,
        abduce.KernelDensity().fit(X).sample,
        lambda n: families.gamma(2, 1).rvs(n),
        lambda n: families.gamma(2, 1).rvs((n, 2)),
    ):
        with pytest.raises((MemoryError, OverflowError, ValueError)):
            draw(n)


def test_one_number_of_components_in_a_list_is_that_number():
    one, other = (abduce.GaussianMixture(k, random_state=0).fit(X) for k in (2, [2]))
    np.testing.assert_array_equal(one.means_, other.means_)
    one, other = (abduce.Mixture(k, random_state=0).fit(X) for k in (2, [2]))
    np.testing.assert_array_equal(one.score_samples(X), other.score_samples(X))


def test_progress_never_decreases_with_parallel_restarts():
    position, positions = ProgressPosition(), []
    for event in [("restart", 1, 4), ("iteration", 5, 9), ("restart", 3, 4), ("iteration", 1, 9), ("restart", 2, 4)]:
        positions.append(position.after(*event))
    assert positions == [(1, 4), (1, 4), (3, 4), (3, 4), (3, 4)]


def test_linear_discriminants_of_single_precision_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = abduce.LinearDiscriminantAnalysis().fit(X.astype(np.float32), Y)
        assert model.score(X.astype(np.float32), Y) == 1.0
        model.transform(X.astype(np.float32))


@pytest.mark.parametrize("n", [10**13, 2**70])
def test_sizes_beyond_memory_are_refused(n):
    rows = (X > 3).astype(int)
    with pytest.raises((ValueError, OverflowError, MemoryError)):
        abduce.CategoricalNB(min_categories=n).fit(rows, Y)
    with pytest.raises((ValueError, OverflowError, MemoryError)):
        abduce.GaussianMixture(n).fit(X)
    with pytest.raises((ValueError, OverflowError, MemoryError)):
        abduce.KMeans(n).fit(X)


def test_a_huge_number_of_iterations_is_accepted():
    assert abduce.Mixture(2, max_iter=10**13, random_state=0).fit(X).converged_
    assert abduce.KMeans(2, max_iter=10**13, random_state=0).fit(X).n_iter_ > 0
    with pytest.raises((ValueError, OverflowError)):
        abduce.Mixture(2, max_iter=2**70, random_state=0).fit(X)


@pytest.mark.parametrize("n", [10**7, 10**13, 2**63, 2**70])
def test_huge_numbers_of_starts_are_refused(n):
    for model in (
        abduce.Mixture(2, n_init=n),
        abduce.GaussianMixture(2, n_init=n),
        abduce.GaussianMixture([1, 2], n_init=n),
        abduce.KMeans(2, n_init=n),
        abduce.MixtureImputer(2, n_init=n),
    ):
        with pytest.raises((ValueError, OverflowError)):
            model.fit(X)


@pytest.mark.parametrize("n", [10**13, 2**62, 2**63, 2**70])
def test_huge_numbers_of_components_are_refused_or_reduced(n):
    for model in (
        abduce.Mixture(n, n_init=1, max_iter=3, random_state=0),
        abduce.MixtureImputer(n, n_init=1, max_iter=3),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model.fit(X[:20])
            except (ValueError, OverflowError, MemoryError):
                continue
        assert model.fit_report_["components"] <= 20
    for numbers in (range(1, n), range(n, n + 2), [1, n]):
        for model in (abduce.Mixture(numbers, n_init=1, max_iter=3), abduce.GaussianMixture(numbers, max_iter=3)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    model.fit(X[:20])
                except (ValueError, OverflowError, MemoryError):
                    continue


@pytest.mark.parametrize("n", [10**13, 2**62, 2**63, 2**70])
def test_huge_numbers_of_iterations_and_threads_are_accepted(n):
    for model in (
        abduce.GaussianMixture(2, max_iter=n, random_state=0),
        abduce.MixtureImputer(2, max_iter=n, n_init=1),
        abduce.KMeans(2, n_jobs=n, random_state=0),
        abduce.LinearDiscriminantAnalysis(n_components=n),
        abduce.KernelDensity(leaf_size=n),
    ):
        try:
            model.fit(X, Y)
        except (ValueError, OverflowError, MemoryError):
            continue
