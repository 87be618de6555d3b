"""A job that has not started when `expires` has passed never runs, and ends as expired."""

import math
from datetime import timedelta
from time import monotonic
from typing import Any
from uuid import UUID

import pytest

from minutehand.attempts.in_turn import run_jobs
from minutehand.ends import abandoned
from minutehand.finish import finish
from minutehand.handlers import HandlerTable
from minutehand.maintenance import run_maintenance
from minutehand.model.outcome import Failed, Snoozed
from minutehand.operations.controls import limit
from minutehand.operations.jobs import promote, replay, reschedule, retry
from tests.queue.stage import LONG, Queue

pytestmark = pytest.mark.every_server

ERROR = {"type": "ValueError", "message": "no", "trace": ""}
DAY = timedelta(days=1)
EXPIRY = r"minutehand\.expires_at\(run_at, expires\)"
LIVE = rf"\(expires is null or {EXPIRY} > coalesce\(%\(now\)s, now\(\)\) or attempts > 0\)"


def late(queue: Queue, **options: Any) -> UUID:
    """Enqueue a job that has expired."""
    job_id = queue.enqueue(expires=LONG, **options)
    pass_expiry(queue, job_id)
    return job_id


def pass_expiry(queue: Queue, job_id: UUID) -> None:
    queue.sql(
        "update minutehand.jobs_live set run_at = run_at - %(by)s, visible = least(visible, clock_timestamp())"
        " where id = %(id)s",
        id=job_id,
        by=LONG,
    )


@pytest.mark.fault("offer", rf" and {LIVE}", "")
def test_expired_job_is_not_offered(queue: Queue) -> None:
    late(queue)
    other = queue.enqueue(expires=DAY)

    assert [offer.id for offer in queue.offer()] == [other]


@pytest.mark.fault("take", rf" and {LIVE}", "")
def test_expired_job_is_not_taken(queue: Queue) -> None:
    late(queue)
    other = queue.enqueue(expires=DAY)

    assert [job.id for job in queue.take(5)] == [other]


@pytest.mark.parametrize("tenant", [None, "acme"])
def test_expired_job_is_not_chosen(queue: Queue, tenant: str | None) -> None:
    late(queue, tenant=tenant)
    others = [queue.enqueue(expires=DAY, tenant=tenant) for _ in range(2)]
    limit(queue.database, 5, queue="default")

    assert [offer.id for offer in queue.offer(1)] == others[:1]
    assert [job.id for job in queue.take(5)] == others[1:]


@pytest.mark.fault("claim", r"minutehand\.expires_at\(j\.run_at, j\.expires\) > clock_timestamp\(\)", "true")
def test_offer_that_is_claimed_too_late_expires(queue: Queue) -> None:
    job_id = queue.enqueue(expires=LONG)
    offers = queue.offer()
    pass_expiry(queue, job_id)

    assert queue.claim(*offers) == []
    run_maintenance(queue.database)
    row = queue.row(job_id)
    assert (row.state, row.attempts, row.error and row.error["type"]) == ("expired", 0, "Expired")


@pytest.mark.fault(
    "take",
    r"then minutehand\.expires_at\(j\.run_at, j\.expires\) - clock_timestamp\(\) end",
    "then null::interval end",
)
def test_job_that_expires_in_a_chunk_does_not_begin(queue: Queue) -> None:
    queue.enqueue(priority=9)
    second = queue.enqueue(expires=LONG)
    jobs = queue.take(2)
    assert jobs[0].lease.start_by == math.inf
    assert jobs[1].lease.start_by <= monotonic() + LONG.total_seconds()

    def let_the_second_expire(_payload: Any) -> None:
        jobs[1].lease.start_by = monotonic()
        pass_expiry(queue, second)

    endings = run_jobs(jobs, HandlerTable({"echo": let_the_second_expire}), stopping=lambda: False)
    run_maintenance(queue.database)

    assert [ending.ending for ending in endings] == ["done", "released"]
    assert queue.row(second).state == "expired"


@pytest.mark.fault(
    "claim",
    r"then minutehand\.expires_at\(j\.run_at, j\.expires\) - clock_timestamp\(\) end",
    "then null::interval end",
)
def test_claimed_job_knows_when_it_expires(queue: Queue) -> None:
    queue.enqueue(expires=LONG)
    (job,) = queue.claim(*queue.offer())

    assert not job.lease.expired
    assert job.lease.start_by <= monotonic() + LONG.total_seconds()


@pytest.mark.fault("take", r" or attempts > 0\)", ")")
@pytest.mark.fault("claim", r" or j\.attempts > 0\)", ")")
@pytest.mark.fault("offer", r" or attempts > 0\)", ")")
@pytest.mark.fault("expire", r" and attempts = 0", "")
def test_retry_runs_after_the_job_would_have_expired(queue: Queue) -> None:
    job = queue.claimed(expires=LONG)
    finish(job, Failed(ERROR, delay=timedelta()))
    pass_expiry(queue, job.id)
    run_maintenance(queue.database)

    claimed = queue.claim(*queue.offer())
    assert [(job.attempt, job.lease.expired) for job in claimed] == [(2, False)]
    finish(claimed[0], Failed(ERROR, delay=timedelta()))
    assert [job.attempt for job in queue.take()] == [3]


def test_snoozed_job_expires(queue: Queue) -> None:
    job = queue.claimed(expires=LONG)
    finish(job, Snoozed(DAY))
    pass_expiry(queue, job.id)

    assert run_maintenance(queue.database).expired == 1
    assert queue.row(job.id).state == "expired"


def test_maintenance_expires_late_jobs_in_batches(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(abandoned, "MAX_REAPED", 2)
    ids = [late(queue, payload=n) for n in range(5)]
    waiting = queue.enqueue(expires=LONG)

    assert run_maintenance(queue.database).expired == 5
    assert {queue.row(job_id).state for job_id in ids} == {"expired"}
    assert queue.row(waiting).state == "due"


@pytest.mark.fault("expire", r"minutehand\.\w+\(j, n\.next, %\(lock_wait\)s::integer\)", "null::uuid")
@pytest.mark.fault("expire", r"or id = any \(%\(ids\)s::uuid\[\]\)", "")
def test_expired_recurring_job_recurs(queue: Queue) -> None:
    job_id = queue.enqueue(every="PT1H", expires=LONG, key="report", payload={"n": 1})
    queue.sql("update minutehand.jobs_live set run_at = run_at - interval '2 hours', visible = now()")
    run_maintenance(queue.database)
    run_maintenance(queue.database)

    assert queue.row(job_id).state == "expired"
    rows = queue.sql("select key, payload, expires, run_at > now() as later from minutehand.jobs_live")
    assert rows == [{"key": "report", "payload": {"n": 1}, "expires": LONG, "later": True}]


@pytest.mark.parametrize("on_conflict", ["replace", "ignore", "raise", "merge"])
def test_expired_job_does_not_hold_its_key(queue: Queue, on_conflict: str) -> None:
    late(queue, key="a", payload={"old": 1})
    queue.enqueue(key="a", payload={"new": 1}, on_conflict=on_conflict)
    run_maintenance(queue.database)

    assert [job.payload for job in queue.take()] == [{"new": 1}]


def test_debounced_job_replaces_one_that_expired(queue: Queue) -> None:
    first = queue.enqueue(key="a", debounce=LONG, debounce_max=LONG, expires=LONG)
    queue.sql(
        "update minutehand.jobs_live set run_at = now() - interval '1 day', visible = now(), latest = now()"
    )
    again = queue.enqueue(key="a", debounce=LONG, debounce_max=LONG, expires=LONG)

    assert again == first
    assert queue.waits(first, LONG)
    assert run_maintenance(queue.database).expired == 0


@pytest.mark.parametrize(
    ("first_expires", "added", "result"),
    [(LONG, DAY, DAY), (DAY, LONG, DAY), (LONG, None, None), (None, LONG, None)],
)
def test_merge_keeps_the_longer_expiry(
    queue: Queue, first_expires: timedelta | None, added: timedelta | None, result: timedelta | None
) -> None:
    first = queue.enqueue(key="a", payload=[1], expires=first_expires)
    queue.enqueue(key="a", payload=[2], expires=added, on_conflict="merge")

    assert queue.row(first).expires == result


@pytest.mark.fault("functions/updates", r"else clock_timestamp\(\) end", "else run_at end")
def test_promoted_job_expires_later(queue: Queue) -> None:
    job_id = late(queue)
    promote(queue.database, [job_id])

    check_expires_later(queue)


def test_rescheduled_job_expires_later(queue: Queue) -> None:
    reschedule(queue.database, [late(queue)], delay=timedelta())

    check_expires_later(queue)


@pytest.mark.fault(
    "functions/updates", r"else clock_timestamp\(\) \+ greatest\(given.*? end", "else j.run_at end"
)
def test_retried_job_expires_later(queue: Queue) -> None:
    job_id = late(queue)
    run_maintenance(queue.database)
    retry(queue.database, [job_id])

    check_expires_later(queue)


def test_replayed_job_expires_later(queue: Queue) -> None:
    job_id = late(queue)
    run_maintenance(queue.database)
    replay(queue.database, [job_id])

    check_expires_later(queue)


def check_expires_later(queue: Queue) -> None:
    assert run_maintenance(queue.database).expired == 0
    assert len(queue.take()) == 1
    assert [row["expires"] for row in queue.sql("select expires from minutehand.jobs_live")] == [LONG]
