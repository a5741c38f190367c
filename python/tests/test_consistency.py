"""Consistency: failures change nothing, predictions of a row do not depend on others, files and pickles keep all
parameters."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

import abduce
from abduce.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from abduce.impute import MixtureImputer
from abduce.mixture import GaussianMixture, Mixture
from abduce.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB, NaiveBayes
from abduce.neighbors import KernelDensity

RNG = np.random.default_rng(5)
X = RNG.normal(size=(90, 3)) + np.repeat([[0, 0, 0], [2, 0, 1], [0, 3, 0]], 30, axis=0)
Y = np.repeat([0, 1, 2], 30)


def test_a_failed_fit_restores_the_previous_one():
    model = GaussianNB().fit(X, Y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError):
        model.fit(X, np.array(["a", "b", "c"])[Y], sample_weight=np.zeros(90))
    with pytest.raises(ValueError):
        model.partial_fit(X * 1e200, Y)
    assert_array_equal(model.classes_, [0, 1, 2])
    assert_array_equal(model.predict_proba(X), before)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), before)


def test_a_refused_batch_of_a_quadratic_discriminant_is_not_counted():
    model = QuadraticDiscriminantAnalysis(tol=0.05).fit(X, Y)
    flat = np.zeros((3000, 3))
    with pytest.raises(np.linalg.LinAlgError):
        model.partial_fit(flat, np.zeros(3000, dtype=int))
    assert_array_equal(model.class_count_, [30, 30, 30])
    first = QuadraticDiscriminantAnalysis()
    with pytest.raises(np.linalg.LinAlgError):
        first.fit(np.column_stack([X, X[:, 0]]), Y)
    assert not hasattr(first, "classes_")


@pytest.mark.parametrize("tol", [1e-4, 0.5])
def test_linear_discriminants_predict_the_highest_score(tol):
    z = RNG.normal(size=200)
    rows = np.column_stack([z, z + 0.3 * RNG.normal(size=200), RNG.normal(size=200)])
    labels = (rows @ [1.0, -2.0, 0.5] + RNG.normal(size=200) > 0).astype(int) + (rows[:, 2] > 1)
    model = LinearDiscriminantAnalysis(tol=tol).fit(rows, labels)
    scores = model.decision_function(rows)
    assert_array_equal(model.predict(rows), model.classes_[scores.argmax(axis=1)])
    assert_array_equal(model.predict_proba(rows).argmax(axis=1), scores.argmax(axis=1))


def test_a_missing_cell_changes_no_other_row():
    rows = np.column_stack([X, X[:, 0] + X[:, 1]])
    model = LinearDiscriminantAnalysis().fit(rows, Y)
    with_hole = np.vstack([rows, np.where(np.arange(4) == 1, np.nan, rows[0])])
    assert_array_equal(model.decision_function(with_hole)[:-1], model.decision_function(rows))
    assert_array_equal(model.predict_proba(with_hole)[:-1], model.predict_proba(rows))


def test_unit_weights_change_nothing_with_missing_labels():
    rows, labels = X.copy(), Y.astype(float)
    rows[::3] *= 10
    labels[::3] = np.nan
    plain = GaussianNB(var_smoothing=0.1).fit(rows, labels)
    weighed = GaussianNB(var_smoothing=0.1).fit(rows, labels, sample_weight=np.ones(90))
    assert_allclose(weighed.epsilon_, plain.epsilon_)
    assert_allclose(weighed.predict_proba(rows), plain.predict_proba(rows))


def test_pickles_and_files_keep_the_tolerance(tmp_path):
    model = KernelDensity(bandwidth=0.5, rtol=1e-1).fit(np.tile(X, (20, 1)) + RNG.normal(size=(1800, 3)))
    found = model.score_samples(X)
    assert_array_equal(pickle.loads(pickle.dumps(model)).score_samples(X), found)
    model.save(tmp_path / "kde.abduce")
    assert_array_equal(abduce.load(tmp_path / "kde.abduce").score_samples(X), found)
    exact = KernelDensity(bandwidth=0.5).fit(X).score_samples(X)
    assert_allclose(KernelDensity(bandwidth=0.5, rtol=1e-2).fit(X).score_samples(X), exact, atol=1e-2)


@pytest.mark.parametrize(
    "question", ["P(x0 | x0=1)", "E(x0 | x0=1)", "P(y | y=1)", "P(y | x0=1, x0=2)", "P(y | x0=nan)"]
)
def test_contradictory_questions_are_refused(question):
    with pytest.raises(ValueError):
        GaussianNB().fit(X, Y).query(question)


def test_names_with_parentheses_may_be_in_questions():
    frame = pd.DataFrame(X, columns=["length (cm)", "b", "c"])
    found = NaiveBayes().fit(frame, Y).query("P(y | length (cm)=1)")
    assert_allclose(sum(found.values()), 1.0)


def test_files_of_older_versions_are_read(tmp_path):
    path = tmp_path / "old.abduce"
    model = GaussianNB().fit(X, Y)
    model.save(path)
    document = json.loads(path.read_text())
    document["estimator"]["state"]["epsilon_"] = 1.0
    del document["estimator"]["labels"]
    path.write_text(json.dumps(document))
    assert_array_equal(abduce.load(path).predict(X), model.predict(X))


def test_renamed_attributes_of_older_files_are_read(tmp_path):
    rows = np.where(np.arange(X.size).reshape(X.shape) % 7 == 0, np.nan, X)
    frame = pd.DataFrame(rows).rename(columns=str).assign(tame=Y == 1)
    for model, old, new in [
        (MixtureImputer(1, add_indicator=True).fit(frame), "_with_holes", "_with_missing"),
        (NaiveBayes().fit(frame, Y), "_truths", "_boolean_columns"),
    ]:
        model.save(tmp_path / "old.abduce")
        document = json.loads((tmp_path / "old.abduce").read_text())
        state = document["estimator"]["state"]
        state[old] = state.pop(new)
        (tmp_path / "old.abduce").write_text(json.dumps(document))
        assert_array_equal(getattr(abduce.load(tmp_path / "old.abduce"), new), getattr(model, new))


@pytest.mark.parametrize(
    "labels", [Y > 0, np.array(["True", "False", "2"])[Y], Y, Y * 1.0], ids=["bool", "words", "whole", "numbers"]
)
def test_files_keep_the_type_of_labels(tmp_path, labels):
    GaussianNB().fit(X, labels).save(tmp_path / "labels.abduce")
    back = abduce.load(tmp_path / "labels.abduce").classes_
    assert back.dtype.kind == labels.dtype.kind
    assert_array_equal(back, np.unique(labels))


def test_boolean_labels_stay_boolean_next_to_missing_ones():
    labels = np.array([True, False, None] * 30, dtype=object)
    assert GaussianNB().fit(X, labels).predict(X).dtype == bool


def test_mixtures_accept_every_name_of_a_covariance():
    assert_allclose(
        Mixture(2, covariance="VVV", random_state=0).fit(X).score_samples(X),
        Mixture(2, covariance="full", random_state=0).fit(X).score_samples(X),
    )
    best = Mixture(range(1, 3), covariance="all", n_init=1).fit(X)
    assert len(best._part("fit")["selection"]["tried"]) == 28
    with pytest.raises(ValueError, match="nonsense"):
        Mixture(2, covariance="nonsense").fit(X)


def test_unseen_levels_are_left_unchanged():
    frame = pd.DataFrame({"a": X[:, 0], "colour": np.array(["red", "blue", "green"])[Y]})
    strange = frame.assign(colour="mauve")
    strange.loc[0, "a"] = np.nan
    out = MixtureImputer(2).fit(frame).transform(strange)
    assert (out["colour"] == "mauve").all() and not out["a"].isna().any()


@pytest.mark.parametrize("estimator", [MultinomialNB(), BernoulliNB()])
@pytest.mark.parametrize("cell", [np.nan, np.inf])
def test_nan_and_infinity_are_refused_in_sparse_and_dense_rows(estimator, cell):
    rows = np.array([[1.0, cell], [0.0, 1.0]])
    with pytest.raises(ValueError):
        estimator.fit(sp.csr_matrix(rows), [0, 1])
    if not (np.isnan(cell) and isinstance(estimator, BernoulliNB)):
        with pytest.raises(ValueError):
            estimator.fit(rows, [0, 1])


def test_declared_categories_are_levels_even_if_they_look_like_numbers():
    frame = pd.DataFrame({"zip": pd.Categorical([1, 9, 5] * 30), "a": X[:, 0]})
    found = NaiveBayes().fit(frame, Y).query("P(zip)")
    assert set(found) == {"1", "5", "9"}


def test_merging_keeps_the_categories_of_all_models():
    few, many = CategoricalNB().fit([[0], [1]], [0, 1]), CategoricalNB().fit([[0], [3]], [0, 1])
    assert_array_equal(few.merge(many).predict([[3]]), [1])


def test_no_start_can_be_given_for_an_empty_column():
    rows = np.column_stack([X, np.full(90, np.nan)])
    start = {
        "weights_init": [0.5, 0.5],
        "means_init": np.repeat([[0.0], [1.0]], 4, axis=1),
        "precisions_init": np.tile(np.eye(4), (2, 1, 1)),
    }
    with pytest.raises(ValueError, match="column 3 has only missing values"):
        GaussianMixture(2, **start).fit(rows)
    assert np.isfinite(GaussianMixture(2).fit(rows).score_samples(rows)).all()
