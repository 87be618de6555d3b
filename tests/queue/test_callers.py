"""A job enqueued on the connection of a caller, or in SQL, commits or rolls back with the data of the caller."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row, namedtuple_row, scalar_row

from minutehand import InvalidJobError, KeyTakenError, NewJob, Rejected, enqueue, enqueue_many
from minutehand.database import default_database, thread_database
from tests.queue.stage import Queue
from tests.servers import Database

pytestmark = pytest.mark.every_server


@pytest.fixture(autouse=True)
def orders(queue: Queue) -> None:
    queue.sql("create table orders (id integer primary key)")


def count(queue: Queue, table: str = "orders") -> int:
    found: int = queue.sql(f"select count(*) from {table}")[0]["count"]  # type: ignore[arg-type]
    return found


def order(connection: psycopg.Connection[Any], number: int = 1) -> None:
    connection.execute("insert into orders values (%s)", [number])


FACTORIES = {"tuples": None, "dictionaries": dict_row, "named tuples": namedtuple_row, "scalars": scalar_row}


@pytest.fixture(params=[True, False], ids=["autocommit", "no autocommit"])
def caller(request: pytest.FixtureRequest, database: Database) -> Iterator[psycopg.Connection[Any]]:
    """A connection of the caller, with and without autocommit."""
    options = {"prepare_threshold": None} if "pgbouncer" in request.node.name else {}
    with psycopg.connect(database.url, autocommit=request.param, **options) as connection:  # type: ignore[arg-type]
        yield connection


@pytest.mark.parametrize("factory", FACTORIES.values(), ids=FACTORIES)
def test_job_commits_with_the_transaction_of_the_caller(
    queue: Queue, caller: psycopg.Connection[Any], factory: Any
) -> None:
    if factory:
        caller.row_factory = factory
    with caller.transaction():
        order(caller)
        enqueued = enqueue("ship", 1, connection=caller)
        assert count(queue, "minutehand.jobs") == 0
    caller.commit()

    assert queue.row(enqueued.id).payload == 1
    assert count(queue) == 1
    assert not caller.closed


def test_job_rolls_back_with_the_transaction_of_the_caller(
    queue: Queue, caller: psycopg.Connection[Any]
) -> None:
    with caller.transaction():
        order(caller)
        enqueue("ship", 1, connection=caller)
        assert [item.outcome for item in enqueue_many([NewJob("ship")] * 3, connection=caller)] == [
            "created"
        ] * 3
        raise psycopg.Rollback

    assert count(queue) == 0
    assert count(queue, "minutehand.jobs") == 0


def test_autocommit_determines_the_commit_outside_a_transaction(
    queue: Queue, caller: psycopg.Connection[Any]
) -> None:
    enqueue("ship", 1, connection=caller)
    list(enqueue_many([NewJob("ship"), NewJob("ship")], connection=caller))
    assert count(queue, "minutehand.jobs") == (3 if caller.autocommit else 0)

    caller.rollback()
    assert count(queue, "minutehand.jobs") == (3 if caller.autocommit else 0)


def test_partly_rejected_bulk_does_not_abort_the_transaction(
    queue: Queue, caller: psycopg.Connection[Any]
) -> None:
    jobs = [NewJob("ship", 0), NewJob("not a kind"), NewJob("ship", 2)]
    with caller.transaction():
        order(caller)
        enqueued = list(enqueue_many(jobs, connection=caller))
        order(caller, 2)

    assert [isinstance(item, Rejected) for item in enqueued] == [False, True, False]
    assert (count(queue), count(queue, "minutehand.jobs")) == (2, 2)


def test_rejected_job_in_a_savepoint_does_not_abort_the_transaction(
    queue: Queue, caller: psycopg.Connection[Any]
) -> None:
    queue.enqueue(key="report")
    with caller.transaction():
        order(caller)
        with pytest.raises(InvalidJobError), caller.transaction():
            enqueue("not a kind", connection=caller)
        with pytest.raises(KeyTakenError), caller.transaction():
            enqueue("ship", key="report", on_conflict="raise", connection=caller)
        order(caller, 2)

    assert count(queue) == 2


def test_trigger_enqueues_in_the_transaction_of_its_row(queue: Queue) -> None:
    queue.sql(
        """create function ship() returns trigger language plpgsql as $$
           begin
               perform minutehand.enqueue('ship', json_build_object('order', new.id), key => 'order/' || new.id,
                                          delay => '3 days');
               return new;
           end $$;
           create trigger ship after insert on orders for each row execute function ship()"""
    )
    with queue.database.transaction() as connection:
        order(connection, 1)
        raise psycopg.Rollback
    with queue.database.transaction() as connection:
        order(connection, 2)

    (row,) = queue.sql("select payload, key, visible - now() as wait from minutehand.jobs")
    assert (row["payload"], row["key"], row["wait"].days) == ({"order": 2}, "order/2", 2)


def test_sql_enqueue_returns_its_outcome(queue: Queue) -> None:
    (enqueued,) = queue.sql(
        "select * from minutehand.enqueue('ship', '{\"order\": 1}', key => 'order/1', priority => 9)"
    )
    (again,) = queue.sql(
        "select * from minutehand.enqueue('ship', key => 'order/1', on_conflict => 'ignore')"
    )

    assert [enqueued["outcome"], again["outcome"]] == ["created", "ignored"]
    assert enqueued["id"] == again["id"]
    assert (queue.row(enqueued["id"]).payload, queue.row(enqueued["id"]).priority) == ({"order": 1}, 9)


def test_enqueue_uses_the_database_of_the_environment(
    queue: Queue, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", database.url)
    thread_database.cache_clear()
    enqueued = enqueue("ship", 1)
    many = list(enqueue_many([NewJob("ship", 2)]))
    default_database().close()
    thread_database.cache_clear()

    assert queue.row(enqueued.id).payload == 1
    assert [item.outcome for item in many] == ["created"]
