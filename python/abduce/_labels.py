"""Labels: classes as users know them, codes as the engine does; some may be missing."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from abduce import _core
from abduce._types import Codes, Target


def is_hole(cell: object) -> bool:
    """Whether a cell is None or NaN."""
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def is_missing(y: NDArray[Any], missing_label: object) -> NDArray[np.bool_]:
    """Which labels are missing: None and NaN, and what is said to stand for a missing one."""
    if y.dtype.kind == "f":
        missing = np.isnan(y)
    elif y.dtype.kind == "O":
        missing = np.array([is_hole(label) for label in y], dtype=bool)
    else:
        missing = np.zeros(len(y), dtype=bool)
    if not is_hole(missing_label):
        missing |= np.asarray(y == missing_label, dtype=bool)
    return missing


def encoded(y: Target, missing_label: object = None, classes: NDArray[Any] | None = None) -> tuple[NDArray[Any], Codes]:
    """The classes, and the code of each label; −1 where it is missing."""
    y = np.asarray(column_or_1d(y, warn=True))
    if y.dtype.kind not in "biufUSO":
        y = np.array(y.tolist(), dtype=object)
    if classes is None and y.dtype.kind in "iu" and is_hole(missing_label):
        found = _core.classes_of(y.astype(np.int64, copy=False)) if y.dtype != np.uint64 else None
        # Of a label for every other row, scikit-learn has something to say.
        if found and 2 * len(found[0]) <= len(y):
            return found[0].astype(y.dtype, copy=False), found[1]
    missing = is_missing(y, missing_label)
    seen = y[~missing]
    if len(seen) == 0:
        raise ValueError("no row has a label")
    if seen.dtype.kind == "O":
        kinds = {type(label) for label in seen.tolist()}
        if kinds <= {str, np.str_}:
            seen = seen.astype(str)
        elif kinds <= {bool, np.bool_}:
            seen = seen.astype(bool)
        elif kinds <= {int, np.int64, bool}:
            seen = seen.astype(np.int64)
        elif kinds <= {int, float, np.float64}:
            seen = seen.astype(np.float64)
    check_classification_targets(seen)
    if classes is None:
        classes, codes = np.unique(seen, return_inverse=True)
    else:
        codes = np.searchsorted(classes, seen)
        codes = np.minimum(codes, len(classes) - 1)
        unknown = seen[classes[codes] != seen]
        if len(unknown):
            raise ValueError(
                f"The target label(s) {np.unique(unknown)} in y do not exist in the initial classes {classes}"
            )
    # Whole numbers become fractions beside a NaN; they are labels all the same.
    if missing.any() and classes.dtype.kind == "f" and (classes == np.round(classes)).all():
        classes = classes.astype(np.int64)
    all_codes = np.full(len(y), -1, dtype=np.int64)
    all_codes[~missing] = codes
    return classes, all_codes


def levels_of(classes: NDArray[Any]) -> list[str]:
    """The classes as they stand in the model file."""
    return [str(label) for label in classes.tolist()]


def classes_of(levels: Sequence[str], kind: str | None = None) -> NDArray[Any]:
    """The classes of a model file: whole numbers, numbers or words."""
    if kind == "b":
        return np.array([level == "True" for level in levels])
    if kind in ("U", "O"):
        return np.array(levels)
    for number in (np.int64, np.float64):
        try:
            numbers = np.array(levels, dtype=object).astype(number)
        except (ValueError, OverflowError):
            continue
        if [str(number) for number in numbers.tolist()] == list(levels):
            return numbers
    return np.array(levels)
