"""vector_families.json: distributions over probabilities, counts, matrices and vectors, from SciPy.

Every entry has the parameters, `points` and their `log_density`, and what SciPy knows of `mean`, `variance`, `mode` and
`entropy`. Matrices are written column after column; being symmetric, row after row is the same.
"""

import numpy as np
from scipy import stats

from reference import write

SEED = 2026


def definite(generator, d):
    """A well-conditioned symmetric positive definite matrix."""
    factor = generator.normal(size=(d, d))
    return factor @ factor.T + 0.5 * np.eye(d)


def flat(matrices):
    """Each matrix as one list of its entries."""
    return [np.atleast_2d(matrix).reshape(-1) for matrix in matrices]


def dirichlet():
    """From nearly uniform to narrow, and with a concentration below 1."""
    generator = np.random.default_rng(SEED)
    cases = []
    for alpha in ([1.0, 1.0], [0.4, 2.0, 3.5], [30.0, 7.0, 500.0, 12.0, 1.5]):
        points = generator.dirichlet(np.ones(len(alpha)), 5)
        known = stats.dirichlet(alpha)
        cases.append({"concentration": alpha, "points": points, "log_density": known.logpdf(points.T),
                      "mean": known.mean(), "variance": known.var(), "entropy": known.entropy()})
    return cases


def multinomial():
    """Few and many trials, and a level of probability 0."""
    generator = np.random.default_rng(SEED + 1)
    cases = []
    for n, p in ((1, [0.2, 0.8]), (12, [0.1, 0.0, 0.3, 0.6]), (5000, [0.25, 0.35, 0.4])):
        points = generator.multinomial(n, p, 6)
        known = stats.multinomial(n, p)
        cases.append({"trials": n, "probabilities": p, "points": points, "log_density": known.logpmf(points),
                      "mean": n * np.array(p), "variance": np.diag(known.cov()), "entropy": known.entropy()})
    return cases


def dirichlet_multinomial():
    """Concentrations on both sides of 1."""
    generator = np.random.default_rng(SEED + 2)
    cases = []
    for n, alpha in ((1, [0.5, 0.5]), (15, [2.0, 0.3, 4.0]), (300, [20.0, 1.0, 7.5, 3.0])):
        points = np.array([generator.multinomial(n, generator.dirichlet(alpha)) for _ in range(6)])
        known = stats.dirichlet_multinomial(np.array(alpha), n)
        cases.append({"trials": n, "concentration": alpha, "points": points, "log_density": known.logpmf(points),
                      "mean": known.mean(), "variance": known.var()})
    return cases


def wishart(family):
    """SciPy's wishart or invwishart in 1, 2 and 4 dimensions.

    The entropy of invwishart is kept in one dimension only: SciPy 1.17 subtracts ln 2 from the log-determinant of
    the scale once, not once per dimension, and is off by (d + 1)(d − 1)/2 · ln 2. A mean of its own log-densities shows it.
    """
    generator = np.random.default_rng(SEED + 3)
    cases = []
    for d, degrees in ((1, 5.5), (2, 6.0), (4, 11.25)):
        scale = definite(generator, d)
        known = family(degrees, scale)
        matrices = [definite(generator, d) for _ in range(4)]
        cases.append({"degrees": degrees, "scale": flat([scale])[0], "points": flat(matrices),
                      "log_density": [known.logpdf(matrix) for matrix in matrices], "mean": flat([known.mean()])[0],
                      "variance": flat([known.var()])[0], "mode": flat([known.mode()])[0]})
        if d == 1 or family is stats.wishart:
            cases[-1]["entropy"] = known.entropy()
    return cases


def normal_gamma():
    """SciPy's normal-inverse-gamma over (μ, σ²), with λ = 1/σ² and so a density divided by λ²."""
    cases = []
    for mean, strength, shape, rate in ((0.0, 1.0, 2.0, 1.0), (-3.0, 0.2, 1.5, 7.0), (100.0, 50.0, 30.0, 0.4)):
        points = [(mean + shift, precision) for shift in (-1.0, 0.0, 0.3) for precision in (0.01, 1.0, 40.0)]
        log_density = [stats.normal_inverse_gamma.logpdf(mu, 1 / precision, mean, strength, shape, rate) - 2 * np.log(precision)
                       for mu, precision in points]
        cases.append({"mean_of_mean": mean, "strength": strength, "shape": shape, "rate": rate,
                      "points": points, "log_density": log_density})
    return cases


def normal_wishart(family, covariance_of):
    """A matrix from SciPy's wishart or invwishart, and a mean from its multivariate normal given that matrix."""
    generator = np.random.default_rng(SEED + 4)
    cases = []
    for d, degrees, strength in ((1, 3.5, 2.0), (2, 6.0, 0.5), (3, 9.25, 10.0)):
        mean, scale = generator.normal(0.0, 3.0, d), definite(generator, d)
        points, log_density = [], []
        for _ in range(4):
            matrix, mu = definite(generator, d), mean + generator.normal(size=d)
            points.append(np.concatenate([mu, matrix.reshape(-1)]))
            given = stats.multivariate_normal.logpdf(mu, mean, covariance_of(matrix) / strength)
            log_density.append(given + family(degrees, scale).logpdf(matrix))
        cases.append({"mean_of_mean": mean, "strength": strength, "degrees": degrees, "scale": scale.reshape(-1),
                      "points": points, "log_density": log_density})
    return cases


def multivariate_t():
    """From a Cauchy to nearly a Gaussian."""
    generator = np.random.default_rng(SEED + 5)
    cases = []
    for d, degrees in ((1, 1.0), (2, 3.5), (4, 50.0), (3, 1e6)):
        location, scale = generator.normal(0.0, 3.0, d), definite(generator, d)
        points = location + generator.normal(0.0, 2.0, (5, d))
        known = stats.multivariate_t(location, scale, degrees)
        cases.append({"degrees": degrees, "location": location, "scale": scale.reshape(-1), "points": points,
                      "log_density": np.atleast_1d(known.logpdf(points)), "entropy": known.entropy()})
    return cases


def multivariate_normal():
    """The entropy; densities are in families.json."""
    generator = np.random.default_rng(SEED + 6)
    cases = []
    for d in (1, 2, 5):
        mean, covariance = generator.normal(size=d), definite(generator, d)
        points = mean + generator.normal(size=(3, d))
        known = stats.multivariate_normal(mean, covariance)
        cases.append({"mean": mean, "covariance": covariance.reshape(-1), "points": points,
                      "log_density": np.atleast_1d(known.logpdf(points)), "entropy": known.entropy()})
    return cases


if __name__ == "__main__":
    write("vector_families", ["numpy", "scipy"], {
        "dirichlet": dirichlet(), "multinomial": multinomial(), "dirichlet_multinomial": dirichlet_multinomial(),
        "wishart": wishart(stats.wishart), "inverse_wishart": wishart(stats.invwishart), "normal_gamma": normal_gamma(),
        "normal_wishart": normal_wishart(stats.wishart, np.linalg.inv),
        "normal_inverse_wishart": normal_wishart(stats.invwishart, lambda matrix: matrix),
        "multivariate_t": multivariate_t(), "multivariate_normal": multivariate_normal(),
    })
