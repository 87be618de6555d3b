"""Package the pipeline for a cluster that has only Spark and Python.

    python pipeline/package.py [--python 3.11] [--machine x86_64] [--into dist]

Writes minutehand-pipeline-<python>-<machine>.tar.gz, which has everything but Spark, for `spark-submit --archives`; the
wheels; and main.py, which spark-submit runs. It runs on any machine, and the same inputs give the same bytes.
"""

import argparse
import gzip
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
MACHINES = ("x86_64", "aarch64")
PYTHONS = ("3.11", "3.12", "3.13")
# The modification time of every file in the archive: 2026-01-01.
MODIFIED = 1_767_225_600
EXCLUDED = (
    "bin",
    "**/tests",
    "**/*.pyi",
    "pyarrow/include",
    "pyarrow/src",
    "numpy/**/*.pxd",
    "**/RECORD",
    "**/direct_url.json",
)

# A link to an interpreter would contain a path of this machine. This script finds the cluster's interpreter on the PATH
# and the packages next to itself, wherever Spark unpacks them.
PYTHON = """\
#!/bin/sh
here=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
PYTHONPATH="$here/lib${{PYTHONPATH:+:$PYTHONPATH}}" PYTHONNOUSERSITE=1 exec python{version} "$@"
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Parse the arguments and write the package."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--python", choices=PYTHONS, default=PYTHONS[0], help="the cluster's Python")
    parser.add_argument("--machine", choices=MACHINES, default=MACHINES[0], help="the cluster's processor")
    parser.add_argument("--into", type=Path, default=ROOT / "dist", help="the folder to write to")
    options = parser.parse_args(arguments)
    options.into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        wheels = _build_wheels(Path(scratch))
        environment = Path(scratch, "environment")
        _install(environment / "lib", wheels, options.python, options.machine)
        _interpreter(environment / "bin" / "python", options.python)
        name = f"minutehand-pipeline-{options.python}-{options.machine}.tar.gz"
        _pack(environment, options.into / name)
        for wheel in wheels:
            shutil.copy(wheel, options.into)
    shutil.copy(HERE / "main.py", options.into)
    print(options.into / name)


def _build_wheels(scratch: Path) -> list[Path]:
    """Build the wheels of the library and the pipeline."""
    _pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(scratch), str(ROOT), str(HERE))
    return sorted(scratch.glob("*.whl"))


def _install(lib: Path, wheels: Sequence[Path], python: str, machine: str) -> None:
    """Install the pinned packages for the cluster's Python and processor, and the glibc of Amazon Linux 2023."""
    glibcs = [*(f"_2_{minor}" for minor in range(34, 16, -1)), "2014"]
    platforms = [word for glibc in glibcs for word in ("--platform", f"manylinux{glibc}_{machine}")]
    options = [
        "--no-compile",
        "--no-deps",
        "--only-binary=:all:",
        "--require-hashes",
        "--implementation",
        "cp",
    ]
    target = ["--target", str(lib), "--requirement", str(HERE / "requirements.lock")]
    _pip("install", *options, "--python-version", python, *platforms, *target)
    for wheel in wheels:
        shutil.unpack_archive(wheel, lib, "zip")
    for pattern in EXCLUDED:
        for path in list(lib.glob(pattern)):
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    check = [sys.executable, str(ROOT / "layers" / "check.py"), str(lib), python, machine]
    subprocess.run(check, check=True)


def _interpreter(path: Path, version: str) -> None:
    path.parent.mkdir(parents=True)
    path.write_text(PYTHON.format(version=version))
    path.chmod(0o755)


def _pack(folder: Path, archive: Path) -> None:
    """Write the folder's files, sorted, without owners and times."""
    with (
        archive.open("wb") as file,
        gzip.GzipFile("", "wb", compresslevel=4, fileobj=file, mtime=MODIFIED) as packed,
        tarfile.open(fileobj=packed, mode="w") as tar,
    ):
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            tar.add(path, str(path.relative_to(folder)), filter=_normalized)


def _normalized(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = MODIFIED, 0, 0, "", ""
    entry.mode = 0o755 if entry.mode & 0o100 else 0o644
    return entry


def _pip(*words: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *words], check=True
    )


if __name__ == "__main__":
    main()
