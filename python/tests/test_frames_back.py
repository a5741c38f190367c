"""Where a frame went in, `draw` and `impute` give one of the same library and types back."""

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
