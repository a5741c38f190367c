"""naive_bayes.json: scikit-learn's three naive Bayes models on small seeded tables.

Class priors are the plain (weighted) shares of the classes: scikit-learn smooths the columns, not the prior.
"""

import numpy as np
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB

from reference import write

SEED = 2002
CLASSES = 3


def labels(generator, n):
    """Unequal class frequencies; each class is present."""
    y = generator.choice(CLASSES, n, p=[0.5, 0.3, 0.2])
    y[:CLASSES] = np.arange(CLASSES)
    return y


def case(name, model, x, y, test, weight, parameters):
    """Fits a model. Returns the table, the parameters, and two predictions for each test row."""
    model.fit(x, y, sample_weight=weight)
    return {
        "name": name, "x": x, "y": y, "weights": weight, "test": test,
        "class_log_prior": np.log(model.class_prior_) if hasattr(model, "class_prior_") else model.class_log_prior_,
        **parameters(model),
        "joint_log_likelihood": model.predict_joint_log_proba(test),
        "log_posterior": model.predict_log_proba(test),
    }


def gaussian():
    """Without variance smoothing, so that the variances are maximum-likelihood estimates."""
    generator = np.random.default_rng(SEED)
    y = labels(generator, 40)
    centres = generator.normal(0.0, 2.0, (CLASSES, 4))
    spread = generator.uniform(0.3, 2.0, (CLASSES, 4))
    x = centres[y] + spread[y] * generator.normal(size=(40, 4))
    test = generator.normal(0.0, 3.0, (8, 4))
    weight = generator.uniform(0.2, 3.0, 40).round(3)
    return [
        case(name, GaussianNB(var_smoothing=0), x, y, test, w,
             lambda model: {"means": model.theta_, "variances": model.var_})
        for name, w in [("plain", None), ("weighted", weight)]
    ]


def bernoulli():
    """Smoothing α adds α to both outcomes of every column in every class."""
    generator = np.random.default_rng(SEED + 1)
    y = labels(generator, 30)
    p = generator.uniform(0.05, 0.95, (CLASSES, 5))
    x = (generator.uniform(size=(30, 5)) < p[y]).astype(int)
    test = generator.integers(0, 2, (8, 5))
    weight = generator.uniform(0.2, 3.0, 30).round(3)
    return [
        {"smoothing": alpha, **case(name, BernoulliNB(alpha=alpha), x, y, test, w,
                                    lambda model: {"log_p": model.feature_log_prob_})}
        for name, alpha, w in [("plain", 1.0, None), ("plain", 0.5, None), ("weighted", 0.5, weight)]
    ]


def categorical():
    """Columns of 2, 3 and 5 levels; the last level of the last column occurs in one class only."""
    generator = np.random.default_rng(SEED + 2)
    y = labels(generator, 36)
    levels = np.array([2, 3, 5])
    x = np.column_stack([generator.integers(0, level - (level == 5), 36) for level in levels])
    x[np.flatnonzero(y == 1)[:2], 2] = 4
    test = np.column_stack([generator.integers(0, level, 8) for level in levels])
    weight = generator.uniform(0.2, 3.0, 36).round(3)
    return [
        {"smoothing": alpha, "levels": levels,
         **case(name, CategoricalNB(alpha=alpha, min_categories=levels), x, y, test, w,
                lambda model: {"log_p": list(model.feature_log_prob_)})}
        for name, alpha, w in [("plain", 1.0, None), ("plain", 0.3, None), ("weighted", 0.3, weight)]
    ]


if __name__ == "__main__":
    write("naive_bayes", ["numpy", "scipy", "scikit-learn"], {
        "gaussian": gaussian(), "bernoulli": bernoulli(), "categorical": categorical(),
    })
