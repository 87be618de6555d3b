"""The next time at which the mode sleep needs a tick, with many lanes."""

from datetime import timedelta
from typing import Any

import pytest

from minutehand.finish import finish
from minutehand.model.outcome import Failed
from minutehand.operations.controls import limit, pause, unblock
from tests.queue.stage import Queue

HOUR = timedelta(hours=1)
LANES = """insert into minutehand.lanes (queue, priority, floor)
           select 'q' || n, 5, now() + interval '1 hour' + n * interval '20 seconds' from generate_series(1, 150) n"""
JOBS = """insert into minutehand.jobs_live (queue, kind, run_at, visible)
          select l.queue, 'echo', l.floor, l.floor from minutehand.lanes l where queue like 'q%%' and queue <> 'q1'"""


def need(queue: Queue) -> timedelta | None:
    """Return the time until the next need."""
    (found,) = queue.database.run("next_need")
    return None if found["needed"] is None else found["needed"] - found["now"]


def test_next_need_is_that_of_the_first_of_many_lanes(queue: Queue) -> None:
    queue.sql(LANES)
    queue.sql(JOBS)
    found = need(queue)
    assert found is not None
    assert HOUR < found <= HOUR + timedelta(seconds=40)

    queue.enqueue(queue="q150", delay=timedelta(minutes=10))
    found = need(queue)
    assert found is not None
    assert found <= timedelta(minutes=10)


@pytest.mark.fault("next_need", r"having count\(\*\) = 100", "having count(*) = 1000")
def test_next_need_behind_lanes_without_jobs_is_not_late(queue: Queue) -> None:
    """It is the last floor that was read, and the tick at that time goes on from there."""
    queue.sql(LANES)
    queue.enqueue(queue="last", delay=2 * HOUR)
    queue.sql(
        "insert into minutehand.lanes (queue, priority, floor) values ('last', 5, now() + interval '2 hours')"
    )
    queue.sql("delete from minutehand.lane_changes")
    found = need(queue)

    assert found is not None
    assert HOUR < found <= 2 * HOUR


def test_next_need_is_none_while_everything_is_paused(queue: Queue) -> None:
    queue.sql(LANES)
    queue.sql(JOBS)
    queue.sql("delete from minutehand.lane_changes")
    pause(queue.database, everything=True)

    assert need(queue) is None


@pytest.mark.parametrize("paused", [{"queue": "q2"}, {"queue": "q2", "kind": "echo"}, {"kind": "other"}])
def test_next_need_passes_over_what_is_paused(queue: Queue, paused: dict[str, Any]) -> None:
    queue.sql(LANES)
    queue.sql(JOBS)
    queue.sql("delete from minutehand.lane_changes")
    pause(queue.database, **paused)
    found = need(queue)

    assert found is not None
    assert (found > HOUR + timedelta(seconds=40)) is ("queue" in paused)


def block(queue: Queue, **options: Any) -> None:
    """Let a dead job block the group a."""
    limit(queue.database, 1, queue="default", per="group", in_order=True, on_dead="block")
    finish(queue.claimed(group="a", **options), Failed({"type": "Broken", "message": "no"}, final=True))


@pytest.mark.fault("functions/blocked_groups", r"= 'block'\n\$\$", "= 'x'\n$$")
@pytest.mark.fault("next_need", r"or exists \(select from blocked b where b\.queue = l\.queue\)", "")
@pytest.mark.fault("next_need", "null from blocked", "null from blocked where false")
def test_next_need_passes_over_blocked_groups(queue: Queue) -> None:
    """Even if so many of their jobs are due that others are not among the first."""
    block(queue)
    queue.sql("""insert into minutehand.jobs_live (kind, queue, "group", run_at, visible)
                 select 'echo', 'default', 'a', now(), now() from generate_series(1, 1500) n""")
    assert need(queue) is None

    queue.enqueue(delay=HOUR)
    found = need(queue)
    assert found is not None
    assert HOUR - timedelta(minutes=1) < found <= HOUR

    unblock(queue.database, "a", queue="default")
    found = need(queue)
    assert found is not None
    assert found <= timedelta()


@pytest.mark.parametrize(("dead", "due"), [("", "acme"), ("acme", ""), ("acme", "other")])
def test_next_need_tells_blocked_groups_of_tenants_apart(queue: Queue, dead: str, due: str) -> None:
    block(queue, tenant=dead)
    queue.enqueue(group="a", tenant=due)

    found = need(queue)
    assert found is not None
    assert found <= timedelta()
