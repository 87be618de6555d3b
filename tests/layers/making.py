"""Build layers as SAM does, and examine the result."""

import hashlib
import os
import subprocess
import sys
import zipfile
from io import BytesIO
from pathlib import Path
from shutil import copytree

ROOT = Path(__file__).parents[2]
FOLDERS = {
    "DependenciesArm64Layer": "dependencies",
    "DependenciesX86Layer": "dependencies",
    "ApiArm64Layer": "api",
    "ApiX86Layer": "api",
    "EncryptionArm64Layer": "encryption",
    "EncryptionX86Layer": "encryption",
    "LibraryLayer": "library",
}
MACHINES = {"Arm64": "aarch64", "X86": "x86_64"}
THIS = f"{sys.version_info.major}.{sys.version_info.minor}"
COMPILED = {
    "VERSION": THIS,
    "PYTHON": sys.executable,
}  # what is sure to be here: this interpreter, for itself


def make(
    layer: str, artifacts: Path, scratch: Path, /, root: Path = ROOT, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Build a layer as SAM does: in a copy of its folder, with its Makefile and the destination only."""
    folder = root / "layers" / FOLDERS[layer]
    copytree(folder, scratch)
    arguments = [f"{name}={value}" for name, value in {"HOST_PYTHON": sys.executable, **variables}.items()]
    return subprocess.run(
        ["make", "--silent", "--makefile", folder / "Makefile", f"build-{layer}", *arguments],
        cwd=scratch,
        env={**os.environ, "ARTIFACTS_DIR": str(artifacts)},
        capture_output=True,
        text=True,
    )


def build(layer: str, place: Path, **variables: str) -> Path:
    """Build a layer somewhere and return what becomes /opt/python."""
    made = make(layer, place / layer, place / f"scratch-{layer}", ROOT, **variables)
    assert made.returncode == 0, made.stderr
    return place / layer / "python"


def digest(layer: Path) -> str:
    """Hash everything that a zip of the layer stores: names, bytes, times and modes."""
    hasher = hashlib.sha256()
    for path in (layer, *sorted(layer.rglob("*"))):
        facts = path.stat()
        hasher.update(repr((str(path.relative_to(layer)), facts.st_mode, facts.st_mtime)).encode())
        hasher.update(path.read_bytes() if path.is_file() else b"")
    return hasher.hexdigest()


def zipped(*folders: Path) -> int:
    """Return the bytes of a zip, packed as `sam package` packs."""
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for folder in folders:
            for path in sorted(folder.rglob("*")):
                file.write(path, path.relative_to(folder.parent))
    return len(buffer.getvalue())
