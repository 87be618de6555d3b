"""Layers contain the imports of the functions, in the tested versions."""

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.template.cases import CASES
from tests.template.stack import ROOT, Stack

LAYERS = ROOT / "layers"
IN_THE_RUNTIME = {"boto3", "botocore"}
# Used only if the team's own layers contain them.
OPTIONAL = {"asgiref", "asyncpg", "django", "opentelemetry", "psycopg2", "sqlalchemy"}
# Packages of the library that no function needs.
ELSEWHERE = {"cli", "local", "project", "stack", "testing"}
FIXTURES = Path("integrations/django/testing.py")


def pins(*layers: str) -> dict[str, str]:
    """Return the distributions of layers, with their versions."""
    files = (LAYERS / layer / "requirements.txt" for layer in layers)
    return dict(pin for file in files for pin in pinned(file))


def pinned(file: Path) -> list[tuple[str, str]]:
    return re.findall(r"^([a-z0-9._-]+)==([^ ]+)", file.read_text("utf-8"), re.MULTILINE)


def code_of(function: str) -> Iterator[Path]:
    """Return the files of a function and of the library, without other functions and modules for people's machines."""
    yield from (ROOT / "functions" / function).rglob("*.py")
    library = ROOT / "shared" / "minutehand"
    for path in library.rglob("*.py"):
        module = path.relative_to(library)
        first, *others = module.with_suffix("").parts
        if (
            module != FIXTURES
            and first not in ELSEWHERE
            and (first != "functions" or others[0] in (function, "__init__"))
        ):
            yield path


def imported(files: Iterator[Path]) -> Iterator[str]:
    """Return the top-level modules that code imports."""
    for path in files:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                yield from (alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield node.module.partition(".")[0]


# It reads the metadata of every installed package.
packages_distributions = cache(metadata.packages_distributions)


def distributions(module: str) -> set[str]:
    found = packages_distributions().get(module, [])
    return {name.lower().replace("_", "-") for name in found}


# Modules of Python's library from 3.14.
LATER_MODULES = {"annotationlib"}


def own_modules() -> set[str]:
    functions = {path.stem for path in (ROOT / "functions").glob("*/*.py")}
    return {"minutehand", "handlers", *functions, *sys.stdlib_module_names, *LATER_MODULES}


def layers_of(function: str) -> tuple[str, ...]:
    """Includes the encryption layer, which is attached only if payloads are encrypted."""
    return ("dependencies", "api", "encryption") if function == "api" else ("dependencies", "encryption")


@pytest.mark.parametrize(
    "function", sorted(path.parent.name for path in (ROOT / "functions").glob("*/app.py"))
)
def test_every_import_of_a_function_is_in_its_layers_or_runtime(function: str) -> None:
    wanted = {*imported(code_of(function))} - own_modules()
    layers = set(pins(*layers_of(function)))

    assert "psycopg" in wanted
    assert {
        module for module in wanted - IN_THE_RUNTIME - OPTIONAL if not layers & distributions(module)
    } == set()


@pytest.mark.parametrize("layer", ["dependencies", "api", "encryption"])
def test_layer_has_the_tested_versions(layer: str) -> None:
    tested = dict(pinned(ROOT / "requirements.lock"))

    assert pins(layer)
    assert pins(layer).items() <= tested.items()


@pytest.mark.parametrize(
    "python", ["the template's", "3.11"]
)  # the oldest supported one is used by local runs
@pytest.mark.parametrize(
    "layers", [("dependencies",), ("dependencies", "api"), ("dependencies", "encryption")]
)
def test_layers_contain_all_dependencies(layers: tuple[str, ...], python: str, stack: Stack) -> None:
    (runtime,) = {function["Runtime"] for function in stack.functions.values()}
    version = python if python[0].isdigit() else runtime.removeprefix("python")
    environment = {"python_version": version, "python_full_version": f"{version}.0", "extra": "binary"}

    needed = {
        requirement.name.lower().replace("_", "-")
        for name in pins(*layers)
        for requirement in map(Requirement, metadata.requires(name) or [])
        if "extra" not in str(requirement.marker) or "binary" in str(requirement.marker)
        if requirement.marker is None or requirement.marker.evaluate(environment)
    }

    assert "psycopg-binary" in needed
    assert needed <= set(pins(*layers))


def test_no_package_is_in_two_layers() -> None:
    layers = [pins(name).keys() for name in ("dependencies", "api", "encryption")]
    assert sum(map(len, layers)) == len(set().union(*layers))


@pytest.mark.parametrize("layer", ["dependencies", "api", "encryption"])
def test_layer_contains_its_requirements(layer: str) -> None:
    required = re.findall(
        r"^[a-z0-9-]+", (LAYERS / layer / "requirements.in").read_text("utf-8"), re.MULTILINE
    )

    assert required
    assert set(required) <= set(pins(layer))


def test_packages_are_pinned_and_installed_by_hash() -> None:
    for layer in ("dependencies", "api", "encryption"):
        text = (LAYERS / layer / "requirements.txt").read_text("utf-8")
        assert len(re.findall(r"^\S+==\S+ \\\n    --hash=sha256:", text, re.MULTILINE)) == len(pins(layer))
    assert "--require-hashes" in (LAYERS / "layer.mk").read_text("utf-8")


def test_every_layer_of_the_template_has_a_makefile_that_builds_it(stack: Stack) -> None:
    layers = {
        name: resource
        for name, resource in stack.template["Resources"].items()
        if resource["Type"] == "AWS::Serverless::LayerVersion"
    }

    assert layers
    for name, layer in layers.items():
        assert layer["Metadata"]["BuildMethod"] == "makefile"
        makefile = ROOT / layer["Properties"]["ContentUri"] / "Makefile"
        assert re.search(f"^build-{name}:$", makefile.read_text("utf-8"), re.MULTILINE)


@pytest.mark.planted(
    "      - Encrypts\n      - - &packages",
    "      - OnX86\n      - - &packages",
)
def test_encryption_layer_is_attached_only_if_needed(stack: Stack) -> None:
    wanted = {
        "existing": None,
        "x86": "EncryptionX86Layer",
        "encrypted by KMS": "EncryptionArm64Layer",
        "x86 unencrypted": None,
    }
    cases = CASES | {"x86 unencrypted": CASES["existing"] | {"Architecture": "x86_64"}}
    for case, layer in wanted.items():
        deployed = stack.deployed(**cases[case])
        made = {
            name for name in deployed.of_type("AWS::Lambda::LayerVersion") if name.startswith("Encryption")
        }
        attached = {
            str(each)
            for function in deployed.functions.values()
            for each in function["Layers"]
            if "Encryption" in str(each)
        }
        assert {name[: len(layer or "")] for name in made} == ({layer} if layer else set())
        assert len(attached) == len(made)


HANDLERS = "arn:aws:lambda:eu-central-1:123456789012:layer:shop-jobs:3"


@pytest.mark.planted("      Layers: \\*withHandlers\n", "")
@pytest.mark.planted(
    "\\[\\*packages, !Ref LibraryLayer, \\*encrypting, !Ref HandlersLayer\\]",
    "[*packages, !Ref LibraryLayer, !Ref HandlersLayer]",
)
def test_handlers_layer_is_the_last_of_the_worker_and_dispatcher(stack: Stack) -> None:
    for case in ("existing", "encrypted by KMS"):
        without = stack.deployed(**CASES[case]).functions
        functions = stack.deployed(**CASES[case], HandlersLayer=HANDLERS).functions
        counts = {name: len(function["Layers"]) for name, function in without.items()}
        added = {name: function["Layers"][counts[name] :] for name, function in functions.items()}

        assert all(functions[name]["Layers"][: counts[name]] == without[name]["Layers"] for name in added)
        assert {name: layers for name, layers in added.items() if layers} == {
            "DispatcherFunction": [HANDLERS],
            "WorkerFunction": [HANDLERS],
        }
