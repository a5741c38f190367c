"""Warnings about unseen categories and rows that are impossible under the model."""

import re
import warnings

import numpy as np
import pandas
import polars
import pyarrow
import pytest

import abduce

COLOURS, X, Y = ["red", "blue"] * 10, np.arange(20.0), [0, 1] * 10
LIBRARIES = [pandas.DataFrame, polars.DataFrame, pyarrow.table]


def warnings_of(work):
    """The messages of all warnings, which point to this file."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        work()
    assert {warning.filename for warning in found} <= {__file__}
    return [str(warning.message) for warning in found]


def rows(library, colours, x):
    return library({"colour": colours, "x": x})


UNSEEN = (
    'column "colour": 2 cells hold categories that the fitted rows do not have (first: "mauve" in row 1); they are '
)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    ("options", "treated_as"),
    [
        ({"smoothing": 0}, "given probability 0"),
        ({"smoothing": 1}, "given the smoothed probability of an unseen category"),
        ({"smoothing": 0, "unseen": "missing"}, "treated as missing"),
    ],
)
def test_unseen_categories_are_counted_and_the_first_is_named(library, options, treated_as):
    fitted, asked = rows(library, COLOURS, X), rows(library, ["red", "mauve", "green"], [1.0, 2.0, 3.0])
    classes = abduce.NaiveBayes(**options).fit(fitted, Y)
    mixture = abduce.Mixture(1, random_state=0, **options).fit(fitted)
    questions = (
        lambda: classes.predict(asked),
        lambda: classes.predict_proba(asked),
        lambda: classes.predict_log_proba(asked),
        lambda: classes.predict_joint_log_proba(asked),
        lambda: classes.impute(asked),
        lambda: mixture.predict(asked),
        lambda: mixture.score_samples(asked),
        lambda: mixture.tail_probability(asked),
    )
    for ask in questions:
        texts = warnings_of(ask)
        assert [text for text in texts if text.startswith("column")] == [UNSEEN + treated_as]
    assert not warnings_of(lambda: classes.predict_proba(fitted))
    assert not warnings_of(lambda: mixture.impute(fitted))


def test_the_warning_about_one_unseen_category_is_singular():
    model = abduce.NaiveBayes(smoothing=0, unseen="missing").fit(rows(pandas.DataFrame, COLOURS, X), Y)
    (text,) = warnings_of(lambda: model.predict(rows(pandas.DataFrame, ["red", "mauve"], [1.0, 2.0])))
    assert text == (
        'column "colour": 1 cell holds a category that the fitted rows do not have ("mauve" in row 1); '
        "it is treated as missing"
    )


def test_numeric_levels_may_be_unseen():
    frame = pandas.DataFrame({"bit": [0, 1] * 10, "x": X})
    model = abduce.Mixture(1, random_state=0).fit(frame)
    texts = warnings_of(lambda: model.score_samples(pandas.DataFrame({"bit": [0, 2], "x": [1.0, 2.0]})))
    assert any('("2" in row 1)' in text for text in texts)


def test_impossible_rows_get_the_weights_of_the_classes_with_a_warning():
    fitted = pandas.DataFrame({"colour": COLOURS, "size": ["s", "l"] * 10})
    asked = pandas.DataFrame({"colour": ["red", "red", "blue"], "size": ["s", "l", "s"]})
    classes = abduce.NaiveBayes(smoothing=0, class_prior=[0.25, 0.75]).fit(fitted, Y)
    several = "2 rows (first: row 1) are impossible under the model; they get the weights of the classes"
    for ask in (classes.predict, classes.predict_proba, classes.predict_log_proba):
        assert warnings_of(lambda ask=ask: ask(asked)) == [several]
        assert warnings_of(lambda ask=ask: ask(asked[:2])) == [
            "row 1 is impossible under the model; it gets the weights of the classes"
        ]
    np.testing.assert_allclose(classes.predict_proba(asked)[1], [0.25, 0.75])
    assert not warnings_of(lambda: classes.predict_proba(asked[:1]))


def test_scikit_learns_classifiers_warn_about_impossible_rows():
    model = abduce.BernoulliNB(alpha=0, force_alpha=True).fit([[0, 1], [1, 0]], [0, 1])
    assert warnings_of(lambda: model.predict_proba([[1, 1]])) == [
        "row 0 is impossible under the model; it gets the weights of the classes"
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        abduce.BernoulliNB().fit([[0, 1], [1, 0]], [0, 1]).predict_proba([[1, 1]])


def test_impossible_rows_get_the_weights_of_the_components_with_a_warning():
    mixture = abduce.Mixture(2, random_state=0).fit(rows(pandas.DataFrame, COLOURS, X))
    asked = rows(pandas.DataFrame, ["red", "mauve"], [1.0, 2.0])
    for ask in (mixture.predict, mixture.predict_proba):
        assert "row 1 is impossible under the model; it gets the weights of the components" in warnings_of(
            lambda ask=ask: ask(asked)
        )


@pytest.mark.parametrize("library", LIBRARIES)
def test_impossible_rows_are_filled_as_empty_rows_with_a_warning(library):
    fitted = rows(library, COLOURS, X)
    asked = rows(library, ["mauve", "mauve", "red", "green"], [None, 2.0, 3.0, None])
    imputer = abduce.MixtureImputer(1, random_state=0).fit(fitted)
    mixture = abduce.Mixture(1, random_state=0).fit(fitted)
    questions = (
        lambda: imputer.transform(asked),
        lambda: imputer.impute(asked, copies=2),
        lambda: mixture.impute(asked),
        lambda: mixture.impute(asked, how="draw", copies=2),
    )
    several = (
        "2 rows (first: row 0) have missing values and are impossible under the model; "
        "filled as if all their cells were missing"
    )
    for ask in questions:
        texts = warnings_of(ask)
        assert [text for text in texts if "rows (" in text] == [several]
        assert len(texts) == 2
    # A row without missing values is not filled.
    assert not [
        text
        for text in warnings_of(
            lambda: imputer.transform(asked[1:3] if library is not pyarrow.table else asked.slice(1, 2))
        )
        if "rows" in text and "missing" in text
    ]


def test_row_numbers_count_across_chunks():
    fitted = rows(pandas.DataFrame, COLOURS, X)
    many = 200_000
    colours = np.array(["red"] * many, dtype=object)
    colours[[150_000, 150_001]] = "mauve"
    x = np.full(many, 1.0)
    x[150_001] = np.nan
    asked = rows(pandas.DataFrame, colours, x)
    model = abduce.MixtureImputer(1, random_state=0).fit(fitted)
    texts = warnings_of(lambda: model.transform(asked))
    assert '(first: "mauve" in row 150000)' in texts[0]
    assert re.match("row 150001 has missing values", texts[1])
