"""Labels of the user as classes and codes; some may be missing."""

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._missing import is_pandas_na
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from abduce import _core
from abduce._types import Codes, Target


def is_missing_value(cell: object) -> bool:
    """Whether a cell is None, NaN or pandas' NA."""
    return cell is None or (isinstance(cell, float) and math.isnan(cell)) or is_pandas_na(cell)


def labels_of(y: Target) -> NDArray[Any]:
    """Labels as one column, with None for masked values and nulls."""
    return np.require(np.asarray(column_or_1d(_without_masks(y), warn=True)), requirements=["A"])


def _without_masks(y: Any) -> Any:
    if isinstance(y, np.ma.MaskedArray):
        return _with_none(y.data, np.ma.getmaskarray(y))
    kind = getattr(y, "dtype", None)
    if hasattr(y, "isna") and kind is not None and not isinstance(kind, np.dtype):
        return _with_none(np.asarray(y.astype(object)), np.asarray(y.isna()))
    # The number of nulls is an attribute in Arrow and a method in polars.
    nulls = getattr(y, "null_count", 0)
    if hasattr(y, "to_pylist") and nulls:
        return np.array(y.to_pylist(), dtype=object)
    if callable(nulls) and hasattr(y, "to_list") and nulls():
        return np.array(y.to_list(), dtype=object)
    return y


def _with_none(y: NDArray[Any], missing: NDArray[np.bool_]) -> NDArray[Any]:
    if not missing.any():
        return y
    y = y.astype(object)
    y[missing] = None
    return y


def is_missing(y: NDArray[Any], missing_label: object) -> NDArray[np.bool_]:
    """Which labels are missing: None, NaN and `missing_label`."""
    if y.dtype.kind == "f":
        missing = np.isnan(y)
    elif y.dtype.kind == "O":
        missing = np.array([is_missing_value(label) for label in y], dtype=bool)
    else:
        missing = np.zeros(len(y), dtype=bool)
    if not is_missing_value(missing_label):
        missing |= np.asarray(y == missing_label, dtype=bool)
    return missing


def with_plain_type(labels: NDArray[Any]) -> NDArray[Any]:
    """Labels with dtype object, because some were missing, as booleans, numbers or strings if they are."""
    if labels.dtype.kind != "O":
        return labels
    kinds = {type(label) for label in labels.tolist()}
    families = ((str,), np.str_), ((bool, np.bool_), np.bool_), ((Integral, np.bool_), np.int64), ((Real,), np.float64)
    for family, dtype in families:
        if all(issubclass(kind, family) for kind in kinds):
            return labels.astype(dtype)
    return labels


def encoded(y: Target, missing_label: object = None, classes: NDArray[Any] | None = None) -> tuple[NDArray[Any], Codes]:
    """The classes, and the code of each label: −1 if it is missing."""
    y = labels_of(y)
    if y.dtype.kind not in "biufUSO":
        y = np.array(y.tolist(), dtype=object)
    if classes is None and y.dtype.kind in "iu" and is_missing_value(missing_label):
        found = _core.classes_of(y.astype(np.int64, copy=False)) if y.dtype != np.uint64 else None
        # With more classes, scikit-learn may warn below.
        if found and 2 * len(found[0]) <= len(y):
            return found[0].astype(y.dtype, copy=False), found[1]
    missing = is_missing(y, missing_label)
    seen = y[~missing]
    if len(seen) == 0:
        raise ValueError("no row has a label")
    seen = with_plain_type(seen)
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
    all_codes = np.full(len(y), -1, dtype=np.int64)
    all_codes[~missing] = codes
    return classes, all_codes


def levels_of(classes: NDArray[Any]) -> list[str]:
    """The names of the classes in a model file."""
    return [str(label) for label in classes.tolist()]


def classes_of(levels: Sequence[str], kind: str | None = None) -> NDArray[Any]:
    """The classes of a model file as whole numbers, numbers or strings."""
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
