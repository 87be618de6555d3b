"""Retention: expired days are dropped, and expired rows of mixed days are deleted."""

from dataclasses import replace
from datetime import date, timedelta

import pytest

from minutehand import InvalidJobError
from minutehand.maintenance import run_maintenance
from minutehand.operations import deletion
from minutehand.operations import jobs as operate
from minutehand.operations.audit import list_audit
from minutehand.operations.retention import (
    CATEGORIES,
    FOREVER,
    Retention,
    Step,
    apply_retention,
    get_keep_until_archived,
    list_retention,
    set_keep_until_archived,
    set_retention,
)
from tests.queue.past import ago, attempted, finished, happened, noon, partitions, today
from tests.queue.stage import Queue, until

pytestmark = pytest.mark.every_version

DAY = timedelta(days=1)
ARCHIVED = "insert into minutehand.archived_days (home, day, rows) values ('jobs_done', %(day)s, %(rows)s)"


def kept(queue: Queue, home: str = "jobs_done") -> int:
    return len(queue.sql(f"select 1 from minutehand.{home}"))  # type: ignore[arg-type]


def name(day: date, home: str = "jobs_done") -> str:
    return f"{home}_{day:%Y%m%d}"


def test_default_retention_drops_nothing(queue: Queue) -> None:
    finished(queue, noon(ago(queue, 1000)))

    assert apply_retention(queue.database) == ()
    assert kept(queue) == 1


@pytest.mark.parametrize("what", CATEGORIES)
def test_each_category_is_applied(queue: Queue, what: str) -> None:
    day = ago(queue, 3)
    finished(queue, noon(day), "done")
    finished(queue, noon(day), "dead")
    finished(queue, noon(day), "cancelled")
    attempted(queue, noon(day))
    happened(queue, noon(day))
    set_retention(queue.database, replace(Retention(), **{what: DAY}))  # type: ignore[arg-type]
    apply_retention(queue.database)
    left = {row["state"] for row in queue.sql("select minutehand.state(j) as state from minutehand.jobs j")}
    left |= {home for home in ("attempts", "events") if kept(queue, home)}

    assert left == set(CATEGORIES) - {what}


def test_expired_day_is_dropped(queue: Queue) -> None:
    old, young = ago(queue, 8), ago(queue, 7)
    for day in (old, young):
        finished(queue, noon(day), count=3)
    set_retention(queue.database, Retention(done=7 * DAY, dead=7 * DAY, cancelled=DAY))

    assert Step("jobs_done", old, "dropped", 0) in apply_retention(queue.database)
    assert name(old) not in partitions(queue, "jobs_done")
    assert name(young) in partitions(queue, "jobs_done")
    assert kept(queue) == 3


def test_day_is_dropped_if_the_states_it_has_are_expired(queue: Queue) -> None:
    """Dead jobs are kept for ever, and there are none."""
    day = ago(queue, 3)
    finished(queue, noon(day), count=3)
    set_retention(queue.database, Retention(done=DAY))

    assert [step.outcome for step in apply_retention(queue.database)] == ["dropped"]
    assert name(day) not in partitions(queue, "jobs_done")


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
    assert kept(queue) == 0


def test_today_is_never_touched(queue: Queue) -> None:
    finished(queue, queue.sql("select now() as now")[0]["now"])
    set_retention(queue.database, Retention(done=timedelta(), dead=timedelta(), cancelled=timedelta()))
    apply_retention(queue.database)

    assert kept(queue) == 1


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
        ("jobs_done", None, 2), ("attempts", None, 1), ("events", None, 1)
    }  # fmt: skip
    assert [kept(queue, home) for home in ("jobs_done_default", "attempts_default", "events_default")] == [
        3,
        1,
        1,
    ]


def test_changed_retention_takes_effect_immediately(queue: Queue) -> None:
    """A day that was looked at is not looked at again, until somebody says something else."""
    finished(queue, noon(ago(queue, 3)))
    finished(queue, noon(ago(queue, 3)), "dead")
    set_retention(queue.database, Retention(done=2 * DAY, dead=90 * DAY))
    apply_retention(queue.database)
    assert kept(queue) == 1
    set_retention(queue.database, Retention(dead=2 * DAY))
    apply_retention(queue.database)

    assert kept(queue) == 0


def test_late_row_in_a_checked_day_is_found(queue: Queue) -> None:
    day = ago(queue, 3)
    finished(queue, noon(day), "dead")
    set_retention(queue.database, Retention(done=DAY, dead=90 * DAY))
    apply_retention(queue.database)
    finished(queue, noon(day))
    for _ in range(3):
        queue.sql("select * from minutehand.retain(now() + interval '25 hours')")

    assert [row["failed"] for row in queue.sql("select failed from minutehand.jobs")] == [True]


def test_day_that_is_being_read_is_dropped_later(queue: Queue) -> None:
    day = ago(queue, 3)
    finished(queue, noon(day))
    set_retention(queue.database, Retention(done=DAY, dead=DAY, cancelled=DAY))
    other = queue.another()
    with other.transaction() as reading:
        reading.execute("select count(*) from minutehand.jobs")
        assert [step.outcome for step in apply_retention(queue.database)] == ["busy"]
        assert kept(queue) == 1
    queue.sql("select * from minutehand.retain(now() + interval '11 minutes')")

    assert name(day) not in partitions(queue, "jobs_done")


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
    assert kept(queue) == 1  # the other dead one was not waited for


def test_concurrent_finish_in_an_expired_day_is_not_lost(queue: Queue) -> None:
    """What it writes is kept for ever; everything that was in the day when it was looked at is over."""
    day = ago(queue, 3)
    finished(queue, noon(day), queue="a")
    set_retention(queue.database, Retention(queue="a", done=DAY))
    late = queue.enqueue(queue="b")
    other, third = queue.another(), queue.another()
    with other.transaction() as finishing:
        finishing.execute("update minutehand.jobs set deleted = %s where id = %s", [noon(day), late])
        retaining = queue.let(apply_retention, third)
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


def test_maintenance_applies_retention_and_creates_days(queue: Queue) -> None:
    day = ago(queue, 3)
    finished(queue, noon(day))
    set_retention(queue.database, Retention(done=DAY, dead=DAY, cancelled=DAY))
    report = run_maintenance(queue.database)

    assert Step("jobs_done", day, "dropped", 0) in report.retained
    assert all(len(partitions(queue, home)) >= 8 for home in ("jobs_done", "attempts", "events"))


def test_failing_retention_does_not_stop_maintenance(queue: Queue, caplog: pytest.LogCaptureFixture) -> None:
    queue.sql("alter function minutehand.retain_now rename to elsewhere")

    assert run_maintenance(queue.database).swept
    assert "retention was not applied" in caplog.text


def test_day_is_kept_until_it_is_archived(queue: Queue) -> None:
    dropped, held, grown = ago(queue, 5), ago(queue, 4), ago(queue, 3)
    for day in (dropped, held, grown):
        finished(queue, noon(day), count=2)
    set_retention(queue.database, Retention(done=DAY, dead=DAY, cancelled=DAY))
    set_keep_until_archived(queue.database, True)
    assert apply_retention(queue.database) == ()
    queue.sql(ARCHIVED, day=dropped, rows=2)
    queue.sql(ARCHIVED, day=grown, rows=1)  # a row came after it was read

    assert set(apply_retention(queue.database)) == {
        Step("jobs_done", dropped, "dropped", 0), Step("jobs_done", grown, "held", 0)
    }  # fmt: skip
    assert kept(queue) == 4
    set_keep_until_archived(queue.database, False)
    for _ in range(2):
        queue.sql("select * from minutehand.retain(now() + interval '11 minutes')")
    assert kept(queue) == 0


def test_rows_are_kept_until_they_are_archived(queue: Queue) -> None:
    mixed, without = ago(queue, 5), today(queue) - 4 * DAY
    for day in (mixed, without):
        finished(queue, noon(day))
    finished(queue, noon(mixed), "dead")
    set_retention(queue.database, Retention(done=DAY))
    set_keep_until_archived(queue.database, True)
    apply_retention(queue.database)
    assert kept(queue) == 3
    queue.sql(ARCHIVED, day=mixed, rows=2)
    apply_retention(queue.database)
    assert kept(queue) == 2
    queue.sql(ARCHIVED, day=without, rows=1)
    apply_retention(queue.database)
    assert [row["failed"] for row in queue.sql("select failed from minutehand.jobs")] == [True]


def test_retention_is_listed_and_replaced_as_a_whole(queue: Queue) -> None:
    every = Retention(done=DAY, dead=7 * DAY)
    mail = Retention(queue="mail", done=FOREVER, events=timedelta(hours=36))
    for retention in (Retention(queue="mail", attempts=DAY), every, mail):
        set_retention(queue.database, retention)

    assert list_retention(queue.database) == [every, mail]
    set_retention(queue.database, Retention(queue="mail"))
    assert list_retention(queue.database) == [every]
    assert not get_keep_until_archived(queue.database)
    set_keep_until_archived(queue.database, True)
    assert get_keep_until_archived(queue.database)


@pytest.mark.parametrize(
    ("wrong", "rule"),
    [
        (Retention(queue="no queue", done=DAY), "queue_is_a_name"),
        (Retention(done=-DAY), "keep_is_not_negative"),
    ],
)
def test_invalid_retention_is_refused(queue: Queue, wrong: Retention, rule: str) -> None:
    with pytest.raises(InvalidJobError) as refused:
        set_retention(queue.database, wrong)

    assert refused.value.rule == rule
    until(lambda: list_retention(queue.database) == [])


def test_delete_finished_reaches_all_partitions(queue: Queue) -> None:
    old = ago(queue, 3)
    finished(queue, noon(old), count=2)
    finished(queue, noon(today(queue) - 40 * DAY))  # its day has no partition
    before = noon(today(queue)) - DAY

    assert deletion.count_finished(queue.database, before) == 3
    assert list(deletion.delete_finished(queue.database, before)) == [3]
    assert kept(queue) == 0


def test_retention_changes_are_recorded_in_the_audit_trail(direct_queue: Queue) -> None:
    set_retention(direct_queue.database, Retention(queue="mail", done=DAY, dead=FOREVER), actor="ada")
    set_keep_until_archived(direct_queue.database, True, actor="bob")
    reported = list_audit(direct_queue.database, verb="retention")

    assert [(entry.actor, entry.facts) for entry in reported] == [
        ("bob", {"keep_until_archived": True}),
        ("ada", {"queue": "mail", "done": "1 day, 0:00:00", "dead": "forever"}),
    ]
