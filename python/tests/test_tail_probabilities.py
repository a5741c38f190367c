"""Tail probabilities rank rows with different missing cells."""

import numpy as np
import pandas
import pytest
from scipy.stats import chi2

import abduce

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 6))


def test_a_far_row_with_missing_cells_ranks_first():
    rows = 100 * X
    rows[17] = [600.0, *[np.nan] * 5]
    model = abduce.GaussianMixture(1).fit(100 * X)
    assert np.argmax(model.score_samples(rows)) == 17
    tails = model.tail_probability(rows)
    assert np.argmin(tails) == 17
    assert tails[17] < 1e-6
    assert ((0 <= tails) & (tails <= 1)).all()


def test_tail_probabilities_of_a_gaussian_are_those_of_chi_squared():
    model = abduce.GaussianMixture(1).fit(X)
    centred = X - model.means_[0]
    distances = np.einsum("ni,ij,nj->n", centred, model.precisions_[0], centred)
    np.testing.assert_allclose(model.tail_probability(X), chi2.sf(distances, 6), atol=0.03)


def test_labels_do_not_change_tail_probabilities():
    frame = pandas.DataFrame({"x": X[:, 0], "colour": np.where(X[:, 1] > 0, "r", "b")})
    model = abduce.NaiveBayes().fit(frame, X[:, 0] > 0)
    far = pandas.DataFrame({"x": [0.0, 40.0, None], "colour": ["r", "b", None]})
    tails = model.tail_probability(far, log=True)
    assert tails[1] < -50 < tails[0]
    assert tails[2] == 0.0


@pytest.mark.parametrize("name", ["GaussianNB", "Mixture", "KernelDensity", "QuadraticDiscriminantAnalysis"])
def test_the_same_seed_gives_the_same_tail_probabilities(name):
    model = getattr(abduce, name)().fit(X, X[:, 0] > 0)
    np.testing.assert_array_equal(model.tail_probability(X), model.tail_probability(X))
    assert (model.tail_probability(X, random_state=1) != model.tail_probability(X)).any()
