"""An open transaction that enqueues a key stalls no tick: what needs the key is left to the next one."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from minutehand import NewJob, schedules
from minutehand.enqueue import enqueue
from minutehand.maintenance import MaintenanceReport, run_maintenance
from minutehand.schedules.fire import Fired, fire_due
from tests.queue.schedules.stage import HOUR, MINUTE, NOON, firings, nominals, save
from tests.queue.stage import LONG, Queue

pytestmark = pytest.mark.every_server

# Far longer than a tick waits; without a limit, a tick that is stalled would never end.
LIMIT = 20


@contextmanager
def kept(queue: Queue, *keys: str) -> Iterator[None]:
    """Keep keys by a transaction, which is then rolled back."""
    session = queue.another()
    session.connection.execute("begin")
    try:
        for key in keys:
            enqueue("report", key=key, connection=session)
        yield
    finally:
        session.connection.execute("rollback")


def fire(queue: Queue) -> Fired:
    fired: Fired = queue.start(fire_due, queue.another(), NOON + HOUR).result(LIMIT)
    return fired


def spent(queue: Queue, **options: Any) -> Any:
    """Let the worker of a recurring job's last attempt die."""
    job = queue.claimed(every="PT1H", max_attempts=1, run_at=datetime.now(UTC), **options)
    queue.pass_time(job.id)
    return job.id


def maintain(queue: Queue) -> MaintenanceReport:
    report: MaintenanceReport = queue.start(run_maintenance, queue.another()).result(LIMIT)
    assert report.failed == ()
    return report


def test_kept_key_of_a_schedule_leaves_it_to_the_next_tick(queue: Queue) -> None:
    for name in ("a", "kept", "z"):
        save(queue, name=name, job=NewJob("report", key=name))

    with kept(queue, "kept"):
        fired = fire(queue)
        assert (fired.fired, fired.refused) == (2, ())
        assert firings(queue, "kept") == []
        assert (fire(queue).fired, fire(queue).refused) == (0, ())

    stored = schedules.get(queue.database, "kept")
    assert (stored.next, stored.error) == (NOON + HOUR, None)
    assert fire(queue).fired == 1
    assert nominals(queue) == [NOON + HOUR] * 3


def test_schedules_with_kept_keys_fire_after_the_others(queue: Queue) -> None:
    for name in ("a", "b"):
        save(queue, name=name, job=NewJob("report", key=name))
    queue.sql("update minutehand.schedules set wake = wake - interval '1 hour' where name = 'a'")

    with kept(queue, "a"):
        assert fire(queue).fired == 1
    save(queue, name="0")

    due = queue.database.run("due_schedules", limit=9, now=NOON + HOUR + MINUTE)
    assert [each["name"] for each in due] == ["0", "a"]


def test_kept_key_of_a_recurring_job_leaves_it_to_the_next_tick(queue: Queue) -> None:
    dead, free = spent(queue, key="kept"), spent(queue, key="free")
    other = spent(queue)

    with kept(queue, "kept"):
        assert {each["id"] for each in maintain(queue).reaped} == {free, other}
        assert queue.row(dead).state == "due"
        assert maintain(queue).reaped == ()

    assert [each["id"] for each in maintain(queue).reaped] == [dead]
    assert (
        len(queue.sql("select 1 from minutehand.jobs_live where run_at > now() + %(long)s", long=LONG)) == 3
    )


def test_kept_keys_of_many_schedules_do_not_keep_others_from_firing(queue: Queue) -> None:
    names = [f"kept {number:02}" for number in range(20)]
    for name in names:
        save(queue, name=name, job=NewJob("report", key=name))
    save(queue, name="z")

    with kept(queue, *names):
        assert (fire(queue).fired, fire(queue).fired) == (1, 0)
    assert fire(queue).fired == 20
