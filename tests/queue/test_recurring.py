"""A job that recurs bears its next occurrence with its end: counted from its nominal moment, and once."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from minutehand import Cancel, Fail, Job, LostError
from minutehand.finish import finish
from minutehand.maintenance import run_maintenance
from minutehand.model.outcome import Cancelled, Done, Failed, Finish, Outcome, Released, Snoozed
from minutehand.model.row import Row
from minutehand.operations.jobs import cancel, retry
from tests.queue.stage import LONG, Queue

pytestmark = pytest.mark.every_server

ERROR = {"type": "ValueError", "message": "no", "trace": ""}
AT_ONCE = timedelta()


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


NOMINAL, NEXT = moment("2041-01-07 08:00+00"), moment("2041-01-08 08:00+00")


def recurring(
    on: Queue, every: str = "P1D", zone: str | None = None, nominal: datetime | None = NOMINAL, **options: Any
) -> Job:
    """A job that recurs, due and claimed now, whatever moment it stands for."""
    job_id = on.enqueue(**options)
    on.sql(
        "update minutehand.jobs_live set every = %(every)s, zone = %(zone)s, nominal = %(nominal)s where id = %(id)s",
        id=job_id, every=every, zone=zone, nominal=nominal,
    )  # fmt: skip
    (job,) = on.take(1, options.get("queue") or "default")
    assert job.id == job_id
    job.lease.start()
    return job


def upcoming(queue: Queue) -> list[dict[str, Any]]:
    return queue.sql("select * from minutehand.jobs where deleted is null and claimed is null order by id")


def nominals(queue: Queue) -> list[datetime]:
    return [row["nominal"].astimezone(UTC) for row in upcoming(queue)]


# (every, zone, the moment of the finished occurrence, the moment of the next), reckoned by hand
MOMENTS = [
    ("P1D", "Europe/Berlin", "2041-03-30 08:00+01:00", "2041-03-31 08:00+02:00"),  # 23 hours later
    ("P1D", "Europe/Berlin", "2041-10-26 08:00+02:00", "2041-10-27 08:00+01:00"),  # 25 hours later
    ("P1D", "America/Los_Angeles", "2041-03-09 09:00-08:00", "2041-03-10 09:00-07:00"),
    ("P1D", "America/Phoenix", "2041-03-09 09:00-07:00", "2041-03-10 09:00-07:00"),
    ("PT24H", "Europe/Berlin", "2041-03-30 08:00+01:00", "2041-03-31 09:00+02:00"),
    ("P1D", None, "2041-03-30 08:00+00:00", "2041-03-31 08:00+00:00"),
    ("P1M", "UTC", "2041-05-31 12:00+00:00", "2041-06-30 12:00+00:00"),
    ("P1M", "UTC", "2041-06-30 12:00+00:00", "2041-07-30 12:00+00:00"),
    ("PT90M", None, "2041-01-07 23:15+00:00", "2041-01-08 00:45+00:00"),
    ("0 8 * * mon", "Europe/Berlin", "2041-01-07 08:00+01:00", "2041-01-14 08:00+01:00"),
    (
        "30 2 * * *",
        "Europe/Berlin",
        "2041-03-30 02:30+01:00",
        "2041-03-31 03:00+02:00",
    ),  # 2:30 does not exist
    ("@daily", "UTC", "2041-12-31 00:00+00:00", "2042-01-01 00:00+00:00"),
]


@pytest.mark.parametrize(("every", "zone", "was", "comes"), MOMENTS)
def test_next_occurrence_counts_from_the_nominal_time(
    direct_queue: Queue, every: str, zone: str | None, was: str, comes: str
) -> None:
    job = recurring(direct_queue, every, zone, moment(was))
    assert job.nominal == moment(was)

    made = finish(job, Done())

    (born,) = upcoming(direct_queue)
    assert (made.next, born["nominal"]) == (born["id"], moment(comes))
    assert (born["run_at"], born["visible"]) == (moment(comes), moment(comes))


def test_next_occurrence_counts_from_run_at_without_a_nominal_time(direct_queue: Queue) -> None:
    job = recurring(direct_queue, "P1D", None, None)
    finish(job, Done())

    assert nominals(direct_queue) == [job.run_at + timedelta(days=1)]


@pytest.mark.parametrize(("every", "hours"), [("PT1H", 1), ("0 * * * *", 1), ("PT7H", 7)])
def test_missed_occurrences_are_skipped_without_shifting_the_rest(
    direct_queue: Queue, every: str, hours: int
) -> None:
    long_ago = moment("2020-02-29 10:00+00")
    finish(recurring(direct_queue, every, None, long_ago), Done())

    (row,) = direct_queue.sql("select nominal, now() from minutehand.jobs where deleted is null")
    assert timedelta() < row["nominal"] - row["now"] <= timedelta(hours=hours)
    assert (row["nominal"] - long_ago) % timedelta(hours=hours) == timedelta()


def test_recurrence_ends_at_the_last_supported_year(direct_queue: Queue) -> None:
    job = recurring(direct_queue, "P1Y", None, moment("9998-06-01 12:00+00"))

    assert finish(job, Done()).ending == "done"
    assert upcoming(direct_queue) == []


def test_next_occurrence_has_all_options_of_the_job(queue: Queue) -> None:
    job = recurring(
        queue, "P1D", "Europe/Berlin", kind="report", payload={"n": 2**70, "x": 1.50}, queue="slow", key="report/1",
        priority=7, max_attempts=3, timeout=LONG, headers={"a": "b"},
    )  # fmt: skip
    queue.sql("update minutehand.jobs_live set tenant = 'acme', personal = true, schedule = 'mine'")
    before = queue.sql("select * from minutehand.jobs where id = %(id)s", id=job.id)[0]
    finish(job, Done())

    (born,) = upcoming(queue)
    own = {name for name in born if born[name] != before[name]}
    assert own == {"id", "ack", "enqueued", "run_at", "visible", "claimed", "attempts", "nominal"}
    assert (born["attempts"], born["ack"], born["claimed"]) == (0, None, None)


ENDS: dict[str, tuple[Outcome, bool]] = {
    "done": (Done(), True),
    "dead": (Failed(ERROR, final=True), True),
    "cancelled": (Cancelled(ERROR), False),
    "retried": (Failed(ERROR, delay=LONG), False),
    "snoozed": (Snoozed(LONG), False),
    "released": (Released(LONG), False),
}


@pytest.mark.parametrize("way", ENDS)
@pytest.mark.parametrize("key", [None, "report"])
def test_finish_creates_the_next_occurrence_unless_cancelled(queue: Queue, way: str, key: str | None) -> None:
    outcome, bears = ENDS[way]
    job = recurring(queue, key=key)

    made = finish(job, outcome)

    born = [row for row in upcoming(queue) if row["id"] != job.id]
    assert [row["nominal"] for row in born] == [NEXT] * bears
    assert [row["key"] for row in born] == [key] * bears
    assert made.next == (born[0]["id"] if bears else None)


def test_retry_keeps_the_nominal_time(queue: Queue) -> None:
    job = recurring(queue, max_attempts=3)
    seen = []
    for outcome in (
        Failed(ERROR, delay=LONG),
        Snoozed(LONG),
        Failed(ERROR, delay=LONG),
        Failed(ERROR, delay=LONG),
    ):
        seen.append(job.nominal)
        finish(job, outcome)
        queue.pass_time(job.id)
        job = next(iter(queue.take()), job)

    assert seen == [NOMINAL] * 4
    assert nominals(queue) == [NEXT]


@pytest.mark.fault("reap", r"minutehand.bear\(j, n.next\)", "null::uuid")
@pytest.mark.fault("reap", r"or id = any \(%\(ids\)s::uuid\[\]\)", "")
def test_reaped_job_recurs(queue: Queue) -> None:
    job, other = recurring(queue, max_attempts=1, payload={"n": 1}), queue.claimed(max_attempts=1)
    queue.pass_time(job.id)
    queue.pass_time(other.id)

    made = {record["id"]: record["next"] for record in run_maintenance(queue.database).reaped}

    born = upcoming(queue)
    assert [(row["nominal"], row["payload"]) for row in born] == [(NEXT, {"n": 1})]
    assert made == {job.id: born[0]["id"], other.id: None}
    assert run_maintenance(queue.database).reaped == ()
    assert nominals(queue) == [NEXT]


def test_completion_in_a_transaction_creates_the_next_occurrence(queue: Queue) -> None:
    job = recurring(queue)
    with pytest.raises(ZeroDivisionError), job.transaction():
        raise ZeroDivisionError
    assert upcoming(queue) == []

    with job.transaction() as connection:
        connection.execute("create table effects (n integer)")
    assert nominals(queue) == [NEXT]
    assert job.finished and job.finished.next == upcoming(queue)[0]["id"]


@pytest.mark.parametrize("way", ["done", "dead"])
def test_enqueued_job_of_the_key_takes_precedence_over_recurrence(queue: Queue, way: str) -> None:
    job = recurring(queue, key="report", payload="old")
    users = queue.enqueue(key="report", payload="new", delay=LONG)

    made = finish(job, ENDS[way][0])

    assert (made.ending, made.next) == (way, None)
    assert [(row["id"], row["payload"]) for row in upcoming(queue)] == [(users, "new")]


def test_enqueue_with_the_key_replaces_the_next_occurrence(queue: Queue) -> None:
    finish(recurring(queue, key="report"), Done())
    queue.enqueue(key="report", payload="new", delay=LONG)

    (row,) = upcoming(queue)
    assert (row["payload"], row["every"]) == ("new", None)


def test_superseded_occurrence_does_not_recur(queue: Queue) -> None:
    job = recurring(queue, key="report")
    users = queue.enqueue(key="report", delay=LONG)

    assert finish(job, Failed(ERROR)).ending == "superseded"
    assert [row["id"] for row in upcoming(queue)] == [users]


def test_cancelling_the_upcoming_occurrence_ends_the_recurrence(queue: Queue) -> None:
    made = finish(recurring(queue, key="report"), Done())
    assert made.next is not None
    cancel(queue.database, [made.next])

    assert upcoming(queue) == []


def test_cancel_ends_the_recurrence_and_failure_does_not(queue: Queue) -> None:
    for error, most in ((Cancel("the customer left"), 0), (Fail("no"), 1)):
        queue.pass_time(recurring(queue, key="report").id)
        queue.work(raising(error))

        assert len(upcoming(queue)) == most


def raising(error: Exception) -> Callable[[Any], None]:
    def handler(_payload: Any) -> None:
        raise error

    return handler


def finished_twice(queue: Queue, job: Job) -> list[Finish]:
    return [finish(job, Done()), finish(job, Done()), finish(job, Failed(ERROR, final=True))]


def finished_by_two(queue: Queue, job: Job) -> list[Finish]:
    queue.pass_time(job.id)
    (owner,) = queue.take()
    return [finish(job, Done()), finish(owner, Done()), finish(job, Done())]


def finished_at_once(queue: Queue, job: Job) -> list[Finish]:
    claims = [replace(job, lease=replace(job.lease, database=queue.another())) for _ in range(5)]
    return [race.result() for race in [queue.let(finish, each, Done()) for each in claims]]


@pytest.mark.parametrize("how", [finished_twice, finished_by_two, finished_at_once])
@pytest.mark.parametrize("key", [None, "report"])
def test_repeated_finish_creates_one_occurrence(
    queue: Queue, how: Callable[[Queue, Job], list[Finish]], key: str | None
) -> None:
    endings = how(queue, recurring(queue, key=key))

    assert sorted(each.ending for each in endings).count("done") == 1
    assert nominals(queue) == [NEXT]
    assert [each.next for each in endings if each.next] == [upcoming(queue)[0]["id"]]


def test_late_finish_creates_the_next_occurrence_if_unclaimed(queue: Queue) -> None:
    job = recurring(queue)
    queue.pass_time(job.id)
    queue.offer()

    assert finish(job, Done()).ending == "done"
    assert nominals(queue) == [NEXT]


def test_lost_claim_creates_no_occurrence_in_its_transaction(queue: Queue) -> None:
    job = recurring(queue)
    queue.pass_time(job.id)
    queue.take()
    with pytest.raises(LostError), job.transaction():
        pass

    assert upcoming(queue) == []


def test_retried_occurrence_does_not_recur_twice(
    queue: Queue,
) -> None:
    dead = recurring(queue)
    finish(dead, Failed(ERROR, final=True))
    again = brought_back(queue, dead.id)
    assert nominals(queue) == [NEXT]
    finish(again, Done())
    assert nominals(queue) == [NEXT]

    queue.sql("delete from minutehand.jobs")
    cancelled = recurring(queue)
    finish(cancelled, Cancelled(ERROR))
    finish(brought_back(queue, cancelled.id), Done())
    assert nominals(queue) == [NEXT]


def brought_back(queue: Queue, job_id: UUID) -> Job:
    (change,) = retry(queue.database, [job_id])
    assert change.outcome == "changed"
    (job,) = queue.take()
    assert job.id == job_id
    return job


@pytest.mark.parametrize(("every", "zone"), [("whenever", None), ("P1D", "Atlantis/Capital")])
def test_invalid_recurrence_is_reported_and_does_not_stop_a_finish(
    queue: Queue, every: str, zone: str | None
) -> None:
    done, dead = recurring(queue, every, zone), recurring(queue, every, zone)
    buried = recurring(queue, every, zone, max_attempts=1)
    endings = [finish(done, Done('"well"')), finish(dead, Failed(ERROR, final=True))]
    queue.pass_time(buried.id)
    run_maintenance(queue.database)

    rows: list[Row] = [queue.row(job.id) for job in (done, dead, buried)]
    assert [each.ending for each in endings] == ["done", "dead"]
    assert [row.state for row in rows] == ["done", "dead", "dead"]
    assert (rows[0].result, (rows[0].error or {})["type"]) == ("well", "RecurrenceError")
    assert (rows[1].error or {})["message"].startswith("no; the recurrence ended")
    assert upcoming(queue) == []


def test_personal_recurring_job_passes_on_and_clears_its_payload(queue: Queue) -> None:
    job = recurring(queue, payload={"name": "Ada"}, headers={"to": "Ada"})
    queue.sql("update minutehand.jobs_live set personal = true")
    finish(job, Done())

    rows = queue.sql("select payload, headers from minutehand.jobs order by deleted nulls last")
    assert [(row["payload"], row["headers"]) for row in rows] == [
        (None, None),
        ({"name": "Ada"}, {"to": "Ada"}),
    ]


def test_next_occurrence_runs_like_the_first(queue: Queue) -> None:
    made = finish(recurring(queue, key="report"), Done())
    assert made.next is not None
    queue.pass_time(made.next)
    queue.work(lambda _: "well")

    assert queue.row(made.next).state == "done"
    assert nominals(queue) == [NEXT + timedelta(days=1)]
