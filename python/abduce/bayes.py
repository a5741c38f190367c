"""Probabilities of finitely many hypotheses, updated by observations.

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
    """Finitely many hypotheses with prior probabilities, and outcomes with a probability under each of them.

    Parameters
    ----------
    prior : dict or iterable
        Probability of each hypothesis; the names alone if all are equally probable.
    likelihoods : dict
        For each outcome, its probability under each hypothesis: a list in the order of `prior`, or a dict.
    normalize : bool, default=False
        Whether `prior` has weights with any sum instead of probabilities.

    Attributes
    ----------
    names : list
        Names of the hypotheses.
    outcomes : list
        Names of the outcomes.
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
        for outcome, given in likelihoods.items():
            given = [given[name] for name in self.names] if isinstance(given, dict) else given
            outcomes.append((str(outcome), [float(p) for p in given]))
        priors = [float(p) for p in prior.values()]
        self._arguments = ([str(name) for name in self.names], priors, normalize, outcomes)
        self._observed: list[tuple[str, float]] = []
        total = sum(priors)
        if not normalize and 0.0 < total < float("inf") and abs(total - 1.0) > 1e-9:
            raise ValueError(
                f"the priors sum to {total:.12g}, not to 1; pass normalize=True to divide them by their sum"
            )
        self._hypotheses = _core.Hypotheses(*self._arguments)

    def __repr__(self) -> str:
        belief = ", ".join(f"{name!r}: {p:.4g}" for name, p in self.posterior.items())
        return f"Hypotheses({{{belief}}})"

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_hypotheses"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._observed = list(self._observed)
        self._hypotheses = _core.Hypotheses(*self._arguments)
        for outcome, times in self._observed:
            self._hypotheses.observe(outcome, times)

    def observe(self, outcome: object, times: float = 1) -> dict[Any, float]:
        """Updates the probabilities by an observed outcome.

        Parameters
        ----------
        outcome : object
            Observed outcome; "not NAME" is the opposite of the outcome NAME.
        times : float, default=1
            How many times it was observed.

        Returns
        -------
        dict
            The posterior probability of each hypothesis.
        """
        self._hypotheses.observe(str(outcome), float(times))
        self._observed.append((str(outcome), float(times)))
        return self.posterior

    @property
    def posterior(self) -> dict[Any, float]:
        """The posterior probability of each hypothesis."""
        return dict(zip(self.names, self._hypotheses.posterior(), strict=True))

    @property
    def predictive(self) -> dict[Any, float]:
        """The predictive probability of each outcome."""
        return dict(zip(self.outcomes, self._hypotheses.predictive(), strict=True))

    @property
    def map(self) -> list[Any]:
        """The most probable hypotheses."""
        return [self.names[h] for h in self._hypotheses.map()]

    @property
    def maximum_likelihood(self) -> list[Any]:
        """The hypotheses with the highest likelihood."""
        return [self.names[h] for h in self._hypotheses.maximum_likelihood()]

    @property
    def log_evidence(self) -> float:
        """The logarithm of the probability of all observations."""
        return self._hypotheses.log_evidence()

    def plot(self, what: str = "posterior", *, ax: Axes | None = None) -> Axes:
        """Draws the probabilities of the hypotheses, or of the outcomes ("predictive"), and returns the axes."""
        from abduce._plots import draw_hypotheses

        return draw_hypotheses(self, what, ax)
