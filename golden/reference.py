"""Writes the JSON files of all scripts, with the versions of the programs used."""

import json
import platform
import re
from importlib.metadata import version
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent


def plain(value):
    """Converts arrays to lists; a NaN is a missing value and becomes null, because JSON has no NaN."""
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
