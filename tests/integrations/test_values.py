"""Values arrive exactly through every library, and reads return what psycopg returns."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from minutehand import KeyTakenError, NewJob, Retry, enqueue, enqueue_many
from minutehand.operations.controls import list_controls, pause
from minutehand.operations.edit import edit
from minutehand.operations.jobs import cancel, retry
from minutehand.queries.jobs import get, get_by_key, list_jobs, stats
from minutehand.queries.statistics import today
from tests.integrations.callers import Caller
from tests.integrations.conftest import Scenario, result, results
from tests.queue.stage import Queue

Run = Callable[[Scenario], Any]
PAYLOAD = {
    "text": "tab\t, \\n, \"quote\", 'single', 100 %, ü, {}",
    "number": 10**20,
    "float": 0.1,
    "none": None,
}
# A day has 23 or 25 hours when clocks change, so a driver must not send days.
DELAY = timedelta(days=3, microseconds=1)
OPTIONS: Any = {
    "run_at": datetime(2090, 3, 27, 12, 0, 0, 1, tzinfo=UTC),
    "priority": 7,
    "retry": Retry(strategy="fixed", min=timedelta(seconds=3)),
    "timeout": timedelta(minutes=1, milliseconds=5),
    "headers": {"request": 'a\t"b"\\'},
    "personal": True,
    "expires": timedelta(days=40),
    "on_dead": NewJob("alert", {"team": "ops"}),
}


def test_values_are_stored_exactly_by_one_and_by_many(run: Run, queue: Queue) -> None:
    async def scenario(caller: Caller) -> list[Any]:
        one = await result(enqueue("ship", PAYLOAD, key="a/1", connection=caller.connection, **OPTIONS))
        jobs = [NewJob("ship", PAYLOAD, key="b/2", **OPTIONS)]
        many = await results(enqueue_many(jobs, connection=caller.connection))
        await caller.commit()
        return [one, *many]

    one, many = (queue.row(each.id) for each in run(scenario))

    for row, key in ((one, "a/1"), (many, "b/2")):
        assert (row.payload, row.key, row.headers) == (PAYLOAD, key, OPTIONS["headers"])
        assert (row.run_at, row.priority, row.timeout) == (OPTIONS["run_at"], 7, OPTIONS["timeout"])
    columns = "retry, expires, on_dead::text, personal"
    assert len(queue.sql(f"select distinct {columns} from minutehand.jobs")) == 1  # type: ignore[arg-type]


def test_durations_are_sent_in_seconds(run: Run, queue: Queue) -> None:
    async def scenario(caller: Caller) -> None:
        await caller.execute("set time zone 'Europe/Berlin'")
        await result(enqueue("ship", expires=DELAY, connection=caller.connection))
        await results(enqueue_many([NewJob("ship", expires=DELAY)], connection=caller.connection))
        await caller.commit()

    run(scenario)

    rows = queue.sql("select extract(day from expires)::int as days, expires from minutehand.jobs")
    assert [(row["days"], row["expires"]) for row in rows] == [(0, DELAY)] * 2


def test_reads_return_what_psycopg_returns(run: Run, queue: Queue) -> None:
    job_id = queue.enqueue("ship", PAYLOAD, key="a", **OPTIONS)
    queue.enqueue("ship", queue="other")
    reads: list[Callable[[Any], Any]] = [
        lambda connection: get(connection, job_id),
        lambda connection: get_by_key(connection, "default", "a"),
        lambda connection: list_jobs(
            connection, headers={"request": 'a\t"b"\\'}, states=["scheduled"], total=True
        ),
        lambda connection: stats(connection, by_kind=True),
        lambda connection: today(connection, "Europe/Berlin"),
        list_controls,
    ]

    async def scenario(caller: Caller) -> list[Any]:
        return [await result(read(caller.connection)) for read in reads]

    assert run(scenario) == [read(queue.database) for read in reads]


def test_operations_change_jobs_in_the_transaction_of_the_caller(run: Run, queue: Queue) -> None:
    first, second = queue.enqueue("ship"), queue.enqueue("ship")

    async def scenario(caller: Caller) -> None:
        await result(
            edit(caller.connection, [first], payload=PAYLOAD, timeout=timedelta(seconds=9), actor="ada")
        )
        await result(pause(caller.connection, queue="mail", until=OPTIONS["run_at"], actor="ada"))
        await result(cancel(caller.connection, [second], "no"))
        (change,) = await result(retry(caller.connection, [second], start=timedelta(days=2)))
        assert change.outcome == "changed"
        assert queue.row(first).payload is None
        await caller.commit()

    run(scenario)

    assert (queue.row(first).payload, queue.row(first).timeout) == (PAYLOAD, timedelta(seconds=9))
    assert queue.waits(second, timedelta(days=2))
    assert [control.until for control in list_controls(queue.database)] == [OPTIONS["run_at"]]


def test_errors_of_the_driver_are_translated(run: Run, queue: Queue) -> None:
    queue.enqueue("ship", key="a")

    async def scenario(caller: Caller) -> None:
        try:
            await result(enqueue("ship", key="a", on_conflict="raise", connection=caller.connection))
        except KeyTakenError:
            await caller.rollback()
            return
        raise AssertionError("expected KeyTakenError")

    run(scenario)
