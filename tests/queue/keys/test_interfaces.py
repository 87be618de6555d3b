"""Key options of bulk items, defaults and recurring jobs."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from minutehand import Enqueued, KeyTakenError, NewJob, Rejected, enqueue_many
from minutehand.finish import finish
from minutehand.model.outcome import Done
from tests.queue.keys.stage import enqueue_again
from tests.queue.stage import LONG, Queue

pytestmark = pytest.mark.every_server


def test_identical_job_is_ignored_without_a_write(queue: Queue) -> None:
    options: dict[str, Any] = {
        "run_at": datetime(2500, 1, 1, tzinfo=UTC),
        "headers": {"a": "b"},
        "priority": 3,
    }
    first = enqueue_again(queue, {"a": 1.0}, **options)
    before = queue.row(first.id)
    assert enqueue_again(queue, {"a": 1.0}, **options).outcome == "ignored"
    (made,) = enqueue_many([NewJob("echo", {"a": 1.0}, key="k", **options)], connection=queue.database)

    assert (made.outcome, queue.row(first.id)) == ("ignored", before)
    assert enqueue_again(queue, {"a": 1}, **options).outcome == "replaced"
    assert enqueue_again(queue, {"a": 1}, **options | {"priority": 4}).outcome == "replaced"


def test_late_finish_of_a_replaced_job_is_lost(queue: Queue) -> None:
    late = queue.claimed(payload="old", key="k")
    queue.sql("update minutehand.jobs_live set ack = null, prior = null, offered = null, claimed = null")
    assert enqueue_again(queue, "new").outcome == "replaced"

    assert finish(late, Done('"late"')).ending == "lost"
    assert [(job.id, job.payload) for job in queue.take()] == [(late.id, "new")]


def test_bulk_items_have_their_own_key_options(queue: Queue) -> None:
    running = queue.claimed(key="running")
    items = [
        NewJob("echo", [1], key="merge", on_conflict="merge"),
        NewJob("echo", 1, key="shared"),
        NewJob("echo", [2], key="merge", on_conflict="merge"),
        NewJob("echo", 2, key="shared", on_conflict="ignore"),
        NewJob("echo", 3, key="shared", on_conflict="raise"),
        NewJob("echo", key="running", unique_while="running"),
        NewJob("echo", key="period", unique_for=LONG),
        NewJob("echo", key="moved", debounce=LONG),
        NewJob("echo"),
    ]
    made = list(enqueue_many(items, connection=queue.database))

    assert [each.outcome for each in made] == [
        "created",
        "created",
        "merged",
        "ignored",
        "rejected",
        "ignored",
        "created",
        "created",
        "created",
    ]
    assert [each.ordinal for each in made] == list(range(9))
    assert isinstance(made[4], Rejected)
    assert isinstance(made[4].error, KeyTakenError)
    rows = {each.ordinal: queue.row(each.id) for each in made if isinstance(each, Enqueued)}
    assert (rows[0].payload, rows[1].payload, rows[5].id) == ([1, 2], 1, running.id)
    assert queue.waits(rows[7].id, LONG)


def test_bulk_default_applies_to_items_without_an_option(queue: Queue) -> None:
    items = [NewJob("echo", [n], key="k") for n in range(3)] + [
        NewJob("echo", [3], key="k", on_conflict="replace")
    ]
    made = list(enqueue_many(items, on_conflict="merge", connection=queue.database))

    assert [each.outcome for each in made] == ["created", "merged", "merged", "replaced"]
    assert queue.row(made[0].id).payload == [3]  # type: ignore[union-attr]


def test_defaults_of_a_kind_override_those_of_its_queue(queue: Queue) -> None:
    queue.sql(
        "insert into minutehand.queue_defaults (queue, priority, max_attempts) values ('slow', 1, 2), ('mail', 3, 4)"
    )
    queue.sql("insert into minutehand.defaults (kind, queue, priority) values ('welcome', 'mail', 7)")

    def facts(kind: str, **options: Any) -> tuple[str, int, int]:
        row = queue.row(queue.enqueue(kind, **options))
        return row.queue, row.priority, row.max_attempts

    assert facts("echo") == ("default", 5, 8)
    assert facts("echo", queue="slow") == ("slow", 1, 2)
    assert facts("welcome") == ("mail", 7, 4)
    assert facts("welcome", priority=9, max_attempts=1) == ("mail", 9, 1)


@pytest.mark.fault(
    "functions/put_all", "timestamptz := wall at time zone zone", "timestamptz := wall at time zone 'UTC'"
)
@pytest.mark.fault(
    "functions/put_all", r"\(moment at time zone coalesce\(zone, 'UTC'\)\)", "(moment at time zone 'UTC')"
)
def test_first_time_of_a_duration_counts_by_the_clocks_of_its_zone(queue: Queue) -> None:
    # Python computes it itself.
    (row,) = queue.sql("select id from minutehand.enqueue('echo', every => 'P1DT90M', zone => 'Asia/Tokyo')")

    assert queue.waits(row["id"], timedelta(days=1, minutes=90))


def test_recurring_job_has_its_first_time_in_every_interface(queue: Queue) -> None:
    options: dict[str, Any] = {"every": "0 8 * * mon", "zone": "Asia/Tokyo"}
    one = queue.enqueue(key="one", **options)
    (many,) = enqueue_many([NewJob("echo", **options)], connection=queue.database)
    queue.sql("select minutehand.enqueue('echo', key => 'sql', every => 'PT90M')")

    for job_id in (one, many.id):  # type: ignore[union-attr]
        run_at = queue.row(job_id).run_at
        # 8:00 on Monday in Tokyo.
        assert (run_at.weekday(), run_at.hour, run_at.minute) == (6, 23, 0)
    rows = queue.sql(
        "select key, every, zone, nominal, run_at, run_at - now() as wait from minutehand.jobs order by key"
    )
    assert all(row["nominal"] == row["run_at"] for row in rows)
    assert [(row["every"], row["zone"]) for row in rows] == [
        ("0 8 * * mon", "Asia/Tokyo"),
        ("PT90M", None),
        ("0 8 * * mon", "Asia/Tokyo"),
    ]
    assert timedelta(minutes=89) < rows[1]["wait"] <= timedelta(minutes=90)
