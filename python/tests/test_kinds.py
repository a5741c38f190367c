"""The type of a column of a frame decides its kind: floats are real, strings and categories are categorical."""

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
def test_types_decide_the_kinds_of_columns(library):
    model = abduce.Mixture(1, random_state=0).fit(library(ROWS))
    assert model.kinds_ == KINDS


def test_a_float_column_of_whole_numbers_accepts_fractions():
    frame = pandas.DataFrame({"x": [0.0, 1.0, 2.0, 3.0] * 5})
    model = abduce.Mixture(1, random_state=0).fit(frame)
    assert np.isfinite(model.score_samples(pandas.DataFrame({"x": [1.5]}))).all()


def test_given_kinds_override_types():
    frame = pandas.DataFrame({"digits": ["1", "2", "5"] * 7, "whole": [0.0, 1.0, 2.0] * 7})
    model = abduce.NaiveBayes(kinds={"digits": "real", "whole": "count"}).fit(frame, [0, 1, 1] * 7)
    assert model.kinds_ == {"digits": "real", "whole": "count", "y": "categorical"}


def test_strings_with_few_repetitions_are_left_out_even_if_they_are_digits():
    frame = pandas.DataFrame({"id": [str(n) for n in range(200)], "x": np.linspace(0, 1, 200)})
    with pytest.warns(UserWarning, match='kinds={"id": "categorical"}'):
        model = abduce.Mixture(1, random_state=0).fit(frame)
    assert model.kinds_ == {"x": "real"}


def test_kinds_may_be_given_by_patterns():
    pixels = {f"pixel_{n}": np.arange(20) % (n + 2) for n in range(4)}
    frame = pandas.DataFrame({**pixels, "label": ["a", "b"] * 10})
    model = abduce.Mixture(1, kinds={"pixel_*": "real"}, random_state=0).fit(frame)
    assert model.kinds_ == {**dict.fromkeys(pixels, "real"), "label": "categorical"}
    model = abduce.Mixture(1, kinds={"*": "real", "pixel_3": "count"}, random_state=0).fit(frame[list(pixels)])
    assert model.kinds_ == {**dict.fromkeys(pixels, "real"), "pixel_3": "count"}
    whole = pandas.DataFrame({"a": [0.0, 1.0, 2.0] * 5, "b": [0.5, 1.0, 2.0] * 5})
    assert abduce.Mixture(1, kinds={"a*": "count"}, random_state=0).fit(whole).kinds_ == {"a": "count", "b": "real"}


def test_patterns_match_columns_of_arrays():
    rows = np.random.default_rng(0).poisson(3.0, size=(30, 12)).astype(float)
    model = abduce.NaiveBayes(kinds={"x*": "count", "x1*": "real"}).fit(rows, np.arange(30) % 2)
    real = {"x1", "x10", "x11"}
    assert {name for name, kind in model.kinds_.items() if kind == "real"} == real
    assert {name for name, kind in model.kinds_.items() if kind == "count"} == {f"x{n}" for n in range(12)} - real
    with pytest.raises(ValueError, match=r"kinds has 'z\*', which matches no column"):
        abduce.NaiveBayes(kinds={"z*": "real"}).fit(rows, np.arange(30) % 2)


def test_the_kinds_of_one_fit_may_be_given_to_another():
    frame = pandas.DataFrame({"n": [0, 1, 2, 3, 5] * 8, "colour": ["r", "g", "b", "r"] * 10})
    labels = np.arange(40) % 2
    whole = abduce.NaiveBayes().fit(frame, labels)
    zeros = frame.assign(n=[0, 1] * 20)
    assert abduce.NaiveBayes().fit(zeros, labels).kinds_ != whole.kinds_
    again = abduce.NaiveBayes(kinds=whole.kinds_).fit(zeros, labels)
    assert again.kinds_ == whole.kinds_
    assert abduce.Mixture(kinds=abduce.Mixture().fit(frame).kinds_).fit(zeros).kinds_["n"] == whole.kinds_["n"]
