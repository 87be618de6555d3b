"""Jobs of transactions that stay open are found after the commit, and block no other session."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from uuid import UUID

import pytest

from minutehand import Database, enqueue
from minutehand.maintenance import run_maintenance
from tests.queue.lanes.stage import finish_all, floor, found, idle, maintain, settle, tick, used
from tests.queue.stage import DEADLINE, Queue


@pytest.mark.parametrize("tenant", ["", "acme"])
@pytest.mark.parametrize("lane", ["new", "idle"])
def test_open_transaction_does_not_block_enqueuers_of_its_lane(
    direct_queue: Queue, lane: str, tenant: str
) -> None:
    if lane == "idle":
        idle(direct_queue)
    slow = direct_queue.another()
    with slow.transaction():
        enqueue("echo", tenant=tenant, connection=slow)
        job_id = direct_queue.start(direct_queue.enqueue, tenant=tenant).result(DEADLINE.total_seconds())
        assert found(direct_queue) == {job_id}


@pytest.mark.fault("raise_floor", r"least\(first, settled\)", "coalesce(%(now)s, now())")
@pytest.mark.fault("advance_settled", "case when quiet then", "case when true then")
def test_floor_of_an_active_lane_waits_for_open_transactions(direct_queue: Queue) -> None:
    direct_queue.claimed()
    slow = direct_queue.another()
    with slow.transaction():
        job_id = enqueue("echo", connection=slow).id
        direct_queue.sql("update minutehand.dispatcher set marked = null, mark = null")
        tick(direct_queue, ahead=timedelta(minutes=5))

    assert found(direct_queue) == {job_id}


@pytest.mark.fault("functions/writers", r"own := pg_current_xact_id\(\)", "own := before")
def test_floor_waits_for_the_latest_transaction_if_no_later_one_has_ended(direct_queue: Queue) -> None:
    direct_queue.claimed()
    direct_queue.sql("update minutehand.dispatcher set marked = null, mark = null, swept = now()")
    slow = direct_queue.another()
    with slow.transaction():
        job_id = enqueue("echo", connection=slow).id
        now = direct_queue.sql("select now() as now")[0]["now"]
        run_maintenance(direct_queue.database, now + timedelta(minutes=5))

    assert found(direct_queue) == {job_id}


@contextmanager
def plainly(queue: Queue) -> Iterator[Database]:
    session = queue.another()
    with session.transaction():
        yield session


@contextmanager
def with_an_old_snapshot(queue: Queue) -> Iterator[Database]:
    session = queue.another()
    with session.transaction() as connection:
        connection.execute("set transaction isolation level repeatable read")
        connection.execute("select count(*) from minutehand.lanes")
        yield session


@contextmanager
def in_a_subtransaction(queue: Queue) -> Iterator[Database]:
    session = queue.another()
    with session.transaction() as connection:
        connection.execute("savepoint a")
        enqueue("echo", connection=session)
        connection.execute("rollback to savepoint a")
        with session.transaction():
            yield session


Begin = Callable[[Queue], AbstractContextManager[Database]]


@pytest.mark.fault("raise_floor", "idle < settled_xid", "idle is not null")
@pytest.mark.parametrize("begin", [plainly, with_an_old_snapshot, in_a_subtransaction])
def test_lane_becomes_idle_after_the_transactions_that_use_it(direct_queue: Queue, begin: Begin) -> None:
    used(direct_queue)
    with begin(direct_queue) as slow:
        job_id = enqueue("echo", connection=slow).id
        tick(direct_queue)
        assert floor(direct_queue) != "infinity"

    assert found(direct_queue) == {job_id}


@pytest.mark.fault("functions/triggers", "l.idle is null", "true")
@pytest.mark.fault("functions/triggers", "not minutehand.lane_covers", "false and minutehand.lane_covers")
def test_job_that_is_written_after_its_lane_was_marked_is_found(direct_queue: Queue) -> None:
    used(direct_queue)
    with plainly(direct_queue) as slow:
        direct_queue.database.run("raise_floor", now=None)
        settle(direct_queue)
        job_id = enqueue("echo", connection=slow).id
        direct_queue.database.run("raise_floor", now=None)

    assert found(direct_queue) == {job_id}


@pytest.mark.fault("functions/triggers", "current_setting.*? = 'read committed'", "true")
def test_repeatable_read_does_not_rely_on_the_lanes_that_it_sees(direct_queue: Queue) -> None:
    used(direct_queue)
    with with_an_old_snapshot(direct_queue) as slow:
        maintain(direct_queue)
        assert floor(direct_queue) == "infinity"
        job_id = enqueue("echo", connection=slow).id

    assert found(direct_queue) == {job_id}


INSERT_INTO_THE_PAST = """insert into minutehand.jobs (kind, visible)
                          values ('echo', clock_timestamp() - %s) returning id"""


def insert_during_a_tick(queue: Queue, age: timedelta) -> UUID:
    """Insert a job that a tick does not see, and that has read the lane before the tick raises its floor."""
    queue.claimed()
    tick(queue)
    queue.sql("update minutehand.lanes set floor = floor - interval '1 hour'")
    with plainly(queue) as slow:
        job_id: UUID = slow.connection.execute(INSERT_INTO_THE_PAST, [age]).fetchall()[0][0]
        # As if the mark was taken before the insert.
        queue.sql("update minutehand.dispatcher set settled = now(), marked = null, mark = null")
        queue.database.run("raise_floor", now=None)
    return job_id


@pytest.mark.fault("functions/triggers", r"visible >= clock_timestamp\(\) - interval '3 seconds'", "true")
def test_time_in_the_past_does_not_rely_on_the_floor(direct_queue: Queue) -> None:
    job_id = insert_during_a_tick(direct_queue, timedelta(minutes=10))

    assert found(direct_queue) == {job_id}


@pytest.mark.fault("raise_floor", "interval '6 seconds'", "interval '1 second'")
def test_floor_leaves_room_for_times_in_the_recent_past(direct_queue: Queue) -> None:
    job_id = insert_during_a_tick(direct_queue, timedelta(seconds=2))

    assert found(direct_queue) == {job_id}


def test_unrelated_writer_delays_only_the_floor(direct_queue: Queue) -> None:
    used(direct_queue)
    with plainly(direct_queue) as writer:
        writer.connection.execute("select pg_current_xact_id()")
        job_id = direct_queue.enqueue()
        assert found(direct_queue) == {job_id}
        finish_all(direct_queue)
        tick(direct_queue)
        assert floor(direct_queue) != "infinity"

    maintain(direct_queue)
    assert floor(direct_queue) == "infinity"


XID_OF_ANOTHER_SERVER = """update minutehand.dispatcher
    set settled_xid = (settled_xid::text::bigint + 1000000000)::text::xid8,
        mark = regexp_replace(mark::text, '^.*$', '99999999999:99999999999:')::pg_snapshot"""


@pytest.mark.fault("advance_settled", "or restored", "")
def test_database_restored_on_another_server_settles_again(direct_queue: Queue) -> None:
    used(direct_queue)
    direct_queue.sql(XID_OF_ANOTHER_SERVER)
    direct_queue.sql("update minutehand.lanes set idle = '99999999999'")
    with plainly(direct_queue) as writer:
        writer.connection.execute("select pg_current_xact_id()")
        tick(direct_queue)
        assert direct_queue.sql("select settled_xid::text from minutehand.dispatcher") == [
            {"settled_xid": "0"}
        ]

    maintain(direct_queue)
    assert floor(direct_queue) == "infinity"
