"""Parameters may be NumPy scalars, and their defaults are those of the command line."""

import inspect
import json
import warnings

import numpy as np
import pandas
import pytest
from sklearn.model_selection import GridSearchCV

import abduce
from abduce import _core
from abduce._files import ESTIMATORS

RNG = np.random.default_rng(0)
X = np.abs(np.round(RNG.normal(size=(60, 3)) * 2))
Y = np.arange(60) % 2
NAMES = [name for names in ESTIMATORS.values() for name in names]
# Parameters without a numeric default, and a number that they accept.
NUMBERS = {"shrinkage": None, "n_jobs": 1, "random_state": 3, "n_components": 1, "min_categories": 5}


def numeric_parameters():
    for name in NAMES:
        for parameter, given in inspect.signature(getattr(abduce, name)).parameters.items():
            value = given.default
            if not isinstance(value, (bool, int, float)) or parameter in NUMBERS:
                value = NUMBERS.get(parameter)
            if value is not None and value == value:
                yield name, parameter, value


@pytest.mark.parametrize(("name", "parameter", "value"), list(numeric_parameters()))
def test_numpy_scalars_are_accepted_as_parameters(name, parameter, value):
    estimator = abduce.__getattr__(name)
    usual = {"n_clusters": 2} if name == "KMeans" else {"tol": 0.0} if name.startswith("Quad") else {}
    kinds = [np.bool_] if isinstance(value, bool) else [np.int64, np.int32] if isinstance(value, int) else []
    if isinstance(value, float):
        kinds = [np.float64, np.float32]
    for kind in kinds:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = estimator(**(usual | {parameter: kind(value)})).fit(X, Y)
        assert model._model is not None


def test_a_parameter_grid_may_be_an_arange():
    search = GridSearchCV(abduce.GaussianMixture(random_state=0), {"n_components": np.arange(1, 3)}).fit(X)
    assert search.best_params_["n_components"] in (1, 2)
    search = GridSearchCV(abduce.KMeans(random_state=0), {"n_clusters": np.arange(1, 3)}).fit(X)
    assert search.best_params_["n_clusters"] == 2


@pytest.mark.parametrize(
    ("name", "parameter", "place"),
    [
        ("Mixture", "smoothing", ("specification", "smoothing")),
        ("Mixture", "variance_floor", ("specification", "variance_floor")),
        ("Mixture", "tol", ("options", "em", "tolerance")),
        ("Mixture", "max_iter", ("options", "em", "max_iterations")),
        ("Mixture", "n_init", ("options", "restarts")),
        ("MixtureImputer", "tol", ("options", "em", "tolerance")),
        ("MixtureImputer", "n_init", ("options", "restarts")),
        ("NaiveBayes", "smoothing", ("specification", "smoothing")),
        ("NaiveBayes", "class_smoothing", ("specification", "weight_smoothing")),
        ("NaiveBayes", "variance_floor", ("specification", "variance_floor")),
    ],
)
def test_defaults_are_those_of_the_library(name, parameter, place):
    default = json.loads(_core.defaults("naive-bayes" if name == "NaiveBayes" else "mixture"))
    for key in place:
        default = default[key]
    assert inspect.signature(getattr(abduce, name)).parameters[parameter].default == default


@pytest.mark.parametrize("name", ["Mixture", "MixtureImputer"])
def test_counts_are_independent_and_levels_are_not_smoothed(name):
    import pandas

    frame = pandas.DataFrame(
        {"x": RNG.normal(size=90), "visits": RNG.poisson(2.0, size=90), "colour": ["r", "g", "b"] * 30}
    )
    model = getattr(abduce, name)(1, random_state=0).fit(frame)
    assert model.families_ == {"x": "multivariate", "visits": "poisson", "colour": "categorical"}
    leaves = {leaf["columns"][0]: leaf["components"][0] for leaf in model.parameters_}
    np.testing.assert_allclose(leaves["colour"]["probabilities"], 1 / 3, atol=1e-12)
    assert json.loads(model._model.part("provenance"))["specification"]["smoothing"] == 0.0


CLASSIFIERS = [name for kind in ("naive-bayes", "gda") for name in ESTIMATORS[kind]]


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_the_weight_of_unlabelled_rows_may_be_given(name):
    usual = {"tol": 0.0} if name.startswith("Quad") else {"min_categories": 9} if name.startswith("Cat") else {}
    labels = [None if n % 3 else int(y) for n, y in enumerate(Y)]
    seen = np.array([label is not None for label in labels])
    estimator = getattr(abduce, name)
    model = estimator(unlabelled=0, **usual).fit(X, labels)
    alone = estimator(**usual).fit(X[seen], Y[seen])
    # The share of the variance depends on all rows.
    tolerance = 1e-6 if name == "GaussianNB" else 1e-9
    np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(X), rtol=tolerance, atol=1e-12)
    if name != "ComplementNB":
        model = estimator(unlabelled=0.25, **usual).fit(X, labels)
        assert model.fit_report_["unlabelled_weight"] == 0.25
        assert model.class_count_.sum() == pytest.approx(seen.sum() + 0.25 * (~seen).sum())
    for wrong in (-0.1, 1.5, "much"):
        with pytest.raises(ValueError, match="unlabelled"):
            estimator(unlabelled=wrong, **usual).fit(X, labels)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_classifier_reports_the_weight_of_unlabelled_rows(name):
    usual = {"tol": 0.0} if name.startswith("Quad") else {}
    labels = [None if n % 3 else int(y) for n, y in enumerate(Y)]
    weight = getattr(abduce, name)(**usual).fit(X, labels).fit_report_["unlabelled_weight"]
    assert (weight is None) if name == "ComplementNB" else 0 <= weight <= 1


def test_smoothing_may_be_an_m_estimate():
    frame = pandas.DataFrame({"c": ["a", "a", "b", "c", "a", "b"]})
    labels = [0, 0, 0, 1, 1, 1]
    model = abduce.NaiveBayes(smoothing="m=2").fit(frame, labels)
    # (n_l + m/3) / (n + m) of three rows and three levels.
    assert model.query("P(c=a | y=0)") == pytest.approx((2 + 2 / 3) / 5)
    pooled = abduce.NaiveBayes(smoothing="m=2,pooled").fit(frame, labels)
    assert pooled.query("P(c=a | y=0)") == pytest.approx((2 + 2 * 3 / 6) / 5)
    mixture = abduce.Mixture(1, smoothing="m=3").fit(frame)
    assert mixture.query("P(c=c)") == pytest.approx((1 + 1) / 9)
    for wrong in ("laplac", "m=", "m=-1", "m=two", "m=nan", "m=2,shared"):
        for model in (abduce.NaiveBayes(smoothing=wrong), abduce.Mixture(smoothing=wrong)):
            with pytest.raises(ValueError, match=r'smoothing is a number, "m=2" or "m=2,pooled"'):
                model.fit(frame, labels)


def test_a_mixture_accepts_the_prior_of_mclust(tmp_path):
    rows = RNG.normal(size=(80, 2))
    plain, mclust = (abduce.Mixture(1, prior=prior, random_state=0).fit(rows) for prior in (None, "mclust"))
    # The mode of mclust's posterior; the prior mean is that of the rows.
    scatter = np.cov(rows.T, bias=True) * 80
    expected = (np.cov(rows.T) + scatter) / (4 + 2 + 2 + 80)
    (found,) = mclust.parameters_[0]["components"]
    np.testing.assert_allclose(np.reshape(found["covariance"]["full"], (2, 2)), expected, rtol=1e-6)
    written = abduce.Mixture(1, prior="normal-inverse-wishart(0.01,4)", random_state=0).fit(rows)
    np.testing.assert_allclose(written.score_samples(rows), mclust.score_samples(rows))
    assert not np.allclose(plain.score_samples(rows), mclust.score_samples(rows))
    mclust.save(tmp_path / "model.abduce")
    assert abduce.load(tmp_path / "model.abduce").get_params()["prior"] == "mclust"
    assert abduce.Mixture([1, 2], prior="mclust", random_state=0).fit(rows).n_components_ in (1, 2)
    for wrong in ("wishart", "normal-inverse-wishart(-1)", "normal-inverse-wishart(1,0)", "normal-inverse-wishart(a)"):
        with pytest.raises(ValueError, match="prior is mclust, normal-inverse-wishart"):
            abduce.Mixture(prior=wrong).fit(rows)
