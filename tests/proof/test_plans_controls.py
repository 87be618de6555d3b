"""The cost of ticks and takes with limits, tenants and idle lanes, in pages: it follows the room, not the backlog."""

from collections.abc import Iterator
from typing import Any, LiteralString

import pytest
from explain import explain, explain_prepared
from proving import GRACE, LEASE

from minutehand.claim import ANY_TIME_AND_SLOT
from minutehand.database import Connection, connect
from minutehand.database.statements import statement
from tests import servers

pytestmark = [pytest.mark.every_version, pytest.mark.plans]

CAPACITY = 50
PARAMETERS: dict[str, dict[str, Any]] = {
    "offer": {"capacity": CAPACITY, "queues": [], "budgets": [], "ttl": LEASE, "now": None},
    "take": {"queue": "default", "limit": CAPACITY, "lease": LEASE, "grace": GRACE, **ANY_TIME_AND_SLOT},
    "count_due": {"limit": 1000, "now": None},
    "raise_floor": {"now": None},
}
DUE = """
insert into minutehand.jobs_live (kind, tenant, run_at, visible)
select case when n %% 10 = 0 then 'rare' else 'echo' end,
       case when %(tenants)s > 0 then 'tenant' || n %% %(tenants)s else '' end, moment, moment
  from (select n, now() - n * interval '1 ms' as moment from generate_series(1, %(count)s) n) made
"""
SCHEDULED = """
insert into minutehand.jobs_live (kind, run_at, visible)
select 'echo', moment, moment
  from (select now() + interval '1 day' * (1 + random()) as moment from generate_series(1, %s)) made
"""
LANES = """
insert into minutehand.lanes (queue, priority, shared, mixed) values ('default', 5, %(shared)s, not %(shared)s)
"""
IDLE = """
insert into minutehand.lanes (queue, priority, floor)
select 'idle' || n, 5, case when n %% 2 = 0 then now() + interval '1 day' else 'infinity' end
  from generate_series(1, %s) n
"""
LEARNING = 3
# A limit that has room, one that has less than the statement's, one for each tenant, and none.
LIMITS: dict[str, LiteralString] = {
    "no limit": "",
    "limit of a kind": "insert into minutehand.controls (kind, max_running) values ('rare', 30)",
    "limit of the queue": "insert into minutehand.controls (queue, max_running) values ('default', 20)",
    "limits of tenants": """insert into minutehand.controls (tenant, max_running)
                            select 'tenant' || n, 1 from generate_series(0, 199) n""",
    "full limits of tenants and a kind": """insert into minutehand.controls (tenant, kind, max_running)
                                           select 'tenant' || n, 'echo', 0 from generate_series(0, 199) n""",
}


def fill(connection: Connection, *, due: int, tenants: int = 0, idle: int = 0, scheduled: int = 0) -> None:
    """Replace all jobs and lanes, and the statistics."""
    for table in ("jobs_live", "lanes", "lane_changes", "controls"):
        # A deletion would leave half-empty pages in the indexes.
        connection.execute(f"truncate minutehand.{table}")  # type: ignore[arg-type]
    connection.execute("alter table minutehand.jobs_live disable trigger user")
    connection.execute(DUE, {"count": due, "tenants": tenants})
    connection.execute(SCHEDULED, [scheduled])
    connection.execute("alter table minutehand.jobs_live enable trigger user")
    connection.execute(LANES, {"shared": tenants > 0})
    connection.execute(IDLE, [idle])
    for table in ("jobs_live", "lanes"):
        connection.execute(f"vacuum analyze minutehand.{table}")  # type: ignore[arg-type]


def buffers(connection: Connection, name: str, limits: str = "no limit") -> int:
    """Return the pages that a statement reads under a limit, with those of the functions that it calls.

    Earlier ticks have learned which tenants are blocked.
    """
    with connection.transaction(force_rollback=True):
        if LIMITS[limits]:
            connection.execute(LIMITS[limits])
        for _ in range(LEARNING if limits.startswith("full") else 0):
            connection.execute(statement("offer"), PARAMETERS["offer"])  # type: ignore[arg-type]
        return explain(connection, name, PARAMETERS[name]).buffers


@pytest.fixture(scope="module")
def connection(servers: servers.Servers, server_name: str) -> Iterator[Connection]:
    address = servers.address(server_name)
    database = address.make()
    with connect(database.admin_url) as connection:
        connection.execute("set synchronous_commit = on")
        yield connection
    address.drop(database)


Figures = dict[tuple[str, str], int]


@pytest.fixture(scope="module")
def measured(connection: Connection) -> dict[str, Figures]:
    """The pages of each statement under each limit, on tables of different sizes."""
    sizes = {
        "small": {"due": 2000},
        "large": {"due": 40_000},
        "small with tenants": {"due": 2000, "tenants": 200},
        "large with tenants": {"due": 40_000, "tenants": 200},
        "large with many tenants": {"due": 40_000, "tenants": 2000},
    }
    found: dict[str, Figures] = {}
    for size, amounts in sizes.items():
        fill(connection, **amounts)
        found[size] = {
            (name, limits): buffers(connection, name, limits)
            for name in ("offer", "take")
            for limits in LIMITS
        }
    return found


# A statement that writes jobs writes to all indexes, and a larger index has one more level.
def about(pages: int) -> float:
    return pages * 1.5 + 40


# Of ten blocked tenants, an offer reads the head, the newest and up to 2,000 other jobs, each on its own page.
# It lists up to 1050 tenants, if fewer than its capacity may start a job.
SWEEP = 10 * 400
LIST = 3000


@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("name", ["offer", "take"])
@pytest.mark.parametrize("tenants", ["", " with tenants"], ids=["no tenants", "200 tenants"])
def test_cost_under_a_limit_is_independent_of_due_jobs(
    measured: dict[str, Figures], tenants: str, name: str, limits: str
) -> None:
    small, large = (measured[size + tenants][name, limits] for size in ("small", "large"))

    assert large <= about(small) + (SWEEP if limits.startswith("full") else 0)


@pytest.mark.parametrize("limits", LIMITS)
def test_cost_of_an_offer_is_independent_of_tenants(measured: dict[str, Figures], limits: str) -> None:
    few, many = (
        measured[f"large with {tenants}"]["offer", limits] for tenants in ("tenants", "many tenants")
    )

    assert many <= about(few) + (LIST if limits.startswith("full") else 0)


@pytest.mark.parametrize("name", ["offer", "take"])
@pytest.mark.parametrize("limits", ["limit of a kind", "limit of the queue"])
def test_one_limit_at_most_doubles_the_cost(measured: dict[str, Figures], name: str, limits: str) -> None:
    figures = measured["large"]

    assert figures[name, limits] <= 2 * figures[name, "no limit"]


def test_jobs_of_a_full_limit_are_passed_in_their_index(connection: Connection) -> None:
    """They cost a part of a page each, and none of a paused queue is read."""
    fill(connection, due=20_000)
    connection.execute("insert into minutehand.controls (kind, max_running) values ('echo', 0)")
    (kind,) = [buffers(connection, "offer")]
    connection.execute("update minutehand.controls set kind = '', queue = 'default'")

    assert kind <= 2500
    assert buffers(connection, "offer") <= 200


@pytest.mark.parametrize("tenants", [0, 200])
@pytest.mark.parametrize("name", sorted(PARAMETERS))
def test_stored_plan_reads_as_few_pages(connection: Connection, name: str, tenants: int) -> None:
    fill(connection, due=20_000, tenants=tenants)

    stored = explain_prepared(connection, name, PARAMETERS[name]).buffers

    assert stored <= about(buffers(connection, name))


@pytest.mark.parametrize("name", sorted(PARAMETERS))
def test_cost_is_independent_of_idle_lanes(connection: Connection, name: str) -> None:
    fill(connection, due=2000)
    few = buffers(connection, name)
    fill(connection, due=2000, idle=20_000)

    assert buffers(connection, name) <= few * 1.2 + 10


@pytest.mark.parametrize("limits", ["no limit", "limit of a kind"])
@pytest.mark.parametrize("name", sorted(PARAMETERS))
def test_cost_is_independent_of_scheduled_jobs(connection: Connection, name: str, limits: str) -> None:
    fill(connection, due=2000)
    few = buffers(connection, name, limits)
    fill(connection, due=2000, scheduled=100_000)

    assert buffers(connection, name, limits) <= about(few)
