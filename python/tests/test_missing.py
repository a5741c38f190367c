"""Missing cells and labels, and row weights."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.special import log_softmax
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as TheirLinear
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer

from abduce.cluster import KMeans
from abduce.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from abduce.impute import GaussianImputer, MixtureImputer
from abduce.mixture import GaussianMixture, Mixture
from abduce.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, NaiveBayes
from abduce.neighbors import KernelDensity

X, Y = load_iris(return_X_y=True)


def with_missing_cells(share=0.2, seed=1):
    rng = np.random.default_rng(seed)
    return np.where(rng.random(X.shape) < share, np.nan, X)


def test_naive_bayes_ignores_missing_cells():
    missing = with_missing_cells()
    model = GaussianNB().fit(missing, Y)
    for label in range(3):
        np.testing.assert_allclose(model.theta_[label], np.nanmean(missing[Y == label], axis=0))
    probabilities = model.predict_proba(missing)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    unseen = GaussianNB().fit(np.column_stack([missing, np.full(len(X), np.nan)]), Y)
    np.testing.assert_allclose(unseen.theta_[:, :4], model.theta_)
    assert np.isnan(unseen.theta_[:, 4]).all()
    nothing = np.full((1, 4), np.nan)
    np.testing.assert_allclose(model.predict_proba(nothing)[0], model.class_prior_)


@pytest.mark.parametrize("estimator", [BernoulliNB(binarize=3.0), CategoricalNB(), NaiveBayes()])
def test_other_naive_bayes_accept_missing_cells(estimator):
    probabilities = estimator.fit(with_missing_cells(), Y).predict_proba(with_missing_cells(seed=2))
    assert np.isfinite(probabilities).all()


@pytest.mark.parametrize(("missing", "option"), [(np.nan, None), (None, None), (-1, -1)], ids=["NaN", "None", "-1"])
def test_labels_may_be_missing(missing, option):
    labels = Y.astype(object if missing is None else float)
    labels[::3] = missing
    model = GaussianNB(missing_label=option).fit(X, labels)
    assert list(model.classes_) == [0, 1, 2]
    assert model.score(X, Y) > 0.9


def test_a_gaussian_mixture_accepts_missing_cells_and_weights():
    missing = with_missing_cells(0.1)
    model = GaussianMixture(3, random_state=0, max_iter=500).fit(missing)
    assert np.isfinite(model.score_samples(missing)).all()
    twice = GaussianMixture(3, random_state=0, tol=1e-10, max_iter=2000).fit(np.vstack([X, X]))
    weighted = GaussianMixture(3, random_state=0, tol=1e-10, max_iter=2000).fit(X, sample_weight=np.full(len(X), 2.0))
    np.testing.assert_allclose(weighted.score(X), twice.score(X), rtol=1e-6)


def test_the_number_of_components_is_chosen():
    chosen = GaussianMixture(range(1, 6), random_state=0).fit(X)
    assert len(chosen.weights_) == 2
    assert len(Mixture(range(1, 6), random_state=0).fit(X).weights_) == 2


def test_imputers_change_only_missing_cells():
    missing = with_missing_cells()
    seen = ~np.isnan(missing)
    for imputer in (GaussianImputer(), MixtureImputer(3, random_state=0), MixtureImputer(2, how="draw")):
        filled = imputer.fit_transform(missing)
        assert np.isfinite(filled).all()
        np.testing.assert_array_equal(filled[seen], missing[seen])
    better = np.abs(GaussianImputer().fit_transform(missing) - X)[~seen].mean()
    worse = np.abs(np.nanmean(missing, axis=0) - X)[~seen].mean()
    assert better < 0.6 * worse


def penguins():
    return pd.DataFrame(
        {
            "bill": [39.1, 39.5, None, 46.5, 50.0, 51.3, 46.1, 50.0],
            "island": pd.Categorical(["t", "t", "t", "d", "d", None, "b", "b"]),
            "male": [True, False, False, True, None, True, False, True],
            "chicks": [0, 1, 2, 3, 1, 0, 2, 2],
        }
    )


SPECIES = ["adelie", "adelie", "adelie", "chinstrap", "chinstrap", "chinstrap", "gentoo", None]


def in_duckdb(frame):
    return duckdb.from_arrow(pa.Table.from_pandas(frame))


FRAMES = [lambda frame: frame, pl.from_pandas, pa.Table.from_pandas, in_duckdb]


@pytest.mark.parametrize("of", FRAMES, ids=["pandas", "polars", "pyarrow", "duckdb"])
def test_frames_with_mixed_columns_are_accepted(of):
    frame = of(penguins())
    model = NaiveBayes().fit(frame, SPECIES)
    assert list(model.classes_) == ["adelie", "chinstrap", "gentoo"]
    assert model.predict(frame)[0] == "adelie"
    np.testing.assert_allclose(model.predict_proba(frame).sum(axis=1), 1.0)
    assert list(model.feature_names_in_) == ["bill", "island", "male", "chicks"]
    mixture = Mixture(2, random_state=0).fit(frame)
    assert np.isfinite(mixture.score_samples(frame)).all()


def test_a_filled_frame_is_a_frame():
    filled = MixtureImputer(2, random_state=0).fit_transform(penguins())
    assert isinstance(filled, pd.DataFrame)
    assert not filled.isna().any().any()
    assert set(filled["island"]) <= {"t", "d", "b"}


def test_dates_are_refused():
    frame = penguins().assign(day=pd.Timestamp("2026-01-01"))
    with pytest.raises(TypeError, match='column "day" holds dates'):
        NaiveBayes().fit(frame, SPECIES)
    days = pd.date_range("2026-01-01", periods=4)
    for times in (days.to_numpy(), (days - days[0]).to_numpy()):
        with pytest.raises(TypeError, match="X holds dates or times"):
            GaussianNB().fit(times.reshape(-1, 1), [0, 0, 1, 1])
    table = pd.DataFrame({"a": days, "b": 1.0})
    for frame in (table, pl.DataFrame(table), pa.table(table), table.assign(a=days.to_period())):
        for model in (GaussianNB(), NaiveBayes(), KMeans(2)):
            with pytest.raises(TypeError, match='column "a" holds dates'):
                model.fit(frame, [0, 0, 1, 1])
    for cells in (days.to_numpy(), days.tolist(), (days - days[0]).tolist(), days.date):
        for rows in ([[cell] for cell in cells], np.array([[cell] for cell in cells], dtype=object)):
            with pytest.raises(TypeError, match="dates or times"):
                GaussianNB().fit(rows, [0, 0, 1, 1])
        with pytest.raises(TypeError, match='column "a" holds dates'):
            GaussianNB().fit(pd.DataFrame({"a": pd.Series(list(cells), dtype=object)}), [0, 0, 1, 1])


def test_imputers_add_indicators_and_leave_empty_columns_out():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(40, 3))
    missing = np.where(rng.random(table.shape) < 0.2, np.nan, table)
    missing[:, 0] = np.arange(40)
    wide = np.column_stack([missing, np.full(40, np.nan)])
    filled = GaussianImputer().fit_transform(missing)
    np.testing.assert_allclose(GaussianImputer().fit_transform(wide), filled)
    kept = GaussianImputer(keep_empty_features=True).fit_transform(wide)
    np.testing.assert_allclose(kept, np.column_stack([filled, np.zeros(40)]))
    model = GaussianImputer(add_indicator=True).fit(wide)
    theirs = SimpleImputer(add_indicator=True).fit(wide)
    np.testing.assert_array_equal(model.transform(wide)[:, 3:], theirs.transform(wide)[:, 3:])
    assert list(model.get_feature_names_out()) == list(theirs.get_feature_names_out())
    frame = pd.DataFrame(wide, columns=list("abcd"))
    imputer = GaussianImputer(add_indicator=True).fit(frame)
    assert list(imputer.transform(frame).columns) == list(theirs.fit(frame).get_feature_names_out())
    coded = np.where(np.isnan(missing), -99.0, missing)
    np.testing.assert_allclose(GaussianImputer(missing_values=-99).fit_transform(coded), filled)
    with pytest.raises(ValueError, match="nulls"):
        GaussianImputer(missing_values=-99).fit(frame)


def test_an_incomplete_row_is_transformed_to_its_expected_projection():
    model = LinearDiscriminantAnalysis().fit(X, Y)
    missing = X[:20].copy()
    missing[:, 1] = np.nan
    drawn = np.mean([model.transform(_drawn(model, missing, seed)) for seed in range(2000)], axis=0)
    np.testing.assert_allclose(model.transform(missing), drawn, atol=0.2)


def _drawn(model, missing, seed):
    return np.column_stack([model.impute(missing, how="draw", random_state=seed)[f"x{c}"] for c in range(4)])


EMPTY = np.column_stack([X[:, :2], np.full(len(X), np.nan), X[:, 2:]])
SEEN = [0, 1, 3, 4]


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_an_empty_column_is_nan_in_a_mixture_and_changes_nothing_else(kind):
    model = GaussianMixture(2, covariance_type=kind, random_state=0).fit(EMPTY)
    without = GaussianMixture(2, covariance_type=kind, random_state=0).fit(X)
    assert np.isnan(model.means_[:, 2]).all()
    np.testing.assert_allclose(model.means_[:, SEEN], without.means_)
    for name in ("covariances_", "precisions_", "precisions_cholesky_"):
        value, other = getattr(model, name), getattr(without, name)
        if kind == "spherical":
            np.testing.assert_allclose(value, other)
            continue
        axes = 1 if kind == "diag" else 2
        assert value.shape == other.shape[:-axes] + (5,) * axes
        np.testing.assert_allclose(value[(..., *np.ix_(*[SEEN] * axes))], other, atol=1e-12)
        assert np.isnan(value[..., 2]).all()
        assert axes == 1 or np.isnan(value[..., 2, :]).all()
    np.testing.assert_array_equal(model.predict(EMPTY), without.predict(X))
    np.testing.assert_allclose(model.score_samples(EMPTY), without.score_samples(X))
    rows, labels = model.sample(20)
    assert rows.shape == (20, 5) and labels.shape == (20,)
    np.testing.assert_array_equal(np.isnan(rows), np.tile([False, False, True, False, False], (20, 1)))
    assert Mixture(2, random_state=0).fit(EMPTY).score(EMPTY) == pytest.approx(
        Mixture(2, random_state=0).fit(X).score(X)
    )


def test_starts_may_be_given_with_an_empty_column():
    means = np.column_stack([X[[0, 100]][:, :2], [7.0, 8.0], X[[0, 100]][:, 2:]])
    model = GaussianMixture(2, means_init=means, max_iter=1, tol=0, reg_covar=0, random_state=0)
    without = GaussianMixture(2, means_init=X[[0, 100]], max_iter=1, tol=0, reg_covar=0, random_state=0)
    with pytest.warns(ConvergenceWarning):
        np.testing.assert_allclose(model.fit(EMPTY).means_[:, SEEN], without.fit(X).means_)


def test_an_empty_column_is_nan_in_centers():
    model, without = (KMeans(3, random_state=0).fit(rows) for rows in (EMPTY, X))
    assert model.cluster_centers_.shape == (3, 5)
    assert np.isnan(model.cluster_centers_[:, 2]).all()
    np.testing.assert_allclose(model.cluster_centers_[:, SEEN], without.cluster_centers_)
    np.testing.assert_array_equal(model.predict(EMPTY), without.predict(X))
    np.testing.assert_allclose(model.transform(EMPTY), without.transform(X))
    start = np.nan_to_num(EMPTY[[0, 60, 120]])
    at = KMeans(3, init=start).fit(EMPTY)
    np.testing.assert_allclose(at.cluster_centers_[:, SEEN], KMeans(3, init=start[:, SEEN]).fit(X).cluster_centers_)


def test_a_density_of_an_empty_column_is_refused():
    for discriminant in (LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis()):
        with pytest.raises(ValueError, match="column 2 has only missing values"):
            discriminant.fit(EMPTY, np.arange(len(EMPTY)) % 2)
    with pytest.raises(ValueError, match="column x2 has only missing values"):
        KernelDensity().fit(EMPTY)
    with pytest.raises(ValueError, match="column c has only missing values"):
        KernelDensity().fit(pd.DataFrame(EMPTY, columns=list("abcde")))


def test_a_linear_discriminant_with_missing_cells_scores_like_its_model():
    model = LinearDiscriminantAnalysis().fit(with_missing_cells(), Y)
    joint = model._model.log_joint(model._prediction_table(X), 1)
    np.testing.assert_allclose(model.predict_log_proba(X), log_softmax(joint, axis=1), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.covariance_, model._gaussians().covariances()[0])


def test_an_empty_row_is_in_the_largest_cluster():
    rows = np.r_[np.zeros((3, 2)), np.full((9, 2), 5.0), [[np.nan, np.nan]]] + 0.01 * np.arange(13)[:, None]
    for start in ([[0.0, 0.0], [5.0, 5.0]], [[5.0, 5.0], [0.0, 0.0]]):
        model = KMeans(2, init=np.array(start)).fit(rows)
        assert model.labels_[-1] == model.labels_[4]
        assert model.predict(rows[-1:]) == model.labels_[4]


def test_a_linear_discriminant_ignores_columns_constant_within_classes():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    table = np.c_[rng.normal(size=(200, 4)) + y[:, None] * [1, 0, 0, -1], y]
    ours, theirs = (estimator().fit(table, y) for estimator in (LinearDiscriminantAnalysis, TheirLinear))
    np.testing.assert_allclose(ours.predict_proba(table), theirs.predict_proba(table), atol=1e-12)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-12)
    assert ours.scalings_.shape == theirs.scalings_.shape


@pytest.mark.parametrize("estimator", [GaussianImputer(), MixtureImputer(1), Mixture(1), GaussianMixture(1)])
def test_imputed_copies_vary_with_the_uncertainty_of_the_parameters(estimator):
    # Nearly without noise given the parameters: at x = 50, only the slope is uncertain.
    table = np.array([[1, 2.1], [2, 3.9], [3, 6.2], [4, 7.8], [50, np.nan]])
    model = estimator.fit(table)
    more = {} if hasattr(model, "transform") else {"how": "draw"}

    def filled(copies):
        each = model.impute(table, copies=copies, random_state=0, **more)
        return np.array([copy["x1"][-1] if isinstance(copy, dict) else copy[-1, 1] for copy in each])

    drawn = filled(40)
    assert len(set(drawn)) == 40
    # The slope varies by about 0.04 over the copies, which is 2 at x = 50; draws from a single fit vary by 0.15.
    assert drawn.std() > 1
    np.testing.assert_array_equal(drawn[:3], filled(3))
    with pytest.raises(ValueError, match="copies"):
        filled(0)


@pytest.mark.parametrize(("model", "answer"), [(NaiveBayes, "predict_joint_log_proba"), (Mixture, "score_samples")])
def test_an_unseen_category_is_impossible_or_missing(model, answer):
    rows = pd.DataFrame({"colour": ["red", "blue", "red", "blue"], "size": [1.0, 2.0, 3.0, 4.5]})
    unseen = pd.DataFrame({"colour": ["green"], "size": [2.0]})
    missing = pd.DataFrame({"colour": pd.Series([None], dtype=object), "size": [2.0]})
    labels = [0, 1, 0, 1]
    strict = getattr(model(smoothing=0).fit(rows, labels), answer)
    lenient = getattr(model(smoothing=0, unseen="missing").fit(rows, labels), answer)
    assert (strict(unseen) == -np.inf).all()
    assert np.isfinite(lenient(missing)).all()
    np.testing.assert_array_equal(lenient(unseen), lenient(missing))
    with pytest.raises(ValueError, match="unseen"):
        model(unseen="unlikely").fit(rows, labels)
