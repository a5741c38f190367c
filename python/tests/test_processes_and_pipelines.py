"""Metadata routing, output frames, names, Ctrl-C, threads, forks, imports."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.ensemble import BaggingClassifier
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from abduce.cluster import KMeans
from abduce.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from abduce.impute import GaussianImputer, MixtureImputer
from abduce.mixture import GaussianMixture, Mixture
from abduce.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, NaiveBayes
from abduce.neighbors import KernelDensity

X, Y = load_iris(return_X_y=True)
NAMES = ["a", "b", "c", "d"]
CLASSIFIERS = [
    GaussianNB(),
    BernoulliNB(binarize=3.0),
    CategoricalNB(min_categories=10),
    MultinomialNB(),
    ComplementNB(),
    NaiveBayes(),
    LinearDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(),
]
OTHERS = [
    GaussianMixture(2, random_state=0),
    Mixture(2, random_state=0),
    KMeans(3, random_state=0),
    KernelDensity(),
    GaussianImputer(),
    MixtureImputer(2, random_state=0),
]


def by_name(value):
    return type(value).__name__


def answers(model, rows):
    for name in ("predict_proba", "score_samples", "transform"):
        if hasattr(model, name):
            return getattr(model, name)(rows)
    raise AssertionError("there is nothing to ask")


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.parametrize("estimator", [*CLASSIFIERS, *OTHERS], ids=by_name)
def test_weights_are_routed_to_the_estimator_that_asks_for_them(estimator, routing):
    weights = np.linspace(0.0, 2.0, len(X))
    asking = clone(estimator).set_fit_request(sample_weight=True)
    routed = make_pipeline(asking).fit(X, Y, sample_weight=weights)
    direct = clone(estimator).fit(X, Y, sample_weight=weights)
    np.testing.assert_array_equal(answers(routed[-1], X), answers(direct, X))
    unweighted = clone(estimator).fit(X, Y)
    if not isinstance(estimator, (GaussianImputer, MixtureImputer)):
        assert not np.array_equal(answers(routed[-1], X), answers(unweighted, X))
    deaf = clone(estimator).set_fit_request(sample_weight=False)
    np.testing.assert_array_equal(
        answers(make_pipeline(StandardScaler(with_mean=False, with_std=False), deaf).fit(X, Y)[-1], X),
        answers(unweighted, X),
    )
    with pytest.raises(UnsetMetadataPassedError):
        make_pipeline(clone(estimator)).fit(X, Y, sample_weight=weights)


def test_weights_are_routed_through_a_search_over_a_pipeline(routing):
    weights = np.where(Y == 2, 0.0, 1.0)
    model = GaussianNB().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=True), model)
    search = GridSearchCV(pipeline, {"gaussiannb__var_smoothing": [1e-9, 1e-2]}, cv=3, error_score="raise")
    search.fit(X, Y, sample_weight=weights)
    assert search.best_estimator_[-1].class_count_.tolist() == [50.0, 50.0, 0.0]
    # Without the rows of weight 0, the two remaining classes are separable.
    assert search.best_score_ == 1.0
    found = cross_validate(pipeline, X, Y, params={"sample_weight": weights}, cv=3)
    assert found["test_score"].min() == 1.0


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=by_name)
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_classifiers_can_be_calibrated_and_bagged(estimator, method):
    calibrated = CalibratedClassifierCV(clone(estimator), method=method, cv=3, ensemble=method == "sigmoid")
    calibrated.fit(X, Y, sample_weight=np.linspace(0.5, 2, len(X)))
    probabilities = calibrated.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert calibrated.score(X, Y) >= clone(estimator).fit(X, Y).score(X, Y) - 0.1
    bagged = BaggingClassifier(clone(estimator), n_estimators=3, random_state=0).fit(X, Y)
    np.testing.assert_allclose(bagged.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize("of", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize(
    ("estimator", "columns"),
    [
        (GaussianImputer(), NAMES),
        (MixtureImputer(2, random_state=0), NAMES),
        (KMeans(3, random_state=0), ["kmeans0", "kmeans1", "kmeans2"]),
    ],
    ids=by_name,
)
def test_transformers_return_the_frames_of_set_output(of, estimator, columns):
    missing = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    frame = of(dict(zip(NAMES, missing.T, strict=True)))
    expected = np.asarray(clone(estimator).fit(missing).transform(missing))
    model = clone(estimator).set_output(transform="pandas").fit(frame)
    out = model.transform(frame)
    assert isinstance(out, pd.DataFrame)
    assert list(out.columns) == columns == list(model.get_feature_names_out())
    np.testing.assert_allclose(out.to_numpy(), expected, rtol=1e-12)
    out = model.set_output(transform="polars").transform(frame)
    assert isinstance(out, pl.DataFrame)
    assert out.columns == columns
    np.testing.assert_allclose(out.to_numpy(), expected, rtol=1e-12)
    plain = make_pipeline(clone(estimator), StandardScaler()).set_output(transform="pandas").fit_transform(frame)
    assert list(plain.columns) == columns


@pytest.mark.parametrize("estimator", [*CLASSIFIERS, *OTHERS], ids=by_name)
def test_columns_are_known_by_their_names(estimator):
    frame = pd.DataFrame(X, columns=NAMES)
    model = clone(estimator).fit(frame, Y)
    assert list(model.feature_names_in_) == NAMES
    assert model.n_features_in_ == 4
    ask = next(getattr(model, name) for name in ("predict", "score_samples", "transform") if hasattr(model, name))
    for wrong in (frame[NAMES[::-1]], frame.rename(columns={"a": "z"}), frame[["a", "b", "c"]], frame.assign(e=1.0)):
        with pytest.raises(ValueError, match="feature names"):
            ask(wrong)
    again = clone(estimator).fit(X, Y)
    assert not hasattr(again, "feature_names_in_")
    ask = next(getattr(again, name) for name in ("predict", "score_samples", "transform") if hasattr(again, name))
    with pytest.raises(ValueError, match="3 features"):
        ask(X[:, :3])


def child(code, *arguments, **environment):
    command = [sys.executable, "-c", textwrap.dedent(code), *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120, env=os.environ | environment, check=False
    )
    assert done.returncode == 0, done.stderr
    return done


INTERRUPTED = """
    import numpy as np
    from abduce.cluster import KMeans
    from abduce.mixture import GaussianMixture, Mixture
    from abduce.neighbors import KernelDensity
    X = np.random.default_rng(0).normal(size=(20000, 4))
    long = dict(max_iter=100000, tol=0.0, random_state=0)
    dense = KernelDensity(bandwidth=1.0).fit(X[:4000])

    def expected():
        return GaussianMixture(2, random_state=0).fit(X[:500]).means_

    before = expected()
    for work in (
        lambda: Mixture(12, n_init=1000, **long).fit(X),
        lambda: Mixture(12, n_init=1000, verbose=1, **long).fit(X),
        lambda: GaussianMixture(range(1, 40), n_init=1000, **long).fit(X),
        lambda: KMeans(50, n_init=100000, **long).fit(X),
        lambda: dense.score_samples(np.tile(X, (100, 1))),
        lambda: KernelDensity(bandwidth="cv").fit(np.tile(X, (4, 8))),
    ):
        try:
            print("ready", flush=True)
            work()
        except KeyboardInterrupt:
            print("interrupted" if np.array_equal(expected(), before) else "spoiled", flush=True)
        else:
            print("done", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
def test_ctrl_c_ends_long_work_and_leaves_the_process_usable():
    command = [sys.executable, "-c", textwrap.dedent(INTERRUPTED)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        # The process is ended in any case.
        guard = threading.Timer(120, process.kill)
        guard.start()
        heard = []
        for line in process.stdout:
            heard.append(line.strip())
            if line == "ready\n":
                time.sleep(0.4)
                process.send_signal(signal.SIGINT)
        guard.cancel()
    assert heard == ["ready", "interrupted"] * 6
    assert process.returncode == 0


BITS = """
    import hashlib
    import numpy as np
    from abduce.cluster import KMeans
    from abduce.mixture import GaussianMixture
    from abduce.naive_bayes import GaussianNB
    from abduce.neighbors import KernelDensity
    X = np.random.default_rng(0).normal(size=(20000, 3))
    y = (X[:, 0] > 0).astype(int)

    def answers(jobs):
        for model in (
            GaussianNB(n_jobs=jobs),
            GaussianMixture(3, random_state=0, n_jobs=jobs),
            KMeans(5, random_state=0, n_jobs=jobs),
            KernelDensity(bandwidth=0.1, kernel="epanechnikov", n_jobs=jobs),
        ):
            model.fit(X, y)
            names = ("predict_proba", "score_samples", "transform")
            ask = next(getattr(model, name) for name in names if hasattr(model, name))
            yield hashlib.sha256(ask(X).tobytes()).hexdigest()

    for jobs in (1, 3, -1, None):
        print(*answers(jobs))
"""


def test_any_number_of_threads_gives_the_same_bits():
    found = [child(BITS, RAYON_NUM_THREADS=threads).stdout.splitlines() for threads in ("1", "5")]
    assert len(set(found[0] + found[1])) == 1
    assert len(found[0]) == len(found[1]) == 4


def test_zero_jobs_are_refused():
    with pytest.raises(ValueError, match="n_jobs"):
        GaussianNB(n_jobs=0).fit(X, Y)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_can_fit():
    """Threads do not survive a fork, so waiting for those of the parent would never end."""
    child("""
        import os, signal, sys
        import numpy as np, pandas as pd, scipy.sparse as sp
        from abduce.cluster import KMeans
        from abduce.impute import GaussianImputer
        from abduce.mixture import GaussianMixture, Mixture
        from abduce.naive_bayes import GaussianNB, MultinomialNB

        X = np.random.default_rng(0).normal(size=(20000, 4))
        y = (X[:, 0] > 0).astype(int)
        frame = pd.DataFrame(X, columns=list("abcd")).assign(e=np.where(y, "u", "v"))
        counts = sp.csr_matrix(np.abs(np.floor(X)))
        missing = np.where(X > 1, np.nan, X)

        def work():
            nb = GaussianNB().fit(X, y)
            mixture = GaussianMixture(2, random_state=0).fit(np.asfortranarray(X))
            return [
                nb.merge(nb).theta_,
                mixture.means_,
                mixture.draw(50000, random_state=0)["x0"],
                MultinomialNB().fit(counts, y).predict_proba(counts),
                KMeans(3, random_state=0).fit(X.astype(np.float32)).cluster_centers_,
                Mixture(2, n_init=1, max_iter=5, random_state=0).fit(frame).score_samples(frame),
                GaussianImputer().fit_transform(missing),
            ]

        expected = work()
        process = os.fork()
        if process == 0:
            signal.alarm(60)
            same = all(np.array_equal(a, b) for a, b in zip(expected, work()))
            os._exit(0 if same else 3)
        _, status = os.waitpid(process, 0)
        assert status == 0, status
        assert np.array_equal(expected[0], work()[0])
    """)


def test_importing_the_package_imports_only_the_standard_library():
    """Other libraries are imported on first use."""
    done = child("""
        import sys
        before = set(sys.modules)
        import abduce
        new = set(sys.modules) - before
        print(len(new), sorted(module for module in new if module.split(".")[0] not in {"abduce", *sys.stdlib_module_names}))
    """)
    count, others = done.stdout.split(maxsplit=1)
    assert others.strip() == "[]"
    assert int(count) < 20


def test_estimators_import_no_frame_or_plot_library():
    """They import what scikit-learn does, but no frame, plot or progress library."""
    done = child("""
        import sys
        import sklearn.mixture
        sklearn.mixture.GaussianMixture(2).fit([[0.0], [1.0], [5.0], [6.0]]).predict([[0.0]])
        before = set(sys.modules)
        import abduce
        for name in abduce.__all__:
            getattr(abduce, name)
        abduce.GaussianMixture(2).fit([[0.0], [1.0], [5.0], [6.0]]).predict([[0.0]])
        abduce.families.gamma(2, 0.5).mean
        new = {module.split(".")[0] for module in set(sys.modules) - before}
        print(sorted(new & {"matplotlib", "pandas", "polars", "pyarrow", "duckdb", "tqdm"}))
    """)
    assert done.stdout.strip() == "[]"


def test_every_public_name_exists():
    import abduce

    assert set(abduce.__all__) == set(abduce._MODULE_OF) | set(abduce._MODULES)
    assert set(abduce.__all__) <= set(dir(abduce))
    for name in abduce.__all__:
        assert getattr(abduce, name) is not None
    with pytest.raises(AttributeError, match="nothing_such"):
        abduce.nothing_such  # noqa: B018


TALKING = """
    import sys
    if sys.argv[1] == "without":
        sys.modules["tqdm"] = sys.modules["tqdm.auto"] = None
    import numpy as np
    from abduce.cluster import KMeans
    from abduce.impute import GaussianImputer
    from abduce.mixture import GaussianMixture, Mixture
    X = np.random.default_rng(0).normal(size=(200, 2))
    for verbose in (0, 1):
        for stream in (sys.stdout, sys.stderr):
            print("verbose", verbose, file=stream, flush=True)
        for make in (GaussianMixture, Mixture, KMeans):
            make(2, random_state=0, verbose=verbose).fit(X)
        GaussianImputer(verbose=verbose).fit(X)
"""


def test_progress_is_reported_by_tqdm_or_line_by_line():
    bars, lines = child(TALKING, "with"), child(TALKING, "without")
    assert bars.stdout.splitlines() == lines.stderr.splitlines() == ["verbose 0", "verbose 1"]
    for output in (bars.stderr, lines.stdout):
        assert output.startswith("verbose 0\nverbose 1\n")
    for name in ("GaussianMixture", "Mixture", "KMeans", "GaussianImputer"):
        assert f"{name}: " in bars.stderr
        assert any(line.startswith(f"{name}: iteration 1 of ") for line in lines.stdout.splitlines())
