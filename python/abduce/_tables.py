"""What users hand over, as tables of the engine."""

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


def own_names(estimator: Any) -> list[str]:
    """The names of the columns of the frame that was fitted; none of an array."""
    return [str(name) for name in getattr(estimator, "feature_names_in_", ())]


def names_of(estimator: Any, width: int) -> list[str]:
    """The names of the columns: those of the frame that was fitted, or x0, x1, and so on."""
    return own_names(estimator) or [f"x{i}" for i in range(width)]


def free_name(wanted: str, taken: Sequence[str]) -> str:
    """A name that no column has."""
    while wanted in taken:
        wanted += "_"
    return wanted


def matches(pattern: str, name: str) -> bool:
    """Whether a column's name is this one, or matches it as a pattern in which `*` is any text."""
    parts = (re.escape(part) for part in pattern.split("*"))
    return pattern == name or re.fullmatch(".*".join(parts), name, re.DOTALL) is not None


# What the engine reads as it lies.
FRACTIONS = [np.float64, np.float32]
NUMBERS = [*FRACTIONS, np.int64, np.int32, np.uint8]


def checked(
    estimator: Any,
    X: Any,
    *,
    reset: bool,
    allow_nan: bool = True,
    accept_sparse: str | list[str] | bool = False,
    dtype: Sequence[type] = FRACTIONS,
) -> Any:
    """X as an array of numbers. Infinite numbers are found by the engine, on the way."""
    X = np.asarray(X) if isinstance(X, (list, tuple)) else tabled(X)
    if is_frame(X):
        refuse_twins(X)
    if reset:
        estimator._like = likeness(X)
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
    """Refuses what the engine refuses on the way, where it is not asked."""
    # As a double: the bound is beyond single precision.
    largest = float(np.nanmax(np.abs(X), initial=0.0))
    if np.isinf(largest):
        raise ValueError(f"Input X contains infinity or a value too large for dtype('{X.dtype}').")
    if largest > 1e150:
        raise ValueError("Input X contains a value beyond 1e150; rescale the column")


def unmasked(estimator: Any, X: Any, allow_nan: bool) -> Any:
    """An array with NaN where another has a mask."""
    if not isinstance(X, np.ma.MaskedArray):
        return X
    if not np.ma.is_masked(X):
        return X.data
    if not allow_nan:
        raise ValueError(f"Input X has masked cells, and {type(estimator).__name__} takes no missing ones.")
    numbers = X.data.astype(np.float32 if X.dtype == np.float32 else np.float64)
    numbers[np.ma.getmaskarray(X)] = np.nan
    return numbers


def refuse_twins(X: Any) -> None:
    """Refuses a frame in which two columns have the same name: questions and answers go by names."""
    for name, times in Counter(column_names(X)).items():
        if times > 1:
            raise ValueError(f"{times} columns of X are called {name!r}; give each a name of its own")


def refuse_dates(X: Any) -> None:
    """Refuses dates and times, which would pass for numbers."""
    for place, (name, kind) in enumerate(_kinds(X)):
        if _is_of_time(kind) or (_is_object(kind) and _has_dates(X if name is None else X.iloc[:, place].to_numpy())):
            where = "X" if name is None else f'column "{name}"'
            raise TypeError(
                f"{where} holds dates or times ({kind}), which no model takes; turn them into numbers or levels, or "
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


def _is_of_time(kind: Any) -> bool:
    if hasattr(kind, "is_temporal"):
        return bool(kind.is_temporal())
    if type(kind).__module__.startswith("pyarrow"):
        import pyarrow.types

        return bool(pyarrow.types.is_temporal(kind))
    return getattr(kind, "kind", "") in ("m", "M") or str(kind).startswith("period")


def tabled(X: Any) -> Any:
    """A batch of Arrow's as a table, of which scikit-learn knows the names; what is yet to be computed is refused."""
    if type(X).__module__.startswith("polars") and type(X).__name__ == "LazyFrame":
        raise TypeError("X is a lazy frame, which has no cells yet; pass X.collect()")
    if type(X).__module__.startswith("pyarrow") and type(X).__name__ == "RecordBatch":
        import pyarrow

        return pyarrow.Table.from_batches([X])
    if _is_column(X):
        raise ValueError(
            f"X is one column, a {type(X).__name__}; X has rows and columns: pass a frame, as of X.to_frame() of pandas or "
            "polars, or an array of two dimensions"
        )
    return X


def _is_column(X: Any) -> bool:
    """Whether X is a column of pandas, polars or Arrow."""
    library = type(X).__module__.split(".")[0]
    names = {"pandas": ("Series",), "polars": ("Series",), "pyarrow": ("Array", "ChunkedArray")}
    return any(own.__name__ in names.get(library, ()) for own in type(X).__mro__)


def weights_of(sample_weight: ArrayLike | None, X: Any) -> Floats | None:
    """Weights as the engine takes them."""
    if sample_weight is None:
        return None
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    return np.require(weights, requirements=["A"])


def _places(columns: list[int], axes: int) -> Any:
    return (..., *np.ix_(*[columns] * axes))


def among(own: Any, columns: list[int], axes: int) -> Floats:
    """Numbers of some columns of all of them, along the last axes of an array."""
    return own[_places(columns, axes)]


def spread(own: Floats, columns: list[int], width: int, axes: int) -> Floats:
    """Numbers of some columns among all of them, along the last axes of an array; NaN for the others."""
    if len(columns) == width or axes == 0:
        return own
    out = np.full(own.shape[:-axes] + (width,) * axes, np.nan)
    out[_places(columns, axes)] = own
    return out


def empty_columns(X: Any) -> NDArray[np.intp]:
    """The columns of an array without a single number; only those that begin with a missing value are looked at."""
    holed = np.flatnonzero(np.isnan(X[0]))
    return holed[np.isnan(X[:, holed]).all(axis=0)]


def native(X: Any) -> Any:
    """An array of numbers as the engine reads them; copied only where it has to be."""
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
    """An array as a table; `labels` are a name, levels and codes, −1 where there is none, and stand last or at a place."""
    return _core.table_of_array(native(X), names, kinds, levels, labels, weights, labels_at)


def sparse(
    X: Any,
    columns: list[str] | int | _core.Model,
    *,
    labels: Labels | None = None,
    weights: Floats | None = None,
    name: str = "x",
) -> _core.Table:
    """A sparse matrix as a table of documents: names of its columns, how many, or a model that knows them."""
    X = X.tocsr()

    def table() -> _core.Table | None:
        starts, indices = (np.require(own, requirements=["C", "A"]) for own in (X.indptr, X.indices))
        values = np.require(X.data, np.float64, ["C", "A"])
        return _core.table_of_sparse(starts, indices, values, columns, name, labels, weights)

    made = table()
    if made is None:
        X = X.copy()
        # A matrix may have been changed since it was said to be in order.
        X.has_canonical_format = False
        X.has_sorted_indices = False
        X.sum_duplicates()
        made = table()
    if made is None:
        raise ValueError("the sparse matrix is not in compressed rows")
    return made


def is_pandas(X: Any) -> bool:
    """Whether X is a frame of pandas."""
    return hasattr(X, "iloc") and hasattr(X, "columns")


def is_polars(X: Any) -> bool:
    """Whether X is a frame of polars."""
    return hasattr(X, "get_columns") and hasattr(X, "to_arrow")


def is_frame(X: Any) -> bool:
    """Whether X is a data frame of some library."""
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


def likeness(X: Any) -> Any:
    """A frame of pandas, polars or Arrow without its rows: its library, the names and the types of its columns; None of
    anything else."""
    if is_pandas(X):
        return X.iloc[:0]
    if is_polars(X):
        return X.clear()
    return X.slice(0, 0) if hasattr(X, "column_names") and hasattr(X, "slice") else None


def arrow_of(X: Any) -> Any:
    """A frame as something that speaks Arrow."""
    if is_polars(X):
        return _without_nulls_alone(X)
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
        raise _of_other_types(X) or error from error


def without_sparse(X: Any) -> Any:
    """A frame in which sparse columns, as pandas has them, are dense."""
    sparse = [place for place, (_, kind) in enumerate(_kinds(X)) if type(kind).__name__ == "SparseDtype"]
    if sparse:
        X = X.copy()
        for place in sparse:
            X.isetitem(place, X.iloc[:, place].sparse.to_dense())
    return X


def truths_of(X: Any) -> list[str]:
    """The columns of truths of a frame that speaks Arrow."""
    return [str(name) for name, kind in _kinds(X) if str(kind).lower() in ("bool", "boolean")]


def _with_named_intervals(X: Any) -> Any:
    """A frame of pandas in which levels that are intervals, as `pandas.cut` makes them, are what they are called."""
    categories = {name: getattr(kind, "categories", None) for name, kind in X.dtypes.items()}
    cut = [name for name, own in categories.items() if own is not None and str(own.dtype).startswith("interval")]
    return X.assign(**{name: X[name].cat.rename_categories(str) for name in cut}) if cut else X


def _without_nulls_alone(X: Any) -> Any:
    """A frame of polars, whose columns of nothing but nulls Arrow's interface does not pass on."""
    import polars

    return X.with_columns(polars.selectors.by_dtype(polars.Null).cast(polars.Float64))


def _of_other_types(X: Any) -> TypeError | None:
    """What to say of the first column whose cells are of types that do not go together, or of none that Arrow knows."""
    import pyarrow

    for place, name in enumerate(X.columns):
        column = X.iloc[:, place]
        try:
            pyarrow.array(column, from_pandas=True)
        except (pyarrow.ArrowException, TypeError):
            types = sorted({type(cell).__name__ for cell in column[column.notna()]})
            what = f"the type {types[0] if types else column.dtype}, which no model takes; make them numbers or levels"
            if len(types) > 1:
                what = f"several types ({', '.join(types)}); make them one type"
            return TypeError(
                f"column {str(name)!r} holds cells of {what}, as by X[{name!r}].astype(str), or leave the column out"
            )
    return None
