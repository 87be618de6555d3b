"""What each statement costs with a million jobs finished, and 100 thousand due: in pages, not in time."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from backlog import Stock, fill
from explain import explain
from proving import GRACE, LEASE

import minutehand
from minutehand.claim import claim
from minutehand.database import Connection, connect
from minutehand.database.statements import statement_names
from minutehand.offer import offer
from tests import servers

pytestmark = [pytest.mark.every_version, pytest.mark.plans]

# The pages that a statement may look at, for as many rows as Stock gives it: about twice what was seen.
PAGES = {
    "as_tenant": 60, "adjust_budgets": 20, "reap": 10, "cancel": 200, "cancel_lapsed": 20, "cancel_running": 400,
    "check_claim": 20, "claim": 800, "clock": 0, "count_due": 100, "delete": 200, "delete_finished": 5000,
    "delete_upcoming": 2000, "due_schedules": 800, "edit": 600, "end_control": 20, "enqueue": 150,
    "enqueue_incoming": 50, "examine_process": 0, "examine_roles": 400, "examine_server": 100,
    "examine_snapshots": 20, "extend": 60, "finish": 30, "fire": 150, "free_keys": 10, "get": 60,
    "get_by_key": 150, "get_keep_until_archived": 5, "get_schedule": 10, "get_states": 900,
    "get_unfinished": 10, "release": 60, "health": 50, "hold_ticks": 5, "store_events": 60,
    "leave_tenant": 0, "list_attempts": 100, "list_audit": 20, "list_controls": 20, "list_defaults": 5,
    "list_enqueued": 400, "list_events": 2000, "list_firings": 100, "list_jobs": 200,
    "list_newer_jobs": 200, "list_queues": 400, "list_retention": 5, "start_tick": 10, "lock_schedules": 5,
    "make_days": 100, "migration_files": 5, "migration_known": 10,
    "migration_status": 5, "advance_schedules": 60, "offer": 1600, "pause_schedule": 40, "promote": 400,
    "prune_firings": 12_000, "save_schedule": 60, "raise_floor": 60, "recall_offers": 100,
    "record_audit": 60, "remove_schedule": 20, "replay": 1500, "reschedule": 400, "replace_payloads": 600,
    "replace_schedule_payload": 60, "retain": 300, "retry": 600, "encrypted_payloads": 1500, "set_control": 20,
    "set_defaults": 10, "set_keep_until_archived": 10, "set_queue_defaults": 10, "set_retention": 30,
    "spent_recurring": 20, "supersede": 30, "start_sweep": 10, "take": 400, "withdraw": 800, "withdraw_ahead": 60,
}  # fmt: skip
# What looks at all there is, or at a week of it, and says so.
WHOLE = {
    "outdated_payloads": 30_000,
    "outdated_schedules": 2000,
    "list_schedules": 2000,
    "count_upcoming": 30_000,
    "find_finished": 40_000,
    "durations": 12_000,
    "failures": 1500,
    "histogram": 30_000,
    "count_jobs": 12_000,
    "today": 10_000,
    "examine_queue": 30_000,
    "count_finished": 30_000,
    "stats": 20_000,
    "sweep": 10_000,
}
NOT_EXPLAINED = {"copy_incoming"}  # COPY has no plan

INDEXES = {
    "adjust_budgets": {"jobs_live_busy"},
    "reap": {"jobs_live_pkey", "jobs_live_spent"},
    "claim": {"jobs_live_ack", "jobs_live_pkey"},
    "count_due": {"jobs_live_due"},
    "extend": {"jobs_live_ack", "jobs_live_pkey"},
    "finish": {"jobs_live_pkey"},
    "release": {"jobs_live_pkey"},
    "offer": {"jobs_live_busy", "jobs_live_due", "jobs_live_pkey"},
    "raise_floor": {"jobs_live_due"},
    "take": {"jobs_live_due", "jobs_live_pkey"},
    "withdraw": {"jobs_live_ack", "jobs_live_pkey"},
}
READING = {
    "adjust_budgets",
    "count_due",
    "raise_floor",
}  # the others write to all indexes, and a larger index has a level more
EITHER = {"reap", "claim", "extend", "withdraw"}  # one of the indexes is enough


@pytest.fixture(scope="module")
def full(servers: servers.Servers, server_name: str) -> Iterator[tuple[Connection, Stock]]:
    """A full database, made once for all tests of this file; they undo what they do."""
    address = servers.address(server_name)
    database = address.make()
    with connect(database.admin_url) as connection:
        fill(connection, finished=100_000, due=20_000, scheduled=20_000)
        yield connection, Stock.of(connection)
    address.drop(database)


@pytest.fixture
def connection(direct_database: servers.Database) -> Iterator[Connection]:
    with connect(direct_database.admin_url) as connection:
        yield connection


def test_every_statement_is_listed() -> None:
    names = statement_names()

    assert names == {*PAGES, *WHOLE, *NOT_EXPLAINED}


@pytest.mark.parametrize("name", sorted(PAGES))
def test_statement_reads_few_pages_and_scans_no_table(full: tuple[Connection, Stock], name: str) -> None:
    connection, stock = full

    plan = explain(connection, name, stock.parameters(name))

    assert plan.scanned - ({"jobs_done_default"} if name != "delete_finished" else plan.scanned) == set()
    assert plan.buffers <= PAGES[name]


@pytest.mark.parametrize("name", sorted(WHOLE))
def test_full_scans_read_each_table_once(full: tuple[Connection, Stock], name: str) -> None:
    connection, stock = full

    assert explain(connection, name, stock.parameters(name)).buffers <= WHOLE[name]


@pytest.mark.parametrize("name", sorted(INDEXES))
def test_flow_uses_its_indexes(full: tuple[Connection, Stock], name: str) -> None:
    connection, stock = full

    used = {
        index
        for index in explain(connection, name, stock.parameters(name)).indexes
        if index.startswith("jobs")
    }

    assert used <= INDEXES[name]
    assert used if name in EITHER else used == INDEXES[name]


@pytest.mark.parametrize("name", ["finish", "supersede", "cancel"])
def test_finishing_statements_search_live_jobs_only(full: tuple[Connection, Stock], name: str) -> None:
    connection, stock = full

    assert explain(connection, name, stock.parameters(name)).read <= {"jobs_live"}


@pytest.mark.parametrize("name", ["count_due", "offer", "take", "claim", "finish", "raise_floor"])
def test_cost_does_not_grow_with_the_backlog(
    full: tuple[Connection, Stock], connection: Connection, name: str
) -> None:
    fill(connection, finished=1000, due=10_000, scheduled=10_000)
    stock = Stock.of(connection)
    small = explain(connection, name, stock.parameters(name))

    large = explain(full[0], name, full[1].parameters(name))

    assert large.buffers <= small.buffers * (1.3 if name in READING else 1.8) + 20


@pytest.mark.parametrize("before", [0, 900])
def test_page_of_a_list_costs_the_same_at_any_depth(full: tuple[Connection, Stock], before: int) -> None:
    connection, stock = full
    ids = connection.execute("select id from minutehand.jobs_live order by id desc limit 1000").fetchall()

    plan = explain(connection, "list_jobs", stock.parameters("list_jobs") | {"before": ids[before][0]})

    assert plan.buffers <= PAGES["list_jobs"]


def test_floor_keeps_scans_short_despite_an_old_snapshot(
    direct_database: servers.Database, connection: Connection
) -> None:
    """Without it they wade through all that vacuum may not remove: the test sees that happen first."""
    later = datetime.now(UTC) + timedelta(minutes=30)
    with connect(direct_database.admin_url) as old, old.transaction():
        old.execute("set transaction isolation level repeatable read")
        old.execute("select 1")
        bury_the_dead(connection, later)

        wading = {name: cost(connection, name, later) for name in BOUNDED}
        minutehand.Database.borrow(connection).run("raise_floor", now=later)
        raised = {name: cost(connection, name, later) for name in BOUNDED}
        connection.execute(DUE_LATER, [later, DEAD])
        surprised = {name: cost(connection, name, later) for name in BOUNDED}

    assert all(wading[name] > 10_000 for name in BOUNDED)
    assert all(raised[name] <= BOUNDED[name] for name in BOUNDED)
    assert all(surprised[name] <= BOUNDED[name] for name in BOUNDED), (
        "when the planner does not know of a new backlog"
    )


DEAD = 100_000
BOUNDED = {"count_due": 1600, "take": 120, "offer": 1600, "raise_floor": 60}
DUE_LATER = "insert into minutehand.jobs_live (kind, visible) select 'echo', %s from generate_series(1, %s)"


def bury_the_dead(connection: Connection, later: datetime) -> None:
    """Offer, claim and finish jobs under the old snapshot, then leave a few that are due much later."""
    database = minutehand.Database.borrow(connection)
    fill(connection, finished=0, due=DEAD, scheduled=0)
    claim(database, offer(database, DEAD, LEASE).offers, LEASE, GRACE)
    connection.execute("update minutehand.jobs set deleted = now() where deleted is null")
    connection.execute(DUE_LATER, [later, 1000])
    connection.execute("analyze minutehand.jobs_live")


def cost(connection: Connection, name: str, now: datetime) -> int:
    """The pages that a statement looks at, at a moment."""
    parameters: dict[str, dict[str, object]] = {
        "count_due": {"limit": 1000},
        "offer": {"capacity": 50, "queues": [], "budgets": [], "ttl": LEASE},
        "take": {"queue": "default", "limit": 1, "lease": LEASE, "grace": GRACE},
    }
    return explain(connection, name, {**parameters.get(name, {}), "now": now}).buffers
