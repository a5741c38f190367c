"""Strings among numbers: columns of strings that are mostly numbers cause a warning, arrays of strings are refused."""

import io
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone

from abduce.impute import GaussianImputer, MixtureImputer
from abduce.mixture import Mixture
from abduce.naive_bayes import NaiveBayes

ROWS = 30
CELLS = [str(n % 4) for n in range(ROWS - 2)] + ["NA", "NA"]
X = np.linspace(0, 1, ROWS)
LABELS = np.arange(ROWS) % 2
FRAMES = {
    "pandas": pd.DataFrame({"a": CELLS, "x": X}),
    "objects": pd.DataFrame({"a": pd.Series(CELLS, dtype=object), "x": X}),
    "nullable": pd.DataFrame({"a": pd.Series(CELLS, dtype="string"), "x": X}),
    "Arrow in pandas": pd.DataFrame({"a": pd.Series(CELLS, dtype=pd.ArrowDtype(pa.large_string())), "x": X}),
    "polars": pl.DataFrame({"a": CELLS, "x": X}),
    "pyarrow": pa.table({"a": CELLS, "x": X}),
    "views": pa.table({"a": pa.array(CELLS, pa.string_view()), "x": X}),
}


def warnings_of(work):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        work()
    return [warning for warning in caught if "of them are numbers" in str(warning.message)]


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize("model", [NaiveBayes(), Mixture(1), MixtureImputer(1)], ids=lambda model: type(model).__name__)
def test_a_word_among_numbers_causes_one_warning(model, library):
    (warning,) = warnings_of(lambda: model.fit(FRAMES[library], LABELS))
    assert 'column "a" holds strings; 93.3% of them are numbers, but "NA" is not' in str(warning.message)
    assert "null_values=" in str(warning.message) and 'kinds={"a": "categorical"}' in str(warning.message)
    assert warning.filename == __file__


def test_a_table_of_polars_with_words_for_missing_values_causes_a_warning():
    table = "a,x\n" + "\n".join(f"{cell},{x}" for cell, x in zip(CELLS, X, strict=True))
    read = pl.read_csv(io.StringIO(table))
    assert len(warnings_of(lambda: NaiveBayes().fit(read, LABELS))) == 1
    read = pl.read_csv(io.StringIO(table), null_values="NA")
    assert warnings_of(lambda: NaiveBayes().fit(read, LABELS)) == []


@pytest.mark.parametrize(
    "cells",
    {
        "numbers": [str(n % 4) for n in range(ROWS)],
        "numbers and nulls": [str(n % 4) for n in range(ROWS - 2)] + [None, " "],
        "words": ["a", "b", "c"] * 10,
        "mostly words": ["a", "b", "1"] * 10,
        "categories": pd.Categorical(CELLS),
        "booleans": [True, False] * 15,
        "numbers as objects": pd.Series([n % 4 for n in range(ROWS - 1)] + [None], dtype=object),
    }.items(),
    ids=lambda pair: pair[0],
)
def test_other_columns_cause_no_warning(cells):
    assert warnings_of(lambda: NaiveBayes().fit(pd.DataFrame({"a": cells[1], "x": X}), LABELS)) == []


def test_a_column_whose_kind_was_chosen_causes_no_warning():
    for kinds in ({"a": "categorical"}, {"a*": "categorical"}):
        assert warnings_of(lambda kinds=kinds: NaiveBayes(kinds=kinds).fit(FRAMES["pandas"], LABELS)) == []
    assert len(warnings_of(lambda: NaiveBayes(kinds={"x": "real"}).fit(FRAMES["pandas"], LABELS))) == 1


def test_several_columns_share_one_warning():
    frame = pd.DataFrame({name: CELLS for name in "abcde"} | {"x": X})
    (warning,) = warnings_of(lambda: Mixture(1).fit(frame))
    assert '(the same holds for "b" and "c" and 2 more columns)' in str(warning.message)


def test_later_rows_cause_no_warning():
    frame = FRAMES["pandas"]
    model = NaiveBayes(kinds={"a": "categorical"}).fit(frame, LABELS)
    model.set_params(kinds=None)
    changes = (
        lambda: model.predict(frame),
        lambda: model.partial_fit(frame, LABELS),
        lambda: model.forget(frame, LABELS),
    )
    assert [warnings_of(change) for change in changes] == [[], [], []]


def test_a_share_just_below_one_is_not_rounded_to_all():
    rows = 3000
    frame = pd.DataFrame({"a": ["1", "2", "3"] * (rows // 3), "x": np.linspace(0, 1, rows)})
    frame.loc[rows - 1, "a"] = "?"
    (warning,) = warnings_of(lambda: Mixture(1).fit(frame))
    assert "99.9% of them" in str(warning.message)


@pytest.mark.parametrize("model", [NaiveBayes(), Mixture(1), GaussianImputer()], ids=lambda model: type(model).__name__)
@pytest.mark.parametrize(
    "rows",
    [[["a", "b"], ["c", "d"]], np.array([["a", 1.0], ["b", 2.0]], dtype=object), [["1", "a"], ["2", "3"]]],
    ids=["strings", "objects", "number strings"],
)
def test_an_array_of_strings_is_refused_with_the_way_to_pass_categories(model, rows):
    with pytest.raises(ValueError, match=r"with the string 'a', .*; for columns of categories pass a data frame"):
        clone(model).fit(rows, [0, 1])


def test_the_frame_of_strings_that_the_error_advises_is_accepted():
    frame = pd.DataFrame([["a", "b"], ["c", "d"], ["a", "d"]])
    assert NaiveBayes().fit(frame, [0, 1, 0]).predict(frame).tolist() == [0, 1, 0]
