"""Every end of an occurrence but cancellation creates the next, exactly once."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from minutehand import Cancel, Fail, Job, LostError
from minutehand.finish import finish
from minutehand.maintenance import run_maintenance
from minutehand.model.outcome import Cancelled, Done, Failed, Finish, Snoozed
from minutehand.model.row import Row
from minutehand.operations.jobs import retry
from tests.queue.recurring.stage import ENDS, nominals, recurring, upcoming, utc
from tests.queue.stage import LONG, Queue

pytestmark = pytest.mark.every_server

ERROR = {"type": "ValueError", "message": "no", "trace": ""}

NOMINAL, NEXT = utc("2041-01-07 08:00+00"), utc("2041-01-08 08:00+00")


@pytest.mark.parametrize("way", ENDS)
@pytest.mark.parametrize("key", [None, "report"])
def test_finish_creates_the_next_occurrence_unless_cancelled(queue: Queue, way: str, key: str | None) -> None:
    outcome, recurs = ENDS[way]
    job = recurring(queue, key=key)

    finished = finish(job, outcome)

    rows = [row for row in upcoming(queue) if row["id"] != job.id]
    assert [row["nominal"] for row in rows] == [NEXT] * recurs
    assert [row["key"] for row in rows] == [key] * recurs
    assert finished.next == (rows[0]["id"] if recurs else None)


def test_retry_keeps_the_nominal_time(queue: Queue) -> None:
    job = recurring(queue, max_attempts=3)
    seen = []
    for outcome in (
        Failed(ERROR, delay=LONG),
        Snoozed(LONG),
        Failed(ERROR, delay=LONG),
        Failed(ERROR, delay=LONG),
    ):
        seen.append(job.nominal)
        finish(job, outcome)
        queue.pass_time(job.id)
        job = next(iter(queue.take()), job)

    assert seen == [NOMINAL] * 4
    assert nominals(queue) == [NEXT]


@pytest.mark.fault("reap", r"minutehand\.\w+\(j, n\.next, %\(lock_wait\)s::integer\)", "null::uuid")
@pytest.mark.fault("reap", r"or id = any \(%\(ids\)s::uuid\[\]\)", "")
def test_reaped_job_recurs(queue: Queue) -> None:
    job, other = recurring(queue, max_attempts=1, payload={"n": 1}), queue.claimed(max_attempts=1)
    queue.pass_time(job.id)
    queue.pass_time(other.id)

    finished = {record["id"]: record["next"] for record in run_maintenance(queue.database).reaped}

    rows = upcoming(queue)
    assert [(row["nominal"], row["payload"]) for row in rows] == [(NEXT, {"n": 1})]
    assert finished == {job.id: rows[0]["id"], other.id: None}
    assert run_maintenance(queue.database).reaped == ()
    assert nominals(queue) == [NEXT]


def test_completion_in_a_transaction_creates_the_next_occurrence(queue: Queue) -> None:
    job = recurring(queue)
    with pytest.raises(ZeroDivisionError), job.transaction():
        raise ZeroDivisionError
    assert upcoming(queue) == []

    with job.transaction() as connection:
        connection.execute("create table effects (n integer)")
    assert nominals(queue) == [NEXT]
    assert job.finished and job.finished.next == upcoming(queue)[0]["id"]


def test_cancel_ends_the_recurrence_and_failure_does_not(queue: Queue) -> None:
    for error, most in ((Cancel("the customer left"), 0), (Fail("no"), 1)):
        queue.pass_time(recurring(queue, key="report").id)
        queue.work(raising(error))

        assert len(upcoming(queue)) == most


def raising(error: Exception) -> Callable[[Any], None]:
    def handler(_payload: Any) -> None:
        raise error

    return handler


def finished_twice(queue: Queue, job: Job) -> list[Finish]:
    return [finish(job, Done()), finish(job, Done()), finish(job, Failed(ERROR, final=True))]


def finished_by_two(queue: Queue, job: Job) -> list[Finish]:
    queue.pass_time(job.id)
    (owner,) = queue.take()
    return [finish(job, Done()), finish(owner, Done()), finish(job, Done())]


def finished_at_once(queue: Queue, job: Job) -> list[Finish]:
    claims = [replace(job, lease=replace(job.lease, database=queue.another())) for _ in range(5)]
    return [race.result() for race in [queue.start(finish, each, Done()) for each in claims]]


@pytest.mark.parametrize("how", [finished_twice, finished_by_two, finished_at_once])
@pytest.mark.parametrize("key", [None, "report"])
def test_repeated_finish_creates_one_occurrence(
    queue: Queue, how: Callable[[Queue, Job], list[Finish]], key: str | None
) -> None:
    endings = how(queue, recurring(queue, key=key))

    assert sorted(each.ending for each in endings).count("done") == 1
    assert nominals(queue) == [NEXT]
    assert [each.next for each in endings if each.next] == [upcoming(queue)[0]["id"]]


def test_late_finish_creates_the_next_occurrence_if_unclaimed(queue: Queue) -> None:
    job = recurring(queue)
    queue.pass_time(job.id)
    queue.offer()

    assert finish(job, Done()).ending == "done"
    assert nominals(queue) == [NEXT]


def test_lost_claim_creates_no_occurrence_in_its_transaction(queue: Queue) -> None:
    job = recurring(queue)
    queue.pass_time(job.id)
    queue.take()
    with pytest.raises(LostError), job.transaction():
        pass

    assert upcoming(queue) == []


def test_retried_occurrence_does_not_recur_twice(
    queue: Queue,
) -> None:
    dead = recurring(queue)
    finish(dead, Failed(ERROR, final=True))
    again = retried(queue, dead.id)
    assert nominals(queue) == [NEXT]
    finish(again, Done())
    assert nominals(queue) == [NEXT]

    queue.sql("delete from minutehand.jobs")
    cancelled = recurring(queue)
    finish(cancelled, Cancelled(ERROR))
    finish(retried(queue, cancelled.id), Done())
    assert nominals(queue) == [NEXT]


def retried(queue: Queue, job_id: UUID) -> Job:
    (change,) = retry(queue.database, [job_id])
    assert change.outcome == "changed"
    (job,) = queue.take()
    assert job.id == job_id
    return job


@pytest.mark.parametrize(("every", "zone"), [("whenever", None), ("P1D", "Atlantis/Capital")])
def test_invalid_recurrence_is_reported_and_does_not_stop_a_finish(
    queue: Queue, every: str, zone: str | None
) -> None:
    done, dead = recurring(queue, every, zone), recurring(queue, every, zone)
    reaped = recurring(queue, every, zone, max_attempts=1)
    endings = [finish(done, Done('"result"')), finish(dead, Failed(ERROR, final=True))]
    queue.pass_time(reaped.id)
    run_maintenance(queue.database)

    rows: list[Row] = [queue.row(job.id) for job in (done, dead, reaped)]
    assert [each.ending for each in endings] == ["done", "dead"]
    assert [row.state for row in rows] == ["done", "dead", "dead"]
    assert (rows[0].result, (rows[0].error or {})["type"]) == ("result", "RecurrenceError")
    assert (rows[1].error or {})["message"].startswith("no; the recurrence ended")
    assert upcoming(queue) == []


def test_personal_recurring_job_passes_on_and_clears_its_payload(queue: Queue) -> None:
    job = recurring(queue, payload={"name": "Ada"}, headers={"to": "Ada"})
    queue.sql("update minutehand.jobs_live set personal = true")
    finish(job, Done())

    rows = queue.sql("select payload, headers from minutehand.jobs order by deleted nulls last")
    assert [(row["payload"], row["headers"]) for row in rows] == [
        (None, None),
        ({"name": "Ada"}, {"to": "Ada"}),
    ]
