"""What is asked of the engine, as it reads it: its own defaults, and what an estimator changes of them."""

import functools
import json
from typing import Any

import numpy as np

from abduce import _core


def dumped(value: Any) -> str:
    """Parameters as JSON. Scalars and arrays of NumPy are the numbers they hold."""
    return json.dumps(value, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"a parameter is {value!r}, which is not a number, a word or a list of them")


@functools.cache
def _defaults(model: str) -> str:
    return _core.defaults(model)


def defaults(model: str) -> dict[str, Any]:
    """What the engine, and so the command line, fits a model with: `specification` and `options`."""
    return json.loads(_defaults(model))


def naive_bayes(**changes: Any) -> str:
    """A specification of naive Bayes: the usual one with some changes."""
    return dumped(defaults("naive-bayes")["specification"] | changes)


def gda(**changes: Any) -> str:
    """A specification of Gaussian discriminants: the usual one with some changes."""
    return dumped(defaults("gda")["specification"] | changes)


def mixture(**changes: Any) -> str:
    """A specification of a mixture: the usual one with some changes."""
    return dumped(defaults("mixture")["specification"] | changes)


def options(em: dict[str, Any] | None = None, **changes: Any) -> str:
    """Options of a fit: the usual ones with some changes."""
    usual = defaults("mixture")["options"]
    return dumped(usual | changes | {"em": usual["em"] | (em or {})})


def by_column(parameter: str, given: dict[str, str] | None) -> list[tuple[str, str]]:
    """What a parameter says of columns, by their names."""
    for column, own in (given or {}).items():
        if not (isinstance(column, str) and isinstance(own, str)):
            raise TypeError(f"{parameter} is a dict of strings by the names of columns, and has {column!r}: {own!r}")
    return list((given or {}).items())


def smoothed(smoothing: float | str) -> dict[str, Any]:
    """A pseudocount, or "m=2" and "m=2,pooled" for the m-estimate."""
    return {"m_estimate": smoothing} if isinstance(smoothing, str) else {"smoothing": smoothing}


def together(covariance: str, counts: bool = False) -> dict[str, Any]:
    """Real numbers in one Gaussian, and counts too where it is said so."""
    return {"Together": {"covariance": covariance, "counts": counts}}
