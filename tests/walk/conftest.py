"""A project as a user gets it: from the wheel, in an empty folder, with an environment of its own.

These tests run with MINUTEHAND_TEST_SAM=<path of sam>, which `make test/project` sets; otherwise none is collected.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.distributions.building import ROOT, build

SAM = Path(os.environ.get("MINUTEHAND_TEST_SAM", "sam")).absolute()
collect_ignore_glob = [] if SAM.is_file() else ["test_*.py"]

Execute = Callable[..., str]


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that contains the wheel of this version."""
    return build(ROOT, tmp_path_factory.mktemp("wheels")).parent


@pytest.fixture(scope="session")
def execute(wheels: Path) -> Execute:
    """Run a command in a folder, with pip finding the wheel; return its output."""
    environment = {
        **{
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("MINUTEHAND", "DATABASE"))
        },
        "PATH": os.pathsep.join([str(SAM.parent), os.environ["PATH"]]),
        "PIP_FIND_LINKS": str(wheels),
        "SAM_CLI_TELEMETRY": "0",
        "AWS_DEFAULT_REGION": "eu-central-1",
    }

    def execute(folder: Path, *command: str | Path) -> str:
        done = subprocess.run(
            [*map(str, command)],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            text=True,
            capture_output=True,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    return execute


@pytest.fixture(scope="session")
def minutehand(execute: Execute, wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command of the wheel, in a new environment."""
    home = tmp_path_factory.mktemp("environment")
    execute(home, sys.executable, "-m", "venv", ".")
    execute(home, home / "bin" / "pip", "install", "--quiet", f"{next(wheels.glob('*.whl'))}[cli]")
    return home / "bin" / "minutehand"
