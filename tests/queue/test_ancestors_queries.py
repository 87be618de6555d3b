"""The five queries of the ancestors work verbatim on `minutehand.jobs`."""

from uuid import UUID

import pytest

from minutehand.finish import finish
from minutehand.model.outcome import Cancelled, Done, Failed
from minutehand.operations.jobs import cancel
from tests.queue.stage import LONG, Queue

NEXT = "visible <= now() and deleted is null"
FAILED = "deleted is not null and failed"
COMPLETED = "deleted is not null and not failed"
ERROR = {"type": "ValueError", "message": "no", "trace": ""}


def ids(queue: Queue, condition: str, **parameters: object) -> set[UUID]:
    """Return the jobs that a query finds."""
    return {row["id"] for row in queue.sql(f"select id from minutehand.jobs where {condition}", **parameters)}


@pytest.fixture
def jobs(queue: Queue) -> dict[str, UUID]:
    """One job in each state."""
    done, dead, cancelled = queue.claimed(), queue.claimed(max_attempts=1), queue.claimed()
    finish(done, Done())
    finish(dead, Failed(ERROR))
    finish(cancelled, Cancelled({"type": "Cancelled", "message": "not wanted"}))
    running = queue.claimed()
    offered = queue.enqueue()
    queue.offer()
    return {
        "done": done.id,
        "dead": dead.id,
        "cancelled": cancelled.id,
        "running": running.id,
        "offered": offered,
        "scheduled": queue.enqueue(delay=LONG),
        "due": queue.enqueue(),
    }


def test_next_returns_visible_jobs_that_are_not_deleted(queue: Queue, jobs: dict[str, UUID]) -> None:
    assert ids(queue, NEXT) == {jobs["due"]}


def test_next_returns_a_running_job_after_its_lease(queue: Queue, jobs: dict[str, UUID]) -> None:
    queue.pass_time(jobs["running"])

    assert ids(queue, NEXT) == {jobs["due"], jobs["running"]}


def test_failed_includes_cancelled_jobs(queue: Queue, jobs: dict[str, UUID]) -> None:
    assert ids(queue, FAILED) == {jobs["dead"], jobs["cancelled"]}
    assert ids(queue, FAILED + " and not cancelled") == {jobs["dead"]}


def test_completed_returns_deleted_jobs_that_did_not_fail(queue: Queue, jobs: dict[str, UUID]) -> None:
    assert ids(queue, COMPLETED) == {jobs["done"]}


def test_job_cancelled_in_sql_counts_as_failed(queue: Queue, jobs: dict[str, UUID]) -> None:
    cancel(queue.database, [jobs["due"], jobs["scheduled"]])

    assert ids(queue, NEXT) == set()
    assert ids(queue, FAILED) == {jobs["dead"], jobs["cancelled"], jobs["due"], jobs["scheduled"]}


def test_changing_visible_retries_a_job(queue: Queue) -> None:
    job = queue.claimed()
    queue.sql(
        "update minutehand.jobs set visible = now() + interval '5 minutes' where ack = %(ack)s", ack=job.ack
    )

    assert ids(queue, NEXT) == set()

    queue.sql("update minutehand.jobs set visible = now() where ack = %(ack)s", ack=job.ack)

    assert ids(queue, NEXT) == {job.id}
    assert [(again.id, again.attempt) for again in queue.take()] == [(job.id, 2)]


def test_changing_visible_moves_a_scheduled_job(queue: Queue, jobs: dict[str, UUID]) -> None:
    queue.sql("update minutehand.jobs set visible = now() where id = %(id)s", id=jobs["scheduled"])

    assert {job.id for job in queue.take(10)} == {jobs["due"], jobs["scheduled"]}


def test_ack_addresses_one_job(queue: Queue) -> None:
    one, other = queue.claimed(), queue.claimed()

    assert ids(queue, "ack = %(ack)s", ack=one.ack) == {one.id}
    assert ids(queue, "ack = %(ack)s", ack=other.ack) == {other.id}


def test_ack_finishes_exactly_its_job(queue: Queue) -> None:
    one, other = queue.claimed(), queue.claimed()
    queue.sql("update minutehand.jobs set deleted = now(), failed = false where ack = %(ack)s", ack=one.ack)

    assert ids(queue, COMPLETED) == {one.id}
    assert queue.row(other.id).state == "running"


def test_each_claim_has_its_own_ack(queue: Queue) -> None:
    for _ in range(50):
        queue.enqueue()
    jobs = queue.take(50)
    queue.sql("update minutehand.jobs set visible = now()")
    # A job whose claim lapsed is taken alone.
    again = [job for _ in range(50) for job in queue.take(50)]

    assert len({job.ack for job in jobs + again}) == 100
