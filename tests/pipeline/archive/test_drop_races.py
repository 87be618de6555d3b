"""A drop while another session writes a row of the day."""

from concurrent.futures import ThreadPoolExecutor
from typing import LiteralString

import pytest

from minutehand.database import Connection, connect
from tests.pipeline.archive.stage import ask
from tests.queue.stage import WAITING
from tests.servers import Database
from tests.waiting import until

DROPS = {
    "partition": "select minutehand.drop_archived('jobs_done', %s)",
    "default": "select minutehand.exchange_default('jobs_done', array[%s]::date[])",
}


@pytest.mark.parametrize(("home", "day"), [("partition", "2026-03-31"), ("default", "2020-02-29")])
def test_row_that_is_written_during_a_drop_is_kept(
    connection: Connection, direct_database: Database, home: str, day: str
) -> None:
    write: LiteralString = (
        "insert into minutehand.jobs (kind, deleted) values ('late', (%s || ' 12:00+00')::timestamptz)"
    )
    connection.execute(write, [day])
    connection.execute(
        "insert into minutehand.archived_days (home, day, rows, identity)"
        " select 'jobs_done', %s::date, rows, identity from minutehand.identities('jobs_done', %s, %s::date)",
        [day, "jobs_done_default" if home == "default" else "jobs_done_20260331", day],
    )
    with connect(direct_database.url) as other, ThreadPoolExecutor(1) as pool:
        with other.transaction():
            other.execute(write, [day])
            dropping = pool.submit(ask, connection, DROPS[home], day)
            until(lambda: dropping.done() or ask(other, WAITING))

        # It is busy if the writer takes longer than the drop waits.
        assert dropping.result() in ("held", "busy")
