"""Clean up after a test run once all its processes have ended, even if they were killed.

Each process of the run starts one janitor, which inherits the read end of a pipe and a shared lock on the run's
directory. The pipe closes when the process ends. The last janitor gets the exclusive lock and cleans up.
"""

import json
import re
import sys
from contextlib import closing
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from shutil import rmtree


def main(home: Path, lock: int) -> None:
    """Wait for the end of the input, then clean up if no other process of the run is left."""
    sys.stdin.buffer.read()
    try:
        flock(lock, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        # Other processes of the run are alive; each has a janitor.
        return
    try:
        _clean_up(home)
    finally:
        data = (home / "postgres" / "data").resolve()
        rmtree(data, ignore_errors=True)
        rmtree(home, ignore_errors=True)


def _clean_up(home: Path) -> None:
    if (home / "postgres").exists():
        # Imported late, so that a waiting janitor uses little memory.
        from minutehand.local import postgres

        postgres.stop(home / "postgres")
    elif (home / "server.json").exists():
        _drop_databases(**json.loads((home / "server.json").read_text()))


def _drop_databases(url: str, template: str) -> None:
    """Drop the databases that the run created on a shared server."""
    from minutehand.database import connect

    prefix = template.removesuffix("template")
    with closing(connect(url)) as connection:
        names = [name for (name,) in connection.execute("select datname from pg_database").fetchall()]
        for name in names:
            if re.fullmatch(f"{prefix}[a-z0-9]+", name):
                connection.execute(f"drop database if exists {name} with (force)")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
