"""event_models.json: naive Bayes on counts and words, by scikit-learn: MultinomialNB, ComplementNB, BernoulliNB."""

import numpy as np
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB

from reference import write

generator = np.random.default_rng(20)
rows, terms, classes = 90, 12, 3
label = generator.integers(0, classes, rows)
shares = generator.dirichlet(np.full(terms, 0.6), classes)
length = generator.poisson(9, rows)
counts = np.array([generator.multinomial(n, shares[y]) for n, y in zip(length, label)])
weights = generator.choice([0.5, 1.0, 2.0], rows)


def model(name, estimator, weighted):
    estimator.fit(counts, label, sample_weight=weights if weighted else None)
    return {
        "event": name,
        "smoothing": estimator.alpha,
        "uniform": not estimator.fit_prior,
        "weighted": weighted,
        "log_posterior": estimator.predict_log_proba(counts).tolist(),
    }


cases = []
for weighted in [False, True]:
    for alpha in [1.0, 0.3, 2.5]:
        for prior in [True, False]:
            cases.append(model("multinomial", MultinomialNB(alpha=alpha, fit_prior=prior), weighted))
            cases.append(model("bernoulli", BernoulliNB(alpha=alpha, fit_prior=prior), weighted))
        # Complement naive Bayes uses class priors only if there is one class.
        cases.append(model("complement", ComplementNB(alpha=alpha, fit_prior=False), weighted))

write("event_models", ["numpy", "scikit-learn"], {
    "label": label.tolist(),
    "counts": counts.tolist(),
    "weights": weights.tolist(),
    "cases": cases,
})
