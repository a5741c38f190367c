"""density.json: kernel densities of scikit-learn and SciPy, bandwidths of SciPy and KDEpy, bins of NumPy and astropy.

KDEpy's improved Sheather-Jones rule solves for the bandwidth on a mesh that reaches beyond the data, but multiplies with the range
of the data alone (1.1.12, bw_selection.py: `R = np.max(data) - np.min(data)`), so its answer depends on the units. Here it is
multiplied with the range of the mesh, as Botev's own program does.

scikit-learn's cosine kernel does not integrate to one in an even number of columns (1.9.1, _binary_tree.pxi.tp: the sum of
`_log_kernel_norm` lacks its last term there), so it is left out in two.

astropy looks for Knuth's number of bins by a local search, which may end beside the best; its own objective is tried on all here.
"""

import numpy as np
from astropy.stats.histogram import _KnuthF
from KDEpy.bw_selection import improved_sheather_jones
from scipy.stats import gaussian_kde
from sklearn.neighbors import KernelDensity, NearestNeighbors

from reference import write

SEED = 2007
KERNELS = {"gaussian": "gaussian", "epanechnikov": "epanechnikov", "tophat": "tophat", "triangular": "linear",
           "cosine": "cosine", "exponential": "exponential"}


def sample(n, d, seed):
    """Two clusters of different spread."""
    generator = np.random.default_rng(SEED + seed)
    first = generator.normal(0.0, 1.0, (n - n // 3, d))
    return np.vstack([first, generator.normal(4.0, 0.5, (n // 3, d))])


def uneven(n):
    """Weights with a zero among them."""
    drawn = np.random.default_rng(SEED).uniform(0.1, 3.0, n).round(3)
    drawn[n // 2] = 0.0
    return drawn


def kernels():
    """Every kernel in one to three columns, exact sums; points of density 0 are null."""
    cases = []
    for d in (1, 2, 3):
        x, places = sample(60, d, d), sample(12, d, 10 + d)
        for name, scikit_learn_name in KERNELS.items():
            if name == "cosine" and d == 2:
                continue
            for weights in (None, uneven(60)):
                kept = slice(None) if weights is None else weights > 0
                weight = None if weights is None else weights[kept]
                model = KernelDensity(kernel=scikit_learn_name, bandwidth=0.9, atol=0.0, rtol=0.0).fit(x[kept], sample_weight=weight)
                log_density = model.score_samples(places)
                cases.append({"kernel": name, "bandwidth": 0.9, "x": x, "weights": weights, "places": places,
                              "log_density": np.where(np.isfinite(log_density), log_density, np.nan)})
    return cases


def gaussian():
    """SciPy's full bandwidth matrices by both rules, plain and weighted."""
    cases = []
    for d in (1, 2, 3):
        x, places = sample(80, d, 20 + d), sample(10, d, 30 + d)
        for rule in ("scott", "silverman"):
            for weights in (None, uneven(80)):
                model = gaussian_kde(x.T, bw_method=rule, weights=weights)
                cases.append({"rule": rule, "x": x, "weights": weights, "matrix": model.covariance, "places": places,
                              "log_density": model.logpdf(places.T)})
    return cases


def sheather_jones():
    cases = []
    for number, n in enumerate((200, 1000, 3000)):
        # The grid extends half a range beyond the data if that is more than 6.
        x = 20.0 * sample(n, 1, 40 + number)
        cases.append({"x": x[:, 0], "bandwidth": 2.0 * improved_sheather_jones(x)})
    return cases


def bins():
    cases = []
    for number, n in enumerate((30, 200, 1000)):
        x = sample(n, 1, 50 + number)[:, 0]
        case = {"x": x}
        for rule in ("fd", "scott", "sturges"):
            case[rule] = len(np.histogram_bin_edges(x, rule)) - 1
        objective = _KnuthF(x)
        case["knuth"] = min(range(1, 1001), key=objective.eval)
        case["histogram"] = np.histogram(x, "fd", density=True)[0]
        cases.append(case)
    return cases


def nearest():
    """Distances to the fifth neighbour."""
    x, places = sample(100, 2, 60), sample(10, 2, 61)
    distances, _ = NearestNeighbors(n_neighbors=5).fit(x).kneighbors(places)
    return {"x": x, "places": places, "neighbours": 5, "distances": distances[:, -1]}


if __name__ == "__main__":
    write("density", ["numpy", "scipy", "scikit-learn", "KDEpy", "astropy"], {
        "kernels": kernels(), "gaussian": gaussian(), "sheather_jones": sheather_jones(), "bins": bins(), "nearest": nearest(),
    })
