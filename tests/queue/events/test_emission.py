"""Each change of a job emits an event."""

from collections.abc import Callable
from contextlib import suppress
from threading import Event as Flag
from typing import Any

import pytest

from minutehand import Job, NewJob, Snooze, enqueue, enqueue_many
from minutehand.attempts.in_turn import run_jobs
from minutehand.errors import SchemaError
from minutehand.finish import finish
from minutehand.handlers import HandlerTable
from minutehand.maintenance import run_maintenance
from minutehand.model.event import NAMES, Event
from minutehand.model.outcome import Done
from minutehand.model.worker_route import WorkerRoutes
from minutehand.settings import Settings
from minutehand.testing import RecordingInvoker
from minutehand.tick import tick
from minutehand.work import work
from tests.queue.events.stage import breaks, cancels, extends, fails, names
from tests.queue.stage import LONG, Queue

MARK = "mark-4711"

INVITING = Settings(workers=WorkerRoutes("worker"))


def snoozes(_: Any) -> None:
    raise Snooze(LONG)


@pytest.mark.parametrize(
    ("handler", "expected"),
    [
        (lambda _: MARK, ["done"]),
        (extends, ["extended", "done"]),
        (snoozes, ["snoozed"]),
        (cancels, ["cancelled"]),
        (fails, ["dead"]),
        (breaks, ["retried"]),
    ],
    ids=lambda expected: expected[-1] if isinstance(expected, list) else None,
)
def test_attempt_emits_events_without_its_payload(
    queue: Queue, seen: list[Event], handler: Callable[..., Any], expected: list[str]
) -> None:
    job_id, _ = queue.attempt(handler, payload={"mark": MARK}, key="order/1", headers={"mark": MARK})

    assert names(seen) == ["enqueued", "claimed", *expected]
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
    received: list[Event] = []
    queue.sql("alter table minutehand.lanes rename to lanes_away")

    with pytest.raises(SchemaError):
        work(queue.database, HandlerTable({}), Flag(), queues="mail", drain=True, hook=received.append)
    queue.sql("alter table minutehand.lanes_away rename to lanes")

    assert names(seen) == names(received) == ["halted"]
    assert seen[0].queue == "mail"
    assert seen[0].facts["error_type"] == "SchemaError"


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


def test_finish_does_not_emit_events_itself(queue: Queue, seen: list[Event]) -> None:
    job = queue.claimed()
    assert finish(job, Done()).ending == "done"
    run_maintenance(queue.database)

    # Finish writes the row; the worker emits the event.
    assert names(seen) == ["enqueued"]


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
