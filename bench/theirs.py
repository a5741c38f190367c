"""scikit-learn's side of the benchmark: each function runs a case once and returns seconds and what to compare."""

import time
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture
from sklearn.naive_bayes import GaussianNB

from cases import load_labels, load_start, load_x


class TimedMixture(GaussianMixture):
    """Notes when each E-step begins and each M-step ends.

    Input checks, starting values and the extra E-step after the loop are thereby left out: both
    programs are timed on their iterations alone.
    """

    def _e_step(self, *arguments, **keywords):
        self.begun.append(time.perf_counter())
        return super()._e_step(*arguments, **keywords)

    def _m_step(self, *arguments, **keywords):
        result = super()._m_step(*arguments, **keywords)
        self.ended.append(time.perf_counter())
        return result

    def fit(self, x):
        self.begun, self.ended = [], []
        return super().fit(x)

    def seconds_per_iteration(self):
        return (self.ended[-1] - self.begun[0]) / len(self.ended)


def mixture(case, iterations):
    """EM from the given start; the log-likelihood is that of the last E-step, as abduce reports it."""
    start = load_start(case)
    model = TimedMixture(
        case.k, covariance_type="full", tol=0.0, reg_covar=0.0, max_iter=iterations, n_init=1,
        weights_init=start["weights"], means_init=start["means"], precisions_init=np.linalg.inv(start["covariances"]),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(load_x(case))
    return {
        "seconds": model.seconds_per_iteration(),
        "log_likelihood": float(model.lower_bound_) * case.n,
        "iterations": model.n_iter_,
    }


def naive_bayes(case, _iterations):
    """One fit, without variance smoothing, so that both programs estimate the same thing."""
    x, y = load_x(case), load_labels(case)
    begun = time.perf_counter()
    model = GaussianNB(var_smoothing=0.0).fit(x, y)
    seconds = time.perf_counter() - begun
    return {
        "seconds": seconds, "log_likelihood": joint_log_likelihood(model, x, y),
        "means_checksum": float(model.theta_.sum()), "means_scale": float(np.abs(model.theta_).sum()),
    }


def joint_log_likelihood(model, x, y):
    """Σ log p(x, y) over the training rows, class by class: scikit-learn's own would score every class on every row."""
    total = 0.0
    for index, label in enumerate(model.classes_):
        rows = x[y == label]
        squares = ((rows - model.theta_[index]) ** 2).sum(axis=0)
        log_normaliser = np.log(2.0 * np.pi * model.var_[index])
        total += len(rows) * np.log(model.class_prior_[index])
        total -= 0.5 * (len(rows) * log_normaliser + squares / model.var_[index]).sum()
    return float(total)


RUN = {"mixture": mixture, "naive-bayes": naive_bayes}
