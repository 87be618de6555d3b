"""The layers: what the functions import is in them, for the processor and the Python of the template."""

import ast
import os
import re
import struct
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from shutil import copytree

import pytest
from packaging.requirements import Requirement

from tests.template.stack import ROOT, Stack

DEPENDENCIES = ROOT / "layers" / "dependencies"
IN_THE_RUNTIME = {"boto3", "botocore"}
TAG = {"arm64": "aarch64", "x86_64": "x86_64"}
MACHINE = {"arm64": 183, "x86_64": 62}  # as ELF numbers them


def pins(file: Path) -> dict[str, str]:
    """The distributions of a requirements file, with their versions."""
    return dict(re.findall(r"^([a-z0-9._-]+)==([^ ]+)", file.read_text("utf-8"), re.MULTILINE))


def build(layer: str, artifacts: Path, scratch: Path) -> Path:
    """Build a layer as SAM does: in a copy of its folder, with its own Makefile, told no more than where to."""
    folder = ROOT / "layers" / ("library" if layer == "LibraryLayer" else "dependencies")
    copytree(folder, scratch)
    subprocess.run(
        ["make", "--silent", "--makefile", folder / "Makefile", f"build-{layer}"],
        cwd=scratch, check=True, env={**os.environ, "ARTIFACTS_DIR": str(artifacts), "PIP": f"{sys.executable} -m pip"},
    )  # fmt: skip
    return artifacts / "python"


def strangers(package: Path, architecture: str, runtime: str) -> Iterator[str]:
    """The libraries in a built layer that are for another processor or another Python."""
    tag = f"cpython-{runtime.removeprefix('python').replace('.', '')}-{TAG[architecture]}-linux-gnu"
    for path in package.rglob("*.so*"):
        (machine,) = struct.unpack("<H", path.read_bytes()[18:20])
        tagged = re.search(r"\.(cpython-[^.]+)\.so$", path.name)
        if machine != MACHINE[architecture] or (tagged and tagged[1] != tag):
            yield path.name


def imported(folder: Path) -> Iterator[str]:
    """The top-level modules that code imports, anywhere in it."""
    for path in folder.rglob("*.py"):
        if {"cli", "local"} & set(path.relative_to(folder).parts):
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                yield from (alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield node.module.partition(".")[0]


def own_modules() -> set[str]:
    functions = {path.stem for path in (ROOT / "functions").glob("*/*.py")}
    return {"minutehand", *functions, *sys.stdlib_module_names}


def test_what_the_functions_and_the_library_import_is_in_the_layer_or_in_the_runtime() -> None:
    wanted = {*imported(ROOT / "functions"), *imported(ROOT / "shared" / "minutehand")} - own_modules()
    layer = set(pins(DEPENDENCIES / "requirements.txt"))
    distributions = metadata.packages_distributions()

    assert {"psycopg", "fastapi"} <= wanted
    assert {
        module
        for module in wanted - IN_THE_RUNTIME
        if not layer & {name.lower().replace("_", "-") for name in distributions[module]}
    } == set()


def test_the_layer_has_the_versions_that_the_tests_run_with() -> None:
    layer, tested = pins(DEPENDENCIES / "requirements.txt"), pins(ROOT / "requirements.lock")

    assert layer
    assert layer.items() <= tested.items()


def test_the_layer_is_complete_though_pip_installs_it_without_dependencies(stack: Stack) -> None:
    layer = pins(DEPENDENCIES / "requirements.txt")
    (runtime,) = {function["Runtime"] for function in stack.functions.values()}
    environment = {"python_version": runtime.removeprefix("python"), "extra": "binary"}

    needed = {
        requirement.name.lower().replace("_", "-")
        for name in layer
        for requirement in map(Requirement, metadata.requires(name) or [])
        if "extra" not in str(requirement.marker) or "binary" in str(requirement.marker)
        if requirement.marker is None or requirement.marker.evaluate(environment)
    }

    assert "psycopg-binary" in needed
    assert needed <= set(layer)


def test_what_the_layer_is_compiled_from_is_in_it() -> None:
    asked = re.findall(r"^[a-z0-9-]+", (DEPENDENCIES / "requirements.in").read_text("utf-8"), re.MULTILINE)

    assert set(asked) <= set(pins(DEPENDENCIES / "requirements.txt"))


@pytest.mark.slow
def test_the_dependencies_are_built_for_the_template_s_python_and_each_processor(
    stack: Stack, tmp_path: Path
) -> None:
    (runtime,) = {function["Runtime"] for function in stack.functions.values()}
    layers = {"arm64": "DependenciesArm64Layer", "x86_64": "DependenciesX86Layer"}

    built = {name: build(layer, tmp_path / name, tmp_path / layer) for name, layer in layers.items()}

    for architecture, package in built.items():
        other = {"arm64": "x86_64", "x86_64": "arm64"}[architecture]
        libraries = {path.name for path in package.rglob("*.so*")}
        assert list(strangers(package, architecture, runtime)) == []
        assert set(strangers(package, other, runtime)) == libraries
        assert (
            set(strangers(package, architecture, "python3.11"))
            >= {n for n in libraries if "cpython" in n}
            != set()
        )
        assert (package / "fastapi" / "__init__.py").exists()
        assert list(package.rglob("*.pyc")) == []


def test_the_library_s_layer_is_the_library_and_works_without_what_it_leaves_out(tmp_path: Path) -> None:
    package = build("LibraryLayer", tmp_path / "layer", tmp_path / "scratch") / "minutehand"
    left_out = {"cli", "local", "__main__.py", "__pycache__"}
    whole = {path.name for path in (ROOT / "shared" / "minutehand").iterdir()}
    importing = (
        "import sys, pkgutil, importlib\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "import minutehand\n"
        "assert minutehand.__file__.startswith(sys.argv[1])\n"
        "for module in pkgutil.walk_packages(minutehand.__path__, 'minutehand.'): importlib.import_module(module.name)"
    )

    assert {path.name for path in package.iterdir()} == whole - left_out
    subprocess.run([sys.executable, "-c", importing, package.parent], check=True)
