"""Row weights."""

import numpy as np
import pytest

import abduce

RNG = np.random.default_rng(0)
X = np.vstack([RNG.normal(size=(60, 2)), RNG.normal(6, 1, size=(40, 2))])
Y = np.repeat([0, 1], [60, 40])


@pytest.mark.parametrize("factor", [1e-12, 1e-8, 1e-3, 0.5])
@pytest.mark.parametrize(
    "estimator",
    [
        abduce.Mixture(2, random_state=0),
        abduce.Mixture(2, covariance="diagonal", random_state=0),
        abduce.Mixture(2, tails="student-t", random_state=0),
        abduce.GaussianMixture(2, random_state=0),
        abduce.KernelDensity(),
    ],
    ids=repr,
)
def test_a_common_factor_of_small_weights_changes_nothing(estimator, factor):
    weights = RNG.uniform(0.5, 1.0, size=100)
    expected = estimator.fit(X, sample_weight=weights).score_samples(X)
    found = estimator.fit(X, sample_weight=factor * weights).score_samples(X)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("factor", [1e-8, 0.5])
def test_a_common_factor_of_small_weights_does_not_change_classes(factor):
    for estimator in (abduce.NaiveBayes(), abduce.GaussianNB(), abduce.QuadraticDiscriminantAnalysis()):
        expected = estimator.fit(X, Y).predict_proba(X)
        found = estimator.fit(X, Y, sample_weight=np.full(100, factor)).predict_proba(X)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-300)


def test_integer_weights_equal_repetition():
    times = RNG.integers(1, 4, size=100)
    weighted = abduce.Mixture(1).fit(X, sample_weight=times).score_samples(X)
    repeated = abduce.Mixture(1).fit(X.repeat(times, axis=0)).score_samples(X)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-12)


def test_a_category_whose_rows_weigh_nothing_is_not_there():
    weighted = abduce.families.estimate("categorical", ["a", "b", "c", "a"], sample_weight=[1, 2, 0, 3])
    repeated = abduce.families.estimate("categorical", ["a", "b", "b", "a", "a", "a"])
    assert weighted["mean"] == repeated["mean"]
    assert list(weighted["mean"]) == ["a", "b"]
