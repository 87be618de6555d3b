"""Layers that are built once for all tests of a process."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.layers.making import COMPILED, build
from tests.template.stack import Stack

TEMPLATE = Path(__file__).parents[2] / "template.yaml"


@pytest.fixture(scope="session")
def runtime() -> str:
    """The Python version of the template."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
        (runtime,) = {
            function["Runtime"] for function in Stack(TEMPLATE.read_text("utf-8")).functions.values()
        }
    return str(runtime).removeprefix("python")


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Build a layer for the template's Python, without .pyc files."""

    @cache
    def of(layer: str) -> Path:
        return build(layer, tmp_path_factory.mktemp("built"), PYTHON="no-python-at-all")

    return of


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Build a layer for the Python of the tests, with .pyc files."""

    @cache
    def of(layer: str) -> Path:
        return build(layer, tmp_path_factory.mktemp("compiled"), **COMPILED)

    return of
