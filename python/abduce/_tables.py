"""What users hand over, as tables of the engine."""

import numpy as np
import scipy.sparse as sp
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import _check_sample_weight, validate_data

from abduce import _core


def names_of(estimator, width):
    """The names of the columns: those of the frame that was fitted, or x0, x1, and so on."""
    names = getattr(estimator, "feature_names_in_", None)
    return [f"x{i}" for i in range(width)] if names is None else [str(name) for name in names]


def free_name(wanted, taken):
    """A name that no column has."""
    while wanted in taken:
        wanted += "_"
    return wanted


def checked(estimator, X, *, reset, allow_nan=True, accept_sparse=False):
    """X as an array of numbers. Infinite numbers are found by the engine, on the way."""
    X = validate_data(
        estimator,
        X,
        reset=reset,
        dtype=[np.float64, np.float32],
        accept_sparse=accept_sparse,
        ensure_all_finite=False,
    )
    if not allow_nan and not sp.issparse(X):
        assert_all_finite(X, input_name="X")
    return X


def weights_of(sample_weight, X):
    """Weights as the engine takes them."""
    if sample_weight is None:
        return None
    return _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)


def dense(X, names, *, kinds=None, levels=None, labels=None, weights=None):
    """An array as a table; `labels` are a name, levels and codes, −1 where there is none."""
    if X.dtype not in (np.float64, np.float32):
        X = X.astype(np.float64)
    if not X.dtype.isnative or not X.flags.aligned:
        X = X.astype(X.dtype.newbyteorder("="))
    return _core.table_of_array(X, names, kinds, levels, labels, weights)


def sparse(X, names, *, labels=None, weights=None, name="x"):
    """A sparse matrix as a table of documents."""
    X = X.tocsr()
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    values = np.ascontiguousarray(X.data, dtype=np.float64)
    return _core.table_of_sparse(X.indptr, X.indices, values, names, name, labels, weights)


def is_frame(X):
    """Whether X is a data frame of some library."""
    return hasattr(X, "__arrow_c_stream__") or (hasattr(X, "columns") and hasattr(X, "iloc"))


def arrow_of(X):
    """A frame as something that speaks Arrow."""
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        try:
            import pyarrow
        except ImportError as error:
            raise ImportError("pyarrow is needed to read a pandas frame with columns that are not numbers") from error
        return pyarrow.Table.from_pandas(X.rename(columns=str), preserve_index=False)
    return X
