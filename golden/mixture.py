"""mixture.json: scikit-learn's GaussianMixture, run to its maximum and run for exactly five iterations.

One iteration of scikit-learn is an E-step and then an M-step, and the bound it reports for an iteration is the mean
log-likelihood found by that E-step: it belongs to the parameters *before* that iteration's M-step. Nothing is added to
the covariances (reg_covar is 0), so these are maximum-likelihood numbers.
"""

import warnings

import numpy as np
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from reference import HERE, write

SEED = 2004
STRUCTURES = {"full": "full", "tied": "tied", "diagonal": "diag", "spherical": "spherical"}
ITERATIONS = 5


def fit(x, structure, **settings):
    """A fit without convergence warnings, which the runs of five iterations would give."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return GaussianMixture(covariance_type=STRUCTURES[structure], reg_covar=0.0, random_state=SEED, **settings).fit(x)


def parameters(model):
    """Weights, means and covariances, components in ascending order of their first mean; tied has one covariance."""
    order = np.argsort(model.means_[:, 0])
    tied = model.covariance_type == "tied"
    return {"weights": model.weights_[order], "means": model.means_[order],
            "covariances": model.covariances_ if tied else model.covariances_[order]}


def maximum(x, structure, components):
    """The best of 20 starts from k-means, and for a tied covariance of 20 from random rows as well.

    With an own covariance per component the likelihood has no upper bound, and a component started on one row stays
    there: the maximum meant is the best one that k-means leads to.
    """
    starts = ("kmeans", "random_from_data") if structure == "tied" else ("kmeans",)
    fits = [
        fit(x, structure, n_components=components, init_params=start, n_init=20, tol=1e-12, max_iter=10_000)
        for start in starts
    ]
    best = max(fits, key=lambda model: model.score(x))
    return {"structure": structure, "components": components, "log_likelihood": best.score(x) * len(x), **parameters(best)}


def seeded_sample():
    """60 rows in three dimensions around three centres that overlap."""
    generator = np.random.default_rng(SEED)
    centres = generator.normal(0.0, 2.0, (3, 3))
    factors = generator.normal(size=(3, 3, 3))
    component = generator.choice(3, 60, p=[0.5, 0.3, 0.2])
    return np.stack([centres[k] + factors[k] @ generator.normal(size=3) for k in component])


def start(x, structure):
    """Simple initial values: unequal weights, three rows as means, covariances near that of the table."""
    covariance = np.cov(x, rowvar=False, ddof=0)
    scales = np.array([0.8, 1.0, 1.3])
    covariances = {
        "full": scales[:, None, None] * covariance,
        "tied": covariance,
        "diagonal": scales[:, None] * np.diag(covariance),
        "spherical": scales * np.diag(covariance).mean(),
    }[structure]
    return {"weights": np.array([0.3, 0.3, 0.4]), "means": x[[4, 25, 47]], "covariances": covariances}


def five_iterations(x, structure):
    """Exactly five iterations from given values; components keep the order of the start."""
    given = start(x, structure)
    matrices = structure in ("full", "tied")
    precisions = np.linalg.inv(given["covariances"]) if matrices else 1 / given["covariances"]
    model = fit(x, structure, n_components=3, tol=0.0, max_iter=ITERATIONS,
                weights_init=given["weights"], means_init=given["means"], precisions_init=precisions)
    assert model.n_iter_ == ITERATIONS
    return {
        "structure": structure, "iterations": ITERATIONS, "start": given,
        "mean_log_likelihood_before_each_m_step": model.lower_bounds_,
        "mean_log_likelihood_at_the_end": model.score(x),
        "end": {"weights": model.weights_, "means": model.means_, "covariances": model.covariances_},
    }


if __name__ == "__main__":
    faithful = np.loadtxt(HERE / "faithful.csv", delimiter=",", skiprows=1)
    iris = load_iris().data
    sample = seeded_sample()
    write("mixture", ["numpy", "scipy", "scikit-learn"], {
        "faithful": [maximum(faithful, structure, 2) for structure in STRUCTURES] + [maximum(faithful, "tied", 3)],
        "iris": {"x": iris, "maxima": [maximum(iris, structure, 3) for structure in STRUCTURES]},
        "five_iterations": {"x": sample, "runs": [five_iterations(sample, structure) for structure in STRUCTURES]},
    })
