"""Retention: expired days are dropped, and expired rows of mixed days are deleted."""

from dataclasses import replace
from datetime import timedelta

import pytest

from minutehand.operations.retention import (
    CATEGORIES,
    FOREVER,
    Retention,
    Step,
    apply_retention,
    set_retention,
)
from tests.queue.past import ago, attempted, finished, happened, noon, partitions, today
from tests.queue.retention.stage import count, partition
from tests.queue.stage import Queue

pytestmark = pytest.mark.every_version

DAY = timedelta(days=1)


def test_default_retention_drops_nothing(queue: Queue) -> None:
    finished(queue, noon(ago(queue, 1000)))

    assert apply_retention(queue.database) == ()
    assert count(queue) == 1


@pytest.mark.parametrize("what", CATEGORIES)
def test_each_category_is_applied(queue: Queue, what: str) -> None:
    day = ago(queue, 3)
    finished(queue, noon(day), "done")
    finished(queue, noon(day), "dead")
    finished(queue, noon(day), "expired")
    finished(queue, noon(day), "cancelled")
    attempted(queue, noon(day))
    happened(queue, noon(day))
    set_retention(queue.database, replace(Retention(), **{what: DAY}))  # type: ignore[arg-type]
    apply_retention(queue.database)
    left = {row["state"] for row in queue.sql("select minutehand.state(j) as state from minutehand.jobs j")}
    left |= {home for home in ("attempts", "events") if count(queue, home)}

    assert left == set(CATEGORIES) - {what}


def test_expired_day_is_dropped(queue: Queue) -> None:
    old, young = ago(queue, 8), ago(queue, 7)
    for day in (old, young):
        finished(queue, noon(day), count=3)
    set_retention(queue.database, Retention(done=7 * DAY, dead=7 * DAY, cancelled=DAY))

    assert Step("jobs_done", old, "dropped", 0) in apply_retention(queue.database)
    assert partition(old) not in partitions(queue, "jobs_done")
    assert partition(young) in partitions(queue, "jobs_done")
    assert count(queue) == 3


def test_day_is_dropped_if_the_states_it_has_are_expired(queue: Queue) -> None:
    """Dead jobs are kept forever, but the day has none."""
    day = ago(queue, 3)
    finished(queue, noon(day), count=3)
    set_retention(queue.database, Retention(done=DAY))

    assert [step.outcome for step in apply_retention(queue.database)] == ["dropped"]
    assert partition(day) not in partitions(queue, "jobs_done")


def test_expired_rows_of_a_mixed_day_are_deleted(queue: Queue) -> None:
    day = ago(queue, 3)
    finished(queue, noon(day), queue="a", count=7)
    keeps = [*finished(queue, noon(day), queue="b", count=2), *finished(queue, noon(day), "dead", queue="a")]
    set_retention(queue.database, Retention(queue="a", done=DAY))
    set_retention(queue.database, Retention(queue="b", done=90 * DAY))
    steps = apply_retention(queue.database)

    assert [(step.outcome, step.jobs) for step in steps] == [("checked", 0), ("deleted", 7)]
    assert {row["id"] for row in queue.sql("select id from minutehand.jobs")} == set(keeps)
    assert apply_retention(queue.database) == ()


def test_rows_are_deleted_in_bounded_chunks(queue: Queue) -> None:
    day = ago(queue, 3)
    finished(queue, noon(day), count=10)
    finished(queue, noon(day), "dead")
    set_retention(queue.database, Retention(done=DAY))
    steps = [queue.sql("select * from minutehand.retain(now(), 4)") for _ in range(6)]

    assert [row["jobs"] for rows in steps for row in rows] == [0, 4, 4, 2]


def test_retention_of_a_queue_overrides_the_general_one(queue: Queue) -> None:
    day = ago(queue, 3)
    finished(queue, noon(day), queue="a")
    finished(queue, noon(day), queue="b")
    finished(queue, noon(day), queue="c")
    set_retention(queue.database, Retention(done=DAY))
    set_retention(queue.database, Retention(queue="b", done=FOREVER))
    set_retention(queue.database, Retention(queue="c", done=5 * DAY))
    apply_retention(queue.database)

    assert {row["queue"] for row in queue.sql("select queue from minutehand.jobs")} == {"b", "c"}


def test_row_expires_after_the_end_of_its_day(queue: Queue) -> None:
    day = ago(queue, 1)
    finished(queue, noon(day))
    set_retention(queue.database, Retention(done=DAY, dead=DAY, cancelled=DAY))

    assert apply_retention(queue.database) == ()
    queue.sql(
        "select * from minutehand.retain(%(at)s)", at=noon(today(queue)) - 12 * timedelta(hours=1) + DAY
    )
    assert count(queue) == 0


def test_today_is_never_touched(queue: Queue) -> None:
    finished(queue, queue.sql("select now() as now")[0]["now"])
    set_retention(queue.database, Retention(done=timedelta(), dead=timedelta(), cancelled=timedelta()))
    apply_retention(queue.database)

    assert count(queue) == 1


def test_rows_in_a_default_partition_are_deleted(queue: Queue) -> None:
    old, young = today(queue) - 5 * DAY, today(queue) - 2 * DAY
    for day in (old, young):
        finished(queue, noon(day), count=2)
        attempted(queue, noon(day))
        happened(queue, noon(day), None)
    finished(queue, noon(old), "dead")
    set_retention(queue.database, Retention(done=3 * DAY, attempts=3 * DAY, events=3 * DAY))
    steps = apply_retention(queue.database)

    assert {(step.home, step.day, step.jobs) for step in steps} == {
        ("jobs_done", None, 2),
        ("attempts", None, 1),
        ("events", None, 1),
    }
    assert [count(queue, home) for home in ("jobs_done_default", "attempts_default", "events_default")] == [
        3,
        1,
        1,
    ]


def test_changed_retention_takes_effect_immediately(queue: Queue) -> None:
    """A checked day is checked again after a change of the settings."""
    finished(queue, noon(ago(queue, 3)))
    finished(queue, noon(ago(queue, 3)), "dead")
    set_retention(queue.database, Retention(done=2 * DAY, dead=90 * DAY))
    apply_retention(queue.database)
    assert count(queue) == 1
    set_retention(queue.database, Retention(dead=2 * DAY))
    apply_retention(queue.database)

    assert count(queue) == 0


def test_late_row_in_a_checked_day_is_found(queue: Queue) -> None:
    day = ago(queue, 3)
    finished(queue, noon(day), "dead")
    set_retention(queue.database, Retention(done=DAY, dead=90 * DAY))
    apply_retention(queue.database)
    finished(queue, noon(day))
    for _ in range(3):
        queue.sql("select * from minutehand.retain(now() + interval '25 hours')")

    assert [row["failed"] for row in queue.sql("select failed from minutehand.jobs")] == [True]


@pytest.mark.fault("functions/retention", r"min\(\$1 \+ keep\)", "max($1 + keep)")
def test_checked_day_is_checked_again_when_its_next_row_expires(queue: Queue) -> None:
    day, hour = ago(queue, 3), timedelta(hours=1)
    for name, keep in (("a", 12 * hour), ("b", 30 * DAY)):
        finished(queue, noon(day), queue=name)
        set_retention(queue.database, Retention(queue=name, done=keep))
    # No job is dead: the day is checked early, and none of its rows has expired.
    set_retention(queue.database, Retention(dead=hour))
    for since_its_end in (10 * hour, 13 * hour, 13 * hour):
        queue.sql("select * from minutehand.retain(%(at)s)", at=noon(day) + 12 * hour + since_its_end)

    assert queue.sql("select queue from minutehand.jobs") == [{"queue": "b"}]
