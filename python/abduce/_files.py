"""Model files: the description of an estimator beside its model, and estimators from files.

A model file is data. Reading one creates an estimator of this package, sets its parameters and a few fitted attributes,
all of which are checked, and runs nothing else.
"""

import json
from collections.abc import Callable
from os import PathLike
from typing import Any

import numpy as np

from abduce import _core, _frame_schema
from abduce._base import warn
from abduce._labels import classes_of

# The possible estimators of a file, by its kind of model.
ESTIMATORS = {
    "naive-bayes": ("NaiveBayes", "GaussianNB", "BernoulliNB", "CategoricalNB", "MultinomialNB", "ComplementNB"),
    "gda": ("QuadraticDiscriminantAnalysis", "LinearDiscriminantAnalysis"),
    "gaussian": ("GaussianImputer",),
    "mixture": ("Mixture", "GaussianMixture", "GaussianImputer", "MixtureImputer"),
    "kmeans": ("KMeans",),
    "kde": ("KernelDensity",),
}


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    return value


def description(estimator: Any) -> dict[str, Any]:
    """The class, the parameters and the fitted attributes of an estimator, as far as JSON can represent them."""
    parameters = {}
    for name, value in estimator.get_params(deep=False).items():
        value = _plain(value)
        try:
            # JSON has no NaN, which is always the default.
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError):
            continue
        parameters[name] = value
    state = {name: _plain(getattr(estimator, name)) for name in STATE if hasattr(estimator, name)}
    base = _registered_base(type(estimator))
    about = {"class": base.__name__, "parameters": parameters, "state": state}
    if base is not type(estimator):
        about["subclass"] = type(estimator).__name__
    template = getattr(estimator, "_frame_template", None)
    if template is not None:
        about["frame"] = _frame_schema.description(template)
    # The type of the labels cannot be inferred from their names.
    if hasattr(estimator, "classes_"):
        about["labels"] = estimator.classes_.dtype.kind
    return about


def _registered() -> dict[str, type]:
    import abduce

    return {name: getattr(abduce, name) for names in ESTIMATORS.values() for name in names}


def _registered_base(cls: type) -> type:
    """The estimator of this package that a class is or derives from."""
    known = set(_registered().values())
    return next((base for base in cls.__mro__ if base in known), cls)


def _flag(value: Any, width: int) -> bool | None:
    return value if isinstance(value, bool) else None


def _integers(value: Any) -> Any:
    whole = isinstance(value, list) and all(
        isinstance(number, int) and not isinstance(number, bool) for number in value
    )
    return np.array(value, dtype=np.int64) if whole and all(0 <= number < 2**31 for number in value) else None


def _places(value: Any, width: int) -> Any:
    places = _integers(value)
    return places.astype(int) if places is not None and (places < width).all() else None


def _categories(value: Any, width: int) -> Any:
    found = _integers(value)
    return found if found is not None and found.shape == (width,) else None


def _clusters(value: Any, width: int) -> Any:
    found = _integers(value)
    return None if found is None else found.astype(np.int32)


def _names(value: Any, width: int) -> list[str] | None:
    return value if isinstance(value, list) and all(isinstance(name, str) for name in value) else None


# The fitted attributes that a file may have beside the model, and their readers, which return None if malformed.
STATE: dict[str, Callable[[Any, int], Any]] = {
    "n_categories_": _categories,
    "labels_": _clusters,
    "_sparse": _flag,
    "_framed": _flag,
    "_with_missing": _places,
    "_empty": _places,
    "_boolean_columns": _names,
}
# Attributes of older files under other names, and those that the model itself has now.
RENAMED = {"_with_holes": "_with_missing", "_truths": "_boolean_columns"}
SUPERSEDED = {"epsilon_"}


def _about(model: _core.Model) -> dict[str, Any]:
    """The description of the estimator; empty for a file of the command line."""
    about = json.loads(model.part("estimator"))
    if about is None:
        return {}
    types = {"class": str, "subclass": str, "parameters": dict, "state": dict, "labels": str, "frame": dict}
    if not isinstance(about, dict):
        raise ValueError("the file does not describe an estimator of this package")
    for name, value in about.items():
        if name not in types or not isinstance(value, types[name]):
            raise ValueError(f"the description of the estimator in the file has an unknown or malformed {name!r}")
    return about


def _class_of(about: dict[str, Any], model: _core.Model, kind: str, cls: type | None) -> type:
    """The class of the estimator: one of this package, or the caller's subclass of it."""
    possible = ESTIMATORS.get(kind, ())
    name = about.get("class")
    if name is None and kind == "gda":
        name = possible[1 if _is_linear(model) else 0]
    if name is None and not possible:
        raise ValueError(f"there is no estimator for models of kind {kind}; use the command line")
    name = name or possible[0]
    if cls is not None:
        base = _registered_base(cls)
        if base.__name__ not in possible or (name in possible and base.__name__ != name):
            raise TypeError(f"the file has a {name}, and {cls.__name__} is not a subclass of it")
        return cls
    if name not in possible:
        raise ValueError(
            f"the file has the class {name!r}, which is not an estimator for models of kind {kind}; "
            "to read a model of a subclass, pass it as cls="
        )
    if "subclass" in about:
        warn(
            f"the file was written by {about['subclass']}, a subclass of {name}, and is read as a {name}; "
            f"pass cls={about['subclass']} to read the subclass"
        )
    return _registered()[name]


def _is_linear(model: _core.Model) -> bool:
    """Whether a discriminant is linear in all columns: one Gaussian with a shared covariance."""
    leaves = json.loads(model.part("leaves"))
    return [leaf["family"] for leaf in leaves] == ["multivariate"] and leaves[0]["shape"]["structure"] == "tied"


def _refuse_unreadable(kind: str, target: int | None, features: list[dict[str, Any]]) -> None:
    """Raises an error for a model of the command line that no estimator supports."""
    if target is not None and kind == "kde":
        raise ValueError("there is no estimator for kernel densities of classes; use the command line")
    if kind != "gda":
        return
    # The estimators of discriminants accept only numbers.
    for field in features:
        if field["kind"] not in ("real", "count"):
            raise ValueError(
                "there is no estimator for discriminants of columns that are not numbers, such as "
                f"{field['name']!r}, which is {field['kind']}; use the command line, or fit NaiveBayes, which accepts "
                "columns of any kind"
            )


def _numbers(model: _core.Model, kind: str) -> dict[str, Any]:
    """The parameters that follow from a model of the command line: the number of components or clusters."""
    counted = {"mixture": ("n_components", "weights"), "kmeans": ("n_clusters", "centres")}
    if kind not in counted:
        return {}
    parameter, part = counted[kind]
    return {parameter: len(json.loads(model.part(part)))}


def _unfitted(cls: Any, about: dict[str, Any], model: _core.Model, kind: str) -> Any:
    """An unfitted estimator with the checked parameters of the file."""
    parameters = about.get("parameters", _numbers(model, kind))
    known = set(cls._get_param_names())
    if "subclass" in about and cls.__name__ == about["class"]:
        # Parameters that only the subclass has.
        parameters = {name: value for name, value in parameters.items() if name in known}
    unknown = sorted(set(parameters) - known)
    if unknown:
        raise ValueError(f"the file gives {cls.__name__} the unknown parameter {unknown[0]!r}")
    estimator = cls(**parameters)
    estimator._validate_params()
    return estimator


def _restore(estimator: Any, state: dict[str, Any]) -> None:
    """Sets the fitted attributes of a file."""
    for name, value in state.items():
        if name in SUPERSEDED:
            continue
        name = RENAMED.get(name, name)
        read = STATE[name](value, estimator.n_features_in_) if name in STATE else None
        if read is None:
            raise ValueError(f"the file has an unknown or malformed attribute {name!r}")
        setattr(estimator, name, read)


def load(path: str | PathLike[str], *, cls: type | None = None) -> Any:
    """Reads a model file of Python or of the command line.

    A file is data: nothing in it is run.

    Parameters
    ----------
    path : str or path-like
        File to read.
    cls : type, default=None
        Subclass of the estimator in the file, to read it as.

    Returns
    -------
    estimator
        The fitted estimator.
    """
    model = _core.Model.load(path)
    about = _about(model)
    kind = json.loads(model.part("model"))
    schema = json.loads(model.part("schema"))["fields"]
    target = json.loads(model.part("target"))
    features = [field for position, field in enumerate(schema) if position != target]
    _refuse_unreadable(kind, target, features)
    estimator = _unfitted(_class_of(about, model, kind, cls), about, model, kind)
    if target is not None:
        estimator.classes_ = classes_of(schema[target]["levels"], about.get("labels"))
        estimator._target = schema[target]["name"]
        estimator._target_at = target if target < len(features) else None
    state = about.get("state", {"_framed": True})
    terms = [field for field in features if field["kind"] == "text"]
    # A sparse matrix is a single column of text, but a frame may have columns of text.
    if terms and not state.get("_framed"):
        width = len(terms[0]["text"]["encoding"].get("vocabulary", []))
        names = [f"x{i}" for i in range(width)]
    else:
        width = len(features)
        names = [field["name"] for field in features]
    estimator.n_features_in_ = width
    if not about or names != [f"x{i}" for i in range(width)]:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    _restore(estimator, state)
    if "frame" in about:
        estimator._frame_template = _frame_schema.empty_frame(about["frame"])
    estimator._set_model(model)
    return estimator
