"""missing.json: maximum likelihood of a multivariate Gaussian from rows with missing values.

Two coordinates with the second one missing on half of the rows have a closed form (Anderson, Maximum likelihood
estimates for a multivariate normal distribution when some observations are missing, JASA 1957): the first
coordinate's moments come from all rows, the regression of the second on the first from the complete rows. A general
pattern has none, so the observed-data log-likelihood is maximised by SciPy and polished on its gradient.
"""

import numpy as np
from scipy.optimize import minimize, root
from scipy.stats import multivariate_normal

from reference import write

SEED = 2005


def patterns(x):
    """The rows grouped by their observed columns: (columns, values). Empty rows are left out."""
    seen = ~np.isnan(x)
    groups = []
    for pattern in np.unique(seen, axis=0):
        shown = np.flatnonzero(pattern)
        if shown.size:
            groups.append((shown, x[(seen == pattern).all(axis=1)][:, shown]))
    return groups


def log_likelihood(x, mean, covariance):
    """Sum over rows of the log-density of the observed values, by SciPy."""
    return sum(
        np.sum(multivariate_normal.logpdf(rows, mean[shown], covariance[np.ix_(shown, shown)]))
        for shown, rows in patterns(x)
    )


def unpack(theta, d):
    """Free parameters to (mean, Cholesky factor): the diagonal is stored as logarithms, so that every theta is valid."""
    factor = np.zeros((d, d))
    factor[np.tril_indices(d)] = theta[d:]
    np.fill_diagonal(factor, np.exp(np.diag(factor)))
    return theta[:d], factor


def gradient(theta, x):
    """Derivative of the observed-data log-likelihood by theta."""
    d = x.shape[1]
    mean, factor = unpack(theta, d)
    covariance = factor @ factor.T
    by_mean, by_covariance = np.zeros(d), np.zeros((d, d))
    for shown, rows in patterns(x):
        precision = np.linalg.inv(covariance[np.ix_(shown, shown)])
        whitened = (rows - mean[shown]) @ precision
        by_mean[shown] += whitened.sum(axis=0)
        by_covariance[np.ix_(shown, shown)] += 0.5 * (whitened.T @ whitened - len(rows) * precision)
    by_factor = 2.0 * by_covariance @ factor
    by_factor[np.diag_indices(d)] *= np.diag(factor)
    return np.concatenate([by_mean, by_factor[np.tril_indices(d)]])


def maximise(x):
    """L-BFGS near to the maximum, then the root of the gradient, which is accurate to rounding."""
    d = x.shape[1]
    start = np.concatenate([np.nanmean(x, axis=0), np.diag(np.log(np.nanstd(x, axis=0)))[np.tril_indices(d)]])

    def negative(theta):
        mean, factor = unpack(theta, d)
        return -log_likelihood(x, mean, factor @ factor.T)

    near = minimize(negative, start, jac=lambda theta: -gradient(theta, x), method="L-BFGS-B",
                    options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 5000, "maxfun": 5000})
    there = root(gradient, near.x, args=(x,), tol=1e-13)
    residual = np.abs(gradient(there.x, x)).max()
    assert residual < 1e-8, f"the maximum was not reached: gradient {residual}"
    mean, factor = unpack(there.x, d)
    return mean, factor @ factor.T


def anderson(x):
    """The closed form for two coordinates, the first always observed."""
    first = x[:, 0]
    complete = x[~np.isnan(x[:, 1])]
    within = np.cov(complete, rowvar=False, ddof=0)
    slope = within[0, 1] / within[0, 0]
    variance = first.var()
    mean = np.array([first.mean(), complete[:, 1].mean() + slope * (first.mean() - complete[:, 0].mean())])
    covariance = np.array([
        [variance, slope * variance],
        [slope * variance, within[1, 1] + slope**2 * (variance - within[0, 0])],
    ])
    return mean, covariance


def answer(x, mean, covariance):
    """The table, with null for missing values, and its maximum."""
    return {"x": x, "mean": mean, "covariance": covariance, "log_likelihood": log_likelihood(x, mean, covariance)}


def bivariate():
    """40 rows, the second coordinate missing on the last 20; the closed form, checked against the optimizer."""
    generator = np.random.default_rng(SEED)
    off_diagonal = 0.7 * np.sqrt(2.0)
    x = generator.multivariate_normal([3.0, 4.0], [[1.0, off_diagonal], [off_diagonal, 2.0]], 40)
    x[20:, 1] = np.nan
    mean, covariance = anderson(x)
    found_mean, found_covariance = maximise(x)
    np.testing.assert_allclose(found_mean, mean, rtol=1e-9)
    np.testing.assert_allclose(found_covariance, covariance, rtol=1e-9)
    return answer(x, mean, covariance)


def general():
    """200 rows of five coordinates, each cell missing with probability 0.3; one row is empty."""
    generator = np.random.default_rng(SEED + 1)
    factor = generator.normal(size=(5, 5))
    x = generator.normal(0.0, 3.0, 5) + generator.normal(size=(200, 5)) @ factor.T
    x[generator.uniform(size=x.shape) < 0.3] = np.nan
    x[17] = np.nan
    return answer(x, *maximise(x))


if __name__ == "__main__":
    write("missing", ["numpy", "scipy"], {"bivariate": bivariate(), "general": general()})
