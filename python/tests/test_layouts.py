"""The memory layout of an array does not change results; single precision in gives single precision out."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_blobs

from abduce.cluster import KMeans
from abduce.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from abduce.impute import GaussianImputer
from abduce.mixture import GaussianMixture, Mixture
from abduce.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, NaiveBayes
from abduce.neighbors import KernelDensity

# More rows than a chunk, and numbers that single precision represents exactly.
X, Y = make_blobs(10_000, n_features=3, centers=3, random_state=0)
X = np.round(np.abs(X) * 16) / 16
ESTIMATORS = [
    GaussianNB(),
    BernoulliNB(binarize=3.0),
    MultinomialNB(),
    NaiveBayes(),
    LinearDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(),
    GaussianMixture(2, random_state=0),
    Mixture(2, n_init=1, max_iter=20, random_state=0),
    KMeans(3, random_state=0),
    KernelDensity(kernel="epanechnikov", bandwidth=0.5),
    GaussianImputer(),
]


def read_only(array, folder):
    array = array.copy(order="K")
    array.flags.writeable = False
    return array


def read_only_by_columns(array, folder):
    return read_only(np.asfortranarray(array), folder)


def mapped(array, folder, order="C"):
    # A separate file: a mapped file must not change.
    path = folder / f"{len(list(folder.iterdir()))}.npy"
    np.save(path, np.asarray(array, order=order))
    return np.load(path, mmap_mode="r")


def mapped_by_columns(array, folder):
    return mapped(array, folder, "F")


def every_other(array, folder):
    wide = np.full((2 * array.shape[0], 3 * array.shape[1]), np.nan)
    wide[::2, 1::3] = array
    return wide[::2, 1::3]


def backwards(array, folder):
    return array[::-1, ::-1].copy()[::-1, ::-1]


def backwards_by_columns(array, folder):
    return np.asfortranarray(array[::-1])[::-1]


def within_columns(array, folder):
    longer = np.asfortranarray(np.vstack([array[:7], array, array[:5]]))
    return longer[7:-5]


def other_byte_order(array, folder):
    return array.astype(array.dtype.newbyteorder())


def unaligned(array, folder):
    raw = np.zeros(array.nbytes + 1, dtype=np.uint8)
    out = raw[1:].view(array.dtype).reshape(array.shape)
    out[:] = array
    return out


LAYOUTS = [
    read_only,
    read_only_by_columns,
    mapped,
    mapped_by_columns,
    every_other,
    backwards,
    backwards_by_columns,
    within_columns,
    other_byte_order,
    unaligned,
]


def answers(model, rows):
    for name in ("predict_proba", "score_samples", "transform"):
        if hasattr(model, name):
            return getattr(model, name)(rows)
    raise AssertionError("there is nothing to ask")


def with_missing_cells(estimator):
    if not estimator.__sklearn_tags__().input_tags.allow_nan:
        return X
    return np.where(np.random.default_rng(1).random(X.shape) < 0.05, np.nan, X)


def by_name(value):
    return type(value).__name__


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=by_name)
def test_every_layout_gives_the_same_bits(estimator, tmp_path):
    rows = with_missing_cells(estimator)
    plain = clone(estimator).fit(rows, Y)
    asked = rows[:2000]
    expected = answers(plain, asked)
    for layout in LAYOUTS:
        array = layout(rows, tmp_path)
        before = np.array(array)
        model = clone(estimator).fit(array, Y)
        np.testing.assert_array_equal(answers(model, asked), expected, err_msg=layout.__name__)
        np.testing.assert_array_equal(answers(plain, layout(asked, tmp_path)), expected, err_msg=layout.__name__)
        np.testing.assert_array_equal(array, before, err_msg=layout.__name__)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=by_name)
def test_single_precision_is_read_as_it_is(estimator):
    single = X.astype(np.float32)
    a, b = clone(estimator).fit(X, Y), clone(estimator).fit(single, Y)
    expected = answers(a, X[:2000])
    np.testing.assert_array_equal(answers(b, X[:2000]), expected)
    found = answers(b, single[:2000])
    np.testing.assert_array_equal(found, expected.astype(found.dtype))
    # scikit-learn's transformers and mixtures keep the precision of X; its classifiers return doubles.
    kept = isinstance(estimator, (GaussianMixture, Mixture, KMeans, GaussianImputer))
    assert found.dtype == (np.float32 if kept else np.float64)


def test_an_array_is_kept_alive_while_it_is_needed():
    """An array in column order is not copied, so the table must keep it alive."""
    from abduce import _core

    expected = _core.variances(_core.table_of_array(X, ["a", "b", "c"]))
    table = _core.table_of_array(np.asfortranarray(X), ["a", "b", "c"])
    overwriting = [np.full_like(X, 7.0) for _ in range(20)]
    np.testing.assert_array_equal(_core.variances(table), expected)
    assert len(overwriting) == 20


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.uint16, bool, np.float16, object])
def test_other_numeric_types_are_accepted(kind):
    rows = (X > 3).astype(kind)
    np.testing.assert_array_equal(GaussianNB().fit(rows, Y).theta_, GaussianNB().fit(rows.astype(np.float64), Y).theta_)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=by_name)
@pytest.mark.parametrize("rows", [np.empty((0, 3)), np.empty((5, 0)), np.zeros(5), np.zeros((2, 2, 2))], ids=str)
def test_shapes_without_rows_or_columns_are_refused(estimator, rows):
    with pytest.raises(ValueError):
        clone(estimator).fit(rows, np.zeros(len(rows)))


LEVELS = np.floor(X[:, ::-1] % 5)
INTEGERS = [np.int64, np.int32, np.uint8, np.int16, np.uint64, np.float32]


@pytest.mark.parametrize("layout", [np.asarray, np.asfortranarray, lambda array: np.repeat(array, 2, axis=1)[:, ::2]])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_levels_are_the_same_in_all_integer_types(dtype, layout):
    expected = CategoricalNB(min_categories=6).fit(LEVELS, Y)
    whole = layout(LEVELS.astype(dtype))
    model = CategoricalNB(min_categories=6).fit(whole, Y)
    assert model.n_categories_.tolist() == expected.n_categories_.tolist()
    assert model._model.part("parameters") == expected._model.part("parameters")
    assert np.array_equal(model.predict_joint_log_proba(whole), expected.predict_joint_log_proba(LEVELS))
    assert np.array_equal(model.predict(whole), expected.predict(LEVELS))
    model.partial_fit(whole[:100] + dtype(3), Y[:100])
    expected.partial_fit(LEVELS[:100] + 3, Y[:100])
    assert model.n_categories_.tolist() == expected.n_categories_.tolist()
    assert model._model.part("parameters") == expected._model.part("parameters")


@pytest.mark.parametrize("dtype", [np.float64, *INTEGERS])
def test_invalid_levels_are_refused_in_all_integer_types(dtype):
    model = CategoricalNB().fit(LEVELS.astype(dtype), Y)
    strange = LEVELS.astype(dtype)
    strange[9_000, 1] = 77
    with pytest.raises(IndexError, match="feature 1 has a category"):
        model.predict(strange)
    if np.dtype(dtype).kind != "u":
        strange[9_000, 1] = -1
        for ask in (model.predict, lambda array: model.fit(array, Y), lambda array: model.partial_fit(array, Y)):
            with pytest.raises(ValueError, match="Negative values in data passed to CategoricalNB"):
                ask(strange)


def test_missing_levels_are_ignored_and_infinite_ones_refused():
    missing = LEVELS + 0.75
    missing[::7, 0] = np.nan
    model = CategoricalNB().fit(missing, Y)
    assert model.n_categories_.tolist() == [5, 5, 5]
    assert model.category_count_[0].sum() == 10_000 - len(missing[::7])
    assert np.array_equal(model.predict(missing), model.predict(np.floor(missing)))
    missing[1, 1] = np.inf
    for ask in (model.predict, lambda array: model.fit(array, Y)):
        with pytest.raises(ValueError, match="infinity"):
            ask(missing)


def lists_of(matrix):
    """The same matrix with unordered and repeated entries and explicit zeros."""
    counts = matrix.tocoo()
    order = np.random.default_rng(0).permutation(2 * counts.nnz + 50)
    rows = np.concatenate([counts.row, counts.row, np.arange(50)])[order]
    columns = np.concatenate([counts.col, counts.col, np.arange(50) % matrix.shape[1]])[order]
    values = np.concatenate([counts.data - 0.5, np.full(counts.nnz, 0.5), np.zeros(50)])[order]
    by_row = np.argsort(rows, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=matrix.shape[0]))])
    return values[by_row], columns[by_row], starts


def wide(matrix):
    copy = matrix.copy()
    copy.indices, copy.indptr = copy.indices.astype(np.int64), copy.indptr.astype(np.int64)
    return copy


def zeros(matrix):
    copy = matrix.copy()
    kept = copy.data.copy()
    copy.data[:] = 1.0
    copy = (copy + sp.eye_array(*copy.shape, format="csr")).tocsr()
    copy.data[:] = 0.0
    assert copy.nnz > matrix.nnz
    values, indices, starts = copy.data, copy.indices, copy.indptr
    for row in range(matrix.shape[0]):
        at = slice(matrix.indptr[row], matrix.indptr[row + 1])
        places = starts[row] + np.searchsorted(indices[starts[row] : starts[row + 1]], matrix.indices[at])
        values[places] = kept[at]
    return copy


SPARSE = {
    "wide indices": wide,
    "zeros": zeros,
    "out of order, in parts and with zeros": lambda matrix: sp.csr_array(lists_of(matrix), matrix.shape),
    "whole numbers": lambda matrix: matrix.astype(np.int64),
    "by columns": lambda matrix: matrix.tocsc(),
}


@pytest.mark.parametrize("form", SPARSE.values(), ids=SPARSE.keys())
@pytest.mark.parametrize("of", [MultinomialNB, ComplementNB, BernoulliNB])
def test_the_order_of_sparse_entries_does_not_matter(of, form):
    counts = sp.csr_array(np.maximum(np.random.default_rng(1).integers(-9, 4, (9_000, 30)), 0).astype(float))
    labels = Y[:9_000]
    expected = of().fit(counts, labels)
    other = form(counts)
    before = other.copy()
    model = of().fit(other, labels)
    assert model._model.part("parameters") == expected._model.part("parameters")
    assert model._model.part("statistics") == expected._model.part("statistics")
    for rows in (counts, other):
        assert np.array_equal(model.predict_proba(rows), expected.predict_proba(counts))
        assert np.array_equal(model.predict(rows), expected.predict(counts))
    assert np.array_equal(other.indices, before.indices) and np.array_equal(other.data, before.data)


def test_the_terms_of_a_sparse_matrix_are_its_columns_in_order():
    counts = sp.csr_array(np.arange(36.0).reshape(3, 12))
    model = MultinomialNB().fit(counts, [0, 1, 1])
    terms = json.loads(model._model.part("schema"))["fields"][0]["text"]["encoding"]["vocabulary"]
    assert terms == [f"x{i}" for i in range(12)]


@pytest.mark.parametrize("index", [-1, 4])
def test_invalid_sparse_indices_are_refused(index):
    counts = sp.csr_array(np.arange(1.0, 13.0).reshape(3, 4))
    counts.indices[7] = index
    with pytest.raises(ValueError, match="not in compressed rows"):
        MultinomialNB().fit(counts, [0, 1, 1])


def test_the_extension_refuses_arrays_that_are_not_aligned():
    """Estimators copy them first; the extension must not read them."""
    from abduce import _core

    names = ["a", "b", "c"]
    for dtype in (np.float64, np.float32, np.int64, np.int32):
        rows = unaligned(np.ones((4, 3), dtype=dtype), None)
        assert not rows.flags.aligned
        with pytest.raises((TypeError, ValueError), match="not aligned"):
            _core.table_of_array(rows, names)
        with pytest.raises((TypeError, ValueError), match="not aligned"):
            _core.range_of_levels(rows)
    plain, weights = np.ones((4, 3)), unaligned(np.ones(4), None)
    with pytest.raises((TypeError, ValueError), match="not aligned"):
        _core.table_of_array(plain, names, weights=weights)
    codes = unaligned(np.zeros(4, dtype=np.int64), None)
    with pytest.raises((TypeError, ValueError)):
        _core.table_of_array(plain, names, labels=("y", ["0"], codes))
    with pytest.raises((TypeError, ValueError), match="not aligned"):
        _core.classes_of(codes)
    with pytest.raises((TypeError, ValueError), match="not aligned"):
        _core.Distribution("gaussian", [0.0, 1.0]).cdf(weights)
    # The rows of records are not aligned.
    records = np.zeros(4, dtype=[("x", np.float64), ("flag", np.uint8)])["x"]
    with pytest.raises((TypeError, ValueError), match="not aligned"):
        _core.table_of_array(plain, names, weights=records)


def test_the_extension_refuses_arrays_of_another_byte_order():
    from abduce import _core

    with pytest.raises((TypeError, ValueError)):
        _core.table_of_array(np.ones((4, 3), dtype=np.dtype(np.float64).newbyteorder()), ["a", "b", "c"])


@pytest.mark.parametrize("shape", [(0, 3), (4, 0), (0, 0)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_the_extension_accepts_empty_arrays(shape, order):
    from abduce import _core

    table = _core.table_of_array(np.empty(shape, order=order), [f"x{n}" for n in range(shape[1])])
    assert len(table) == shape[0]
    assert len(_core.variances(table)) == shape[1]


def test_unaligned_records_are_read():
    records = np.zeros(len(X), dtype=[("x", np.float64, 3), ("flag", np.uint8)])
    records["x"] = X
    expected = GaussianNB().fit(X, Y).theta_
    np.testing.assert_array_equal(GaussianNB().fit(records["x"], Y).theta_, expected)
