"""svmlight.json: an svmlight file written and read by scikit-learn, and its naive Bayes fitted to that file."""

import io

import numpy as np
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB

from reference import write

generator = np.random.default_rng(31)
rows, features = 60, 15
label = generator.choice([-1, 2, 7], rows)
dense = generator.random((rows, features)) * generator.integers(0, 5, (rows, features))
dense[generator.random((rows, features)) < 0.6] = 0.0
dense[4] = 0.0

cases = []
for zero_based in [True, False]:
    file = io.BytesIO()
    dump_svmlight_file(sparse.csr_matrix(dense), label, file, zero_based=zero_based, comment="made by scikit-learn")
    file.seek(0)
    counts, labels = load_svmlight_file(file, zero_based=zero_based, n_features=features)
    for event, estimator in [
        ("multinomial", MultinomialNB(alpha=0.7)),
        ("bernoulli", BernoulliNB(alpha=0.7)),
        ("complement", ComplementNB(alpha=0.7, fit_prior=False)),
    ]:
        estimator.fit(counts, labels)
        cases.append({
            "event": event,
            "uniform": not estimator.fit_prior,
            "file": file.getvalue().decode(),
            "log_posterior": estimator.predict_log_proba(counts).tolist(),
        })

write("svmlight", ["numpy", "scipy", "scikit-learn"], {"smoothing": 0.7, "cases": cases})
