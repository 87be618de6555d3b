"""Finish a built layer: remove the files of installers, compile, and make the result reproducible.

    python3 finish.py DIRECTORY VERSION PYTHON [compiled]

DIRECTORY is the layer's `python`, VERSION its Python, and PYTHON an interpreter, which may have another version. Lambda
cannot write to a layer, so a module that is not compiled here is compiled at every cold start. With `compiled`, the
sources of compiled modules are removed: half a megabyte of the zip that nothing reads.
"""

import os
import subprocess
import sys
from pathlib import Path
from shutil import rmtree

from lazy_imports import defer_imports
from versions import state_versions
from zones import pack

# The files of a distribution that only installers read. METADATA, entry_points.txt and the licence stay.
NEEDLESS = ("RECORD", "INSTALLER", "REQUESTED", "WHEEL", "direct_url.json", "top_level.txt", "sboms")
# 2000-01-01, because a zip cannot contain a time before 1980 in any time zone.
MOMENT = 946_684_800
PRINT_VERSION = "import sys; print('%d.%d' % sys.version_info[:2])"


def finish(layer: Path, version: str, python: str, *, compiled: bool = False) -> None:
    """Finish the layer in place."""
    strip(layer)
    pack(layer)
    state_versions(layer)
    defer_imports(layer)
    found = version_of(python)
    if found == version:
        compile_all(layer, python, instead=compiled)
    else:
        print(
            f"{layer.parent.name}: not compiled: expected Python {version}, got {found} from {python}",
            file=sys.stderr,
        )
    normalise(layer)


def strip(layer: Path) -> None:
    """Remove commands, which name the Python of the host, and files that only installers and type checkers read."""
    metadata = (path / name for path in layer.glob("*.dist-info") for name in NEEDLESS)
    for path in (layer / "bin", *metadata, *layer.rglob("*.pyi")):
        rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def version_of(python: str) -> str:
    """Return the version that an interpreter prints, or a note if it does not run."""
    try:
        done = subprocess.run([python, "-c", PRINT_VERSION], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "no version"
    return done.stdout.strip()


def compile_all(layer: Path, python: str, *, instead: bool = False) -> None:
    """Compile so that Python does not compare a .pyc with its source, whose time a zip changes.

    With `instead`, a .pyc replaces its source; tracebacks still contain file and line.
    """
    options = ["-q", "-f", "--invalidation-mode", "unchecked-hash", *(["-b"] if instead else [])]
    places = ["-s", layer.parent, "-p", "/opt", layer]
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    subprocess.run([python, "-m", "compileall", *options, *places], check=True, env=environment)
    for source in layer.rglob("*.py") if instead else ():
        source.unlink()


def normalise(layer: Path) -> None:
    """Give every file the same time and mode, because a zip stores both."""
    for path in (layer, *layer.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
        os.utime(path, (MOMENT, MOMENT))


if __name__ == "__main__":
    finish(Path(sys.argv[1]).resolve(), *sys.argv[2:4], compiled="compiled" in sys.argv[4:])
