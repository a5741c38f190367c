"""Distributions by name, and estimation of their parameters.

>>> from abduce import families
>>> round(families.gamma(2, 0.5).mean, 6)
4.0
>>> report = families.estimate("bernoulli", [1, 1, 0, 1], prior="beta(2,2)")
>>> report["posterior"]["name"]
'beta'
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from abduce import _core
from abduce._types import Floats, Seed

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Distribution:
    """A distribution of one number: `Distribution("gamma", 2, 0.5)`, or `families.gamma(2, 0.5)`.

    Parameters
    ----------
    name : str
        Name of the distribution.
    *numbers : float
        Parameters, in the order of the command line.
    **named : float
        Parameters by name: `families.gamma(shape=2, rate=0.5)`.

    Attributes
    ----------
    name : str
        Name of the distribution.
    numbers : tuple of float
        Parameters.
    """

    def __init__(self, name: str, *numbers: float, **named: float) -> None:
        self.name = name.replace("_", "-")
        self.numbers = tuple(float(x) for x in (*numbers, *_in_order(self.name, len(numbers), named)))
        self._distribution = _core.Distribution(self.name, list(self.numbers))

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(f'{x:g}' for x in self.numbers)})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Distribution):
            return NotImplemented
        return (self.name, self.numbers) == (other.name, other.numbers)

    def __hash__(self) -> int:
        return hash((self.name, self.numbers))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Distribution, (self.name, *self.numbers))

    @staticmethod
    def _each(ask: Callable[[Floats], Floats], x: ArrayLike) -> Any:
        x = np.asarray(x, dtype=np.float64)
        return ask(np.require(x, requirements=["C", "A"]).ravel()).reshape(x.shape)[()]

    def logpdf(self, x: ArrayLike) -> Any:
        """The log-density, or the log-probability of a whole number."""
        return self._each(self._distribution.log_density, x)

    def pdf(self, x: ArrayLike) -> Any:
        """The density, or the probability of a whole number."""
        return np.exp(self.logpdf(x))

    def cdf(self, x: ArrayLike) -> Any:
        """The probability of a number of at most x."""
        return self._each(self._distribution.cdf, x)

    def sf(self, x: ArrayLike) -> Any:
        """The probability of a number above x."""
        return self._each(self._distribution.survival, x)

    def ppf(self, p: ArrayLike) -> Any:
        """The quantile of p."""
        return self._each(self._distribution.quantile, p)

    def rvs(self, size: int | tuple[int, ...] = 1, random_state: Seed = None) -> Floats:
        """Random numbers; the same ones for the same int as `random_state`."""
        from abduce._base import refuse_beyond_memory, seed_of

        lengths = np.atleast_1d(np.asarray(size, dtype=object)).tolist()
        if not all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) and n >= 0 for n in lengths):
            raise ValueError(f"size must be one or several non-negative whole numbers, not {size!r}")
        lengths = [int(n) for n in lengths]
        count = math.prod(lengths)
        refuse_beyond_memory(count, f"size={size}")
        return self._distribution.draw(count, seed_of(random_state)).reshape(lengths)

    @property
    def mean(self) -> float | None:
        """The mean; None if it does not exist."""
        return self._distribution.moments()[0]

    @property
    def variance(self) -> float | None:
        """The variance; None if it does not exist."""
        return self._distribution.moments()[1]

    @property
    def mode(self) -> float:
        """The mode."""
        return self._distribution.moments()[2]

    @property
    def entropy(self) -> float:
        """The entropy, in nats."""
        return self._distribution.moments()[3]

    @property
    def support(self) -> tuple[float, float]:
        """The smallest and the largest possible number."""
        return self._distribution.support()

    @property
    def is_discrete(self) -> bool:
        """Whether the distribution is over whole numbers."""
        return self._distribution.is_discrete()

    def interval(self, level: float = 0.95, *, shortest: bool = False) -> tuple[float, float]:
        """The interval with probability `level`: equal-tailed, or the shortest."""
        return self._distribution.interval(level, shortest)

    def kl(self, other: Distribution) -> float:
        """The Kullback–Leibler divergence of another distribution from this one."""
        if not isinstance(other, Distribution):
            raise TypeError(f"other must be a Distribution, not {other!r}")
        return self._distribution.divergence(other._distribution)

    def plot(self, what: str = "density", *, ax: Axes | None = None) -> Axes:
        """Draws the density or the distribution function ("cdf") with matplotlib, and returns the axes."""
        from abduce._plots import draw_distribution

        return draw_distribution(self, what, ax)


def _in_order(name: str, given: int, named: dict[str, float]) -> list[float]:
    """Named parameters in the order of the distribution, after those given by position."""
    if not named:
        return []
    wanted = _numbers_of().get("gaussian" if name == "normal" else name)
    if wanted is None:
        # The constructor lists the known distributions.
        return list(named.values())
    for parameter in named:
        if parameter not in wanted[given:]:
            raise TypeError(f"{name} has no further parameter {parameter!r}; its parameters are {', '.join(wanted)}")
    missing = [parameter for parameter in wanted[given:] if parameter not in named]
    if missing:
        raise TypeError(f"{name} also needs {', '.join(missing)}")
    return [named[parameter] for parameter in wanted[given:]]


def _numbers_of() -> dict[str, list[str]]:
    return dict(_core.distributions())


def names() -> list[str]:
    """The families that can be estimated."""
    return _core.families()


def estimate(
    family: str,
    x: ArrayLike,
    *,
    prior: str | None = None,
    known: Mapping[str, float] | None = None,
    level: float = 0.95,
    above: Any = None,
    seed: int = 0,
    sample_weight: ArrayLike | None = None,
) -> dict[str, Any]:
    """Estimates the parameters of a family, as `abduce estimate --json`.

    Parameters
    ----------
    family : str
        Name of the family; see `names`.
    x : array-like
        One column, or several for a multivariate family; NaN and None are missing.
    prior : str, default=None
        Prior, such as "beta(2,2)".
    known : dict, default=None
        Known parameters by name.
    level : float, default=0.95
        Probability of the intervals.
    above : float, dict, tuple or list of them, default=None
        Numbers, or (parameter, number) pairs, for which to report the probability that the parameter is above.
    seed : int, default=0
        Seed of the random numbers.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the values: a weight of 2 is the value twice.

    Returns
    -------
    dict
        The report: estimates, posterior, intervals, predictive distribution, evidence.
    """
    from abduce._labels import is_missing_value
    from abduce._tables import dense, weights_of

    kind = _core.kind_of_family(family)
    x = np.asarray(x)
    weights = weights_of(sample_weight, x)
    columns = x.reshape(len(x), -1) if len(x) else x.reshape(0, 1)
    levels: list[list[str]] = []
    kinds = [kind or "real"] * columns.shape[1]
    if kinds[0] in ("binary", "categorical", "ordinal"):
        coded: list[Floats] = []
        for column in columns.T:
            seen = np.array([not is_missing_value(cell) for cell in column.tolist()], dtype=bool)
            if weights is not None:
                seen &= weights > 0.0
            categories, codes = np.unique(
                column[seen].astype(str if column.dtype.kind in "OU" else column.dtype), return_inverse=True
            )
            whole = np.full(len(column), np.nan)
            whole[seen] = codes
            coded.append(whole)
            levels.append([str(level) for level in categories.tolist()])
        columns = np.column_stack(coded)
    table = dense(
        columns.astype(np.float64),
        [f"x{i}" for i in range(columns.shape[1])],
        kinds=kinds,
        levels=levels or None,
        weights=weights,
    )
    if isinstance(above, Mapping):
        above = list(above.items())
    above = [] if above is None else [above] if isinstance(above, tuple) or np.ndim(above) == 0 else list(above)
    pairs = [(bound[0], float(bound[1])) if isinstance(bound, tuple) else (None, float(bound)) for bound in above]
    report = _core.estimate_family(family, table, prior, list((known or {}).items()), level, pairs, seed)
    return json.loads(report)


def __getattr__(name: str) -> Callable[..., Distribution]:
    known = [family.replace("-", "_") for family in ("normal", *_numbers_of())]
    if name not in known:
        raise AttributeError(f"unknown distribution {name!r}; there are {', '.join(known)}")

    def make(*numbers: float, **named: float) -> Distribution:
        return Distribution(name, *numbers, **named)

    make.__name__ = name
    make.__doc__ = f"The distribution {name} with these parameters."
    return make
