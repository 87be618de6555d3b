"""A batch enqueues its callback once, in the transaction that ends its last job."""

from typing import Any
from uuid import UUID

import pytest

from minutehand import InvalidJobError, NewJob, batch
from minutehand.batches import close_batch, open_batch
from minutehand.finish import finish, finish_all
from minutehand.maintenance import run_maintenance
from minutehand.model.outcome import Done, Failed
from minutehand.operations.deletion import delete, delete_upcoming
from minutehand.operations.jobs import cancel, retry
from minutehand.queries.batches import get_batch
from tests.queue.stage import LEASE, LONG, Queue

pytestmark = pytest.mark.every_server

ERROR = {"type": "ValueError", "message": "no", "trace": ""}
DEAD = Failed(ERROR, final=True)


def opened(queue: Queue, jobs: int = 0, **options: Any) -> tuple[UUID, list[UUID]]:
    """Return a closed batch with jobs of the kind echo, and their ids."""
    with batch(connection=queue.database, on_complete="complete", on_failure="failure") as b:
        ids = [b.enqueue("echo", **options).id for _ in range(jobs)]
    return b.id, ids


def callbacks(queue: Queue) -> list[str]:
    """Return the kinds of the callbacks that were enqueued."""
    rows = queue.sql("select kind from minutehand.jobs where kind in ('complete', 'failure') order by id")
    return [row["kind"] for row in rows]


def counts(queue: Queue, batch_id: UUID) -> dict[str, int]:
    """Return the counts that are not zero."""
    row = get_batch(queue.database, batch_id)
    names = ("total", "open", "done", "dead", "expired", "cancelled")
    return {name: count for name in names if (count := getattr(row, name))}


def test_last_end_enqueues_the_callback_with_the_counts(queue: Queue) -> None:
    with batch(connection=queue.database, name="night", on_complete=NewJob("complete", {"a": 1.50})) as b:
        b.enqueue("echo")
        b.enqueue("echo")
    first, second = queue.take(2)
    finish(first, Done())
    assert callbacks(queue) == []
    finish(second, Done())

    (job,) = queue.take()
    facts = {"total": 2, "open": 0, "done": 2, "dead": 0, "expired": 0, "cancelled": 0}
    assert job.payload == {"a": 1.5, "batch": {"id": str(b.id), "name": "night", **facts}}
    row = get_batch(queue.database, b.id)
    assert (row.complete_job, row.state) == (job.id, "ended")


def test_failure_enqueues_the_other_callback_instead(queue: Queue) -> None:
    batch_id, _ = opened(queue, 2)
    finish_all_of(queue, [Done(), DEAD])
    assert callbacks(queue) == ["failure"]
    assert counts(queue, batch_id) == {"total": 2, "done": 1, "dead": 1}


def finish_all_of(queue: Queue, outcomes: list[Any]) -> None:
    """Let a worker end that many jobs with one statement."""
    jobs = queue.take(len(outcomes))
    assert len(jobs) == len(outcomes)
    list(finish_all(list(zip(jobs, outcomes, strict=True))))


def test_batch_without_jobs_ends_when_it_is_closed(queue: Queue) -> None:
    opened(queue)
    assert callbacks(queue) == ["complete"]


def test_open_batch_does_not_end_before_it_is_closed(queue: Queue) -> None:
    batch_id = open_batch(queue.database, on_complete="complete")
    finish(queue.claimed(batch=batch_id), Done())
    assert (callbacks(queue), get_batch(queue.database, batch_id).state) == ([], "open")
    assert close_batch(queue.database, batch_id)
    assert callbacks(queue) == ["complete"]
    assert not close_batch(queue.database, batch_id)
    assert callbacks(queue) == ["complete"]


def test_error_in_the_block_enqueues_nothing(queue: Queue) -> None:
    def block() -> None:
        with batch(connection=queue.database, on_complete="complete") as b:
            b.enqueue("echo")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        block()
    assert queue.sql("select 1 from minutehand.jobs") == queue.sql("select 1 from minutehand.batches") == []


def test_bulk_of_other_options_belongs_to_the_batch(queue: Queue) -> None:
    with batch(connection=queue.database, on_complete="complete") as b:
        assert b.enqueue_many(NewJob("echo", n) for n in range(30)) == 30
        # Too different for one statement: these are copied.
        assert (
            b.enqueue_many(NewJob("echo", n, priority=n % 10, timeout=LEASE / (n + 1)) for n in range(9)) == 9
        )
    assert counts(queue, b.id) == {"total": 39, "open": 39}
    finish_all_of(queue, [Done()] * 39)
    assert callbacks(queue) == ["complete"]


def test_job_adds_a_job_to_its_batch(queue: Queue) -> None:
    batch_id, _ = opened(queue, 1)
    (job,) = queue.take()
    assert job.batch == batch_id
    added = queue.enqueue(batch=job.batch)
    finish(job, Done())
    assert callbacks(queue) == []
    (other,) = queue.take()
    assert other.id == added
    finish(other, Done())
    assert callbacks(queue) == ["complete"]


def test_ended_batch_accepts_no_job(queue: Queue) -> None:
    batch_id, _ = opened(queue)
    with pytest.raises(InvalidJobError, match="has ended") as caught:
        queue.enqueue(batch=batch_id)
    assert caught.value.rule == "batch_is_open"


def test_unknown_batch_is_refused(queue: Queue) -> None:
    with pytest.raises(InvalidJobError, match="does not exist"):
        queue.enqueue(batch=UUID(int=1))


def test_cancelled_expired_and_reaped_jobs_end(queue: Queue) -> None:
    batch_id, ids = opened(queue, 3, expires=LONG, max_attempts=1)
    cancel(queue.database, ids[:1], reason="no")
    (job,) = queue.take()
    queue.pass_time(job.id)
    queue.sql("update minutehand.jobs_live set run_at = now() - interval '1 hour' where attempts = 0")
    run_maintenance(queue.database)
    assert counts(queue, batch_id) == {"total": 3, "dead": 1, "expired": 1, "cancelled": 1}
    assert callbacks(queue) == ["failure"]


def test_requested_cancellation_of_a_dead_worker_ends_the_job(queue: Queue) -> None:
    batch_id, ids = opened(queue, 1)
    queue.take()
    cancel(queue.database, ids, reason="no", running=True)
    queue.pass_time(ids[0])
    run_maintenance(queue.database)
    assert counts(queue, batch_id) == {"total": 1, "cancelled": 1}
    assert callbacks(queue) == ["failure"]


def test_deleted_jobs_no_longer_count(queue: Queue) -> None:
    batch_id, ids = opened(queue, 3)
    delete(queue.database, ids[:1])
    assert counts(queue, batch_id) == {"total": 2, "open": 2}
    delete(queue.database, ids[1:])
    assert counts(queue, batch_id) == {}
    assert callbacks(queue) == ["complete"]

    with batch(connection=queue.database) as b:
        b.enqueue("echo", queue="slow")
    list(delete_upcoming(queue.database, "slow"))
    assert get_batch(queue.database, b.id).state == "ended"


def test_retry_opens_the_batch_again(queue: Queue) -> None:
    batch_id, _ = opened(queue, 2)
    finish_all_of(queue, [Done(), DEAD])
    (dead,) = queue.sql("select id from minutehand.jobs_done where failed")
    retry(queue.database, [dead["id"]])
    assert counts(queue, batch_id) == {"total": 2, "open": 1, "done": 1}
    assert get_batch(queue.database, batch_id).state == "closed"

    (again,) = [job for job in queue.take(5) if job.kind == "echo"]
    finish(again, Done())
    # Each callback is enqueued once at most.
    assert callbacks(queue) == ["failure", "complete"]
    assert counts(queue, batch_id) == {"total": 2, "done": 2}


def test_second_failure_enqueues_no_second_callback(queue: Queue) -> None:
    opened(queue, 1)
    (job,) = queue.take()
    finish(job, DEAD)
    retry(queue.database, [job.id])
    (again,) = [job for job in queue.take(5) if job.kind == "echo"]
    finish(again, DEAD)
    assert callbacks(queue) == ["failure"]


def test_retention_does_not_change_the_counts(queue: Queue) -> None:
    batch_id, _ = opened(queue, 2)
    finish_all_of(queue, [Done(), DEAD])
    queue.sql("delete from minutehand.jobs_done")
    assert counts(queue, batch_id) == {"total": 2, "done": 1, "dead": 1}


@pytest.mark.parametrize("options", [{"key": "k"}, {"every": "PT1H"}])
def test_batch_excludes_keys_and_recurrence(queue: Queue, options: Any) -> None:
    batch_id = open_batch(queue.database)
    with pytest.raises(InvalidJobError) as caught:
        queue.enqueue(batch=batch_id, **options)
    assert caught.value.rule == "batch_or_key"


def test_transaction_of_a_job_ends_its_batch(queue: Queue) -> None:
    opened(queue, 1)
    (job,) = queue.take()
    job.lease.start()
    with job.transaction():
        assert callbacks(queue) == []
    assert callbacks(queue) == ["complete"]
