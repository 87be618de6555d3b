"""Parts: download Lambda's local server, its runtime client and boto3 from the package index."""

import platform
import subprocess
import sys
import tempfile
import zipfile
from importlib.metadata import version
from pathlib import Path

from emulator.cache import Cache
from emulator.errors import BuildError

ARCHITECTURES = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "arm64", "arm64": "arm64"}
PLATFORMS = {"x86_64": "x86_64", "arm64": "aarch64"}

# The wheel of the SAM CLI contains the local server; the rest of it is not used.
SERVER = "aws-sam-cli==1.170.0"
SERVER_HASH = "sha256:24ebaf5ecba38dc1758089968cb89ab61e124b84e92a344fc7a2771a47f4d0bf"
RUNTIME = ("awslambdaric==4.2.2", f"boto3=={version('boto3')}")


def architecture() -> str:
    """Return Lambda's name of this machine's architecture; raise BuildError if the local server cannot run here."""
    found = ARCHITECTURES.get(platform.machine().lower())
    if found is None or platform.system() != "Linux":
        raise BuildError(
            f"Lambda's local server requires Linux on x86_64 or arm64, got {platform.system()} on "
            f"{platform.machine()}: use a container or a virtual machine, or `make run`"
        )
    return found


def provide_server(cache: Cache) -> Path:
    """Return the local server, downloaded once."""
    name = f"aws-lambda-rie-{architecture()}"
    return cache.make("server", [SERVER, name], lambda folder: _fetch_server(folder, name)) / name


def provide_runtime(cache: Cache, python: str) -> Path:
    """Return a folder with the runtime client and boto3 for a version of Python, installed once."""
    return cache.make(
        "runtime", [*RUNTIME, python, architecture()], lambda folder: install(folder, python, *RUNTIME)
    )


def install(folder: Path, python: str, *arguments: str) -> None:
    """Install wheels for this machine's processor and a version of Python into a folder."""
    tag = PLATFORMS[architecture()]
    pip(
        "install",
        "--no-compile",
        "--only-binary=:all:",
        "--implementation",
        "cp",
        "--python-version",
        python,
        "--platform",
        f"manylinux_2_28_{tag}",
        "--platform",
        f"manylinux2014_{tag}",
        "--target",
        str(folder),
        *arguments,
    )


def pip(*arguments: str) -> None:
    """Run pip; raise BuildError with its output if it fails."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "--quiet",
        "--disable-pip-version-check",
        "--no-input",
        *arguments,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise BuildError(f"pip could not {arguments[0]}:\n{done.stderr.strip() or done.stdout.strip()}")


def _fetch_server(folder: Path, name: str) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        wanted = Path(scratch) / "wanted.txt"
        wanted.write_text(f"{SERVER} --hash={SERVER_HASH}\n")
        pip(
            "download",
            "--no-deps",
            "--only-binary=:all:",
            "--require-hashes",
            "--dest",
            scratch,
            "-r",
            str(wanted),
        )
        (wheel,) = Path(scratch).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            (folder / name).write_bytes(archive.read(f"samcli/local/rapid/{name}"))
    (folder / name).chmod(0o755)
