"""Tables of the library from arrays, frames and sparse matrices."""

import re
from collections import Counter
from collections.abc import Sequence
from datetime import date, time, timedelta
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import _check_sample_weight, validate_data

from abduce import _core
from abduce._types import Floats, Labels


def fitted_names(estimator: Any) -> list[str]:
    """The names of the columns of the fitted frame; empty for an array."""
    return [str(name) for name in getattr(estimator, "feature_names_in_", ())]


def names_of(estimator: Any, width: int) -> list[str]:
    """The names of the columns: those of the fitted frame, or x0, x1, …"""
    return fitted_names(estimator) or [f"x{i}" for i in range(width)]


def free_name(wanted: str, taken: Sequence[str]) -> str:
    """The wanted name, with underscores appended if a column has it."""
    while wanted in taken:
        wanted += "_"
    return wanted


def matches(pattern: str, name: str) -> bool:
    """Whether a column's name matches a pattern, in which `*` is any text."""
    parts = (re.escape(part) for part in pattern.split("*"))
    return pattern == name or re.fullmatch(".*".join(parts), name, re.DOTALL) is not None


# The types that the library reads without a conversion.
FLOATS = [np.float64, np.float32]
NUMBERS = [*FLOATS, np.int64, np.int32, np.uint8]


def checked(
    estimator: Any,
    X: Any,
    *,
    reset: bool,
    allow_nan: bool = True,
    accept_sparse: str | list[str] | bool = False,
    dtype: Sequence[type] = FLOATS,
) -> Any:
    """X as an array of numbers. Infinite numbers are detected later by the library."""
    X = np.asarray(X) if isinstance(X, (list, tuple)) else as_table(X)
    if is_frame(X):
        refuse_duplicate_names(X)
    if reset:
        estimator._frame_template = without_rows(X)
    refuse_dates(X)
    X = validate_data(
        estimator,
        unmasked(estimator, X, allow_nan),
        reset=reset,
        dtype=list(dtype),
        accept_sparse=accept_sparse,
        ensure_all_finite=False,
    )
    if sp.issparse(X):
        assert_all_finite(X.data, input_name="X")
    elif not allow_nan:
        assert_all_finite(X, input_name="X")
    return X


def refuse_large(X: Floats) -> None:
    """Raises an error for numbers that the library refuses, if it does not read the array."""
    # In double precision, for the bound is too large for single precision.
    largest = float(np.nanmax(np.abs(X), initial=0.0))
    if np.isinf(largest):
        raise ValueError(f"Input X contains infinity or a value too large for dtype('{X.dtype}').")
    if largest > 1e150:
        raise ValueError("Input X contains a value beyond 1e150; rescale the column")


def unmasked(estimator: Any, X: Any, allow_nan: bool) -> Any:
    """An array with NaN in place of masked cells."""
    if not isinstance(X, np.ma.MaskedArray):
        return X
    if not np.ma.is_masked(X):
        return X.data
    if not allow_nan:
        raise ValueError(f"Input X has masked cells, but {type(estimator).__name__} does not support missing values.")
    numbers = X.data.astype(np.float32 if X.dtype == np.float32 else np.float64)
    numbers[np.ma.getmaskarray(X)] = np.nan
    return numbers


def refuse_duplicate_names(X: Any) -> None:
    """Raises an error for a frame with duplicate column names."""
    for name, times in Counter(column_names(X)).items():
        if times > 1:
            raise ValueError(f"{times} columns of X are named {name!r}; column names must be unique")


def refuse_dates(X: Any) -> None:
    """Raises an error for dates and times, which could be converted to numbers."""
    for place, (name, kind) in enumerate(_kinds(X)):
        if _is_temporal(kind) or (_is_object(kind) and _has_dates(X if name is None else X.iloc[:, place].to_numpy())):
            where = "X" if name is None else f'column "{name}"'
            raise TypeError(
                f"{where} holds dates or times ({kind}), which are not supported; convert them to numbers or strings, or "
                "leave them out"
            )


def _kinds(X: Any) -> list[tuple[str | None, Any]]:
    """The type of an array, or the types of the columns of a frame by their names."""
    if is_pandas(X):
        return [(str(name), kind) for name, kind in X.dtypes.items()]
    if is_polars(X):
        return list(X.schema.items())
    if hasattr(X, "column_names") and hasattr(X, "schema"):
        return [(field.name, field.type) for field in X.schema]
    return [(None, X.dtype)] if hasattr(X, "dtype") else []


def _is_object(kind: Any) -> bool:
    return isinstance(kind, np.dtype) and kind.kind == "O"


def _has_dates(X: NDArray[np.object_]) -> bool:
    """Whether objects are dates or times, of Python, NumPy or pandas."""
    of_time = (date, time, timedelta, np.datetime64, np.timedelta64)
    return any(isinstance(cell, of_time) for cell in X.ravel())


def _is_temporal(kind: Any) -> bool:
    if hasattr(kind, "is_temporal"):
        return bool(kind.is_temporal())
    if type(kind).__module__.startswith("pyarrow"):
        import pyarrow.types

        return bool(pyarrow.types.is_temporal(kind))
    return getattr(kind, "kind", "") in ("m", "M") or str(kind).startswith("period")


def as_table(X: Any) -> Any:
    """X, with an Arrow batch as a table, whose column names scikit-learn reads; lazy frames and columns are refused."""
    if type(X).__module__.startswith("polars") and type(X).__name__ == "LazyFrame":
        raise TypeError("X is a lazy frame; pass X.collect()")
    if type(X).__module__.startswith("pyarrow") and type(X).__name__ == "RecordBatch":
        import pyarrow

        return pyarrow.Table.from_batches([X])
    if _is_column(X):
        raise ValueError(
            f"X is a single column, a {type(X).__name__}; pass a frame, such as X.to_frame() in pandas or polars, or a "
            "two-dimensional array"
        )
    return X


def _is_column(X: Any) -> bool:
    """Whether X is a column of pandas, polars or Arrow."""
    library = type(X).__module__.split(".")[0]
    names = {"pandas": ("Series",), "polars": ("Series",), "pyarrow": ("Array", "ChunkedArray")}
    return any(base.__name__ in names.get(library, ()) for base in type(X).__mro__)


def weights_of(sample_weight: ArrayLike | None, X: Any) -> Floats | None:
    """Weights as doubles."""
    if sample_weight is None:
        return None
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    return np.require(weights, requirements=["A"])


def _places(columns: list[int], axes: int) -> Any:
    return (..., *np.ix_(*[columns] * axes))


def columns_of(numbers: Any, columns: list[int], axes: int) -> Floats:
    """The numbers of some columns, along the last axes of an array."""
    return numbers[_places(columns, axes)]


def expand_to_all_columns(numbers: Floats, columns: list[int], width: int, axes: int) -> Floats:
    """The numbers of some columns at their positions among all columns, along the last axes; NaN for the others."""
    if len(columns) == width or axes == 0:
        return numbers
    out = np.full(numbers.shape[:-axes] + (width,) * axes, np.nan)
    out[_places(columns, axes)] = numbers
    return out


def empty_columns(X: Any) -> NDArray[np.intp]:
    """The columns of an array with only missing values."""
    incomplete = np.flatnonzero(np.isnan(X[0]))
    return incomplete[np.isnan(X[:, incomplete]).all(axis=0)]


def native(X: Any) -> Any:
    """An array as the library reads it; copied only if necessary."""
    if X.dtype not in NUMBERS:
        X = X.astype(np.float64)
    return X if X.flags.aligned else X.astype(X.dtype)


def dense(
    X: Any,
    names: list[str],
    *,
    kinds: list[str] | None = None,
    levels: list[list[str]] | None = None,
    labels: Labels | None = None,
    weights: Floats | None = None,
    labels_at: int | None = None,
) -> _core.Table:
    """An array as a table; `labels` are the last column, or at position `labels_at`."""
    return _core.table_of_array(native(X), names, kinds, levels, labels, weights, labels_at)


def sparse(
    X: Any,
    columns: list[str] | int | _core.Model,
    *,
    labels: Labels | None = None,
    weights: Floats | None = None,
    name: str = "x",
) -> _core.Table:
    """A sparse matrix as a table of documents; `columns` are names, their number, or a model that has them."""
    X = X.tocsr()

    def table() -> _core.Table | None:
        starts, indices = (np.require(positions, requirements=["C", "A"]) for positions in (X.indptr, X.indices))
        values = np.require(X.data, np.float64, ["C", "A"])
        return _core.table_of_sparse(starts, indices, values, columns, name, labels, weights)

    made = table()
    if made is None:
        X = X.copy()
        # The flags of a matrix may be out of date.
        X.has_canonical_format = False
        X.has_sorted_indices = False
        X.sum_duplicates()
        made = table()
    if made is None:
        raise ValueError("the sparse matrix is not in compressed rows")
    return made


def is_pandas(X: Any) -> bool:
    """Whether X is a pandas frame."""
    return hasattr(X, "iloc") and hasattr(X, "columns")


def is_polars(X: Any) -> bool:
    """Whether X is a polars frame."""
    return hasattr(X, "get_columns") and hasattr(X, "to_arrow")


def is_frame(X: Any) -> bool:
    """Whether X is a data frame of any library."""
    return hasattr(X, "__arrow_c_stream__") or is_pandas(X)


def column_names(X: Any) -> list[str]:
    """The names of the columns of a frame."""
    by_arrow = not (is_pandas(X) or is_polars(X)) and hasattr(X, "column_names")
    return [str(name) for name in (X.column_names if by_arrow else getattr(X, "columns", ()))]


def cell_of(X: Any, name: str, row: int) -> Any:
    """A cell of a frame."""
    if is_pandas(X):
        return X.iloc[row, column_names(X).index(name)]
    column = X[name] if is_polars(X) else X.column(name)
    return column[row] if is_polars(X) else column[row].as_py()


def without_rows(X: Any) -> Any:
    """A frame of pandas, polars or Arrow without its rows, which has the names and types of its columns; otherwise None."""
    if is_pandas(X):
        return X.iloc[:0]
    if is_polars(X):
        return X.clear()
    return X.slice(0, 0) if hasattr(X, "column_names") and hasattr(X, "slice") else None


def arrow_of(X: Any) -> Any:
    """A frame with the Arrow interface."""
    if is_polars(X):
        return _without_null_types(X)
    if not is_pandas(X):
        return X
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError("pyarrow is needed to read a pandas frame with columns that are not numbers") from error
    refuse_dates(X)
    try:
        return pyarrow.Table.from_pandas(_with_named_intervals(X.rename(columns=str)), preserve_index=False)
    except (pyarrow.ArrowException, TypeError) as error:
        raise _type_error(X) or error from error


def without_sparse(X: Any) -> Any:
    """A frame with sparse columns of pandas made dense."""
    sparse = [place for place, (_, kind) in enumerate(_kinds(X)) if type(kind).__name__ == "SparseDtype"]
    if sparse:
        X = X.copy()
        for place in sparse:
            X.isetitem(place, X.iloc[:, place].sparse.to_dense())
    return X


def boolean_columns_of(X: Any) -> list[str]:
    """The names of the boolean columns of a frame with the Arrow interface."""
    return [str(name) for name, kind in _kinds(X) if str(kind).lower() in ("bool", "boolean")]


def _with_named_intervals(X: Any) -> Any:
    """A pandas frame in which intervals as categories, which `pandas.cut` returns, are strings."""
    categories = {name: getattr(kind, "categories", None) for name, kind in X.dtypes.items()}
    cut = [
        name for name, values in categories.items() if values is not None and str(values.dtype).startswith("interval")
    ]
    return X.assign(**{name: X[name].cat.rename_categories(str) for name in cut}) if cut else X


def _without_null_types(X: Any) -> Any:
    """A polars frame without columns of type Null, which its Arrow interface does not export."""
    import polars

    return X.with_columns(polars.selectors.by_dtype(polars.Null).cast(polars.Float64))


def _type_error(X: Any) -> TypeError | None:
    """The error about the first column with cells of several types, or of a type that Arrow does not support."""
    import pyarrow

    for place, name in enumerate(X.columns):
        column = X.iloc[:, place]
        try:
            pyarrow.array(column, from_pandas=True)
        except (pyarrow.ArrowException, TypeError):
            types = sorted({type(cell).__name__ for cell in column[column.notna()]})
            what = f"the type {types[0] if types else column.dtype}, which is not supported; convert them to numbers or strings"
            if len(types) > 1:
                what = f"several types ({', '.join(types)}); convert them to one type"
            return TypeError(
                f"column {str(name)!r} holds cells of {what}, as by X[{name!r}].astype(str), or leave the column out"
            )
    return None
