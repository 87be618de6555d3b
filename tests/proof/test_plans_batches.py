"""The cost of a page of batches, in pages: independent of the number of batches and of its place in the list."""

from collections.abc import Iterator
from uuid import UUID

import pytest
from explain import Plan, explain, explain_prepared

from minutehand.database import Connection, connect
from tests import servers

pytestmark = [pytest.mark.every_version, pytest.mark.plans]

PAGE = 10
BATCHES = """
with parent as (
    insert into minutehand.batches default values returning id
), nested as (
    insert into minutehand.batches (parent) select id from parent, generate_series(1, %(nested)s)
), others as (
    insert into minutehand.batches (parent)
    select case when n %% 2 = 0 then minutehand.uuid7() end from generate_series(1, %(others)s) n
)
select id from parent
"""


@pytest.fixture(scope="module")
def many(servers: servers.Servers, server_name: str) -> Iterator[tuple[Connection, UUID]]:
    """A database with many batches, and one of them, in which the oldest ones are nested."""
    address = servers.address(server_name)
    database = address.make()
    with connect(database.admin_url) as connection:
        ((parent,),) = connection.execute(BATCHES, {"nested": 2 * PAGE, "others": 50_000}).fetchall()
        connection.execute("vacuum analyze minutehand.batches")
        yield connection, parent
    address.drop(database)


def pages(plan: Plan) -> int:
    assert plan.scanned == set()
    return plan.buffers


@pytest.mark.parametrize("of_a_parent", [False, True])
@pytest.mark.parametrize("deep", [False, True])
def test_page_of_batches_reads_few_pages(
    many: tuple[Connection, UUID], of_a_parent: bool, deep: bool
) -> None:
    connection, parent = many
    ids = connection.execute("select id from minutehand.batches order by id limit 2").fetchall()
    last = connection.execute(
        "select id from minutehand.batches where parent = %s order by id desc offset %s limit 1",
        [parent, PAGE],
    ).fetchall()
    before = (last if of_a_parent else ids)[-1][0] if deep else None
    given = {"parent": parent if of_a_parent else None, "before": before, "limit": PAGE}

    assert pages(explain(connection, "list_batches", given)) <= 250
    assert pages(explain_prepared(connection, "list_batches", given)) <= 250
