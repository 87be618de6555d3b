"""The library's layer is built from an installed wheel, without writing to it."""

import shutil
import sys
from pathlib import Path

import pytest

from tests.layers.making import COMPILED, digest, make
from tests.layers.making import build as build_layer


def files(folder: Path) -> set[Path]:
    return set(folder.rglob("*"))


@pytest.mark.programs
def test_layer_of_an_installed_wheel_is_that_of_the_checkout(site: Path, tmp_path: Path) -> None:
    before = files(site)
    stack = tmp_path / "project" / "stack"
    stack.parent.mkdir()
    stack.symlink_to(site / "minutehand" / "stack")
    made = make("LibraryLayer", tmp_path / "layer", tmp_path / "in", stack, **COMPILED)

    assert made.returncode == 0, made.stderr
    assert files(site) == before
    expected = build_layer("LibraryLayer", tmp_path / "checkout", **COMPILED)
    assert digest(tmp_path / "layer" / "python") == digest(expected)


@pytest.mark.programs
def test_layer_of_a_copied_stack_takes_the_installed_library(site: Path, tmp_path: Path) -> None:
    stack = shutil.copytree(site / "minutehand" / "stack", tmp_path / "project" / "stack")
    python = f"PYTHONPATH={site} {sys.executable}"
    made = make("LibraryLayer", tmp_path / "layer", tmp_path / "in", stack, **COMPILED, HOST_PYTHON=python)

    assert made.returncode == 0, made.stderr
    assert not (tmp_path / "layer" / "python" / "minutehand" / "stack").exists()
    assert (tmp_path / "layer" / "python" / "minutehand" / "functions").is_dir()


@pytest.mark.programs
def test_build_without_the_library_names_the_environment(site: Path, tmp_path: Path) -> None:
    stack = shutil.copytree(site / "minutehand" / "stack", tmp_path / "project" / "stack")
    python = f"{sys.executable} -I -S"
    made = make("LibraryLayer", tmp_path / "layer", tmp_path / "in", stack, **COMPILED, HOST_PYTHON=python)

    assert made.returncode != 0
    assert "minutehand is not installed for" in made.stderr
