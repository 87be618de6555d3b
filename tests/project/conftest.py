"""Projects in temporary folders, and the command line in them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from minutehand.cli.app import cli

Run = Callable[..., Result]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(here: Path) -> Run:
    """Run a command; the result has its output and exit code."""
    return lambda *arguments: CliRunner().invoke(cli, [*arguments])


@pytest.fixture
def shop(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new project, which is the current folder."""
    assert run("init", "shop").exit_code == 0
    monkeypatch.chdir(here / "shop")
    return here / "shop"
