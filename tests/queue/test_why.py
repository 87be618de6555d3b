"""Why: each reachable reason why a job has not finished, with its evidence and next step."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from minutehand import NotFoundError
from minutehand.database.tenants import TenantDatabase
from minutehand.finish import finish
from minutehand.model.outcome import Done, Failed
from minutehand.operations.controls import limit, pause
from minutehand.operations.jobs import cancel
from minutehand.queries.why import why, why_key, why_queue
from tests.queue.logins import Login
from tests.queue.stage import Queue

HOUR = timedelta(hours=1)
TICKED = "update minutehand.dispatcher set ticked = clock_timestamp()"


def scheduled(queue: Queue) -> UUID:
    return queue.enqueue(run_at=datetime(2030, 1, 31, 7, tzinfo=UTC), every="0 8 * * *", zone="Europe/Berlin")


def retrying(queue: Queue) -> UUID:
    job = queue.claimed()
    finish(job, Failed({"type": "ValueError", "message": "no such user"}, delay=HOUR))
    return job.id


def running(queue: Queue) -> UUID:
    return queue.claimed().id


def offered(queue: Queue) -> UUID:
    job = queue.enqueue()
    queue.offer()
    return job


def unclaimed(queue: Queue) -> UUID:
    job = offered(queue)
    queue.sql("update minutehand.jobs_live set offered = offered - interval '1 hour'")
    return job


def done(queue: Queue) -> UUID:
    job = queue.claimed()
    finish(job, Done())
    return job.id


def dead(queue: Queue) -> UUID:
    job = queue.claimed()
    finish(job, Failed({"type": "ValueError", "message": "no such user."}, final=True))
    return job.id


def paused(queue: Queue) -> UUID:
    pause(queue.database, queue="default", reason="release", actor="ada")
    return queue.enqueue()


def silent(queue: Queue) -> UUID:
    queue.sql("update minutehand.dispatcher set ticked = '2026-01-31 07:00Z'")
    return queue.enqueue()


def limited(queue: Queue) -> UUID:
    limit(queue.database, 1, kind="echo")
    queue.claimed()
    return queue.enqueue()


def full(queue: Queue) -> UUID:
    queue.sql("update minutehand.dispatcher set ticked = clock_timestamp(), capacity = 1")
    queue.claimed(kind="slow")
    return queue.enqueue()


def unserved(queue: Queue) -> UUID:
    queue.sql(TICKED)
    job = queue.enqueue()
    queue.pass_time(job, timedelta(minutes=6))
    return job


def throttled(queue: Queue) -> UUID:
    queue.sql(TICKED)
    queue.sql(
        "insert into minutehand.budgets (queue, budget, lapsed) values ('default', 3, now() - interval '1 minute')"
    )
    return queue.enqueue()


def behind(queue: Queue) -> UUID:
    queue.sql(TICKED)
    queue.enqueue(priority=9)
    queue.enqueue()
    return queue.enqueue()


def stopped(queue: Queue) -> UUID:
    queue.sql(TICKED)
    job = queue.claimed().id
    queue.pass_time(job, timedelta(seconds=30))
    return job


def spent(queue: Queue) -> UUID:
    queue.sql(TICKED)
    job = queue.claimed(max_attempts=1).id
    queue.pass_time(job)
    return job


def late(queue: Queue) -> UUID:
    queue.sql(TICKED)
    job = queue.enqueue(expires=timedelta(minutes=1))
    queue.sql("update minutehand.jobs_live set run_at = now() - interval '1 hour'")
    return job


def following(queue: Queue) -> UUID:
    queue.sql(TICKED)
    return queue.enqueue()


class Case(NamedTuple):
    """A job in some state, the expected reason, parts of the sentence and of the next step."""

    arrange: Callable[[Queue], UUID]
    reason: str
    sentence: str
    next_step: str = ""


CASES = [
    Case(scheduled, "scheduled", "It is scheduled for 2030-01-31 08:00:00 CET, in ", "minutehand promote"),
    Case(
        retrying, "retrying", "Attempt 1 of 8 failed: ValueError: no such user; it runs again at", "promote"
    ),
    Case(running, "running", "in attempt 1 of 8; its lease ends at "),
    Case(offered, "offered", "has not claimed it yet."),
    Case(
        unclaimed,
        "offered",
        "A worker was invoked 1 h ago and has not claimed it yet: Lambda throttles",
        "log",
    ),
    Case(done, "finished", "It finished successfully "),
    Case(dead, "finished", " ago, after 1 attempt: ValueError: no such user.", "minutehand retry "),
    Case(paused, "paused", "It is paused: queue default by ada since ", "minutehand resume --queue default"),
    Case(silent, "silent_dispatcher", "has not ticked since 2026-01-31 07:00:00 UTC", "minutehand doctor"),
    Case(
        limited, "limited", "The limit of 1 for kind echo is reached: 1 job is offered", "minutehand controls"
    ),
    Case(
        full,
        "capacity",
        "The workers' capacity of 1 is used up; slow (",
        "minutehand ls --state offered --state running",
    ),
    Case(unserved, "unserved", "this one has been due for 6 min", "minutehand work --queue default"),
    Case(throttled, "throttled", "at most 3 of its jobs are offered at once", "throttles"),
    Case(behind, "behind", "It waits behind 2 jobs of its queue.", "minutehand edit"),
    Case(stopped, "worker_stopped", "Its worker stopped responding in attempt 1;", "minutehand show"),
    Case(spent, "ending", "because the worker of its last attempt stopped responding"),
    Case(late, "ending", "because it did not start in time"),
    Case(following, "next_tick", "is the next of its queue"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.arrange.__name__)
def test_why_names_the_reason_and_the_next_step(queue: Queue, case: Case) -> None:
    job = case.arrange(queue)

    answer = why(queue.database, job)

    assert answer.reason == case.reason
    assert case.sentence in answer.sentence
    assert ".." not in answer.sentence
    assert case.next_step in answer.next_step
    assert bool(answer.next_step) == bool(case.next_step)


def test_why_estimates_the_wait_from_the_last_hour(queue: Queue) -> None:
    queue.sql(TICKED)
    for seconds_ago in (60, 40, 20):
        job = queue.claimed()
        finish(job, Done())
        queue.sql(
            "update minutehand.jobs set deleted = now() - %(ago)s where id = %(id)s",
            ago=timedelta(seconds=seconds_ago),
            id=job.id,
        )
    queue.enqueue()
    queue.enqueue()

    answer = why(queue.database, queue.enqueue())

    assert answer.evidence["ahead"] == 2
    assert answer.evidence["estimate"] == pytest.approx(40, abs=5)
    assert "behind 2 jobs of its queue, which take about " in answer.sentence


def test_why_names_a_requested_cancellation(queue: Queue) -> None:
    job = queue.claimed().id
    cancel(queue.database, [job], "order withdrawn", running=True)

    assert "Cancellation was requested: order withdrawn." in why(queue.database, job).sentence


def test_why_queue_explains_the_job_due_the_longest(queue: Queue) -> None:
    queue.sql(TICKED)
    queue.enqueue(queue="mail", delay=HOUR, priority=9)
    oldest = queue.enqueue(queue="mail", priority=1)

    assert why_queue(queue.database, "mail").job == oldest
    with pytest.raises(NotFoundError, match="queue other has no unfinished job"):
        why_queue(queue.database, "other")


def test_why_key_explains_the_upcoming_job(queue: Queue) -> None:
    job = queue.enqueue(key="ada", delay=HOUR)

    assert why_key(queue.database, "default", "ada").job == job


def test_why_writes_times_in_the_given_zone(queue: Queue) -> None:
    job = queue.enqueue(run_at=datetime(2030, 1, 31, 7, tzinfo=UTC))

    assert "2030-01-31 02:00:00 EST" in why(queue.database, job, zone=ZoneInfo("America/New_York")).sentence


@pytest.mark.parametrize(("role", "reason"), [("operator", "silent_dispatcher"), ("tenant", "next_tick")])
def test_why_answers_with_what_the_role_may_read(queue: Queue, login: Login, role: str, reason: str) -> None:
    job, database = queue.enqueue(tenant="acme"), TenantDatabase(login(role), "acme")
    assert why(database, job).reason == reason

    pause(queue.database, tenant="acme", reason="migration")
    assert why(database, job).reason == "paused"
