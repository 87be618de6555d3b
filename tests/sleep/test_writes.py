"""In mode sleep, every write that needs the dispatcher has a wake-up before its commit."""

from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest

from minutehand import AsyncDatabase, ConfigurationError, Database, NewJob, enqueue, enqueue_many
from minutehand.batches import close_batch, open_batch
from minutehand.operations import controls, deletion, jobs
from minutehand.schedules import manage
from minutehand.schedules.schedule import Schedule
from minutehand.waking.wakeups import LEAD, minute_of
from tests.event_loop import run_in_loop
from tests.servers import Database as Address
from tests.sleep.event_bridge import EventBridge

HOUR = timedelta(hours=1)


@pytest.fixture
def database(direct_database: Address) -> Iterator[Database]:
    with closing(Database(direct_database.url)) as database:
        yield database


def now(database: Database) -> datetime:
    moment: datetime = database.run("clock")[0]["now"]
    return moment


def soon(database: Database) -> set[datetime]:
    """The minutes of a wake-up that was requested a moment ago for now."""
    moment = now(database)
    return {minute_of(moment, moment), minute_of(moment, moment - 2 * LEAD)}


def test_enqueue_requests_one_wakeup_for_each_minute(database: Database, event_bridge: EventBridge) -> None:
    due = now(database).replace(second=0, microsecond=0) + HOUR
    for seconds in (-20, -10, 0, 10):
        enqueue("echo", connection=database, run_at=due + timedelta(seconds=seconds))

    assert event_bridge.minutes == [due, due + timedelta(minutes=1)]


def test_bulk_requests_wakeups(database: Database, event_bridge: EventBridge) -> None:
    due = now(database).replace(second=0, microsecond=0) + HOUR
    list(enqueue_many([NewJob("echo", run_at=due)] * 30, connection=database))
    list(enqueue_many([NewJob("echo", key=f"{n}", run_at=due + HOUR) for n in range(3)], connection=database))

    assert event_bridge.minutes == [due, due + HOUR]


def test_async_enqueue_requests_a_wakeup(
    database: Database, event_bridge: EventBridge, direct_database: Address
) -> None:
    due = now(database).replace(second=0, microsecond=0) + HOUR

    async def call() -> None:
        async with AsyncDatabase(direct_database.url) as other:
            await enqueue("echo", run_at=due, connection=other)

    run_in_loop(call())

    assert event_bridge.minutes == [due]


def test_wakeup_precedes_the_commit_and_survives_a_crash(
    database: Database, event_bridge: EventBridge, direct_database: Address
) -> None:
    with psycopg.connect(direct_database.url) as connection:
        enqueue("echo", connection=connection, delay=HOUR)
        assert len(event_bridge.minutes) == 1
        connection.rollback()

    assert len(event_bridge.minutes) == 1
    assert database.run("next_need")[0]["needed"] is None


def test_unchanged_job_requests_no_wakeup(database: Database, event_bridge: EventBridge) -> None:
    enqueue("echo", key="one", connection=database, delay=HOUR)
    enqueue("echo", key="one", connection=database, delay=2 * HOUR, on_conflict="ignore")

    assert len(event_bridge.minutes) == 1


def test_enqueue_succeeds_without_scheduler(
    database: Database,
    event_bridge: EventBridge,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_SCHEDULER", "http://127.0.0.1:9")
    monkeypatch.setenv("MINUTEHAND_WAKEUP_GROUP", f"{event_bridge.group}-unreachable")
    job = enqueue("echo", connection=database)

    assert job.outcome == "created"
    assert "was not created, so its jobs wait for the next wake-up or sweep" in caplog.text


def test_missing_setting_is_an_error(
    database: Database, event_bridge: EventBridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MINUTEHAND_WAKEUP_ROLE")
    with pytest.raises(ConfigurationError, match="MINUTEHAND_MODE=sleep needs MINUTEHAND_WAKEUP_ROLE"):
        enqueue("echo", connection=database)
    monkeypatch.setenv("MINUTEHAND_MODE", "minute")
    enqueue("echo", connection=database)


def finished(database: Database, **options: Any) -> Any:
    job: Any = enqueue("echo", connection=database, delay=100 * HOUR, **options)
    jobs.cancel(database, [job.id])
    return job.id


def scheduled(database: Database) -> Any:
    job: Any = enqueue("echo", connection=database, delay=100 * HOUR)
    return job.id


OPERATIONS: dict[str, Callable[[Database], object]] = {
    "promote": lambda d: jobs.promote(d, [scheduled(d)]),
    "retry": lambda d: jobs.retry(d, [finished(d)]),
    "replay": lambda d: jobs.replay(d, [finished(d)]),
    "resume": lambda d: (controls.pause(d, queue="mail"), controls.resume(d, queue="mail")),
    "limit": lambda d: controls.limit(d, 3, queue="mail"),
    "unlimit": lambda d: (controls.limit(d, 3, queue="mail"), controls.unlimit(d, queue="mail")),
    "run": lambda d: (
        manage.save(d, Schedule("yearly", "0 0 1 1 *", NewJob("echo"))),
        manage.run_now(d, "yearly"),
    ),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_operation_that_makes_jobs_due_requests_a_wakeup(
    name: str, database: Database, event_bridge: EventBridge
) -> None:
    OPERATIONS[name](database)

    assert event_bridge.minutes[0] in soon(database)


def test_reschedule_requests_the_wakeup_of_the_new_time(
    database: Database, event_bridge: EventBridge
) -> None:
    due = now(database).replace(second=0, microsecond=0) + HOUR
    job = enqueue("echo", connection=database, delay=100 * HOUR).id
    jobs.reschedule(database, [job], run_at=due)
    jobs.retry(database, [finished(database)], start=2 * HOUR)

    assert event_bridge.minutes[0] == due
    assert timedelta() <= event_bridge.minutes[1] - due - HOUR <= HOUR + timedelta(minutes=1)


def test_pause_requests_the_wakeup_of_its_end(database: Database, event_bridge: EventBridge) -> None:
    ends = now(database) + HOUR
    controls.pause(database, queue="mail")
    assert event_bridge.minutes == []

    controls.pause(database, queue="mail", until=ends)

    assert event_bridge.minutes == [minute_of(ends, ends - HOUR)]


def test_schedule_requests_the_wakeup_of_its_next_occurrence(
    database: Database, event_bridge: EventBridge
) -> None:
    stored = manage.save(database, Schedule("daily", "30 8 * * *", NewJob("echo")))
    before = event_bridge.minutes
    manage.pause(database, "daily")
    for name in event_bridge.wakeups:
        event_bridge.delete(name)
    manage.resume(database, "daily")

    assert before == [stored.next]
    # This process knows that it has requested the wake-up, which only this test deletes.
    assert event_bridge.minutes == []


@pytest.mark.parametrize("end", ["cancel", "delete", "delete_upcoming", "close", "undecided"])
def test_callback_of_an_operator_has_a_wakeup(
    database: Database, event_bridge: EventBridge, direct_database: Address, end: str
) -> None:
    batch_id = open_batch(database, on_complete="complete")
    ids = [
        enqueue("echo", batch=batch_id, delay=HOUR, queue="slow", connection=database).id for _ in range(2)
    ]
    if end != "close":
        close_batch(database, batch_id)
    jobs.cancel(database, ids[:1])
    before = set(event_bridge.minutes)

    with psycopg.connect(direct_database.url) as other:
        if end == "delete":
            deletion.delete(database, ids)
        elif end == "delete_upcoming":
            list(deletion.delete_upcoming(database, "slow"))
        else:
            if end == "undecided":
                enqueue("echo", batch=batch_id, connection=other, run_at=now(database) + HOUR)
                before = set(event_bridge.minutes)
            jobs.cancel(database, ids)
        if end == "close":
            close_batch(database, batch_id)
        other.rollback()

    (added,) = set(event_bridge.minutes) - before
    assert added in soon(database)
