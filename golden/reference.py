"""What the golden scripts share: writing one JSON file that says which versions made it."""

import json
import platform
import re
from importlib.metadata import version
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent


def plain(value):
    """Turns arrays into lists; a NaN is a missing cell and becomes null, as JSON has no NaN."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and np.isnan(value):
        return None
    return value


def write(name, packages, content):
    """Writes `name`.json beside the scripts.

    Floats are written in full (they read back to the same bits), and infinities are refused: they
    are not JSON, and every reader would treat them differently.
    """
    made_with = {"python": platform.python_version()}
    made_with.update({package: version(package) for package in packages})
    document = plain({"made_with": made_with, **content})
    text = json.dumps(document, allow_nan=False, indent=1)
    path = HERE / f"{name}.json"
    path.write_text(compact(text) + "\n", encoding="ascii")
    print(f"{path.name}: {path.stat().st_size / 1000:.1f} kB")


def compact(text):
    """Joins each list of numbers onto one line, so that a difference between two versions stays readable."""
    return re.sub(r"\[[^][{}]*\]", lambda found: " ".join(found[0].split()).replace("[ ", "[").replace(" ]", "]"), text)
