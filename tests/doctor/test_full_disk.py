"""A full disk: what an operator sees, on a file system that has no room left."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from shutil import chown, rmtree
from uuid import UUID

import psycopg
import pytest
from psycopg import sql

from minutehand import BusyError, Database, enqueue
from minutehand.local.programs import unprivileged_user
from tests.doctor.conftest import Examine, Installation, complaints
from tests.servers import Address

MEGABYTES = 64
LARGE = "x" * 200_000


@pytest.fixture
def disk() -> Iterator[Path]:
    """A small file system, which only root can mount."""
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
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)
    rmtree(place)


@pytest.fixture
def full(installation: Installation, healthy_address: Address, disk: Path) -> Iterator[Installation]:
    """An installation whose database is on a disk that is full."""
    name, space = sql.Identifier(installation.name), sql.Identifier(f"full_{installation.name}")
    with psycopg.connect(healthy_address.admin_url, autocommit=True) as admin:
        admin.execute(sql.SQL("create tablespace {} location {}").format(space, str(disk / "data")))
        admin.execute(sql.SQL("alter database {} set tablespace {}").format(name, space))
        with (disk / "filling").open("wb", buffering=0) as filling, suppress(OSError):
            while filling.write(bytes(65536)):
                pass
        yield installation
        (disk / "filling").unlink(missing_ok=True)
        admin.execute(sql.SQL("alter database {} set tablespace pg_default").format(name))
        admin.execute(sql.SQL("drop tablespace {}").format(space))


def enqueue_into(ids: list[UUID], database: Database) -> None:
    for _ in range(MEGABYTES * 10):
        ids.append(enqueue("echo", LARGE, connection=database).id)


def test_full_disk_is_found_and_costs_no_job(full: Installation, examine: Examine, disk: Path) -> None:
    with closing(Database(full.url)) as database:
        ids: list[UUID] = []
        with pytest.raises(BusyError, match="No space left on device"):
            enqueue_into(ids, database)
        findings = examine(full.url)
        (disk / "filling").unlink()
        ids.append(enqueue("echo", LARGE, connection=database).id)

    assert complaints(findings) == {"disk"}
    assert "No space left on device" in findings["disk"].found
    assert complaints(examine(full.url)) == set()
    with psycopg.connect(full.url) as connection:
        assert connection.execute("select count(*) from minutehand.jobs").fetchone() == (len(ids),)
