"""The lease of a claim: the timeout of its job, or the worker's own limit."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from minutehand import Job
from minutehand.attempts.taker import take_in_turns
from minutehand.claim import taken
from minutehand.model.queues import Queues
from minutehand.model.turns import Turns
from minutehand.model.worker import UNNAMED
from minutehand.operations.controls import limit
from tests.queue.stage import GRACE, LEASE, WITHOUT_LIMITS, Queue

LONGER = LEASE * 60


def leased(queue: Queue, jobs: Sequence[Job]) -> timedelta:
    """Return the time for which the job's claim holds, in the table as for its worker."""
    (job,) = jobs
    assert timedelta() < queue.row(job.id).visible - job.claimed - job.lease.duration <= GRACE
    return job.lease.duration


def take_by(queue: Queue, statement: str) -> list[Job]:
    """Let a resident worker take up to ten jobs by one of its statements."""
    limits = {"queue": "default", "limit": 10, "lease": LEASE, "grace": GRACE}
    rows = queue.database.run(statement, **limits, **WITHOUT_LIMITS[statement])
    return taken(rows, queue.database, LEASE, GRACE, UNNAMED)


@pytest.mark.fault("take", r"least\(coalesce\(j\.timeout", "least(least(j.timeout")
def test_timeout_of_a_job_may_exceed_the_lease(queue: Queue) -> None:
    queue.enqueue(timeout=LONGER)

    assert leased(queue, take_by(queue, "take")) == LONGER


@pytest.mark.fault("take_ahead", r"\+ coalesce\(j\.timeout", "+ least(j.timeout")
def test_timeout_of_a_job_taken_ahead_may_exceed_the_lease(queue: Queue) -> None:
    queue.enqueue(timeout=LONGER)

    assert leased(queue, take_by(queue, "take_ahead")) == LONGER


def taken_one_after_the_other(queue: Queue, statement: str) -> list[list[str]]:
    """Return the payloads of each take, of a long job between short ones."""
    for payload in ("a", "b", "long", "c", "d"):
        queue.enqueue(payload=payload, timeout=LONGER if payload == "long" else LEASE / 2)
    takes = []
    while jobs := take_by(queue, statement):
        takes.append([job.payload for job in jobs])
    return takes


@pytest.mark.fault("take", r"coalesce\(timeout > %\(lease\)s, false\)", "false")
def test_job_with_a_timeout_above_the_lease_is_taken_alone(queue: Queue) -> None:
    assert taken_one_after_the_other(queue, "take") == [["a", "b", "c", "d"], ["long"]]


@pytest.mark.fault("take", r"coalesce\(j\.timeout > %\(lease\)s, false\)", "false")
def test_limited_job_with_a_long_timeout_is_taken_alone(queue: Queue) -> None:
    limit(queue.database, 5, queue="default")

    assert ["long"] in taken_one_after_the_other(queue, "take")


@pytest.mark.fault("take_ahead", r"coalesce\(timeout > %\(lease\)s, false\)", "false")
def test_long_job_is_taken_ahead_alone(queue: Queue) -> None:
    assert taken_one_after_the_other(queue, "take_ahead") == [["a", "b", "c", "d"], ["long"]]


def test_timeout_is_limited_by_the_time_of_an_invocation(queue: Queue) -> None:
    queue.enqueue(timeout=LONGER)
    (offer,) = queue.offer()

    assert leased(queue, queue.claim(offer)) == LEASE


@pytest.mark.fault("take", r", %\(longest\)s::interval", "")
def test_job_of_an_invoked_queue_has_no_more_time_than_is_left(queue: Queue) -> None:
    queue.enqueue(timeout=LONGER)

    assert leased(queue, take_in_turns(queue.database, Turns(Queues()), 1, LEASE, GRACE)) == LEASE
