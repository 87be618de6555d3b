"""Statements that find jobs by their ids do so with any statistics, while an old snapshot keeps dead rows."""

from uuid import uuid4

import pytest
from backlog import Stock, fill
from backlog_rows import CLAIM_OR_OFFER
from explain import explain
from pages import PAGES
from proving import GRACE, LEASE

from minutehand import Database
from minutehand.claim import claim
from minutehand.database import Connection, connect
from minutehand.offer import offer
from tests import servers

pytestmark = [pytest.mark.every_version, pytest.mark.plans]

DEAD_ROWS = 20_000
FEW = "insert into minutehand.jobs_live (kind) select 'echo' from generate_series(1, 50)"


def live_jobs_after_an_empty_table(connection: Connection) -> Stock:
    """Finish jobs, let vacuum record that none is left, and return those that were claimed and offered since."""
    fill(connection, finished=0, due=DEAD_ROWS, scheduled=0)
    claim(
        Database.borrow(connection), offer(Database.borrow(connection), DEAD_ROWS, LEASE).offers, LEASE, GRACE
    )
    connection.execute("update minutehand.jobs set deleted = now() where deleted is null")
    connection.execute("vacuum analyze minutehand.jobs_live")
    connection.execute(FEW)
    claimed, offered = (
        dict(connection.execute(CLAIM_OR_OFFER, {"claimed": each}).fetchall()) for each in (True, False)
    )
    return Stock(claimed, offered, [uuid4()], [uuid4()])


def test_jobs_are_found_by_id_with_statistics_of_an_empty_table(direct_database: servers.Database) -> None:
    with connect(direct_database.admin_url) as old, old.transaction():
        old.execute("set transaction isolation level repeatable read")
        old.execute("select 1")
        with connect(direct_database.admin_url) as connection:
            stock = live_jobs_after_an_empty_table(connection)
            names = ("claim", "extend", "finish", "release", "withdraw")
            pages = {name: explain(connection, name, stock.parameters(name)).buffers for name in names}

    assert {name: count for name, count in pages.items() if count > PAGES[name]} == {}
