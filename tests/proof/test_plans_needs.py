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
BREAKER = """insert into minutehand.controls (queue, per, max_running, break_after, break_for)
             values ('default', 'group', 1, 3, interval '1 hour')"""
GROUPS = """insert into minutehand.breakers (queue, tenant, "group", failures, opened, open_until)
            select 'default', '', 'g' || n, 3, now(), now() + %s::interval from generate_series(1, 100000) n"""
IN_GROUPS = """insert into minutehand.jobs_live (queue, kind, "group", run_at, visible)
               select 'default', 'echo', 'g' || n, m, m
                 from (select n, now() - n * interval '1 ms' as m from generate_series(1, 100000) n) x"""
ORDER = """insert into minutehand.controls (queue, per, max_running, in_order, on_dead)
           values ('default', 'group', 1, true, 'block')"""
BLOCKED = """insert into minutehand.blocked_groups (queue, tenant, "group", job)
             select 'default', '', 'g' || n, gen_random_uuid() from generate_series(1, 100000) n"""
PAST_LANE = LANE.replace("now() + ", "now() - ")
# When the breakers of these groups may close.
BROKEN = {"open": "'1 hour'", "half open": "'-1 hour'", "closed": "null"}
CASES: dict[str, tuple[str, ...]] = {
    "scheduled jobs": (LANE, JOBS),
    "lanes of scheduled jobs": (QUEUES.replace("%s", "'1 hour'"), IN_QUEUES.replace("%s", "'1 hour'")),
    "lanes of due jobs": (QUEUES.replace("%s", "'-1 hour'"), IN_QUEUES.replace("%s", "'-1 hour'")),
    "schedules": (SCHEDULES,),
    "limits of groups": (LANE, JOBS, LIMITS),
    "groups that wait, without jobs": (LANE, BREAKER, GROUPS.replace("%s", "'1 hour'")),
    "lanes while another queue is paused": (
        QUEUES.replace("%s", "'1 hour'"),
        IN_QUEUES.replace("'q' || n", "'q' || n % 1000").replace("%s", "'1 hour'"),
        PAUSE,
    ),
    "lanes while a group of another queue is blocked": (
        QUEUES.replace("%s", "'1 hour'"),
        IN_QUEUES.replace("'q' || n", "'q' || n % 1000").replace("%s", "'1 hour'"),
        ORDER,
        BLOCKED.replace("100000", "1"),
    ),
}
TABLES = ("jobs_live", "lanes", "schedules", "controls", "breakers", "blocked_groups")


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


@pytest.mark.parametrize("state", BROKEN)
def test_next_need_reads_no_more_for_100000_groups(connection: Connection, state: str) -> None:
    """It looks up the groups of the first 1,000 jobs."""
    fill(connection, (PAST_LANE, BREAKER, GROUPS.replace("%s", BROKEN[state]), IN_GROUPS))  # type: ignore[arg-type]

    plan: Plan = explain(connection, "next_need", {})

    assert "breakers" not in plan.scanned
    assert plan.buffers <= 8000


def test_next_need_reads_no_more_for_100000_blocked_groups(connection: Connection) -> None:
    """It reads the first 1,000 of them, and assumes that the others continue."""
    fill(connection, (PAST_LANE, ORDER, BLOCKED, IN_GROUPS))

    plan: Plan = explain(connection, "next_need", {})

    assert plan.buffers <= 8000
