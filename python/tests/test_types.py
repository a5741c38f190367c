"""Type annotations match what runs."""

import importlib.util
from pathlib import Path

import pytest

import abduce


def test_a_typed_program_runs():
    """mypy checks its types separately."""
    place = Path(__file__).with_name("typed_program.py")
    specification = importlib.util.spec_from_file_location("typed_program", place)
    program = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(program)
    for part in (program.classifiers, program.others, program.beliefs):
        part()


def test_the_package_has_type_information():
    folder = Path(abduce.__file__).parent
    assert (folder / "py.typed").exists()
    assert (folder / "_core.pyi").exists()


@pytest.mark.parametrize("name", [name for name in abduce.__all__ if name[0].isupper()])
def test_every_public_method_is_annotated(name):
    cls = getattr(abduce, name)
    for method in dir(cls):
        function = getattr(cls, method)
        if method.startswith("_") or not callable(function) or not function.__module__.startswith("abduce"):
            continue
        annotated = function.__annotations__ or getattr(function, "__wrapped__", function).__annotations__
        assert "return" in annotated, method
