"""Queries about loads in the database: which were entered, their defaults and limits, and their staging tables."""

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from typing import Any

from minutehand.database import Database
from minutehand.errors import DatabaseError
from minutehand.settings import database_url
from minutehand_pipeline.queue.writing import staging_table

QUEUES = "select kind::text, queue::text from minutehand.defaults where queue is not null"
MAX_PAYLOAD = "select max_payload from minutehand.settings"
FIND = """
select load, run::text, at, actor, created, replaced, ignored, rejected from minutehand.loads where load = %(load)s
"""
GUARD = """
select pg_advisory_xact_lock(minutehand.load_lock(%s)), set_config('idle_in_transaction_session_timeout', '0', true)
"""
STAGED_BYTES = "select coalesce(pg_total_relation_size(to_regclass('minutehand.' || %s)), 0)"


def max_payload(database: Database) -> int:
    """Return the maximum size of a payload, in bytes."""
    [(limit,)] = database.connection.execute(MAX_PAYLOAD).fetchall()
    return int(limit)


def default_queues(database: Database) -> dict[str, str]:
    """Return the default queues, by kind."""
    return dict(database.connection.execute(QUEUES).fetchall())


def session_tenant(database: Database) -> str:
    """Return the tenant that the session is limited to, or an empty string."""
    [(tenant,)] = database.connection.execute("select minutehand.current_tenant()").fetchall()
    return str(tenant)


def find(database: Database, load: str) -> dict[str, Any] | None:
    """Return the ledger's row of a load, if it was entered."""
    cursor = database.connection.execute(FIND, {"load": load})
    names = [column.name for column in cursor.description or ()]
    found = cursor.fetchone()
    return None if found is None else dict(zip(names, found, strict=True))


@contextmanager
def guarded(database: Database, run: str) -> Iterator[None]:
    """Hold the lock that shows that a run is alive, so that its staging table is removed as soon as it is killed.

    The lock belongs to a transaction without a snapshot, so it does not hold back vacuum. A run that loses this
    connection continues. It fails as a whole if its table is then removed before it has entered its jobs.
    """
    with closing(database.clone()) as holder:
        held = ExitStack()
        held.enter_context(holder.transaction()).execute(GUARD, [run])
        try:
            yield
        finally:
            with suppress(DatabaseError):
                held.close()


def end_dead_runs(database: Database) -> int:
    """Drop the staging tables of killed runs; return their number."""
    return len(database.connection.execute("select minutehand.end_dead_loads()").fetchall())


def end_run(database: Database, run: str) -> None:
    """Drop a run's staging table."""
    with database.transaction() as connection:
        connection.execute("select minutehand.end_load(%s)", [run])


def has_staging_table(database: Database, run: str) -> bool:
    """Whether a run's staging table still exists."""
    found = database.connection.execute(
        "select to_regclass('minutehand.' || %s) is not null", [staging_table(run)]
    ).fetchall()
    return bool(found[0][0])


def staged_bytes(run: str) -> int:
    """Return how many bytes a run has staged so far, over a separate connection."""
    with closing(Database(database_url)) as database:
        return int(database.connection.execute(STAGED_BYTES, [staging_table(run)]).fetchall()[0][0])
