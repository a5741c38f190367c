"""kmeans.json: scikit-learn's KMeans from given centres, on iris and on the geysers: after three iterations, and at the end.

One iteration of scikit-learn is an assignment and then a move of the centres; the inertia it reports is that of the centres it returns.
"""

import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from reference import HERE, write


def run(x, start, iterations, weights=None):
    """Clusters in descending order of size, and of their first coordinate among equals."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = KMeans(len(start), init=start, n_init=1, tol=0.0, max_iter=iterations, algorithm="lloyd").fit(x, sample_weight=weights)
    sizes = np.bincount(model.labels_, weights=weights, minlength=len(start))
    order = sorted(range(len(start)), key=lambda j: (-sizes[j], *model.cluster_centers_[j]))
    return {"inertia": model.inertia_, "centres": model.cluster_centers_[order], "sizes": sizes[order].astype(float)}


def case(name, x, rows, weights=None):
    start = x[rows]
    return {"name": name, "x": x, "start": start, "weights": weights, "three": run(x, start, 3, weights), "end": run(x, start, 1000, weights)}


def main():
    iris = load_iris().data
    geysers = np.loadtxt(HERE / "faithful.csv", delimiter=",", skiprows=1)
    weights = 1.0 + np.arange(len(iris)) % 4
    write("kmeans", ["numpy", "scikit-learn"], {"cases": [
        case("iris", iris, [0, 1, 60, 120]), case("iris weighted", iris, [10, 20, 90], weights), case("geysers", geysers, [0, 1, 2]),
    ]})


if __name__ == "__main__":
    main()
