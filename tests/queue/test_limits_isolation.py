"""Limits and the capacity hold in sessions that do not see what others commit: they start again and count."""

from collections.abc import Callable
from typing import Any

import pytest

from minutehand import Database
from minutehand.finish import finish
from minutehand.model.outcome import Done
from minutehand.operations.controls import limit
from tests.queue.stage import Queue
from tests.queue.test_slots import BUSY, busy_worker, end, go_on

# Serializable transactions conflict without locks, too.
DEFAULT = "set default_transaction_isolation = 'repeatable read'"
COUNT: dict[str, Callable[[Queue, Database], list[Any]]] = {
    "take": lambda queue, session: queue.take(5, database=session),
    "offer": lambda queue, session: queue.offer(10, session),
}


def strict(queue: Queue) -> Database:
    """Return a session of a database with such a default."""
    session = queue.another()
    session.connection.execute(DEFAULT)
    return session


@pytest.mark.fault("functions/counting", r"if not minutehand.sees_commits\(\) then", "if false then")
@pytest.mark.parametrize("second", COUNT)
def test_session_that_waited_counts_again(direct_queue: Queue, second: str) -> None:
    limit(direct_queue.database, 1, kind="echo")
    # From now on, the row that counts are locked by exists.
    finish(direct_queue.claimed(), Done())
    for name in ("default", "mail"):
        direct_queue.enqueue(queue=name)
    first, other = strict(direct_queue), strict(direct_queue)

    with first.transaction():
        assert len(direct_queue.take(1, "mail", first)) == 1
        counting = direct_queue.start(COUNT[second], direct_queue, other)
        direct_queue.until_done_or_waiting(counting)

    assert counting.result() == []


@pytest.mark.fault("functions/slots", r"perform from minutehand.dispatcher for share;", "")
def test_worker_that_waited_for_a_tick_has_no_slot(direct_queue: Queue) -> None:
    freed = end(busy_worker(direct_queue))
    # Different queues, so that the two do not conflict in a job.
    for name in ("mail", "default"):
        direct_queue.enqueue(queue=name)
    ticking, working = strict(direct_queue), strict(direct_queue)

    with ticking.transaction():
        assert len(direct_queue.offer(1, ticking)) == 1
        taking = direct_queue.start(go_on, direct_queue, freed, database=working)
        direct_queue.until_done_or_waiting(taking)

    assert taking.result() == []
    assert direct_queue.sql(BUSY) == [{"jobs": 1}]


@pytest.mark.fault("functions/slots", r"update minutehand.take_locks[^;]*;", "")
def test_tick_that_waited_for_a_worker_counts_again(direct_queue: Queue) -> None:
    freed = end(busy_worker(direct_queue))
    # Different queues, so that the two do not conflict in a job.
    for name in ("mail", "default"):
        direct_queue.enqueue(queue=name)
    ticking, working = strict(direct_queue), strict(direct_queue)

    with working.transaction():
        assert len(go_on(direct_queue, freed, database=working)) == 1
        tick = direct_queue.start(direct_queue.offer, 1, ticking)
        direct_queue.until_done_or_waiting(tick)

    assert tick.result() == []
