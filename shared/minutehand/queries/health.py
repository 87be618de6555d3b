"""Read what slows a queue down. Ticks and resident workers report it."""

from dataclasses import dataclass
from datetime import timedelta

from minutehand.database import Database


@dataclass(frozen=True)
class Health:
    """What slows a queue down.

    The age of the oldest snapshot in this database, dead rows for each live row, and open connections as a percentage
    of `max_connections`.
    """

    snapshot: timedelta
    dead_rows_per_live: int
    connections_percent: int

    def figures(self) -> dict[str, int]:
        """Return the figures by the names of their metrics."""
        return {
            "oldest_snapshot_ms": round(self.snapshot.total_seconds() * 1000),
            "dead_rows_per_live": self.dead_rows_per_live,
            "connections_percent": self.connections_percent,
        }


def check_health(database: Database) -> Health:
    """Return the database's health. The cost does not depend on the length of the queue."""
    return Health(**database.run("health")[0])
