"""Plans of statements, from EXPLAIN (ANALYZE, BUFFERS) in a transaction that is rolled back."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from psycopg import sql

from minutehand.database import Connection, connect
from minutehand.database.statements import statement
from tests import servers


@dataclass(frozen=True)
class Plan:
    """A plan of the second run, so that buffers of the first catalog lookups are not counted."""

    root: dict[str, Any]

    @property
    def buffers(self) -> int:
        """The number of pages of tables and indexes that were read, from the cache or not."""
        return int(self.root["Shared Hit Blocks"] + self.root["Shared Read Blocks"])

    @property
    def indexes(self) -> set[str]:
        return {node["Index Name"] for node in self._nodes(self.root) if "Index Name" in node}

    @property
    def searched_for_ids(self) -> set[str]:
        """The indexes that were searched for the ids of rows."""
        return {
            node["Index Name"]
            for node in self._nodes(self.root)
            if "Index Name" in node and re.search(r"\bid = ", node.get("Index Cond", ""))
        }

    @property
    def scanned(self) -> set[str]:
        """The tables of more than 10 pages that were scanned in full, without Postgres' own, which stay small."""
        return {
            node["Relation Name"]
            for node in self._nodes(self.root)
            if node["Node Type"] == "Seq Scan"
            and not node["Relation Name"].startswith("pg_")
            and node["Shared Hit Blocks"] + node["Shared Read Blocks"] > 10
        }

    @property
    def parallel(self) -> bool:
        """Whether the plan starts parallel processes."""
        return any(node["Node Type"] in ("Gather", "Gather Merge") for node in self._nodes(self.root))

    @property
    def written(self) -> set[str]:
        """The tables that were written."""
        return {
            node["Relation Name"] for node in self._nodes(self.root) if node["Node Type"] == "ModifyTable"
        }

    @property
    def read(self) -> set[str]:
        """The tables that were read."""
        found = [node for node in self._nodes(self.root) if node["Node Type"] != "ModifyTable"]
        return {node["Relation Name"] for node in found if "Relation Name" in node}

    def _nodes(self, node: dict[str, Any]) -> Iterator[dict[str, Any]]:
        yield node
        for inner in node.get("Plans", []):
            yield from self._nodes(inner)


def explain(connection: Connection, name: str, parameters: dict[str, object]) -> Plan:
    """Run a statement twice and return the plan of the second time, without parallel processes.

    Whether they would take part depends on the time of day, and each of them reads the catalog.
    """
    for _ in range(2):
        with connection.transaction(force_rollback=True):
            connection.execute("set local max_parallel_workers_per_gather = 0")
            text = "explain (analyze, buffers, format json) " + statement(name)
            (row,) = connection.execute(text, parameters).fetchone()  # type: ignore[arg-type, misc]
    return Plan(row[0]["Plan"])


def parallel_in_large(connection: Connection, name: str, parameters: dict[str, object]) -> bool:
    """Whether parallel processes would take part if the tables were thirty times as large, as far as costs decide."""
    with connection.transaction(force_rollback=True):
        for setting in LARGE:
            connection.execute(setting)
        # It only plans: these costs are not those of the table as it is.
        (row,) = connection.execute("explain (format json) " + statement(name), parameters).fetchone()  # type: ignore[arg-type, misc]
    return Plan(row[0]["Plan"]).parallel


def explain_prepared(connection: Connection, name: str, parameters: dict[str, object]) -> Plan:
    """Do what `explain` does for the plan that a prepared statement has for all parameters."""
    names = list(dict.fromkeys(re.findall(r"%\((\w+)\)s", statement(name))))
    values = sql.SQL(", ").join(sql.Literal(parameters[each]) for each in names)
    with connection.transaction(force_rollback=True):
        connection.execute("set local plan_cache_mode = force_generic_plan")
        connection.prepare_threshold = 1
        with connection.transaction(force_rollback=True):
            connection.execute(statement(name), parameters, prepare=True)
            (prepared,) = connection.execute(NEWEST).fetchone()  # type: ignore[misc]
            execute = sql.SQL("explain (analyze, buffers, format json) execute {}({})")
            (row,) = connection.execute(execute.format(sql.Identifier(prepared), values)).fetchone()  # type: ignore[misc]
        connection.prepare_threshold = None
    return Plan(row[0]["Plan"])


def generic_plans(connection: Connection, name: str, parameters: dict[str, object], runs: int) -> int:
    """Return how many of the runs of a prepared statement used the plan for all parameters."""
    with connection.transaction(force_rollback=True):
        connection.prepare_threshold = 1
        for _ in range(runs):
            connection.execute(statement(name), parameters)
        connection.prepare_threshold = None
        (count,) = connection.execute(GENERIC_PLANS, [statement(name).partition("\n")[0]]).fetchone()  # type: ignore[misc]
    return int(count)


# The defaults, divided by thirty.
LARGE = (
    "set local min_parallel_table_scan_size = '272kB'",
    "set local min_parallel_index_scan_size = '16kB'",
    "set local parallel_setup_cost = 33",
)
GENERIC_PLANS = "select sum(generic_plans) from pg_prepared_statements where starts_with(statement, %s)"
NEWEST = "select name from pg_prepared_statements order by prepare_time desc limit 1"


@contextmanager
def old_snapshot(database: servers.Database) -> Iterator[None]:
    """Keep vacuum from removing the rows that this block deletes."""
    with connect(database.admin_url) as old, old.transaction():
        old.execute("set transaction isolation level repeatable read")
        old.execute("select 1")
        yield
