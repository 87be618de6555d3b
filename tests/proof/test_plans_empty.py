"""The plans of the statements of every job, after the table was analyzed while it had no job.

The planner then assumes a table of one row, for which all indexes look equal. Under an old snapshot, each has the
entries of all jobs that have ended since.
"""

from collections.abc import Iterator

import pytest
from backlog import Stock, fill
from explain import explain, explain_prepared, old_snapshot

from minutehand.database import Connection, connect
from minutehand.database.preparing import PREPARED
from tests import servers

pytestmark = [pytest.mark.every_version, pytest.mark.plans]

DEAD = 5_000
NEW = "insert into minutehand.jobs_live (kind, visible) select 'echo', now() from generate_series(1, 700)"
ROWS = "select reltuples::integer from pg_class where oid = 'minutehand.jobs_live'::regclass"


@pytest.fixture(scope="module")
def emptied(servers: servers.Servers, server_name: str) -> Iterator[tuple[Connection, Stock]]:
    """A database whose statistics say that there is no unfinished job."""
    address = servers.address(server_name)
    database = address.make()
    with connect(database.admin_url) as connection, old_snapshot(database):
        fill(connection, finished=1_000, due=DEAD, scheduled=0)
        connection.execute("delete from minutehand.jobs_live")
        connection.execute("analyze minutehand.jobs_live")
        connection.execute(NEW)
        assert connection.execute(ROWS).fetchone() == (0,)
        yield connection, Stock.of(connection)
    address.drop(database)


@pytest.mark.parametrize("name", sorted({*PREPARED, "offer", "settle", "supersede", "withdraw"}))
def test_ids_are_searched_in_the_primary_key(emptied: tuple[Connection, Stock], name: str) -> None:
    connection, stock = emptied

    plans = [explain(connection, name, stock.parameters(name))]
    if name in PREPARED:
        plans.append(explain_prepared(connection, name, stock.parameters(name)))

    for plan in plans:
        found = {index for index in plan.searched_for_ids if index.startswith("jobs_live")}
        assert found <= {"jobs_live_pkey"}
