"""What happens is told, once it is true: to hooks, to the table, and to nobody what a rollback has undone."""

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from threading import Event as Flag
from typing import Any

import psycopg
import pytest

from minutehand import Cancel, ConfigurationError, Fail, Job, NewJob, Retry, Snooze, enqueue, enqueue_many
from minutehand.database import Database
from minutehand.errors import SchemaError
from minutehand.events import hooks
from minutehand.events.sinks import deliveries
from minutehand.finish import finish
from minutehand.handlers import HandlerTable
from minutehand.maintenance import run_maintenance
from minutehand.model.event import NAMES, Event
from minutehand.model.outcome import Done
from minutehand.model.worker_route import WorkerRoutes
from minutehand.queries.events import list_events
from minutehand.settings import Settings
from minutehand.testing import RecordingInvoker
from minutehand.tick import tick
from minutehand.work import run_jobs, work
from tests.queue.stage import LONG, Queue

MARK = "mark-4711"
AT_ONCE = Retry(strategy="fixed", min=timedelta(), jitter=False)
INVITING = Settings(workers=WorkerRoutes("worker"))


@pytest.fixture
def seen() -> Iterator[list[Event]]:
    """Every event of this process, as a hook is told it."""
    seen: list[Event] = []
    hook = hooks.on("*", seen.append)
    yield seen
    hooks.off(hook)


@pytest.fixture(autouse=True)
def fresh() -> None:
    """Sinks that nobody has used, and modules of hooks that nobody has asked for."""
    deliveries.cache_clear()
    hooks._load.cache_clear()


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table is told."""
    monkeypatch.setenv("MINUTEHAND_EVENTS", "table")


def names(events: list[Event]) -> list[str]:
    return [event.name for event in events]


def kept(queue: Queue) -> list[str]:
    return [event.name for event in list_events(queue.database)]


def snoozes(_: Any) -> None:
    raise Snooze(LONG)


def cancels(_: Any) -> None:
    raise Cancel(MARK)


def fails(_: Any) -> None:
    raise Fail(MARK)


def breaks(_: Any) -> None:
    raise ValueError(MARK)


def extends(_: Any, job: Job) -> str:
    job.extend(LONG)
    return MARK


@pytest.mark.parametrize(
    ("handler", "told"),
    [
        (lambda _: MARK, ["done"]),
        (extends, ["extended", "done"]),
        (snoozes, ["snoozed"]),
        (cancels, ["cancelled"]),
        (fails, ["dead"]),
        (breaks, ["retried"]),
    ],
    ids=lambda told: told[-1] if isinstance(told, list) else None,
)
def test_attempt_emits_events_without_its_payload(
    queue: Queue, seen: list[Event], handler: Callable[..., Any], told: list[str]
) -> None:
    job_id, _ = queue.attempt(handler, payload={"mark": MARK}, key="order/1", headers={"told": MARK})

    assert names(seen) == ["enqueued", "claimed", *told]
    assert {(event.job, event.kind, event.key) for event in seen} == {(job_id, "echo", "order/1")}
    assert {(event.queue, event.attempt, event.max_attempts) for event in seen[1:]} == {("default", 1, 8)}
    assert len({event.id for event in seen}) == len(seen)
    assert MARK not in str([event.to_json() for event in seen])


def test_tick_emits_events_for_delivered_offers_and_reaped_jobs(queue: Queue, seen: list[Event]) -> None:
    lost = queue.claimed(max_attempts=1)
    queue.pass_time(lost.id)
    due = queue.enqueue(queue="mail")
    del seen[:]

    refusing = RecordingInvoker()
    refusing.refuse()
    tick(queue.database, refusing, INVITING)
    tick(queue.database, RecordingInvoker(), INVITING)

    assert [(event.name, event.job, event.queue) for event in seen] == [
        ("dead", lost.id, "default"),
        ("offered", due, "mail"),
    ]
    assert seen[0].facts["error_type"] == "WorkerDied"


def test_lost_claim_emits_lost(queue: Queue, seen: list[Event]) -> None:
    job = queue.claimed()
    del seen[:]

    def slow(_: Any) -> None:
        queue.pass_time(job.id)
        queue.take()

    run_jobs([job], HandlerTable({"echo": slow}), lambda: False)

    assert names(seen) == ["claimed", "lost"]


def test_superseded_job_emits_superseded(queue: Queue, seen: list[Event]) -> None:
    def again(_: Any) -> None:
        queue.enqueue(key="k")
        raise ValueError

    queue.attempt(again, key="k")

    assert names(seen) == ["enqueued", "claimed", "enqueued", "superseded"]


def test_job_without_a_handler_emits_released(queue: Queue, seen: list[Event]) -> None:
    queue.attempt(lambda _: None, kind="unknown")

    assert names(seen) == ["enqueued", "claimed", "released"]
    assert seen[-1].facts["error_type"] == "UnknownKindError"


def test_enqueued_event_has_its_outcome(queue: Queue, seen: list[Event]) -> None:
    for on_conflict in ("replace", "replace", "ignore"):
        queue.enqueue(key="k", on_conflict=on_conflict)
    list(enqueue_many([NewJob("echo"), NewJob("echo", key="k")], connection=queue.database))

    assert names(seen) == ["enqueued"] * 5
    outcomes = [event.facts["outcome"] for event in seen]
    assert outcomes == ["created", "replaced", "ignored", "created", "replaced"]


def test_resident_worker_emits_halted_on_a_fatal_error(queue: Queue, seen: list[Event]) -> None:
    told: list[Event] = []
    queue.sql("alter table minutehand.lanes rename to lanes_away")

    with pytest.raises(SchemaError):
        work(queue.database, HandlerTable({}), Flag(), queue="mail", drain=True, hook=told.append)
    queue.sql("alter table minutehand.lanes_away rename to lanes")

    assert names(seen) == names(told) == ["halted"]
    assert seen[0].queue == "mail"
    assert seen[0].facts["error_type"] == "SchemaError"


def test_hook_receives_its_events_until_it_is_removed(queue: Queue) -> None:
    heard: list[str] = []

    @hooks.on("dead")
    def page(event: Event) -> None:
        heard.append(event.name)

    queue.attempt(fails)
    queue.attempt(lambda _: None)
    hooks.off(page)
    queue.attempt(fails)

    assert heard == ["dead"]


def test_hook_for_an_unknown_event_is_rejected() -> None:
    with pytest.raises(ConfigurationError, match=r"event must be enqueued, .* got 'died'"):
        hooks.on("died", print)  # type: ignore[call-overload]


def test_failing_hook_does_not_fail_jobs_and_is_logged_once(
    queue: Queue, caplog: pytest.LogCaptureFixture
) -> None:
    @hooks.on("*")
    def broken(event: Event) -> None:
        raise RuntimeError(MARK)

    try:
        endings = [queue.attempt(lambda _: None)[1].ending for _ in range(3)]
    finally:
        hooks.off(broken)

    assert endings == ["done"] * 3
    assert [record.getMessage().partition(" failed")[2] for record in caplog.records] == [
        ", and stays registered: RuntimeError"
    ]
    assert MARK not in caplog.text


def test_hook_modules_are_imported_at_the_first_event(
    queue: Queue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "hooks_of_mine.py").write_text(
        "from minutehand.events import hooks\nheard = []\nhooks.on('done', heard.append)\n"
    )
    (tmp_path / "hooks_that_break.py").write_text("raise RuntimeError\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("MINUTEHAND_HOOKS", "hooks_that_break, hooks_of_mine")
    assert "hooks_of_mine" not in sys.modules

    for _ in range(2):
        queue.attempt(lambda _: None)

    mine = sys.modules.pop("hooks_of_mine")
    hooks.off(mine.heard.append)
    assert names(mine.heard) == ["done", "done"]
    assert caplog.text.count("MINUTEHAND_HOOKS: hooks_that_break cannot be imported") == 1


def test_table_sink_stores_events_in_order(queue: Queue, table: None) -> None:
    job_id, _ = queue.attempt(extends, payload=MARK, key="order/1")
    list(enqueue_many((NewJob("echo") for _ in range(300)), connection=queue.database, chunk=300))

    assert kept(queue)[:1] == ["enqueued"]
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

    assert kept(queue) == ["dead", "cancelled"]
    assert len(seen) == 9  # hooks choose by themselves


def test_events_are_not_stored_by_default(queue: Queue) -> None:
    queue.attempt(lambda _: None)

    assert kept(queue) == []


@pytest.mark.parametrize("autocommit", [False, True])
def test_stored_event_commits_with_the_transaction_of_the_caller(
    queue: Queue, table: None, seen: list[Event], autocommit: bool
) -> None:
    connection: psycopg.Connection[Any] = queue.another().connection
    connection.autocommit = autocommit
    with suppress(ZeroDivisionError), connection.transaction():
        enqueue("echo", connection=connection)
        _ = 1 / 0
    assert (kept(queue), seen) == ([], [])

    with connection.transaction():
        enqueue("echo", connection=connection)
        assert kept(queue) == []

    assert kept(queue) == ["enqueued"]
    assert seen == []  # whether it was committed is not seen from here


def test_hooks_run_after_the_commit_of_a_library_transaction(queue: Queue, seen: list[Event]) -> None:
    def ship(_: Any, job: Job) -> None:
        with job.transaction() as connection:
            for number in range(2):
                enqueue("echo", connection=connection, key=f"k{number}")
            assert names(seen) == ["enqueued", "claimed"]

    queue.attempt(ship)

    assert names(seen) == ["enqueued", "claimed", "enqueued", "enqueued", "done"]


def test_rolled_back_library_transaction_emits_no_events(queue: Queue, seen: list[Event]) -> None:
    database = queue.another()
    with suppress(ZeroDivisionError), database.transaction():
        enqueue("echo", connection=database)
        _ = 1 / 0
    with database.transaction():
        with suppress(ZeroDivisionError), database.transaction():
            enqueue("echo", connection=database)
            _ = 1 / 0
        enqueue("echo", key="stays", connection=database)

    assert [event.key for event in seen] == ["stays"]


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
    assert kept(queue) == []


def test_invalid_sink_is_logged_and_the_others_are_used(
    queue: Queue, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("MINUTEHAND_EVENTS", f"kafka:{MARK},table, webhook:ftp://{MARK},sns:")

    for _ in range(2):
        queue.attempt(lambda _: None)

    assert kept(queue) == ["enqueued", "claimed", "done"] * 2
    assert len(caplog.records) == 3
    assert MARK not in caplog.text


def test_finish_does_not_emit_events_itself(queue: Queue, seen: list[Event]) -> None:
    job = queue.claimed()
    assert finish(job, Done()).ending == "done"
    run_maintenance(queue.database)

    assert names(seen) == ["enqueued"]  # finish writes; the worker tells


def test_event_names_are_complete_and_unique() -> None:
    assert len(NAMES) == len(set(NAMES))
    assert {
        "enqueued",
        "offered",
        "claimed",
        "extended",
        "done",
        "retried",
        "snoozed",
        "released",
        "dead",
    } <= {*NAMES}
    assert {"cancelled", "superseded", "lost", "paused", "resumed", "halted"} <= {*NAMES}
