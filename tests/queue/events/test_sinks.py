"""The table sink stores events; a sink that fails does not fail a job."""

import logging
from contextlib import suppress
from typing import Any

import psycopg
import pytest

from minutehand import NewJob, enqueue, enqueue_many
from minutehand.database import Database
from minutehand.model.event import Event
from minutehand.queries.events import list_events
from tests.queue.events.stage import breaks, cancels, extends, fails
from tests.queue.stage import Queue

MARK = "mark-4711"


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enable the table sink."""
    monkeypatch.setenv("MINUTEHAND_EVENTS", "table")


def stored_names(queue: Queue) -> list[str]:
    return [event.name for event in list_events(queue.database)]


def test_table_sink_stores_events_in_order(queue: Queue, table: None) -> None:
    job_id, _ = queue.attempt(extends, payload=MARK, key="order/1")
    list(enqueue_many((NewJob("echo") for _ in range(300)), connection=queue.database, chunk=300))

    assert stored_names(queue)[:1] == ["enqueued"]
    events = list_events(queue.database, job=job_id)
    assert [event.name for event in events] == ["enqueued", "claimed", "extended", "done"]
    assert {(event.kind, event.queue) for event in events[1:]} == {("echo", "default")}
    assert (events[1].facts["attempt"], events[1].facts["key"]) == (1, "order/1")
    assert events[1].at <= events[2].at <= events[3].at
    assert len(list_events(queue.database, names=["enqueued"], limit=1000)) == 301
    assert MARK not in str(queue.sql("select * from minutehand.events where job = %(job)s", job=job_id))


def test_events_only_setting_limits_the_table_sink(
    queue: Queue, table: None, monkeypatch: pytest.MonkeyPatch, seen: list[Event]
) -> None:
    monkeypatch.setenv("MINUTEHAND_EVENTS_ONLY", "dead, cancelled")

    for handler in (fails, cancels, breaks):
        queue.attempt(handler)

    assert stored_names(queue) == ["dead", "cancelled"]
    # The setting does not limit hooks.
    assert len(seen) == 9


def test_events_are_not_stored_by_default(queue: Queue) -> None:
    queue.attempt(lambda _: None)

    assert stored_names(queue) == []


@pytest.mark.parametrize("autocommit", [False, True])
def test_stored_event_commits_with_the_transaction_of_the_caller(
    queue: Queue, table: None, seen: list[Event], autocommit: bool
) -> None:
    connection: psycopg.Connection[Any] = queue.another().connection
    connection.autocommit = autocommit
    with suppress(ZeroDivisionError), connection.transaction():
        enqueue("echo", connection=connection)
        _ = 1 / 0
    assert (stored_names(queue), seen) == ([], [])

    with connection.transaction():
        enqueue("echo", connection=connection)
        assert stored_names(queue) == []

    assert stored_names(queue) == ["enqueued"]
    # The library does not see the commit of the caller.
    assert seen == []


def test_failing_table_sink_fails_no_job_and_is_logged_once(
    queue: Queue, table: None, caplog: pytest.LogCaptureFixture
) -> None:
    queue.sql("alter table minutehand.events rename to events_away")
    database = queue.another()
    with caplog.at_level(logging.WARNING), database.transaction():
        enqueue("echo", connection=database)
    endings = [queue.attempt(lambda _: None)[1].ending for _ in range(2)]
    queue.sql("alter table minutehand.events_away rename to events")

    assert endings == ["done", "done"]
    assert queue.sql("select count(*) from minutehand.jobs")[0]["count"] == 3
    assert caplog.text.count("events for table are dropped: SchemaError") == 1


def test_locked_event_table_does_not_block_a_job(queue: Queue, table: None) -> None:
    other: Database = queue.another()
    with other.transaction() as connection:
        connection.execute("lock table minutehand.events in access exclusive mode")
        _, ending = queue.attempt(lambda _: None)

        assert ending.ending == "done"
    assert stored_names(queue) == []


def test_invalid_sink_is_logged_and_the_others_are_used(
    queue: Queue, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("MINUTEHAND_EVENTS", f"kafka:{MARK},table, webhook:ftp://{MARK},sns:")

    for _ in range(2):
        queue.attempt(lambda _: None)

    assert stored_names(queue) == ["enqueued", "claimed", "done"] * 2
    assert len(caplog.records) == 3
    assert MARK not in caplog.text
