"""The type of a column of a frame decides what it is: floats are real, strings and categories are levels."""

import numpy as np
import pandas
import polars
import pytest

import abduce

ROWS = {
    "whole": np.array([0.0, 1.0, 2.0, 3.0] * 5),
    "truth": np.array([0.0, 1.0] * 10),
    "number": np.array([0, 1, 2, 3] * 5),
    "bit": np.array([0, 1] * 10),
    "digits": ["1", "2"] * 10,
    "bits": ["0", "1"] * 10,
    "word": ["a", "b"] * 10,
}
KINDS = {
    "whole": "real",
    "truth": "real",
    "number": "count",
    "bit": "binary",
    "digits": "categorical",
    "bits": "categorical",
    "word": "categorical",
}


@pytest.mark.parametrize("library", [pandas.DataFrame, polars.DataFrame])
def test_types_decide_what_columns_are(library):
    model = abduce.Mixture(1, random_state=0).fit(library(ROWS))
    assert model.kinds_ == KINDS


def test_a_column_of_whole_floats_takes_fractions():
    frame = pandas.DataFrame({"x": [0.0, 1.0, 2.0, 3.0] * 5})
    model = abduce.Mixture(1, random_state=0).fit(frame)
    assert np.isfinite(model.score_samples(pandas.DataFrame({"x": [1.5]}))).all()


def test_kinds_of_the_user_come_first():
    frame = pandas.DataFrame({"digits": ["1", "2", "5"] * 7, "whole": [0.0, 1.0, 2.0] * 7})
    model = abduce.NaiveBayes(kinds={"digits": "real", "whole": "count"}).fit(frame, [0, 1, 1] * 7)
    assert model.kinds_ == {"digits": "real", "whole": "count", "y": "categorical"}


def test_strings_that_hardly_repeat_are_left_out_even_if_they_are_digits():
    frame = pandas.DataFrame({"id": [str(n) for n in range(200)], "x": np.linspace(0, 1, 200)})
    with pytest.warns(UserWarning, match='kinds={"id": "categorical"}'):
        model = abduce.Mixture(1, random_state=0).fit(frame)
    assert model.kinds_ == {"x": "real"}
