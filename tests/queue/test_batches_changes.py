"""Operators close, cancel and retry batches, and async programs enqueue them."""

from typing import Any

import pytest
from psycopg.errors import CheckViolation

from minutehand import AsyncDatabase, NewJob, NotFoundError, batch, enqueue
from minutehand.batches import open_batch
from minutehand.finish import finish_all
from minutehand.maintenance import run_maintenance
from minutehand.model.outcome import Done, Failed
from minutehand.operations.audit import list_audit
from minutehand.operations.batches import cancel_batch, close, retry_batch
from minutehand.queries.batches import get_batch, list_batches
from tests.event_loop import run_in_loop
from tests.queue.stage import Queue

ERROR = {"type": "ValueError", "message": "no", "trace": ""}
DEAD = Failed(ERROR, final=True)


def batch_of(queue: Queue, count: int) -> Any:
    with batch(connection=queue.database, on_complete="complete", name="May") as b:
        b.enqueue_many(NewJob("echo", n) for n in range(count))
    return b.id


def test_cancelling_a_batch_ends_it(direct_queue: Queue) -> None:
    batch_id = batch_of(direct_queue, 5)
    direct_queue.enqueue("other")
    limited = list(cancel_batch(direct_queue.database, batch_id, limit=2))
    assert [change.outcome for change in limited] == ["changed"] * 2
    assert get_batch(direct_queue.database, batch_id).open == 3
    list(cancel_batch(direct_queue.database, batch_id, actor="ada"))
    row = get_batch(direct_queue.database, batch_id)
    assert (row.state, row.cancelled) == ("ended", 5)
    assert [entry.verb for entry in list_audit(direct_queue.database, actor="ada")] == ["cancel"] * 3


def test_limited_cancel_passes_running_jobs(direct_queue: Queue) -> None:
    batch_id = batch_of(direct_queue, 4)
    direct_queue.take(3)
    changes = list(cancel_batch(direct_queue.database, batch_id, limit=2))
    assert [change.outcome for change in changes] == ["changed"]


def test_retrying_a_batch_runs_its_failed_jobs_again(direct_queue: Queue) -> None:
    batch_id = batch_of(direct_queue, 4)
    jobs = direct_queue.take(4)
    list(finish_all(list(zip(jobs, [Done(), DEAD, DEAD, Done()], strict=True))))
    changes = list(retry_batch(direct_queue.database, batch_id))
    assert {change.id for change in changes} == {jobs[1].id, jobs[2].id}
    row = get_batch(direct_queue.database, batch_id)
    assert (row.state, row.open, row.done, row.dead) == ("closed", 2, 2, 0)


def test_closing_a_batch_is_recorded_once(direct_queue: Queue) -> None:
    batch_id = open_batch(direct_queue.database)
    assert close(direct_queue.database, batch_id, actor="ada")
    assert not close(direct_queue.database, batch_id, actor="ada")
    (entry,) = list_audit(direct_queue.database)
    assert (entry.verb, entry.facts) == ("close_batch", {"batch": str(batch_id)})


@pytest.mark.parametrize("change", ["cancel_batch", "retry_batch"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "'00000000-0000-0000-0000-000000000001'",
            "batch 00000000-0000-0000-0000-000000000001 does not exist",
        ),
        ("null", "batch must be the id of a batch, a UUID"),
        ("id, max_jobs => -1", "max_jobs must be an integer from 1 to 10000, got -1"),
        ("id, max_jobs => null", "max_jobs must be an integer from 1 to 10000, got null"),
    ],
)
def test_invalid_change_in_sql_is_refused(
    direct_queue: Queue, change: str, arguments: str, message: str
) -> None:
    batch_of(direct_queue, 1)
    text: Any = f"select minutehand.{change}({arguments}) from minutehand.batches"
    with pytest.raises(CheckViolation, match=message):
        direct_queue.sql(text)


@pytest.mark.parametrize("language", ["Python", "SQL"])
def test_cancel_closes_open_nested_batches(direct_queue: Queue, language: str) -> None:
    """Their programs may have died, and the batch would never end."""
    with batch(connection=direct_queue.database, on_failure="failure") as outer:
        outer.enqueue("echo")
        inner = open_batch(direct_queue.database, parent=outer.id)
        innermost = open_batch(direct_queue.database, parent=inner)
        enqueue("echo", batch=innermost, connection=direct_queue.database)
    if language == "SQL":
        direct_queue.sql("select minutehand.cancel_batch(%(id)s)", id=outer.id)
    else:
        list(cancel_batch(direct_queue.database, outer.id))
    run_maintenance(direct_queue.database)
    states = [get_batch(direct_queue.database, each).state for each in (outer.id, inner, innermost)]
    assert states == ["ended"] * 3
    closed = [entry.facts for entry in list_audit(direct_queue.database) if entry.verb == "close_batch"]
    assert sorted(str(facts) for facts in closed) == sorted(
        str({"batch": str(b)}) for b in (inner, innermost)
    )


def test_jobs_and_nested_batches_have_the_tenant_of_the_batch(direct_queue: Queue) -> None:
    with batch(connection=direct_queue.database, tenant="acme") as outer:
        outer.enqueue("echo")
        outer.enqueue_many([NewJob("echo")])
        with outer.batch() as inner:
            inner.enqueue("echo")
            inner.enqueue("echo", tenant="acme")
    assert get_batch(direct_queue.database, inner.id).tenant == "acme"
    assert {job.tenant for job in direct_queue.take(5)} == {"acme"}


def test_pages_of_batches_are_newest_first(direct_queue: Queue) -> None:
    ids = [batch_of(direct_queue, 1) for _ in range(3)]
    first = list_batches(direct_queue.database, limit=2)
    assert [row.id for row in first] == ids[:0:-1]
    assert [row.id for row in list_batches(direct_queue.database, before=first[-1].id)] == ids[:1]


def test_sweep_deletes_batches_that_ended_90_days_ago(direct_queue: Queue) -> None:
    old, new = batch_of(direct_queue, 0), batch_of(direct_queue, 0)
    direct_queue.sql(
        "update minutehand.batches set ended = now() - interval '91 days' where id = %(id)s", id=old
    )
    run_maintenance(direct_queue.database)
    assert [row.id for row in list_batches(direct_queue.database)] == [new]
    with pytest.raises(NotFoundError):
        get_batch(direct_queue.database, old)


def test_async_block_is_a_transaction(direct_queue: Queue) -> None:
    async def enqueue_all() -> Any:
        database = AsyncDatabase(direct_queue.url)
        async with batch(connection=database, on_complete="complete", tenant="acme") as b:
            await b.enqueue("echo")
            assert await b.enqueue_many(NewJob("echo", n) for n in range(3)) == 3
            assert direct_queue.sql("select 1 from minutehand.jobs_live") == []
        await database.close()
        return b.id

    row = get_batch(direct_queue.database, run_in_loop(enqueue_all()))
    assert (row.state, row.total, row.open) == ("closed", 4, 4)


def test_nested_batches_are_counted_and_listed(queue: Queue) -> None:
    with batch(connection=queue.database) as year, year.batch() as month:
        month.enqueue("echo")
    found = list_batches(queue.database, parent=year.id)

    assert [(each.id, each.parent, each.nested) for each in found] == [(month.id, year.id, 0)]
    assert get_batch(queue.database, year.id).nested == 1
