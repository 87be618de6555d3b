"""Each occurrence of a schedule fires once, whatever the number of dispatchers."""

import json
from datetime import timedelta
from typing import LiteralString

import pytest

from minutehand import Database, NewJob, Retry, schedules
from minutehand.schedules.fire import Fired, fire_due
from tests.queue.schedules.stage import DAY, HOUR, MINUTE, NOON, firings, jobs, nominals, save
from tests.queue.stage import Queue


def test_firing_enqueues_a_job_with_all_options_of_the_schedule(queue: Queue) -> None:
    retry = Retry(strategy="fixed", min=timedelta(seconds=3))
    payload = {"big": 12345678901234567890, "small": 1.5, "text": "ä"}
    job = NewJob(
        "report",
        payload,
        "slow",
        "a key",
        priority=9,
        max_attempts=2,
        retry=retry,
        timeout=timedelta(seconds=90.5),
        headers={"a": "b"},
    )
    save(queue, job=job)
    assert schedules.get(queue.database, "hourly").schedule.job == job

    assert fire_due(queue.database, NOON + HOUR) == Fired(fired=1)

    (row,) = jobs(queue)
    assert (row["nominal"], row["schedule"]) == (NOON + HOUR, "hourly")
    assert abs(row["run_at"] - (NOON + HOUR)) < timedelta(seconds=1)
    columns = {
        name: row[name]
        for name in ("kind", "payload", "queue", "key", "priority", "max_attempts", "timeout", "headers")
    }
    assert columns == {name: getattr(job, name) for name in columns}
    assert Retry.from_json(row["retry"]) == retry
    stored = schedules.get(queue.database, "hourly")
    assert (stored.next, stored.fired, stored.last) == (NOON + 2 * HOUR, NOON + HOUR, row["id"])
    assert firings(queue) == [(NOON + HOUR, "fired", 1)]


def test_schedule_fires_once_and_not_before_its_time(queue: Queue) -> None:
    save(queue)

    assert fire_due(queue.database, NOON + HOUR - timedelta(microseconds=1)) == Fired()
    assert fire_due(queue.database, NOON + HOUR) == Fired(fired=1)
    assert fire_due(queue.database, NOON + HOUR) == Fired()
    assert fire_due(queue.database, NOON + HOUR + MINUTE) == Fired()
    assert nominals(queue) == [NOON + HOUR]


def test_clock_set_back_does_not_repeat_a_firing(queue: Queue) -> None:
    save(queue)
    fire_due(queue.database, NOON + HOUR)

    assert fire_due(queue.database, NOON - DAY) == Fired()
    assert fire_due(queue.database, NOON + HOUR) == Fired()
    assert nominals(queue) == [NOON + HOUR]


def test_schedule_restored_from_a_backup_does_not_repeat_firings(queue: Queue) -> None:
    save(queue)
    backup = queue.sql("select next, wake from minutehand.schedules")[0]
    for hour in (1, 2, 3):
        fire_due(queue.database, NOON + hour * HOUR)
    queue.sql("update minutehand.schedules set next = %(next)s, wake = %(wake)s", **backup)
    queue.sql("update minutehand.schedules set catch_up = 'all'")

    fired = fire_due(queue.database, NOON + 4 * HOUR)

    assert fired == Fired(fired=1)
    assert nominals(queue) == [NOON + hour * HOUR for hour in (1, 2, 3, 4)]


def test_recreated_schedule_does_not_repeat_a_firing(queue: Queue) -> None:
    save(queue)
    fire_due(queue.database, NOON + HOUR)
    schedules.delete(queue.database, "hourly", now=NOON + HOUR)
    save(queue, now=NOON)

    assert fire_due(queue.database, NOON + HOUR) == Fired()
    assert len(jobs(queue)) == 1


def test_concurrent_dispatchers_fire_each_occurrence_once(queue: Queue) -> None:
    for n in range(30):
        save(queue, "* * * * *", name=f"schedule {n}")

    def tick(session: Database) -> int:
        return sum(fire_due(session, NOON + minute * MINUTE).fired for minute in (1, 2, 3))

    ticks = [queue.start(tick, queue.another()) for _ in range(8)]
    total = sum(each.result() for each in ticks)

    fire_due(queue.database, NOON + 3 * MINUTE)
    rows = queue.sql("select schedule, nominal, count(*) from minutehand.jobs group by 1, 2")
    assert len(rows) == 90
    assert {row["count"] for row in rows} == {1}
    assert total <= 90


def test_concurrent_transactions_record_an_occurrence_once(queue: Queue) -> None:
    """The ledger's key holds even where the lock of the schedule would not."""
    save(queue)
    own, other = queue.another(), queue.another()
    line = {
        "tenant": "",
        "schedule": "hourly",
        "nominal": NOON.isoformat(),
        "outcome": "fired",
        "count": 1,
        "job": {},
    }

    with own.transaction():
        assert len(own.run("fire", firings=json.dumps([line]), lock_wait=20_000)) == 1
        second = queue.start(other.run, "fire", firings=json.dumps([line]), lock_wait=20_000)
        queue.until_done_or_waiting(second)
        assert not second.done()
    assert second.result() == []
    assert len(jobs(queue)) == 1


def test_rolled_back_tick_leaves_no_job_and_no_firing(queue: Queue) -> None:
    save(queue)
    dying = queue.another()
    with pytest.raises(RuntimeError), dying.transaction():  # noqa: PT012
        assert fire_due(dying, NOON + HOUR).fired == 1
        raise RuntimeError
    assert (jobs(queue), firings(queue)) == ([], [])

    assert fire_due(queue.database, NOON + HOUR) == Fired(fired=1)


def test_schedule_of_a_tenant_enqueues_for_that_tenant(queue: Queue) -> None:
    save(queue)
    queue.sql("update minutehand.schedules set tenant = 'acme'")

    fire_due(queue.database, NOON + HOUR)

    assert [job["tenant"] for job in jobs(queue)] == ["acme"]
    assert queue.sql("select tenant from minutehand.firings") == [{"tenant": "acme"}]


@pytest.mark.fault("advance_schedules", "s.tenant = m.tenant and", "")
@pytest.mark.fault("set_schedules_aside", "s.tenant = m.tenant and", "")
def test_firing_changes_no_schedule_of_another_tenant(queue: Queue) -> None:
    for every in ("0 * * * *", "full moon"):
        save(queue, name=every)
        queue.sql(
            "update minutehand.schedules set tenant = 'acme', every = name where name = %(name)s", name=every
        )
        save(queue, "@daily", name=every)
    others: LiteralString = "select * from minutehand.schedules where tenant = '' order by name"
    before = queue.sql(others)

    fired = fire_due(queue.database, NOON + HOUR)

    assert (fired.fired, [name for name, _ in fired.refused]) == (1, ["full moon"])
    assert queue.sql(others) == before
