"""Errors and their messages."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import abduce
from abduce.cluster import KMeans
from abduce.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from abduce.impute import GaussianImputer
from abduce.mixture import GaussianMixture, Mixture
from abduce.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, NaiveBayes
from abduce.neighbors import KernelDensity

X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize("make", [GaussianMixture, Mixture])
@pytest.mark.parametrize("numbers", [[], range(0), [1, 0], [-1], np.array([]), [1.5], [2, np.nan]], ids=str)
def test_invalid_numbers_of_components_are_refused(make, numbers):
    with pytest.raises(ValueError, match=r"n_components (is empty|must be a positive)"):
        make(numbers).fit(X)


@pytest.mark.parametrize("number", [0, -1])
def test_invalid_numbers_of_drawn_rows_are_refused(number):
    for draw in (GaussianNB().fit(X, Y).draw, GaussianMixture().fit(X).sample, KernelDensity().fit(X).sample):
        with pytest.raises(ValueError, match=rf"Invalid value for 'n_samples': {number} \. The sampling"):
            draw(number)


def test_missing_rows_cannot_be_explained():
    model = GaussianNB().fit(X, Y)
    with pytest.raises(ValueError, match="Invalid value for 'row': -1"):
        model.explain(X, -1)
    with pytest.raises(IndexError, match="no row 150: X has 150"):
        model.explain(X, 150)


UNFITTED = [
    (GaussianNB(), ["theta_", "var_", "epsilon_", "class_prior_", "class_count_", "classes_", "n_features_in_"]),
    (BernoulliNB(), ["feature_log_prob_", "feature_count_", "class_log_prior_"]),
    (MultinomialNB(class_prior=[0.5, 0.5]), ["class_log_prior_"]),
    (ComplementNB(fit_prior=False), ["class_log_prior_", "feature_all_"]),
    (ComplementNB(class_prior=[0.5, 0.5]), ["class_log_prior_"]),
    (CategoricalNB(), ["category_count_", "n_categories_"]),
    (LinearDiscriminantAnalysis(), ["coef_", "scalings_", "means_", "xbar_", "priors_"]),
    (QuadraticDiscriminantAnalysis(priors=[0.5, 0.5]), ["rotations_", "priors_"]),
    (GaussianMixture(), ["means_", "weights_", "converged_", "lower_bound_", "precisions_", "trace_"]),
    (KMeans(), ["cluster_centers_", "inertia_", "labels_"]),
    (KernelDensity(), ["bandwidth_"]),
    (GaussianImputer(), ["n_iter_"]),
]


@pytest.mark.parametrize(("model", "names"), UNFITTED, ids=lambda value: type(value).__name__)
def test_fitted_attributes_do_not_exist_before_a_fit(model, names):
    for name in names:
        assert not hasattr(model, name)
        with pytest.raises(AttributeError, match=f"This {type(model).__name__} instance is not fitted yet"):
            getattr(model, name)
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    with pytest.raises(AttributeError, match="has no attribute '_nothing'"):
        assert model._nothing


def test_unknown_attributes_of_a_fitted_model_are_attribute_errors():
    model = GaussianNB().fit(X, Y)
    check_is_fitted(model)
    with pytest.raises(AttributeError, match="has no attribute 'thetas_'"):
        assert model.thetas_


def test_unreadable_files_raise_the_matching_exception(tmp_path):
    with pytest.raises(FileNotFoundError, match="nope") as found:
        abduce.load(tmp_path / "nope")
    assert found.value.errno == 2
    with pytest.raises(IsADirectoryError):
        abduce.load(tmp_path)
    model = GaussianNB().fit(X, Y)
    with pytest.raises(IsADirectoryError):
        model.save(tmp_path)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        model.save(tmp_path / "none" / "model")


def twins(kind):
    if kind == "pandas":
        return pd.DataFrame(X, columns=["a", "b", "a", "c"])
    return pa.table([*X.T], names=["a", "b", "a", "c"])


@pytest.mark.parametrize("kind", ["pandas", "arrow"])
@pytest.mark.parametrize(
    "model",
    [NaiveBayes(), Mixture(), GaussianImputer(), GaussianNB(), KMeans()],
    ids=lambda model: type(model).__name__,
)
def test_duplicate_column_names_are_refused(model, kind):
    with pytest.raises(ValueError, match="2 columns of X are named 'a'"):
        clone(model).fit(twins(kind), Y)


def test_cells_of_several_types_are_refused_by_column():
    frame = pd.DataFrame({"size": X[:, 0], "odd": ["a", 1, None] * 50, "even": [1, 2.5, None] * 50}, dtype=object)
    with pytest.raises(TypeError, match=r"column 'odd' holds cells of several types \(int, str\)"):
        NaiveBayes().fit(frame, Y)
    with pytest.raises(TypeError, match='column "odd" holds objects'):
        NaiveBayes().fit(pl.DataFrame({"odd": pl.Series(frame["odd"].tolist(), dtype=pl.Object)}), Y)
    frame["odd"] = frame["odd"].astype(str)
    assert NaiveBayes().fit(frame, Y).score(frame, Y) > 0.6


def test_an_invalid_level_is_named():
    table = np.floor(X)
    table[7, 2] = 1e150
    with pytest.raises(ValueError, match=r"coded 0, 1, 2, ….*column x2 has the value 1e\+150"):
        CategoricalNB().fit(table, Y)
    model = CategoricalNB().fit(np.floor(X), Y)
    with pytest.raises(ValueError, match="column x2"):
        model.predict(table)


def test_messages_name_parameters_rows_and_columns():
    frame = pd.DataFrame({"a": ["1", "2", "x"], "b": [1.0, 2.0, 3.0]})
    with pytest.raises(ValueError) as caught:
        NaiveBayes(kinds={"a": "real"}).fit(frame, [0, 1, 1])
    assert "row 2" in str(caught.value) and 'column "a"' in str(caught.value)
    assert "--" not in str(caught.value) and "line" not in str(caught.value)
    with pytest.raises(ValueError) as caught:
        NaiveBayes(kinds={"b": "count"}).fit(frame.assign(b=[0.5, 1.0, 2.0]), [0, 1, 1])
    assert 'kinds={"b": "real"}' in str(caught.value)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_numbers_with_infinite_squares_are_refused(scale):
    X = np.arange(12.0).reshape(6, 2) * scale
    for model in (GaussianNB(), GaussianMixture(2)):
        with pytest.raises(ValueError, match="rescale"):
            model.fit(X, [0, 0, 0, 1, 1, 1])


def test_numbers_with_infinite_squares_are_refused_in_questions():
    y = [0, 0, 0, 1, 1, 1]
    X = np.arange(12.0).reshape(6, 2)
    for model in (GaussianNB(), GaussianMixture(2), KMeans(2), NaiveBayes(), LinearDiscriminantAnalysis(), Mixture(2)):
        model.fit(X, y)
        assert model.predict(X * 1e148).shape == (6,)
        with pytest.raises(ValueError, match="beyond 1e150; rescale"):
            model.predict(X * 1e300)
        with pytest.raises(ValueError, match="infinity"):
            model.predict(np.full((1, 2), np.inf))


def test_a_constant_column_may_have_any_value():
    X = np.column_stack([np.full(6, 1e-200), np.arange(6.0)])
    assert GaussianNB().fit(X, [0, 0, 0, 1, 1, 1]).score(X, [0, 0, 0, 1, 1, 1]) == 1.0


def test_a_failed_fit_keeps_the_previous_model():
    for model in (KMeans(3), GaussianMixture(3), Mixture(3), KernelDensity(), GaussianImputer()):
        model.fit(X)
        wrong = X[:, :2].copy()
        wrong[0, 0] = np.inf
        with pytest.raises(ValueError):
            model.fit(wrong)
        assert model.n_features_in_ == 4


def test_kinds_of_columns_of_arrays_are_checked():
    with pytest.raises(ValueError, match="pass a frame"):
        Mixture(2, kinds={"x0": "categorical"}).fit(X)
    with pytest.raises(ValueError, match="kinds has 'nope', which matches no column"):
        Mixture(2, kinds={"nope": "real"}).fit(X)


def test_fewer_components_than_requested_cause_a_warning():
    with pytest.warns(UserWarning, match="50 components were requested for 5 rows"):
        Mixture(50).fit(X[:5])


def test_given_values_are_finite_and_classes_are_compared_by_value():
    model = GaussianNB().fit(X, Y + 1.0)
    assert set(model.draw(20, given={"y": 2.0})["y"]) == {2.0}
    for value in (np.inf, np.nan):
        with pytest.raises(ValueError, match="cannot have the value"):
            model.draw(2, given={"x0": value})


def test_dashes_in_names_are_kept():
    frame = pd.DataFrame({"d--e": ["u--v", "1", "2"]})
    with pytest.raises(ValueError, match=r'column "d--e".*u--v'):
        NaiveBayes(kinds={"d--e": "real"}).fit(frame, [0, 1, 1])


def test_unaligned_labels_and_weights_are_read():
    labels = np.frombuffer(b"x" + Y.astype(np.int64).tobytes(), dtype=np.int64, offset=1)
    weights = np.frombuffer(b"x" + np.ones(len(Y)).tobytes(), dtype=np.float64, offset=1)
    model = GaussianNB().fit(X, labels, weights)
    np.testing.assert_allclose(model.theta_, GaussianNB().fit(X, Y).theta_)


def test_a_polars_column_of_type_null_is_missing():
    frame = pl.DataFrame({"a": [1.0, 2.0, 5.0, 6.0], "b": [None] * 4})
    assert NaiveBayes().fit(frame, [0, 0, 1, 1]).score(frame, [0, 0, 1, 1]) == 1.0


@pytest.mark.parametrize("init", ["random", "random_from_data"])
def test_starts_depend_on_the_random_state(init):
    fits = [
        GaussianMixture(5, init_params=init, reg_covar=0, max_iter=1, tol=10, random_state=s).fit(X) for s in range(4)
    ]
    assert len({round(fit.lower_bound_, 9) for fit in fits}) > 1


def test_unsupported_types_of_cells_are_refused_by_column():
    for cells, type_name in (
        ([1j, 2j], "complex"),
        ([pd.Period("2020"), pd.Period("2021")], "Period"),
        ([1.0, "a"], "several"),
    ):
        frame = pd.DataFrame({"b": [1.0, 2.0], "a": pd.Series(cells, dtype=None if type_name == "complex" else object)})
        with pytest.raises(TypeError, match=f"column 'a' holds cells of .*{type_name}"):
            NaiveBayes().fit(frame, [0, 1])


def test_weights_have_an_upper_limit():
    y = [0, 0, 0, 1, 1, 1]
    X = np.arange(12.0).reshape(6, 2) ** 1.5
    expected = GaussianNB().fit(X, y).predict_proba(X)
    np.testing.assert_allclose(GaussianNB().fit(X, y, np.full(6, 1e90)).predict_proba(X), expected)
    np.testing.assert_allclose(GaussianNB().fit(X, y, np.full(6, 1e-302)).predict_proba(X), expected)
    for model in (GaussianNB(), KMeans(2), NaiveBayes()):
        with pytest.raises(ValueError, match="weight"):
            model.fit(X, y, sample_weight=np.full(6, 1e200))


def test_duplicate_names_of_hypotheses_are_refused():
    with pytest.raises(ValueError, match="same name"):
        abduce.bayes.Hypotheses(["a", "a"], {"x": [0.1, 0.2]})


FRAME = pd.DataFrame(X - 2, columns=["a", "b", "c", "d"])


def test_imputers_accept_how_with_copies():
    imputer = GaussianImputer().fit(FRAME)
    missing = FRAME.assign(a=np.nan)
    copies = imputer.impute(missing, how="draw", copies=2, random_state=0)
    assert len(copies) == 2 and not copies[0].equals(copies[1])
    assert copies[0].equals(imputer.impute(missing, copies=2, random_state=0)[0])
    with pytest.raises(ValueError, match='copies needs how="draw"'):
        imputer.impute(missing, how="mean", copies=2)


PRIORS = [
    (lambda priors: GaussianNB(priors=priors), X),
    (lambda priors: LinearDiscriminantAnalysis(priors=priors), X),
    (lambda priors: QuadraticDiscriminantAnalysis(priors=priors), X),
    (lambda priors: BernoulliNB(class_prior=priors), X),
    (lambda priors: CategoricalNB(class_prior=priors), np.floor(X)),
    (lambda priors: MultinomialNB(class_prior=priors), X),
    (lambda priors: ComplementNB(class_prior=priors), X),
    (lambda priors: NaiveBayes(class_prior=priors), X),
]


@pytest.mark.parametrize(
    ("make", "rows"), PRIORS, ids=lambda value: type(value(None)).__name__ if callable(value) else ""
)
@pytest.mark.parametrize("odd", [np.nan, np.inf])
def test_priors_are_finite(make, rows, odd):
    with pytest.raises(ValueError, match="Priors must be finite"):
        make([odd, 0.5, 0.5]).fit(rows, Y)


@pytest.mark.parametrize(
    "make", [lambda priors: NaiveBayes(class_prior=priors), lambda priors: GaussianNB(priors=priors)]
)
def test_priors_sum_to_one(make):
    with pytest.raises(ValueError, match=r"The sum of (class_prior|the priors) should be 1"):
        make([0.5, 0.6, 0.1]).fit(X, Y)
    np.testing.assert_allclose(make([0.5, 0.4, 0.1]).fit(X, Y).class_prior_, [0.5, 0.4, 0.1])


def test_a_class_prior_may_be_a_dict(tmp_path):
    expected = NaiveBayes(class_prior=[0.5, 0.4, 0.1]).fit(X, Y)
    model = NaiveBayes(class_prior={2: 0.1, 0: 0.5, 1: 0.4}).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))
    words = np.array(["a", "b", "c"])[Y]
    np.testing.assert_array_equal(
        NaiveBayes(class_prior={"c": 0.1, "a": 0.5, "b": 0.4}).fit(X, words).class_prior_, model.class_prior_
    )
    model.save(tmp_path / "model.abduce")
    again = abduce.load(tmp_path / "model.abduce").fit(X, Y)
    np.testing.assert_array_equal(again.class_prior_, model.class_prior_)
    floats = NaiveBayes(class_prior={2: 0.1, 0: 0.5, 1: 0.4}).fit(X, Y.astype(float))
    np.testing.assert_array_equal(floats.class_prior_, model.class_prior_)
    for wrong in ({0: 0.5, 1: 0.5}, {0: 0.5, 1: 0.3, 3: 0.2}, {0: 0.5, 1: 0.3, 2: 0.1, 3: 0.1}):
        with pytest.raises(ValueError, match=r"class_prior names the classes .*the classes are 0, 1, 2"):
            NaiveBayes(class_prior=wrong).fit(X, Y)
    with pytest.raises(ValueError, match="The sum of class_prior should be 1"):
        NaiveBayes(class_prior={0: 0.5, 1: 0.3, 2: 0.3}).fit(X, Y)


def test_a_name_may_look_like_a_comparison():
    model = NaiveBayes().fit(FRAME, Y)
    assert model.query("P(a>4)") + model.query("P(a≤4)") == pytest.approx(1.0)
    for question in ("P(a>4", "P(y | a>)", "P(y | a>=four)", "P(y | a><4)", "P(y | a between 4)"):
        with pytest.raises(ValueError, match="character"):
            model.query(question)
    strange = NaiveBayes().fit(pd.DataFrame({"a>4": ["yes", "no"] * 75}), Y)
    assert sum(strange.query("P(a>4)").values()) == pytest.approx(1.0)
    assert 0 < strange.query("P(a>4=yes)") < 1


def test_impossible_evidence_is_a_value_error():
    both = pd.DataFrame({"a": ["x", "y"] * 10, "b": ["x", "y"] * 10})
    model = NaiveBayes(smoothing=0).fit(both, [0, 1] * 10)
    for question in ("P(y | a=x, b=y)", "P(y, b | a=x, y=1)", "MAP(y, b | a=x, y=1)", "P(y=1, b=x | a=y, b=x)"):
        with pytest.raises(ValueError):
            model.query(question)
    with pytest.raises(ValueError, match="probability 0"):
        model.query("P(y | a=x, b=y)")
    with pytest.raises(ValueError, match="probability 0"):
        model.draw(2, given={"a": "x", "b": "y"})
    mixture = Mixture(1, families={"n": "uniform"}, random_state=0).fit(
        pd.DataFrame({"n": np.linspace(0.5, 9.5, 40), "c": ["u", "v"] * 20})
    )
    for question in ("P(c | n=99)", "P(component | n=99)", "P(c=u | n=99)", "MAP(c | n=99)"):
        with pytest.raises(ValueError, match="probability 0"):
            mixture.query(question)
    hypotheses = abduce.bayes.Hypotheses({"a": 0.5, "b": 0.5}, {"x": [0, 0]})
    with pytest.raises(ValueError, match="impossible under every hypothesis"):
        hypotheses.observe("x")


def test_priors_of_hypotheses_that_do_not_sum_to_one_name_the_option():
    with pytest.raises(ValueError, match=r"the priors sum to 0\.9, not to 1; pass normalize=True"):
        abduce.bayes.Hypotheses({"a": 0.5, "b": 0.4}, {"x": [0.1, 0.2]})
    assert abduce.bayes.Hypotheses({"a": 5, "b": 4}, {"x": [0.1, 0.2]}, normalize=True).posterior["a"] == 5 / 9


@pytest.mark.parametrize("family", ["weibull", "gaussian(1"])
def test_the_error_about_an_unknown_family_has_no_json_position(family):
    for model in (NaiveBayes(families={"a": family}), Mixture(families={"a": family})):
        with pytest.raises(ValueError) as caught:
            model.fit(FRAME, Y)
        assert str(caught.value).startswith(f'"{family}" is not a family a column can have')
        assert " line " not in str(caught.value)


def test_kinds_and_families_are_strings_by_names():
    for model in (NaiveBayes(kinds={"a": 3}), Mixture(kinds={"a": 3}), GaussianImputer(kinds={"a": 3})):
        with pytest.raises(TypeError, match="kinds must be a dict of strings by column name, but it has 'a': 3"):
            model.fit(FRAME, Y)
    for model in (NaiveBayes(families={0: "gamma"}), Mixture(families={0: "gamma"})):
        with pytest.raises(TypeError, match="families must be a dict of strings by column name, but it has 0: 'gamma'"):
            model.fit(FRAME, Y)


def test_hints_are_written_in_python(tmp_path):
    with pytest.raises(ValueError, match=r'families=\{"b": "gaussian"\}, whose support is all numbers'):
        NaiveBayes(families={"b": "gamma"}).fit(FRAME - 2, Y)
    with pytest.raises(ValueError, match="smoothing=1"):
        ComplementNB(alpha=0, force_alpha=True).fit([[0, 1], [1, 0], [1, 0]], [0, 1, 1])
    path = tmp_path / "program.py"
    path.write_text("x = 1")
    with pytest.raises(
        ValueError, match=r"this is not an abduce model; name a file that a fitted model was saved to"
    ) as caught:
        abduce.load(path)
    assert "abduce fit" not in str(caught.value)


COLUMNS = [pd.Series([1.0, 2.0, 3.0]), pl.Series([1.0, 2.0, 3.0]), pa.array([1.0, 2.0, 3.0]), pa.chunked_array([[1.0]])]


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: f"{type(column).__module__}.{type(column).__name__}")
def test_a_single_column_is_refused(column):
    for model in (NaiveBayes(), Mixture(), GaussianImputer(), GaussianNB(), GaussianMixture(), KMeans()):
        with pytest.raises(ValueError, match=r"X is a single column.*pass a frame.*two-dimensional"):
            model.fit(column, [0, 1, 1])
    for model in (NaiveBayes().fit(FRAME, Y), Mixture().fit(FRAME)):
        with pytest.raises(ValueError, match="X is a single column"):
            model.predict(column)


def test_sparse_columns_of_pandas_are_read_as_dense():
    dense = FRAME.assign(b=[np.nan, *FRAME["b"][1:]])
    sparse = dense.astype(pd.SparseDtype(float))
    np.testing.assert_array_equal(
        NaiveBayes().fit(sparse, Y).predict_proba(sparse), NaiveBayes().fit(dense, Y).predict_proba(dense)
    )
    assert Mixture(1, random_state=0).fit(sparse).draw(3, random_state=0).shape == (3, 4)
    imputer = GaussianImputer().fit(sparse)
    pd.testing.assert_frame_equal(imputer.transform(sparse), GaussianImputer().fit(dense).transform(dense))


@pytest.mark.parametrize("row", ["r1", 1.5, None, True], ids=str)
def test_the_row_to_explain_is_a_position(row):
    with pytest.raises(TypeError, match="row must be a position in X"):
        NaiveBayes().fit(FRAME, Y).explain(FRAME, row)
    assert NaiveBayes().fit(FRAME, Y).explain(FRAME, np.int64(3))["class"] == 0


def test_notes_of_estimates_name_no_command_line_option():
    rows = X.copy()
    rows[0, 0] = np.nan
    notes = abduce.families.estimate("multivariate-gaussian", rows)["notes"]
    assert any("rows with a missing value" in note for note in notes)
    assert not any("abduce fit" in note or "--" in note for note in notes)
