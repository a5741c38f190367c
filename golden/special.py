"""special.json: special functions from mpmath, rounded to a double only at the end.

Every function has a list of rows, each the arguments and then the value. Arguments are doubles, taken as exact. Each value
is computed with 40 digits and again with 60, and must be the same in the first 22; where mpmath's own function is too
slow (incomplete beta with large parameters) mpmath's quadrature of the density takes its place. Values
below 1e-290 and above 1e290 are left out.
"""

import itertools

import mpmath
from mpmath import mp, mpf

from reference import write


def settled(function, *arguments):
    """The value as a double; it must not change when the precision is doubled."""
    values = []
    for digits in (40, 60):
        with mp.workdps(digits):
            values.append(+function(*map(mpf, arguments)))
    with mp.workdps(60):
        if abs(values[0] - values[1]) > mpf(10) ** -22 * abs(values[1]):
            raise ArithmeticError(f"{function.__name__}{arguments} depends on the precision: {values}")
    return float(values[1])


def rows(function, points):
    """The rows of all points at which the value is in the range of a double."""
    found = [(*point, settled(function, *point)) for point in points]
    return [row for row in found if row[-1] == 0 or 1e-290 < abs(row[-1]) < 1e290]


# Marks tails that are too small; such rows are left out.
TINY = mpf("1e-320")

POSITIVE = [1e-8, 1e-4, 0.1, 0.25, 0.5, 0.75, 1.0, 1.3, 1.5, 2.0, 2.5, 3.3, 7.0, 9.99, 10.0, 10.5, 33.0, 1e3, 1e6, 1e10]


def gamma():
    """Logarithm of gamma, near 1 and elsewhere, and its derivatives."""
    near_one = [-0.4999, -0.25, -1e-3, -1e-9, 1e-17, 1e-9, 1e-3, 0.3, 0.4999, 0.6, 1.0001, 4.0]
    pairs = [(x, a) for x in POSITIVE for a in (1e-9, 1e-3, 0.5, 1.0, 7.25, 100.0, 1e7)]
    orders = [(a, order) for order in (1, 2, 3, 10) for a in (0.1, 1.5, 20.0, 1e5) if a > (order - 1) / 2]
    return {
        "ln_gamma": rows(mpmath.loggamma, [(x,) for x in POSITIVE]),
        "ln_gamma_1p": rows(lambda x: mpmath.loggamma(1 + x), [(x,) for x in near_one]),
        "ln_rising": rows(lambda x, a: mpmath.loggamma(x + a) - mpmath.loggamma(x), pairs),
        "digamma": rows(mpmath.digamma, [(x,) for x in POSITIVE]),
        "digamma_rise": rows(lambda x, a: mpmath.digamma(x + a) - mpmath.digamma(x), pairs),
        "trigamma": rows(lambda x: mpmath.polygamma(1, x), [(x,) for x in POSITIVE]),
        "ln_multigamma": rows(multigamma, orders),
    }


def multigamma(a, order):
    """ln Γₚ(a) by its product."""
    p = int(order)
    return mpf(p * (p - 1)) / 4 * mpmath.log(mpmath.pi) + sum(mpmath.loggamma(a - mpf(j) / 2) for j in range(p))


def incomplete_gamma():
    """Both tails: near the mean in steps of the deviation, and over many orders of magnitude."""
    shapes = [1e-8, 1e-3, 0.1, 0.5, 0.9, 1.0, 1.5, 3.7, 9.5, 10.5, 50.0, 333.0, 999.0, 1001.0, 1e4, 1e6, 1e8, 1e10]
    points = []
    for a in shapes:
        near = [a + z * a**0.5 for z in (-30.0, -10.0, -5.0, -1.0, -0.01, 0.0, 0.01, 1.0, 5.0, 10.0, 30.0)]
        far = [a * r for r in (1e-10, 1e-3, 0.1, 0.5, 0.69, 0.71, 1.29, 1.31, 2.0, 5.0, 20.0)]
        plain = [1e-200, 1e-20, 1e-5, 0.3, 1.0, 1.09, 1.11, 3.0, 40.0, 400.0]
        points += [(a, x) for x in near + far + plain if x > 0]
    lower, upper = lambda a, x: gamma_tail(a, x, -1), lambda a, x: gamma_tail(a, x, 1)
    return {"gamma_p": rows(lower, points), "gamma_q": rows(upper, points), "ln_poisson_mass": rows(poisson_mass, points)}


def poisson_mass(a, x):
    """ln(xᵃ e⁻ˣ / Γ(a + 1))."""
    return a * mpmath.log(x) - x - mpmath.loggamma(a + 1)


def gamma_tail(a, x, side):
    """P (side −1) or Q (side 1): by mpmath's gammainc, or by its quadrature of tᵃ e⁻ᵗ over ln t away from x."""
    if a < 2000:
        return mpmath.gammainc(a, *((0, x) if side < 0 else (x, mpmath.inf)), regularized=True)
    if (x - a) * side < 0:
        return 1 - gamma_tail(a, x, -side)
    if poisson_mass(a, x) < -700:
        return TINY
    fall = lambda s: x * mpmath.expm1(side * s) - side * a * s
    width = 1 / (abs(x - a) + mpmath.sqrt(x))
    return a * mpmath.exp(poisson_mass(a, x)) * decaying(fall, width)


def decaying(fall, width):
    """∫ exp(−fall(s)) ds from 0, which decays over some multiples of `width`."""
    cuts = [width * k for k in (0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512)]
    return mpmath.quad(lambda s: mpmath.exp(-fall(s)), cuts)


def beta():
    """Logarithms of the beta function and of binomial coefficients."""
    pairs = list(itertools.product([1e-8, 1e-3, 0.5, 1.0, 3.7, 9.9, 10.1, 300.0, 1e6, 1e9], repeat=2))
    chosen = [(n, k) for n in (1.0, 5.5, 20.0, 1e4, 1e9) for k in (0.0, 1e-9, 0.5, 1.0, 3.0, n / 2, n - 2, n) if 0 <= k <= n]
    ln_beta = lambda a, b: mpmath.loggamma(a) + mpmath.loggamma(b) - mpmath.loggamma(a + b)
    ln_choose = lambda n, k: -mpmath.log(n + 1) - ln_beta(k + 1, n - k + 1)
    return {"ln_beta": rows(ln_beta, pairs), "ln_choose": rows(lambda n, k: ln_choose(n, k) if 0 < k < n else mpf(0), chosen)}


def incomplete_beta():
    """Both tails for parameters from 1e-8 to 1e9: near the mean, and over many orders of magnitude."""
    parameters = [1e-8, 1e-3, 0.3, 1.0, 1.5, 8.0, 45.0, 700.0, 1100.0, 1e5, 1e9]
    points = []
    for a, b in itertools.product(parameters, repeat=2):
        mean = a / (a + b)
        deviation = (mean * (1 - mean) / (a + b + 1)) ** 0.5
        near = [mean + z * deviation for z in (-25.0, -5.0, -1.0, -0.01, 0.3, 3.0, 8.0)]
        far = [mean * r for r in (1e-6, 0.1, 0.5)] + [1e-20, 1e-9, 1e-3, 0.1, 0.5, 0.999]
        points += [(a, b, x) for x in near + far if 0 < x < 1]
    lower = lambda a, b, x: beta_tail(a, b, x, 1 - x)
    upper = lambda a, b, x: beta_tail(b, a, 1 - x, x)
    return {"beta_i": rows(lower, points), "beta_i_complement": rows(upper, points)}


def beta_tail(a, b, x, y):
    """I_x(a, b) for x + y = 1: by mpmath's betainc, or by its quadrature of tᵃ⁻¹ (1 − t)ᵇ⁻¹ downwards from x."""
    if min(a, b) < 10 and min(x, y) * max(a, b) < 1000:
        return mpmath.betainc(a, b, 0, x, regularized=True)
    if a * y < b * x:
        return 1 - beta_tail(b, a, y, x)
    log_mass = a * mpmath.log(x) + b * mpmath.log(y)
    log_mass -= mpmath.loggamma(a) + mpmath.loggamma(b) - mpmath.loggamma(a + b)
    if log_mass < -700:
        return TINY
    # With t = x e^(−s) the exponent decreases at least as fast as its slope and its curvature imply.
    fall = lambda s: a * s - (b - 1) * mpmath.log1p(-x * mpmath.expm1(-s) / y)
    slope, curvature = a - (b - 1) * x / y, a * x / y + 1
    width = 1 / (max(slope, 0) + mpmath.sqrt(curvature) + mpf(1) / 10)
    return mpmath.exp(log_mass) / y * decaying(fall, width)


def normal():
    """Both tails, and quantiles down to 1e-300."""
    points = [(x,) for x in (-36.0, -20.0, -8.5, -3.0, -1.0, -0.1, -1e-9, 0.0, 1e-3, 0.7, 2.0, 5.0, 8.0)]
    levels = [1e-290, 1e-100, 1e-20, 1e-11, 1e-10, 1e-5, 0.01, 0.07, 0.08, 0.3, 0.4999, 0.5, 0.75, 0.95, 0.999, 1 - 1e-12]
    below = lambda x: mpmath.erfc(-x / mpmath.sqrt(2)) / 2
    return {
        "normal_cdf": rows(below, points),
        "normal_survival": rows(lambda x: below(-x), points),
        "normal_quantile": [(p, quantile(p)) for p in levels],
    }


def quantile(p):
    """√2 erf⁻¹(2p − 1), with enough digits to distinguish 2p − 1 from −1."""
    with mp.workdps(400):
        return float(mpmath.sqrt(2) * mpmath.erfinv(2 * mpf(p) - 1))


def bessel():
    """ln I₀, the ratio I₁/I₀, and the von Mises distribution function by quadrature."""
    points = [(x,) for x in (1e-9, 1e-3, 0.1, 0.5, 1.0, 3.0, 10.0, 19.9, 20.1, 50.0, 700.0, 1e4, 1e8)]
    angles = [-3.1415926, -3.1, -2.5, -1.5, -0.5, -1e-3, 0.0, 0.2, 1.0, 2.0, 3.0]
    circular = [(angle, kappa) for kappa in (0.0, 1e-6, 0.3, 1.0, 5.0, 25.0, 100.0, 700.0, 1e4, 1e8) for angle in angles]
    circular += [(z / kappa**0.5, kappa) for kappa in (1e4, 1e8) for z in (-20.0, -3.0, 1.5)]
    return {
        "ln_bessel_i0": rows(lambda x: mpmath.log(mpmath.besseli(0, x)), points),
        "bessel_ratio": rows(lambda x: mpmath.besseli(1, x) / mpmath.besseli(0, x), points),
        "von_mises_cdf": rows(von_mises, circular),
    }


def von_mises(angle, kappa):
    """∫ exp(κ (cos t − 1)) dt from −π, divided by the integral from −π to π, in pieces as short as the density is narrow."""
    if kappa * (1 - mpmath.cos(angle)) > 660 and angle < 0:
        return TINY
    if angle > 0:
        return 1 - von_mises(-angle, kappa)
    width = 1 / (kappa * abs(mpmath.sin(angle)) + mpmath.sqrt(kappa) + mpf(1) / 10)
    cuts = [max(angle - width * k, -mpmath.pi) for k in (0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512)]
    cuts = sorted(set(cuts))
    whole = 2 * mpmath.pi * mpmath.besseli(0, kappa) * mpmath.exp(-kappa)
    # As a multiple of the density at the angle, because the quadrature's tolerance is absolute.
    height = 2 * kappa * mpmath.sin(angle / 2) ** 2
    relative = mpmath.quad(lambda t: mpmath.exp(height - 2 * kappa * mpmath.sin(t / 2) ** 2), cuts)
    return relative * mpmath.exp(-height) / whole


if __name__ == "__main__":
    write("special", ["mpmath"], {
        **gamma(), **incomplete_gamma(), **beta(), **incomplete_beta(), **normal(), **bessel(),
    })
