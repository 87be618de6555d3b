"""After a failover, a connection to the former writer is replaced: its server accepts no writes."""

from collections.abc import Callable
from threading import Event as Flag
from typing import Any

import psycopg
import pytest
from proving import GRACE, LEASE
from psycopg.conninfo import make_conninfo

from minutehand import AsyncDatabase, Database, enqueue
from minutehand.claim import take
from minutehand.database.preparing import USES
from minutehand.errors import ReadOnlyError
from minutehand.finish import finish, finish_all
from minutehand.handlers import HandlerTable
from minutehand.maintenance import run_maintenance
from minutehand.model.event import Event
from minutehand.model.outcome import DONE, Done
from minutehand.work import work
from tests import servers
from tests.event_loop import run_in_loop

DEMOTE = "set default_transaction_read_only = on"


class Cluster:
    """The address of a cluster, which leads to its writer or to a replica."""

    def __init__(self, writer: str) -> None:
        self.writer, self.leads_to_writer, self.opened = writer, False, 0

    def __call__(self) -> str:
        self.opened += 1
        if self.leads_to_writer:
            return self.writer
        return make_conninfo(self.writer, options="-c default_transaction_read_only=on")


@pytest.fixture
def cluster(direct_database: servers.Database) -> Cluster:
    return Cluster(direct_database.url)


@pytest.fixture
def db(direct_database: servers.Database) -> Any:
    database = Database(direct_database.url)
    yield database
    database.close()


def in_transaction(db: Database) -> None:
    with db.transaction():
        enqueue("echo", connection=db)


@pytest.mark.parametrize("call", [lambda db: enqueue("echo", connection=db), in_transaction])
def test_connection_to_a_replica_is_replaced(call: Callable[[Database], object], cluster: Cluster) -> None:
    db = Database(cluster)
    with pytest.raises(ReadOnlyError, match="writable"):
        call(db)
    cluster.leads_to_writer = True

    call(db)
    db.close()


@pytest.mark.parametrize("uses", [1, 3 * USES])
def test_connection_whose_server_became_a_replica_is_replaced(uses: int, db: Database) -> None:
    """Also if the statement is prepared."""
    for _ in range(uses):
        enqueue("echo", connection=db)
    db.connection.execute(DEMOTE)
    with pytest.raises(ReadOnlyError):
        enqueue("echo", connection=db)

    assert enqueue("echo", connection=db).outcome == "created"


def test_connection_is_replaced_after_the_error_of_a_handlers_statement(db: Database) -> None:
    db.connection.execute(DEMOTE)
    with (
        pytest.raises(psycopg.errors.ReadOnlySqlTransaction),
        db.transaction(raw_errors=True) as connection,
    ):
        connection.execute("create table mine ()")

    assert enqueue("echo", connection=db).outcome == "created"


def test_transaction_goes_on_after_a_refused_savepoint(db: Database) -> None:
    with db.transaction() as connection:
        connection.execute("set transaction read only")
        with pytest.raises(ReadOnlyError), db.transaction():
            enqueue("echo", connection=db)

        assert db.run("clock")


def test_pool_replaces_all_connections_to_a_replica(cluster: Cluster) -> None:
    async def run() -> None:
        db = AsyncDatabase(cluster, connections=2)
        async with db.acquire(), db.acquire():
            pass
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            async with db.acquire() as connection:
                await connection.execute("create table mine ()")
        cluster.leads_to_writer = True

        for _ in range(2):
            assert (await enqueue("echo", connection=db)).outcome == "created"
        await db.close()

    run_in_loop(run())


def test_maintenance_ends_at_the_first_refused_step(cluster: Cluster) -> None:
    db = Database(cluster)
    run_maintenance(db)

    # `has_checks` only reads.
    assert cluster.opened <= 2
    db.close()


def test_worker_on_a_replica_is_not_reported_as_halted(cluster: Cluster) -> None:
    """`minutehand work` tries again."""
    db, events = Database(cluster), list[Event]()
    with pytest.raises(ReadOnlyError):
        work(db, HandlerTable({}), Flag(), queues="default", hook=events.append)

    assert events == []
    db.close()


def test_async_connection_to_a_replica_is_replaced(cluster: Cluster) -> None:
    async def run() -> None:
        db = AsyncDatabase(cluster, connections=1)
        with pytest.raises(ReadOnlyError):
            await enqueue("echo", connection=db)
        cluster.leads_to_writer = True

        assert (await enqueue("echo", connection=db)).outcome == "created"
        await db.close()

    run_in_loop(run())


def test_callers_connection_to_a_replica_stays_open(cluster: Cluster) -> None:
    with psycopg.connect(cluster(), autocommit=True) as connection:
        with pytest.raises(ReadOnlyError):
            enqueue("echo", connection=connection)

        assert not connection.closed


@pytest.mark.parametrize("outcome", [DONE, Done('{"n": 1}')])
def test_outcome_is_written_to_the_new_writer(outcome: Done, db: Database) -> None:
    enqueue("echo", connection=db)
    (job,) = take(db, "default", 1, LEASE, GRACE)
    db.connection.execute(DEMOTE)

    assert finish(job, outcome).ending == "done"


def test_group_is_written_to_the_new_writer(db: Database) -> None:
    for _ in range(3):
        enqueue("echo", connection=db)
    jobs = take(db, "default", 3, LEASE, GRACE)
    db.connection.execute(DEMOTE)

    assert [each.ending for _, each in finish_all([(job, DONE) for job in jobs])] == ["done"] * 3


def test_group_is_not_written_one_by_one_to_a_replica(cluster: Cluster) -> None:
    cluster.leads_to_writer = True
    db = Database(cluster)
    for _ in range(5):
        enqueue("echo", connection=db)
    jobs = take(db, "default", 5, LEASE, GRACE)
    db.disconnect()
    cluster.leads_to_writer, cluster.opened = False, 0

    with pytest.raises(ReadOnlyError):
        list(finish_all([(job, DONE) for job in jobs]))
    # For the statement of all jobs, and two for the first one.
    assert cluster.opened == 3
    db.close()
