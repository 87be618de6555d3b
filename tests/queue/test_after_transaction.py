"""What a handler returns or raises after its transaction is added to the job, and does not change its ending."""

import signal
from time import monotonic
from typing import Any

import pytest

from minutehand import Cancel, Job, LostError, UnknownKindError
from minutehand.attempts.in_turn import run_jobs
from minutehand.handlers import HandlerTable
from minutehand.model.event import Event
from minutehand.model.outcome import Interrupted
from minutehand.model.row import Attempt
from minutehand.queries.jobs import list_attempts, list_jobs
from tests.queue.stage import Queue

LARGE = "x" * 300_000

pytestmark = pytest.mark.every_server


def attempts(queue: Queue, job: Job) -> list[Attempt]:
    return list_attempts(queue.database, job.id)


def test_result_returned_after_the_transaction_is_stored(queue: Queue) -> None:
    def ship(_payload: Any, job: Job) -> dict[str, int]:
        with job.transaction():
            pass
        return {"shipped": 1}

    job_id, ending = queue.attempt(ship)

    row = queue.row(job_id)
    assert (ending.ending, row.state, row.result, row.error) == ("done", "done", {"shipped": 1}, None)


def test_result_set_after_the_transaction_is_stored(queue: Queue) -> None:
    def ship(_payload: Any, job: Job) -> None:
        with job.transaction():
            pass
        job.result = "shipped"

    job_id, _ = queue.attempt(ship)

    assert queue.row(job_id).result == "shipped"


@pytest.mark.parametrize("returned", [None, [1], [2]])
def test_result_stored_by_the_transaction_is_not_replaced(queue: Queue, returned: object) -> None:
    def ship(_payload: Any, job: Job) -> object:
        with job.transaction():
            job.result = [1]
        return returned

    job_id, _ = queue.attempt(ship)

    row = queue.row(job_id)
    assert (row.state, row.result) == ("done", [1])
    assert (row.stage, (row.error or {}).get("message")) == (
        ("result", "the result was not stored: the transaction has stored another one")
        if returned == [2]
        else (None, None)
    )


@pytest.mark.parametrize("within", [True, False])
def test_result_that_is_too_large_is_dropped(queue: Queue, within: bool) -> None:
    def ship(_payload: Any, job: Job) -> str:
        with job.transaction():
            job.result = LARGE if within else None
        return LARGE

    job_id, ending = queue.attempt(ship)

    row = queue.row(job_id)
    assert (ending.ending, row.state, row.result, row.stage) == ("done", "done", None, "result")
    assert (row.error or {})["message"].count("the result was not stored: it must have at most") == 1


@pytest.mark.parametrize(
    "error", [ValueError("too late"), UnknownKindError("no"), Cancel("no"), SystemExit(1)], ids=repr
)
def test_exception_after_the_transaction_is_recorded(
    queue: Queue, error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    jobs: list[Job] = []
    events: list[Event] = []

    def ship(_payload: Any, job: Job) -> None:
        jobs.append(job)
        with job.transaction():
            job.result = "shipped"
        raise error

    queue.enqueue()
    (ending,) = run_jobs(queue.take(), HandlerTable({"echo": ship}), lambda: False, hook=events.append)

    row = queue.row(jobs[0].id)
    assert (ending.ending, row.state, row.result, row.stage) == ("done", "done", "shipped", "after")
    assert (row.error or {})["type"] == type(error).__name__
    assert [(each.outcome, each.error) for each in attempts(queue, jobs[0])] == [("done", row.error)]
    assert (events[-1].name, events[-1].facts["error_type"]) == ("done", type(error).__name__)
    assert "a handler failed after its transaction had completed the job" in caplog.text


def test_timeout_after_the_transaction_is_recorded(queue: Queue) -> None:
    def ship(_payload: Any, job: Job) -> None:
        with job.transaction():
            pass
        job.lease.deadline = monotonic()
        signal.raise_signal(signal.SIGALRM)

    job_id, ending = queue.attempt(ship)

    assert (ending.ending, queue.row(job_id).stage) == ("done", "after")
    assert (queue.row(job_id).error or {})["type"] == "OutOfTime"


def test_interrupt_after_the_transaction_does_not_lose_the_job(queue: Queue) -> None:
    events: list[Event] = []

    def ship(_payload: Any, job: Job) -> None:
        with job.transaction():
            pass
        raise Interrupted

    first, second = queue.enqueue(), queue.enqueue()
    jobs = queue.take(2)
    with pytest.raises(Interrupted):
        run_jobs(jobs, HandlerTable({"echo": ship}), lambda: False, hook=events.append)

    assert (queue.row(first).state, queue.row(second).state) == ("done", "due")
    assert [event.name for event in events] == ["claimed", "done", "released"]


def test_result_of_a_deleted_job_is_not_an_error(queue: Queue) -> None:
    def ship(_payload: Any, job: Job) -> str:
        with job.transaction():
            pass
        queue.sql("delete from minutehand.jobs")
        return "shipped"

    _, ending = queue.attempt(ship)

    assert ending.ending == "done"


def test_second_transaction_is_refused(queue: Queue) -> None:
    def ship(_payload: Any, job: Job) -> None:
        with job.transaction():
            pass
        with pytest.raises(LostError, match="was completed by an earlier"), job.transaction():
            raise AssertionError("entered")

    job_id, _ = queue.attempt(ship)

    assert (queue.row(job_id).state, queue.row(job_id).error) == ("done", None)


@pytest.mark.parametrize("in_transaction", [True, False])
def test_dropped_results_are_marked_and_filtered(queue: Queue, in_transaction: bool) -> None:
    class ResultError(Exception):
        """An error of an earlier attempt, which must not count as a dropped result."""

    def handle(payload: Any, job: Job) -> object:
        if payload == "retried" and job.attempt == 1:
            raise ResultError
        if in_transaction:
            with job.transaction():
                pass
        return object() if payload == "dropped" else None

    dropped, retried = queue.enqueue(payload="dropped"), queue.enqueue(payload="retried")
    queue.work(handle, 2)
    queue.pass_time(retried)
    queue.work(handle)

    assert [queue.row(each).stage for each in (dropped, retried)] == ["result", None]
    page = list_jobs(queue.database, result_dropped=True, total=True)
    assert ([row.id for row in page.rows], page.total) == ([dropped], 1)
    assert [row.id for row in list_jobs(queue.database, result_dropped=True, last=True).rows] == [dropped]
    assert list_jobs(queue.database, result_dropped=True, states=["dead"]).rows == ()
