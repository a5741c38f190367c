"""Belief in finitely many hypotheses, weighed by one observation after the other.

>>> from abduce.bayes import Hypotheses
>>> test = Hypotheses({"cancer": 0.008, "healthy": 0.992}, {"positive": [0.98, 0.03]})
>>> round(test.observe("positive")["cancer"], 4)
0.2085
"""

import numpy as np

from abduce import _core


class Hypotheses:
    """Hypotheses with prior probabilities, and outcomes with a probability under each of them."""

    def __init__(self, prior, likelihoods):
        if not isinstance(prior, dict):
            prior = dict.fromkeys(prior, 1.0)
        self.names = list(prior)
        weights = np.array(list(prior.values()), dtype=np.float64)
        if (weights < 0).any() or not np.isfinite(weights).all() or weights.sum() <= 0:
            raise ValueError("prior probabilities are numbers from 0 up, not all 0")
        self.likelihoods = {}
        for outcome, own in likelihoods.items():
            own = np.array([own[name] for name in self.names] if isinstance(own, dict) else own, dtype=np.float64)
            if own.shape != weights.shape:
                raise ValueError(f"outcome {outcome!r} needs a probability under each of {len(self.names)} hypotheses")
            if not ((own >= 0) & (own <= 1)).all():
                raise ValueError(f"the probabilities of outcome {outcome!r} are not all from 0 to 1")
            self.likelihoods[outcome] = own
        with np.errstate(divide="ignore"):
            self._belief = _core.Belief(np.log(weights / weights.sum()).tolist())

    def observe(self, outcome, times=1, *, happened=True):
        """Weighs the hypotheses by an outcome that happened, or did not, so many times; gives the posterior."""
        if outcome not in self.likelihoods:
            raise ValueError(
                f"there is no outcome {outcome!r}; the outcomes are {', '.join(map(str, self.likelihoods))}"
            )
        own = self.likelihoods[outcome]
        with np.errstate(divide="ignore"):
            self._belief.observe(np.log(own if happened else 1 - own).tolist(), float(times))
        return self.posterior

    @property
    def posterior(self):
        """The probability of each hypothesis."""
        return dict(zip(self.names, self._belief.posterior().tolist(), strict=True))

    @property
    def map(self):
        """The most probable hypotheses."""
        return [self.names[h] for h in self._belief.map()]

    @property
    def maximum_likelihood(self):
        """The hypotheses under which the observations are likeliest."""
        return [self.names[h] for h in self._belief.maximum_likelihood()]

    @property
    def log_evidence(self):
        """The logarithm of the probability of all observations."""
        return self._belief.log_evidence()
