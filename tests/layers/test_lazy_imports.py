"""The changes to packages in a layer apply to their text, and a text that has changed fails the build."""

import os
import subprocess
import sys
from pathlib import Path
from shutil import copytree, ignore_patterns

import fastapi
import psycopg
import pytest

from tests.layers.making import ROOT

sys.path.append(str(ROOT / "layers"))
from lazy_imports import CHANGES, ChangedError, defer_imports


@pytest.fixture
def layer(tmp_path: Path) -> Path:
    """A layer with packages of this environment."""
    for package in (psycopg, fastapi):
        folder = Path(package.__path__[0])
        copytree(folder, tmp_path / folder.name, ignore=ignore_patterns("__pycache__"))
    return tmp_path


@pytest.mark.programs
def test_asyncio_is_imported_lazily_everywhere(layer: Path) -> None:
    defer_imports(layer)

    for path in (layer / "psycopg").rglob("*.py"):
        lines = path.read_text("utf-8").splitlines()
        assert not [line for line in lines if line.startswith(("import asyncio", "from asyncio"))], path
        compile("\n".join(lines), path, "exec")


@pytest.mark.parametrize("name", sorted(CHANGES))
@pytest.mark.programs
def test_changed_text_fails_the_build(layer: Path, name: str) -> None:
    path = layer / name
    (old, _), *_ = CHANGES[name]
    path.write_text(path.read_text("utf-8").replace(old, ""), "utf-8")

    with pytest.raises(ChangedError, match=name):
        defer_imports(layer)


def test_layer_without_the_packages_stays_as_it_is(tmp_path: Path) -> None:
    defer_imports(tmp_path)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.programs
def test_deferred_models_of_openapi_are_built_when_used(layer: Path) -> None:
    defer_imports(layer)
    code = (
        "from fastapi import FastAPI; from fastapi.openapi import models; app = FastAPI(); "
        "app.get('/x/{y}')(lambda y: y); print(models.Schema.__pydantic_complete__, list(app.openapi()['paths']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(layer)},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == "False ['/x/{y}']\n"
