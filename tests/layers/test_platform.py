"""A layer is built for the Python and the architecture of the template, or the build fails."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest

from tests.layers.making import MACHINES, ROOT, make

CHECK = ROOT / "layers" / "check.py"
ELF = b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x03\x00%c\x00"  # a library's first bytes, but for its machine


def library(machine: int) -> bytes:
    return ELF % machine + bytes(44)


def check(layer: Path, version: str, machine: str) -> str:
    """Return the findings of check.py for a layer."""
    done = subprocess.run(
        [sys.executable, CHECK, layer, version, machine], capture_output=True, text=True, check=False
    )
    assert bool(done.stderr) == bool(done.returncode)
    return done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["Arm64", "X86"])
@pytest.mark.parametrize("kind", ["Dependencies", "Api", "Encryption"])
def test_layer_is_built_for_its_python_and_architecture(
    kind: str, suffix: str, built: Callable[[str], Path], runtime: str
) -> None:
    layer, machine = built(f"{kind}{suffix}Layer"), MACHINES[suffix]
    (other,) = set(MACHINES.values()) - {machine}
    libraries = {str(path.relative_to(layer)) for path in layer.rglob("*.so*")}
    tagged = {name for name in libraries if "cpython" in name}
    older = f"3.{int(runtime.partition('.')[2]) - 1}"

    assert tagged
    assert check(layer, runtime, machine) == ""
    assert {line.partition(":")[0] for line in check(layer, runtime, other).splitlines()[1:]} == libraries
    assert {line.partition(":")[0] for line in check(layer, older, machine).splitlines()[1:]} == tagged


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("a.so", library(62), "a.so: for x86_64, not for aarch64"),
        ("b.so.3.1", library(62), "b.so.3.1: for x86_64, not for aarch64"),
        (
            "c.cpython-312-aarch64-linux-gnu.so",
            library(183),
            "tagged cpython-312-aarch64-linux-gnu, not cpython-313",
        ),
        ("d.cpython-313-x86_64-linux-gnu.so", library(183), "tagged cpython-313-x86_64-linux-gnu, not"),
        ("e.cpython-313-aarch64-linux-musl.so", library(183), "tagged cpython-313-aarch64-linux-musl, not"),
        ("f.so", b"\xcf\xfa\xed\xfe" + bytes(60), "f.so: for an unknown format"),
        ("g.so", b"\x7fELF\x01\x01" + bytes(58), "g.so: for an unknown machine"),
        ("h.so", b"", "h.so: for an unknown format"),
        ("__pycache__/i.cpython-311.pyc", b"", "tagged cpython-311, not cpython-313"),
    ],
)
def test_unloadable_files_are_named(name: str, content: bytes, fault: str, tmp_path: Path) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(content)

    assert fault in check(tmp_path, "3.13", "aarch64")


def test_loadable_files_are_not_named(tmp_path: Path) -> None:
    for name in ("a.so.1", "b.abi3.so", "c.cpython-313-aarch64-linux-gnu.so"):
        (tmp_path / name).write_bytes(library(183))
    (tmp_path / "d.cpython-313.pyc").touch()

    assert check(tmp_path, "3.13", "aarch64") == ""


@pytest.mark.programs
def test_machine_code_in_a_shared_layer_fails_the_build(tmp_path: Path) -> None:
    root = tmp_path / "house"
    copytree(ROOT / "layers", root / "layers")
    copytree(ROOT / "shared", root / "shared", ignore=ignore_patterns("__pycache__"))
    (root / "template.yaml").write_bytes((ROOT / "template.yaml").read_bytes())
    sound = make("LibraryLayer", tmp_path / "sound", tmp_path / "one", root)
    (root / "shared" / "minutehand" / "fast.so").write_bytes(library(62))

    made = make("LibraryLayer", tmp_path / "planted", tmp_path / "two", root)

    assert sound.returncode == 0, sound.stderr
    assert made.returncode != 0
    assert "minutehand/fast.so: for x86_64, not for any" in made.stderr


@pytest.mark.slow
def test_package_for_another_python_fails_the_build(tmp_path: Path) -> None:
    """The wheel of another Python, as a misbehaving pip would install it."""
    pip = tmp_path / "pip"
    pip.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pip "$@" --python-version 3.12\n')
    pip.chmod(0o755)

    made = make("DependenciesArm64Layer", tmp_path / "layer", tmp_path / "scratch", PIP=str(pip))

    assert made.returncode != 0
    assert "tagged cpython-312-aarch64-linux-gnu, not cpython-313-aarch64-linux-gnu" in made.stderr
