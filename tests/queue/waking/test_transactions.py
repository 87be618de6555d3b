"""Offers after a commit need a transaction of their own: no transaction of a user makes a tick wait."""

from collections.abc import Callable
from datetime import timedelta
from uuid import uuid4

import pytest

from minutehand.database import Connection
from tests.queue.stage import Queue
from tests.queue.waking.conftest import Lambda
from tests.waiting import until

ENQUEUE = "insert into minutehand.jobs_live (kind) values ('echo') returning id"
AGE = "select clock_timestamp() > now() + interval '1 second'"


def write(connection: Connection) -> None:
    connection.execute(ENQUEUE)


def freeze(connection: Connection) -> None:
    connection.execute("set transaction isolation level repeatable read")


def grow_old(connection: Connection) -> None:
    until(lambda: connection.execute(AGE).fetchone() == (True,))


def waits(queue: Queue, name: str, **parameters: object) -> bool:
    """Run a statement of the dispatcher in another session; return whether it waits for a lock."""
    running = queue.start(queue.database.run, name, **parameters)
    queue.until_done_or_waiting(running)
    return not running.done()


@pytest.mark.parametrize("begin", [write, freeze, grow_old])
@pytest.mark.fault("functions/waking", r"not minutehand.begins_transaction\(\)", "false")
def test_offer_in_a_transaction_of_a_user_locks_nothing(
    queue: Queue, aws: Lambda, begin: Callable[[Connection], None]
) -> None:
    (job,) = queue.sql(ENQUEUE)
    other = queue.another()
    with other.transaction() as connection:
        begin(connection)
        answers = other.run("offer_now", ids=[job["id"]], next=None, others=False)
        waited = waits(queue, "start_tick", now=None) or waits(
            queue, "begin_wait", waiter=uuid4(), lasts=timedelta(minutes=1), scheduled=True
        )

    assert not waited
    assert [(answer["id"], answer["wake"]) for answer in answers] == [(None, True)]
    assert queue.row(job["id"]).state == "due"


def test_offer_in_a_transaction_of_its_own_is_made(queue: Queue, aws: Lambda) -> None:
    (job,) = queue.sql(ENQUEUE)

    (answer,) = queue.database.run("offer_now", ids=[job["id"]], next=None, others=False)

    assert (answer["id"], answer["wake"]) == (job["id"], False)
