"""Retention settings, the archive, and the deletion of finished jobs."""

from datetime import timedelta

import pytest

from minutehand import InvalidJobError
from minutehand.operations import deletion
from minutehand.operations.audit import list_audit
from minutehand.operations.retention import (
    FOREVER,
    Retention,
    Step,
    apply_retention,
    get_keep_until_archived,
    list_retention,
    set_keep_until_archived,
    set_retention,
)
from tests.queue.past import ago, finished, noon, today
from tests.queue.retention.stage import count
from tests.queue.stage import Queue
from tests.waiting import until

pytestmark = pytest.mark.every_version

DAY = timedelta(days=1)

ARCHIVED = "insert into minutehand.archived_days (home, day, rows) values ('jobs_done', %(day)s, %(rows)s)"


def test_day_is_kept_until_it_is_archived(queue: Queue) -> None:
    dropped, held, grown = ago(queue, 5), ago(queue, 4), ago(queue, 3)
    for day in (dropped, held, grown):
        finished(queue, noon(day), count=2)
    set_retention(queue.database, Retention(done=DAY, dead=DAY, cancelled=DAY))
    set_keep_until_archived(queue.database, True)
    assert apply_retention(queue.database) == ()
    queue.sql(ARCHIVED, day=dropped, rows=2)
    # A row was inserted after the day was archived.
    queue.sql(ARCHIVED, day=grown, rows=1)

    assert set(apply_retention(queue.database)) == {
        Step("jobs_done", dropped, "dropped", 0),
        Step("jobs_done", grown, "held", 0),
    }
    assert count(queue) == 4
    set_keep_until_archived(queue.database, False)
    for _ in range(2):
        queue.sql("select * from minutehand.retain(now() + interval '11 minutes')")
    assert count(queue) == 0


def test_day_that_an_archive_reads_does_not_delay_the_next_one(queue: Queue) -> None:
    read, archived = ago(queue, 5), ago(queue, 4)
    for day in (read, archived):
        finished(queue, noon(day), count=2)
    set_retention(queue.database, Retention(done=DAY, dead=DAY, cancelled=DAY))
    set_keep_until_archived(queue.database, True)
    queue.sql("select minutehand.begin_archive('jobs_done', array[%(day)s]::date[])", day=read)
    queue.sql(ARCHIVED, day=archived, rows=2)

    assert apply_retention(queue.database) == (Step("jobs_done", archived, "dropped", 0),)
    assert count(queue) == 2


def test_rows_are_kept_until_they_are_archived(queue: Queue) -> None:
    mixed, without = ago(queue, 5), today(queue) - 4 * DAY
    for day in (mixed, without):
        finished(queue, noon(day))
    finished(queue, noon(mixed), "dead")
    set_retention(queue.database, Retention(done=DAY))
    set_keep_until_archived(queue.database, True)
    apply_retention(queue.database)
    assert count(queue) == 3
    queue.sql(ARCHIVED, day=mixed, rows=2)
    apply_retention(queue.database)
    assert count(queue) == 2
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
        (Retention(done=-DAY), "keep_is_bounded"),
        (Retention(done=timedelta(days=36_501)), "keep_is_bounded"),
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
    # Its day has no partition.
    finished(queue, noon(today(queue) - 40 * DAY))
    before = noon(today(queue)) - DAY

    assert deletion.count_finished(queue.database, before) == 3
    assert list(deletion.delete_finished(queue.database, before)) == [3]
    assert count(queue) == 0


def test_retention_changes_are_recorded_in_the_audit_trail(direct_queue: Queue) -> None:
    set_retention(direct_queue.database, Retention(queue="mail", done=DAY, dead=FOREVER), actor="ada")
    set_keep_until_archived(direct_queue.database, True, actor="bob")
    reported = list_audit(direct_queue.database, verb="retention")

    assert [(entry.actor, entry.facts) for entry in reported] == [
        ("bob", {"keep_until_archived": True}),
        ("ada", {"queue": "mail", "done": "1 day, 0:00:00", "dead": "forever"}),
    ]
