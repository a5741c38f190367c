"""Missing labels and masked cells of every library."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

from abduce.cluster import KMeans
from abduce.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from abduce.impute import GaussianImputer
from abduce.mixture import GaussianMixture, Mixture
from abduce.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, NaiveBayes
from abduce.neighbors import KernelDensity

X, Y = load_iris(return_X_y=True)


def missing(labels):
    """Every third label is missing."""
    return [None if row % 3 == 0 else label for row, label in enumerate(labels)]


NUMBERS = missing(Y.tolist())
BOOLEANS = missing((Y > 0).tolist())
WORDS = missing(np.array(["a", "b", "c"])[Y].tolist())
LABELS = {
    "Int64": (pd.array(NUMBERS, dtype="Int64"), [0, 1, 2]),
    "boolean": (pd.Series(BOOLEANS, dtype="boolean"), [False, True]),
    "string": (pd.Series(WORDS, dtype="string"), ["a", "b", "c"]),
    "object with NA": (
        pd.Series([pd.NA if label is None else label for label in WORDS], dtype=object),
        ["a", "b", "c"],
    ),
    "list with NA": ([pd.NA if label is None else label for label in NUMBERS], [0, 1, 2]),
    "category": (pd.Series(WORDS, dtype="category"), ["a", "b", "c"]),
    "category of numbers": (pd.Series(NUMBERS, dtype="Int64").astype("category"), [0, 1, 2]),
    "int64[pyarrow]": (pd.Series(NUMBERS, dtype="int64[pyarrow]"), [0, 1, 2]),
    "polars numbers": (pl.Series(NUMBERS), [0, 1, 2]),
    "polars booleans": (pl.Series(BOOLEANS), [False, True]),
    "polars words": (pl.Series(WORDS), ["a", "b", "c"]),
    "polars categories": (pl.Series(WORDS, dtype=pl.Categorical), ["a", "b", "c"]),
    "arrow numbers": (pa.array(NUMBERS), [0, 1, 2]),
    "arrow booleans": (pa.chunked_array([BOOLEANS]), [False, True]),
    "arrow words": (pa.array(WORDS), ["a", "b", "c"]),
    "masked numbers": (np.ma.array(Y, mask=np.arange(150) % 3 == 0), [0, 1, 2]),
    "masked words": (np.ma.array(np.array(["a", "b", "c"])[Y], mask=np.arange(150) % 3 == 0), ["a", "b", "c"]),
}


@pytest.mark.parametrize("name", LABELS)
def test_missing_labels_of_every_library_are_missing(name):
    labels, classes = LABELS[name]
    model = GaussianNB().fit(X, labels)
    assert model.classes_.tolist() == classes
    assert model.classes_.dtype.kind == {int: "i", bool: "b", str: "U"}[type(classes[0])]
    # The 50 rows without a label count with the weight that cross-validation chose.
    assert model.class_count_.sum() == pytest.approx(100 + 50 * model.fit_report_["unlabelled_weight"])
    assert model.score(X, labels) > 0.9


@pytest.mark.parametrize(
    "labels",
    [
        pd.Series(Y, dtype="Int64"),
        pd.Series(Y == 1, dtype="boolean"),
        pl.Series(Y),
        pl.Series(np.array(["a", "b", "c"])[Y]),
        pl.Series(np.array(["a", "b", "c"])[Y].tolist(), dtype=pl.Categorical),
        pa.array(Y),
        np.ma.array(Y),
    ],
    ids=["Int64", "boolean", "polars", "polars words", "polars categories", "arrow", "masked"],
)
def test_labels_of_every_library_are_read(labels):
    model = GaussianNB().fit(X, labels)
    to_list = next(getattr(labels, name) for name in ("to_pylist", "to_list", "tolist") if hasattr(labels, name))
    other = GaussianNB().fit(X, np.array(to_list()))
    assert model.classes_.tolist() == other.classes_.tolist()
    np.testing.assert_array_equal(model.theta_, other.theta_)


MASK = np.random.default_rng(0).random(X.shape) < 0.1
ACCEPTING = [
    GaussianNB(),
    BernoulliNB(binarize=3.0),
    CategoricalNB(),
    NaiveBayes(),
    LinearDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(),
    GaussianMixture(2, random_state=0),
    Mixture(2, n_init=1, random_state=0),
    KMeans(3, random_state=0),
    KernelDensity(),
    GaussianImputer(),
]


@pytest.mark.parametrize("estimator", ACCEPTING, ids=lambda value: type(value).__name__)
def test_masked_cells_are_missing(estimator):
    masked, missing = np.ma.array(X, mask=MASK), np.where(MASK, np.nan, X)
    one, other = clone(estimator).fit(masked, Y), clone(estimator).fit(missing, Y)
    ask = next(name for name in ("predict_proba", "score_samples", "transform") if hasattr(one, name))
    np.testing.assert_array_equal(getattr(one, ask)(masked), getattr(other, ask)(missing))


def test_masked_integers_are_missing_or_refused():
    whole = np.ma.array(X.astype(int), mask=MASK)
    model = CategoricalNB().fit(whole, Y)
    assert sum(counts.sum() for counts in model.category_count_) == (~MASK).sum()
    for estimator in (MultinomialNB(), ComplementNB()):
        with pytest.raises(
            ValueError, match=f"masked cells, but {type(estimator).__name__} does not support missing values"
        ):
            estimator.fit(whole, Y)
        estimator.fit(np.ma.array(X.astype(int), mask=False), Y)


def test_rows_without_a_label_are_not_scored():
    model = GaussianNB().fit(X, Y)
    kept = np.arange(150) % 3 != 0
    weights = np.random.default_rng(0).random(150)
    for labels in (NUMBERS, np.where(kept, Y, np.nan), pd.array(NUMBERS, dtype="Int64")):
        assert model.score(X, labels) == model.score(X[kept], Y[kept])
        assert model.score(X, labels, weights) == pytest.approx(model.score(X[kept], Y[kept], weights[kept]))
    other = GaussianNB(missing_label=-1).fit(X, Y)
    assert other.score(X, np.where(kept, Y, -1)) == model.score(X[kept], Y[kept])
    with pytest.warns(UndefinedMetricWarning, match="no row has a label"):
        assert np.isnan(model.score(X, [None] * 150))
    with pytest.raises(ValueError, match="inconsistent"):
        model.score(X, NUMBERS[:-1])


def test_grid_search_accepts_missing_labels():
    order = np.random.default_rng(0).permutation(150)
    rows, labels = X[order], np.array(NUMBERS, dtype=object)[order]
    found = cross_val_score(GaussianNB(), rows, labels, error_score="raise")
    assert found.shape == (5,) and found.min() > 0.8
    missing = labels.astype(float)
    np.testing.assert_array_equal(cross_val_score(GaussianNB(), rows, missing, cv=KFold(5)), found)
    coded = np.where(np.isnan(missing), -1, missing).astype(int)
    search = GridSearchCV(GaussianNB(missing_label=-1), {"var_smoothing": [1e-9, 1e3]}, error_score="raise")
    search.fit(rows, coded)
    assert search.best_params_ == {"var_smoothing": 1e-9} and search.best_score_ > 0.9


def test_float_labels_stay_floats_next_to_missing_ones():
    model = GaussianNB().fit(X, [0.0, 1.0, np.nan] * 50)
    assert model.classes_.dtype == model.predict(X).dtype == np.float64
    assert model.classes_.tolist() == [0.0, 1.0]
    assert GaussianNB().fit(X, [0, 1, None] * 50).classes_.dtype == np.int64
