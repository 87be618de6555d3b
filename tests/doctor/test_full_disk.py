"""A full disk: what an operator sees, on a file system that has no room left."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from uuid import UUID

import psycopg
import pytest

from minutehand import BusyError, Database, enqueue
from tests.doctor.conftest import Examine, Installation, complaints
from tests.doctor.small_disk import MEGABYTES, fill, on_disk, small_disk
from tests.servers import Address

LARGE = "x" * 200_000


@pytest.fixture
def filling(installation: Installation, healthy_address: Address) -> Iterator[Path]:
    """The file that fills the disk of the installation's database."""
    with (
        small_disk() as disk,
        on_disk(healthy_address.admin_url, installation.name, disk) as filling,
    ):
        fill(filling)
        yield filling


def enqueue_into(ids: list[UUID], database: Database) -> None:
    for _ in range(MEGABYTES * 10):
        ids.append(enqueue("echo", LARGE, connection=database).id)


def test_full_disk_is_found_and_costs_no_job(
    filling: Path, installation: Installation, examine: Examine
) -> None:
    with closing(Database(installation.url)) as database:
        ids: list[UUID] = []
        with pytest.raises(BusyError, match="No space left on device"):
            enqueue_into(ids, database)
        findings = examine(installation.url)
        filling.unlink()
        ids.append(enqueue("echo", LARGE, connection=database).id)

    assert complaints(findings) == {"disk"}
    assert "No space left on device" in findings["disk"].found
    assert complaints(examine(installation.url)) == set()
    with psycopg.connect(installation.url) as connection:
        assert connection.execute("select count(*) from minutehand.jobs").fetchone() == (len(ids),)
