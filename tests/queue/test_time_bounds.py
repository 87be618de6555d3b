"""The time at which a job runs, and the order of jobs: time, priority and first in, first out."""

from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from minutehand import NewJob, enqueue, enqueue_many
from tests.queue.stage import LONG, Queue

TIMES = [
    datetime(2500, 2, 28, 23, 59, 59, 999999, tzinfo=UTC),
    datetime(9999, 12, 30, tzinfo=UTC),
    # In the hour that DST skips.
    datetime(2030, 3, 31, 2, 30, tzinfo=ZoneInfo("Europe/Berlin")),
    # In the repeated hour.
    datetime(2030, 10, 27, 2, 30, fold=1, tzinfo=ZoneInfo("Europe/Berlin")),
    datetime(2040, 2, 29, 8, tzinfo=ZoneInfo("Asia/Kathmandu")),
    datetime(2040, 1, 1, tzinfo=timezone(-timedelta(hours=12))),
]
PAST = [datetime(1, 1, 2, tzinfo=UTC), datetime(1969, 12, 31, tzinfo=UTC), datetime(2001, 9, 9, tzinfo=UTC)]


@pytest.mark.parametrize("time", TIMES, ids=str)
def test_run_at_is_accurate_to_the_microsecond(queue: Queue, time: datetime) -> None:
    made = enqueue("echo", run_at=time, connection=queue.database)
    row = queue.row(made.id)

    assert made.visible == row.visible == row.run_at == time.astimezone(UTC)
    assert row.state == "scheduled"
    assert queue.offer(now=time.astimezone(UTC) - timedelta(microseconds=1)) == []
    assert [offered.id for offered in queue.offer(now=time.astimezone(UTC))] == [made.id]


@pytest.mark.parametrize("time", PAST, ids=str)
def test_run_at_in_the_past_means_now(queue: Queue, time: datetime) -> None:
    made = enqueue("echo", run_at=time, connection=queue.database)
    row = queue.row(made.id)

    assert row.state == "due"
    assert abs(row.visible - row.enqueued) < timedelta(seconds=5)


@pytest.mark.parametrize("days", [0, 1, 16, 400, 474 * 365, 2_000_000])
def test_job_waits_for_any_delay(queue: Queue, days: int) -> None:
    delay = timedelta(days=days, microseconds=days)
    made = enqueue("echo", delay=delay, connection=queue.database)

    assert abs(made.visible - queue.row(made.id).enqueued - delay) < timedelta(seconds=5)


def test_job_that_is_due_longest_is_taken_first(queue: Queue) -> None:
    ids = [queue.enqueue(payload=number) for number in range(20)]

    assert [job.id for job in queue.take(7) + queue.take(13)] == ids


def test_jobs_are_ordered_by_time_not_by_enqueue(queue: Queue) -> None:
    late, early = queue.enqueue(delay=2 * LONG), queue.enqueue(delay=LONG)
    now = queue.row(late).visible

    assert [offered.id for offered in queue.offer(1, now=now) + queue.offer(2, now=now)] == [early, late]


def test_jobs_are_ordered_by_priority_then_time(queue: Queue) -> None:
    priorities = [5, 0, 9, 5, 9, 0, 1]
    ids = [queue.enqueue(priority=priority) for priority in priorities]
    in_order = [ids[place] for place in (2, 4, 0, 3, 6, 1, 5)]

    assert one_by_one(queue, len(ids)) == in_order
    for job_id in ids:
        queue.pass_time(job_id, by=timedelta(seconds=len(ids) - ids.index(job_id)))
    assert [job.id for job in queue.take(3) + queue.take(4)] == in_order


def one_by_one(queue: Queue, jobs: int) -> list[UUID]:
    """Return the order of the offers of ticks with a capacity that grows by one."""
    return [offered.id for room in range(1, jobs + 1) for offered in queue.offer(room)]


def test_bulk_keeps_the_order_of_its_items(queue: Queue) -> None:
    made = list(enqueue_many((NewJob("echo", n) for n in range(25)), connection=queue.database, chunk=10))

    assert [item.ordinal for item in made] == list(range(25))
    assert [job.payload for job in queue.take(25)] == list(range(25))


def test_all_time_columns_have_a_time_zone(direct_queue: Queue) -> None:
    kinds = direct_queue.sql(
        """select distinct format_type(coalesce(nullif(t.typbasetype, 0), nullif(t.typelem, 0), t.oid), null) as kind
             from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_type t on t.oid = a.atttypid
            where c.relnamespace = 'minutehand'::regnamespace and a.attnum > 0
              and format_type(coalesce(nullif(t.typbasetype, 0), nullif(t.typelem, 0), t.oid), null) ~ '^(time|date)'"""
    )

    assert {row["kind"] for row in kinds} == {"timestamp with time zone", "date"}


def test_time_zone_of_the_session_has_no_effect(queue: Queue) -> None:
    time = datetime(2030, 6, 1, 12, tzinfo=UTC)
    with queue.database.transaction() as connection:
        connection.execute("set local timezone = 'America/New_York'")
        made = enqueue("echo", run_at=time, connection=queue.database)
        due = enqueue("echo", connection=queue.database)

    assert queue.row(made.id).visible == time
    assert [job.id for job in queue.take(2)] == [due.id]
