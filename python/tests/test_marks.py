"""`marks=True`: the model recognizes the rows that it was fitted to."""

import itertools

import numpy as np
import pandas as pd
import pytest

import abduce
from abduce._files import ESTIMATORS

CLASSIFIERS = [*ESTIMATORS["naive-bayes"], *ESTIMATORS["gda"]]
# All rows of six zeros and ones, each once, in random order.
X = np.random.default_rng(0).permutation(np.array(list(itertools.product([0.0, 1.0], repeat=6))))
Y = np.arange(64) % 2


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_row_can_be_forgotten_only_once(name):
    model = getattr(abduce, name)(marks=True).fit(X, Y).forget(X[:1], Y[:1])
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match="row 0: the model was not fitted to this row"):
        model.forget(X[:1], Y[:1])
    np.testing.assert_array_equal(model.predict_proba(X), before)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_row_that_was_never_fitted_is_refused_only_with_marks(name):
    cls = getattr(abduce, name)
    with pytest.raises(ValueError, match="row 0: the model was not fitted to this row"):
        cls(marks=True).fit(X[1:], Y[1:]).forget(X[:1], Y[:1])
    cls().fit(X[1:], Y[1:]).forget(X[:1], Y[:1])


def test_rows_that_were_added_or_merged_have_marks_too():
    model = abduce.GaussianNB(marks=True).partial_fit(X[:30], Y[:30], classes=[0, 1]).partial_fit(X[30:50], Y[30:50])
    model = model.merge(abduce.GaussianNB(marks=True).partial_fit(X[50:], Y[50:], classes=[0, 1]))
    less = model.forget(X[[5, 35, 60]], Y[[5, 35, 60]])
    rest = np.delete(np.arange(64), [5, 35, 60])
    np.testing.assert_allclose(less.theta_, abduce.GaussianNB().fit(X[rest], Y[rest]).theta_, rtol=1e-9)
    with pytest.raises(ValueError, match="was not fitted to this row"):
        less.forget([[0.25] * 6], [0])


def test_marks_are_kept_in_files(tmp_path):
    frame = pd.DataFrame(X, columns=list("abcdef"))
    abduce.NaiveBayes(marks=True).fit(frame, Y).save(tmp_path / "model.abduce")
    model = abduce.load(tmp_path / "model.abduce")
    assert model.marks
    with pytest.raises(ValueError, match="was not fitted to this row"):
        model.forget(frame.assign(a=0.5).iloc[:1], Y[:1])
