"""Fixtures of the tests of declared kinds: a registry and modules that one test has for itself."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from minutehand.kinds import registry
from tests.queue.conftest import direct_queue

__all__ = ["direct_queue"]

Write = Callable[..., None]


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_declared", {})


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Write the modules of a package `shop`, by their names in it."""

    def write(**modules: str) -> None:
        for name, text in {"__init__": "", **modules}.items():
            path = tmp_path / "shop" / f"{name.replace('.', '/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(dedent(text))

    monkeypatch.syspath_prepend(str(tmp_path))
    yield write
    for name in [name for name in sys.modules if name.partition(".")[0] == "shop"]:
        del sys.modules[name]
