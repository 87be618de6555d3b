"""A load whose staged jobs a crash of Postgres has removed fails, and succeeds when it is repeated."""

import os
import signal

import psycopg
import pyarrow as pa
import pytest
from pyspark.sql.types import StringType, StructField, StructType

from minutehand.database import Database, connect
from minutehand.errors import InvalidJobError, UnreachableError
from minutehand.schema.migrate import migrate
from minutehand_pipeline.queue.terms import Terms
from minutehand_pipeline.queue.writing import QueueWriter
from tests.servers import Servers
from tests.waiting import until

COLUMNS = StructType([StructField("kind", StringType())])
BATCH = pa.RecordBatch.from_pydict({"kind": ["email"] * 1000})
LEFT = """
select (select count(*) from minutehand.jobs), (select count(*) from minutehand.loads),
       (select count(*) from pg_class where relname ~ '^staged_')
"""


@pytest.fixture
def url(servers: Servers) -> str:
    """A server of the test, which writes its log to disk before it answers."""
    url = servers.start("crash", fsync=True, settings={})
    database = Database(url)
    migrate(database)
    database.close()
    return url


def crash(url: str) -> None:
    """Kill a session's process, and wait until Postgres has ended all sessions and accepts new ones."""
    with connect(url) as killed, connect(url) as other:
        killed.execute("select pg_advisory_lock(1)")
        os.kill(killed.info.backend_pid, signal.SIGKILL)
        # The killed process cannot release its lock.
        with pytest.raises(psycopg.OperationalError):
            other.execute("select pg_advisory_lock(1)")
    until(lambda: accepts(url))


def accepts(url: str) -> bool:
    try:
        connect(url).close()
    except UnreachableError:
        return False
    return True


def left(url: str) -> tuple[int, ...]:
    with connect(url) as connection:
        return connection.execute(LEFT).fetchone() or ()


def test_load_whose_staged_jobs_are_lost_fails(url: str) -> None:
    writer = QueueWriter(Terms("nightly"), COLUMNS, lambda: url)
    copied = [writer.write(iter([BATCH]))]
    crash(url)
    # As after a crash between the first and the second task.
    copied.append(writer.write(iter([BATCH])))

    with pytest.raises(InvalidJobError, match=r"has 1000 staged jobs, expected 2000: .*; run the load again"):
        writer.commit(copied)
    assert left(url) == (0, 0, 1)
    writer.abort(copied)

    again = QueueWriter(Terms("nightly"), COLUMNS, lambda: url)
    again.commit([again.write(iter([BATCH]))])
    assert left(url) == (1000, 1, 0)
