"""Specifications and options of fits as JSON: the defaults of the library with changes."""

import functools
import json
from typing import Any

import numpy as np

from abduce import _core


def dumped(value: Any) -> str:
    """Parameters as JSON, with NumPy scalars and arrays as numbers and lists."""
    return json.dumps(value, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"a parameter must be a number, a string or a list of them, not {value!r}")


@functools.cache
def _defaults(model: str) -> str:
    return _core.defaults(model)


def defaults(model: str) -> dict[str, Any]:
    """The defaults of a model, as on the command line: `specification` and `options`."""
    return json.loads(_defaults(model))


def naive_bayes(**changes: Any) -> str:
    """The default specification of naive Bayes with some changes."""
    return dumped(defaults("naive-bayes")["specification"] | changes)


def gda(**changes: Any) -> str:
    """The default specification of Gaussian discriminant analysis with some changes."""
    return dumped(defaults("gda")["specification"] | changes)


def mixture(**changes: Any) -> str:
    """The default specification of a mixture with some changes."""
    return dumped(defaults("mixture")["specification"] | changes)


def options(em: dict[str, Any] | None = None, **changes: Any) -> str:
    """The default options of a fit with some changes."""
    default = defaults("mixture")["options"]
    return dumped(default | changes | {"em": default["em"] | (em or {})})


def by_column(parameter: str, given: dict[str, str] | None) -> list[tuple[str, str]]:
    """A parameter with a value for some columns, as pairs."""
    for column, value in (given or {}).items():
        if not (isinstance(column, str) and isinstance(value, str)):
            raise TypeError(f"{parameter} must be a dict of strings by column name, but it has {column!r}: {value!r}")
    return list((given or {}).items())


def smoothed(smoothing: float | str) -> dict[str, Any]:
    """The smoothing of a specification: a pseudocount, or an m-estimate such as "m=2" or "m=2,pooled"."""
    return {"m_estimate": smoothing} if isinstance(smoothing, str) else {"smoothing": smoothing}


def together(covariance: str, counts: bool = False) -> dict[str, Any]:
    """One Gaussian for all real columns and, with `counts`, the counts."""
    return {"Together": {"covariance": covariance, "counts": counts}}
