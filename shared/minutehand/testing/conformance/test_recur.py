"""Recur: one next occurrence, computed from the nominal time; a schedule fires each of its times once."""

from datetime import timedelta

from minutehand import NewJob, enqueue, schedules
from minutehand.queries.jobs import get
from minutehand.schedules import Schedule
from minutehand.schedules.fire import fire_due
from minutehand.testing import Clone, JobQueue
from minutehand.testing.conformance.stage import fail, succeed, take_all, take_one

HOUR = timedelta(hours=1)
DAILY = "0 8 * * *"


def test_finish_creates_next_occurrence(minutehand_database: Clone, queue: JobQueue) -> None:
    enqueue("work", {"n": 1}, key="daily", every=DAILY, zone="Europe/Berlin")
    queue.travel(by=24 * HOUR)
    first = take_one(minutehand_database.database)
    assert succeed(first) == "done"

    following = queue.assert_enqueued("work", {"n": 1}, key="daily")

    # A DST change makes a day an hour shorter or longer.
    assert timedelta(hours=23) <= following.run_at - first.run_at <= timedelta(hours=25)
    assert take_all(minutehand_database.database) == []


def test_retry_creates_no_occurrence_and_death_does(minutehand_database: Clone, queue: JobQueue) -> None:
    enqueue("work", key="hourly", every="PT1H", max_attempts=2)
    queue.travel(by=HOUR)
    fail(take_one(minutehand_database.database), delay=timedelta())
    assert len(queue.enqueued()) == 1

    assert fail(take_one(minutehand_database.database)) == "dead"

    assert len(queue.enqueued()) == 1


def test_missed_occurrences_are_skipped(minutehand_database: Clone, queue: JobQueue) -> None:
    enqueue("work", key="hourly", every="PT1H")
    queue.travel(by=100 * HOUR)
    job = take_one(minutehand_database.database)
    succeed(job)

    following = queue.assert_enqueued("work")

    assert following.run_at > queue.now
    assert (following.run_at - job.run_at) % HOUR == timedelta()


def test_enqueued_job_with_key_replaces_next_occurrence(minutehand_database: Clone, queue: JobQueue) -> None:
    enqueue("work", "recurs", key="hourly", every="PT1H")
    queue.travel(by=HOUR)
    job = take_one(minutehand_database.database)
    mine = enqueue("work", "mine", key="hourly").id
    succeed(job)

    assert [(row.id, get(minutehand_database.database, row.id).payload) for row in queue.enqueued()] == [
        (mine, "mine")
    ]


def test_schedule_fires_each_time_once(minutehand_database: Clone, queue: JobQueue) -> None:
    standing = schedules.save(minutehand_database.database, Schedule("hourly", "0 * * * *", NewJob("work")))
    queue.travel(to=standing.next)

    fired = [fire_due(minutehand_database.database) for _ in range(3)]

    assert len(queue.enqueued("work")) == 1
    assert [one.fired for one in fired] == [1, 0, 0]
