"""Finished jobs, attempts and events are in the partition of their day, or in the default partition."""

from datetime import UTC, date, datetime, timedelta

import pytest

from minutehand.finish import finish
from minutehand.maintenance import run_maintenance
from minutehand.model.outcome import Done
from minutehand.queries.jobs import get
from tests.queue.past import partitions
from tests.queue.stage import Queue

pytestmark = pytest.mark.every_version

HOMES = ("jobs_done", "attempts", "events")


def days(queue: Queue, home: str = "jobs_done") -> list[str]:
    return partitions(queue, home)


def home(queue: Queue, job_id: object) -> str:
    (row,) = queue.sql(
        "select tableoid::regclass::text as home from minutehand.jobs where id = %(id)s", id=job_id
    )
    return str(row["home"]).removeprefix("minutehand.")


def make(queue: Queue, ahead: int, today: date) -> int:
    made: int = queue.sql(
        "select minutehand.make_days(%(ahead)s, %(today)s) as made", ahead=ahead, today=today
    )[0]["made"]
    return made


def drop_days(queue: Queue) -> None:
    for name in [name for home in HOMES for name in days(queue, home)]:
        queue.sql(f"drop table minutehand.{name}")  # type: ignore[arg-type]


@pytest.mark.parametrize("home", HOMES)
def test_migrate_creates_partitions_for_today_and_a_week(queue: Queue, home: str) -> None:
    first = datetime.strptime(days(queue, home)[0], f"{home}_%Y%m%d")

    assert days(queue, home) == [(first + timedelta(days=n)).strftime(f"{home}_%Y%m%d") for n in range(8)]


def test_finished_job_is_in_the_partition_of_its_day(queue: Queue) -> None:
    job = queue.claimed()
    assert home(queue, job.id) == "jobs_live"
    finish(job, Done())

    deleted = queue.row(job.id).deleted
    assert deleted is not None
    assert home(queue, job.id) == deleted.astimezone(UTC).strftime("jobs_done_%Y%m%d")


def test_partition_boundaries_are_in_utc(queue: Queue) -> None:
    make(queue, 0, date(2029, 12, 31))
    make(queue, 0, date(2030, 1, 1))
    ids = {}
    for moment in ("2029-12-31 23:59:59.999999+00", "2030-01-01 00:00+00", "2030-01-01 01:30+02"):
        ids[moment] = queue.enqueue()
        queue.sql("update minutehand.jobs set deleted = %(at)s where id = %(id)s", at=moment, id=ids[moment])

    assert [home(queue, job_id) for job_id in ids.values()] == [
        "jobs_done_20291231",
        "jobs_done_20300101",
        "jobs_done_20291231",
    ]


def test_make_days_is_idempotent(queue: Queue) -> None:
    today = date(2030, 2, 27)

    assert [make(queue, 3, today), make(queue, 3, today), make(queue, 4, today)] == [12, 0, 3]
    assert days(queue)[-5:] == [f"jobs_done_2030{day}" for day in ("0227", "0228", "0301", "0302", "0303")]


def test_finish_uses_the_default_partition_if_the_day_is_missing(queue: Queue) -> None:
    drop_days(queue)
    job = queue.claimed()

    assert finish(job, Done('"result"')).ending == "done"
    assert home(queue, job.id) == "jobs_done_default"
    assert get(queue.database, job.id).result == "result"


def test_day_with_rows_in_the_default_partition_is_not_created(queue: Queue) -> None:
    drop_days(queue)
    early, late = queue.claimed(), queue.claimed()
    finish(early, Done())
    (row,) = queue.sql("select minutehand.make_days() as made")
    finish(late, Done())

    assert row["made"] >= 7 + 7
    assert [home(queue, job.id) for job in (early, late)] == ["jobs_done_default"] * 2


def test_concurrent_make_days_create_each_day_once(queue: Queue) -> None:
    other, third = queue.another(), queue.another()
    with other.transaction() as connection:
        connection.execute("select minutehand.make_days(0, '2030-01-01')")
        making = queue.start(third.connection.execute, "select minutehand.make_days(0, '2030-01-01')")
        queue.until_done_or_waiting(making)
    ((made,),) = making.result()

    assert made == 0
    assert days(queue)[-1] == "jobs_done_20300101"


@pytest.mark.parametrize("home", HOMES)
@pytest.mark.parametrize("missing", [1, 8])
def test_maintenance_creates_missing_days(queue: Queue, missing: int, home: str) -> None:
    # The day may have changed since the template was made.
    queue.sql("select minutehand.make_days()")
    there = days(queue, home)
    for name in there[-missing:]:
        queue.sql(f"drop table minutehand.{name}")  # type: ignore[arg-type]
    report = run_maintenance(queue.database)

    assert report.swept
    assert days(queue, home) == there


def test_make_days_stops_at_the_first_locked_table(queue: Queue) -> None:
    """It stops at the first day that it cannot create, and creates all days at the next call."""
    drop_days(queue)
    other = queue.another()
    with other.transaction() as connection:
        connection.execute("lock table minutehand.jobs_done_default")
        assert make(queue, 7, date(2030, 1, 1)) == 0

    assert make(queue, 7, date(2030, 1, 1)) == 24


def test_dropped_day_removes_only_its_own_jobs(queue: Queue) -> None:
    make(queue, 0, date(2029, 12, 31))
    old = queue.enqueue()
    queue.sql("update minutehand.jobs set deleted = '2029-12-31 12:00+00' where id = %(id)s", id=old)
    job = queue.claimed()
    finish(job, Done())
    live = queue.enqueue()
    queue.sql("drop table minutehand.jobs_done_20291231")

    assert {row["id"] for row in queue.sql("select id from minutehand.jobs")} == {job.id, live}
