"""What is asked of the engine, as it reads it."""

import json
from typing import Any

MIXTURE: dict[str, Any] = {
    "target": None,
    "components": None,
    "reals": "Alone",
    "families": [],
    "smoothing": 1.0,
    "weight_smoothing": 0.0,
    "variance_floor": 1e-6,
}
EM = {"step": "soft", "tolerance": 1e-8, "max_iterations": 1000}
OPTIONS = {"em": EM, "restarts": 10, "init": "auto", "unlabelled": "chosen", "seed": 0}


def mixture(**changes: Any) -> str:
    """A specification of a mixture: the usual one with some changes."""
    return json.dumps(MIXTURE | changes)


def options(em: dict[str, Any] | None = None, **changes: Any) -> str:
    """Options of a fit: the usual ones with some changes."""
    return json.dumps(OPTIONS | changes | {"em": EM | (em or {})})


def together(covariance: str, counts: bool = True) -> dict[str, Any]:
    """Numbers in one Gaussian."""
    return {"Together": {"covariance": covariance, "counts": counts}}
