"""Build the distributions, as `make dist` does."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Folders of the two projects.
PROJECTS = (ROOT, ROOT / "pipeline")


def build(project: Path, folder: Path, target: str = "wheel") -> Path:
    """Build a wheel or an sdist of a project into a folder."""
    before = set(folder.glob("*"))
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(folder)]
    subprocess.run(command, cwd=project, check=True, capture_output=True)
    (built,) = set(folder.glob("*")) - before
    return built
