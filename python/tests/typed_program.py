"""A user's program that runs and that mypy checks: every type is asserted, and wrong calls are errors.

An unused `ignore` is an error too, so this file fails if a type becomes Any.
"""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import abduce
from abduce import bayes, families
from abduce.cluster import KMeans
from abduce.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from abduce.impute import GaussianImputer, MixtureImputer
from abduce.mixture import GaussianMixture, Mixture
from abduce.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB, NaiveBayes
from abduce.neighbors import KernelDensity

Floats = NDArray[np.float64]
X: Floats = np.random.default_rng(0).normal(size=(50, 2))
Y: NDArray[np.int64] = (X[:, 0] > 0).astype(np.int64)


def classifiers() -> None:
    """A classifier returns arrays, and its changes return the classifier."""
    model = GaussianNB(var_smoothing=1e-9, n_jobs=2)
    assert_type(model.fit(X, Y), GaussianNB)
    missing: list[list[float | None]] = [[0.0, None], [1.0, 2.0], [2.0, 3.0]]
    assert_type(model.fit(missing, ["a", None, "b"]), GaussianNB)
    assert_type(model.fit(X, Y, sample_weight=np.ones(50)).partial_fit(X, Y), GaussianNB)
    assert_type(model.predict_proba(X), Floats)
    assert_type(model.predict(X), NDArray[Any])
    assert_type(model.theta_, Floats)
    assert_type(model.merge(model), GaussianNB)
    assert_type(model.explain(X, 3), dict[str, Any])
    # A frame if a frame was fitted; the type of an answer depends on the question.
    assert_type(model.draw(5, given={"y": 1}), dict[str, NDArray[Any]] | Any)
    assert_type(model.trace_, Floats)
    # Items of an answer are accessible without narrowing.
    assert_type(model.query("MAP(y | x0=1)"), dict[Any, Any] | Any)
    assert_type(CategoricalNB(min_categories=5).fit(abs(X), Y).feature_log_prob_, list[Floats])
    assert_type(BernoulliNB(binarize=0.0).fit(X, Y), BernoulliNB)
    assert_type(NaiveBayes(kinds={"x0": "real"}).fit(X, Y).class_prior_, Floats)
    assert_type(MultinomialNB(alpha=[0.5, 1.0]).fit(abs(X), Y).feature_log_prob_, Floats)
    linear = LinearDiscriminantAnalysis(n_components=1).fit(X, Y)
    assert_type(linear.covariance_, Floats)
    assert_type(linear.transform(X), Floats)
    assert_type(linear.explained_variance_ratio_, Floats)
    quadratic = QuadraticDiscriminantAnalysis(reg_param=0.1).fit(X, Y)
    assert_type(quadratic.covariance_, list[Floats])
    assert_type(quadratic.rotations_, list[Floats])


def others() -> None:
    """Mixtures, clusters, densities and imputers."""
    mixture = GaussianMixture(range(1, 3), covariance_type="diag").fit(X)
    assert_type(mixture, GaussianMixture)
    assert_type(mixture.means_, Floats)
    assert_type(mixture.predict(X), NDArray[np.int64])
    assert_type(mixture.score_samples(X), NDArray[np.floating])
    assert_type(mixture.bic(X), float)
    assert_type(mixture.sample(3), tuple[Floats, NDArray[np.int64]])
    assert_type(Mixture(2).fit(X), Mixture)
    clusters = KMeans(2, random_state=np.random.RandomState(0)).fit(X)
    assert_type(clusters.inertia_, float)
    assert_type(clusters.predict(X), NDArray[np.int32])
    assert_type(clusters.fit_transform(X), NDArray[np.floating])
    density = KernelDensity(bandwidth="scott").fit(X)
    assert_type(density.score_samples(X), Floats)
    assert_type(GaussianImputer(how="draw").fit(X).n_iter_, int)
    assert_type(MixtureImputer(2).fit(X), MixtureImputer)
    assert_type(MixtureImputer(add_indicator=True).fit(X).get_feature_names_out(), NDArray[np.object_])
    assert_type(abduce.GaussianMixture(1).fit(X), GaussianMixture)


def beliefs() -> None:
    """Distributions and hypotheses."""
    distribution = families.gamma(2, 0.5)
    assert_type(distribution, families.Distribution)
    assert_type(distribution.mean, float | None)
    assert_type(distribution.interval(0.9), tuple[float, float])
    assert_type(families.estimate("gaussian", X[:, 0]), dict[str, Any])
    test = bayes.Hypotheses({"cancer": 0.008, "healthy": 0.992}, {"positive": [0.98, 0.03]})
    assert_type(test.observe("positive"), dict[Any, float])
    assert_type(test.log_evidence, float)


def mistakes() -> None:
    """Errors that a type checker finds."""
    GaussianMixture("two")  # type: ignore[arg-type]
    GaussianMixture(2, covariance_type="diagonal")  # type: ignore[arg-type]
    GaussianMixture(2, components=3)  # type: ignore[call-arg]
    GaussianNB().fit(X)  # type: ignore[call-arg]
    GaussianNB().fit(None, Y)  # type: ignore[arg-type]
    KMeans(2).fit(X).predict()  # type: ignore[call-arg]
    LinearDiscriminantAnalysis(shrinkage=0.5)  # type: ignore[arg-type]
    CategoricalNB(alpha=[0.5, 1.0])  # type: ignore[arg-type]
    MixtureImputer(how="median")  # type: ignore[arg-type]
    KernelDensity(kernel="box")  # type: ignore[arg-type]
    bayes.Hypotheses({"a": 1.0}, {"x": [1.0]}).observe("x", times="twice")  # type: ignore[arg-type]
    abduce.GaussianMixtures  # type: ignore[attr-defined]  # noqa: B018


if __name__ == "__main__":
    classifiers()
    others()
    beliefs()
