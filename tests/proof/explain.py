"""What Postgres does for a statement, read from EXPLAIN (ANALYZE, BUFFERS), with all of it undone afterwards."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from minutehand.database import Connection
from minutehand.database.statements import statement


@dataclass(frozen=True)
class Plan:
    """A plan that was run once before, so that no buffer is counted for what a session looks up once."""

    root: dict[str, Any]

    @property
    def buffers(self) -> int:
        """How many pages of tables and indexes were looked at, in the cache or not."""
        return int(self.root["Shared Hit Blocks"] + self.root["Shared Read Blocks"])

    @property
    def indexes(self) -> set[str]:
        return {node["Index Name"] for node in self._nodes(self.root) if "Index Name" in node}

    @property
    def scanned(self) -> set[str]:
        """The tables that were read from end to end, those with next to nothing in them left out."""
        return {
            node["Relation Name"]
            for node in self._nodes(self.root)
            if node["Node Type"] == "Seq Scan" and node["Shared Hit Blocks"] + node["Shared Read Blocks"] > 10
        }

    @property
    def written(self) -> set[str]:
        """The tables whose rows were to be changed."""
        return {
            node["Relation Name"] for node in self._nodes(self.root) if node["Node Type"] == "ModifyTable"
        }

    @property
    def read(self) -> set[str]:
        """The tables that were looked into at all."""
        found = [node for node in self._nodes(self.root) if node["Node Type"] != "ModifyTable"]
        return {node["Relation Name"] for node in found if "Relation Name" in node}

    def _nodes(self, node: dict[str, Any]) -> Iterator[dict[str, Any]]:
        yield node
        for inner in node.get("Plans", []):
            yield from self._nodes(inner)


def explain(connection: Connection, name: str, parameters: dict[str, object]) -> Plan:
    """Run a statement twice and return the plan of the second time."""
    for _ in range(2):
        with connection.transaction(force_rollback=True):
            text = "explain (analyze, buffers, format json) " + statement(name)
            (told,) = connection.execute(text, parameters).fetchone()  # type: ignore[arg-type, misc]
    return Plan(told[0]["Plan"])
