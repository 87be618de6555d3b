"""A job enqueued on a connection of any library commits or rolls back with the data of the caller."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from minutehand import InvalidJobError, NewJob, Rejected, enqueue, enqueue_many
from minutehand.model.event import Event
from tests.integrations.callers import Caller
from tests.integrations.conftest import Scenario, result, results
from tests.queue.stage import Queue

Run = Callable[[Scenario], Any]
ORDER = "insert into orders values (1)"


class RollBackError(Exception):
    """Rolls back a savepoint."""


@pytest.fixture(autouse=True)
def orders(queue: Queue) -> None:
    queue.sql("create table orders (id integer primary key)")


def kinds(queue: Queue) -> list[object]:
    return [row["kind"] for row in queue.sql("select kind from minutehand.jobs order by id")]


def test_job_commits_with_the_data_of_the_caller(run: Run, queue: Queue) -> None:
    async def scenario(caller: Caller) -> Any:
        enqueued = await result(enqueue("ship", {"order": 1}, connection=caller.connection))
        await caller.execute(ORDER)
        assert kinds(queue) == []
        await caller.commit()
        return enqueued

    enqueued = run(scenario)

    assert queue.row(enqueued.id).payload == {"order": 1}
    assert len(queue.sql("select id from orders")) == 1


def test_job_rolls_back_with_the_data_of_the_caller(run: Run, queue: Queue) -> None:
    async def scenario(caller: Caller) -> None:
        await caller.execute(ORDER)
        await result(enqueue("ship", connection=caller.connection))
        await caller.rollback()

    run(scenario)

    assert (kinds(queue), queue.sql("select id from orders")) == ([], [])


def test_bulk_as_the_first_statement_rolls_back(run: Run, queue: Queue) -> None:
    async def scenario(caller: Caller) -> list[Any]:
        enqueued = await results(enqueue_many([NewJob("ship")] * 2, connection=caller.connection))
        await caller.rollback()
        return enqueued

    assert [item.outcome for item in run(scenario)] == ["created", "created"]
    assert kinds(queue) == []


def test_savepoint_takes_back_only_its_own_jobs_and_events(
    run: Run, kind: type[Caller], queue: Queue, events: list[Event]
) -> None:
    async def scenario(caller: Caller) -> None:
        await result(enqueue("before", connection=caller.connection))
        with suppress(RollBackError):
            async with caller.savepoint():
                await result(enqueue("within", connection=caller.connection))
                raise RollBackError
        async with caller.savepoint():
            await result(enqueue("after", connection=caller.connection))
        assert events == []
        await caller.commit()

    run(scenario)

    assert kinds(queue) == ["before", "after"]
    assert [event.kind for event in events] == (["before", "after"] if kind.emits else [])


def test_events_are_dropped_with_the_transaction(run: Run, events: list[Event]) -> None:
    async def scenario(caller: Caller) -> None:
        await result(enqueue("ship", connection=caller.connection))
        await caller.rollback()

    run(scenario)

    assert events == []


def test_rejected_job_in_a_savepoint_does_not_abort_the_transaction(run: Run, queue: Queue) -> None:
    async def scenario(caller: Caller) -> list[Any]:
        with pytest.raises(InvalidJobError) as error:
            async with caller.savepoint():
                await result(enqueue("not a kind", connection=caller.connection))
        assert error.value.rule == "kind_is_a_name"
        jobs = [NewJob("one"), NewJob("not a kind"), NewJob("two")]
        enqueued = await results(enqueue_many(jobs, connection=caller.connection))
        await caller.commit()
        return enqueued

    assert [isinstance(item, Rejected) for item in run(scenario)] == [False, True, False]
    assert kinds(queue) == ["one", "two"]
