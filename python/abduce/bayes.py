"""Belief in finitely many hypotheses, weighed by one observation after the other.

>>> from abduce.bayes import Hypotheses
>>> test = Hypotheses({"cancer": 0.008, "healthy": 0.992}, {"positive": [0.98, 0.03]})
>>> round(test.observe("positive")["cancer"], 4)
0.2085
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from abduce import _core

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Hypotheses:
    """Hypotheses with prior probabilities, and outcomes with a probability under each of them.

    `prior` is a dict of probabilities that sum to 1, of weights with `normalize=True`, or the names alone if all are
    alike. Each outcome has a probability for each hypothesis, in their order or by their names.
    """

    def __init__(
        self,
        prior: Mapping[Any, float] | Iterable[Any],
        likelihoods: Mapping[Any, Sequence[float] | Mapping[Any, float]],
        *,
        normalize: bool = False,
    ) -> None:
        if not isinstance(prior, dict):
            prior = list(prior)
            if len(set(prior)) < len(prior):
                raise ValueError(f"two hypotheses have the same name: {', '.join(map(str, prior))}")
            prior, normalize = dict.fromkeys(prior, 1.0), True
        self.names = list(prior)
        self.outcomes = list(likelihoods)
        outcomes = []
        for outcome, own in likelihoods.items():
            own = [own[name] for name in self.names] if isinstance(own, dict) else own
            outcomes.append((str(outcome), [float(p) for p in own]))
        priors = [float(p) for p in prior.values()]
        self._made = ([str(name) for name in self.names], priors, normalize, outcomes)
        self._observed: list[tuple[str, float]] = []
        total = sum(priors)
        if not normalize and 0.0 < total < float("inf") and abs(total - 1.0) > 1e-9:
            raise ValueError(
                f"the priors sum to {total:.12g}, not to 1; pass normalize=True to divide them by their sum"
            )
        self._own = _core.Hypotheses(*self._made)

    def __repr__(self) -> str:
        belief = ", ".join(f"{name!r}: {p:.4g}" for name, p in self.posterior.items())
        return f"Hypotheses({{{belief}}})"

    def __getstate__(self) -> dict[str, Any]:
        return {name: own for name, own in self.__dict__.items() if name != "_own"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._observed = list(self._observed)
        self._own = _core.Hypotheses(*self._made)
        for outcome, times in self._observed:
            self._own.observe(outcome, times)

    def observe(self, outcome: object, times: float = 1) -> dict[Any, float]:
        """Weighs the hypotheses by an outcome, or by "not" an outcome, so many times; gives the posterior."""
        self._own.observe(str(outcome), float(times))
        self._observed.append((str(outcome), float(times)))
        return self.posterior

    @property
    def posterior(self) -> dict[Any, float]:
        """The probability of each hypothesis."""
        return dict(zip(self.names, self._own.posterior(), strict=True))

    @property
    def predictive(self) -> dict[Any, float]:
        """The probability of each outcome, as belief stands."""
        return dict(zip(self.outcomes, self._own.predictive(), strict=True))

    @property
    def map(self) -> list[Any]:
        """The most probable hypotheses."""
        return [self.names[h] for h in self._own.map()]

    @property
    def maximum_likelihood(self) -> list[Any]:
        """The hypotheses under which the observations are likeliest."""
        return [self.names[h] for h in self._own.maximum_likelihood()]

    @property
    def log_evidence(self) -> float:
        """The logarithm of the probability of all observations."""
        return self._own.log_evidence()

    def plot(self, what: str = "posterior", *, ax: Axes | None = None) -> Axes:
        """Draws the probabilities of the hypotheses, or of the outcomes ("predictive"), and gives the axes."""
        from abduce._plots import draw_hypotheses

        return draw_hypotheses(self, what, ax)
