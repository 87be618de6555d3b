"""A result that arrives after the end of its job's day is in the lake too, or it is not stored."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pyspark.sql import DataFrame

from minutehand.database import Connection, Database
from minutehand_pipeline.archive.archiver import Archiver
from minutehand_pipeline.lake import DataFile
from minutehand_pipeline.lake.frames import read_lake
from minutehand_pipeline.schemas import HOMES, Home
from tests.pipeline.archive.stage import DAY, Stage, ask
from tests.servers import Database as Address
from tests.waiting import until

WAITING = """
select exists (select from pg_locks where not granted and relation = 'minutehand.archived_days'::regclass)
"""
BEGIN = "select minutehand.begin_archive('jobs_done', array[%s]::date[])"
ENDED = """
insert into minutehand.jobs (kind, deleted, ack, attempts)
values ('ended', (%s || ' 23:59:59+00')::timestamptz, gen_random_uuid(), 1)
"""
JOB = "select id, deleted as ended, ack from minutehand.jobs where kind = 'ended'"


def settle(database: Database, result: str = '{"receipt": 17}') -> bool:
    """Add a late result to the job; return whether it was stored."""
    [job] = database.connection.execute(JOB).fetchall()
    parameters = dict(zip(("id", "ended", "ack"), job, strict=True))
    return bool(database.run("settle", **parameters, result=result, error=None))


@pytest.fixture
def database(connection: Connection, direct_database: Address) -> Any:
    connection.execute(ENDED, [DAY])
    database = Database(direct_database.url)
    yield database
    database.close()


def test_late_result_is_stored_until_an_archive_begins(connection: Connection, database: Database) -> None:
    assert settle(database)
    connection.execute("update minutehand.jobs set result = null where kind = 'ended'")
    connection.execute(BEGIN, [DAY])

    assert not settle(database)
    assert ask(connection, "select result from minutehand.jobs where kind = 'ended'") is None


def test_archive_waits_for_a_result_that_is_being_stored(connection: Connection, database: Database) -> None:
    with ThreadPoolExecutor(1) as pool:
        with database.transaction() as session:
            assert settle(database)
            beginning = pool.submit(connection.execute, BEGIN, [DAY])
            until(lambda: beginning.done() or ask(session, WAITING))
            assert not beginning.done()
        beginning.result()

    assert not settle(database)


def test_late_result_during_an_archive_is_not_lost_with_the_day(stage: Stage, database: Database) -> None:
    class LateResult(Archiver):
        """Add results between the snapshot and the record of a day."""

        def write(self, home: Home, rows: DataFrame) -> list[DataFile]:
            assert not settle(database, '"late"')
            return super().write(home, rows)

    assert settle(database, '"in time"')
    result = stage.archive(LateResult, homes=("jobs_done",), drop=True, since=DAY, until=DAY)

    assert [day.dropped for day in result.days] == ["dropped"]
    lake = read_lake(stage.spark, stage.lake, HOMES["jobs_done"])
    assert [row.result for row in lake.where("kind = 'ended'").collect()] == ['"in time"']
