"""Model files: what is written beside a model for Python, and estimators out of files."""

import json
from os import PathLike
from typing import Any

import numpy as np

from abduce import _core
from abduce._labels import classes_of


def described(estimator: Any) -> dict[str, Any]:
    """The class and the parameters of an estimator, as far as JSON can hold them."""

    def plain(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return value.tolist()
        if isinstance(value, np.generic):
            return value.item()
        return value

    parameters = {}
    for name, value in estimator.get_params(deep=False).items():
        value = plain(value)
        try:
            # JSON has no NaN, which is a default wherever it is a parameter.
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError):
            continue
        parameters[name] = value
    state = {
        name: plain(getattr(estimator, name))
        for name in ("n_categories_", "_sparse", "_framed", "_with_holes", "_empty", "_truths")
        if hasattr(estimator, name)
    }
    about = {"class": type(estimator).__name__, "parameters": parameters, "state": state}
    # Names alone do not tell what labels were.
    if hasattr(estimator, "classes_"):
        about["labels"] = estimator.classes_.dtype.kind
    return about


USUAL = {
    "naive-bayes": "NaiveBayes",
    "mixture": "Mixture",
    "kmeans": "KMeans",
    "kde": "KernelDensity",
}


def _numbers(model: _core.Model, kind: str) -> dict[str, Any]:
    """What a model of the command line tells of the parameters: how many components or clusters it has."""
    counted = {"mixture": ("n_components", "weights"), "kmeans": ("n_clusters", "centres")}
    if kind not in counted:
        return {}
    parameter, part = counted[kind]
    return {parameter: len(json.loads(model.part(part)))}


def load(path: str | PathLike[str]) -> Any:
    """Reads a model file, written here or by the command line, as the estimator it is of."""
    import abduce

    model = _core.Model.load(path)
    told = json.loads(model.part("estimator")) or {}
    kind = json.loads(model.part("model"))
    name = told.get("class", USUAL.get(kind))
    if name is None and kind == "gda":
        shared = json.loads(model.part("leaves"))[0].get("shape", {}).get("structure") == "tied"
        name = "LinearDiscriminantAnalysis" if shared else "QuadraticDiscriminantAnalysis"
    if name is None:
        raise ValueError(f"there is no estimator for a model of the kind {kind} yet; the command line can ask it")
    estimator = getattr(abduce, name)(**told.get("parameters", _numbers(model, kind)))
    schema = json.loads(model.part("schema"))["fields"]
    target = json.loads(model.part("target"))
    features = [field for position, field in enumerate(schema) if position != target]
    if target is not None and kind == "kde":
        raise ValueError("there is no estimator for kernel densities of classes yet; the command line can ask them")
    if target is not None:
        estimator.classes_ = classes_of(schema[target]["levels"], told.get("labels"))
        estimator._target = schema[target]["name"]
        estimator._target_at = target if target < len(features) else None
    state = told.get("state", {"_framed": True})
    terms = [field for field in features if field["kind"] == "text"]
    # A matrix of counts is one column of words, and a frame has columns of texts.
    if terms and not state.get("_framed"):
        width = len(terms[0]["text"]["encoding"].get("vocabulary", []))
        names = [f"x{i}" for i in range(width)]
    else:
        width = len(features)
        names = [field["name"] for field in features]
    estimator.n_features_in_ = width
    if not told or names != [f"x{i}" for i in range(width)]:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    for own, value in state.items():
        # Older files have what the model itself tells now.
        if own == "epsilon_":
            continue
        setattr(
            estimator,
            own,
            np.array(value, dtype=int if own in ("_with_holes", "_empty") else None)
            if isinstance(value, list) and own != "_truths"
            else value,
        )
    if hasattr(estimator, "_framed"):
        estimator._learning = False
    estimator._set_model(model)
    return estimator
