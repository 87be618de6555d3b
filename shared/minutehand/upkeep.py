"""Upkeep: what keeps the queue's table small and its scans short, done by every tick and every resident worker."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from minutehand.database import Database, Record

MOST_BURIED = 1000


@dataclass(frozen=True)
class Upkeep:
    """The jobs that ended as dead because their last worker never came back, and whether a sweep was made."""

    buried: tuple[Record, ...]
    swept: bool


@dataclass(frozen=True)
class Health:
    """What slows a queue down before anybody notices.

    The age of the oldest snapshot in this database, the dead rows for each live one, and of a hundred connections
    that the server allows, how many are open.
    """

    snapshot: timedelta
    dead_rows_per_live: int
    connections_percent: int


def keep_up(database: Database, now: datetime | None = None) -> Upkeep:
    """Bury what has no attempt left; raise the floors; every ten minutes sweep and make the days ahead."""
    buried = tuple(database.run("bury", most=MOST_BURIED, now=now))
    database.run("raise_floor", now=now)
    swept = bool(database.run("swept", now=now))
    if swept:
        database.run("sweep", now=now)
        database.run("make_days")
    return Upkeep(buried, swept)


def look(database: Database) -> Health:
    """Return how the database is; it costs the same however long the queue is."""
    return Health(**database.run("health")[0])
