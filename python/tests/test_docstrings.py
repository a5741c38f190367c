"""Docstrings: every parameter with its default, and every fitted attribute."""

import ast
import inspect
import re

import numpy as np
import pandas as pd
import pytest

import abduce
from abduce._files import ESTIMATORS
from abduce.bayes import Hypotheses
from abduce.families import Distribution

NAMES = list(dict.fromkeys(name for names in ESTIMATORS.values() for name in names))
X = pd.DataFrame(np.random.default_rng(0).integers(0, 3, (60, 3)).astype(float), columns=["a", "b", "c"])
Y = np.arange(60) % 2
HEADING = re.compile(r"^(\w+)\n-+\n", re.MULTILINE)
ENTRY = re.compile(r"^(\*{0,2}\w+) : (.+)\n    \S", re.MULTILINE)


def entries(cls, section):
    """The entries of a section: names, and the text after their colons."""
    _, *parts = HEADING.split(inspect.getdoc(cls) + "\n")
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    return dict(ENTRY.findall(sections[section]))


def default_of(description):
    given = re.search(r"default=(.+)$", description)
    assert given, f"no default in {description!r}"
    return float("nan") if given[1] == "nan" else ast.literal_eval(given[1])


@pytest.mark.parametrize("cls", [*(getattr(abduce, name) for name in NAMES), Hypotheses, Distribution])
def test_every_parameter_is_described_with_its_default(cls):
    parameters = dict(inspect.signature(cls).parameters)
    described = entries(cls, "Parameters")
    assert [name.lstrip("*") for name in described] == list(parameters)
    for name, parameter in parameters.items():
        if parameter.default is not inspect.Parameter.empty:
            np.testing.assert_equal(default_of(described[name]), parameter.default)


@pytest.mark.parametrize("name", NAMES)
def test_every_fitted_attribute_is_described(name):
    cls = getattr(abduce, name)
    model = cls().fit(X, Y)
    public = {name for name in (*dir(cls), *vars(model)) if name.endswith("_") and not name.startswith("_")}
    described = set(entries(cls, "Attributes"))
    assert public <= described
    assert all(hasattr(model, name) for name in described)


@pytest.mark.parametrize("cls", [Hypotheses, Distribution])
def test_instance_attributes_are_described(cls):
    example = Hypotheses(["a", "b"], {"x": [0.1, 0.2]}) if cls is Hypotheses else Distribution("gamma", 2, 1)
    assert {name for name in vars(example) if not name.startswith("_")} == set(entries(cls, "Attributes"))
