"""Groups: of each group, no more jobs are offered or running than its limit allows, in order if its limit says so."""

from collections import Counter
from datetime import timedelta
from threading import Barrier
from typing import Any
from uuid import UUID

import pytest

from minutehand import Job, LostError
from minutehand.finish import finish
from minutehand.model.outcome import Done, Failed
from minutehand.operations.controls import limit, pause, resume, unblock, unlimit
from minutehand.operations.jobs import retry
from tests.queue.stage import LONG, Queue

ERROR = {"type": "ValueError", "message": "no"}
GROUPS = 'select "group" from minutehand.jobs where id = any (%(ids)s)'
MOST = """select max(jobs) as most from (
              select count(*) as jobs from minutehand.jobs_live
               where coalesce(offered, claimed) is not null and visible > now() group by "group") g"""


def fill(stage: Queue, count: int, group: str | None, **options: Any) -> list[UUID]:
    return [stage.enqueue(group=group, **options) for _ in range(count)]


def offered(stage: Queue, capacity: int = 100) -> Counter[str]:
    """Return the number of new offers by group."""
    ids = [offer.id for offer in stage.offer(capacity)]
    return Counter(row["group"] or "" for row in stage.sql(GROUPS, ids=ids))


@pytest.mark.every_server
def test_group_runs_one_job_at_a_time(queue: Queue) -> None:
    fill(queue, 3, "a")
    fill(queue, 2, "b")
    fill(queue, 2, None)

    assert offered(queue) == {"a": 1, "b": 1, "": 2}
    assert queue.take(5) == []


@pytest.mark.every_server
def test_next_job_of_a_group_starts_when_one_ends(queue: Queue) -> None:
    ids = fill(queue, 3, "a")
    order = []
    for _ in ids:
        (job,) = queue.take(5)
        order.append(job.id)
        assert queue.take(5) == []
        finish(job, Done())

    assert order == ids


def test_group_belongs_to_its_queue_and_tenant(queue: Queue) -> None:
    for options in ({}, {"queue": "mail"}, {"tenant": "acme"}, {"tenant": "other"}):
        fill(queue, 2, "a", **options)

    assert len(queue.offer()) == 4


def test_limit_per_group_holds_for_each_group(queue: Queue) -> None:
    limit(queue.database, 2, per="group", queue="default")
    for group in "abc":
        fill(queue, 4, group)
    fill(queue, 4, "a", queue="mail")

    assert offered(queue) == {"a": 3, "b": 2, "c": 2}
    assert unlimit(queue.database, per="group", queue="default")
    assert offered(queue) == {}


def test_limit_of_one_group_takes_the_place_of_that_per_group(queue: Queue) -> None:
    limit(queue.database, 2, per="group")
    limit(queue.database, 5, group="big")
    limit(queue.database, 0, group="none")
    for group in ("big", "small", "none"):
        fill(queue, 9, group)

    assert offered(queue) == {"big": 5, "small": 2}


@pytest.mark.parametrize(("per", "options"), [("tenant", {"tenant": "acme"}), ("group", {"group": "a"})])
def test_limit_per_value_and_of_the_queue_both_hold(queue: Queue, per: Any, options: dict[str, str]) -> None:
    limit(queue.database, 2, per=per)
    limit(queue.database, 3, queue="default")
    for _ in range(4):
        queue.enqueue(**options)
        queue.enqueue()

    assert len(queue.offer()) == 3


def test_paused_group_waits_and_others_run(queue: Queue) -> None:
    fill(queue, 2, "a")
    fill(queue, 2, "b")
    pause(queue.database, group="a")

    assert offered(queue) == {"b": 1}
    assert resume(queue.database, group="a")
    assert offered(queue) == {"a": 1}


@pytest.mark.every_server
def test_ordered_group_keeps_the_place_of_a_job_that_waits_for_a_retry(queue: Queue) -> None:
    limit(queue.database, 1, per="group", in_order=True)
    first, second = fill(queue, 2, "a")
    (job,) = queue.take(5)
    finish(job, Failed(ERROR, LONG))

    assert queue.take(5) == []
    queue.pass_time(first)
    (again,) = queue.take(5)
    assert again.id == first
    finish(again, Done())
    assert [each.id for each in queue.take(5)] == [second]


def test_unordered_group_goes_on_while_a_job_waits(queue: Queue) -> None:
    _, second = fill(queue, 2, "a")
    (job,) = queue.take(5)
    finish(job, Failed(ERROR, LONG))

    assert [each.id for each in queue.take(5)] == [second]


@pytest.mark.fault("functions/groups", "order by l.run_at, l.id", "order by l.run_at desc, l.id")
def test_ordered_group_ignores_priorities(queue: Queue) -> None:
    limit(queue.database, 1, per="group", in_order=True)
    (first,) = fill(queue, 1, "a", priority=1)
    fill(queue, 1, "a", priority=9)

    assert [offer.id for offer in queue.offer()] == [first]


@pytest.mark.every_server
@pytest.mark.parametrize("on_dead", ["block", "continue"])
def test_dead_job_blocks_its_ordered_group_if_declared(queue: Queue, on_dead: Any) -> None:
    limit(queue.database, 1, per="group", in_order=True, on_dead=on_dead)
    _, second = fill(queue, 2, "a")
    (job,) = queue.take(5)
    finish(job, Failed(ERROR, final=True))

    assert [each.id for each in queue.take(5)] == ([] if on_dead == "block" else [second])


@pytest.mark.parametrize("how", ["retry", "unblock"])
def test_blocked_group_goes_on(queue: Queue, how: str) -> None:
    limit(queue.database, 1, queue="default", per="group", in_order=True, on_dead="block")
    first, second = fill(queue, 2, "a")
    (job,) = queue.take(5)
    finish(job, Failed(ERROR, final=True))
    if how == "retry":
        retry(queue.database, [first])
    else:
        assert unblock(queue.database, "a")
        assert not unblock(queue.database, "a")

    assert [each.id for each in queue.take(5)] == [first if how == "retry" else second]


def test_blocked_group_goes_on_without_its_order(queue: Queue) -> None:
    limit(queue.database, per="group", in_order=True, on_dead="block")
    _, second = fill(queue, 2, "a")
    finish(queue.take(1)[0], Failed(ERROR, final=True))
    assert queue.take(5) == []
    unlimit(queue.database, per="group")
    assert [each.id for each in queue.take(5)] == [second]


def test_lapsed_claim_of_a_grouped_job_is_lost(queue: Queue) -> None:
    """Another job of the group may run."""
    job = queue.claimed(group="a")
    queue.pass_time(job.id)

    with pytest.raises(LostError):
        job.check()


def test_rate_limits_how_many_jobs_start(queue: Queue) -> None:
    limit(queue.database, queue="default", rate=3, period=timedelta(minutes=1))
    fill(queue, 9, None)
    (now,) = queue.sql("select clock_timestamp() as now")

    made = [len(queue.offer(now=now["now"] + timedelta(seconds=each))) for each in (1, 2, 20, 22, 90)]
    assert made == [3, 0, 0, 1, 3]


def test_rate_per_group_is_one_of_each(queue: Queue) -> None:
    limit(queue.database, 9, per="group", rate=2, period=timedelta(minutes=1))
    limit(queue.database, 9, group="big", rate=4, period=timedelta(minutes=1))
    for group in ("a", "b", "big"):
        fill(queue, 6, group)

    assert offered(queue) == {"a": 2, "b": 2, "big": 4}
    assert offered(queue) == {}


def test_groups_behind_a_backlog_of_one_group_are_found(queue: Queue) -> None:
    queue.sql(
        """insert into minutehand.jobs_live (kind, "group", run_at, visible)
           select 'echo', 'loud', moment, moment
             from (select now() - interval '1 hour' + n * interval '1 ms' as moment
                     from generate_series(1, 5000) n) made"""
    )
    fill(queue, 2, "z")

    assert offered(queue) == {"loud": 1, "z": 1}


def test_groups_take_turns_if_there_is_no_room_for_all(queue: Queue) -> None:
    for group in "abcdef":
        fill(queue, 2, group)

    assert [sorted(offered(queue, capacity)) for capacity in (2, 4, 6)] == [
        ["a", "b"],
        ["c", "d"],
        ["e", "f"],
    ]


@pytest.mark.every_server
def test_trap_concurrent_sessions_never_run_two_jobs_of_a_group(queue: Queue) -> None:
    for number in range(60):
        fill(queue, 1, f"g{number % 4}")
    barrier = Barrier(8, timeout=60)

    def session(place: int) -> int:
        database, most = queue.another(), 0
        barrier.wait()
        for _ in range(12):
            jobs: list[Job] = []
            if place % 2:
                jobs = queue.take(3, database=database)
            else:
                jobs = queue.claim(*queue.offer(50, database=database), database=database)
            (busy,) = database.connection.execute(MOST).fetchone()  # type: ignore[misc]
            most = max(most, busy or 0)
            for job in jobs:
                assert finish(job, Done()).ending == "done"
        return most

    seen = [each.result() for each in [queue.start(session, place) for place in range(8)]]

    assert max(seen) == 1
