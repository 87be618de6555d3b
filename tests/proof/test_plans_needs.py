"""The cost of finding the next tick in mode sleep: independent of jobs, lanes, schedules and limits."""

from collections.abc import Iterator
from typing import LiteralString

import pytest
from explain import Plan, explain

from minutehand.database import Connection, connect
from tests import servers

pytestmark = [pytest.mark.every_version, pytest.mark.plans]

LANE = (
    "insert into minutehand.lanes (queue, priority, floor) values ('default', 5, now() + interval '1 hour')"
)
JOBS = """insert into minutehand.jobs_live (queue, kind, run_at, visible, expires)
          select 'default', 'echo', m, m, case when n % 2 = 0 then interval '1 hour' end
            from (select n, now() + interval '1 hour' + n * interval '1 second' as m
                    from generate_series(1, 100000) n) x"""
IN_QUEUES = """insert into minutehand.jobs_live (queue, kind, run_at, visible)
               select 'q' || n, 'echo', m, m
                 from (select n, now() + %s::interval + n * interval '1 ms' as m from generate_series(1, 100000) n) x"""
QUEUES = """insert into minutehand.lanes (queue, priority, floor)
            select 'q' || n, 5, now() + %s::interval + n * interval '1 ms' from generate_series(1, 100000) n"""
PAUSE = "insert into minutehand.controls (queue, kind, paused) values ('other', 'x', true)"
SCHEDULES = """insert into minutehand.schedules (name, every, job, next, wake, last)
               select 's' || n, '0 * * * *', '{"kind": "echo"}', m, m, gen_random_uuid()
                 from (select n, now() + n * interval '1 minute' as m from generate_series(1, 100000) n) x"""
LIMITS = """insert into minutehand.controls (queue, "group", max_running)
            select 'default', 'g' || n, 1 from generate_series(1, 100000) n"""
CASES: dict[str, tuple[str, ...]] = {
    "scheduled jobs": (LANE, JOBS),
    "lanes of scheduled jobs": (QUEUES.replace("%s", "'1 hour'"), IN_QUEUES.replace("%s", "'1 hour'")),
    "lanes of due jobs": (QUEUES.replace("%s", "'-1 hour'"), IN_QUEUES.replace("%s", "'-1 hour'")),
    "schedules": (SCHEDULES,),
    "limits of groups": (LANE, JOBS, LIMITS),
    "lanes while another queue is paused": (
        QUEUES.replace("%s", "'1 hour'"),
        IN_QUEUES.replace("'q' || n", "'q' || n % 1000").replace("%s", "'1 hour'"),
        PAUSE,
    ),
}
TABLES = ("jobs_live", "lanes", "schedules", "controls", "breakers")


@pytest.fixture(scope="module")
def connection(servers: servers.Servers, server_name: str) -> Iterator[Connection]:
    address = servers.address(server_name)
    database = address.make()
    with connect(database.admin_url) as connection:
        connection.execute("set synchronous_commit = on")
        connection.execute("alter table minutehand.jobs_live disable trigger user")
        yield connection
    address.drop(database)


def fill(connection: Connection, texts: tuple[LiteralString, ...]) -> None:
    for table in TABLES:
        connection.execute(f"truncate minutehand.{table} cascade")  # type: ignore[arg-type]
    for text in texts:
        connection.execute(text)
    for table in TABLES:
        connection.execute(f"vacuum analyze minutehand.{table}")  # type: ignore[arg-type]


@pytest.mark.parametrize("case", CASES)
def test_next_need_reads_few_pages_with_100000(connection: Connection, case: str) -> None:
    fill(connection, CASES[case])  # type: ignore[arg-type]

    plan: Plan = explain(connection, "next_need", {})

    assert plan.scanned == set()
    assert plan.buffers <= 1000
