"""Frames with their missing values filled; library and column types are preserved.

Columns of integers are filled with whole numbers, clipped to the range of their type. Missing values are nulls and NaN.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abduce._tables import is_frame, is_pandas, is_polars
from abduce._types import Codes, Floats


@dataclass
class ImputedColumn:
    """The completed cells of a column: numbers, or codes of levels, where the code after the last level is unknown."""

    cells: Floats | Codes
    levels: list[str] | None = None

    def select(self, missing: NDArray[np.bool_]) -> "ImputedColumn":
        """Some of the cells."""
        return ImputedColumn(self.cells[missing], self.levels)

    def numbers(self) -> Floats:
        """The cells as numbers; NaN for levels that are not numbers."""
        if self.levels is None:
            return np.asarray(self.cells, dtype=np.float64)
        return np.array([*map(_number, self.levels), np.nan])[self.cells]

    def booleans(self) -> NDArray[np.object_] | None:
        """The cells as True, False and None, if they are boolean."""
        if self.levels is None:
            return self.cells.astype(bool).astype(object) if np.isin(self.cells, [0.0, 1.0]).all() else None
        known = {"false": False, "true": True, "0": False, "1": True}
        if not {level.lower() for level in self.levels} <= set(known):
            return None
        return np.array([*(known[level.lower()] for level in self.levels), None], dtype=object)[self.cells]

    def strings(self) -> NDArray[np.object_]:
        """The cells as strings."""
        if self.levels is not None:
            return self.names()
        text = [None if np.isnan(x) else str(int(x)) if x == np.round(x) else str(x) for x in self.cells.tolist()]
        return np.array(text, dtype=object)

    def names(self) -> NDArray[np.object_]:
        """The cells as names of levels, or as numbers."""
        if self.levels is None:
            return self.cells.astype(object)
        return np.array([*self.levels, None], dtype=object)[self.cells]


def _number(level: str) -> float:
    try:
        return float(level)
    except ValueError:
        return {"true": 1.0, "false": 0.0}.get(level.lower(), np.nan)


def integer_type(kind: Any) -> Any:
    """The NumPy type of a column of integers, from a type of any library; None for other columns."""
    if type(kind).__module__.startswith("pyarrow"):
        from pyarrow import types

        return np.dtype(kind.to_pandas_dtype()) if types.is_integer(kind) else None
    if getattr(kind, "kind", "O") not in "iu":
        return None
    # Nullable pandas types have a NumPy type, sparse ones a subtype.
    return np.dtype(getattr(kind, "numpy_dtype", getattr(kind, "subtype", kind)))


def integer_types(like: Any) -> dict[str, Any]:
    """The NumPy types of the integer columns of a frame, by name."""
    if like is None:
        return {}
    if is_pandas(like):
        kinds = {str(name): kind for name, kind in like.dtypes.items()}
    else:
        kinds = {field.name: field.type for field in (like.to_arrow() if is_polars(like) else like).schema}
    found = {name: integer_type(kind) for name, kind in kinds.items()}
    return {name: kind for name, kind in found.items() if kind is not None}


def integers_of(numbers: Floats, kind: Any) -> NDArray[np.integer]:
    """Numbers rounded and clipped to the range of an integer type."""
    bounds = np.iinfo(kind)
    # The double nearest to the largest 64-bit integer is above it.
    most = np.float64(bounds.max)
    most = np.nextafter(most, 0.0) if int(most) > bounds.max else most
    return np.clip(np.round(numbers), float(bounds.min), most).astype(kind)


def missing_cells(X: Any) -> NDArray[np.bool_]:
    """Which cells of an array or a frame are missing."""
    if not is_frame(X):
        return np.isnan(X)
    if is_pandas(X):
        return X.isna().to_numpy()
    import pyarrow.compute

    table = X.to_arrow() if is_polars(X) else pyarrow.table(X)
    return np.column_stack([pyarrow.compute.is_null(column, nan_is_null=True) for column in table.columns])


def filled(X: Any, fillings: Mapping[str, ImputedColumn]) -> Any:
    """A frame with missing values filled in the columns that are completed."""
    if is_pandas(X):
        return _filled_pandas(X, fillings)
    return _filled_polars(X, fillings) if is_polars(X) else _filled_arrow(X, fillings)


def frame_like(columns: Mapping[str, NDArray[Any]], like: Any) -> Any:
    """Columns as a frame with the types of another, if they can hold the cells; further columns are last."""
    if is_pandas(like):
        import pandas

        kinds = {str(name): kind for name, kind in like.dtypes.items() if str(name) in columns}
        columns = {name: _converted(cells, kinds.get(name)) for name, cells in columns.items()}
        out = pandas.DataFrame(columns)
        for name, kind in kinds.items():
            if isinstance(kind, pandas.CategoricalDtype):
                out[name] = out[name].map({_level(category): category for category in kind.categories})
        return out.astype({name: kind for name, kind in kinds.items() if _holds(kind, columns[name])})
    import pyarrow

    types = {field.name: field.type for field in (like.to_arrow() if is_polars(like) else like).schema}
    cells = {name: _converted(drawn, types.get(name)).tolist() for name, drawn in columns.items()}
    made = {}
    for name, column in cells.items():
        try:
            made[name] = pyarrow.array(column, types.get(name))
        except (pyarrow.ArrowException, TypeError, NotImplementedError):
            made[name] = pyarrow.array(column)
    table = pyarrow.table(made)
    if not is_polars(like):
        return table
    import polars

    return polars.DataFrame(table).cast({name: kind for name, kind in like.schema.items() if name in cells})


def _is_floating(kind: Any) -> bool:
    """Whether a type of pandas or Arrow is floating-point."""
    if type(kind).__module__.startswith("pyarrow"):
        from pyarrow import types

        return bool(types.is_floating(kind))
    return getattr(kind, "kind", "O") == "f"


def _converted(cells: NDArray[Any], kind: Any) -> NDArray[Any]:
    """Drawn cells converted for a type: levels to numbers, and integers into its range."""
    integer = integer_type(kind)
    if integer is None and not _is_floating(kind):
        return cells
    if cells.dtype.kind in "Ob":
        numbers = np.array([np.nan if cell is None else _number(str(cell)) for cell in cells.tolist()])
        if np.isnan(numbers).any():
            return cells
        cells = numbers
    if integer is None:
        return cells
    missing = np.isnan(cells)
    if not missing.any():
        return integers_of(cells, integer)
    out = np.full(len(cells), None, dtype=object)
    out[~missing] = integers_of(cells[~missing], integer)
    return out


def _holds(kind: Any, cells: NDArray[Any]) -> bool:
    """Whether a pandas type can hold cells without changing them."""
    if integer_type(kind) is None:
        # Objects keep their types.
        return not (isinstance(kind, np.dtype) and kind.kind == "O")
    # NumPy integers cannot be missing.
    is_nullable = not isinstance(kind, np.dtype)
    return all(isinstance(cell, int) or (is_nullable and cell is None) for cell in cells.tolist())


def with_columns_at(X: Any, places: NDArray[np.intp]) -> Any:
    """Some columns of a frame."""
    if is_pandas(X):
        return X.iloc[:, places]
    return X[:, places.tolist()] if is_polars(X) else X.select(places.tolist())


def with_columns(X: Any, columns: Mapping[str, NDArray[Any]]) -> Any:
    """A frame with further columns."""
    if is_pandas(X):
        return X.assign(**columns)
    if is_polars(X):
        import polars

        return X.with_columns([polars.Series(name, cells) for name, cells in columns.items()])
    import pyarrow

    for name, cells in columns.items():
        X = X.append_column(name, pyarrow.array(cells))
    return X


def as_library(X: Any, library: str) -> Any:
    """A frame converted to the library of `set_output`, if one is set."""
    if library == "pandas" and not is_pandas(X):
        return X.to_pandas()
    if library == "polars" and not is_polars(X):
        import polars

        return polars.from_pandas(X) if is_pandas(X) else polars.from_arrow(X)
    return X


def _filled_pandas(X: Any, fillings: Mapping[str, ImputedColumn]) -> Any:
    out = X.copy()
    for place, name in enumerate(X.columns):
        column = X.iloc[:, place]
        missing = column.isna().to_numpy()
        if missing.any() and str(name) in fillings:
            out.isetitem(place, _pandas_column(column, missing, fillings[str(name)].select(missing)))
    return out


def _pandas_column(column: Any, missing: NDArray[np.bool_], filling: ImputedColumn) -> Any:
    import pandas
    from pandas.api import types

    kind = column.dtype
    if isinstance(kind, pandas.CategoricalDtype) and filling.levels is not None:
        category_of = {_level(category): category for category in kind.categories}
        cells = [category_of.get(level, level) for level in filling.names()]
        unknown = [level for level in dict.fromkeys(cells) if level is not None and level not in kind.categories]
        return _put(column.cat.add_categories(unknown) if unknown else column, missing, cells)
    if types.is_bool_dtype(kind) and (booleans := filling.booleans()) is not None:
        return _put(column, missing, booleans)
    if (integer := integer_type(kind)) is not None:
        known, numbers = _known(missing, filling)
        return _put(column, known, integers_of(numbers, integer))
    if types.is_numeric_dtype(kind):
        numbers = filling.numbers()
        cells = numbers.astype(kind) if isinstance(kind, np.dtype) else numbers
        return _put(column.astype(kind if kind.kind == "f" else _floating_type(kind)), missing, cells)
    if types.is_object_dtype(kind):
        return _object_column(column, missing, filling)
    if missing.all() and not filling.levels:
        return _put(column.astype(object), missing, filling.names())
    return _put(column, missing, filling.strings())


def _object_column(column: Any, missing: NDArray[np.bool_], filling: ImputedColumn) -> Any:
    """A column of objects, whose cells determine its type."""
    seen = {type(cell) for cell in column[~missing]}
    booleans = filling.booleans()
    if seen and seen <= {bool, np.bool_} and booleans is not None:
        out = _put(column, missing, booleans)
        # Booleans had dtype object only because of missing values.
        return out if out.isna().any() else out.astype(bool)
    if not seen and filling.levels is None:
        return _put(column.astype(np.float64), missing, filling.numbers())
    if seen and not any(issubclass(kind, str) for kind in seen):
        known, numbers = _known(missing, filling)
        if all(issubclass(kind, Integral) for kind in seen):
            return _put(column, known, [int(number) for number in np.round(numbers)])
        return _put(column, known, numbers)
    return _put(column, missing, filling.strings())


def _put(column: Any, missing: NDArray[np.bool_], cells: Any) -> Any:
    out = column.copy()
    out.iloc[np.flatnonzero(missing)] = cells
    return out


def _level(category: object) -> str:
    """The name of a category in the library."""
    if isinstance(category, (bool, np.bool_)):
        return str(category).lower()
    if isinstance(category, float) and category.is_integer():
        return str(int(category))
    return str(category)


def _known(missing: NDArray[np.bool_], filling: ImputedColumn) -> tuple[NDArray[np.bool_], Floats]:
    """The missing cells that are completed with a number, and these numbers."""
    numbers = filling.numbers()
    known = missing.copy()
    known[missing] = ~np.isnan(numbers)
    return known, numbers[~np.isnan(numbers)]


def _floating_type(kind: Any) -> Any:
    """The nullable floating-point type of the same backend."""
    import pandas

    if isinstance(kind, pandas.ArrowDtype):
        import pyarrow

        return pandas.ArrowDtype(pyarrow.float64())
    return pandas.Float64Dtype()


def _filled_polars(X: Any, fillings: Mapping[str, ImputedColumn]) -> Any:
    import polars

    out = []
    for column in X.get_columns():
        cells = column.to_arrow()
        done = _filled_column(cells, fillings.get(column.name))
        if done is not cells:
            made = polars.Series(column.name, done)
            out.append(made.cast(column.dtype) if column.dtype in (polars.Categorical, polars.Enum) else made)
    return X.with_columns(out)


def _filled_arrow(X: Any, fillings: Mapping[str, ImputedColumn]) -> Any:
    import pyarrow

    X = pyarrow.table(X)
    for place, name in enumerate(X.column_names):
        cells = X.column(place)
        done = _filled_column(cells, fillings.get(name))
        if done is not cells:
            X = X.set_column(place, name, done)
    return X


def _filled_column(column: Any, filling: ImputedColumn | None) -> Any:
    """A filled Arrow column; the same object if there is nothing to fill."""
    import pyarrow
    import pyarrow.compute

    missing = np.asarray(pyarrow.compute.is_null(column, nan_is_null=True))
    if filling is None or not missing.any():
        return column
    whole = column.combine_chunks() if isinstance(column, pyarrow.ChunkedArray) else column
    return _arrow_column(whole, missing, filling.select(missing))


def _arrow_column(column: Any, missing: NDArray[np.bool_], filling: ImputedColumn) -> Any:
    import pyarrow
    from pyarrow import types

    kind = column.type
    if types.is_dictionary(kind):
        return _dictionary_column(column, missing, filling)
    if types.is_boolean(kind) and (booleans := filling.booleans()) is not None:
        return _replaced(column, missing, pyarrow.array(booleans, kind))
    if (integer := integer_type(kind)) is not None:
        known, numbers = _known(missing, filling)
        return _replaced(column, known, pyarrow.array(integers_of(numbers, integer), kind))
    if types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind):
        kind = kind if types.is_floating(kind) else pyarrow.float64()
        return _replaced(column.cast(kind), missing, pyarrow.array(filling.numbers()).cast(kind))
    if types.is_null(kind):
        value_type = pyarrow.float64() if filling.levels is None else pyarrow.string()
        return _replaced(column.cast(value_type), missing, pyarrow.array(filling.names(), value_type))
    text = [None if level is None else str(level) for level in filling.names()]
    # Arrow cannot replace cells of string views.
    plain = column.cast(pyarrow.large_string())
    return _replaced(plain, missing, pyarrow.array(text, pyarrow.large_string())).cast(kind)


def _dictionary_column(column: Any, missing: NDArray[np.bool_], filling: ImputedColumn) -> Any:
    """A dictionary column, with unknown levels appended to its dictionary."""
    import pyarrow
    import pyarrow.compute

    kind = column.type
    levels = pyarrow.compute.cast(column.dictionary, pyarrow.large_string())
    new = [level for level in dict.fromkeys(filling.names()) if level is not None and level not in levels.to_pylist()]
    levels = pyarrow.concat_arrays([levels, pyarrow.array(map(str, new), pyarrow.large_string())])
    text = pyarrow.array([None if level is None else str(level) for level in filling.names()], pyarrow.large_string())
    places = pyarrow.compute.index_in(text, value_set=levels).cast(kind.index_type)
    return pyarrow.DictionaryArray.from_arrays(
        _replaced(column.indices, missing, places), levels.cast(kind.value_type), ordered=kind.ordered
    )


def _replaced(column: Any, missing: NDArray[np.bool_], cells: Any) -> Any:
    import pyarrow
    import pyarrow.compute

    return pyarrow.compute.replace_with_mask(column, pyarrow.array(missing), cells)
