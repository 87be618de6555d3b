"""The writes of a handler and the completion of its job commit together."""

from threading import Event
from typing import Any

import psycopg
import pytest

from minutehand import Job, LostError, enqueue
from minutehand.finish import finish
from minutehand.model.outcome import Done
from tests.queue.stage import Queue

pytestmark = pytest.mark.every_server


@pytest.fixture(autouse=True)
def orders(queue: Queue) -> None:
    queue.sql("create table orders (id integer primary key)")


def count(queue: Queue, table: str = "orders") -> int:
    found: int = queue.sql(f"select count(*) from {table}")[0]["count"]  # type: ignore[arg-type]
    return found


def order(connection: psycopg.Connection[Any], number: int = 1) -> None:
    connection.execute("insert into orders values (%s)", [number])


def order_twice(connection: psycopg.Connection[Any]) -> None:
    order(connection)
    order(connection)


def test_writes_of_a_handler_commit_with_the_completion(queue: Queue) -> None:
    def ship(_payload: Any, job: Job) -> None:
        with job.transaction() as connection:
            order(connection)
            assert (count(queue), queue.row(job.id).state) == (0, "running")
            job.result = {"shipped": 1}
        assert (count(queue), queue.row(job.id).state) == (1, "done")

    job_id = queue.enqueue()
    (ending,) = queue.work(ship)

    assert ending.ending == "done"
    assert queue.row(job_id).result == {"shipped": 1}


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(1)], ids=repr)
def test_exception_in_the_transaction_rolls_back_all_writes(queue: Queue, error: BaseException) -> None:
    def ship(_payload: Any, job: Job) -> None:
        with job.transaction() as connection:
            order(connection)
            raise error

    queue.enqueue()
    (ending,) = queue.work(ship)

    assert ending.ending == "retrying"
    assert count(queue) == 0


def test_rejected_write_fails_the_attempt_and_rolls_back(queue: Queue) -> None:
    def ship(_payload: Any, job: Job) -> None:
        with job.transaction() as connection:
            order(connection)
            order(connection)

    queue.enqueue()
    (ending,) = queue.work(ship)

    assert ending.ending == "retrying"
    assert count(queue) == 0


def test_errors_of_handler_statements_keep_their_type(queue: Queue) -> None:
    def ship(_payload: Any, job: Job) -> str:
        with pytest.raises(psycopg.errors.UniqueViolation), job.transaction() as connection:
            order_twice(connection)
        with pytest.raises(psycopg.errors.UndefinedTable), job.transaction() as connection:
            connection.execute("select * from nowhere")
        with job.transaction() as connection:
            with pytest.raises(psycopg.errors.UniqueViolation), connection.transaction():
                order_twice(connection)
            order(connection)
        return "shipped"

    queue.enqueue()
    (ending,) = queue.work(ship)

    assert ending.ending == "done"
    assert count(queue) == 1


def test_handler_that_lost_its_claim_writes_nothing(queue: Queue) -> None:
    others: list[Job] = []

    def lose(connection: psycopg.Connection[Any], job: Job) -> None:
        order(connection)
        queue.pass_time(job.id)
        others.extend(queue.take(database=queue.another()))

    def ship(_payload: Any, job: Job) -> None:
        with pytest.raises(LostError), job.transaction() as connection:
            lose(connection, job)
        assert job.finished is None

    queue.enqueue()
    (ending,) = queue.work(ship)

    assert ending.ending == "lost"
    assert count(queue) == 0
    assert finish(others[0], Done()).ending == "done"


def test_job_enqueued_in_the_transaction_commits_with_the_completion(queue: Queue) -> None:
    def ship(_payload: Any, job: Job) -> None:
        with job.transaction() as connection:
            enqueue("invoice", connection=connection)
            assert count(queue, "minutehand.jobs where kind = 'invoice'") == 0

    queue.enqueue()
    queue.work(ship)

    assert count(queue, "minutehand.jobs where kind = 'invoice'") == 1


def test_threads_that_share_a_database_take_turns(queue: Queue) -> None:
    asking = Event()

    def ask() -> bool:
        asking.set()
        return queue.database.in_transaction

    with queue.database.transaction() as connection:
        asked = queue.start(ask)
        asking.wait()
        connection.execute("select 1")

    # It waited for the end of the other thread's transaction.
    assert not asked.result()
