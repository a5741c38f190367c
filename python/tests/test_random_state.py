"""`random_state`: an int repeats, None draws from NumPy's global state, generators advance."""

import numpy as np
import pytest

import abduce
from abduce import families

X = np.random.default_rng(0).normal(size=(60, 2))
INCOMPLETE = np.where(np.random.default_rng(1).random(X.shape) < 0.2, np.nan, X)


def sampled(random_state):
    return abduce.GaussianMixture(2, random_state=random_state).fit(X).sample(5)[0]


def drawn(random_state):
    return abduce.Mixture(1, random_state=0).fit(X).draw(5, random_state=random_state)["x0"]


def imputed(random_state):
    return (
        abduce.Mixture(1, random_state=0)
        .fit(INCOMPLETE)
        .impute(INCOMPLETE, how="draw", random_state=random_state)["x0"]
    )


def transformed(random_state):
    return abduce.GaussianImputer(how="draw", random_state=random_state).fit(INCOMPLETE).transform(INCOMPLETE)


def of_kernels(random_state):
    return abduce.KernelDensity().fit(X).sample(5, random_state=random_state)


def of_a_family(random_state):
    return families.gamma(2, 1).rvs(5, random_state=random_state)


DRAWS = [sampled, drawn, imputed, transformed, of_kernels, of_a_family]


@pytest.mark.parametrize("draw", DRAWS)
def test_none_varies_and_an_int_repeats(draw):
    assert not np.array_equal(draw(None), draw(None))
    np.testing.assert_array_equal(draw(7), draw(7))
    np.random.seed(3)
    first = draw(None)
    np.random.seed(3)
    np.testing.assert_array_equal(draw(None), first)


@pytest.mark.parametrize("make", [np.random.RandomState, np.random.default_rng])
@pytest.mark.parametrize("draw", DRAWS)
def test_generators_advance(draw, make):
    generator = make(5)
    first = draw(generator)
    assert not np.array_equal(draw(generator), first)
    np.testing.assert_array_equal(draw(make(5)), first)


@pytest.mark.parametrize("init", ["kmeans", "random", "random_from_data", "k-means++"])
def test_a_generator_decides_the_start_of_a_mixture(init):
    def fit():
        return abduce.GaussianMixture(3, init_params=init, random_state=np.random.default_rng(2)).fit(X).means_

    np.testing.assert_array_equal(fit(), fit())


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("init", ["kmeans", "random", "random_from_data", "k-means++"])
@pytest.mark.parametrize("share", [0.0, 0.2], ids=["complete", "incomplete"])
def test_components_keep_the_order_of_given_means(kind, init, share):
    centers = np.array([[0.0, 20.0], [20.0, 0.0], [0.0, 0.0]])
    rows = np.repeat(centers, 40, axis=0) + np.random.default_rng(2).normal(size=(120, 2))
    rows[np.random.default_rng(3).random(rows.shape) < share] = np.nan
    covariances = {"full": np.tile(np.eye(2), (3, 1, 1)), "tied": np.eye(2), "diag": np.ones((3, 2))}
    given = {"means_init": centers, "precisions_init": covariances.get(kind, np.ones(3))}
    model = abduce.GaussianMixture(3, covariance_type=kind, init_params=init, random_state=0, n_init=2, **given)
    np.testing.assert_allclose(model.fit(rows).means_, centers, atol=1.0)


def test_more_starts_are_never_worse():
    bounds = [
        abduce.GaussianMixture(4, init_params="k-means++", n_init=n, random_state=0, tol=1e-8, max_iter=2000)
        .fit(X)
        .lower_bound_
        for n in (1, 10)
    ]
    assert bounds[1] >= bounds[0] - 1e-6
