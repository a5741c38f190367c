"""Decisions with costs, abstentions, and the log-densities of rows under a classifier."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.special import logsumexp
from sklearn.datasets import load_iris

from abduce.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from abduce.naive_bayes import GaussianNB, MultinomialNB, NaiveBayes

X, CODES = load_iris(return_X_y=True)
Y = np.array(["s", "t", "v"])[CODES]
MODEL = GaussianNB().fit(X, Y)
CLASSIFIERS = [GaussianNB(), NaiveBayes(), LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis()]


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: type(model).__name__)
def test_without_costs_the_decision_is_the_prediction(model):
    model.fit(X, Y)
    np.testing.assert_array_equal(model.decide(X), model.predict(X))
    np.testing.assert_array_equal(model.decide(X, costs={}), model.predict(X))
    np.testing.assert_array_equal(model.decide(X, costs=1 - np.eye(3)), model.predict(X))


def test_the_decision_has_the_least_expected_cost():
    costs = np.array([[-1.0, 2.0, 1.0], [1.0, 0.0, 9.0], [4.0, 1.0, 0.5]])
    decided = MODEL.decide(X, costs=costs)
    for probabilities, decision in zip(MODEL.predict_proba(X), decided, strict=True):
        expected = [sum(probabilities[a] * costs[a, b] for a in range(3)) for b in range(3)]
        assert decision == MODEL.classes_[np.argmin(expected)]
    assert (decided != MODEL.predict(X)).any()
    pairs = {(a, b): costs[i, j] for i, a in enumerate("stv") for j, b in enumerate("stv")}
    np.testing.assert_array_equal(MODEL.decide(X, costs=pairs), decided)


def test_a_pair_that_is_not_given_costs_one():
    np.testing.assert_array_equal(
        MODEL.decide(X, costs={("t", "v"): 9.0}), MODEL.decide(X, costs=[[0, 1, 1], [1, 0, 9], [1, 1, 0]])
    )


def test_rows_without_a_probable_class_get_no_decision():
    largest = MODEL.predict_proba(X).max(axis=1)
    decided = MODEL.decide(X, abstain_below=0.95)
    assert 0 < (largest < 0.95).sum() < len(X)
    np.testing.assert_array_equal(pd.isna(decided), largest < 0.95)
    np.testing.assert_array_equal(decided[largest >= 0.95], MODEL.predict(X)[largest >= 0.95])
    assert MODEL.decide(X, abstain_below=0.1).dtype == Y.dtype


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"costs": {("s", "z"): 1}},
            r"costs has \('s', 'z'\), which is not a pair of classes; the classes are s, t, v",
        ),
        ({"costs": {"s": 1}}, "costs has 's', which is not a pair"),
        ({"costs": [[0, 1], [1, 0]]}, "a row and a column for each of the 3 classes"),
        ({"costs": {("s", "t"): np.inf}}, "must be finite"),
        ({"abstain_below": 1.5}, "abstain_below must be a number from 0 to 1"),
        ({"abstain_below": np.nan}, "abstain_below must be a number from 0 to 1"),
    ],
)
def test_malformed_costs_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        MODEL.decide(X, **options)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: type(model).__name__)
def test_the_density_of_a_row_is_summed_over_the_classes(model):
    rows = X.copy()
    rows[::4, 1] = np.nan
    model.fit(X, Y)
    expected = logsumexp(model.predict_joint_log_proba(rows), axis=1)
    np.testing.assert_allclose(model.score_samples(rows), expected, rtol=1e-12)


def test_documents_have_densities():
    words = sp.csr_array(np.random.default_rng(0).poisson(1.0, size=(50, 6)))
    model = MultinomialNB().fit(words, np.arange(50) % 2)
    np.testing.assert_allclose(model.score_samples(words), logsumexp(model.predict_joint_log_proba(words), axis=1))


def test_a_frame_of_costs_is_read_by_its_labels():
    costs = np.array([[0.0, 2.0, 1.0], [20.0, 0.0, 1.0], [500.0, 1.0, 0.0]])
    frame = pd.DataFrame(costs, index=MODEL.classes_, columns=MODEL.classes_)
    shuffled = frame.loc[["v", "s", "t"], ["t", "v", "s"]]
    np.testing.assert_array_equal(MODEL.decide(X, costs=shuffled), MODEL.decide(X, costs=costs))
    with pytest.raises(ValueError, match="must be the classes s, t, v"):
        MODEL.decide(X, costs=pd.DataFrame(costs))


@pytest.mark.parametrize("value", [None, "0.9", 1.5])
def test_abstain_below_must_be_a_probability(value):
    with pytest.raises(ValueError, match="abstain_below must be a number from 0 to 1"):
        MODEL.decide(X, abstain_below=value)
