"""Adaptation: how values travel between Python and Postgres, whatever a caller has registered on a connection."""

from datetime import timedelta
from functools import lru_cache
from typing import Any

import psycopg
from psycopg.adapt import Buffer, Dumper, Loader
from psycopg.types.datetime import IntervalLoader, TimestamptzLoader
from psycopg.types.uuid import UUIDLoader

from minutehand.model.payload import decode

# Beyond this a duration is sent in days: an interval holds more days than seconds, and then the rule refuses it.
LONGEST_IN_SECONDS = timedelta(days=100_000_000)


@lru_cache(maxsize=64)
def interval_text(duration: timedelta) -> str:
    """Return a duration as Postgres reads it, in seconds, because a day has 23 or 25 hours when clocks change."""
    if abs(duration) > LONGEST_IN_SECONDS:
        return f"{duration.days} days"
    whole = duration // timedelta(seconds=1)
    return f"{whole} seconds {(duration % timedelta(seconds=1)).microseconds} microseconds"


class SecondsDumper(Dumper):
    """Send durations in seconds; the driver would send days."""

    oid = psycopg.postgres.types["interval"].oid

    def dump(self, duration: timedelta) -> bytes:
        """Return the duration as the driver sends it."""
        return interval_text(duration).encode()


class DecodedLoader(Loader):
    """Read JSON exactly, and without an error for JSON that Python cannot represent."""

    def load(self, data: Buffer) -> Any:
        """Return the value."""
        return decode(str(data, "utf-8"))


LOADERS: dict[str, type[Loader]] = {
    "json": DecodedLoader,
    "jsonb": DecodedLoader,
    "interval": IntervalLoader,
    "timestamptz": TimestamptzLoader,
    "uuid": UUIDLoader,
}


def adapt(cursor: psycopg.Cursor[Any] | psycopg.AsyncCursor[Any], *, borrowed: bool) -> None:
    """Register our adapters on a cursor; on a caller's connection, which may have others, those for reading too."""
    cursor.adapters.register_dumper(timedelta, SecondsDumper)
    if borrowed:
        for name, loader in LOADERS.items():
            cursor.adapters.register_loader(name, loader)
