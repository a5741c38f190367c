"""The cases of the benchmark and their data: seeded, written once into .data/, reused afterwards.

A case is one entry of CASES. Its folder holds what both programs read: x.f64 (n×d doubles, little-endian, row after row),
or codes.u32 for levels, or starts.u32, codes.u32 and counts.f64 (compressed rows) for counts of words, or texts.txt (a document a line);
labels.u32 for naive Bayes, start.json for mixtures, centres.json for k-means, queries.f64 and density.json for densities, and meta.json. Fitting and predicting share a folder.
"""

import json
import shutil
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from scipy import sparse

import texts

DATA = Path(__file__).resolve().parent / ".data"
SEED = 2026
# To be increased when the generators change, so that older data are not reused.
GENERATION = 3
# The levels of a categorical column.
LEVELS = 8


@dataclass(frozen=True)
class Case:
    """`required` is how many times faster than scikit-learn abduce has to be with AVX2 alone, and `required_avx512`
    with AVX-512 if that differs; `k` counts components or classes.
    """

    name: str
    kind: str
    n: int
    d: int
    k: int
    required: float
    required_avx512: float | None = None

    @property
    def data(self):
        """The generator of the data: predictions use the rows of the fit, and some kinds of case share a generator."""
        if self.kind.startswith("mixture"):
            return "mixture"
        return self.kind.removesuffix("-predict").removesuffix("-converged")

    def scaled(self, scale):
        """The same case with fewer rows, for trying the benchmark out, in a folder of its own."""
        if scale == 1.0:
            return self
        return replace(self, name=f"{self.name}-scale-{scale:g}", n=max(int(self.n * scale), 50 * self.k))

    @property
    def folder(self):
        return DATA / self.name.replace("-predict", "").replace("-converged", "")


CASES = [
    Case("mixture-200000x32-k16", "mixture", 200_000, 32, 16, 14.0, 16.0),
    Case("mixture-100000x10-k8", "mixture", 100_000, 10, 8, 15.0, 20.0),
    Case("mixture-50000x128-k16", "mixture", 50_000, 128, 16, 5.0, 8.0),
    Case("mixture-diagonal-500000x32-k16", "mixture-diagonal", 500_000, 32, 16, 8.0, 9.0),
    Case("mixture-missing-100000x10-k8", "mixture-missing", 100_000, 10, 8, 0.2),
    Case("mixture-cold-200000x16-k20", "mixture-cold", 200_000, 16, 20, 15.0),
    Case("naive-bayes-1000000x32-k10", "naive-bayes", 1_000_000, 32, 10, 8.0),
    Case("naive-bayes-predict-1000000x32-k10", "naive-bayes-predict", 1_000_000, 32, 10, 15.0),
    Case("categorical-1000000x20-k10", "categorical", 1_000_000, 20, 10, 15.0),
    Case("categorical-predict-1000000x20-k10", "categorical-predict", 1_000_000, 20, 10, 8.0),
    Case("multinomial-200000-k20", "multinomial", 200_000, 50_000, 20, 2.0),
    Case("multinomial-predict-200000-k20", "multinomial-predict", 200_000, 50_000, 20, 2.0),
    Case("texts-50000", "texts", 50_000, 0, 1, 10.0),
    Case("kmeans-500000x32-k64", "kmeans", 500_000, 32, 64, 2.0, 2.2),
    Case("kmeans-converged-500000x32-k64", "kmeans-converged", 500_000, 32, 64, 3.0, 4.0),
    Case("kernel-density-100000x2", "kernel-density", 100_000, 2, 8, 25.0),
    Case("kernel-grid-1000000x1", "kernel-grid", 1_000_000, 1, 8, 100.0),
]


def prepare(case, iterations):
    """Creates the folder of a case if it is absent, and sets the number of iterations."""
    size = {key: value for key, value in asdict(case).items() if key in ("n", "d", "k")}
    meta = {**size, "data": case.data, "seed": SEED, "generation": GENERATION}
    path = case.folder / "meta.json"
    there = json.loads(path.read_text()) if path.exists() else {}
    there.pop("iterations", None)
    if there != meta:
        shutil.rmtree(case.folder, ignore_errors=True)
        case.folder.mkdir(parents=True)
        GENERATORS[case.data](case)
    # Written last: a folder without it is incomplete and is created again.
    path.write_text(json.dumps({**meta, "iterations": iterations}))


def random_covariances(generator, k, d):
    """A different well-conditioned covariance for each component, with correlations between all columns."""
    factors = generator.normal(0.0, 1.0 / np.sqrt(d), (k, d, d))
    return factors @ factors.transpose(0, 2, 1) + 0.3 * np.eye(d)


def make_mixture(case):
    """Clusters that overlap moderately, and a start near enough that no component vanishes."""
    generator = np.random.default_rng(SEED)
    weights = generator.dirichlet(np.full(case.k, 5.0))
    means = generator.normal(0.0, 0.8, (case.k, case.d))
    covariances = random_covariances(generator, case.k, case.d)
    component = generator.choice(case.k, case.n, p=weights)
    x = generator.normal(size=(case.n, case.d))
    for index, factor in enumerate(np.linalg.cholesky(covariances)):
        rows = component == index
        x[rows] = x[rows] @ factor.T + means[index]
    x.astype("<f8").tofile(case.folder / "x.f64")
    start = {
        "weights": np.full(case.k, 1.0 / case.k),
        "means": means + generator.normal(0.0, 0.3, means.shape),
        "covariances": 0.6 * covariances + 0.4 * np.cov(x, rowvar=False),
    }
    (case.folder / "start.json").write_text(json.dumps({name: value.tolist() for name, value in start.items()}))


def make_kmeans(case):
    """Overlapping clusters of different size and spread; the initial centres are random rows."""
    generator = np.random.default_rng(SEED)
    means = generator.normal(0.0, 1.0, (case.k, case.d))
    spreads = generator.uniform(0.5, 1.0, (case.k, 1))
    component = generator.choice(case.k, case.n, p=generator.dirichlet(np.full(case.k, 5.0)))
    x = means[component] + spreads[component] * generator.normal(size=(case.n, case.d))
    x.astype("<f8").tofile(case.folder / "x.f64")
    start = x[generator.choice(case.n, case.k, replace=False)]
    (case.folder / "centres.json").write_text(json.dumps(start.tolist()))


def make_naive_bayes(case):
    """Classes of different size, mean and deviation."""
    generator = np.random.default_rng(SEED)
    labels = generator.choice(case.k, case.n, p=generator.dirichlet(np.full(case.k, 10.0)))
    means = generator.normal(0.0, 2.0, (case.k, case.d))
    spreads = generator.uniform(0.5, 2.0, (case.k, case.d))
    x = generator.normal(size=(case.n, case.d))
    for label in range(case.k):
        rows = labels == label
        x[rows] = x[rows] * spreads[label] + means[label]
    x.astype("<f8").tofile(case.folder / "x.f64")
    labels.astype("<u4").tofile(case.folder / "labels.u32")


def make_categorical(case):
    """Classes of different size and frequencies of eight levels."""
    generator = np.random.default_rng(SEED)
    labels = generator.choice(case.k, case.n, p=generator.dirichlet(np.full(case.k, 10.0)))
    codes = np.empty((case.n, case.d), dtype="<u4")
    for column in range(case.d):
        shares = generator.dirichlet(np.full(LEVELS, 2.0), case.k).cumsum(axis=1)
        codes[:, column] = (generator.random(case.n)[:, None] > shares[labels]).sum(axis=1).clip(0, LEVELS - 1)
    codes.tofile(case.folder / "codes.u32")
    labels.astype("<u4").tofile(case.folder / "labels.u32")


def make_multinomial(case):
    """Documents of log-normal length; words by Zipf's law, some of them specific to a class."""
    generator = np.random.default_rng(SEED)
    labels = generator.choice(case.k, case.n, p=generator.dirichlet(np.full(case.k, 10.0)))
    lengths = np.maximum(1, generator.lognormal(np.log(46.0), 0.7, case.n)).astype(int)
    documents = np.repeat(np.arange(case.n), lengths)
    zipf = 1.0 / (np.arange(case.d) + 20.0)
    shares = np.cumsum(zipf * generator.gamma(0.7, 1.0, (case.k, case.d)), axis=1)
    places = generator.random(len(documents)) * shares[labels[documents], -1]
    terms = np.empty(len(documents), dtype=np.int64)
    for label in range(case.k):
        rows = labels[documents] == label
        terms[rows] = np.searchsorted(shares[label], places[rows])
    # A vocabulary contains only words that occur.
    kept, terms = np.unique(terms.clip(0, case.d - 1), return_inverse=True)
    table = sparse.coo_matrix((np.ones(len(terms)), (documents, terms)), (case.n, len(kept))).tocsr()
    table.sort_indices()
    table.indptr.astype("<u4").tofile(case.folder / "starts.u32")
    table.indices.astype("<u4").tofile(case.folder / "codes.u32")
    table.data.astype("<f8").tofile(case.folder / "counts.f64")
    labels.astype("<u4").tofile(case.folder / "labels.u32")


def make_texts(case):
    """Documents of log-normal length, 380 bytes on average."""
    texts.write(case.folder / "texts.txt", case.n, 380 * case.n)


def make_density(case):
    """Clusters of different spread, and a tenth as many queries from the same clusters; one bandwidth by Scott's rule."""
    generator = np.random.default_rng(SEED)
    means = generator.normal(0.0, 3.0, (case.k, case.d))
    spreads = generator.uniform(0.3, 1.2, (case.k, case.d))

    def draw(n):
        component = generator.integers(0, case.k, n)
        return means[component] + spreads[component] * generator.normal(size=(n, case.d))

    x = draw(case.n)
    x.astype("<f8").tofile(case.folder / "x.f64")
    draw(case.n // 10).astype("<f8").tofile(case.folder / "queries.f64")
    bandwidth = float(x.std(ddof=1) * case.n ** (-1 / (case.d + 4)))
    grid = [float(x[:, 0].min()), float(x[:, 0].max())]
    (case.folder / "density.json").write_text(json.dumps({"bandwidth": bandwidth, "tolerance": 1e-4, "grid": grid, "nodes": 2**14}))


GENERATORS = {
    "mixture": make_mixture, "naive-bayes": make_naive_bayes, "categorical": make_categorical, "multinomial": make_multinomial, "texts": make_texts,
    "kmeans": make_kmeans, "kernel-density": make_density, "kernel-grid": make_density,
}


def load_x(case):
    """The n×d table of a prepared case."""
    return np.fromfile(case.folder / "x.f64", dtype="<f8").reshape(case.n, case.d)


def load_labels(case):
    """The class of each row of a prepared naive Bayes case."""
    return np.fromfile(case.folder / "labels.u32", dtype="<u4")


def load_codes(case):
    """The n×d levels of a prepared case."""
    return np.fromfile(case.folder / "codes.u32", dtype="<u4").reshape(case.n, case.d).astype(np.int64)


def load_counts(case):
    """The counts of words of a prepared case, as a sparse matrix."""
    read = lambda name, kind: np.fromfile(case.folder / name, dtype=kind)
    starts, codes = read("starts.u32", "<u4").astype(np.int32), read("codes.u32", "<u4").astype(np.int32)
    return sparse.csr_matrix((read("counts.f64", "<f8"), codes, starts), (case.n, codes.max() + 1))


def load_texts(case):
    """The documents of a prepared case."""
    return (case.folder / "texts.txt").read_text(encoding="utf-8").splitlines()


def load_queries(case):
    """The query points of a density case."""
    return np.fromfile(case.folder / "queries.f64", dtype="<f8").reshape(-1, case.d)


def load_centres(case):
    """The initial centres of a k-means case."""
    return np.array(json.loads((case.folder / "centres.json").read_text()))


def load_density(case):
    """The bandwidth, tolerance and grid of a density case."""
    return json.loads((case.folder / "density.json").read_text())


def load_start(case):
    """The initial weights, means and covariances of a mixture case."""
    return {name: np.array(value) for name, value in json.loads((case.folder / "start.json").read_text()).items()}
