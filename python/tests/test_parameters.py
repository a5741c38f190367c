"""Parameters: NumPy's scalars are numbers, and defaults are those of the command line."""

import inspect
import json
import warnings

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

import abduce
from abduce import _core
from abduce._files import ESTIMATORS

RNG = np.random.default_rng(0)
X = np.abs(np.round(RNG.normal(size=(60, 3)) * 2))
Y = np.arange(60) % 2
NAMES = [name for names in ESTIMATORS.values() for name in names]
# Parameters whose default is no number, and one that they take.
NUMBERS = {"shrinkage": None, "n_jobs": 1, "random_state": 3, "n_components": 1, "min_categories": 5}


def numeric_parameters():
    for name in NAMES:
        for parameter, own in inspect.signature(getattr(abduce, name)).parameters.items():
            value = own.default
            if not isinstance(value, (bool, int, float)) or parameter in NUMBERS:
                value = NUMBERS.get(parameter)
            if value is not None and value == value:
                yield name, parameter, value


@pytest.mark.parametrize(("name", "parameter", "value"), list(numeric_parameters()))
def test_scalars_of_numpy_are_numbers(name, parameter, value):
    own = abduce.__getattr__(name)
    usual = {"n_clusters": 2} if name == "KMeans" else {"tol": 0.0} if name.startswith("Quad") else {}
    kinds = [np.bool_] if isinstance(value, bool) else [np.int64, np.int32] if isinstance(value, int) else []
    if isinstance(value, float):
        kinds = [np.float64, np.float32]
    for kind in kinds:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = own(**(usual | {parameter: kind(value)})).fit(X, Y)
        assert model._model is not None


def test_a_grid_may_be_an_arange():
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
def test_defaults_are_those_of_the_engine(name, parameter, place):
    own = json.loads(_core.defaults("naive-bayes" if name == "NaiveBayes" else "mixture"))
    for key in place:
        own = own[key]
    assert inspect.signature(getattr(abduce, name)).parameters[parameter].default == own


@pytest.mark.parametrize("name", ["Mixture", "MixtureImputer"])
def test_counts_stand_alone_and_levels_are_not_smoothed(name):
    import pandas

    frame = pandas.DataFrame(
        {"x": RNG.normal(size=90), "visits": RNG.poisson(2.0, size=90), "colour": ["r", "g", "b"] * 30}
    )
    model = getattr(abduce, name)(1, random_state=0).fit(frame)
    assert model.families_ == {"x": "multivariate", "visits": "poisson", "colour": "categorical"}
    leaves = {own["columns"][0]: own["components"][0] for own in model.parameters_}
    np.testing.assert_allclose(leaves["colour"]["probabilities"], 1 / 3, atol=1e-12)
    assert json.loads(model._model.part("provenance"))["specification"]["smoothing"] == 0.0


CLASSIFIERS = [name for kind in ("naive-bayes", "gda") for name in ESTIMATORS[kind]]


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_the_weight_of_unlabelled_rows_may_be_given(name):
    usual = {"tol": 0.0} if name.startswith("Quad") else {"min_categories": 9} if name.startswith("Cat") else {}
    labels = [None if n % 3 else int(y) for n, y in enumerate(Y)]
    seen = np.array([own is not None for own in labels])
    own = getattr(abduce, name)
    model = own(unlabelled=0, **usual).fit(X, labels)
    alone = own(**usual).fit(X[seen], Y[seen])
    # How large a column's share of the variance is, is of all rows.
    tolerance = 1e-6 if name == "GaussianNB" else 1e-9
    np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(X), rtol=tolerance, atol=1e-12)
    if name != "ComplementNB":
        model = own(unlabelled=0.25, **usual).fit(X, labels)
        assert model.fit_report_["unlabelled_weight"] == 0.25
        assert model.class_count_.sum() == pytest.approx(seen.sum() + 0.25 * (~seen).sum())
    for wrong in (-0.1, 1.5, "much"):
        with pytest.raises(ValueError, match="unlabelled"):
            own(unlabelled=wrong, **usual).fit(X, labels)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_classifier_says_what_unlabelled_rows_count(name):
    usual = {"tol": 0.0} if name.startswith("Quad") else {}
    labels = [None if n % 3 else int(y) for n, y in enumerate(Y)]
    weight = getattr(abduce, name)(**usual).fit(X, labels).fit_report_["unlabelled_weight"]
    assert (weight is None) if name == "ComplementNB" else 0 <= weight <= 1
