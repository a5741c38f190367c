"""The column of classes has the name of a Series of labels, so that the command line finds it in a table."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import abduce
from abduce.discriminant_analysis import LinearDiscriminantAnalysis
from abduce.naive_bayes import GaussianNB, MultinomialNB, NaiveBayes

RNG = np.random.default_rng(3)
FRAME = pd.DataFrame({"x": RNG.normal(size=40), "z": RNG.normal(size=40)})
LABELS = np.array(["p", "q"])[(FRAME["x"] > 0).to_numpy().astype(int)]
NAMED = pd.Series(LABELS, name="species")


def target_of(model, tmp_path):
    """The name of the column of classes in a file."""
    model.save(tmp_path / "model.abduce")
    again = abduce.load(tmp_path / "model.abduce")
    assert again.kinds_ == model.kinds_
    (target,) = [name for name, kind in again.kinds_.items() if kind == "categorical"]
    return target


@pytest.mark.parametrize("make", [NaiveBayes, GaussianNB, LinearDiscriminantAnalysis])
@pytest.mark.parametrize("rows", [FRAME, pl.DataFrame(FRAME), FRAME.to_numpy()], ids=["pandas", "polars", "array"])
@pytest.mark.parametrize("labels", [NAMED, pl.Series("species", LABELS)], ids=["pandas", "polars"])
def test_the_classes_have_the_name_of_the_series(make, rows, labels, tmp_path):
    model = make().fit(rows, labels)
    assert target_of(model, tmp_path) == "species"
    assert model.query("P(species)").keys() == {"p", "q"}
    np.testing.assert_array_equal(model.predict(rows), make().fit(rows, LABELS).predict(rows))


@pytest.mark.parametrize(
    "labels",
    [LABELS, LABELS.tolist(), *(NAMED.rename(name) for name in (None, "", " ", 7, ("a", "b"), "x"))],
    ids=lambda labels: f"{type(labels).__name__} {getattr(labels, 'name', None)!r}",
)
def test_other_labels_are_named_y(labels, tmp_path):
    assert target_of(NaiveBayes().fit(FRAME, labels), tmp_path) == "y"


def test_no_two_columns_have_one_name(tmp_path):
    assert target_of(GaussianNB().fit(FRAME.to_numpy(), NAMED.rename("x1")), tmp_path) == "y"
    assert target_of(GaussianNB().fit(FRAME.to_numpy(), NAMED.rename("x2")), tmp_path) == "x2"
    by_number = pd.DataFrame(FRAME.to_numpy())
    assert target_of(NaiveBayes().fit(by_number, NAMED.rename("1")), tmp_path) == "y"
    taken = FRAME.rename(columns={"z": "y"})
    assert target_of(NaiveBayes().fit(taken, NAMED.rename("x")), tmp_path) == "y_"


def test_documents_may_have_labels_of_any_name(tmp_path):
    words = sp.csr_array(RNG.poisson(1.0, size=(40, 5)))
    expected = MultinomialNB().fit(words, LABELS).predict_proba(words)
    for name in ("species", "x", "x1"):
        model = MultinomialNB().fit(words, NAMED.rename(name))
        model.save(tmp_path / "model.abduce")
        for each in (model, abduce.load(tmp_path / "model.abduce")):
            np.testing.assert_array_equal(each.predict_proba(words), expected)


def test_the_first_call_of_partial_fit_names_the_classes(tmp_path):
    model = NaiveBayes().partial_fit(FRAME[:20], NAMED[:20], classes=["p", "q"])
    model.partial_fit(FRAME[20:], NAMED[20:].rename("other"))
    assert target_of(model, tmp_path) == "species"
    model.forget(FRAME[:5], LABELS[:5])
    assert target_of(model.fit(FRAME, LABELS), tmp_path) == "y"


def test_models_of_labels_with_different_names_are_not_merged():
    first, second = (NaiveBayes().fit(FRAME, labels) for labels in (NAMED, LABELS))
    with pytest.raises(ValueError, match="named 'species' in one model and 'y' in another"):
        first.merge(second)
    assert first.merge(NaiveBayes().fit(FRAME, NAMED)).class_count_.sum() == 80
