"""Layer builds are reproducible, and their .pyc files have the paths in Lambda."""

import importlib.util
import marshal
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType

import pytest

from tests.layers.making import COMPILED, ROOT, THIS, build, digest, make

NEVER_CHECKED = (0b01).to_bytes(4, "little")  # unchecked hash-based .pyc


def codes(code: CodeType) -> set[str]:
    """Return the file names in the code objects of a module."""
    inner = (codes(const) for const in code.co_consts if isinstance(const, CodeType))
    return {code.co_filename}.union(*inner)


@pytest.mark.programs
def test_library_layer_is_reproducible(tmp_path: Path) -> None:
    first = build("LibraryLayer", tmp_path / "one", **COMPILED)
    before = os.umask(0o077)
    try:
        second = build("LibraryLayer", tmp_path / "another place", **COMPILED)
    finally:
        os.umask(before)

    assert digest(first) == digest(second)
    assert {path.stat().st_mtime for path in first.rglob("*")} == {946_684_800}


@pytest.mark.slow
@pytest.mark.parametrize("layer", ["DependenciesArm64Layer", "ApiX86Layer"])
def test_package_layers_are_reproducible(layer: str, compiled: Callable[[str], Path], tmp_path: Path) -> None:
    assert digest(compiled(layer)) == digest(build(layer, tmp_path / "another" / "place", **COMPILED))


@pytest.mark.parametrize("fault", ["bytes", "time", "mode", "name"])
def test_check_detects_differences_in_a_zip(fault: str, tmp_path: Path) -> None:
    first, second = tmp_path / "one", tmp_path / "two"
    for folder in (first, second):
        folder.mkdir()
        (folder / "file").write_text("text")
    for path in (first, first / "file", second, second / "file"):
        os.utime(path, (1, 1))
    assert digest(first) == digest(second)

    if fault == "bytes":
        (second / "file").write_text("toxt")
        os.utime(second / "file", (1, 1))
    elif fault == "time":
        os.utime(second / "file", (1, 2))
    elif fault == "mode":
        (second / "file").chmod(0o600)
    else:
        (second / "file").rename(second / "life")
        os.utime(second, (1, 1))

    assert digest(first) != digest(second)


@pytest.mark.programs
def test_every_module_is_compiled_with_its_path_in_lambda(
    compiled: Callable[[str], Path],
) -> None:
    layer = compiled("ApiX86Layer")
    sources = set(layer.rglob("*.py"))

    assert sources
    for source in sources:
        content = Path(importlib.util.cache_from_source(str(source), optimization="")).read_bytes()
        assert content[:8] == importlib.util.MAGIC_NUMBER + NEVER_CHECKED
        assert codes(marshal.loads(content[16:])) == {f"/opt/python/{source.relative_to(layer)}"}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["DependenciesX86Layer", "LibraryLayer"])
def test_packages_are_bytecode_only_and_traces_name_file_and_line(
    compiled: Callable[[str], Path], built: Callable[[str], Path], name: str
) -> None:
    layer, uncompiled = compiled(name), built(name)
    sources = {path.relative_to(uncompiled) for path in uncompiled.rglob("*.py")}

    assert sources
    assert list(layer.rglob("*.py")) == []
    assert {path.relative_to(layer).with_suffix(".py") for path in layer.rglob("*.pyc")} == sources
    for source in sources:
        content = (layer / source).with_suffix(".pyc").read_bytes()
        assert content[:8] == importlib.util.MAGIC_NUMBER + NEVER_CHECKED
        assert codes(marshal.loads(content[16:])) == {f"/opt/python/{source}"}


@pytest.mark.programs
def test_layer_without_its_interpreter_is_reported_as_uncompiled(
    tmp_path: Path,
) -> None:
    shim = tmp_path / "python9.9"
    shim.write_text("#!/bin/sh\necho 'not installed' >&2\nexit 127\n")
    shim.chmod(0o755)
    pythons = {
        "of another version": (sys.executable, THIS),
        "that does not run": (str(shim), "no version"),
        "that is not there": (str(tmp_path / "none"), "no version"),
    }
    for name, (python, fault) in pythons.items():
        made = make(
            "LibraryLayer", tmp_path / name / "layer", tmp_path / name / "in", PYTHON=python, VERSION="9.9"
        )

        assert made.returncode == 0
        assert made.stderr.splitlines() == [
            f"layer: not compiled: expected Python 9.9, got {fault} from {python}"
        ]
        assert list((tmp_path / name / "layer").rglob("*.pyc")) == []


def test_layer_build_requires_a_destination() -> None:
    done = subprocess.run(
        ["make", "-C", ROOT / "layers" / "library", "build-LibraryLayer"],
        env={name: value for name, value in os.environ.items() if name != "ARTIFACTS_DIR"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode != 0
    assert "ARTIFACTS_DIR is not set" in done.stderr
