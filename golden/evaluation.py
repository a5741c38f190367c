"""evaluation.json: scikit-learn's metrics of predicted probabilities and of clusters, and its calibrations."""

import numpy as np
from sklearn.calibration import CalibratedClassifierCV, _SigmoidCalibration, calibration_curve
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    accuracy_score, adjusted_rand_score, balanced_accuracy_score, brier_score_loss, confusion_matrix, f1_score,
    log_loss, normalized_mutual_info_score, precision_recall_fscore_support,
)
from sklearn.model_selection import PredefinedSplit
from sklearn.naive_bayes import GaussianNB

from reference import write

SEED = 2015
BINS = 15


def figures(name, p, y, weight):
    """scikit-learn's metrics of probabilities `p` of rows whose class is `y`."""
    classes = p.shape[1]
    labels = np.arange(classes)
    top, predicted = p.max(axis=1), p.argmax(axis=1)
    w = np.ones(len(y)) if weight is None else weight
    precision, recall, f1, support = precision_recall_fscore_support(
        y, predicted, labels=labels, sample_weight=weight, zero_division=0)
    # calibration_curve does not accept weights.
    accuracy, confidence = calibration_curve(predicted == y, top, n_bins=BINS)
    members = np.bincount(np.searchsorted(np.linspace(0, 1, BINS + 1)[1:-1], top), minlength=BINS)
    one_hot = np.eye(classes)[y]
    return {
        "name": name, "probabilities": p, "truth": y, "weights": weight,
        "accuracy": accuracy_score(y, predicted, sample_weight=weight),
        "log_loss": log_loss(y, p, labels=labels, sample_weight=weight),
        "brier": brier_score_loss(one_hot, p, sample_weight=w, scale_by_half=False),
        "brier_score_loss": brier_score_loss(y, p[:, 1], sample_weight=weight) if classes == 2 else np.nan,
        "confusion": confusion_matrix(y, predicted, labels=labels, sample_weight=weight),
        "precision": precision, "recall": recall, "f1": f1, "support": support,
        "macro_f1": f1_score(y, predicted, average="macro", sample_weight=weight, zero_division=0),
        "weighted_f1": f1_score(y, predicted, average="weighted", sample_weight=weight, zero_division=0),
        "balanced_accuracy": balanced_accuracy_score(y, predicted, sample_weight=weight),
        "reliability": {"rows": members[members > 0], "accuracy": accuracy, "confidence": confidence},
    }


def metrics():
    generator = np.random.default_rng(SEED)
    cases = []
    for name, classes, n in [("two classes", 2, 80), ("four classes", 4, 120), ("hard zeros", 3, 60)]:
        p = generator.dirichlet(np.full(classes, 0.4), n)
        y = np.array([generator.choice(classes, p=row) for row in p])
        flipped = generator.uniform(size=n) < 0.2
        y[flipped] = generator.integers(0, classes, flipped.sum())
        y[:classes] = np.arange(classes)
        if name == "hard zeros":
            p = np.where(p < 0.05, 0.0, p)
            p /= p.sum(axis=1, keepdims=True)
        weight = generator.uniform(0.2, 3.0, n).round(3)
        cases += [figures(name, p, y, None), figures(f"{name}, weighted", p, y, weight)]
    return cases


def clusters():
    generator = np.random.default_rng(SEED + 1)
    cases = []
    for truths, found, n, noise in [(3, 3, 60, 0.2), (4, 2, 50, 0.0), (2, 6, 90, 0.5), (5, 5, 40, 1.0)]:
        truth = generator.integers(0, truths, n)
        cluster = np.where(generator.uniform(size=n) < noise, generator.integers(0, found, n), truth % found)
        cases.append({
            "truth": truth, "clusters": cluster,
            "adjusted_rand": adjusted_rand_score(truth, cluster),
            "normalized_mutual_information": normalized_mutual_info_score(truth, cluster),
        })
    return cases


def isotonic():
    """Scores with ties, and new scores between, at and beyond them."""
    generator = np.random.default_rng(SEED + 2)
    cases = []
    for n, places, weighted in [(30, 12, False), (60, 1000, True), (200, 40, True)]:
        scores = generator.integers(0, places, n) / places
        y = (generator.uniform(size=n) < scores ** 2).astype(float)
        weight = generator.uniform(0.2, 3.0, n).round(3) if weighted else None
        asked = np.concatenate([generator.uniform(-0.1, 1.1, 20), scores[:10]])
        model = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(scores, y, sample_weight=weight)
        cases.append({
            "scores": scores, "truth": y, "weights": weight, "asked": asked, "calibrated": model.predict(asked),
            "knots": model.X_thresholds_, "shares": model.y_thresholds_,
        })
    return cases


def platt():
    """Platt's targets by a logistic regression without a penalty: each row is a share of 1 and a share of 0.

    scikit-learn's own _SigmoidCalibration stops its optimiser early; it must agree to a few digits.
    """
    generator = np.random.default_rng(SEED + 3)
    cases = []
    for n, slope, weighted in [(40, 0.5, False), (150, 1.7, True), (25, 0.05, False)]:
        scores = generator.normal(0.3, 3.0, n)
        y = (generator.uniform(size=n) < 1 / (1 + np.exp(-(slope * scores - 0.4)))).astype(int)
        weight = generator.uniform(0.2, 3.0, n).round(3) if weighted else None
        w = np.ones(n) if weight is None else weight
        positive, negative = w[y == 1].sum(), w[y == 0].sum()
        target = np.where(y == 1, (positive + 1) / (positive + 2), 1 / (negative + 2))
        exact = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-14, max_iter=1000).fit(
            np.concatenate([scores, scores])[:, None], np.repeat([1, 0], n),
            sample_weight=np.concatenate([w * target, w * (1 - target)]))
        sigmoid = _SigmoidCalibration().fit(scores, y, sample_weight=weight)
        assert np.allclose([-sigmoid.a_, -sigmoid.b_], [exact.coef_[0, 0], exact.intercept_[0]], rtol=1e-2, atol=1e-3)
        cases.append({
            "scores": scores, "truth": y, "weights": weight,
            "slope": exact.coef_[0, 0], "intercept": exact.intercept_[0],
        })
    return cases


def calibrated():
    """Gaussian naive Bayes on correlated columns, calibrated on the predictions of given held-out folds."""
    generator = np.random.default_rng(SEED + 4)
    cases = []
    for classes in [2, 3]:
        n = 90
        y = generator.integers(0, classes, n)
        base = generator.normal(size=n)
        x = np.column_stack([y + base + 0.3 * generator.normal(size=n) for _ in range(3)])
        test = generator.normal(1.0, 1.5, (12, 1)) + 0.3 * generator.normal(size=(12, 3))
        fold = np.arange(n) % 3
        model = CalibratedClassifierCV(
            GaussianNB(var_smoothing=0), method="isotonic", cv=PredefinedSplit(fold), ensemble=False).fit(x, y)
        cases.append({
            "classes": classes, "x": x, "y": y, "fold": fold, "test": test, "probabilities": model.predict_proba(test),
        })
    return cases


if __name__ == "__main__":
    write("evaluation", ["numpy", "scipy", "scikit-learn"], {
        "metrics": metrics(), "clusters": clusters(), "isotonic": isotonic(), "platt": platt(),
        "calibrated": calibrated(),
    })
