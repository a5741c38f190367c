"""Where a frame went in, `draw` and `impute` give one of the same library and types back."""

import json

import pandas
import polars
import pyarrow
import pytest

import abduce

ROWS = {
    "x": [1.0, 1.5, None, 7.0, 7.2, 7.1],
    "n": [0, 1, 2, 3, 1, 0],
    "colour": ["r", "r", "r", "b", None, "b"],
    "yes": [True, True, False, False, True, False],
}


def types(frame):
    if isinstance(frame, pyarrow.Table):
        return {own.name: own.type for own in frame.schema}
    return dict(frame.dtypes.items()) if isinstance(frame, pandas.DataFrame) else dict(frame.schema)


@pytest.mark.parametrize("library", [pandas.DataFrame, polars.DataFrame, pyarrow.table])
def test_frames_come_back_as_they_went_in(library):
    frame = library(ROWS)
    model = abduce.Mixture(1, random_state=0).fit(frame)
    for out in (model.draw(4, random_state=0), model.impute(frame)):
        assert isinstance(out, type(frame))
        assert types(out) == types(frame)
    out = model.impute(frame)
    assert list(out["n"]) == list(frame["n"])
    classes = abduce.NaiveBayes().fit(frame, [0, 0, 0, 1, 1, 1])
    assert set(classes.draw(4, random_state=0)["y"]) <= {0, 1} or library is pyarrow.table


def test_columns_of_an_array_come_back_as_a_dict():
    rows = [[1.0, 2.0], [3.0, 4.5], [2.0, 9.0]]
    model = abduce.Mixture(1, random_state=0).fit(rows)
    assert sorted(model.draw(2, random_state=0)) == sorted(model.impute(rows)) == ["x0", "x1"]


LIBRARIES = [pandas.DataFrame, polars.DataFrame, pyarrow.table]
NUMBERS = {"a": [1.5, 2.5, 3.0, 1.0, 9.0, 8.0], "n": [3, 1, 4, 1, 5, 9], "bit": [0, 1, 0, 1, 1, 0]}


@pytest.mark.parametrize("library", LIBRARIES)
def test_models_out_of_files_draw_frames(library, tmp_path):
    frame = library(ROWS)
    model = abduce.Mixture(1, random_state=0).fit(frame)
    model.save(tmp_path / "model.abduce")
    found = abduce.load(tmp_path / "model.abduce").draw(5, random_state=3)
    expected = model.draw(5, random_state=3)
    assert type(found) is type(expected)
    assert types(found) == types(expected)
    assert found.equals(expected)


def test_categories_of_pandas_come_back_out_of_files(tmp_path):
    sizes = pandas.Categorical(["s", "l", "s", "m"] * 3, categories=["s", "m", "l"], ordered=True)
    frame = pandas.DataFrame({"size": sizes, "code": pandas.Categorical([1, 2, 1, 3] * 3)})
    model = abduce.Mixture(1, random_state=0).fit(frame)
    model.save(tmp_path / "model.abduce")
    assert types(abduce.load(tmp_path / "model.abduce").draw(5)) == types(frame)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    "estimator",
    [
        abduce.GaussianNB(),
        abduce.CategoricalNB(),
        abduce.BernoulliNB(binarize=2.0),
        abduce.MultinomialNB(),
        abduce.LinearDiscriminantAnalysis(),
        abduce.GaussianMixture(1, random_state=0),
        abduce.NaiveBayes(),
        abduce.Mixture(1, random_state=0),
    ],
    ids=lambda own: type(own).__name__,
)
def test_every_estimator_that_draws_draws_frames(estimator, library, tmp_path):
    frame = library(NUMBERS if not isinstance(estimator, abduce.CategoricalNB) else {"n": [1, 0, 2, 1, 0, 2]})
    model = estimator.fit(frame, [0, 0, 0, 1, 1, 1])
    model.save(tmp_path / "model.abduce")
    for own in (model, abduce.load(tmp_path / "model.abduce")):
        drawn = own.draw(4, random_state=0)
        assert isinstance(drawn, type(frame))
        assert {name: kind for name, kind in types(drawn).items() if name != "y"} == types(frame)


@pytest.mark.parametrize("library", LIBRARIES)
def test_estimators_of_scikit_learn_fill_frames(library):
    full = library(NUMBERS)
    holed = library({**NUMBERS, "a": [1.5, None, 3.0, 1.0, 9.0, None]})
    for model in (abduce.GaussianNB(), abduce.GaussianMixture(1), abduce.LinearDiscriminantAnalysis()):
        out = model.fit(full, [0, 0, 0, 1, 1, 1]).impute(holed)
        assert isinstance(out, type(full))
        assert {name: kind for name, kind in types(out).items() if name != "y"} == types(full)
        assert list(out["n"]) == list(full["n"])


@pytest.mark.parametrize(
    "library", [polars.DataFrame, pyarrow.table, lambda own: pandas.DataFrame(own).convert_dtypes()]
)
def test_columns_of_integers_are_drawn_and_filled_with_whole_numbers(library):
    years = [1990 + n * n % 31 for n in range(40)]
    below = [n % 11 - 5 for n in range(40)]
    x = [n % 7 + 0.5 for n in range(40)]
    frame = library({"year": years, "below": below, "x": x})
    holed = library({"year": [None, *years[1:]], "below": [*below[:-1], None], "x": x})
    for model in (abduce.Mixture(1, random_state=0).fit(frame), abduce.GaussianMixture(1).fit(frame)):
        for out in (model.draw(9, random_state=0), model.impute(holed), model.impute(holed, how="draw")):
            assert types(out) == types(frame)
    out = abduce.GaussianImputer().fit(holed).transform(holed)
    assert types(out) == types(frame)


def test_floats_that_are_whole_are_filled_with_fractions():
    frame = pandas.DataFrame({"x": [0.0, 1.0, None, 3.0, 2.0, 1.0]})
    assert abduce.GaussianImputer().fit_transform(frame)["x"][2] == pytest.approx(1.4)


@pytest.mark.parametrize(
    "described",
    [
        {"library": "os", "columns": []},
        {"library": "pandas", "columns": [["x0", "datetime64[ns]"]]},
        {"library": "pandas", "columns": [["x0", {"categories": [[1]], "ordered": True}]]},
        {"library": "polars", "columns": [["x0", "read_csv"]]},
        {"library": "pyarrow", "columns": [["x0", "memory_map"]]},
        {"library": "pyarrow", "columns": [["x0", ["int64"]]]},
        {"library": "pyarrow", "columns": {"x0": "int64"}},
        {"library": ["pandas"], "columns": []},
        {"library": "pandas"},
        {"library": "pandas", "columns": [], "more": 1},
    ],
)
def test_a_file_with_another_frame_is_refused(tmp_path, described):
    path = tmp_path / "model.abduce"
    abduce.GaussianNB().fit([[1.0], [2.0], [4.0]], [0, 1, 1]).save(path)
    told = json.loads(path.read_text())
    told["estimator"]["frame"] = described
    path.write_text(json.dumps(told))
    with pytest.raises((ValueError, TypeError)):
        abduce.load(path)
