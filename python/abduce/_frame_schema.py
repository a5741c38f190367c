"""The library and the column types of the fitted frame in model files.

Types are written by name, and only known names are read.
"""

import re
from typing import Any

from abduce._tables import is_pandas, is_polars

PANDAS = re.compile(
    r"(u?int|float)(8|16|32|64)|(U?Int|Float)(8|16|32|64)|bool|boolean|object|str|string"
    r"|(u?int(8|16|32|64)|float|double|bool|string|large_string)\[pyarrow\]"
)
POLARS = re.compile(r"U?Int(8|16|32|64)|Float(32|64)|Boolean|String|Categorical")
# The names of Arrow types, and the pyarrow functions that create them.
ARROW = {f"{sign}int{bits}": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
ARROW |= {"float": "float32", "double": "float64", "bool": "bool_", "string": "string", "large_string": "large_string"}


def description(frame: Any) -> dict[str, Any]:
    """A frame without rows as JSON; columns whose types have no known name are left out."""
    if is_pandas(frame):
        columns = [(str(name), _pandas_name(kind)) for name, kind in frame.dtypes.items()]
        library = "pandas"
    elif is_polars(frame):
        columns = [(name, str(kind) if POLARS.fullmatch(str(kind)) else None) for name, kind in frame.schema.items()]
        library = "polars"
    else:
        columns = [(field.name, str(field.type) if str(field.type) in ARROW else None) for field in frame.schema]
        library = "pyarrow"
    return {"library": library, "columns": [[name, kind] for name, kind in columns if kind is not None]}


def _pandas_name(kind: Any) -> Any:
    import pandas

    if not isinstance(kind, pandas.CategoricalDtype):
        return str(kind) if PANDAS.fullmatch(str(kind)) else None
    categories = kind.categories.tolist()
    return {"categories": categories, "ordered": bool(kind.ordered)} if _are_plain(categories) else None


def _are_plain(categories: Any) -> bool:
    return isinstance(categories, list) and all(
        isinstance(category, (str, int, float, bool)) for category in categories
    )


def empty_frame(description: Any) -> Any:
    """The frame without rows that a file describes; None if its library is not installed."""
    library, columns = description.get("library"), description.get("columns")
    makers = {"pandas": _empty_pandas, "polars": _empty_polars, "pyarrow": _empty_arrow}
    if (
        set(description) != {"library", "columns"}
        or not isinstance(library, str)
        or library not in makers
        or not isinstance(columns, list)
    ):
        raise ValueError("the file describes an unknown frame")
    for column in columns:
        if not (isinstance(column, list) and len(column) == 2 and isinstance(column[0], str)):
            raise ValueError("the file has malformed columns of a frame")
    try:
        return makers[library](columns)
    except ImportError:
        return None


def _refuse(kind: Any) -> None:
    raise ValueError(f"the file has a column of a frame of unknown type {kind!r}")


def _empty_pandas(columns: list[list[Any]]) -> Any:
    import pandas

    types: dict[str, Any] = {}
    for name, kind in columns:
        if isinstance(kind, dict) and set(kind) == {"categories", "ordered"} and _are_plain(kind["categories"]):
            types[name] = pandas.CategoricalDtype(kind["categories"], ordered=bool(kind["ordered"]))
        elif isinstance(kind, str) and PANDAS.fullmatch(kind):
            types[name] = kind
        else:
            _refuse(kind)
    return pandas.DataFrame({name: pandas.Series([], dtype=kind) for name, kind in types.items()})


def _empty_polars(columns: list[list[Any]]) -> Any:
    import polars

    for _, kind in columns:
        if not (isinstance(kind, str) and POLARS.fullmatch(kind)):
            _refuse(kind)
    return polars.DataFrame(schema={name: getattr(polars, kind) for name, kind in columns})


def _empty_arrow(columns: list[list[Any]]) -> Any:
    import pyarrow

    for _, kind in columns:
        if not (isinstance(kind, str) and kind in ARROW):
            _refuse(kind)
    return pyarrow.schema([(name, getattr(pyarrow, ARROW[kind])()) for name, kind in columns]).empty_table()
