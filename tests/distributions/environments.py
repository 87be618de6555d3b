"""New virtual environments, for each supported Python that this machine has.

MINUTEHAND_TEST_PYTHONS    the versions that must be tested, such as "3.11 3.14"; others are skipped if they are missing
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
REQUIRED = os.environ.get("MINUTEHAND_TEST_PYTHONS", "").split()
PRINT_VERSION = "import sys, ensurepip, venv; print('%d.%d' % sys.version_info[:2])"
# Variables of the test's own environment.
NOT_PASSED_ON = ("VIRTUAL_ENV", "PYTHONPATH", "DATABASE_URL", "MINUTEHAND_")
MINUTE = 60


@dataclass(frozen=True)
class Environment:
    """A virtual environment."""

    folder: Path

    @property
    def packages(self) -> Path:
        """The folder of the installed packages."""
        (found,) = self.folder.glob("lib/python*/site-packages")
        return found

    def run(self, *command: str, cwd: Path, **variables: str) -> str:
        """Run a program of the environment and return its output; fail if the program does."""
        bin = self.folder / "bin"
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(NOT_PASSED_ON)}
        environment = {**inherited, "PATH": f"{bin}:/usr/bin:/bin", **variables}
        done = subprocess.run(
            [str(bin / command[0]), *command[1:]],
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=5 * MINUTE,
        )
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def install(self, *requirements: str) -> None:
        """Install packages with pip."""
        options = ("--quiet", "--disable-pip-version-check")
        self.run("python", "-m", "pip", "install", *options, *requirements, cwd=self.folder)


def create(python: str, folder: Path) -> Environment:
    """Create an environment that contains only pip."""
    subprocess.run([python, "-m", "venv", folder], check=True)
    return Environment(folder)


def find(version: str) -> str | None:
    """Return an interpreter of this version that can create environments: ours, on the PATH, or of pyenv."""
    return next((python for python in _candidates(version) if _prints(python, version)), None)


def _candidates(version: str) -> Iterator[str]:
    yield sys.executable
    if on_path := shutil.which(f"python{version}"):
        yield on_path
    for path in sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python{version}")):
        yield str(path)


def _prints(python: str, version: str) -> bool:
    done = subprocess.run([python, "-c", PRINT_VERSION], capture_output=True, text=True, check=False)
    return done.stdout.strip() == version
