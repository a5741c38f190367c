"""estimates.json: maximum-likelihood fits, exact intervals, and conjugate pairs by integration.

A fit begins where SciPy's optimiser ends on SciPy's own log-likelihood, and goes on by Newton's method in mpmath until the
gradient is 0 to 25 digits. Evidence, posterior means and predictions are integrals of likelihood × prior by mpmath's quadrature,
or SciPy's over two parameters, which know nothing of conjugacy; the predictions must be those of the distribution that SciPy
has for them.
"""

import mpmath
import numpy as np
from mpmath import mp, mpf
from scipy import integrate, optimize, stats

from families import weights
from reference import write
from univariate import FAMILIES, gamma_density, gaussian_density

mp.dps = 30
SEED = 2002


# The ranges of parameters: maps from an unconstrained number, and back.
ANY = ((lambda t: t), (lambda x: x))
POSITIVE = (np.exp, np.log)
SHARE = ((lambda t: 1 / (1 + np.exp(-t))), (lambda p: np.log(p / (1 - p))))


def samples():
    """For each family: the ranges of its parameters, initial values, and small samples, the last one difficult."""
    draw = np.random.default_rng(SEED)
    close = np.random.default_rng(SEED + 2)
    inflated = lambda n, share, rate: draw.poisson(rate, n) * (draw.uniform(size=n) > share)
    return {
        "gamma": ([POSITIVE, POSITIVE], [1.0, 1.0], [draw.gamma(2.5, 4.0, 30), draw.gamma(0.15, 1e-6, 30), 1e3 + draw.normal(size=20),
                                                    1e6 + close.normal(size=20)]),
        "beta": ([POSITIVE, POSITIVE], [1.0, 1.0], [draw.beta(2.0, 5.0, 30), draw.beta(0.2, 0.4, 30), draw.beta(4000.0, 9.0, 30)]),
        "student-t": ([ANY, POSITIVE, POSITIVE], [0.0, 1.0, 3.0],
                      [draw.standard_t(3.0, 40) * 2.0 + 1.0, draw.standard_t(1.0, 40), 1e5 + 1e-2 * draw.standard_t(2.0, 60)]),
        "von-mises": ([ANY, POSITIVE], [0.5, 1.0], [draw.vonmises(1.0, 2.0, 30), draw.vonmises(-3.0, 0.4, 30), draw.vonmises(0.5, 900.0, 30)]),
        "negative-binomial": ([POSITIVE, SHARE], [1.0, 0.5],
                              [draw.negative_binomial(2.0, 0.3, 40), draw.negative_binomial(0.2, 0.01, 60), draw.negative_binomial(20.0, 0.1, 40)]),
        "zero-inflated-poisson": ([SHARE, POSITIVE], [0.3, 2.0], [inflated(40, 0.4, 3.0), inflated(40, 0.9, 50.0), inflated(60, 0.6, 0.8)]),
        "log-normal": ([ANY, POSITIVE], [0.0, 1.0], [draw.lognormal(0.5, 1.2, 20), draw.lognormal(-20.0, 4.0, 20)]),
        "geometric": ([SHARE], [0.5], [draw.geometric(0.2, 20) - 1]),
        "poisson": ([POSITIVE], [1.0], [draw.poisson(6.0, 15)]),
        "exponential": ([POSITIVE], [1.0], [draw.exponential(2.5, 15)]),
        "gaussian": ([ANY, POSITIVE], [0.0, 1.0], [draw.normal(2.0, 3.0, 15)]),
    }


def fits():
    """Unweighted and weighted fits, each with the log-likelihood at the maximum."""
    found = {}
    for name, (ranges, start, every) in samples().items():
        print(name)
        found[name] = [fit(name, ranges, start, values, w) for values in every for w in (None, weights(len(values)))]
    values = np.random.default_rng(SEED + 1).uniform(-2.0, 7.0, 12)
    low, width = stats.uniform.fit(values)
    found["uniform"] = [{"values": values, "weights": None, "parameters": [low, low + width],
                         "log_likelihood": np.sum(stats.uniform.logpdf(values, low, width))}]
    return found


def fit(name, ranges, start, values, weight):
    """The maximum: roughly from SciPy, and the root of the gradient from mpmath."""
    scipy, density = FAMILIES[name][:2]
    weight_of = np.ones(len(values)) if weight is None else weight

    def loss(free):
        distribution = scipy(*(into(t) for (into, _), t in zip(ranges, free)))
        log = (distribution.logpmf if hasattr(distribution, "pmf") else distribution.logpdf)
        with np.errstate(all="ignore"):
            total = -sum(w * log(x) for x, w in zip(values, weight_of) if w > 0)
        return total if np.isfinite(total) else 1e300

    begin = starts(name, values, weight_of, start)
    rough = optimize.minimize(loss, [back(x) for (_, back), x in zip(ranges, begin)], method="Nelder-Mead",
                              options={"maxiter": 4000, "maxfev": 4000, "xatol": 1e-7, "fatol": 1e-10})
    rows = [(mpf(float(x)), mpf(float(w))) for x, w in zip(values, weight_of) if w > 0]
    likelihood = lambda *p: mpmath.fsum(w * density(*p, x) for x, w in rows)
    # For a gamma at 1e6 ± 1, SciPy's log-density has only three accurate digits, and its optimizer stops early: there the
    # moments are closer.
    point = max([mpf(float(into(t))) for (into, _), t in zip(ranges, rough.x)], [mpf(float(x)) for x in begin],
                key=lambda parameters: likelihood(*parameters))
    before = likelihood(*point)
    point = root_of_gradient(likelihood, point)
    # The likelihood must rise a little; otherwise Newton's method found another root.
    if not 0 <= likelihood(*point) - before < 0.01:
        raise ArithmeticError(f"{name}: SciPy reaches {before}, mpmath {likelihood(*point)}")
    return {"values": values, "weights": weight, "parameters": [float(p) for p in point], "log_likelihood": float(likelihood(*point))}


def starts(name, values, weight, start):
    """Initial values from the moments, for families whose parameters may be far from 1."""
    mean = np.average(values, weights=weight)
    variance = np.average((values - mean) ** 2, weights=weight)
    match name:
        case "gamma":
            return [mean**2 / variance, mean / variance]
        case "beta":
            total = mean * (1 - mean) / variance - 1
            return [mean * total, (1 - mean) * total]
        case "student-t":
            return [np.median(values), np.median(abs(values - np.median(values))), 3.0]
        case "von-mises":
            resultant = np.mean(np.exp(1j * np.asarray(values)))
            return [np.angle(resultant), 0.5 / (1 - abs(resultant))]
        case "log-normal":
            return [np.mean(np.log(values)), np.var(np.log(values))]
        case _:
            return start


def root_of_gradient(f, point):
    """Newton's method on the gradient; 60 digits leave enough for differences."""
    n = len(point)
    with mp.workdps(60):
        for _ in range(60):
            steps = [mpf(10) ** -18 * max(abs(p), mpf(10) ** -6) for p in point]

            def at(*moves):
                moved = list(point)
                for i, sign in moves:
                    moved[i] += sign * steps[i]
                return f(*moved)

            middle = at()
            gradient = [(at((i, 1)) - at((i, -1))) / (2 * steps[i]) for i in range(n)]
            hessian = mpmath.matrix(n, n)
            for i in range(n):
                hessian[i, i] = (at((i, 1)) - 2 * middle + at((i, -1))) / steps[i] ** 2
                for j in range(i):
                    mixed = at((i, 1), (j, 1)) - at((i, 1), (j, -1)) - at((i, -1), (j, 1)) + at((i, -1), (j, -1))
                    hessian[i, j] = hessian[j, i] = mixed / (4 * steps[i] * steps[j])
            move = mpmath.lu_solve(hessian, -mpmath.matrix(gradient))
            point = [p + move[i] for i, p in enumerate(point)]
            if all(abs(move[i]) < mpf(10) ** -22 * max(abs(p), mpf(10) ** -6) for i, p in enumerate(point)):
                return point
    raise ArithmeticError("the gradient has no root nearby")


def intervals():
    """Clopper and Pearson's, from SciPy's exact binomial test."""
    cases = [(0, 7), (7, 7), (6, 10), (1, 1000), (37, 50), (123_456, 1_000_000)]
    found = []
    for successes, trials in cases:
        for level in (0.5, 0.95, 0.999):
            interval = stats.binomtest(successes, trials).proportion_ci(level, "exact")
            found.append({"successes": successes, "failures": trials - successes, "level": level, "interval": [interval.low, interval.high]})
    return found


def integral(log_f, cuts):
    """∫ exp(log_f) between the cuts, which contain nearly all of it."""
    top = max(log_f(mpf(x)) for x in np.linspace(float(cuts[0]), float(cuts[-1]), 2001)[1:-1])
    value, error = mpmath.quad(lambda t: mpmath.exp(log_f(t) - top), cuts, error=True)
    if error > mpf(10) ** -15 * value:
        raise ArithmeticError(f"{value} has an error of {error}")
    return value, top


def pair(density, prior_density, prior, rows, points, cuts, predictive):
    """One unknown parameter: evidence, posterior mean, and the log-density of a next row, all by integration."""
    cuts = [mpf(c) for c in cuts]
    exact = [mpf(p) for p in prior]
    joint = lambda seen: lambda t: prior_density(*exact, t) + mpmath.fsum(density(t, mpf(x)) for x in seen)
    value, top = integral(joint(rows), cuts)
    evidence = mpmath.log(value) + top
    mean, _ = mpmath.quad(lambda t: t * mpmath.exp(joint(rows)(t) - top), cuts, error=True)
    predicted = []
    for x in points:
        with_x, top_with_x = integral(joint([*rows, x]), cuts)
        predicted.append(float(mpmath.log(with_x) + top_with_x - evidence))
    log = predictive.logpmf if hasattr(predictive, "pmf") else predictive.logpdf
    np.testing.assert_allclose(predicted, log(points), rtol=1e-9, atol=1e-9)
    return {"prior": prior, "rows": rows, "log_evidence": float(evidence), "mean": float(mean / value),
            "points": points, "log_predictive": predicted}


def pairs():
    of = lambda name: FAMILIES[name][1]
    shares, rates = [0, 0.05, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9, 0.97, 1], [0, 0.05, 0.2, 0.5, 1, 2, 3, 5, 8, 12, 20, 40, 80]
    ones, counts, times = [1, 1, 0, 1, 0, 1, 1], [3, 0, 7, 2, 2, 5], [0.3, 2.5, 1.1, 0.02, 0.9]
    n, total, sum_of = len(counts), sum(counts), sum(times)
    reals = [1.5, -0.3, 4.2, 2.0, 0.8]
    precision = 1 / 9 + len(reals) / 4
    spread = sum((x + 3) ** 2 for x in reals)
    beta, gamma = of("beta"), gamma_density
    return {
        "bernoulli": pair(of("bernoulli"), beta, [2.0, 3.5], ones, [0, 1], shares, stats.bernoulli(7 / 12.5)),
        "binomial": {"trials": 9, **pair(lambda p, x: of("binomial")(mpf(9), p, x), beta, [0.5, 0.5], counts, [0, 1, 4, 9], shares,
                                         stats.betabinom(9, 0.5 + total, 0.5 + 9 * n - total))},
        "geometric": pair(of("geometric"), beta, [4.0, 3.0], counts, [0, 1, 8, 60], shares, stats.betanbinom(1, 4 + n, 3 + total)),
        "negative-binomial": {"size": 3, **pair(lambda p, x: of("negative-binomial")(mpf(3), p, x), beta, [5.0, 3.0], counts,
                                                [0, 2, 10, 70], shares, stats.betanbinom(3, 5 + 3 * n, 3 + total))},
        "poisson": pair(of("poisson"), gamma, [3.0, 0.5], counts, [0, 3, 12, 50], rates, stats.nbinom(3 + total, (0.5 + n) / (1.5 + n))),
        "exponential": pair(of("exponential"), gamma, [3.0, 2.0], times, [1e-6, 0.5, 3.0, 1000.0], rates,
                            stats.lomax(3 + len(times), scale=2 + sum_of)),
        "gamma": {"shape": 2.5, **pair(lambda rate, x: gamma(mpf(2.5), rate, x), gamma, [3.0, 2.0], times, [1e-6, 0.5, 3.0, 1000.0], rates,
                                       stats.betaprime(2.5, 3 + 2.5 * len(times), scale=2 + sum_of))},
        "gaussian-mean": {"variance": 4.0, **pair(lambda m, x: gaussian_density(m, mpf(4), x), gaussian_density, [10.0, 9.0], reals,
                                                  [-20.0, 0.0, 2.0, 30.0], range(-30, 40, 3),
                                                  stats.norm((10 / 9 + sum(reals) / 4) / precision, np.sqrt(4 + 1 / precision)))},
        "gaussian-precision": {"mean_known": -3.0, **pair(lambda t, x: gaussian_density(mpf(-3), 1 / t, x), gamma, [3.0, 2.0], reals,
                                                          [-40.0, -3.0, 2.0, 300.0], [0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3, 6, 12],
                                                          stats.t(6 + len(reals), -3, np.sqrt((2 + spread / 2) / (3 + len(reals) / 2))))},
    }


def gaussian_both():
    """Mean and precision, integrated by SciPy's quadrature; the predictive distribution is SciPy's t."""
    m, strength, shape, rate = prior = [2.0, 1.5, 3.0, 2.0]
    rows, points = [1.5, -0.3, 4.2, 2.0, 0.8], [-40.0, 0.0, 2.0, 300.0]

    def log_joint(mean, precision, seen):
        log_prior = stats.norm.logpdf(mean, m, 1 / np.sqrt(strength * precision)) + stats.gamma.logpdf(precision, shape, scale=1 / rate)
        return log_prior + sum(stats.norm.logpdf(x, mean, 1 / np.sqrt(precision)) for x in seen)

    def log_evidence(seen, reach):
        top = max(log_joint(a, b, seen) for a in np.linspace(-5, 60, 300) for b in np.geomspace(1e-5, 5, 60))
        f = lambda a, b: np.exp(log_joint(a, b, seen) - top)
        value = 0.0
        cuts = [0, 1e-4, 1e-3, 0.05, 0.2, 0.5, 1, 2, 4, 12]
        for low, high in zip(cuts, cuts[1:]):
            value += integrate.dblquad(f, low, high, -reach, reach, epsabs=1e-12, epsrel=1e-10)[0]
        return np.log(value) + top

    evidence = log_evidence(rows, 60)
    n, mean = len(rows), np.mean(rows)
    k, a = strength + n, shape + n / 2
    b = rate + (np.sum((rows - mean) ** 2) + strength * n / k * (mean - m) ** 2) / 2
    predictive = stats.t(2 * a, (strength * m + n * mean) / k, np.sqrt(b * (k + 1) / (a * k)))
    predicted = predictive.logpdf(points)
    np.testing.assert_allclose(log_evidence([*rows, 2.0], 60) - evidence, predicted[2], rtol=1e-8)
    return {"prior": prior, "rows": rows, "log_evidence": evidence, "points": points, "log_predictive": predicted}


def drug_trial():
    """Six of ten cured, under a prior that is 0.8 above one half and 0.2 below, normalised."""
    half = mpf(1) / 2
    density = lambda t: (mpf(8) if t > half else mpf(2)) / 5
    likelihood = lambda t: t**6 * (1 - t) ** 4 * density(t)
    part = lambda f, low, high: mpmath.quad(f, [low, (low + high) / 2, high])
    both = lambda f: part(f, mpf(0), half) + part(f, half, mpf(1))
    evidence = both(likelihood)
    return {"log_evidence": float(mpmath.log(evidence)), "above_half": float(part(likelihood, half, mpf(1)) / evidence),
            "mean": float(both(lambda t: t * likelihood(t)) / evidence)}


if __name__ == "__main__":
    write("estimates", ["numpy", "scipy", "mpmath"], {
        "fits": fits(), "clopper_pearson": intervals(), "pairs": pairs(), "gaussian_both": gaussian_both(), "drug_trial": drug_trial(),
    })
