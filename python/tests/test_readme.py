"""The Python example of the README runs."""

import re
from pathlib import Path

import pandas as pd

README = Path(__file__).parents[2] / "README.md"


def test_the_readme_example_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    frame = pd.DataFrame({"size": [1.0, None, 3.0, 3.2], "colour": ["r", "r", None, "b"]})
    exec(code, {"frame": frame, "labels": ["x", "x", "y", None]})
    assert (tmp_path / "model.abduce").exists()
