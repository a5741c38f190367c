"""The cases as calls of Python estimators: the same code for scikit-learn and abduce, which has the same names.

Each function runs a case once with the estimators of one library. The whole call is timed, including the checks of
arguments and the conversion of arrays.
"""

import time
import warnings
from types import SimpleNamespace

import numpy as np
from sklearn import cluster, mixture, naive_bayes, neighbors
from sklearn.exceptions import ConvergenceWarning

from abduce import cluster as abduce_cluster
from abduce import mixture as abduce_mixture
from abduce import naive_bayes as abduce_naive_bayes
from abduce import neighbors as abduce_neighbors
from cases import LEVELS, load_centres, load_codes, load_counts, load_density, load_labels, load_queries, load_start, load_x


def estimators(*modules):
    """The public classes of modules, by name."""
    found = {name: getattr(module, name) for module in modules for name in dir(module) if name[0].isupper()}
    return SimpleNamespace(**found)


SKLEARN = estimators(cluster, mixture, naive_bayes, neighbors)
ABDUCE = estimators(abduce_cluster, abduce_mixture, abduce_naive_bayes, abduce_neighbors)


class Clock:
    """Measures the seconds of a `with` block."""

    def __enter__(self):
        self.started = time.perf_counter()
        return self

    def __exit__(self, *_):
        self.seconds = time.perf_counter() - self.started


def gaussian_mixture(library, case, iterations):
    """The same number of EM iterations from the same start; both libraries run one more E-step at the end."""
    x, start = load_x(case), load_start(case)
    diagonal = case.kind == "mixture-diagonal"
    precisions = 1.0 / np.diagonal(start["covariances"], axis1=1, axis2=2) if diagonal else np.linalg.inv(start["covariances"])
    model = library.GaussianMixture(
        case.k, covariance_type="diag" if diagonal else "full", tol=0.0, reg_covar=0.0, max_iter=iterations,
        weights_init=start["weights"], means_init=start["means"], precisions_init=precisions,
    )
    with warnings.catch_warnings(), Clock() as clock:
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(x)
    return {"seconds": clock.seconds, "figure": float(model.lower_bound_) * case.n}


def gaussian_mixture_cold(library, case, _iterations):
    """A fit with default options."""
    x = load_x(case)
    with Clock() as clock:
        model = library.GaussianMixture(case.k, random_state=0).fit(x)
    return {"seconds": clock.seconds, "figure": float(model.score(x)) * case.n}


def fitted(model, x, y, figure):
    with Clock() as clock:
        model.fit(x, y)
    return {"seconds": clock.seconds, "figure": float(figure(model))}


def predicted(model, x):
    """Predicts all rows; the figure is a checksum of the classes."""
    with Clock() as clock:
        classes = model.predict(x)
    return {"seconds": clock.seconds, "figure": float((classes * (np.arange(len(classes)) % 1009)).sum())}


def gaussian(library, case, _iterations):
    model = library.GaussianNB()
    return fitted(model, load_x(case), load_labels(case), lambda model: np.abs(model.theta_).sum() + model.var_.sum())


def gaussian_predict(library, case, _iterations):
    x = load_x(case)
    return predicted(library.GaussianNB().fit(x, load_labels(case)), x)


def categorical(library, case, _iterations):
    model = library.CategoricalNB(min_categories=LEVELS)
    return fitted(model, load_codes(case), load_labels(case), lambda model: sum(each.sum() for each in model.feature_log_prob_))


def categorical_predict(library, case, _iterations):
    x = load_codes(case)
    return predicted(library.CategoricalNB(min_categories=LEVELS).fit(x, load_labels(case)), x)


def multinomial(library, case, _iterations):
    model = library.MultinomialNB()
    return fitted(model, load_counts(case), load_labels(case), lambda model: model.feature_log_prob_.sum())


def multinomial_predict(library, case, _iterations):
    x = load_counts(case)
    return predicted(library.MultinomialNB().fit(x, load_labels(case)), x)


def kmeans(library, case, iterations):
    """The same number of iterations from the same centres, or until no row changes its cluster."""
    x = load_x(case)
    max_iterations = 1000 if case.kind == "kmeans-converged" else iterations
    model = library.KMeans(case.k, init=load_centres(case), n_init=1, tol=0.0, max_iter=max_iterations)
    with warnings.catch_warnings(), Clock() as clock:
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(x)
    return {"seconds": clock.seconds, "figure": float(model.inertia_)}


def kernel_density(library, case, _iterations):
    """Tree and queries with a relative tolerance; the sums agree to it."""
    x, queries, given = load_x(case), load_queries(case), load_density(case)
    with Clock() as clock:
        model = library.KernelDensity(bandwidth=given["bandwidth"], rtol=given["tolerance"], atol=0.0).fit(x)
        answers = model.score_samples(queries)
    return {"seconds": clock.seconds, "figure": float(answers.sum())}


# Raw text and grids of densities have no counterpart in scikit-learn's estimators.
CALLS = {"mixture": gaussian_mixture, "mixture-diagonal": gaussian_mixture, "mixture-cold": gaussian_mixture_cold,
         "naive-bayes": gaussian, "naive-bayes-predict": gaussian_predict,
         "categorical": categorical, "categorical-predict": categorical_predict,
         "multinomial": multinomial, "multinomial-predict": multinomial_predict,
         "kmeans": kmeans, "kmeans-converged": kmeans, "kernel-density": kernel_density}
