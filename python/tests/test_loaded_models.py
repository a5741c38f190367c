"""Estimators of files without the description of an estimator, as the command line writes them."""

import json

import numpy as np
import pandas as pd
import pytest

import abduce
from abduce import _core, _specifications
from abduce.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from abduce.impute import GaussianImputer

RNG = np.random.default_rng(4)
FRAME = pd.DataFrame({"x": RNG.normal(size=60), "n": RNG.poisson(1.0, 60), "c": RNG.choice(["a", "b"], 60)})
LABELS = ("species", ["p", "q"], (FRAME["x"] > 0).to_numpy().astype(np.int64))


def written(path, name, columns, labels=None, **changes):
    """A file of a model of some columns."""
    import pyarrow

    table, _ = _core.table_of_frame(pyarrow.Table.from_pandas(FRAME[columns]), [], labels)
    specification = _specifications.gda(target="species", **changes) if labels else _specifications.mixture(**changes)
    _core.fit_mixture(name, table, specification, _specifications.options()).save(path)
    return path


@pytest.mark.parametrize("covariance", ["full", "tied"])
def test_discriminants_of_columns_that_are_not_numbers_are_refused(covariance, tmp_path):
    reals = _specifications.together(covariance, counts=True)
    for columns in (["x", "c"], ["c", "x"]):
        path = written(tmp_path / "model.abduce", "gda", columns, LABELS, reals=reals)
        with pytest.raises(ValueError, match="not numbers, such as 'c', which is categorical; use the command line"):
            abduce.load(path)
    path = written(tmp_path / "model.abduce", "gda", ["x", "n"], LABELS, reals=reals)
    model = abduce.load(path)
    assert type(model) is (LinearDiscriminantAnalysis if covariance == "tied" else QuadraticDiscriminantAnalysis)
    assert model.kinds_["n"] == "count"
    assert model.score(FRAME[["x", "n"]], np.array(["p", "q"])[LABELS[2]]) > 0.9


def test_a_discriminant_with_separate_columns_can_predict(tmp_path):
    reals = _specifications.together("tied", counts=False)
    model = abduce.load(written(tmp_path / "model.abduce", "gda", ["x", "n"], LABELS, reals=reals))
    assert set(model.families_.values()) == {"multivariate", "poisson"}
    assert model.score(FRAME[["x", "n"]], np.array(["p", "q"])[LABELS[2]]) > 0.9


def test_a_gaussian_becomes_an_imputer(tmp_path):
    reals = _specifications.together("full", counts=True)
    path = written(tmp_path / "model.abduce", "gaussian", ["x", "n"], components=1, reals=reals)
    model = abduce.load(path)
    assert type(model) is GaussianImputer and model.get_params() == pytest.approx(
        GaussianImputer().get_params(), nan_ok=True
    )
    rows = FRAME[["x", "n"]].astype(float)
    rows.loc[::3, "x"] = np.nan
    expected = GaussianImputer().fit(FRAME[["x", "n"]]).transform(rows)
    pd.testing.assert_frame_equal(model.transform(rows), expected)
    model.save(tmp_path / "again.abduce")
    assert json.loads((tmp_path / "again.abduce").read_text())["model"] == "gaussian"
    pd.testing.assert_frame_equal(abduce.load(tmp_path / "again.abduce").transform(rows), expected)
