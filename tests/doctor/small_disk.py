"""A database on a file system that has no room left."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import chown, rmtree

import psycopg
import pytest
from psycopg import sql

from minutehand.local.programs import unprivileged_user

MEGABYTES = 64


@contextmanager
def small_disk() -> Iterator[Path]:
    """Mount a small file system, which only root can do."""
    if os.geteuid() != 0:
        pytest.skip("mounting needs root")
    place = Path(tempfile.mkdtemp(prefix="minutehand-disk-"))
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={MEGABYTES}m", "minutehand", place], capture_output=True
    )
    if mounted.returncode:
        place.rmdir()
        pytest.skip("this machine mounts no file system")
    (place / "data").mkdir()
    for folder in (place, place / "data"):
        if user := unprivileged_user():
            chown(folder, user)
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)
        rmtree(place)


@contextmanager
def on_disk(admin_url: str, name: str, disk: Path) -> Iterator[Path]:
    """Move a database that nobody uses to the disk, and back; yield the file that can fill the disk."""
    database, space = sql.Identifier(name), sql.Identifier(f"full_{name}")
    filling = disk / "filling"
    with psycopg.connect(admin_url, autocommit=True) as admin:
        admin.execute(sql.SQL("create tablespace {} location {}").format(space, str(disk / "data")))
        admin.execute(sql.SQL("alter database {} set tablespace {}").format(database, space))
        try:
            yield filling
        finally:
            filling.unlink(missing_ok=True)
            admin.execute(sql.SQL("alter database {} set tablespace pg_default").format(database))
            admin.execute(sql.SQL("drop tablespace {}").format(space))


def fill(filling: Path) -> None:
    """Write until no room is left."""
    with filling.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(bytes(65536)):
            pass
