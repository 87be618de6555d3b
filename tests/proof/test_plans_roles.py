"""Plans under row-level security: workers as the owner, operators about the same, tenants by their index."""

import re
from typing import Any
from uuid import UUID

import pytest
from backlog import Stock
from explain import Plan, explain

from minutehand.database import Connection
from minutehand.database.statements import statement
from tests.queue.roles.privileges import MAY

pytestmark = [pytest.mark.every_version, pytest.mark.plans]

# COPY has no plan.
NOT_EXPLAINED = {"copy_incoming"}
# These change the role of the session.
OTHERS = {"as_tenant", "leave_tenant"}
WORKERS = sorted({name for name, roles in MAY.items() if "worker" in roles} - NOT_EXPLAINED - OTHERS)
# Only ticks run these, and workers tick.
TICKS = {"due_schedules"}
OPERATORS = sorted(
    {name for name, roles in MAY.items() if "operator" in roles} - NOT_EXPLAINED - OTHERS - TICKS
)
# These count up to a thousand rows from an index without the tenant, so an operator reads the rows.
COUNTING = {
    "count_due": 1000,
    "depths": 400,
    "examine_queue": 1000,
    "system_versions": 300,
    "why_line": 400,
    # It notes the offers a second time: among the dead rows of the first time, which was rolled back.
    "withdraw_now": 300,
}
FEW = 12
LANES = 200
LANES_OF_OTHERS = """
insert into minutehand.lanes (queue, priority) select 'of-others-' || n, 5 from generate_series(1, %s) n
"""
FINISHED_OF_A_TENANT = """
insert into minutehand.jobs_done (tenant, queue, kind, visible, deleted)
select 'small', 'finished', 'echo', now(), now() from generate_series(1, 2000)
"""
SOME_OF_A_TENANT = """
insert into minutehand.jobs_live (tenant, kind, run_at, visible)
select 'small', 'echo', now(), now() + interval '1 day' from generate_series(1, %s)
returning id
"""


def shape(connection: Connection, name: str, parameters: dict[str, Any], role: str | None) -> Any:
    """Return the plan of a role, without its costs."""

    def strip(node: dict[str, Any]) -> Any:
        selected = {
            key: value
            for key, value in node.items()
            if key
            in (
                "Node Type",
                "Index Name",
                "Relation Name",
                "Index Cond",
                "Filter",
                "Recheck Cond",
                "Subplan Name",
            )
        }
        # Postgres runs leakproof conditions first if the table has policies for the role.
        selected["Filter"] = sorted(re.findall(r"[^\s()]+", node.get("Filter", "")))
        return selected | {"Plans": [strip(inner) for inner in node.get("Plans", [])]}

    with connection.transaction(force_rollback=True):
        if role:
            connection.execute(f"set local role {role}")  # type: ignore[arg-type]
        (row,) = connection.execute("explain (format json) " + statement(name), parameters).fetchone()  # type: ignore[arg-type, misc]
    return strip(row[0]["Plan"])


def explain_as(
    connection: Connection, role: str, name: str, parameters: dict[str, Any], tenant: str = ""
) -> Plan:
    """Run a statement twice as a role, and return the plan of the second time."""
    with connection.transaction(force_rollback=True):
        connection.execute(
            "select set_config('role', %s, true), set_config('minutehand.tenant', %s, true)", [role, tenant]
        )
        return explain(connection, name, parameters)


@pytest.mark.parametrize("name", WORKERS)
def test_worker_role_has_the_plans_of_the_owner(full: tuple[Connection, Stock], name: str) -> None:
    connection, stock = full
    parameters = stock.parameters(name)
    if missing := set(re.findall(r"%\((\w+)\)", statement(name))) - {*parameters}:
        pytest.skip(f"the stock has no {missing}")

    assert shape(connection, name, parameters, "minutehand_worker") == shape(
        connection, name, parameters, None
    )


@pytest.mark.parametrize("name", OPERATORS)
def test_operator_role_reads_about_as_many_pages_as_the_owner(
    full: tuple[Connection, Stock], name: str
) -> None:
    connection, stock = full
    parameters = stock.parameters(name)
    if missing := set(re.findall(r"%\((\w+)\)", statement(name))) - {*parameters}:
        pytest.skip(f"the stock has no {missing}")
    owners = explain(connection, name, parameters)

    plan = explain_as(connection, "minutehand_operator", name, parameters)

    # The one row of the dispatcher; its pages include those of the subqueries.
    assert plan.scanned - {"dispatcher"} <= owners.scanned
    assert plan.buffers <= owners.buffers * 1.3 + COUNTING.get(name, 30)


@pytest.mark.parametrize("name", ["list_jobs", "get", "get_states", "stats", "cancel", "search_dead"])
def test_small_tenant_reads_few_pages_next_to_large_tenants(
    full: tuple[Connection, Stock], name: str
) -> None:
    connection, stock = full
    with connection.transaction(force_rollback=True):
        ids: list[UUID] = [row[0] for row in connection.execute(SOME_OF_A_TENANT, [FEW]).fetchall()]
        connection.execute("analyze minutehand.jobs_live")
        parameters = stock.parameters(name)
        parameters |= {"ids": ids} if "ids" in parameters else {"id": ids[0]} if "id" in parameters else {}

        plan = explain_as(connection, "minutehand_tenant", name, parameters, "small")

    assert plan.buffers <= 500
    assert plan.scanned == set()


def test_tenant_reads_few_pages_for_each_lane_to_list_its_queues(full: tuple[Connection, Stock]) -> None:
    connection, stock = full
    with connection.transaction(force_rollback=True):
        connection.execute(SOME_OF_A_TENANT, [FEW])
        connection.execute(LANES_OF_OTHERS, [LANES])
        connection.execute(FINISHED_OF_A_TENANT)
        connection.execute("analyze minutehand.jobs")

        plan = explain_as(
            connection, "minutehand_tenant", "list_queues", stock.parameters("list_queues"), "small"
        )

    # Its 2,000 finished jobs are read once, not for each lane.
    assert plan.buffers <= 4 * LANES + 500
