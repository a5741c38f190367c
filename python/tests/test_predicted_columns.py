"""`predict_column`: any column of levels from the others."""

import numpy as np
import pandas as pd
import pytest

import abduce

FRAME = pd.DataFrame(
    {
        "length": [4.9, 5.1, np.nan, 6.8, 7.0, 6.6],
        "colour": ["red", "red", "blue", "blue", "blue", None],
        "tame": [True, False, True, True, False, False],
    }
)
Y = ["small", "small", "small", "large", "large", "large"]
MODEL = abduce.NaiveBayes().fit(FRAME, Y)


def test_a_predicted_column_is_what_a_query_answers():
    found = MODEL.predict_column_proba(FRAME, "colour")
    answer = MODEL.query("P(colour | length=6.8, tame=true)")
    assert {level: probabilities[3] for level, probabilities in found.items()} == pytest.approx(answer)
    np.testing.assert_allclose(sum(found.values()), 1.0)
    best = [max(found, key=lambda level: found[level][row]) for row in range(len(FRAME))]
    assert MODEL.predict_column(FRAME, "colour").tolist() == best


def test_known_labels_are_evidence():
    found = MODEL.predict_column_proba(FRAME, "colour", Y)
    answer = MODEL.query("P(colour | length=6.8, tame=true, y=large)")
    assert {level: probabilities[3] for level, probabilities in found.items()} == pytest.approx(answer)


def test_the_cells_of_the_column_itself_are_not_used():
    found, others = (MODEL.predict_column_proba(frame, "colour") for frame in (FRAME, FRAME.assign(colour="red")))
    for level, probabilities in found.items():
        np.testing.assert_array_equal(probabilities, others[level])


def test_booleans_and_classes_are_predicted_as_what_they_are():
    assert MODEL.predict_column(FRAME, "tame").dtype == np.bool_
    np.testing.assert_array_equal(MODEL.predict_column(FRAME, "y"), MODEL.predict(FRAME))
    found = MODEL.predict_column_proba(FRAME, "y")
    np.testing.assert_array_equal(np.column_stack(list(found.values())), MODEL.predict_proba(FRAME))
    assert list(found) == MODEL.classes_.tolist()


def test_columns_of_arrays_are_predicted_by_their_names():
    rows = np.array([[0, 2], [0, 2], [1, 0], [1, 0]])
    model = abduce.CategoricalNB(alpha=0.5).fit(rows, [0, 0, 1, 1])
    assert model.predict_column(rows, "x1").tolist() == ["2", "2", "0", "0"]


def test_a_column_without_levels_is_refused():
    with pytest.raises(ValueError, match="column 'length' has no levels"):
        MODEL.predict_column(FRAME, "length")
    with pytest.raises(ValueError, match="there is no column 'weight'"):
        MODEL.predict_column(FRAME, "weight")


def test_impossible_rows_get_the_probabilities_of_the_column_alone():
    model = abduce.NaiveBayes(smoothing=0).fit(FRAME[["colour", "tame"]], Y)
    asked = FRAME[["colour", "tame"]].iloc[:1].assign(tame=None).assign(colour="red")
    with pytest.warns(
        UserWarning, match="row 0 is impossible under the model; it gets the probabilities of 'tame' alone"
    ):
        found = model.predict_column_proba(asked, "tame", ["large"])
    assert {level: probabilities[0] for level, probabilities in found.items()} == pytest.approx(model.query("P(tame)"))
