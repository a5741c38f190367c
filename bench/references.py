"""The cases run with scikit-learn and SciPy: each function runs a case once and returns its seconds and results."""

import json
import time
import warnings

import numpy as np
from scipy.special import logsumexp
from scipy.stats import gaussian_kde
from sklearn.cluster import KMeans
from sklearn.cluster._kmeans import _kmeans_single_lloyd
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.mixture import GaussianMixture
from sklearn.naive_bayes import CategoricalNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KernelDensity

from cases import LEVELS, load_centres, load_codes, load_counts, load_density, load_labels, load_queries, load_start, load_texts, load_x

# The number of densities that are compared with sums over all points.
CHECKED = 200
# SciPy's time is proportional to the number of nodes: it evaluates every 256th node of the grid.
GRID_STEP = 256


class TimedMixture(GaussianMixture):
    """Records when each E-step starts and each M-step ends.

    This excludes input checks, initial values and the additional E-step after the loop, so that only the iterations of
    both programs are timed.
    """

    def _e_step(self, *arguments, **keywords):
        self.started.append(time.perf_counter())
        return super()._e_step(*arguments, **keywords)

    def _m_step(self, *arguments, **keywords):
        result = super()._m_step(*arguments, **keywords)
        self.ended.append(time.perf_counter())
        return result

    def fit(self, x):
        self.started, self.ended = [], []
        return super().fit(x)

    def seconds_per_iteration(self):
        return (self.ended[-1] - self.started[0]) / len(self.ended)


def mixture(case, iterations):
    """EM from the given start; the log-likelihood is that of the last E-step, as abduce reports it."""
    start = load_start(case)
    diagonal = case.kind == "mixture-diagonal"
    precisions = 1.0 / np.diagonal(start["covariances"], axis1=1, axis2=2) if diagonal else np.linalg.inv(start["covariances"])
    model = TimedMixture(
        case.k, covariance_type="diag" if diagonal else "full", tol=0.0, reg_covar=0.0, max_iter=iterations, n_init=1,
        weights_init=start["weights"], means_init=start["means"], precisions_init=precisions,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(load_x(case))
    return {
        "seconds": model.seconds_per_iteration(),
        "log_likelihood": float(model.lower_bound_) * case.n,
        "iterations": model.n_iter_,
    }


def mixture_cold(case, _iterations):
    """A fit with default options; abduce must reach its likelihood."""
    x = load_x(case)
    model = GaussianMixture(case.k, random_state=0)
    started = time.perf_counter()
    model.fit(x)
    seconds = time.perf_counter() - started
    reached = float(model.score(x)) * case.n
    (case.folder / "mark.json").write_text(json.dumps(reached))
    return {"seconds": seconds, "log_likelihood": reached, "iterations": model.n_iter_}


def naive_bayes(case, _iterations):
    """One fit, without variance smoothing, so that both programs compute the same estimates."""
    x, y = load_x(case), load_labels(case)
    started = time.perf_counter()
    model = GaussianNB(var_smoothing=0.0).fit(x, y)
    seconds = time.perf_counter() - started
    return {
        "seconds": seconds, "log_likelihood": joint_log_likelihood(model, x, y),
        "means_checksum": float(model.theta_.sum()), "means_scale": float(np.abs(model.theta_).sum()),
    }


def joint_log_likelihood(model, x, y):
    """Σ log p(x, y) over the training rows, class by class: scikit-learn's method would score every class on every row."""
    total = 0.0
    for index, label in enumerate(model.classes_):
        rows = x[y == label]
        squares = ((rows - model.theta_[index]) ** 2).sum(axis=0)
        log_normaliser = np.log(2.0 * np.pi * model.var_[index])
        total += len(rows) * np.log(model.class_prior_[index])
        total -= 0.5 * (len(rows) * log_normaliser + squares / model.var_[index]).sum()
    return float(total)


def predicted(model, x):
    """Predicts all rows; the sum is a checksum of the classes."""
    started = time.perf_counter()
    classes = model.predict(x)
    seconds = time.perf_counter() - started
    return {"seconds": seconds, "log_likelihood": float((classes * (np.arange(len(classes)) % 1009)).sum())}


def naive_bayes_predict(case, _iterations):
    """Predictions of the training rows."""
    x = load_x(case)
    return predicted(GaussianNB(var_smoothing=0.0).fit(x, load_labels(case)), x)


def categorical(case, _iterations):
    """One fit with Laplace's rule."""
    x, y = load_codes(case), load_labels(case)
    started = time.perf_counter()
    model = CategoricalNB(min_categories=LEVELS).fit(x, y)
    seconds = time.perf_counter() - started
    cells = sum(model.feature_log_prob_[j][y, x[:, j]].sum() for j in range(case.d))
    return {"seconds": seconds, "log_likelihood": float(model.class_log_prior_[y].sum() + cells)}


def categorical_predict(case, _iterations):
    x = load_codes(case)
    return predicted(CategoricalNB(min_categories=LEVELS).fit(x, load_labels(case)), x)


def multinomial(case, _iterations):
    """One fit with Laplace's rule to given counts."""
    x, y = load_counts(case), load_labels(case)
    started = time.perf_counter()
    model = MultinomialNB().fit(x, y)
    seconds = time.perf_counter() - started
    rows = np.repeat(np.arange(case.n), np.diff(x.indptr))
    words = (x.data * model.feature_log_prob_[y[rows], x.indices]).sum()
    return {"seconds": seconds, "log_likelihood": float(model.class_log_prior_[y].sum() + words)}


def multinomial_predict(case, _iterations):
    x = load_counts(case)
    return predicted(MultinomialNB().fit(x, load_labels(case)), x)


def texts(case, _iterations):
    """Raw text to sparse counts; the checksum is the sum of all counts times their codes."""
    documents = load_texts(case)
    started = time.perf_counter()
    counts = CountVectorizer().fit_transform(documents)
    seconds = time.perf_counter() - started
    return {"seconds": seconds, "log_likelihood": float((counts.data * counts.indices).sum())}


def kmeans(case, iterations, threads):
    """The given number of Lloyd iterations, on centred rows as in scikit-learn."""
    x, centres = load_x(case), load_centres(case)
    mean = x.mean(axis=0)
    x, centres = x - mean, centres - mean
    started = time.perf_counter()
    _, inertia, _, iterations_run = _kmeans_single_lloyd(x, np.ones(case.n), centres, max_iter=iterations, tol=0.0, n_threads=threads)
    seconds = time.perf_counter() - started
    return {"seconds": seconds / iterations_run, "log_likelihood": float(inertia), "iterations": int(iterations_run)}


def kmeans_converged(case, _iterations, _threads):
    """A whole fit from the given centres until no row changes its cluster."""
    x = load_x(case)
    started = time.perf_counter()
    model = KMeans(case.k, init=load_centres(case), n_init=1, tol=0.0, max_iter=1000, algorithm="lloyd").fit(x)
    seconds = time.perf_counter() - started
    return {"seconds": seconds, "log_likelihood": float(model.inertia_), "iterations": int(model.n_iter_)}


def kernel_density(case, _iterations):
    """Tree and queries, with a relative tolerance; the first densities are compared with sums over all points."""
    x, queries, given = load_x(case), load_queries(case), load_density(case)
    started = time.perf_counter()
    model = KernelDensity(bandwidth=given["bandwidth"], rtol=given["tolerance"], atol=0.0).fit(x)
    answers = model.score_samples(queries)
    seconds = time.perf_counter() - started
    exact = [brute_force(x, point, given["bandwidth"]) for point in queries[:CHECKED]]
    return {"seconds": seconds, "log_likelihood": float(answers.sum()), "exact": exact,
            "error": float(np.abs(np.expm1(answers[:CHECKED] - exact)).max())}


def brute_force(x, point, bandwidth):
    """The log-density by its definition: one term for each row."""
    squares = ((x - point) ** 2).sum(axis=1) / bandwidth**2
    return float(logsumexp(-0.5 * squares) - np.log(len(x)) - 0.5 * x.shape[1] * np.log(2 * np.pi * bandwidth**2))


def kernel_grid(case, _iterations):
    """SciPy on some nodes of the grid, with its time extrapolated to all nodes."""
    x, given = load_x(case)[:, 0], load_density(case)
    nodes = np.linspace(*given["grid"], given["nodes"])[::GRID_STEP]
    started = time.perf_counter()
    model = gaussian_kde(x)
    set_up = time.perf_counter() - started
    started = time.perf_counter()
    exact = model(nodes)
    seconds = set_up + (time.perf_counter() - started) * given["nodes"] / len(nodes)
    return {"seconds": seconds, "log_likelihood": float(np.log(exact).sum()), "exact": exact.tolist(), "error": 0.0}


RUN = {"mixture": mixture, "mixture-diagonal": mixture, "mixture-cold": mixture_cold, "naive-bayes": naive_bayes, "naive-bayes-predict": naive_bayes_predict,
       "categorical": categorical, "categorical-predict": categorical_predict,
       "multinomial": multinomial, "multinomial-predict": multinomial_predict, "texts": texts,
       "kmeans": kmeans, "kmeans-converged": kmeans_converged,
       "kernel-density": kernel_density, "kernel-grid": kernel_grid}
