"""The lease of a claim: the timeout of its job, or the worker's own limit."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from minutehand import Job
from minutehand.claim import taken
from minutehand.model.worker import UNNAMED
from tests.queue.stage import GRACE, LEASE, WITHOUT_LIMITS, Queue


def leased(queue: Queue, jobs: Sequence[Job]) -> timedelta:
    """Return the time for which the job's claim holds, in the table as for its worker."""
    (job,) = jobs
    assert timedelta() < queue.row(job.id).visible - job.claimed - job.lease.duration <= GRACE
    return job.lease.duration


def take_by(queue: Queue, statement: str) -> list[Job]:
    """Let a resident worker take a job by one of its statements."""
    limits = {"queue": "default", "limit": 1, "lease": LEASE, "grace": GRACE}
    rows = queue.database.run(statement, **limits, **WITHOUT_LIMITS[statement])
    return taken(rows, queue.database, LEASE, GRACE, UNNAMED)


@pytest.mark.fault("take", r"\+ coalesce\(j\.timeout", "+ least(j.timeout")
def test_timeout_of_a_job_may_exceed_the_lease(queue: Queue) -> None:
    queue.enqueue(timeout=LEASE * 60)

    assert leased(queue, take_by(queue, "take")) == LEASE * 60


@pytest.mark.fault("take_ahead", r"\+ coalesce\(j\.timeout", "+ least(j.timeout")
def test_timeout_of_a_job_taken_ahead_may_exceed_the_lease(queue: Queue) -> None:
    queue.enqueue(timeout=LEASE * 60)

    assert leased(queue, take_by(queue, "take_ahead")) == LEASE * 60


def test_timeout_is_limited_by_the_time_of_an_invocation(queue: Queue) -> None:
    queue.enqueue(timeout=LEASE * 60)
    (offer,) = queue.offer()

    assert leased(queue, queue.claim(offer)) == LEASE
