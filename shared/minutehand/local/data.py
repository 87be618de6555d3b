"""Make the data of a Postgres, once: whole or not at all, and open to nobody without their password."""

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
OURS = {"lock", "password", "port"}


def check_data(home: Path, binaries: Path) -> None:
    """Raise unless the data, if there are any, are of this version and their password is there."""
    if not _made(home):
        return
    found, wanted = (home / "data" / "PG_VERSION").read_text().strip(), major(binaries)
    if found != wanted:
        raise OtherVersionError(
            f"{home} holds the data of Postgres {found} and this is Postgres {wanted}: "
            "name another directory, or delete this one to start afresh"
        )
    if not (home / "password").exists():
        raise NoPasswordError(
            f"{home} has lost its password file: put it back, or delete the directory to start afresh"
        )


def make_data(home: Path, binaries: Path, user: str | None) -> None:
    """Make the data unless they are there, beside their place first."""
    if _made(home):
        return
    place = _place(home, user)
    password = secrets.token_urlsafe(24)
    _write_private(home / "password", password)
    unfinished = place.with_name("unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    _initialise(unfinished, password, binaries, user)
    unfinished.rename(place)


def _made(home: Path) -> bool:
    return (home / "data" / "PG_VERSION").exists()


def _place(home: Path, user: str | None) -> Path:
    """Return where the data go: here, or somewhere shared if the server's user cannot come here."""
    here = home / "data"
    if here.is_symlink():
        here.unlink()
    elif here.exists():
        raise StartError(f"{here} holds something else: move it away, or name another directory")
    if user is None:
        return here
    if {path.name for path in home.iterdir()} <= OURS:
        home.chmod(home.stat().st_mode | 0o011)
    return here if can_enter(home, user) else _elsewhere(home)


def _elsewhere(home: Path) -> Path:
    for shared in SHARED_HOME.glob("data-*/home"):
        _forget(shared.parent)
    shared = make_shared_directory("data")
    (home / "data").symlink_to(shared / "data")
    (shared / "home").write_text(str(home))
    return shared / "data"


def _forget(shared: Path) -> None:
    """Remove the data of a temporary directory that is gone; nobody would come back for them."""
    home = Path((shared / "home").read_text())
    if home.is_relative_to(Path(tempfile.gettempdir()).resolve()) and not (home / "data").is_symlink():
        shutil.rmtree(shared, ignore_errors=True)


def _initialise(data: Path, password: str, binaries: Path, user: str | None) -> None:
    data.mkdir(mode=0o700)
    with tempfile.NamedTemporaryFile("w", dir=data.parent) as secret:
        secret.write(password)
        secret.flush()
        if user:
            shutil.chown(data, user)
            shutil.chown(secret.name, user)
        initdb = runnable(binaries, user) / "initdb"
        made = run([initdb, *INITDB, f"--pwfile={secret.name}", "-D", data], user)
    if made.returncode:
        raise StartError(f"the data of Postgres could not be made: {made.stderr.strip()}")


def _write_private(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
