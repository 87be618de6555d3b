"""A chunk: jobs that wait for their turn keep their claims, and jobs without enough time are released."""

from datetime import timedelta
from time import monotonic
from typing import Any

import pytest

from minutehand import Job, enqueue
from minutehand.attempts.in_turn import run_jobs
from minutehand.handlers import HandlerTable
from minutehand.invocations.running import run_event
from minutehand.maintenance import run_maintenance
from tests.queue.stage import GRACE, Queue

pytestmark = pytest.mark.every_server

SECOND = timedelta(seconds=1)


@pytest.mark.fault("extend", r"\+ e\.lease", "")
def test_short_job_keeps_its_claim_behind_a_long_one(queue: Queue) -> None:
    queue.enqueue("long", priority=9)
    short = queue.enqueue("short", timeout=timedelta(milliseconds=100), max_attempts=1)
    ran = []

    def long(_payload: Any, job: Job) -> None:
        held = queue.sql(
            "select visible - clock_timestamp() as rest from minutehand.jobs where id = %(id)s", id=short
        )
        assert held[0]["rest"] > job.remaining
        run_maintenance(
            queue.another(), queue.sql("select clock_timestamp() + %(s)s as t", s=GRACE + SECOND)[0]["t"]
        )

    handlers = HandlerTable({"long": long, "short": lambda _: ran.append("short")})
    endings = run_jobs(queue.take(2), handlers, stopping=lambda: False)

    assert [ending.ending for ending in endings] == ["done", "done"]
    assert ran == ["short"]


def test_extending_the_current_job_extends_the_rest_of_the_chunk(queue: Queue) -> None:
    queue.enqueue("long", priority=9)
    behind = queue.enqueue("long")

    def long(_payload: Any, job: Job) -> None:
        if job.id != behind:
            job.extend(timedelta(hours=2))
            # It waits longer.
            assert not queue.waits(behind, timedelta(hours=2))

    endings = run_jobs(queue.take(2), HandlerTable({"long": long}), stopping=lambda: False)

    assert [ending.ending for ending in endings] == ["done", "done"]


@pytest.mark.parametrize(
    "duration", [timedelta(), timedelta(seconds=-60), timedelta(hours=24, seconds=1), timedelta.max]
)
def test_extend_by_an_invalid_duration_is_rejected(queue: Queue, duration: timedelta) -> None:
    job = queue.claimed()

    with pytest.raises(
        ValueError, match="the duration of extend must be above zero and at most 24 hours, got"
    ):
        job.extend(duration)

    assert queue.row(job.id).state == "running"


def test_job_without_enough_time_left_is_released(queue: Queue) -> None:
    queue.enqueue(priority=9, max_attempts=1)
    rest = queue.enqueue(timeout=timedelta(seconds=30), max_attempts=1)

    endings = run_jobs(queue.take(2), HandlerTable({"echo": lambda _: None}), lambda: False, monotonic() + 10)

    assert [ending.ending for ending in endings] == ["done", "released"]
    assert queue.row(rest).attempts == 0


def test_jobs_of_an_invocation_whose_time_is_taken_are_released(queue: Queue) -> None:
    """A local run that stops takes the time that was left."""
    for _ in range(2):
        queue.enqueue(max_attempts=1)
    event = {"offers": [[str(offer.id), str(offer.ack)] for offer in queue.offer(2)]}
    left = [timedelta(minutes=1)]
    handlers = HandlerTable({"echo": lambda _: left.clear()})

    endings = run_event(queue.database, handlers, event, lambda: sum(left, timedelta()), GRACE)

    assert [ending.ending for ending in endings] == ["done", "released"]


def test_event_with_the_ack_of_a_running_claim_claims_nothing(queue: Queue) -> None:
    running = queue.claimed()
    event = {"offers": [[str(running.id), str(running.ack)]]}

    endings = run_event(queue.database, HandlerTable({}), event, lambda: timedelta(minutes=1), GRACE)

    assert endings == []
    assert queue.row(running.id).attempts == 1


@pytest.mark.fault("offer", r"\s+for update skip locked\)", ")")
def test_locked_head_of_the_queue_does_not_block_offers(queue: Queue) -> None:
    held, free = queue.enqueue(), queue.enqueue()
    other = queue.another()
    with other.transaction() as connection:
        connection.execute("select from minutehand.jobs where id = %s for update", (held,))
        waiting = queue.start(queue.offer, 1)
        queue.until_done_or_waiting(waiting)

        assert waiting.done()
        assert [offered.id for offered in waiting.result()] == [free]


@pytest.mark.fault("raise_floor", r" skip locked", "")
def test_floor_locked_by_another_session_is_not_raised(queue: Queue) -> None:
    queue.enqueue()
    queue.database.run("fold_lanes")
    queue.sql("update minutehand.lanes set floor = '2000-01-01+00'")
    queue.sql("update minutehand.dispatcher set settled = now()")
    other = queue.another()
    with other.transaction() as connection:
        connection.execute("update minutehand.lanes set floor = '2001-01-01+00'")
        raising = queue.start(queue.database.run, "raise_floor", now=None)
        queue.until_done_or_waiting(raising)

        assert raising.done()


@pytest.mark.parametrize(
    "function",
    ["upcoming(text, text, text, text)", "make_days(integer, date)", "enqueue_incoming(uuid, text)"],
)
def test_role_without_grants_cannot_call_internal_functions(queue: Queue, function: str) -> None:
    allowed = queue.sql(
        "select has_function_privilege('pg_monitor', to_regprocedure(%(name)s)::oid, 'execute') as may",
        name=f"minutehand.{function}",
    )

    assert allowed == [{"may": False}]


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York"])
def test_delay_in_days_is_a_multiple_of_24_hours_in_any_zone(queue: Queue, zone: str) -> None:
    queue.sql("select set_config('test.zone', %(zone)s, false)", zone=zone)
    queue.sql(
        "do $$ begin execute format('alter database %%I set timezone = %%L', current_database(),"
        " current_setting('test.zone')); end $$".replace("%%", "%")
    )
    elsewhere = queue.another()
    later = [queue.enqueue(delay=timedelta(days=days)) for days in (120, 200)]
    with elsewhere.transaction():
        later += [enqueue("echo", delay=timedelta(days=days), connection=elsewhere).id for days in (120, 200)]

    waits = queue.sql(
        "select extract(epoch from visible - enqueued) / 86400 as days"
        "  from minutehand.jobs where id = any (%(ids)s) order by id",
        ids=later,
    )

    assert [round(float(row["days"]), 4) for row in waits] == [120, 200, 120, 200]
