"""Ctrl-C while the command line is imported ends it with 130, without a traceback."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# A package that is imported before the one of the same name, and presses Ctrl-C.
CTRL_C = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nraise SystemExit('not interrupted')\n"


@pytest.mark.parametrize("package", ["psycopg", "click"])
def test_ctrl_c_during_the_imports_exits_with_130(tmp_path: Path, package: str) -> None:
    (tmp_path / f"{package}.py").write_text(CTRL_C)
    path = os.pathsep.join([str(tmp_path), str(ROOT / "shared")])

    ended = subprocess.run(
        [sys.executable, "-m", "minutehand_command", "ls"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
    )

    assert (ended.returncode, ended.stdout, ended.stderr) == (130, b"", b"")


def test_command_starts_outside_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

    assert project["scripts"] == {"minutehand": "minutehand_command:main"}
