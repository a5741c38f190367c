"""Warnings point to the user's line and name Python parameters."""

import re
import warnings

import numpy as np
import pandas
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning

import abduce

RNG = np.random.default_rng(0)
X = np.vstack([RNG.normal(size=(50, 2)), RNG.normal(6, 1, size=(50, 2))])
Y = np.repeat([0, 1], 50)


def assert_warns_here(work, match, category=UserWarning):
    with pytest.warns(category, match=match) as caught:
        work()
    assert any(warning.filename == __file__ and re.search(match, str(warning.message)) for warning in caught)


def test_kmeans_warns_at_the_line_of_the_user():
    assert_warns_here(
        lambda: abduce.KMeans(5, random_state=0, max_iter=1, tol=0).fit(X), "max_iter", ConvergenceWarning
    )
    rows = np.repeat([[0.0], [1.0]], 5, axis=0)
    assert_warns_here(lambda: abduce.KMeans(3, random_state=0).fit(rows), "distinct clusters", ConvergenceWarning)
    empty = np.column_stack([X, np.full(100, np.nan)])
    assert_warns_here(lambda: abduce.KMeans(2, random_state=0).fit(empty), '"x2"')


def test_changes_of_a_model_warn_at_the_line_of_the_user():
    missing = X.copy()
    missing[::7, 0] = np.nan
    qda = abduce.QuadraticDiscriminantAnalysis().fit(missing, Y)
    match = "log-likelihood"
    assert_warns_here(lambda: qda.partial_fit(missing, Y), match)
    assert_warns_here(lambda: qda.merge(qda), match)
    assert_warns_here(lambda: abduce.QuadraticDiscriminantAnalysis().fit(X, Y).merge(qda), match)


def test_a_change_does_not_repeat_the_warnings_of_the_fit():
    constant = np.column_stack([X, np.ones(100)])
    with pytest.warns(UserWarning, match="constant"):
        model = abduce.NaiveBayes().fit(constant, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(constant, Y)
        model.forget(constant, Y)
        model.merge(model)


@pytest.mark.parametrize(
    "estimator",
    [
        abduce.GaussianNB(),
        abduce.LinearDiscriminantAnalysis(),
        abduce.QuadraticDiscriminantAnalysis(reg_param=0.1),
        abduce.MultinomialNB(),
        abduce.BernoulliNB(),
        abduce.CategoricalNB(),
        abduce.ComplementNB(),
        abduce.KMeans(10, random_state=0),
    ],
    ids=lambda value: type(value).__name__,
)
def test_scikit_learns_estimators_do_not_warn_about_ordinary_data(estimator):
    for load in (load_iris, load_digits):
        rows, labels = load(return_X_y=True)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            estimator.fit(rows, labels).predict(rows)
        assert isinstance(estimator.fit_report_["warnings"], list)


def test_a_new_value_in_a_constant_column_warns():
    frame = pandas.DataFrame({"x": X[:, 0], "same": 7.0})
    with pytest.warns(UserWarning, match="constant"):
        mixture = abduce.Mixture(1, random_state=0).fit(frame)
        classes = abduce.NaiveBayes().fit(frame, Y)
        imputer = abduce.MixtureImputer(1, random_state=0).fit(frame)
    new = frame.assign(same=[8.0] + [7.0] * 99)
    match = 'column "same" was constant when the model was fitted; 1 row has another value'
    for ask in (mixture.score_samples, mixture.predict, classes.predict, classes.predict_proba, imputer.transform):
        assert_warns_here(lambda ask=ask: ask(new), match)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(mixture.score_samples(frame)[1:], mixture.score_samples(frame)[1:])
        classes.predict(frame)


def test_empty_components_cause_a_warning(tmp_path):
    rows = np.ones((10, 2))
    assert_warns_here(lambda: abduce.GaussianMixture(3, random_state=0).fit(rows), "2 of 3 components are empty")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = abduce.GaussianMixture(3, random_state=0).fit(rows)
    assert model.fit_report_["warnings"] == ["2 of 3 components are empty: no row belongs to them"]
    model.save(tmp_path / "model.abduce")
    assert abduce.load(tmp_path / "model.abduce").fit_report_ == model.fit_report_
    assert abduce.GaussianMixture(2, random_state=0).fit(X).fit_report_["warnings"] == []


def test_warnings_advise_only_existing_parameters():
    text = "not converged after 1000 iterations; raise max_iter or tol"
    assert abduce.Mixture()._translated(text) == text
    for model in (abduce.NaiveBayes(), abduce.LinearDiscriminantAnalysis()):
        assert model._translated(text) == "not converged after 1000 iterations"
    thin = "a component is so thin that it was stopped; raise variance_floor"
    assert abduce.GaussianMixture()._translated(thin).endswith("; raise reg_covar")
    assert abduce.MixtureImputer()._translated(thin) == "a component is so thin that it was stopped"


FLAG = re.compile(r"--[a-z]")


def messages(work):
    """The messages of errors and warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            work()
        except Exception as error:
            yield str(error)
    yield from (str(warning.message) for warning in caught)


def frame(**columns):
    return pandas.DataFrame({"x": np.linspace(0, 1, 60), **columns})


WORK = {
    "an unknown kind": lambda: abduce.Mixture(kinds={"z": "real"}).fit(frame()),
    "a pattern without columns": lambda: abduce.Mixture(kinds={"z*": "real"}).fit(frame()),
    "other options": lambda: abduce.NaiveBayes().fit(X, Y).merge(abduce.NaiveBayes(families={"x0": "gamma"}).fit(X, Y)),
    "other unlabelled": lambda: (
        abduce.GaussianNB(unlabelled=0.5)
        .fit(X, [None, *Y[1:]])
        .merge(abduce.GaussianNB(unlabelled=1).fit(X, [None, *Y[1:]]))
    ),
    "names that do not repeat": lambda: abduce.Mixture().fit(frame(id=[f"n{n}" for n in range(60)])),
    "a stray word": lambda: abduce.Mixture().fit(frame(z=[*map(str, range(59)), "unknown"])),
    "dates": lambda: abduce.Mixture().fit(frame(z=[f"2020-01-{n % 28 + 1:02}" for n in range(60)])),
    "placeholders": lambda: abduce.Mixture().fit(frame(z=["-999", "NA", "?"] * 20)),
    "mean of levels": lambda: abduce.families.estimate("categorical", ["a", "b", "a"], above=1.0),
    "an unknown family": lambda: abduce.Mixture(families={"x": "nothing"}).fit(frame()),
    "a family of other kinds": lambda: abduce.Mixture(families={"x": "poisson"}).fit(frame()),
    "kernels of levels": lambda: abduce.NaiveBayes(families={"z": "kde"}).fit(frame(z=["a", "b"] * 30), [0, 1] * 30),
    "no smoothing": lambda: abduce.ComplementNB(alpha=0, force_alpha=True).fit(np.abs(X), Y),
    "many iterations": lambda: abduce.Mixture(3, max_iter=1, n_init=1, random_state=0).fit(X),
    "uniform components": lambda: abduce.Mixture(2, families={"x": "uniform"}, random_state=0).fit(frame()),
    "unlike columns": lambda: abduce.KMeans(2, random_state=0).fit(X * [1, 1000]),
    "thin components": lambda: abduce.Mixture(9, random_state=0).fit(np.repeat(X[:5], 4, axis=0)),
    "a prior of too few": lambda: abduce.NaiveBayes(class_prior=[0.5, 0.3, 0.2]).fit(X, Y),
}


@pytest.mark.parametrize("what", WORK)
def test_no_message_names_a_command_line_option(what):
    for text in messages(WORK[what]):
        assert not FLAG.search(text), text
