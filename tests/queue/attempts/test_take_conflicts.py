"""A worker whose take meets jobs that others have finished since looks for the first due job, and goes on there."""

from threading import Event as Flag

import pytest

from minutehand.attempts.taker import take_in_turns
from minutehand.errors import ConflictError
from minutehand.handlers import HandlerTable
from minutehand.model.queues import Queues
from minutehand.model.turns import Turns
from minutehand.work import work
from tests.queue.late import late
from tests.queue.stage import GRACE, LEASE, Queue

REFUSE = """
    create function refuse() returns trigger language plpgsql as $$
        begin raise serialization_failure using message = 'tuple to be locked was already moved'; end $$;
    create trigger refuse before update on minutehand.jobs_live for each statement
        when (current_query() ~ 'slot as materialized') execute function refuse()"""


def test_worker_goes_on_if_others_finish_the_jobs_of_a_slow_take(direct_queue: Queue) -> None:
    handled: list[object] = []
    late(direct_queue, 5, 4, 3)
    direct_queue.sql(REFUSE)
    try:
        table = HandlerTable({"echo": handled.append})
        work(direct_queue.database, table, Flag(), chunk=2, drain=True)
    finally:
        direct_queue.sql("drop function refuse() cascade")

    assert len(handled) == 3


def test_conflict_in_a_transaction_of_the_caller_is_raised(direct_queue: Queue) -> None:
    late(direct_queue, 5)
    direct_queue.sql(REFUSE)
    try:
        with pytest.raises(ConflictError), direct_queue.database.transaction():
            take_in_turns(direct_queue.database, Turns(Queues()), 1, LEASE, GRACE)
    finally:
        direct_queue.sql("drop function refuse() cascade")
