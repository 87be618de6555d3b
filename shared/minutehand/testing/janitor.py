"""Clear away what a test run used once its processes have ended, however they ended.

Started beside each process of the run, with the read end of a pipe whose other end that process holds, and with its
lock on the run's directory. The last one to see its process end finds the lock free, and clears away for all.
"""

import json
import re
import sys
from contextlib import closing
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from shutil import rmtree


def main(home: Path, lock: int) -> None:
    """Wait for the end of the input; if no other process of the run is left, clear away."""
    sys.stdin.buffer.read()
    try:
        flock(lock, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        return  # others still work there, and have a janitor each
    try:
        _clear_away(home)
    finally:
        data = (home / "postgres" / "data").resolve()
        rmtree(data, ignore_errors=True)
        rmtree(home, ignore_errors=True)


def _clear_away(home: Path) -> None:
    if (home / "postgres").exists():
        from minutehand.local import postgres  # here, so that the wait costs little memory

        postgres.stop(home / "postgres")
    elif (home / "server.json").exists():
        _drop_databases(**json.loads((home / "server.json").read_text()))


def _drop_databases(url: str, template: str) -> None:
    """Drop what the run made on a server that others use, too."""
    from minutehand.database import connect

    prefix = template.removesuffix("template")
    with closing(connect(url)) as connection:
        names = [name for (name,) in connection.execute("select datname from pg_database").fetchall()]
        for name in names:
            if re.fullmatch(f"{prefix}[a-z0-9]+", name):
                connection.execute(f"drop database if exists {name} with (force)")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
