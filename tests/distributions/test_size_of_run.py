"""The first impression: `make run` in a clean tree, with an environment that does not grow."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.distributions.building import ROOT
from tests.distributions.environments import MINUTE, NOT_PASSED_ON
from tests.ports import free_port

pytestmark = pytest.mark.install

MAX_MEGABYTES = 200
# What the tree of the tests has besides that of a clone.
OWN = {".venv", ".git", ".minutehand", ".emulator"}


def megabytes(folder: Path) -> float:
    """Return the size of the files of a folder, without links."""
    files = (path.lstat() for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sum(file.st_size for file in files) / 1e6


def test_environment_of_make_run_has_at_most_200_mb(tmp_path: Path) -> None:
    for path in ROOT.iterdir():
        if path.name not in OWN:
            (tmp_path / path.name).symlink_to(path)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(NOT_PASSED_ON)}
    # With the bytecode that a run writes.
    inherited.pop("PYTHONDONTWRITEBYTECODE", None)
    ended = subprocess.run(
        ["make", "run", f"ARGS=--until-idle --port {free_port()}"],
        cwd=tmp_path,
        env=inherited,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=5 * MINUTE,
    )

    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "stopped: 14 enqueued, 13 done" in ended.stdout
    assert megabytes(tmp_path / ".venv") <= MAX_MEGABYTES
