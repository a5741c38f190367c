"""univariate.json: univariate distributions, each computed by SciPy and by mpmath.

Every family is a line of `FAMILIES`: SciPy's distribution, and with mpmath the log-density and both tails, made of mpmath's own
gamma, beta, error and Bessel functions. The numbers written are mpmath's with 30 digits, rounded once; the script stops where
SciPy says something else. Parameters, points and levels are doubles, taken as exact.
"""

import functools

import mpmath
import numpy as np
from mpmath import mp, mpf
from scipy import stats

from reference import write
from special import beta_tail, gamma_tail, von_mises

mp.dps = 30
LEVELS = [1e-10, 0.001, 0.3, 0.5, 0.9, 1 - 1e-6]
# Tails down to about 1e-100 are included.
FAR = [1e-30, 1e-100]
MAX_TERMS = 30_000


def log_choose(n, k):
    return mpmath.loggamma(n + 1) - mpmath.loggamma(k + 1) - mpmath.loggamma(n - k + 1)


def log_beta(a, b):
    return mpmath.loggamma(a) + mpmath.loggamma(b) - mpmath.loggamma(a + b)


class Distribution:
    """SciPy's distribution, and mpmath's log-density and tails for the same parameters.

    `density` and the two `tails` take the parameters and x. A count without tails is summed up.
    """

    def __init__(self, name, parameters):
        scipy, density, tails, _ = FAMILIES[name]
        self.name, self.parameters = name, parameters
        self.scipy = scipy(*parameters)
        self.discrete = hasattr(self.scipy, "pmf")
        self.exact = [mpf(p) for p in parameters]
        self.own_density, self.own_tails = density, tails
        # SciPy's angles are unbounded; abduce's are within one turn centred on the direction.
        turning = name == "von-mises"
        self.support = (parameters[0] - np.pi, parameters[0] + np.pi) if turning else self.scipy.support()
        self.sums = [mpf(0)]

    def log_density(self, x):
        return self.own_density(*self.exact, mpf(x))

    def tail(self, x, side):
        """P(X ≤ x) for side −1, P(X > x) for side 1."""
        x = mpf(x)
        if x >= self.support[1]:
            return mpf(1) if side < 0 else mpf(0)
        if self.own_tails:
            return self.own_tails(*self.exact, x)[0 if side < 0 else 1]()
        for i in range(len(self.sums) - 1, int(x) + 1):
            self.sums.append(self.sums[-1] + mpmath.exp(self.log_density(i)))
        below = self.sums[int(x) + 1]
        return below if side < 0 else 1 - below

    def quantile(self, p):
        """SciPy's quantile, refined by mpmath: by Newton's method on the smaller tail's logarithm, or step by step for counts."""
        x = float(self.scipy.ppf(p))
        if self.discrete:
            least = float(self.support[0])
            while self.tail(x, -1) < mpf(p):
                x += 1
            while x > least and self.tail(x - 1, -1) >= mpf(p):
                x -= 1
            return x
        side, wanted = (-1, mpf(p)) if p <= 0.5 else (1, 1 - mpf(p))
        x = mpf(x)
        for _ in range(6):
            tail = self.tail(x, side)
            step = side * tail * mpmath.log(tail / wanted) / mpmath.exp(self.log_density(x))
            x += step
            if abs(step) <= mpf(10) ** -20 * abs(x):
                return float(x)
        raise ArithmeticError(f"no quantile {p} of {self.parameters}")

    def is_tie(self, p):
        """Whether P(X ≤ x) is exactly p, so that rounding would decide between x and x + 1."""
        x = self.quantile(p)
        return any(abs(self.tail(y, -1) - mpf(p)) < 1e-20 for y in (x - 1, x) if y >= self.support[0])

    def points(self):
        """Points to evaluate: quantiles and far tails, within the range of doubles."""
        found = [self.scipy.ppf(p) for p in LEVELS]
        if self.own_tails:
            found += [self.scipy.ppf(p) for p in FAR] + [self.scipy.isf(p) for p in FAR]
        else:
            found = [x for x in found if x < MAX_TERMS]
        low, high = self.support
        inside = lambda x: np.isfinite(x) and low <= x <= high and (self.discrete or low < x < high)
        return sorted({float(x) for x in found if inside(x) and (x == 0 or abs(x) > 1e-290)})

    @functools.cached_property
    def range(self):
        """The range of a count that contains all but 1e-30 of its probability."""
        low, high = self.support
        low = max(low, self.scipy.ppf(1e-30))
        step = 10
        while step <= MAX_TERMS and low + step < high and self.scipy.sf(low + step) > 1e-30:
            step *= 2
        return int(low), int(min(high, low + step))

    def expectation(self, f):
        """E f(x): a sum, or mpmath's quadrature between quantiles over an unbounded variable; None if it does not converge."""
        if self.discrete:
            if self.range[1] - self.range[0] > MAX_TERMS:  # too many, or too heavy a tail
                return None
            terms = range(self.range[0], self.range[1] + 1)
            pairs = [(self.log_density(x), x) for x in terms]
            return mpmath.fsum(mpmath.exp(l) * f(mpf(x)) for l, x in pairs if l > -mpmath.inf)
        low, high = map(mpf, self.support)
        if low == 0 and high == 1:
            forward, back = lambda x: mpmath.log(x / (1 - x)), lambda t: 1 / (1 + mpmath.exp(-t))
            slope = lambda t: back(t) / (1 + mpmath.exp(t))
        elif low == 0 and high == mpmath.inf:
            forward, back, slope = mpmath.log, mpmath.exp, mpmath.exp
        elif low == -mpmath.inf:
            forward, back, slope = mpmath.asinh, mpmath.sinh, mpmath.cosh
        else:
            forward, back, slope = (lambda x: x), (lambda t: t), (lambda t: 1)
        tails = [1e-36, 1e-25, 1e-18, 1e-12, 1e-6, 1e-3, 0.05, 0.25]
        cuts = [self.scipy.ppf(p) for p in tails] + [self.scipy.ppf(0.5)] + [self.scipy.isf(p) for p in reversed(tails)]
        if any(not np.isfinite(x) or x in self.support for x in cuts):
            return None
        cuts = sorted({forward(mpf(float(x))) for x in cuts})
        term = lambda g: lambda t: mpmath.exp(self.log_density(back(t))) * slope(t) * g(back(t))
        whole = mpmath.quad(term(lambda x: 1), cuts)
        return mpmath.quad(term(f), cuts) if abs(whole - 1) < 1e-17 else None

    def entropy(self):
        return rounded(self.expectation(lambda x: -self.log_density(x)))

    def fits_into(self, other):
        (low, high), (least, most) = self.support, other.support
        # All von Mises distributions have the same support, the circle.
        return low >= least and high <= most or np.isclose(high - low, 2 * np.pi)

    def divergence(self, other):
        return rounded(self.expectation(lambda x: self.log_density(x) - other.log_density(x)))

    def agrees(self, what, value, scipy_value, tolerance):
        """Fails if SciPy differs, so that an error in a formula is noticed."""
        if not abs(value - scipy_value) <= tolerance * abs(value) + 1e-6:
            raise ArithmeticError(f"{what} of {self.parameters} is {value}, but SciPy has {scipy_value}")

    def results(self, others):
        points = self.points()
        densities = [float(self.log_density(x)) for x in points]
        tails = {side: [float(self.tail(x, side)) for x in points] for side in (-1, 1)}
        log_scipy = self.scipy.logpmf if self.discrete else self.scipy.logpdf
        for x, density, below, above in zip(points, densities, tails[-1], tails[1]):
            self.agrees(f"log-density at {x}", density, log_scipy(x), 1e-6)
            self.agrees(f"cdf at {x}", below, self.scipy.cdf(x), 1e-6)
            self.agrees(f"survival at {x}", above, self.scipy.sf(x), 1e-6)
        entropy = self.entropy()
        mean, variance = (float(moment) if np.isfinite(moment) else None for moment in self.scipy.stats("mv"))
        mean, variance = map(rounded, MOMENTS[self.name](*self.exact)) if self.name in MOMENTS else (mean, variance)
        quantiles = [p for p in LEVELS if 1e-290 < abs(self.scipy.ppf(p)) < 1e290 or self.discrete]
        quantiles = [p for p in quantiles if self.own_tails or self.scipy.ppf(p) < MAX_TERMS]
        quantiles = [p for p in quantiles if not self.discrete or not self.is_tie(p)]
        if entropy is not None:
            self.agrees("entropy", entropy, float(self.scipy.entropy()), 1e-5)
        others = [other for other in others if other is not self and self.fits_into(other)]
        divergences = [{"of": other.parameters, "value": self.divergence(other)} for other in others]
        return {
            "parameters": self.parameters, "points": points, "log_density": densities,
            "cdf": tails[-1], "survival": tails[1], "levels": quantiles, "quantiles": [self.quantile(p) for p in quantiles],
            "mean": mean, "variance": variance, "entropy": entropy,
            "divergences": [divergence for divergence in divergences if divergence["value"] is not None],
        }


def rounded(x):
    return None if x is None or not np.isfinite(float(x)) else float(x)


def both(lower, upper):
    """The two tails, each computed only when needed."""
    return (lower, upper)


def poisson_tails(rate, x):
    return both(lambda: gamma_tail(x + 1, rate, 1), lambda: gamma_tail(x + 1, rate, -1))


def student_tails(location, scale, degrees, x):
    z = (x - location) / scale
    # The tail beyond |z|, from the smaller argument of the incomplete beta function.
    whole = degrees + z * z
    beyond = lambda: beta_side(degrees / 2, mpf(1) / 2, degrees / whole, z * z / whole) / 2 if z != 0 else mpf(1) / 2
    rest = lambda: 1 - beyond()
    return both(rest, beyond) if z > 0 else both(beyond, rest)


def gaussian_tails(mean, variance, x):
    z = (x - mean) / mpmath.sqrt(2 * variance)
    return both(lambda: mpmath.erfc(-z) / 2, lambda: mpmath.erfc(z) / 2)


def gaussian_density(mean, variance, x):
    return -((x - mean) ** 2) / (2 * variance) - mpmath.log(2 * mpmath.pi * variance) / 2


def gamma_density(shape, rate, x):
    return shape * mpmath.log(rate) + (shape - 1) * mpmath.log(x) - rate * x - mpmath.loggamma(shape)


def power(base, exponent):
    """ln(base^exponent), where 0⁰ is 1."""
    return mpf(0) if exponent == 0 else exponent * mpmath.log(base)


def student_density(location, scale, degrees, x):
    z = (x - location) / scale
    peak = -log_beta(degrees / 2, mpf(1) / 2) - mpmath.log(degrees) / 2 - mpmath.log(scale)
    return peak - (degrees + 1) / 2 * mpmath.log1p(z * z / degrees)


def von_mises_tails(direction, concentration, x):
    below = lambda angle: von_mises(angle, concentration) if angle != 0 else mpf(1) / 2
    return both(lambda: below(x - direction), lambda: below(direction - x))


def beta_density(a, b, x):
    return power(x, a - 1) + power(1 - x, b - 1) - log_beta(a, b)


def prime_density(a, b, scale, x):
    z = x / scale
    return power(z, a - 1) - (a + b) * mpmath.log1p(z) - log_beta(a, b) - mpmath.log(scale)


def prime_tails(a, b, scale, x):
    inside, outside = x / (scale + x), scale / (scale + x)
    return both(lambda: beta_side(a, b, inside, outside), lambda: beta_side(b, a, outside, inside))


def beta_prime(a, b, scale):
    """SciPy's beta prime, with far quantiles computed from those of 1/x."""
    distribution = stats.betaprime(a, b, scale=scale)
    distribution.isf = lambda p: scale / stats.betaprime.ppf(p, b, a)
    return distribution


def beta_side(a, b, x, y):
    """I_x(a, b), computed from the smaller of x and y = 1 − x, which is more accurate."""
    return 1 - beta_tail(b, a, y, x) if y < mpf(10) ** -12 else beta_tail(a, b, x, y)


def negative_tails(size, p, x):
    return both(lambda: beta_side(size, x + 1, p, 1 - p), lambda: beta_side(x + 1, size, 1 - p, p))


def binomial_tails(n, p, x):
    if x >= n:
        return both(lambda: mpf(1), lambda: mpf(0))
    return both(lambda: beta_side(n - x, x + 1, 1 - p, p), lambda: beta_side(x + 1, n - x, p, 1 - p))


FAMILIES = {
    "bernoulli": (
        stats.bernoulli,
        lambda p, x: mpmath.log(p) if x == 1 else mpmath.log1p(-p),
        lambda p, x: both(lambda: 1 - p if x < 1 else mpf(1), lambda: p if x < 1 else mpf(0)),
        [(1e-12,), (0.3,), (0.5,), (1 - 1e-9,)],
    ),
    "binomial": (
        stats.binom,
        lambda n, p, x: log_choose(n, x) + power(p, x) + power(1 - p, n - x),
        binomial_tails,
        [(1, 0.3), (12, 0.3), (12, 0.75), (1000, 1e-5), (1_000_000, 0.5), (1_000_000_000, 1e-3)],
    ),
    "beta-binomial": (
        stats.betabinom,
        lambda n, a, b, x: log_choose(n, x) + log_beta(a + x, b + n - x) - log_beta(a, b),
        None,
        [(9, 2.0, 3.0), (9, 0.5, 0.5), (50, 1e-3, 1e-3), (1000, 200.0, 3e4), (40, 1e6, 1e6)],
    ),
    "geometric": (
        lambda p: stats.geom(p, loc=-1),
        lambda p, x: mpmath.log(p) + x * mpmath.log1p(-p),
        lambda p, x: both(lambda: -mpmath.expm1((x + 1) * mpmath.log1p(-p)), lambda: mpmath.exp((x + 1) * mpmath.log1p(-p))),
        [(0.9999,), (0.5,), (0.01,), (1e-9,)],
    ),
    "negative-binomial": (
        stats.nbinom,
        lambda r, p, x: log_choose(x + r - 1, x) + r * mpmath.log(p) + x * mpmath.log1p(-p),
        negative_tails,
        [(1.0, 0.5), (2.5, 0.3), (0.01, 0.5), (1000.0, 0.99), (1e-3, 1e-6), (1e6, 0.5)],
    ),
    "beta-negative-binomial": (
        stats.betanbinom,
        lambda r, a, b, x: log_choose(x + r - 1, x) + log_beta(a + r, b + x) - log_beta(a, b),
        None,
        [(1.0, 12.0, 3.0), (4.0, 30.0, 20.0), (3.0, 1.5, 2.0)],
    ),
    "poisson": (
        stats.poisson,
        lambda rate, x: power(rate, x) - rate - mpmath.loggamma(x + 1),
        poisson_tails,
        [(1e-9,), (0.7,), (12.5,), (4000.0,), (1e9,)],
    ),
    "exponential": (
        lambda rate: stats.expon(scale=1 / rate),
        lambda rate, x: mpmath.log(rate) - rate * x,
        lambda rate, x: both(lambda: -mpmath.expm1(-rate * x), lambda: mpmath.exp(-rate * x)),
        [(1.0,), (1e-9,), (1e9,)],
    ),
    "gamma": (
        lambda shape, rate: stats.gamma(shape, scale=1 / rate),
        gamma_density,
        lambda shape, rate, x: both(lambda: gamma_tail(shape, rate * x, -1), lambda: gamma_tail(shape, rate * x, 1)),
        [(1.0, 1.0), (0.5, 2.0), (2.5, 0.1), (1e-3, 1.0), (1e3, 1e3), (1e8, 1e-3)],
    ),
    "inverse-gamma": (
        lambda shape, scale: stats.invgamma(shape, scale=scale),
        lambda shape, scale, x: gamma_density(shape, scale, 1 / x) - 2 * mpmath.log(x),
        lambda shape, scale, x: both(lambda: gamma_tail(shape, scale / x, 1), lambda: gamma_tail(shape, scale / x, -1)),
        [(7.0, 3.0), (1.5, 1.0), (0.5, 2.0), (0.1, 1.0), (1e5, 1e-5)],
    ),
    "beta": (
        stats.beta,
        beta_density,
        lambda a, b, x: both(lambda: beta_side(a, b, x, 1 - x), lambda: beta_side(b, a, 1 - x, x)),
        [(1.0, 1.0), (2.0, 5.0), (0.5, 0.5), (300.0, 7.0), (1e-2, 1e3), (1e8, 1e8)],
    ),
    "beta-prime": (
        beta_prime,
        prime_density,
        prime_tails,
        [(2.0, 6.0, 3.0), (0.7, 9.0, 0.2), (0.1, 0.5, 1.0), (1e4, 3.0, 1e-6)],
    ),
    "log-normal": (
        lambda mean, variance: stats.lognorm(np.sqrt(variance), scale=np.exp(mean)),
        lambda mean, variance, x: gaussian_density(mean, variance, mpmath.log(x)) - mpmath.log(x),
        lambda mean, variance, x: gaussian_tails(mean, variance, mpmath.log(x)),
        [(0.0, 1.0), (3.0, 1e-6), (-5.0, 25.0), (100.0, 400.0)],
    ),
    "gaussian": (
        lambda mean, variance: stats.norm(mean, np.sqrt(variance)),
        gaussian_density,
        gaussian_tails,
        [(0.0, 1.0), (-1.5, 1e-6), (1e6, 1e-8), (0.0, 1e12)],
    ),
    "student-t": (
        lambda location, scale, degrees: stats.t(degrees, location, scale),
        student_density,
        student_tails,
        [(0.0, 1.0, 1.0), (0.0, 1.0, 0.1), (0.5, 1.0, 2.5), (1.0, 2.0, 30.0), (0.0, 1e-6, 3.0), (1e6, 10.0, 1e5)],
    ),
    "von-mises": (
        lambda direction, concentration: stats.vonmises(concentration, direction),
        lambda direction, k, x: k * mpmath.cos(x - direction) - mpmath.log(2 * mpmath.pi * mpmath.besseli(0, k)),
        von_mises_tails,
        [(-2.0, 0.5), (1.0, 1e-6), (3.0, 5.0), (0.0, 700.0), (1.0, 1e8)],
    ),
    "uniform": (
        lambda low, high: stats.uniform(low, high - low),
        lambda low, high, x: -mpmath.log(high - low),
        lambda low, high, x: both(lambda: (x - low) / (high - low), lambda: (high - x) / (high - low)),
        [(0.0, 1.0), (-1e9, 1e-9), (100.0, 101.0)],
    ),
    "lomax": (
        lambda shape, scale: stats.lomax(shape, scale=scale),
        lambda shape, scale, x: mpmath.log(shape / scale) - (shape + 1) * mpmath.log1p(x / scale),
        lambda shape, scale, x: both(
            lambda: -mpmath.expm1(-shape * mpmath.log1p(x / scale)), lambda: mpmath.exp(-shape * mpmath.log1p(x / scale))),
        [(9.0, 40.0), (1.5, 10.0), (0.1, 1.0), (1e6, 1e6)],
    ),
}


def circular_moments(direction, k):
    """Moments about the direction, on the circle cut opposite to it; SciPy's are accurate to seven digits only."""
    weight = lambda t: mpmath.exp(-2 * k * mpmath.sin(t / 2) ** 2)
    width = 1 / mpmath.sqrt(k + 1)
    cuts = [min(width * c, mpmath.pi) for c in (0, 1, 2, 4, 8, 16)] + [mpmath.pi]
    cuts = sorted(set(cuts))
    return direction, mpmath.quad(lambda t: t * t * weight(t), cuts) / mpmath.quad(weight, cuts)


# Mean and variance of families for which SciPy loses digits to cancellation.
MOMENTS = {
    "bernoulli": lambda p: (p, p * (1 - p)),
    "log-normal": lambda m, v: (mpmath.exp(m + v / 2), mpmath.expm1(v) * mpmath.exp(2 * m + v)),
    "lomax": lambda a, s: (s / (a - 1) if a > 1 else None, s * s * a / ((a - 1) ** 2 * (a - 2)) if a > 2 else None),
    "von-mises": circular_moments,
}


class InflatedPoisson:
    """SciPy's Poisson with additional zeros, with the few methods of SciPy's distributions that are used here."""

    pmf = None

    def __init__(self, inflation, rate):
        self.inflation, self.poisson = inflation, stats.poisson(rate)

    def support(self):
        return (0, np.inf)

    def logpmf(self, x):
        return np.log(self.inflation * (x == 0) + (1 - self.inflation) * self.poisson.pmf(x))

    def cdf(self, x):
        return self.inflation + (1 - self.inflation) * self.poisson.cdf(x)

    def sf(self, x):
        return (1 - self.inflation) * self.poisson.sf(x)

    def ppf(self, p):
        return self.poisson.ppf(max(0.0, (p - self.inflation) / (1 - self.inflation))) if p > self.inflation else 0.0

    def isf(self, p):
        return self.poisson.isf(min(1.0, p / (1 - self.inflation)))

    def stats(self, _):
        rate, share = self.poisson.mean(), 1 - self.inflation
        return share * rate, share * rate * (1 + self.inflation * rate)

    def entropy(self):
        points = np.arange(0, 100 + 3 * int(self.poisson.mean()))
        log = self.logpmf(points)
        return -np.sum(np.exp(log[log > -700]) * log[log > -700])


def inflated_density(inflation, rate, x):
    poisson = FAMILIES["poisson"][1](rate, x)
    return mpmath.log(inflation + (1 - inflation) * mpmath.exp(poisson)) if x == 0 else mpmath.log1p(-inflation) + poisson


def inflated_tails(inflation, rate, x):
    below, above = poisson_tails(rate, x)
    return both(lambda: inflation + (1 - inflation) * below(), lambda: (1 - inflation) * above())


FAMILIES["zero-inflated-poisson"] = (
    InflatedPoisson, inflated_density, inflated_tails, [(0.3, 2.5), (0.95, 40.0), (1e-9, 1e-3), (0.5, 900.0)],
)


def categorical():
    """SciPy's distribution of levels 0, 1, 2 …"""
    cases = []
    for p in ([0.2, 0.5, 0.3], [0.25, 0.25, 0.5], [1e-12, 0.25, 0.75 - 1e-12]):
        distribution, levels = stats.rv_discrete(values=(range(len(p)), p)), np.arange(len(p))
        cases.append({
            "parameters": p, "points": levels, "log_density": distribution.logpmf(levels), "cdf": distribution.cdf(levels),
            "survival": [sum(p[i + 1:]) for i in levels], "levels": LEVELS[1:], "quantiles": distribution.ppf(LEVELS[1:]),
            "mean": distribution.mean(), "variance": distribution.var(), "entropy": stats.entropy(p),
            "divergences": [{"of": q, "value": stats.entropy(p, q)} for q in ([0.4, 0.1, 0.5],)],
        })
    return cases


def family(name):
    """All parameter sets of a family; with the divergences of each from the first two."""
    print(name)
    every = [Distribution(name, parameters) for parameters in FAMILIES[name][3]]
    with np.errstate(all="ignore"):
        return [distribution.results(every[:2]) for distribution in every]


if __name__ == "__main__":
    content = {name: family(name) for name in FAMILIES}
    write("univariate", ["numpy", "scipy", "mpmath"], {**content, "categorical": categorical()})
