"""Adaptation: how values travel between Python and Postgres, whatever a caller has registered on a connection."""

from collections.abc import Sequence
from datetime import timedelta
from functools import lru_cache
from struct import pack
from typing import Any, Self
from uuid import UUID

import psycopg
from psycopg.adapt import Buffer, Dumper, Loader
from psycopg.pq import Format
from psycopg.types.datetime import IntervalLoader, TimestamptzLoader
from psycopg.types.uuid import UUIDLoader

from minutehand.model.payload import decode

# Beyond this a duration is sent in days: an interval holds more days than seconds, and then the rule refuses it.
LONGEST_IN_SECONDS = timedelta(days=100_000_000)
UUID_OID, LENGTH_OF_UUID = psycopg.postgres.types["uuid"].oid, pack("!I", 16)


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


class UuidArray(bytes):
    """An array of UUIDs in binary.

    A statement that only receives 100 of them takes less than half of the server's time for their text. Building it
    takes less than a tenth of the driver's time for a list.
    """

    @classmethod
    def of(cls, ids: Sequence[UUID]) -> Self:
        """Return the array, which must not be empty."""
        # The dimensions, no nulls, the type of the elements, their number, the first index, and the first length.
        head = pack("!6I", 1, 0, UUID_OID, len(ids), 1, 16)
        return cls(head + LENGTH_OF_UUID.join([each.int.to_bytes(16, "big") for each in ids]))


class UuidArrayDumper(Dumper):
    """Send a UuidArray as it is."""

    oid = psycopg.postgres.types["uuid"].array_oid
    format = Format.BINARY

    def dump(self, array: UuidArray) -> bytes:
        """Return the array."""
        return array


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
    cursor.adapters.register_dumper(UuidArray, UuidArrayDumper)
    if borrowed:
        for name, loader in LOADERS.items():
            cursor.adapters.register_loader(name, loader)
