"""tails.json: the multivariate t, its densities, its maximum likelihood, and a mixture of two.

Densities are SciPy's, of the cells that a row shows: what is left of a t when cells are left out is a t of the others. The
maxima are found without EM: SciPy's optimiser on the sum of its log-densities, polished on the gradient by differences.
The mixture's search begins where the package studenttmixture ends, and stops unless it climbs no more than its tolerance.
"""

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp
from scipy.stats import multivariate_t
from studenttmixture import EMStudentMixture

from reference import write

SEED = 2026


def patterns(x):
    """The rows grouped by their observed columns: (row numbers, columns). Empty rows are left out."""
    seen = ~np.isnan(x)
    for pattern in np.unique(seen, axis=0):
        shown = np.flatnonzero(pattern)
        if shown.size:
            yield np.flatnonzero((seen == pattern).all(axis=1)), shown


def log_densities(x, location, scale, degrees):
    """The log-density of the observed values of each row."""
    out = np.zeros(len(x))
    for rows, shown in patterns(x):
        known = multivariate_t(location[shown], scale[np.ix_(shown, shown)], df=degrees)
        out[rows] = known.logpdf(x[np.ix_(rows, shown)])
    return out


def unpack(theta, d):
    """Free parameters to (location, scale matrix): the diagonal of its factor is stored as logarithms."""
    factor = np.zeros((d, d))
    factor[np.tril_indices(d)] = theta[d:d + d * (d + 1) // 2]
    np.fill_diagonal(factor, np.exp(np.diag(factor)))
    return theta[:d], factor @ factor.T


def pack(location, scale):
    """The inverse."""
    factor = np.linalg.cholesky(scale)
    np.fill_diagonal(factor, np.log(np.diag(factor)))
    return np.concatenate([location, factor[np.tril_indices(len(location))]])


def climb(objective, start):
    """The maximum near a start: quasi-Newton steps, restarted from their result until it does not change."""
    found = minimize(lambda theta: -objective(theta), start, method="BFGS", options={"gtol": 1e-6, "maxiter": 2000})
    for _ in range(5):
        more = minimize(lambda theta: -objective(theta), found.x, method="Nelder-Mead",
                        options={"xatol": 1e-10, "fatol": 1e-11, "maxiter": 20000, "maxfev": 20000, "adaptive": True})
        more = minimize(lambda theta: -objective(theta), more.x, method="BFGS", options={"gtol": 1e-7, "maxiter": 2000})
        gain = found.fun - more.fun
        found = more if gain > 0 else found
        if gain < 1e-9:
            return found.x
    raise AssertionError("the maximum was not reached")


def densities():
    """One to three columns, from a Cauchy to nearly a Gaussian, with missing values."""
    generator = np.random.default_rng(SEED)
    cases = []
    for d, degrees in ((1, 1.0), (2, 0.3), (2, 4.0), (3, 2.5), (3, 60.0)):
        factor = generator.normal(size=(d, d))
        scale, location = factor @ factor.T + 0.5 * np.eye(d), generator.normal(0.0, 3.0, d)
        x = location + 4.0 * generator.standard_t(2.0, size=(8, d))
        if d > 1:
            x[generator.uniform(size=x.shape) < 0.25] = np.nan
        cases.append({"degrees": degrees, "location": location, "scale": scale.reshape(-1), "x": x,
                      "log_density": log_densities(x, location, scale, degrees)})
    return cases


def table(generator, rows, location, factor, degrees):
    """A sample from a t distribution."""
    white = generator.normal(size=(rows, len(location)))
    return location + white @ factor.T / np.sqrt(generator.gamma(degrees / 2, 2 / degrees, (rows, 1)))


def single():
    """One component: with the degrees of freedom learned and given, with weights, and with missing values."""
    generator = np.random.default_rng(SEED + 1)
    cases = []
    for degrees, given, weighted, holes in ((3.0, None, False, 0.0), (3.0, 5.0, False, 0.0), (2.0, None, True, 0.2)):
        x = table(generator, 150, np.array([5.0, -1.0]), np.array([[1.0, 0.0], [0.8, 0.5]]), degrees)
        x[generator.uniform(size=x.shape) < holes] = np.nan
        weights = generator.integers(0, 4, len(x)).astype(float) if weighted else np.ones(len(x))

        def objective(theta):
            location, scale = unpack(theta, 2)
            degrees = given or np.exp(np.clip(theta[-1], -5.0, 12.0))
            return weights @ log_densities(x, location, scale, degrees)

        start = pack(np.nanmedian(x, axis=0), np.diag(np.nanvar(x, axis=0) / 4))
        theta = climb(objective, start if given else np.append(start, np.log(4.0)))
        location, scale = unpack(theta, 2)
        cases.append({"x": x, "weights": weights if weighted else None, "given": given, "location": location,
                      "scale": scale.reshape(-1), "degrees": given or np.exp(theta[-1]),
                      "log_likelihood": objective(theta)})
    return cases


def mixture():
    """Two components of two columns, each with its degrees of freedom."""
    generator = np.random.default_rng(SEED + 2)
    x = np.concatenate([
        table(generator, 180, np.array([0.0, 0.0]), np.array([[1.0, 0.0], [0.5, 0.7]]), 3.0),
        table(generator, 120, np.array([6.0, 3.0]), np.array([[0.6, 0.0], [-0.3, 0.9]]), 8.0),
    ])
    reference = EMStudentMixture(n_components=2, fixed_df=False, df=4.0, tol=1e-9, reg_covar=0.0, max_iter=20000,
                              n_init=3, random_state=0)
    reference.fit(x)
    k, d, each = 2, 2, 6

    def parameters(theta):
        weights = np.exp(theta[:1]) / (1.0 + np.exp(theta[:1]))
        weights = np.append(weights, 1.0 - weights)
        components = theta[1:].reshape(k, each)
        return weights, [(*unpack(part, d), np.exp(np.clip(part[-1], -5.0, 12.0))) for part in components]

    def objective(theta):
        weights, parts = parameters(theta)
        joint = [np.log(w) + multivariate_t(m, s, df=v).logpdf(x) for w, (m, s, v) in zip(weights, parts)]
        return logsumexp(joint, axis=0).sum()

    weights = reference.mix_weights_
    parts = [np.append(pack(reference.location_[j], reference.scale_[..., j]), np.log(reference.df_[j])) for j in range(k)]
    start = np.concatenate([[np.log(weights[0] / weights[1])], *parts])
    theta = climb(objective, start)
    assert objective(theta) - objective(start) < 0.01, "studenttmixture stopped elsewhere"
    weights, parts = parameters(theta)
    order = np.argsort([m[0] for m, _, _ in parts])
    return {"x": x, "weights": weights[order], "location": [parts[j][0] for j in order],
            "scale": [parts[j][1].reshape(-1) for j in order], "degrees": [parts[j][2] for j in order],
            "log_likelihood": objective(theta), "log_likelihood_of_studenttmixture": objective(start)}


if __name__ == "__main__":
    write("tails", ["numpy", "scipy", "studenttmixture"],
          {"densities": densities(), "single": single(), "mixture": mixture()})
