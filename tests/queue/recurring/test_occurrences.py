"""The next occurrence counts from the nominal time of the last, and has its options."""

from datetime import timedelta

import pytest

from minutehand import Enqueued, NewJob, enqueue_many, schedules
from minutehand.finish import finish
from minutehand.model.outcome import Done, Failed
from minutehand.operations.jobs import cancel
from tests.queue.recurring.stage import ENDS, nominals, recurring, upcoming, utc
from tests.queue.stage import LONG, Queue

pytestmark = pytest.mark.every_server

ERROR = {"type": "ValueError", "message": "no", "trace": ""}

NOMINAL, NEXT = utc("2041-01-07 08:00+00"), utc("2041-01-08 08:00+00")

# (every, zone, the nominal time of the finished occurrence, the nominal time of the next)
TIMES = [
    # 23 hours later.
    ("P1D", "Europe/Berlin", "2041-03-30 08:00+01:00", "2041-03-31 08:00+02:00"),
    # 25 hours later.
    ("P1D", "Europe/Berlin", "2041-10-26 08:00+02:00", "2041-10-27 08:00+01:00"),
    ("P1D", "America/Los_Angeles", "2041-03-09 09:00-08:00", "2041-03-10 09:00-07:00"),
    ("P1D", "America/Phoenix", "2041-03-09 09:00-07:00", "2041-03-10 09:00-07:00"),
    ("PT24H", "Europe/Berlin", "2041-03-30 08:00+01:00", "2041-03-31 09:00+02:00"),
    ("P1D", None, "2041-03-30 08:00+00:00", "2041-03-31 08:00+00:00"),
    ("P1M", "UTC", "2041-05-31 12:00+00:00", "2041-06-30 12:00+00:00"),
    ("P1M", "UTC", "2041-06-30 12:00+00:00", "2041-07-30 12:00+00:00"),
    ("PT90M", None, "2041-01-07 23:15+00:00", "2041-01-08 00:45+00:00"),
    ("0 8 * * mon", "Europe/Berlin", "2041-01-07 08:00+01:00", "2041-01-14 08:00+01:00"),
    # 2:30 does not exist on this day.
    (
        "30 2 * * *",
        "Europe/Berlin",
        "2041-03-30 02:30+01:00",
        "2041-03-31 03:00+02:00",
    ),
    ("@daily", "UTC", "2041-12-31 00:00+00:00", "2042-01-01 00:00+00:00"),
]


@pytest.mark.parametrize(("every", "zone", "last", "following"), TIMES)
def test_next_occurrence_counts_from_the_nominal_time(
    direct_queue: Queue, every: str, zone: str | None, last: str, following: str
) -> None:
    job = recurring(direct_queue, every, zone, utc(last))
    assert job.nominal == utc(last)

    finished = finish(job, Done())

    (row,) = upcoming(direct_queue)
    assert (finished.next, row["nominal"]) == (row["id"], utc(following))
    assert (row["run_at"], row["visible"]) == (utc(following), utc(following))


def test_next_occurrence_counts_from_run_at_without_a_nominal_time(direct_queue: Queue) -> None:
    job = recurring(direct_queue, "P1D", None, None)
    finish(job, Done())

    assert nominals(direct_queue) == [job.run_at + timedelta(days=1)]


@pytest.mark.parametrize(("every", "hours"), [("PT1H", 1), ("0 * * * *", 1), ("PT7H", 7)])
def test_missed_occurrences_are_skipped_without_shifting_the_rest(
    direct_queue: Queue, every: str, hours: int
) -> None:
    long_ago = utc("2020-02-29 10:00+00")
    finish(recurring(direct_queue, every, None, long_ago), Done())

    (row,) = direct_queue.sql("select nominal, now() from minutehand.jobs where deleted is null")
    assert timedelta() < row["nominal"] - row["now"] <= timedelta(hours=hours)
    assert (row["nominal"] - long_ago) % timedelta(hours=hours) == timedelta()


def test_recurrence_ends_at_the_last_supported_year(direct_queue: Queue) -> None:
    job = recurring(direct_queue, "P1Y", None, utc("9998-06-01 12:00+00"))

    assert finish(job, Done()).ending == "done"
    assert upcoming(direct_queue) == []


def test_next_occurrence_has_all_options_of_the_job(queue: Queue) -> None:
    job = recurring(
        queue,
        "P1D",
        "Europe/Berlin",
        kind="report",
        payload={"n": 2**70, "x": 1.50},
        queue="slow",
        key="report/1",
        priority=7,
        max_attempts=3,
        timeout=LONG,
        headers={"a": "b"},
    )
    queue.sql("update minutehand.jobs_live set tenant = 'acme', personal = true, schedule = 'daily'")
    before = queue.sql("select * from minutehand.jobs where id = %(id)s", id=job.id)[0]
    finish(job, Done())

    (row,) = upcoming(queue)
    own = {name for name in row if row[name] != before[name]}
    assert own == {"id", "ack", "enqueued", "run_at", "visible", "claimed", "attempts", "nominal"}
    assert (row["attempts"], row["ack"], row["claimed"]) == (0, None, None)


@pytest.mark.parametrize("way", ["done", "dead"])
def test_enqueued_job_of_the_key_takes_precedence_over_recurrence(queue: Queue, way: str) -> None:
    job = recurring(queue, key="report", payload="old")
    enqueued = queue.enqueue(key="report", payload="new", delay=LONG)

    finished = finish(job, ENDS[way][0])

    assert (finished.ending, finished.next) == (way, None)
    assert [(row["id"], row["payload"]) for row in upcoming(queue)] == [(enqueued, "new")]


def test_enqueue_with_the_key_replaces_the_next_occurrence(queue: Queue) -> None:
    finish(recurring(queue, key="report"), Done())
    queue.enqueue(key="report", payload="new", delay=LONG)

    (row,) = upcoming(queue)
    assert (row["payload"], row["every"]) == ("new", None)


def test_superseded_occurrence_does_not_recur(queue: Queue) -> None:
    job = recurring(queue, key="report")
    enqueued = queue.enqueue(key="report", delay=LONG)

    assert finish(job, Failed(ERROR)).ending == "superseded"
    assert [row["id"] for row in upcoming(queue)] == [enqueued]


def test_cancelling_the_upcoming_occurrence_ends_the_recurrence(queue: Queue) -> None:
    finished = finish(recurring(queue, key="report"), Done())
    assert finished.next is not None
    cancel(queue.database, [finished.next])

    assert upcoming(queue) == []


def test_next_occurrence_runs_like_the_first(queue: Queue) -> None:
    finished = finish(recurring(queue, key="report"), Done())
    assert finished.next is not None
    queue.pass_time(finished.next)
    queue.work(lambda _: "result")

    assert queue.row(finished.next).state == "done"
    assert nominals(queue) == [NEXT + timedelta(days=1)]


@pytest.mark.parametrize(
    ("every", "stored"),
    [
        (timedelta(minutes=15), "PT900S"),
        (timedelta(days=1), "PT86400S"),
        (timedelta(seconds=1, microseconds=500000), "PT1.5S"),
    ],
)
def test_every_may_be_a_timedelta_of_elapsed_time(queue: Queue, every: timedelta, stored: str) -> None:
    job_id = queue.enqueue(every=every)
    bulk = enqueue_many([NewJob("echo", every=every)], connection=queue.database)
    saved = schedules.save(queue.database, schedules.Schedule("often", every, NewJob("echo")))

    assert queue.row(job_id).every == stored
    assert [queue.row(each.id).every for each in bulk if isinstance(each, Enqueued)] == [stored]
    assert (saved.schedule.every, schedules.preview(every, n=1)[0].utc > utc("2020-01-01 00:00+00")) == (
        stored,
        True,
    )
