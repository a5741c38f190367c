"""families.json: log-densities from SciPy, and maximum-likelihood fits of small weighted samples.

Poisson log-masses are given twice, from SciPy and from mpmath at 50 digits: SciPy subtracts
log Γ(x + 1) from x log λ, which near a count of a million leaves nine digits.
"""

import statistics

import mpmath
import numpy as np
from scipy import stats

from reference import write

SEED = 2001


def normal():
    """Univariate normal, with a far tail, a tiny scale, and a sample with an offset of 1e8.

    The fit of the offset sample comes from Python's exact rational arithmetic: floating point
    references would share the cancellation the test is looking for.
    """
    points = np.array([-40.0, -2.5, -1.0, 0.0, 0.3, 1.0, 7.25, 1000.0])
    densities = [
        {"mean": mean, "variance": variance, "points": mean + points * np.sqrt(variance),
         "log_density": stats.norm.logpdf(mean + points * np.sqrt(variance), mean, np.sqrt(variance))}
        for mean, variance in [(0.0, 1.0), (3.0, 4.0), (-1.5, 0.01), (1e6, 1e-8), (0.0, 1e12)]
    ]
    values = np.random.default_rng(SEED).normal(2.0, 3.0, 15)
    mean, deviation = stats.norm.fit(values)
    offset = [100_000_000.0 + value for value in [0.25, -1.5, 3.0, 0.125, 2.75, -0.5]]
    fits = [
        {"values": values, "weights": None, "mean": mean, "variance": deviation**2},
        weighted_normal(values, weights(15)),
        {"values": offset, "weights": None, "mean": statistics.mean(offset), "variance": statistics.pvariance(offset)},
    ]
    return {"densities": densities, "fits": fits}


def weights(n):
    """Unequal weights with a zero among them: the row of weight 0 must be ignored."""
    drawn = np.random.default_rng(SEED + n).uniform(0.1, 3.0, n).round(3)
    drawn[n // 2] = 0.0
    return drawn


def weighted_normal(values, weight):
    """Weighted mean and variance, divided by the sum of weights."""
    return {"values": values, "weights": weight, "mean": np.average(values, weights=weight),
            "variance": np.cov(values, aweights=weight, ddof=0)}


def bernoulli():
    """Log-masses of false and true, and the weighted frequency of true."""
    densities = [
        {"p": p, "points": [0, 1], "log_density": stats.bernoulli.logpmf([0, 1], p)}
        for p in [1e-12, 0.008, 0.3, 0.5, 0.98]
    ]
    values = np.random.default_rng(SEED + 1).integers(0, 2, 12)
    fits = [{"values": values, "weights": w, "p": np.average(values, weights=w)} for w in (None, weights(12))]
    return {"densities": densities, "fits": fits}


def categorical():
    """One trial of SciPy's multinomial; the weighted frequency of each level."""
    densities = []
    for p in ([0.2, 0.5, 0.3], [0.01, 0.04, 0.15, 0.8], np.full(7, 1 / 7)):
        levels = np.arange(len(p))
        log_mass = stats.multinomial.logpmf(np.eye(len(p), dtype=int), 1, p)
        densities.append({"p": p, "points": levels, "log_density": log_mass})
    values = np.random.default_rng(SEED + 2).integers(0, 4, 20)
    fits = [{"levels": 4, "values": values, "weights": w, "p": share(values, w, 4)} for w in (None, weights(20))]
    return {"densities": densities, "fits": fits}


def share(values, weight, levels):
    """The weight of each level divided by the total weight."""
    mass = np.bincount(values, weights=weight, minlength=levels)
    return mass / mass.sum()


def poisson():
    """Counts from zero to a million; the mean is the fit."""
    densities = []
    for rate, points in [
        (0.001, [0, 1, 2]), (1.0, [0, 1, 5, 20]), (4.5, [0, 3, 4, 5, 30, 150]),
        (1000.0, [0, 900, 1000, 1100, 5000]), (1e6, [990_000, 1_000_000, 1_003_000]),
    ]:
        densities.append({"rate": rate, "points": points, "log_density": stats.poisson.logpmf(points, rate),
                          "log_density_mpmath": [poisson_to_fifty_digits(x, rate) for x in points]})
    values = np.random.default_rng(SEED + 3).poisson(6.0, 15)
    fits = [{"values": values, "weights": w, "rate": np.average(values, weights=w)} for w in (None, weights(15))]
    return {"densities": densities, "fits": fits}


def poisson_to_fifty_digits(count, rate):
    """log(rate^count · exp(−rate) / count!), rounded to a double only at the end."""
    with mpmath.workdps(50):
        rate = mpmath.mpf(rate)
        return float(count * mpmath.log(rate) - rate - mpmath.loggamma(count + 1))


def exponential():
    """By rate; SciPy's scale is its inverse. The fit holds the location at zero."""
    points = np.array([0.0, 1e-9, 0.1, 1.0, 12.5, 700.0])
    densities = [
        {"rate": rate, "points": points, "log_density": stats.expon.logpdf(points, scale=1 / rate)}
        for rate in [1e-3, 0.5, 1.0, 40.0]
    ]
    values = np.random.default_rng(SEED + 4).exponential(2.5, 15)
    _, scale = stats.expon.fit(values, floc=0)
    weight = weights(15)
    fits = [
        {"values": values, "weights": None, "rate": 1 / scale},
        {"values": values, "weights": weight, "rate": 1 / np.average(values, weights=weight)},
    ]
    return {"densities": densities, "fits": fits}


def multivariate_normal():
    """Full, diagonal and spherical covariances in 1, 2 and 5 dimensions."""
    generator = np.random.default_rng(SEED + 5)
    densities, fits = [], []
    for d in (1, 2, 5):
        factor = generator.normal(size=(d, d))
        covariance = factor @ factor.T + 0.2 * np.eye(d)
        mean = generator.normal(0.0, 5.0, d)
        points = np.vstack([mean, mean + generator.normal(0.0, 2.0, (5, d)), mean + 50.0])
        values = generator.normal(size=(6 * d, d)) @ factor.T + mean
        for structure in ("full", "diagonal", "spherical"):
            shaped = restrict(covariance, structure)
            densities.append({"structure": structure, "mean": mean, "covariance": shaped, "points": points,
                              "log_density": np.atleast_1d(stats.multivariate_normal.logpdf(points, mean, shaped))})
            fits += [multivariate_fit(values, w, structure) for w in (None, weights(6 * d))]
    return {"densities": densities, "fits": fits}


def restrict(covariance, structure):
    """The maximum-likelihood covariance of a structure from the unrestricted one: its diagonal, or that diagonal's mean."""
    if structure == "full":
        return covariance
    variances = np.diag(covariance)
    return np.diag(variances if structure == "diagonal" else np.full_like(variances, variances.mean()))


def multivariate_fit(values, weight, structure):
    """Weighted mean and covariance, divided by the sum of weights."""
    covariance = np.atleast_2d(np.cov(values, rowvar=False, aweights=weight, ddof=0))
    return {"structure": structure, "values": values, "weights": weight,
            "mean": np.average(values, axis=0, weights=weight), "covariance": restrict(covariance, structure)}


if __name__ == "__main__":
    write("families", ["numpy", "scipy", "mpmath"], {
        "normal": normal(), "bernoulli": bernoulli(), "categorical": categorical(), "poisson": poisson(),
        "exponential": exponential(), "multivariate_normal": multivariate_normal(),
    })
