"""Columns of strings most of which are numbers, such as those in which a word stands for missing values.

Such a column is read as categories, which is seldom intended. Strings all of which are numbers, and columns of a type
for categories, are taken to be categories on purpose, without a warning.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from abduce._base import warn
from abduce._tables import is_pandas, is_polars, matches

NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")
# About how many cells are read to decide whether all cells of a column are counted.
SAMPLE = 200
# The number of columns that a warning names.
NAMED = 3

# Two functions: the evenly spaced cells of a column, one for each step, and the number of cells of each string.
Strings = tuple[Callable[[int], Sequence[Any]], Callable[[], dict[str, int]]]


def warn_of_number_strings(X: Any, patterns: Sequence[str]) -> None:
    """Warns about columns of strings most of which are numbers, except those whose names match a pattern."""
    found = []
    for name, strings in _string_columns(X):
        if any(matches(pattern, name) for pattern in patterns):
            continue
        numbers, others = _numbers_and_others(len(X), *strings)
        if others and numbers > sum(others.values()):
            found.append((name, numbers, others))
    if not found:
        return
    name, numbers, others = found[0]
    # A share just below 1 is not rounded to 100%.
    percent = min(round(100 * numbers / (numbers + sum(others.values())), 1), 99.9)
    example = min(others, key=lambda text: (-others[text], text))
    more = [f'"{name}"' for name, *_ in found[1:NAMED]]
    if len(found) > NAMED:
        more.append(f"{len(found) - NAMED} more columns")
    too = f" (the same holds for {' and '.join(more)})" if more else ""
    warn(
        f'column "{name}" holds strings; {percent:g}% of them are numbers, but "{example}" is not, so the column is not '
        f"read as numbers{too}; name the words for missing values when you read the file (null_values= in polars, "
        "na_values= in pandas) or convert the column to numbers; if its values are categories, pass "
        f'kinds={{"{name}": "categorical"}}'
    )


def _numbers_and_others(
    rows: int, sample: Callable[[int], Sequence[Any]], count: Callable[[], dict[str, int]]
) -> tuple[int, dict[str, int]]:
    """The number of cells that are numbers, and the number of cells of each other string that is not blank."""
    # Most columns of strings have no numbers, and counting all their cells takes longer.
    if not any(isinstance(cell, str) and NUMBER.fullmatch(cell) for cell in sample(max(1, rows // SAMPLE))):
        return 0, {}
    counts = {text: cells for text, cells in count().items() if text.strip()}
    others = {text: cells for text, cells in counts.items() if not NUMBER.fullmatch(text)}
    return sum(counts.values()) - sum(others.values()), others


def _string_columns(X: Any) -> Iterator[tuple[str, Strings]]:
    """The columns of strings of a frame by their names."""
    if is_polars(X):
        for name, kind in X.schema.items():
            if str(kind) == "String":
                yield name, _of_polars(X[name])
    elif is_pandas(X):
        for place, kind in enumerate(X.dtypes):
            if str(kind) in ("object", "str", "string") or str(kind).endswith("string[pyarrow]"):
                yield str(X.columns[place]), _of_pandas(X.iloc[:, place])
    else:
        for field in X.schema:
            if str(field.type) in ("string", "large_string", "string_view"):
                yield field.name, _of_arrow(X.column(field.name))


def _of_pandas(column: Any) -> Strings:
    def count() -> dict[str, int]:
        try:
            counts = column.value_counts(sort=False).to_dict()
        except TypeError:
            # Cells that cannot be counted, such as lists, are refused later.
            return {}
        return counts if all(isinstance(cell, str) for cell in counts) else {}

    return lambda step: column.iloc[::step].tolist(), count


def _of_polars(column: Any) -> Strings:
    return lambda step: column.gather_every(step).to_list(), lambda: dict(
        column.drop_nulls().value_counts().iter_rows()
    )


def _of_arrow(column: Any) -> Strings:
    import pyarrow

    def count() -> dict[str, int]:
        # Arrow cannot count the cells of string views.
        counts = column.cast(pyarrow.large_string()).drop_null().value_counts()
        return dict(zip(counts.field("values").to_pylist(), counts.field("counts").to_pylist(), strict=True))

    return lambda step: [column[row].as_py() for row in range(0, len(column), step)], count
