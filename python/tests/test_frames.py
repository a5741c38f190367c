"""Imputers keep the library and the column types of frames."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pandas.testing import assert_series_equal

from abduce.impute import GaussianImputer, MixtureImputer
from abduce.mixture import Mixture
from abduce.naive_bayes import GaussianNB, NaiveBayes

ROWS = 12


def cells():
    """Columns of every kind, each with a missing value in another row."""
    rng = np.random.default_rng(0)
    tall = rng.normal(170, 10, ROWS).tolist()
    columns = {
        "tall": tall,
        "wide": [x / 3 for x in tall],
        "legs": [2, 3] * (ROWS // 2),
        "colour": ["red", "green", "blue"] * (ROWS // 3),
        "tame": [True, False] * (ROWS // 2),
        "full": list(range(ROWS)),
    }
    for row, name in enumerate(["wide", "legs", "colour", "tame"]):
        columns[name][row] = None
    return columns


def in_pandas(**types):
    return pd.DataFrame(cells()).astype(types)


def filled(frame, **changes):
    return MixtureImputer(1, random_state=0, **changes).fit_transform(frame)


@pytest.mark.parametrize("imputer", [GaussianImputer(), MixtureImputer(2, random_state=0)], ids=["Gaussian", "Mixture"])
@pytest.mark.parametrize("kind", ["boolean", "bool[pyarrow]", "object"])
def test_booleans_are_filled_with_booleans(imputer, kind):
    frame = in_pandas(tame=kind)
    out = imputer.fit_transform(frame)
    assert set(out["tame"].tolist()) == {True, False}
    assert str(out["tame"].dtype) == ("bool" if kind == "object" else kind)
    assert_series_equal(out["tame"].drop(3), frame["tame"].drop(3).astype(out["tame"].dtype))


def test_strings_that_look_like_booleans_stay_strings():
    frame = in_pandas().assign(tame=["true", "false", None, "true"] * 3)
    assert set(filled(frame)["tame"]) == {"true", "false"}


@pytest.mark.parametrize("kind", ["Float64", "Float32", "float32", "double[pyarrow]"])
def test_floats_keep_their_type(kind):
    out = filled(in_pandas(wide=kind))
    assert str(out["wide"].dtype) == kind
    assert not out["wide"].isna().any()


@pytest.mark.parametrize("kind", ["Int64", "UInt8", "int64[pyarrow]"])
def test_integers_are_filled_with_whole_numbers(kind):
    fractions = filled(in_pandas(), kinds={"legs": "real"})["legs"]
    assert fractions[1] != round(fractions[1])
    for modelled_as in ("count", "real"):
        out = filled(in_pandas(legs=kind), kinds={"legs": modelled_as})
        assert str(out["legs"].dtype) == kind
        assert out["legs"][1] == round(fractions[1])
        assert str(out["full"].dtype) == "int64"


def test_levels_that_are_numbers_stay_numbers():
    frame = in_pandas(legs="Int64")
    out = filled(frame, kinds={"legs": "categorical"})
    assert str(out["legs"].dtype) == "Int64" and set(out["legs"]) == {2, 3}
    frame["legs"] = frame["legs"].astype("category")
    out = filled(frame)
    assert out["legs"].dtype == frame["legs"].dtype and set(out["legs"]) == {2, 3}


def test_booleans_read_as_numbers_become_numbers():
    assert str(filled(in_pandas(tame="boolean"), kinds={"tame": "real"})["tame"].dtype) == "Float64"


def test_categories_and_strings_keep_their_type():
    kind = pd.CategoricalDtype(["blue", "red", "green", "never"], ordered=True)
    out = filled(in_pandas(colour=kind))
    assert out["colour"].dtype == kind
    assert not out["colour"].isna().any()
    assert str(filled(in_pandas(colour="string"))["colour"].dtype) == "string"
    assert list(filled(in_pandas().set_index("full")).index) == list(range(ROWS))


def test_an_unknown_category_is_added_to_a_categorical_column():
    model = MixtureImputer(1, random_state=0).fit(in_pandas(colour="category"))
    one = in_pandas().assign(colour=pd.Categorical([None] * ROWS, categories=["pink"]))
    assert set(model.transform(one)["colour"]) <= {"red", "green", "blue"}


@pytest.mark.parametrize("colour", [pl.String, pl.Categorical, pl.Enum(["blue", "red", "green", "never"])], ids=str)
def test_polars_frames_stay_polars_frames(colour):
    frame = pl.DataFrame(cells(), schema_overrides={"colour": colour, "wide": pl.Float32})
    out = filled(frame, kinds={"legs": "count"}, add_indicator=True)
    assert isinstance(out, pl.DataFrame)
    found = [f"missingindicator_{name}" for name in ("wide", "legs", "colour", "tame")]
    assert out.columns == [*frame.columns, *found]
    assert out.schema == frame.schema | dict.fromkeys(found, pl.Boolean)
    assert sum(out.null_count().row(0)) == 0
    assert out["missingindicator_tame"].to_list() == [row == 3 for row in range(ROWS)]
    assert out["full"].equals(frame["full"])
    assert set(out["tame"]) == {True, False}


@pytest.mark.parametrize("colour", [pa.string(), pa.dictionary(pa.int8(), pa.string(), True)], ids=str)
def test_arrow_tables_stay_arrow_tables(colour):
    frame = pa.table(cells())
    frame = frame.set_column(3, "colour", frame["colour"].cast(colour))
    out = filled(pa.concat_tables([frame, frame]), kinds={"legs": "count"}, add_indicator=True)
    assert isinstance(out, pa.Table)
    assert isinstance(filled(frame.to_batches()[0]), pa.Table)
    assert out.schema.field("colour").type == colour
    assert out.schema.field("tame").type == pa.bool_()
    assert out.schema.field("legs").type == pa.int64()
    assert sum(column.null_count for column in out.columns) == 0
    assert out["missingindicator_legs"].to_pylist() == [row % ROWS == 1 for row in range(2 * ROWS)]
    assert out["full"].equals(pa.concat_tables([frame, frame])["full"])


def test_all_libraries_are_filled_with_the_same_values():
    out = filled(in_pandas(legs="Int64"))
    for other in (filled(pl.DataFrame(cells())).to_pandas(), filled(pa.table(cells())).to_pandas()):
        for name in out.columns:
            assert out[name].tolist() == other[name].tolist()


@pytest.mark.parametrize("of", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"])
def test_set_output_decides_the_library(of):
    imputer = MixtureImputer(1, random_state=0, add_indicator=True)
    names = [*cells(), *(f"missingindicator_{name}" for name in ("wide", "legs", "colour", "tame"))]
    for library, kind in {"pandas": pd.DataFrame, "polars": pl.DataFrame}.items():
        out = imputer.set_output(transform=library).fit_transform(of(cells()))
        assert isinstance(out, kind)
        assert list(out.columns) == names
        assert set(out["tame"].to_list()) == {True, False}


@pytest.mark.parametrize("kind", ["float64", "boolean", "Int64", "object", "category", "string"])
def test_empty_columns_of_frames_are_left_out_or_made_zero(kind):
    frame = in_pandas().assign(none=pd.Series([None] * ROWS, dtype=kind))
    assert "none" not in filled(frame)
    assert (filled(frame, keep_empty_features=True)["none"] == 0).all()


def test_empty_columns_of_arrow_are_made_zero():
    for kind in (pa.null(), pa.float32(), pa.int8(), pa.bool_()):
        frame = pa.table(cells()).append_column("none", pa.nulls(ROWS, kind))
        out = filled(frame, keep_empty_features=True)["none"]
        assert out.null_count == 0 and not any(out.to_pylist())


def test_answers_are_booleans_and_labels():
    frame = in_pandas()
    model = NaiveBayes().fit(frame, [7, 9, None] * (ROWS // 3))
    drawn = model.draw(50, random_state=0)
    assert drawn["tame"].dtype == bool
    assert drawn["y"].dtype == model.classes_.dtype and set(drawn["y"]) == {7, 9}
    assert set(drawn["colour"]) == {"red", "green", "blue"}
    found = model.impute(frame)
    assert found["tame"].dtype == bool and found["tame"][0]
    assert set(found["y"]) <= {7, 9}
    assert Mixture(1).fit(frame).impute(frame)["tame"].dtype == bool
    words = GaussianNB().fit([[0.0], [1.0], [5.0], [6.0]], [False, False, True, True])
    assert words.draw(9, given={"y": True})["y"].tolist() == [True] * 9


def test_strings_that_look_like_numbers_stay_strings():
    frame = pd.DataFrame({"a": ["1", "2", None, "4"], "b": [1.0, 2.0, 3.0, 4.0]})
    filled = GaussianImputer().fit_transform(frame)
    assert all(isinstance(cell, str) for cell in filled["a"])


def test_an_arrow_batch_has_column_names():
    batch = pa.record_batch({"a": [1.0, 2.0, 3.0, 4.0], "b": [0.0, 1.0, 0.0, 2.0]})
    for model in (GaussianNB(), NaiveBayes()):
        model.fit(batch, [0, 0, 1, 1])
        assert list(model.feature_names_in_) == ["a", "b"]
        assert model.predict(batch).shape == (4,)


def test_a_lazy_frame_is_refused():
    lazy = pl.LazyFrame({"a": [1.0, 2.0, 3.0, 4.0]})
    for model in (GaussianNB(), NaiveBayes()):
        with pytest.raises(TypeError, match="collect"):
            model.fit(lazy, [0, 0, 1, 1])


def test_interval_columns_are_categorical():
    frame = pd.DataFrame({"age": pd.cut([1, 2, 3, 4], 2), "x": [1.0, 2.0, 3.0, 4.0]})
    model = NaiveBayes().fit(frame, [0, 0, 1, 1])
    assert model.query("P(age | y=1)") == {"(0.997, 2.5]": 0.25, "(2.5, 4.0]": 0.75}
    np.testing.assert_array_equal(model.predict(frame), [0, 0, 1, 1])
