"""Data: create the data directory of a Postgres, completely or not at all, protected by a password."""

import os
import secrets
import shutil
import sys
import tempfile
from pathlib import Path

from minutehand.local.errors import NoPasswordError, OtherVersionError, StartError
from minutehand.local.programs import SHARED_HOME, can_enter, major, make_shared_directory, run, runnable

LOCALE = "C.UTF-8" if sys.platform == "linux" else "C"
INITDB = ["--username=postgres", "--encoding=UTF8", f"--locale={LOCALE}", "--auth=scram-sha-256", "--no-sync"]
# The password has 192 random bits and the server listens on the loopback only, so iterations add nothing. The default
# of 4,096 costs 3 ms of each connection.
FEW_ITERATIONS = ["-c", "scram_iterations=1"]
FIRST_WITH_ITERATIONS = 16
MANAGED_FILES = {"lock", "password", "port"}


def check_data(home: Path, binaries: Path) -> None:
    """Raise an error if data exist and their version differs or their password is missing."""
    if not _exists(home):
        return
    found, expected = (home / "data" / "PG_VERSION").read_text().strip(), major(binaries)
    if found != expected:
        raise OtherVersionError(
            f"{home} contains the data of Postgres {found}, but this is Postgres {expected}; "
            "use another directory, or delete this one to start with new data"
        )
    if not (home / "password").exists():
        raise NoPasswordError(
            f"the password file in {home} is missing; restore it, or delete the directory to start with new data"
        )


def make_data(home: Path, binaries: Path, user: str | None) -> None:
    """Create the data unless they exist; they are renamed into place when they are complete."""
    if _exists(home):
        return
    place = _place(home, user)
    password = secrets.token_urlsafe(24)
    _write_private(home / "password", password)
    unfinished = place.with_name("unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    _initialize(unfinished, password, binaries, user)
    unfinished.rename(place)


def _exists(home: Path) -> bool:
    return (home / "data" / "PG_VERSION").exists()


def _place(home: Path, user: str | None) -> Path:
    """Return the directory for the data: in `home`, or a shared one if the server's user cannot enter it."""
    here = home / "data"
    if here.is_symlink():
        here.unlink()
    elif here.exists():
        raise StartError(f"{here} contains other files; move it away, or use another directory")
    if user is None:
        return here
    if {path.name for path in home.iterdir()} <= MANAGED_FILES:
        home.chmod(home.stat().st_mode | 0o011)
    return here if can_enter(home, user) else _shared_place(home)


def _shared_place(home: Path) -> Path:
    for shared in SHARED_HOME.glob("data-*/home"):
        _remove_orphan(shared.parent)
    shared = make_shared_directory("data")
    (home / "data").symlink_to(shared / "data")
    (shared / "home").write_text(str(home))
    return shared / "data"


def _remove_orphan(shared: Path) -> None:
    """Remove the data of a temporary directory that no longer exists."""
    home = Path((shared / "home").read_text())
    if home.is_relative_to(Path(tempfile.gettempdir()).resolve()) and not (home / "data").is_symlink():
        shutil.rmtree(shared, ignore_errors=True)


def _initialize(data: Path, password: str, binaries: Path, user: str | None) -> None:
    data.mkdir(mode=0o700)
    with tempfile.NamedTemporaryFile("w", dir=data.parent) as secret:
        secret.write(password)
        secret.flush()
        if user:
            shutil.chown(data, user)
            shutil.chown(secret.name, user)
        initdb = runnable(binaries, user) / "initdb"
        few = FEW_ITERATIONS if int(major(binaries)) >= FIRST_WITH_ITERATIONS else []
        result = run([initdb, *INITDB, *few, f"--pwfile={secret.name}", "-D", data], user)
    if result.returncode:
        raise StartError(f"the data directory of Postgres could not be created: {result.stderr.strip()}")


def _write_private(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
