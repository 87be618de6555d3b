"""The cost of a late worker's takes: independent of the jobs that it took before, also under an old snapshot."""

from typing import Any

import pytest
from backlog import fill
from explain import explain_prepared, old_snapshot

import minutehand
from minutehand.database import Connection
from minutehand.model.reached import BEGINNING, Reached
from tests import servers
from tests.queue.stage import GRACE, LEASE

pytestmark = [pytest.mark.every_version, pytest.mark.plans]

TAKE = {"queue": "default", "limit": 10, "lease": LEASE, "grace": GRACE, "behind": None}
FINISH = "update minutehand.jobs set deleted = now() where claimed is not null and deleted is null"


def test_late_takes_read_no_jobs_that_were_taken_before(
    direct_database: servers.Database, connection: Connection
) -> None:
    """All jobs have become due at the same time, so that no floor passes any of them."""
    database = minutehand.Database.borrow(connection)
    fill(connection, finished=0, due=20_000, scheduled=0)
    connection.execute("update minutehand.jobs_live set visible = now() - interval '1 minute'")
    connection.execute("vacuum analyze minutehand.jobs_live")

    def take(limit: int, after: Any) -> Any:
        reached = Reached()
        rows = database.run("take_ahead", **{**TAKE, "limit": limit}, **after)
        reached.note("default", BEGINNING, rows, seconds=0.0)
        assert len(rows) == limit
        connection.execute(FINISH)
        return reached.after("default")

    with old_snapshot(direct_database):
        after = take(10, BEGINNING)
        first = explain_prepared(connection, "take_ahead", TAKE | after)
        after = take(10_000, after)
        last = explain_prepared(connection, "take_ahead", TAKE | after)
        from_beginning = explain_prepared(connection, "take_ahead", TAKE | BEGINNING)

    assert last.buffers <= 1.3 * first.buffers
    assert from_beginning.buffers > 4 * last.buffers
