"""Queries about counts, numbers and components."""

import numpy as np
import pandas
import pytest

import abduce
from abduce import families

RNG = np.random.default_rng(0)
FRAME = pandas.DataFrame(
    {
        "x": np.concatenate([RNG.normal(0, 1, 60), RNG.normal(9, 1, 40)]),
        "visits": RNG.poisson(2.0, 100),
        "colour": ["r"] * 50 + ["b"] * 50,
    }
)
MODEL = abduce.Mixture(2, random_state=0).fit(FRAME)
ONE = abduce.Mixture(1, random_state=0).fit(FRAME)


def test_a_count_has_a_probability():
    rate = FRAME["visits"].mean()
    assert ONE.query("P(visits=2)") == pytest.approx(families.poisson(rate).pdf(2))
    assert ONE.query("P(visits=1.5)") == 0.0


def test_the_distribution_of_a_count_sums_to_one():
    found = MODEL.query("P(visits | x=9)")
    assert sum(found.values()) == pytest.approx(1, abs=1e-9)
    assert found[2] == pytest.approx(MODEL.query("P(visits=2 | x=9)"))


def test_counts_and_levels_together_follow_the_chain_rule():
    both = MODEL.query("P(visits=2, colour=r)")
    assert both == pytest.approx(MODEL.query("P(colour=r)") * MODEL.query("P(visits=2 | colour=r)"))
    assert both == pytest.approx(MODEL.query("P(colour=r, visits=2)"))


def test_a_real_number_still_has_no_probability():
    with pytest.raises(ValueError, match="a density, not a probability"):
        MODEL.query("P(x=1)")


def test_a_count_may_be_in_a_range():
    below = sum(MODEL.query(f"P(visits={count} | x=9)") for count in range(3))
    assert MODEL.query("P(visits<3 | x=9)") == pytest.approx(below)
    assert MODEL.query("P(visits in {0, 1, 2} | x=9)") == pytest.approx(below)
    found = MODEL.query("P(visits | visits>=3)")
    assert sum(found.values()) == pytest.approx(1, abs=1e-9)
    assert all(found[count] == 0 for count in found if count < 3)


def test_the_most_probable_number_has_the_highest_density():
    found = MODEL.query("MAP(x)")
    grid = np.linspace(-4, 13, 2001)
    rows = pandas.DataFrame({"x": grid, "visits": pandas.array([None] * 2001, dtype="Int64"), "colour": [None] * 2001})
    density = np.exp(MODEL.score_samples(rows))
    assert found["map"]["x"] == pytest.approx(grid[density.argmax()], abs=0.02)
    assert found["density"] >= density.max() * (1 - 1e-9)
    visits = MODEL.query("P(visits)")
    assert MODEL.query("MAP(visits)")["map"]["visits"] == max(visits, key=visits.get)


def test_components_are_identified_by_number():
    row = pandas.DataFrame({"x": [9.0], "visits": [2], "colour": ["b"]})
    found = MODEL.query("P(component | x=9, visits=2, colour=b)")
    np.testing.assert_allclose(list(found.values()), MODEL.predict_proba(row)[0])
    assert MODEL.query("MAP(component | x=9, visits=2, colour=b)")["map"]["component"] == MODEL.predict(row)[0]
    assert MODEL.query("P(component=1 | x=9)") == pytest.approx(MODEL.query("P(component | x=9)")[1])
    np.testing.assert_allclose(list(MODEL.query("P(component)").values()), MODEL.weights_)
    with pytest.raises(ValueError, match='no level "7"; the levels are 0, 1'):
        MODEL.query("P(component=7)")


def test_the_component_of_a_mixture_may_be_given():
    rng = np.random.default_rng(0)
    far = np.repeat([0.0, 9.0], [60, 40])
    frame = pandas.DataFrame(
        {
            "x": far + rng.normal(size=100),
            "n": rng.poisson(1 + far),
            "colour": np.where(far + rng.normal(size=100) * 3 > 4, "r", "b"),
        }
    )
    model = abduce.Mixture(2, kinds={"n": "count"}, random_state=0).fit(frame)
    leaves = {leaf["columns"][0]: leaf["components"] for leaf in model.parameters_}
    for component in (0, 1):
        condition = f"component={component}"
        assert model.query(f"E(x | {condition})") == pytest.approx(leaves["x"][component]["mean"][0])
        assert model.query(f"E(n | {condition})") == pytest.approx(leaves["n"][component]["rate"])
        colours = model.query(f"P(colour | {condition})")
        assert list(colours.values()) == pytest.approx(leaves["colour"][component]["probabilities"])
        drawn = model.draw(50, given={"component": component}, random_state=0)
        assert (model.predict(drawn) == component).mean() > 0.9
    mixed = sum(model.query(f"P(n=2 | component={j})") * model.query(f"P(component={j})") for j in (0, 1))
    assert model.query("P(n=2)") == pytest.approx(mixed)
    both = model.query("P(n=2, colour=r | component=1)")
    assert both == pytest.approx(model.query("P(n=2 | component=1)") * model.query("P(colour=r | component=1)"))
    with pytest.raises(ValueError, match='no level "2"'):
        model.query("P(x | component=2)")
