"""`draw` and `impute` keep the library and types of the fitted frame."""

import json

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from sklearn.datasets import load_digits

import abduce

ROWS = {
    "x": [1.0, 1.5, None, 7.0, 7.2, 7.1],
    "n": [0, 1, 2, 3, 1, 0],
    "colour": ["r", "r", "r", "b", None, "b"],
    "yes": [True, True, False, False, True, False],
}


def types(frame):
    if isinstance(frame, pyarrow.Table):
        return {field.name: field.type for field in frame.schema}
    return dict(frame.dtypes.items()) if isinstance(frame, pandas.DataFrame) else dict(frame.schema)


@pytest.mark.parametrize("library", [pandas.DataFrame, polars.DataFrame, pyarrow.table])
def test_frames_keep_their_library_and_types(library):
    frame = library(ROWS)
    model = abduce.Mixture(1, random_state=0).fit(frame)
    for out in (model.draw(4, random_state=0), model.impute(frame)):
        assert isinstance(out, type(frame))
        assert types(out) == types(frame)
    out = model.impute(frame)
    assert list(out["n"]) == list(frame["n"])
    classes = abduce.NaiveBayes().fit(frame, [0, 0, 0, 1, 1, 1])
    assert set(classes.draw(4, random_state=0)["y"]) <= {0, 1} or library is pyarrow.table


def test_columns_of_an_array_are_a_dict():
    rows = [[1.0, 2.0], [3.0, 4.5], [2.0, 9.0]]
    model = abduce.Mixture(1, random_state=0).fit(rows)
    assert sorted(model.draw(2, random_state=0)) == sorted(model.impute(rows)) == ["x0", "x1"]


LIBRARIES = [pandas.DataFrame, polars.DataFrame, pyarrow.table]
NUMBERS = {"a": [1.5, 2.5, 3.0, 1.0, 9.0, 8.0], "n": [3, 1, 4, 1, 5, 9], "bit": [0, 1, 0, 1, 1, 0]}


@pytest.mark.parametrize("library", LIBRARIES)
def test_loaded_models_draw_frames(library, tmp_path):
    frame = library(ROWS)
    model = abduce.Mixture(1, random_state=0).fit(frame)
    model.save(tmp_path / "model.abduce")
    found = abduce.load(tmp_path / "model.abduce").draw(5, random_state=3)
    expected = model.draw(5, random_state=3)
    assert type(found) is type(expected)
    assert types(found) == types(expected)
    assert found.equals(expected)


def test_pandas_categories_are_restored_from_files(tmp_path):
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
    ids=lambda value: type(value).__name__,
)
def test_every_estimator_draws_frames(estimator, library, tmp_path):
    frame = library(NUMBERS if not isinstance(estimator, abduce.CategoricalNB) else {"n": [1, 0, 2, 1, 0, 2]})
    model = estimator.fit(frame, [0, 0, 0, 1, 1, 1])
    model.save(tmp_path / "model.abduce")
    for loaded in (model, abduce.load(tmp_path / "model.abduce")):
        drawn = loaded.draw(4, random_state=0)
        assert isinstance(drawn, type(frame))
        assert {name: kind for name, kind in types(drawn).items() if name != "y"} == types(frame)


@pytest.mark.parametrize("library", LIBRARIES)
def test_estimators_of_scikit_learn_fill_frames(library):
    full = library(NUMBERS)
    incomplete = library({**NUMBERS, "a": [1.5, None, 3.0, 1.0, 9.0, None]})
    for model in (abduce.GaussianNB(), abduce.GaussianMixture(1), abduce.LinearDiscriminantAnalysis()):
        out = model.fit(full, [0, 0, 0, 1, 1, 1]).impute(incomplete)
        assert isinstance(out, type(full))
        assert {name: kind for name, kind in types(out).items() if name != "y"} == types(full)
        assert list(out["n"]) == list(full["n"])


@pytest.mark.parametrize(
    "library", [polars.DataFrame, pyarrow.table, lambda columns: pandas.DataFrame(columns).convert_dtypes()]
)
def test_columns_of_integers_are_drawn_and_filled_with_whole_numbers(library):
    years = [1990 + n * n % 31 for n in range(40)]
    below = [n % 11 - 5 for n in range(40)]
    x = [n % 7 + 0.5 for n in range(40)]
    frame = library({"year": years, "below": below, "x": x})
    incomplete = library({"year": [None, *years[1:]], "below": [*below[:-1], None], "x": x})
    for model in (abduce.Mixture(1, random_state=0).fit(frame), abduce.GaussianMixture(1).fit(frame)):
        for out in (model.draw(9, random_state=0), model.impute(incomplete), model.impute(incomplete, how="draw")):
            assert types(out) == types(frame)
    out = abduce.GaussianImputer().fit(incomplete).transform(incomplete)
    assert types(out) == types(frame)


INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
NULLABLE = {kind: kind.replace("int", "Int").replace("uI", "UI") for kind in INTEGERS}
WHOLE = {
    "numpy": lambda cells, kind: pandas.DataFrame({"n": np.array(cells, dtype=kind)}),
    "nullable": lambda cells, kind: pandas.DataFrame({"n": pandas.array(cells, dtype=NULLABLE[kind])}),
    "arrow-backed": lambda cells, kind: pandas.DataFrame({"n": pandas.array(cells, dtype=f"{kind}[pyarrow]")}),
    "polars": lambda cells, kind: polars.DataFrame({"n": polars.Series(cells, dtype=getattr(polars, NULLABLE[kind]))}),
    "pyarrow": lambda cells, kind: pyarrow.table({"n": pyarrow.array(cells, getattr(pyarrow, kind)())}),
}


def cells_of(frame, name="n"):
    column = frame[name]
    return column.to_pylist() if isinstance(frame, pyarrow.Table) else column.to_list()


@pytest.mark.parametrize("kind", INTEGERS)
@pytest.mark.parametrize("library", WHOLE)
def test_draws_of_integers_stay_in_the_range_of_their_type(library, kind):
    bounds = np.iinfo(kind)
    frame = WHOLE[library]([bounds.min, bounds.max, bounds.max // 8 * 7, bounds.min // 8 * 7] * 5, kind)
    for model in (abduce.Mixture(1, random_state=0), abduce.GaussianMixture(1)):
        drawn = model.fit(frame).draw(40, random_state=0)
        assert types(drawn) == types(frame)
        cells = cells_of(drawn)
        # Draws outside the range are clipped to its ends; none wraps around.
        assert min(cells) == bounds.min
        assert max(cells) > bounds.max // 2
        assert max(cells) <= bounds.max


@pytest.mark.parametrize("how", ["mean", "mode", "draw"])
@pytest.mark.parametrize("library", [library for library in WHOLE if library != "numpy"])
def test_fillings_of_integers_stay_in_the_range_of_their_type(library, how):
    cells = [None, 10, 20, 30, 40, None, 200, 250] * 4
    frame = WHOLE[library](cells, "uint8")
    x = np.array([-90.0, 10, 20, 30, 40, 400, 200, 250] * 4) + np.arange(32) % 3
    if isinstance(frame, pandas.DataFrame):
        frame = frame.assign(x=x)
    elif isinstance(frame, polars.DataFrame):
        frame = frame.with_columns(x=polars.Series(x))
    else:
        frame = frame.append_column("x", pyarrow.array(x))
    imputer = abduce.MixtureImputer(1, how=how, random_state=0).fit(frame)
    outs = [
        abduce.Mixture(1, random_state=0).fit(frame).impute(frame, how=how, random_state=0),
        imputer.transform(frame),
        *(imputer.impute(frame, copies=1) if how == "draw" else []),
    ]
    for out in outs:
        assert types(out) == types(frame)
        assert cells_of(out)[:8] == [0, 10, 20, 30, 40, 255, 200, 250]


def test_objects_that_are_integers_are_filled_with_integers():
    frame = pandas.DataFrame({"n": pandas.Series([100, 110, None, 117, 130], dtype=object), "x": np.arange(5.0)})
    filled = abduce.GaussianImputer().fit_transform(frame)
    assert [type(cell) for cell in filled["n"]] == [int] * 5


def test_byte_columns_are_drawn_as_bytes():
    rows, labels = load_digits(return_X_y=True)
    frame = pandas.DataFrame(rows.astype("uint8")).rename(columns=str)
    drawn = abduce.NaiveBayes().fit(frame, labels).draw(5, random_state=0)
    assert set(drawn.drop(columns="y").dtypes) == {np.dtype("uint8")}


@pytest.mark.parametrize("library", [library for library in WHOLE if library != "numpy"])
def test_an_empty_column_of_integers_is_drawn_empty(library):
    frame = WHOLE[library]([None] * 8, "uint8")
    if isinstance(frame, pandas.DataFrame):
        frame = frame.assign(x=np.arange(8.0))
    elif isinstance(frame, polars.DataFrame):
        frame = frame.with_columns(x=polars.Series(np.arange(8.0)))
    else:
        frame = frame.append_column("x", pyarrow.array(np.arange(8.0)))
    with pytest.warns(UserWarning, match='column "n"'):
        model = abduce.Mixture(1, random_state=0).fit(frame)
    drawn = model.draw(3, random_state=0)
    assert types(drawn) == types(frame)
    assert all(pandas.isna(cell) for cell in cells_of(drawn))


def test_given_numbers_that_a_column_cannot_hold_are_refused():
    frame = pandas.DataFrame({"n": np.array([100, 110, 120, 115] * 5, dtype="int8"), "x": np.arange(20.0)})
    for model in (abduce.Mixture(1, random_state=0).fit(frame), abduce.GaussianMixture(1).fit(frame)):
        assert set(model.draw(3, given={"n": 111})["n"]) == {111}
        with pytest.raises(ValueError, match=r"column 'n' has whole numbers, not 110\.5"):
            model.draw(3, given={"n": 110.5})
        with pytest.raises(ValueError, match="column 'n' has type int8, which cannot hold 300"):
            model.draw(3, given={"n": 300})
        # In a query, an integer column may have a fraction.
        assert np.isfinite(model.query("E(x | n=110.5)"))
    assert set(abduce.GaussianMixture(1).fit(frame.to_numpy(float)).draw(3, given={"x0": 110.5})["x0"]) == {110.5}


def test_float_columns_of_whole_numbers_are_filled_with_fractions():
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
    document = json.loads(path.read_text())
    document["estimator"]["frame"] = described
    path.write_text(json.dumps(document))
    with pytest.raises((ValueError, TypeError)):
        abduce.load(path)
