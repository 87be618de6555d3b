"""The cost of each statement on large tables, in pages."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from backlog import Stock, fill
from explain import explain, explain_prepared, generic_plans, old_snapshot
from pages import PAGES, WHOLE
from proving import GRACE, LEASE

import minutehand
from minutehand.claim import ANY_TIME_AND_SLOT, claim
from minutehand.database import Connection, connect
from minutehand.database.preparing import PREPARED
from minutehand.database.statements import statement_names
from minutehand.offer import offer
from tests import servers

pytestmark = [pytest.mark.every_version, pytest.mark.plans]

# COPY has no plan, and the check of an edit reads no table.
NOT_EXPLAINED = {"copy_incoming", "check_edits"}

INDEXES = {
    "adjust_budgets": {"jobs_live_busy"},
    "reap": {"jobs_live_pkey", "jobs_live_spent"},
    "expire": {"jobs_live_pkey", "jobs_live_expiring"},
    "ending_recurring": {"jobs_live_expiring", "jobs_live_spent"},
    "claim": {"jobs_live_pkey"},
    "count_due": {"jobs_live_due"},
    "extend": {"jobs_live_pkey"},
    "finish": {"jobs_live_pkey"},
    "finish_done": {"jobs_live_pkey"},
    "finish_in_batch": {"jobs_live_pkey"},
    "release": {"jobs_live_pkey"},
    "offer": {"jobs_live_busy", "jobs_live_due", "jobs_live_pkey"},
    "raise_floor": {"jobs_live_busy", "jobs_live_due"},
    "take": {"jobs_live_due", "jobs_live_pkey"},
    "take_ahead": {"jobs_live_due", "jobs_live_pkey"},
    "withdraw": {"jobs_live_pkey"},
}
# The others write to all indexes, and a larger index has one more level.
READING = {"adjust_budgets", "count_due", "raise_floor"}
EITHER = {"reap", "expire"}  # One of the indexes is enough.


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


@pytest.mark.parametrize("name", sorted(PREPARED))
def test_plan_of_a_prepared_statement_is_as_good(full: tuple[Connection, Stock], name: str) -> None:
    connection, stock = full

    plan = explain_prepared(connection, name, stock.parameters(name))

    assert plan.scanned - {"jobs_done_default"} == set()
    assert plan.buffers <= PAGES[name]


@pytest.mark.parametrize("name", sorted(PREPARED))
def test_prepared_statement_keeps_its_plan(full: tuple[Connection, Stock], name: str) -> None:
    connection, stock = full
    # With one id, a plan that knows the number of ids looks cheaper.
    few = {
        key: value[:1] if isinstance(value, list) else value for key, value in stock.parameters(name).items()
    }

    assert generic_plans(connection, name, few, runs=10) > 0


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


@pytest.mark.parametrize("name", ["finish", "finish_done", "finish_in_batch", "supersede"])
def test_finishing_statements_search_live_jobs_only(full: tuple[Connection, Stock], name: str) -> None:
    connection, stock = full

    assert explain(connection, name, stock.parameters(name)).read <= {"jobs_live", "waits"}


@pytest.mark.parametrize(
    "name", ["count_due", "offer", "take", "take_ahead", "claim", "finish", "finish_done", "raise_floor"]
)
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


@pytest.mark.parametrize(("name", "parts"), [("search_jobs", 1), ("search_dead", 1), ("count_states", 3)])
def test_search_costs_as_much_as_it_may_read(full: tuple[Connection, Stock], name: str, parts: int) -> None:
    connection, stock = full

    plan = explain(connection, name, stock.parameters(name) | {"most": 100})

    assert plan.buffers <= parts * (100 + 50)


def test_dropped_results_are_found_by_their_index(full: tuple[Connection, Stock]) -> None:
    connection, stock = full
    filters = {"before": None, "finished": True, "result_dropped": True}

    plan = explain(connection, "list_jobs", stock.parameters("list_jobs") | filters)

    assert plan.buffers <= 20


def test_floor_keeps_scans_short_despite_an_old_snapshot(
    direct_database: servers.Database, connection: Connection
) -> None:
    """Without the floor, statements read all rows that vacuum cannot remove, as the test checks first."""
    later = datetime.now(UTC) + timedelta(minutes=30)
    with old_snapshot(direct_database):
        leave_dead_rows(connection, later)

        without_floor = {name: cost(connection, name, later) for name in BOUNDED}
        connection.execute("update minutehand.dispatcher set settled = %s, busy_since = now()", [later])
        minutehand.Database.borrow(connection).run("raise_floor", now=later)
        with_floor = {name: cost(connection, name, later) for name in BOUNDED}
        connection.execute(DUE_LATER, [later, DEAD_ROWS])
        after_growth = {name: cost(connection, name, later) for name in BOUNDED}

    assert all(without_floor[name] > 10_000 for name in BOUNDED)
    assert all(with_floor[name] <= BOUNDED[name] for name in BOUNDED)
    # The planner has no statistics of the new backlog.
    assert all(after_growth[name] <= BOUNDED[name] for name in BOUNDED)


def test_count_of_busy_jobs_stays_short_despite_an_old_snapshot(
    direct_database: servers.Database, connection: Connection
) -> None:
    """The leases of the finished jobs would not be over yet."""
    now = datetime.now(UTC)
    with old_snapshot(direct_database):
        leave_dead_rows(connection, now + timedelta(hours=1))
        connection.execute("update minutehand.dispatcher set settled = now()")
        minutehand.Database.borrow(connection).run("raise_floor", now=None)

        from_the_beginning = cost(connection, "offer", now)
        connection.execute("update minutehand.dispatcher set busy_since = now()")
        since = cost(connection, "offer", now)

    assert since < 30 < 10_000 < from_the_beginning


def test_offer_passes_no_groups_that_have_finished_since_an_old_snapshot(
    direct_database: servers.Database, connection: Connection
) -> None:
    later = datetime.now(UTC) + timedelta(minutes=30)
    with old_snapshot(direct_database):
        connection.execute(GROUPED, ["g", datetime.now(UTC), DEAD_ROWS])
        connection.execute("update minutehand.jobs set deleted = now() where deleted is null")
        connection.execute(GROUPED, ["h", later, 20])
        connection.execute("update minutehand.dispatcher set settled = %s, busy_since = now()", [later])
        database = minutehand.Database.borrow(connection)
        database.run("fold_lanes")
        database.run("raise_floor", now=later)

        assert cost(connection, "offer", later) < 1000


GROUPED = """insert into minutehand.jobs_live (kind, "group", visible)
    select 'echo', %s || n, %s from generate_series(1, %s) n"""
DEAD_ROWS = 100_000
BOUNDED = {"count_due": 1600, "take": 120, "offer": 1600, "raise_floor": 60}
DUE_LATER = "insert into minutehand.jobs_live (kind, visible) select 'echo', %s from generate_series(1, %s)"


def leave_dead_rows(connection: Connection, later: datetime) -> None:
    """Offer, claim and finish jobs under the old snapshot, then leave a few that are due much later."""
    database = minutehand.Database.borrow(connection)
    fill(connection, finished=0, due=DEAD_ROWS, scheduled=0)
    claim(database, offer(database, DEAD_ROWS, LEASE).offers, LEASE, GRACE)
    connection.execute("update minutehand.jobs set deleted = now() where deleted is null")
    connection.execute(DUE_LATER, [later, 1000])
    connection.execute("analyze minutehand.jobs_live")


def cost(connection: Connection, name: str, now: datetime) -> int:
    """Return the number of pages that a statement reads at a time."""
    parameters: dict[str, dict[str, object]] = {
        "count_due": {"limit": 1000},
        "offer": {"capacity": 50, "queues": [], "budgets": [], "ttl": LEASE},
        "take": {"queue": "default", "limit": 1, "lease": LEASE, "grace": GRACE, **ANY_TIME_AND_SLOT},
    }
    return explain(connection, name, {**parameters.get(name, {}), "now": now}).buffers
