"""A load that takes over a key counts as the last enqueue of the key, by the login of the load."""

from datetime import timedelta

import pytest

from minutehand import enqueue
from minutehand.claim import take
from minutehand.database import Database, connect
from minutehand.errors import ForbiddenError
from minutehand.finish import finish
from minutehand.model.outcome import DONE
from tests.pipeline.load.entering import enter, stage
from tests.queue.logins import logins
from tests.servers import Database as Address

LEASE, GRACE = timedelta(minutes=1), timedelta(seconds=2)
ITEMS = [("other", '{"loaded": 1}', None, "k", *[None] * 9), ("other", "1", None, None, *[None] * 9)]


def test_enqueuer_cannot_merge_into_its_job_that_was_loaded(direct_database: Address) -> None:
    with logins(direct_database) as login:
        enqueuer, operator = login("enqueuer"), login("operator")
        first = enqueue("echo", {"mine": 1}, key="k", delay=timedelta(hours=1), connection=enqueuer)
        enqueue("echo", {"mine": 2}, key="k", on_conflict="merge", connection=enqueuer)

        with operator.transaction() as connection:
            assert enter(connection, stage(connection, ITEMS), "replace") == (True, 1, 1, 0)

        with pytest.raises(ForbiddenError):
            enqueue("echo", {"mine": 3}, key="k", on_conflict="merge", connection=enqueuer)
    with connect(direct_database.admin_url) as connection:
        found = connection.execute("select payload from minutehand.jobs where id = %s", [first.id]).fetchall()
    assert found == [({"loaded": 1},)]


@pytest.mark.parametrize("isolation", ["read committed", "repeatable read"])
@pytest.mark.parametrize("on_conflict", ["replace", "ignore", "raise"])
def test_load_of_a_key_ends_its_running_recurrence(
    direct_database: Address, isolation: str, on_conflict: str
) -> None:
    worker = Database(direct_database.url)
    enqueue("echo", key="k", every=timedelta(hours=1), connection=worker)
    enqueue("echo", key="other", every=timedelta(hours=1), connection=worker)
    worker.connection.execute("update minutehand.jobs_live set run_at = now(), visible = now()")
    with connect(direct_database.admin_url) as connection:
        staged = stage(connection, ITEMS)
        with connection.transaction():
            connection.execute(f"set transaction isolation level {isolation}")
            # The snapshot of a repeatable read precedes the claim.
            connection.execute("select count(*) from minutehand.jobs")
            running = {job.key: job for job in take(worker, "default", 2, LEASE, GRACE)}
            assert enter(connection, staged, on_conflict) == (True, 2, 0, 0)

    for job in take(worker, "default", 2, LEASE, GRACE):
        finish(job, DONE)
    assert finish(running["k"], DONE).next is None
    assert finish(running["other"], DONE).next is not None
    assert worker.connection.execute("select key from minutehand.jobs_live").fetchall() == [("other",)]
    worker.close()
