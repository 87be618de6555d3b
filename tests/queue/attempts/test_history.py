"""Each attempt is stored with its outcome by the statement that settles its claim."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from minutehand import Cancel, Fail, Job, LostError, Snooze
from minutehand.finish import finish
from minutehand.model.outcome import Done, Failed, Released
from minutehand.model.worker import Worker
from tests.queue.attempts.stage import attempts_of, only_attempt, outcomes, raising
from tests.queue.stage import LONG, Queue

ERROR = {"type": "ValueError", "message": "no", "trace": ""}

LAMBDA = Worker("minutehand-worker", "8f5c2a70-request", 512, "7")

HANDLERS: dict[str, tuple[Callable[[Any], Any], int]] = {
    "done": (lambda _: "well", 8),
    "retrying": (raising(ValueError("no")), 8),
    "dead": (raising(Fail("never")), 8),
    "snoozed": (raising(Snooze(LONG)), 8),
    "cancelled": (raising(Cancel("the customer left")), 8),
}


@pytest.mark.parametrize("outcome", HANDLERS)
def test_attempt_is_stored_with_its_outcome(queue: Queue, outcome: str) -> None:
    handler, max_attempts = HANDLERS[outcome]

    job_id, ending = queue.attempt(handler, max_attempts=max_attempts, queue="default")

    attempt = only_attempt(queue, job_id)
    assert (attempt.attempt, attempt.outcome) == (1, outcome) == (1, ending.ending)
    assert attempt.error == ending.error
    assert timedelta() <= attempt.ended - attempt.started < timedelta(minutes=1)


@pytest.mark.fault("finish", r"from ended\n\)", "from ended where outcome = 'done'\n)")
@pytest.mark.fault("release", r"j\.attempts \+ e\.refund as attempt", "j.attempts as attempt")
def test_each_attempt_is_stored_with_its_number(queue: Queue) -> None:
    job_id = queue.enqueue(max_attempts=3)
    for handler in (
        raising(Snooze(LONG)),
        raising(ValueError("no")),
        raising(ValueError("no")),
        raising(ValueError("no")),
    ):
        queue.pass_time(job_id)
        queue.work(handler)

    assert outcomes(queue, job_id) == [(1, "snoozed"), (1, "retrying"), (2, "retrying"), (3, "dead")]


def test_job_released_before_its_start_is_stored_without_duration(queue: Queue) -> None:
    job = queue.claimed()
    assert finish(without_start(job), Released()).ending == "released"

    attempt = only_attempt(queue, job.id)
    assert (attempt.attempt, attempt.outcome) == (1, "released")
    assert attempt.ended - attempt.started < timedelta(seconds=5)


def without_start(job: Job) -> Job:
    job.lease.started = None
    return job


@pytest.mark.fault("supersede", r"from ended\n\)", "from ended where false\n)")
def test_superseded_attempt_is_stored_with_its_error(queue: Queue) -> None:
    job = queue.claimed(key="report")
    queue.enqueue(key="report")
    finish(job, Failed(ERROR))

    attempt = only_attempt(queue, job.id)
    assert (attempt.outcome, attempt.error) == ("superseded", ERROR)


def test_attempt_excludes_the_wait_for_its_turn_in_a_chunk(queue: Queue) -> None:
    first, second = queue.enqueue(), queue.enqueue()

    def takes_ten_minutes(_: object, job: Job) -> None:
        if job.id == first:
            assert job.lease.started is not None
            job.lease.started -= 600

    queue.work(takes_ten_minutes, limit=2)

    durations = [
        attempt.ended - attempt.started for attempt in map(partial(only_attempt, queue), (first, second))
    ]
    assert durations[0] >= timedelta(minutes=10) > durations[1]


def test_attempt_has_its_worker_and_the_job_has_its_version(queue: Queue) -> None:
    ids = [queue.enqueue() for _ in range(2)]
    done, failed = queue.take(2)
    done.lease.worker = failed.lease.worker = LAMBDA
    finish(done, Done())
    finish(failed, Failed(ERROR))

    for job_id in ids:
        attempt = only_attempt(queue, job_id)
        assert Worker(attempt.worker, attempt.request, attempt.memory_mb, attempt.version) == LAMBDA
    assert [queue.row(job_id).version for job_id in ids] == ["7", None]


@pytest.mark.fault("finish_done", r"from ended\n\)", "from ended where false\n)")
def test_attempt_commits_with_the_transaction_of_the_handler(queue: Queue) -> None:
    job = queue.claimed()
    with pytest.raises(ZeroDivisionError), job.transaction():
        raise ZeroDivisionError
    assert attempts_of(queue, job.id) == []

    with job.transaction():
        pass
    assert outcomes(queue, job.id) == [(1, "done")]


@pytest.mark.fault(
    "finish",
    r"from ended\n\)",
    "from (select id, attempts, clock_timestamp() as deleted, 0 as seconds, tenant, queue, kind, 'done' as outcome,"
    " null as own_error, null as own_result from minutehand.jobs_live) e\n)",
)
@pytest.mark.fault(
    "finish_done",
    r"from ended\n\)",
    "from (select id, attempts, clock_timestamp() as deleted, 0 as seconds, tenant, queue, kind"
    " from minutehand.jobs_live) e\n)",
)
def test_lost_claim_stores_no_attempt(queue: Queue) -> None:
    slow = queue.claimed()
    queue.pass_time(slow.id)
    (owner,) = queue.take()
    before = outcomes(queue, slow.id)

    assert [finish(slow, each).ending for each in (Done(), Failed(ERROR), Released())] == ["lost"] * 3
    with pytest.raises(LostError), slow.transaction():
        pass
    assert outcomes(queue, slow.id) == before == [(1, "lapsed")]
    finish(owner, Done())
    assert outcomes(queue, slow.id) == [(1, "lapsed"), (2, "done")]
