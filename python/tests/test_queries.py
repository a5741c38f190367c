"""Queries, explanations, draws, families and hypotheses."""

import doctest
import json
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from sklearn.datasets import load_iris

from abduce import bayes, families
from abduce.mixture import GaussianMixture, Mixture
from abduce.naive_bayes import GaussianNB, NaiveBayes

X, Y = load_iris(return_X_y=True)


def test_queries_are_bayes_theorem():
    model = GaussianNB().fit(X, Y)
    row = dict(zip(["x0", "x1", "x2", "x3"], X[70].tolist(), strict=True))
    conditions = ", ".join(f"{name}={value!r}" for name, value in row.items())
    found = model.query(f"P(y | {conditions})")
    np.testing.assert_allclose(list(found.values()), model.predict_proba(X[70:71])[0])
    found = model.query("P(x2 | y=1)")
    assert found["mean"] == pytest.approx(X[Y == 1, 2].mean())
    assert found["variance"] == pytest.approx(model.var_[1, 2])
    for wrong in ("x0", "P(x0, x1)", "P(nothing)", "P(x0 | y=7)", "P(x0 | x1=red)"):
        with pytest.raises(ValueError):
            model.query(wrong)


def test_joint_questions_are_the_chain_rule():
    frame = pd.DataFrame({"size": X[:, 2], "kind": np.array(["a", "b", "c"])[Y], "wide": X[:, 1] > 3})
    model = NaiveBayes().fit(frame, Y)
    joint = model.query("P(kind, wide | size=4.5)")
    assert len(joint) == 6 and sum(joint.values()) == pytest.approx(1)
    alone, given = model.query("P(kind | size=4.5)"), model.query("P(wide | size=4.5, kind=b)")
    for level, share in given.items():
        assert joint["b", level] == pytest.approx(alone["b"] * share)
    best = model.query("MAP(kind, wide | size=4.5)")
    assert best["probability"] == max(joint.values())
    assert joint[best["map"]["kind"], best["map"]["wide"]] == best["probability"]
    assert model.query("MAP(kind)")["map"]["kind"] in "abc"
    assert model.query("E(size | y=1)") == pytest.approx(X[Y == 1, 2].mean())
    for wrong in (
        "E(kind)",
        "E(size, kind)",
        "P(kind, size)",
        "P(kind, kind)",
        "P(kind, wide | kind=a)",
        "P(kind | do(wide=True))",
        "MAP()",
        "P(kind,)",
    ):
        with pytest.raises(ValueError):
            model.query(wrong)


def test_names_and_values_may_be_quoted():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "petal width": X[:, 3],
            "my, col": np.array(["a=b", "c, d", "e|f"])[Y],
            "it's": rng.choice(['say "x"', "5 o'clock"], 150),
        }
    )
    model = NaiveBayes().fit(frame, Y)
    wide = X[Y == 0, 3].mean()
    for asked in (
        """E("petal width" | "my, col"='a=b', y=0)""",
        """E(petal width | 'my, col' = "a=b", y=0)""",
        """E(petal width|"my, col"=a=b,y=0)""",
    ):
        assert model.query(asked) == pytest.approx(wide, abs=1e-2)
    both = model.query("""P("my, col", it's | y=1)""")
    one = model.query("""P("my, col"="e|f", 'it''s'="say ""x\"\"" | y=1)""")
    assert one == both["e|f", 'say "x"']
    assert model.query("P(it's=5 o'clock)") == pytest.approx(model.query("P(it's)")["5 o'clock"])
    for wrong in ('P("petal width', "P(y | my, col=a)", "P(y | | y=1)", "P(y | a | b)"):
        with pytest.raises(ValueError):
            model.query(wrong)


def test_an_event_has_a_probability():
    frame = pd.DataFrame({"size": X[:, 2], "kind": np.array(["a", "b", "c"])[Y], "wide": X[:, 1] > 3})
    model = NaiveBayes().fit(frame, Y)
    assert model.query("P(kind=b | size=4.5)") == model.query("P(kind | size=4.5)")["b"]
    assert model.query("P(wide=True | kind=b)") == model.query("P(wide | kind=b)")[True]
    assert model.query("P(y=1 | wide=False)") == model.query("P(y | wide=false)")[1]
    joint = model.query("P(kind, wide | size=4.5)")
    assert model.query("P(wide=false, kind=c | size=4.5)") == pytest.approx(joint["c", False])
    for wrong in (
        "P(kind=d)",
        "P(size=4.5)",
        "P(kind=a, wide)",
        "P(kind=a, kind=b)",
        "MAP(kind=a)",
        "E(size=3)",
        "P(kind=a | kind=b)",
        "P(nothing=1)",
    ):
        with pytest.raises(ValueError):
            model.query(wrong)


def test_ranges_and_sets_are_conditions():
    frame = pd.DataFrame({"size": X[:, 2], "kind": np.array(["a", "b", "c"])[Y], "wide": X[:, 1] > 3})
    model = NaiveBayes().fit(frame, Y)
    some, all_but = model.query("P(kind in {a, b} | size>4)"), model.query("P(kind!=c | size>4)")
    assert some == pytest.approx(all_but) == pytest.approx(1 - model.query("P(kind=c | size>4)"))
    between = model.query("P(size between 3 and 5 | y=1)")
    low, high = model.query("P(size<3 | y=1)"), model.query("P(size>5 | y=1)")
    assert between == pytest.approx(1 - low - high)
    assert model.query("E(size | size>4)") > max(4, model.query("E(size)"))
    assert model.query("P(kind | wide in {True, False})") == pytest.approx(model.query("P(kind)"))
    bayes_rule = model.query("P(size>4 | kind=c)") * model.query("P(kind=c)") / model.query("P(size>4)")
    assert model.query("P(kind=c | size>4)") == pytest.approx(bayes_rule)


def test_questions_about_dependent_columns_are_answered_by_draws():
    model = GaussianMixture(1).fit(X)
    found = model.query("P(x0>6, x2>5)", detail=True)
    share = np.mean((X[:, 0] > 6) & (X[:, 2] > 5))
    assert found["method"] == "draws" and found["draws"] == 10_000
    assert found["answer"] == pytest.approx(share, abs=0.1)
    assert 0 < found["standard_error"] < 0.01
    assert model.query("P(x0>6, x2>5)") == found["answer"]
    assert model.query("P(x0>6, x2>5)", random_state=1) != found["answer"]
    many = model.query("P(x0>6, x2>5)", draws=90_000, detail=True)
    assert many["standard_error"] < found["standard_error"] / 2
    moments = model.query("P(x0 | x2>5)", detail=True)
    assert set(moments["standard_error"]) == set(moments["answer"]) == {"mean", "variance"}
    assert model.query("P(x0>6)", detail=True)["method"] == "exact"
    with pytest.raises(ValueError, match="draws must be positive"):
        model.query("P(x0>6, x2>5)", draws=0)


def test_errors_have_the_position_of_the_character():
    model = GaussianNB().fit(X, Y)
    for question, character in (("P(y | x9=1)", 7), ("P(y | x0>)", 10), ("P(y=3)", 5), ("Q(y)", 1)):
        with pytest.raises(ValueError, match=rf"character {character}: "):
            model.query(question)


def test_explanations_sum_to_the_log_odds():
    model = GaussianNB().fit(X, Y)
    explanation = model.explain(X, 77)
    joint = model.predict_joint_log_proba(X[77:78])[0]
    odds = joint[int(explanation["class"])] - joint[int(explanation["against"])]
    assert explanation["log_odds"] == pytest.approx(odds)
    assert sum(contribution["log_odds"] for contribution in explanation["contributions"]) == pytest.approx(odds)
    assert model.explain(X, 77, label=2, against=0)["class"] == 2


def test_draws_and_imputation():
    frame = pd.DataFrame({"size": X[:, 2], "kind": np.array(["a", "b", "c"])[Y]})
    model = NaiveBayes().fit(frame, Y)
    drawn = model.draw(2000, given={"kind": "b"}, random_state=1)
    assert set(drawn["kind"]) == {"b"}
    assert np.mean(drawn["y"] == 1) > 0.9
    missing = frame.assign(size=np.nan)
    assert np.isfinite(model.impute(missing)["size"]).all()
    mixture = Mixture(3, random_state=0).fit(X)
    assert mixture.draw(100)["x0"].shape == (100,)
    rows, labels = GaussianMixture(3, random_state=0).fit(X).sample(50)
    assert rows.shape == (50, 4) and labels.shape == (50,)


@pytest.mark.parametrize(
    ("family", "other"),
    [
        (families.gaussian(1, 4), scipy.stats.norm(1, 2)),
        (families.gamma(2, 0.5), scipy.stats.gamma(2, scale=2)),
        (families.beta(2, 5), scipy.stats.beta(2, 5)),
        (families.poisson(3.5), scipy.stats.poisson(3.5)),
    ],
    ids=repr,
)
def test_families_are_those_of_scipy(family, other):
    x = np.array([[0.0, 0.1], [0.5, 3.0]]) if "poisson" not in repr(family) else np.array([[0.0, 1.0], [2.0, 7.0]])
    density = other.pmf if hasattr(other.dist, "pmf") else other.pdf
    np.testing.assert_allclose(family.pdf(x), density(x), rtol=1e-10)
    np.testing.assert_allclose(family.cdf(x), other.cdf(x), rtol=1e-10)
    np.testing.assert_allclose(family.ppf([0.1, 0.9]), other.ppf([0.1, 0.9]), rtol=1e-9)
    assert family.mean == pytest.approx(other.mean())
    assert family.variance == pytest.approx(other.var())
    assert family.rvs(10).shape == (10,)


def test_a_conjugate_estimate():
    report = families.estimate("bernoulli", [1, 1, 0, 1], prior="beta(2,2)")
    text = json.dumps(report)
    assert "0.625" in text  # the posterior mean 5 / 8
    assert families.estimate("gaussian", [1.0, 2.0, np.nan, 6.0])["rows"] == 3
    assert families.estimate("categorical", ["a", "b", None, "a"])["rows"] == 3
    weighted = families.estimate("poisson", [1, 2, 5], prior="gamma(2,1)", sample_weight=[1, 3, 2])
    repeated = families.estimate("poisson", [1, 2, 2, 2, 5, 5], prior="gamma(2,1)")
    assert weighted["posterior"]["parameters"] == pytest.approx(repeated["posterior"]["parameters"])
    with pytest.raises(ValueError, match="sample_weight"):
        families.estimate("poisson", [1, 2, 5], sample_weight=[1, 3])
    with pytest.raises(ValueError):
        families.estimate("gama", [1.0])


def test_finite_hypotheses():
    test = bayes.Hypotheses({"cancer": 0.008, "healthy": 0.992}, {"positive": [0.98, 0.03]})
    assert test.observe("positive")["cancer"] == pytest.approx(0.00784 / (0.00784 + 0.02976))
    assert test.map == ["healthy"]
    assert test.maximum_likelihood == ["cancer"]
    assert np.exp(test.log_evidence) == pytest.approx(0.0376)
    other = bayes.Hypotheses(["fair", "loaded"], {"six": {"loaded": 1 / 2, "fair": 1 / 6}})
    assert other.observe("not six")["fair"] == pytest.approx((5 / 6) / (5 / 6 + 1 / 2))
    assert other.predictive["six"] == pytest.approx(other.posterior["fair"] / 6 + other.posterior["loaded"] / 2)
    with pytest.raises(ValueError):
        test.observe("negative")
    with pytest.raises(ValueError):
        bayes.Hypotheses({"a": 0.2, "b": 0.2}, {"x": [0.5, 0.5]})
    with pytest.raises(ValueError):
        bayes.Hypotheses({"a": 0.5, "b": 0.5}, {"x": [0.5, 1.5]})


@pytest.mark.parametrize("module", [bayes, families])
def test_examples_in_modules_run(module):
    found = doctest.testmod(module)
    assert found.attempted > 0 and found.failed == 0


def test_levels_in_answers_have_their_original_type():
    frame = pd.DataFrame({"kind": ["u", "v", "u", "v"], "wide": [True, False, True, True]})
    model = NaiveBayes().fit(frame, [0, 0, 1, 1])
    assert list(model.query("P(y | kind=u)")) == [0, 1]
    assert set(model.query("P(kind, wide)")) == {("u", True), ("u", False), ("v", True), ("v", False)}
    best = model.query("MAP(y, wide)")["map"]
    assert best == {"y": 1, "wide": True} and best["wide"] is True
    words = pd.DataFrame({"said": ["true", "false", "true", "true"], "x": [1.0, 2.0, 3.0, 4.0]})
    model = NaiveBayes().fit(words, [1.0, 1.0, 2.0, 2.0])
    assert list(model.query("P(said)")) == ["false", "true"]
    assert model.explain(words, label=1)["class"] == 1.0


def test_an_interval_may_be_a_given_value():
    cut = pd.cut([1, 2, 3, 4], 2)
    model = NaiveBayes().fit(pd.DataFrame({0: cut, 1: [1.0, 2.0, 3.0, 4.0]}), [0, 0, 1, 1])
    assert model.draw(1, given={"0": cut[0]})["0"][0] == cut[0]


def test_n_samples_must_be_a_whole_number():
    model = GaussianNB().fit(X, Y)
    for wrong, error in (
        ({"n_samples": 1.5}, TypeError),
        ({"random_state": -1}, ValueError),
        ({"given": 3}, TypeError),
    ):
        with pytest.raises(error):
            model.draw(**wrong)


def test_parameters_of_distributions_have_names():
    assert families.gamma(shape=2, rate=0.5) == families.gamma(2, rate=0.5) == families.gamma(2, 0.5)
    for wrong in ({"shape": 2}, {"shape": 2, "scale": 2}):
        with pytest.raises(TypeError, match="rate"):
            families.gamma(**wrong)
    with pytest.raises(AttributeError, match="nrom"):
        families.nrom(0, 1)
    with pytest.raises(TypeError, match="must be a Distribution"):
        families.gamma(2, 1).kl(3)
    for name, count in (("gamma", 2), ("uniform", 2), ("poisson", 1), ("von_mises", 2)):
        distribution = getattr(families, name)(*range(1, count + 1))
        assert np.isnan(
            [distribution.pdf(np.nan), distribution.cdf(np.nan), distribution.sf(np.nan), distribution.ppf(np.nan)]
        ).all()
    for size in (-1, 1.5, None, True):
        with pytest.raises(ValueError, match="size must be one or several"):
            families.gamma(2, 1).rvs(size)
    assert families.gamma(2, 1).rvs((2, 3)).shape == (2, 3)
    with pytest.raises(ValueError, match="random_state"):
        families.gamma(2, 1).rvs(3, random_state=-1)
    with pytest.raises(ValueError, match="no distribution foo"):
        families.Distribution("foo", a=1)


def test_hypotheses_are_pickled_with_their_observations():
    test = bayes.Hypotheses({"cancer": 0.008, "healthy": 0.992}, {"positive": [0.98, 0.03]})
    test.observe("positive")
    again = pickle.loads(pickle.dumps(test))
    assert again.posterior == test.posterior
    assert repr(again) == "Hypotheses({'cancer': 0.2085, 'healthy': 0.7915})"
    again.observe("positive")
    assert test.posterior["cancer"] == pytest.approx(0.2085, abs=1e-4)
    assert again.posterior["cancer"] > 0.8
