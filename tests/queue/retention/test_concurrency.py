"""Retention while other sessions read, finish and retry."""

from datetime import timedelta

import pytest

from minutehand.maintenance import run_maintenance
from minutehand.operations import jobs as operate
from minutehand.operations.retention import (
    Retention,
    Step,
    apply_retention,
    set_retention,
)
from tests.queue.past import ago, finished, noon, partitions
from tests.queue.retention.stage import count, partition
from tests.queue.stage import Queue

pytestmark = pytest.mark.every_version

DAY = timedelta(days=1)


def test_day_that_is_being_read_is_dropped_later(queue: Queue) -> None:
    day = ago(queue, 3)
    finished(queue, noon(day))
    set_retention(queue.database, Retention(done=DAY, dead=DAY, cancelled=DAY))
    other = queue.another()
    with other.transaction() as reading:
        reading.execute("select count(*) from minutehand.jobs")
        assert [step.outcome for step in apply_retention(queue.database)] == ["busy"]
        assert count(queue) == 1
    queue.sql("select * from minutehand.retain(now() + interval '11 minutes')")

    assert partition(day) not in partitions(queue, "jobs_done")


def test_row_that_is_being_retried_is_kept(queue: Queue) -> None:
    day = ago(queue, 3)
    dead, _ = finished(queue, noon(day), "dead", count=2)
    finished(queue, noon(day))
    set_retention(queue.database, Retention(dead=DAY))
    other = queue.another()
    with other.transaction():
        operate.retry(other, [dead])
        apply_retention(queue.database)

    assert queue.row(dead).state == "due"
    # The other dead job was deleted.
    assert count(queue) == 1


def test_concurrent_finish_in_an_expired_day_is_not_lost(queue: Queue) -> None:
    """Its row does not expire, but all rows that the check of the day saw do."""
    day = ago(queue, 3)
    finished(queue, noon(day), queue="a")
    set_retention(queue.database, Retention(queue="a", done=DAY))
    late = queue.enqueue(queue="b")
    other, third = queue.another(), queue.another()
    with other.transaction() as finishing:
        finishing.execute("update minutehand.jobs set deleted = %s where id = %s", [noon(day), late])
        retaining = queue.start(apply_retention, third)
        queue.until_done_or_waiting(retaining)
    retaining.result()

    assert queue.row(late).state == "done"


def test_concurrent_calls_take_one_step(queue: Queue) -> None:
    finished(queue, noon(ago(queue, 3)))
    set_retention(queue.database, Retention(done=DAY, dead=DAY, cancelled=DAY))
    other = queue.another()
    with other.transaction() as first:
        assert first.execute("select outcome from minutehand.retain_now()").fetchall() == [("dropped",)]
        assert apply_retention(queue.database) == ()


def test_advisory_locks_of_other_logins_do_not_stop_retention(queue: Queue) -> None:
    finished(queue, noon(ago(queue, 3)))
    set_retention(queue.database, Retention(done=DAY, dead=DAY, cancelled=DAY))
    other = queue.another()
    with other.transaction() as holding:
        holding.execute("select pg_advisory_xact_lock(6074190400 + n) from generate_series(0, 100) n")

        assert [step.outcome for step in apply_retention(queue.database)] == ["dropped"]


def test_maintenance_applies_retention_and_creates_days(queue: Queue) -> None:
    day = ago(queue, 3)
    finished(queue, noon(day))
    set_retention(queue.database, Retention(done=DAY, dead=DAY, cancelled=DAY))
    report = run_maintenance(queue.database)

    assert Step("jobs_done", day, "dropped", 0) in report.retained
    assert all(len(partitions(queue, home)) >= 8 for home in ("jobs_done", "attempts", "events"))


def test_failing_retention_does_not_stop_maintenance(queue: Queue, caplog: pytest.LogCaptureFixture) -> None:
    queue.sql("alter function minutehand.retain_now rename to elsewhere")

    report = run_maintenance(queue.database)

    assert (report.swept, report.failed) == (True, ("apply retention",))
    assert "maintenance could not apply retention" in caplog.text
