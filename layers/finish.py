"""Finish a built layer: drop what only installers read, compile, and leave the same bytes whenever it is built.

    python3 finish.py DIRECTORY VERSION PYTHON [compiled]

DIRECTORY is the layer's `python`, VERSION the Python that it is for, PYTHON an interpreter that may be of this
version. Lambda cannot write into a layer, so what is not compiled here is compiled at every cold start. With
`compiled`, what is compiled here does not keep its source, half a megabyte of the zip that nothing reads.
"""

import os
import subprocess
import sys
from pathlib import Path
from shutil import rmtree

from zones import pack

# Of a distribution's papers, what importlib.metadata reads stays: METADATA and entry_points.txt; and its licence.
NEEDLESS = ("RECORD", "INSTALLER", "REQUESTED", "WHEEL", "direct_url.json", "top_level.txt", "sboms")
MOMENT = 946_684_800  # 2000-01-01: a zip knows no time before 1980, wherever it is made
TELL_VERSION = "import sys; print('%d.%d' % sys.version_info[:2])"


def finish(layer: Path, version: str, python: str, *, compiled: bool = False) -> None:
    """Finish the layer in place."""
    strip(layer)
    pack(layer)
    found = version_of(python)
    if found == version:
        compile_all(layer, python, instead=compiled)
    else:
        print(
            f"{layer.parent.name}: no .pyc, for want of a Python {version}: {python} is {found}",
            file=sys.stderr,
        )
    settle(layer)


def strip(layer: Path) -> None:
    """Remove the commands, which name the Python of the host, and what only installers and type checkers read."""
    papers = (path / name for path in layer.glob("*.dist-info") for name in NEEDLESS)
    for path in (layer / "bin", *papers, *layer.rglob("*.pyi")):
        rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def version_of(python: str) -> str:
    """Return an interpreter's version as it tells it; a name on the PATH need not run."""
    try:
        told = subprocess.run([python, "-c", TELL_VERSION], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "nothing that runs"
    return told.stdout.strip()


def compile_all(layer: Path, python: str, *, instead: bool = False) -> None:
    """Compile for good: Python never compares the .pyc with the source, whose time a zip changes.

    Instead of the source, a .pyc lies where the source was: a trace still names file and line.
    """
    subprocess.run(
        [
            python,
            "-m",
            "compileall",
            "-q",
            "-f",
            "--invalidation-mode",
            "unchecked-hash",
            *(["-b"] if instead else []),
            "-s",
            layer.parent,
            "-p",
            "/opt",
            layer,
        ],
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "0"},
    )
    for source in layer.rglob("*.py") if instead else ():
        source.unlink()


def settle(layer: Path) -> None:
    """Give every file the same time and mode, which a zip would keep."""
    for path in (layer, *layer.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
        os.utime(path, (MOMENT, MOMENT))


if __name__ == "__main__":
    finish(Path(sys.argv[1]).resolve(), *sys.argv[2:4], compiled="compiled" in sys.argv[4:])
