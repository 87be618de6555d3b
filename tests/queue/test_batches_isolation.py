"""Transactions that stay open, or do not see what others commit: nothing waits for them, and no batch ends early."""

from typing import LiteralString
from uuid import UUID

import pytest

from minutehand import Database, InvalidJobError, NewJob, batch
from minutehand.batches import close_batch, open_batch
from minutehand.enqueue import enqueue
from minutehand.errors import ConflictError
from minutehand.finish import complete, finish, finish_all
from minutehand.maintenance import MaintenanceReport, run_maintenance
from minutehand.model.outcome import Done
from minutehand.operations.jobs import cancel, retry
from minutehand.queries.batches import get_batch
from tests.queue.stage import Queue
from tests.queue.test_batches_concurrent import LIMIT, batch_of, callbacks, jobs_of, on

pytestmark = pytest.mark.every_server

STRICT = ["repeatable read", "serializable"]
BEGIN: dict[str, LiteralString] = {
    "read committed": "begin isolation level read committed",
    "repeatable read": "begin isolation level repeatable read",
    "serializable": "begin isolation level serializable",
}


def begun(queue: Queue, level: str) -> Database:
    """Return a session with an open transaction that has a snapshot."""
    session = queue.another()
    session.connection.execute(BEGIN[level])
    session.connection.execute("select 1 from minutehand.batches")
    return session


def maintain(queue: Queue) -> MaintenanceReport:
    """Run the maintenance of a tick on a session of its own, and require that it waits for no open transaction."""
    report: MaintenanceReport = queue.start(run_maintenance, queue.another()).result(LIMIT)
    assert report.failed == ()
    return report


# In the other levels, the lock of the addition would also block the end.
@pytest.mark.fault(
    "functions/batch_checks", r"b.id = of_batch for update skip locked", "b.id = of_batch for key share"
)
@pytest.mark.parametrize("ending", ["commit", "rollback"])
def test_open_addition_delays_no_finish_and_no_tick(queue: Queue, ending: str) -> None:
    end_during_an_addition(queue, "read committed", ending)


@pytest.mark.parametrize("ending", ["commit", "rollback"])
@pytest.mark.parametrize("level", STRICT)
def test_strict_addition_delays_no_finish_and_no_tick(queue: Queue, level: str, ending: str) -> None:
    end_during_an_addition(queue, level, ending)


def end_during_an_addition(queue: Queue, level: str, ending: str) -> None:
    """Finish the last job of a batch while a transaction that adds one is open."""
    batch_of(queue, 1)
    (job,) = queue.take()
    session = begun(queue, level)
    enqueue("echo", batch=job.batch, connection=session)
    assert queue.start(finish, job, Done()).result(LIMIT).ending == "done"
    maintain(queue)
    assert callbacks(queue) == 0

    session.connection.execute(ending)
    maintain(queue)
    if ending == "commit":
        assert callbacks(queue) == 0
        assert finish(queue.take()[0], Done()).ending == "done"
    assert callbacks(queue) == 1
    maintain(queue)
    assert callbacks(queue) == 1
    assert queue.sql("select 1 from minutehand.batch_checks") == []


@pytest.mark.fault(
    "functions/batch_counts", r"when lock_not_available or deadlock_detected", "when deadlock_detected"
)
def test_open_end_of_a_shard_delays_no_tick(queue: Queue) -> None:
    """A tick ends a job while a transaction of an operator, which ended another one of the shard, is open."""
    first, second = jobs_of(queue, "one shard")
    session = begun(queue, "read committed")
    assert finish(on(first, session), Done()).ending == "done"
    queue.sql("update minutehand.jobs_live set attempts = max_attempts where id = %(id)s", id=second.id)
    queue.pass_time(second.id)
    assert [row["id"] for row in maintain(queue).reaped] == [second.id]
    assert callbacks(queue) == 0

    session.connection.execute("commit")
    assert second.batch is not None
    assert get_batch(queue.database, second.batch).open == 0
    maintain(queue)
    assert callbacks(queue) == 1


@pytest.mark.fault(
    "functions/batch_counts",
    r"if minutehand.sees_commits\(\) then\n        begin",
    "if true then\n        begin",
)
@pytest.mark.parametrize("level", STRICT)
def test_end_in_an_older_snapshot_is_not_early(queue: Queue, level: str) -> None:
    batch_id = batch_of(queue, 1)
    (job,) = queue.take()
    session = begun(queue, level)
    added = queue.enqueue(batch=batch_id)
    assert complete(on(job, session), None).ending == "done"
    session.connection.execute("commit")
    maintain(queue)
    assert callbacks(queue) == 0

    session = begun(queue, level)
    cancel(session, [added])
    session.connection.execute("commit")
    assert callbacks(queue) == 0
    maintain(queue)
    assert callbacks(queue) == 1


@pytest.mark.fault(
    "functions/batches",
    r"elsif minutehand.sees_commits\(\) then\n        perform minutehand.check",
    "elsif true then\n        perform minutehand.check",
)
@pytest.mark.parametrize("level", STRICT)
def test_closing_in_an_older_snapshot_is_not_early(queue: Queue, level: str) -> None:
    batch_id = open_batch(queue.database, on_complete="complete")
    session = begun(queue, level)
    job = queue.claimed(batch=batch_id)
    assert close_batch(session, batch_id)
    session.connection.execute("commit")
    maintain(queue)
    assert callbacks(queue) == 0
    assert finish(job, Done()).ending == "done"
    assert callbacks(queue) == 1


@pytest.mark.fault("functions/batch_counts", "order by b.id for share", "order by b.id")
@pytest.mark.parametrize("level", STRICT)
def test_batch_that_ended_after_the_snapshot_accepts_no_job(queue: Queue, level: str) -> None:
    batch_id = batch_of(queue, 1)
    session = begun(queue, level)
    assert finish(queue.take()[0], Done()).ending == "done"
    with pytest.raises(ConflictError):
        enqueue("echo", batch=batch_id, connection=session)
    session.connection.execute("rollback")
    with pytest.raises(InvalidJobError, match="has ended"):
        enqueue("echo", batch=batch_id, connection=session)


@pytest.mark.parametrize("level", STRICT)
def test_batch_without_jobs_in_a_strict_transaction_ends_later(queue: Queue, level: str) -> None:
    session = begun(queue, level)
    with batch(connection=session, on_complete="complete"):
        pass
    session.connection.execute("commit")
    maintain(queue)
    assert callbacks(queue) == 1


def test_sessions_that_are_strict_by_default_end_batches(direct_queue: Queue) -> None:
    session = direct_queue.another()
    session.connection.execute("set default_transaction_isolation = 'repeatable read'")
    with batch(connection=session, on_complete="complete") as b:
        b.enqueue_many(NewJob("echo", n) for n in range(20))
    list(finish_all([(on(job, session), Done()) for job in direct_queue.take(20)]))
    assert run_maintenance(session).failed == ()
    assert callbacks(direct_queue) == 1
    assert counted_rows(direct_queue, b.id) == {"batch_changes": 0, "batch_checks": 0}
    assert get_batch(session, b.id).done == 20


def counted_rows(queue: Queue, batch_id: UUID) -> dict[str, int]:
    (row,) = queue.sql(
        """select (select count(*) from minutehand.batch_changes where batch = %(id)s) as batch_changes,
                  (select count(*) from minutehand.batch_checks where batch = %(id)s) as batch_checks""",
        id=batch_id,
    )
    return row


@pytest.mark.fault(
    "functions/batch_counts",
    "where exists .select from minutehand.batches b where b.id = e.batch.",
    "where e.batch is not null",
)
def test_retried_job_of_a_deleted_batch_leaves_no_counts(queue: Queue) -> None:
    batch_of(queue, 1)
    (job,) = queue.take()
    cancel(queue.database, [queue.enqueue()])
    queue.sql(
        "update minutehand.jobs_live set visible = now() - interval '1 hour', ack = null where id = %(id)s",
        id=job.id,
    )
    cancel(queue.database, [job.id])
    queue.sql("update minutehand.batches set ended = now() - interval '91 days'")
    run_maintenance(queue.database)
    assert (
        queue.sql("select 1 from minutehand.batches")
        == queue.sql("select 1 from minutehand.batch_counts")
        == []
    )

    retry(queue.database, [job.id])
    cancel(queue.database, [job.id])
    assert (
        queue.sql("select 1 from minutehand.batch_counts")
        == queue.sql("select 1 from minutehand.batch_changes")
        == []
    )
