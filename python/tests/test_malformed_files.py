"""Model files are data: reading one runs nothing, and sets only known attributes."""

import json
import sys

import numpy as np
import pytest

import abduce
from abduce.cluster import KMeans
from abduce.impute import MixtureImputer
from abduce.naive_bayes import CategoricalNB, GaussianNB

X = np.random.default_rng(0).normal(size=(40, 3))
Y = np.arange(40) % 2


def rewritten(tmp_path, **changes):
    """A file of GaussianNB with another description of the estimator."""
    path = tmp_path / "model.abduce"
    GaussianNB().fit(X, Y).save(path)
    document = json.loads(path.read_text())
    document["estimator"] = {**document["estimator"], **changes}
    path.write_text(json.dumps(document))
    return path


@pytest.mark.parametrize(
    "changes",
    [
        {"class": "_import_module", "parameters": {"name": "this"}},
        {"class": "load", "parameters": {"path": "/etc/passwd"}},
        {"class": "__getattr__", "parameters": {"name": "load"}},
        {"class": "naive_bayes"},
        {"class": "KMeans"},
        {"class": "Hypotheses"},
        {"class": ["GaussianNB"]},
        {"class": None},
        {"parameters": {"self": 1}},
        {"parameters": {"__class__": "x"}},
        {"parameters": {"var_smoothing": "a"}},
        {"parameters": {"var_smoothing": [1]}},
        {"parameters": {"var_smoothing": -1}},
        {"parameters": {"n_jobs": 1e300}},
        {"parameters": [1]},
        {"state": {"__class__": "x"}},
        {"state": {"__dict__": {}}},
        {"state": {"predict": "x"}},
        {"state": {"_set_model": 1}},
        {"state": {"_threads": 1}},
        {"state": {"_sparse": {"__import__": "os"}}},
        {"state": {"_framed": "yes"}},
        {"state": {"_with_missing": [99]}},
        {"state": {"_empty": [-1]}},
        {"state": {"n_categories_": [1e300, 2, 3]}},
        {"state": {"n_categories_": [10**18, 2, 3]}},
        {"state": {"_boolean_columns": [1]}},
        {"labels": ["U"]},
        {"code": "import os"},
    ],
    ids=json.dumps,
)
def test_a_hostile_file_is_refused(tmp_path, changes):
    with pytest.raises((ValueError, TypeError)):
        abduce.load(rewritten(tmp_path, **changes))
    assert "this" not in sys.modules


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_numbers_that_json_does_not_have_are_refused(tmp_path, number):
    path = rewritten(tmp_path, parameters={"var_smoothing": 0.125})
    path.write_text(path.read_text().replace("0.125", number))
    with pytest.raises(ValueError):
        abduce.load(path)


def test_fitted_attributes_are_restored(tmp_path):
    path = tmp_path / "model.abduce"
    model = CategoricalNB(min_categories=4).fit(X > 0, Y)
    model.save(path)
    np.testing.assert_array_equal(abduce.load(path).n_categories_, model.n_categories_)
    model = MixtureImputer(2, add_indicator=True, random_state=0).fit(np.where(X > 1, np.nan, X))
    model.save(path)
    np.testing.assert_array_equal(abduce.load(path)._with_missing, model._with_missing)


def test_the_labels_of_kmeans_are_restored(tmp_path):
    model = KMeans(3, random_state=0).fit(X)
    model.save(tmp_path / "model.abduce")
    found = abduce.load(tmp_path / "model.abduce").labels_
    np.testing.assert_array_equal(found, model.labels_)
    assert found.dtype == model.labels_.dtype


class OwnNB(GaussianNB):
    """A user's subclass, with a parameter of its own."""

    def __init__(self, *, priors=None, var_smoothing=1e-9, missing_label=None, n_jobs=None, extra=3):
        super().__init__(priors=priors, var_smoothing=var_smoothing, missing_label=missing_label, n_jobs=n_jobs)
        self.extra = extra


def test_a_model_of_a_subclass_is_read_as_its_base_or_as_the_subclass(tmp_path):
    path = tmp_path / "model.abduce"
    OwnNB(extra=5, var_smoothing=1e-3).fit(X, Y).save(path)
    with pytest.warns(UserWarning, match="a subclass of GaussianNB") as caught:
        model = abduce.load(path)
    assert caught[0].filename == __file__
    assert type(model) is GaussianNB and model.var_smoothing == 1e-3
    model = abduce.load(path, cls=OwnNB)
    assert type(model) is OwnNB and model.extra == 5
    with pytest.raises(TypeError, match="not a subclass"):
        abduce.load(path, cls=KMeans)
