"""Model files are exchanged between Python and the command line."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import abduce
from abduce.cluster import KMeans
from abduce.impute import GaussianImputer
from abduce.mixture import GaussianMixture, Mixture
from abduce.naive_bayes import GaussianNB, NaiveBayes

TARGET = Path(__file__).parents[2] / "target"
FOUND = [path for path in (TARGET / "debug/abduce", TARGET / "release/abduce") if path.exists()]
BINARY = os.environ.get("ABDUCE", FOUND[0] if FOUND else None)

pytestmark = pytest.mark.skipif(BINARY is None, reason="the command line is not built")

X, Y = load_iris(return_X_y=True)
NAMES = ["a", "b", "c", "d"]


def run(*arguments):
    done = subprocess.run([str(BINARY), *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def table(tmp_path):
    frame = pd.DataFrame(X, columns=NAMES).assign(y=np.array(["s", "t", "v"])[Y])
    frame.to_csv(tmp_path / "iris.csv", index=False)
    return tmp_path / "iris.csv"


@pytest.mark.parametrize("make", [GaussianNB, NaiveBayes])
def test_the_command_line_reads_what_python_wrote(make, table, tmp_path):
    frame = pd.read_csv(table)
    model = make().fit(frame[NAMES], frame["y"])
    model.save(tmp_path / "model.abduce")
    run("predict", tmp_path / "model.abduce", table, "--proba", "-o", tmp_path / "out.csv")
    out = pd.read_csv(tmp_path / "out.csv")
    assert out["prediction"].tolist() == model.predict(frame[NAMES]).tolist()
    found = out[["P(s)", "P(t)", "P(v)"]].to_numpy()
    np.testing.assert_allclose(found, model.predict_proba(frame[NAMES]), atol=1e-9)


def test_the_command_line_scores_clusters_of_python(table, tmp_path):
    frame = pd.read_csv(table)[NAMES]
    for model in (GaussianMixture(3, random_state=0).fit(frame), KMeans(3, random_state=0).fit(frame)):
        model.save(tmp_path / "model.abduce")
        assert "rows" in run("show", tmp_path / "model.abduce")
    mixture = GaussianMixture(3, random_state=0).fit(frame)
    mixture.save(tmp_path / "model.abduce")
    run("score", tmp_path / "model.abduce", table, "-o", tmp_path / "out.csv")
    found = pd.read_csv(tmp_path / "out.csv")["log_density"]
    np.testing.assert_allclose(found, mixture.score_samples(frame), atol=1e-9)


def test_python_reads_what_the_command_line_wrote(table, tmp_path):
    frame = pd.read_csv(table)
    path = tmp_path / "model.abduce"
    run("fit", "naive-bayes", table, "--target", "y", "-o", path)
    model = abduce.load(path)
    assert isinstance(model, NaiveBayes)
    assert model.classes_.tolist() == ["s", "t", "v"]
    assert model.score(frame[NAMES], frame["y"]) > 0.9
    run("fit", "mixture", table, "--drop", "y", "-k", "3", "-o", path)
    assert abduce.load(path).predict_proba(frame[NAMES]).shape == (150, 3)
    assert abduce.load(path).n_components == 3
    run("fit", "kmeans", table, "--drop", "y", "-k", "3", "-o", path)
    assert len(np.unique(abduce.load(path).predict(frame[NAMES]))) == 3
    scaled = (frame[NAMES] - frame[NAMES].mean()) / frame[NAMES].std(ddof=0)
    for more in ([], ["--standardize"], ["--distance", "manhattan"], ["--distance", "mahalanobis"]):
        run("fit", "kmeans", table, "--drop", "y", "-k", "3", *more, "-o", path)
        model = abduce.load(path)
        distances = model.transform(frame[NAMES])
        np.testing.assert_array_equal(distances.argmin(axis=1), model.predict(frame[NAMES]))
        centres = model.cluster_centers_
        if more == ["--standardize"]:
            centres = (centres - frame[NAMES].mean().to_numpy()) / frame[NAMES].std(ddof=0).to_numpy()
            expected = np.linalg.norm(scaled.to_numpy()[:, None] - centres, axis=2)
        elif more == ["--distance", "manhattan"]:
            expected = np.abs(frame[NAMES].to_numpy()[:, None] - centres).sum(axis=2)
        elif not more:
            expected = np.linalg.norm(frame[NAMES].to_numpy()[:, None] - centres, axis=2)
        else:
            inverse = np.linalg.inv(np.cov(frame[NAMES].T, ddof=0))
            apart = frame[NAMES].to_numpy()[:, None] - centres
            expected = np.sqrt(np.einsum("nki,ij,nkj->nk", apart, inverse, apart))
        np.testing.assert_allclose(distances, expected, rtol=1e-9, atol=1e-12)
        assert model.n_clusters == 3
        assert -model.score(frame[NAMES]) == pytest.approx(model.inertia_)
    run("fit", "gda", table, "--target", "y", "-o", path)
    assert abduce.load(path).score(frame[NAMES], frame["y"]) > 0.9
    run("fit", "kde", table, "--drop", "y", "-o", path)
    assert np.isfinite(abduce.load(path).score_samples(frame[NAMES])).all()


@pytest.mark.parametrize("covariance", ["full", "tied"])
@pytest.mark.parametrize("place", [0, 2, 4])
def test_the_class_may_be_any_column_of_a_file_of_the_command_line(covariance, place, tmp_path):
    frame = pd.DataFrame(X, columns=NAMES)
    labelled = frame.copy()
    labelled.insert(place, "y", np.array(["s", "t", "v"])[Y])
    labelled.to_csv(tmp_path / "iris.csv", index=False)
    file = tmp_path / "model.abduce"
    run("fit", "gda", tmp_path / "iris.csv", "--target", "y", "--covariance", covariance, "-o", file)
    run("predict", file, tmp_path / "iris.csv", "--proba", "-o", tmp_path / "out.csv")
    found = pd.read_csv(tmp_path / "out.csv")[["P(s)", "P(t)", "P(v)"]].to_numpy()
    np.testing.assert_allclose(abduce.load(file).predict_proba(frame), found, atol=1e-6)


def test_text_columns_are_read_as_by_the_command_line(tmp_path):
    frame = pd.DataFrame(
        {
            "message": ["buy cheap pills now", "cheap cheap offer now", "meeting at noon", "lunch tomorrow at noon"],
            "label": ["spam", "spam", "ham", "ham"],
        }
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    path = tmp_path / "t.abduce"
    run("fit", "naive-bayes", tmp_path / "t.csv", "--target", "label", "--kind", "message=text", "-o", path)
    theirs = abduce.load(path)
    asked = pd.DataFrame({"message": ["cheap pills", "noon meeting", None]})
    assert list(theirs.feature_names_in_) == ["message"]
    assert theirs.predict(asked)[:2].tolist() == ["spam", "ham"]
    ours = NaiveBayes(kinds={"message": "text"}).fit(frame[["message"]], frame["label"])
    np.testing.assert_allclose(ours.predict_proba(asked), theirs.predict_proba(asked))
    for model in (ours, theirs):
        model.save(tmp_path / "again.abduce")
        again = abduce.load(tmp_path / "again.abduce")
        np.testing.assert_array_equal(again.predict_proba(asked), model.predict_proba(asked))
    assert ours.explain(asked, 0)["contributions"][0]["word"] == "cheap"


@pytest.mark.parametrize("kind", ["naive-bayes", "gda", "gda --covariance tied"])
def test_log_probabilities_of_a_calibrated_model_are_calibrated(kind, table, tmp_path):
    path = tmp_path / "model.abduce"
    run("fit", *kind.split(), table, "--target", "y", "--calibrate", "isotonic", "-o", path)
    run("predict", path, table, "--proba", "-o", tmp_path / "out.csv")
    expected = pd.read_csv(tmp_path / "out.csv")[["P(s)", "P(t)", "P(v)"]].to_numpy()
    model, frame = abduce.load(path), pd.read_csv(table)[NAMES]
    np.testing.assert_allclose(model.predict_proba(frame), expected, atol=1e-9)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(frame)), expected, atol=1e-9)


PETS = pd.DataFrame(
    {
        "length": [4.9, 5.1, np.nan, 6.8, 7.0, 6.6, 5.0, 6.9],
        "colour": ["red", "red", "blue", "blue", "blue", None, "red", "green"],
        "tame": [True, False, True, True, False, False, True, True],
        "y": ["small", "small", "small", "large", "large", "large", None, "large"],
    }
)


@pytest.mark.parametrize("column", ["colour", "tame"])
@pytest.mark.parametrize("labelled", [True, False])
def test_columns_are_predicted_as_by_the_command_line(column, labelled, tmp_path):
    features = ["length", "colour", "tame"]
    seen = PETS if labelled else PETS.assign(y=None)
    seen.to_csv(tmp_path / "rows.csv", index=False)
    model = NaiveBayes().fit(PETS[features], PETS["y"])
    model.save(tmp_path / "model.abduce")
    options = ["--target", column, "--proba", "-o", tmp_path / "out.csv"]
    run("predict", tmp_path / "model.abduce", tmp_path / "rows.csv", *options)
    expected = pd.read_csv(tmp_path / "out.csv")
    y = seen["y"] if labelled else None
    found = model.predict_column_proba(PETS[features], column, y)
    for level, probabilities in found.items():
        name = str(level).lower() if isinstance(level, bool) else level
        np.testing.assert_allclose(probabilities, expected[f"P({name})"], rtol=1e-9)
    predicted = [
        str(cell).lower() if column == "tame" else cell for cell in model.predict_column(PETS[features], column, y)
    ]
    assert predicted == [str(cell).lower() if column == "tame" else cell for cell in expected["prediction"]]


def test_columns_of_mixtures_are_predicted_as_by_the_command_line(tmp_path):
    rows = PETS.drop(columns="y")
    rows.to_csv(tmp_path / "rows.csv", index=False)
    model = Mixture(2, random_state=0, smoothing=1).fit(rows)
    model.save(tmp_path / "model.abduce")
    run(
        "predict",
        tmp_path / "model.abduce",
        tmp_path / "rows.csv",
        "--target",
        "colour",
        "--proba",
        "-o",
        tmp_path / "o.csv",
    )
    expected = pd.read_csv(tmp_path / "o.csv")
    found = model.predict_column_proba(rows, "colour")
    assert list(found) == ["blue", "green", "red"]
    for level, probabilities in found.items():
        np.testing.assert_allclose(probabilities, expected[f"P({level})"], rtol=1e-9)
    assert model.predict_column(rows, "colour").tolist() == expected["prediction"].tolist()


def test_marks_are_those_of_the_command_line(table, tmp_path):
    path = tmp_path / "theirs.abduce"
    run("fit", "naive-bayes", table, "--target", "y", "--marks", "-o", path)
    frame = pd.read_csv(table)
    model = NaiveBayes(marks=True).fit(frame[NAMES], frame["y"])
    model.save(tmp_path / "ours.abduce")
    theirs, ours = (json.loads(file.read_text())["body"]["marks"] for file in (path, tmp_path / "ours.abduce"))
    assert ours == theirs
    frame[:1].assign(a=99.0).to_csv(tmp_path / "unknown.csv", index=False)
    done = subprocess.run(
        [str(BINARY), "forget", tmp_path / "ours.abduce", tmp_path / "unknown.csv"], capture_output=True
    )
    assert done.returncode != 0 and b"was not fitted to this row" in done.stderr


def test_the_command_line_finds_the_labels_by_the_name_of_the_series(table, tmp_path):
    frame = pd.read_csv(table).rename(columns={"y": "species"})
    frame.to_csv(tmp_path / "all.csv", index=False)
    frame[100:].to_csv(tmp_path / "rest.csv", index=False)
    parts = []
    for number, rows in enumerate((frame[:100:2], frame[1:100:2])):
        model = NaiveBayes().partial_fit(rows[NAMES], rows["species"], classes=["s", "t", "v"])
        parts.append(tmp_path / f"{number}.abduce")
        model.save(parts[-1])
    whole = tmp_path / "whole.abduce"
    run("merge", *parts, "-o", whole)
    run("update", whole, tmp_path / "rest.csv")
    report = json.loads(run("evaluate", whole, tmp_path / "all.csv", "--json"))
    model = abduce.load(whole)
    assert model.kinds_.keys() == {*NAMES, "species"}
    assert report["target"] == "species"
    assert report["accuracy"]["all"] == pytest.approx(model.score(frame[NAMES], frame["species"]))
    expected = NaiveBayes().fit(frame[NAMES], frame["species"]).predict_proba(frame[NAMES])
    np.testing.assert_allclose(model.predict_proba(frame[NAMES]), expected, atol=1e-9)


def test_a_gaussian_of_the_command_line_becomes_an_imputer(tmp_path):
    frame = pd.DataFrame(X, columns=NAMES)
    frame.loc[::3, "a"] = np.nan
    frame.loc[1::7, "d"] = np.nan
    frame.to_csv(tmp_path / "iris.csv", index=False)
    path = tmp_path / "model.abduce"
    for covariance in ("full", "diagonal"):
        run("fit", "gaussian", tmp_path / "iris.csv", "--covariance", covariance, "-o", path)
        run("impute", path, tmp_path / "iris.csv", "-o", tmp_path / "filled.csv")
        model = abduce.load(path)
        assert isinstance(model, GaussianImputer)
        np.testing.assert_allclose(model.transform(frame), pd.read_csv(tmp_path / "filled.csv"), rtol=1e-12)
    model.save(path)
    assert "gaussian" in run("show", path)


def test_discriminants_of_mixed_columns_are_refused_on_load(tmp_path):
    PETS.to_csv(tmp_path / "pets.csv", index=False)
    path = tmp_path / "model.abduce"
    run("fit", "gda", tmp_path / "pets.csv", "--target", "y", "-o", path)
    with pytest.raises(ValueError, match="not numbers, such as 'colour', which is categorical"):
        abduce.load(path)


@pytest.mark.parametrize("more", [[], ["--tails", "student-t"]], ids=["gaussian", "student-t"])
def test_discriminants_of_the_command_line_predict_as_there(more, table, tmp_path):
    path = tmp_path / "model.abduce"
    run("fit", "gda", table, "--target", "y", "--covariance", "tied", *more, "-o", path)
    run("predict", path, table, "-o", tmp_path / "out.csv")
    predicted = pd.read_csv(tmp_path / "out.csv")["prediction"].tolist()
    assert abduce.load(path).predict(pd.read_csv(table)[NAMES]).tolist() == predicted


@pytest.mark.parametrize(
    ("flags", "options"),
    [
        (["--costs", "s>t=5,t>v=9"], {"costs": {("s", "t"): 5, ("t", "v"): 9}}),
        (["--abstain-below", "0.95"], {"abstain_below": 0.95}),
        (["--costs", "v>t=20", "--abstain-below", "0.9"], {"costs": {("v", "t"): 20}, "abstain_below": 0.9}),
    ],
    ids=["costs", "abstentions", "both"],
)
def test_decisions_are_those_of_the_command_line(flags, options, table, tmp_path):
    frame = pd.read_csv(table)
    model = NaiveBayes().fit(frame[NAMES], frame["y"])
    model.save(tmp_path / "model.abduce")
    run("predict", tmp_path / "model.abduce", table, *flags, "-o", tmp_path / "out.csv")
    expected = pd.read_csv(tmp_path / "out.csv", keep_default_na=False)["prediction"]
    assert [label or "" for label in model.decide(frame[NAMES], **options)] == expected.tolist()
    assert expected.tolist() != model.predict(frame[NAMES]).tolist()


def test_densities_under_a_classifier_are_those_of_the_command_line(table, tmp_path):
    frame = pd.read_csv(table)
    model = NaiveBayes().fit(frame[NAMES], frame["y"])
    model.save(tmp_path / "model.abduce")
    run("score", tmp_path / "model.abduce", table, "--drop", "y", "-o", tmp_path / "out.csv")
    expected = pd.read_csv(tmp_path / "out.csv")["log_density"]
    np.testing.assert_allclose(model.score_samples(frame[NAMES]), expected, rtol=1e-12)
