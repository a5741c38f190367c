"""discriminant.json: quadratic and linear discriminant analysis on iris and on a small seeded table.

Divisors differ between programs and versions. Here every covariance is the maximum-likelihood one (each class over
its n_k, the pooled one over n): scikit-learn's LDA does that with the lsqr solver, its QDA in the pinned version
(older ones divided by n_k − 1). So that nothing hangs on that, the same posteriors are computed from SciPy's
multivariate normal with those covariances, and the script fails if the two disagree.
"""

import numpy as np
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

from reference import write

SEED = 2003


def seeded_table():
    """Three overlapping classes of uneven size in three dimensions."""
    generator = np.random.default_rng(SEED)
    y = np.repeat([0, 1, 2], [14, 10, 20])
    factors = generator.normal(size=(3, 3, 3))
    centres = generator.normal(0.0, 1.5, (3, 3))
    x = np.stack([centres[k] + factors[k] @ generator.normal(size=3) for k in y])
    return x, y, generator.normal(0.0, 2.0, (8, 3))


def iris():
    """Fisher's table; the test rows include the difficult ones between versicolor and virginica."""
    x, y = load_iris(return_X_y=True)
    return x, y, x[[0, 41, 50, 70, 77, 83, 106, 119, 133, 149]]


def maximum_likelihood(x, y):
    """Class frequencies, means, covariances divided by n_k, and the pooled covariance divided by n."""
    classes = np.unique(y)
    priors = np.array([np.mean(y == k) for k in classes])
    means = np.array([x[y == k].mean(axis=0) for k in classes])
    covariances = np.array([np.cov(x[y == k], rowvar=False, ddof=0) for k in classes])
    return priors, means, covariances, np.tensordot(priors, covariances, axes=1)


def joint(test, priors, means, covariances):
    """log p(x, y) by SciPy's multivariate normal, row by class."""
    return np.column_stack([
        np.log(prior) + multivariate_normal.logpdf(test, mean, covariance)
        for prior, mean, covariance in zip(priors, means, covariances)
    ])


def answers(model, x, y, test, priors, means, covariances):
    """SciPy's joint density and posterior, and scikit-learn's posterior, which must agree."""
    log_joint = joint(test, priors, means, covariances)
    posterior = np.exp(log_joint - logsumexp(log_joint, axis=1, keepdims=True))
    scikit_learn = model.fit(x, y).predict_proba(test)
    np.testing.assert_allclose(scikit_learn, posterior, rtol=1e-8, atol=1e-14)
    return {"joint_log_likelihood": log_joint, "posterior": posterior, "posterior_scikit_learn": scikit_learn}


def case(x, y, test):
    """Both models on one table."""
    priors, means, covariances, pooled = maximum_likelihood(x, y)
    quadratic = answers(QuadraticDiscriminantAnalysis(), x, y, test, priors, means, covariances)
    linear = answers(LinearDiscriminantAnalysis(solver="lsqr"), x, y, test, priors, means, [pooled] * len(priors))
    return {
        "x": x, "y": y, "test": test, "priors": priors, "means": means,
        "quadratic": {"covariances": covariances, **quadratic},
        "linear": {"covariance": pooled, **linear},
    }


if __name__ == "__main__":
    write("discriminant", ["numpy", "scipy", "scikit-learn"], {"iris": case(*iris()), "seeded": case(*seeded_table())})
