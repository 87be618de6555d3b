"""Ids like the database's: UUIDs of version 7 (RFC 9562), which sort by the time of their creation."""

import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from struct import unpack
from uuid import UUID, SafeUUID

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
# The version, and the variant with 62 random bits.
_VERSION, _VARIANT, _RANDOM = 7 << 76, 2 << 62, (1 << 62) - 1
# The slots of a UUID. Its constructor checks its arguments, which takes three times as long.
_set_int: Callable[[UUID, int], None] = vars(UUID)["int"].__set__
_set_safe: Callable[[UUID, SafeUUID], None] = vars(UUID)["is_safe"].__set__
_UNKNOWN = SafeUUID.unknown


def uuid7(moment: datetime) -> UUID:
    """Return an id of this time."""
    return uuid7s(moment, [0])[0]


def uuid7s(moment: datetime, places: Sequence[int]) -> list[UUID]:
    """Return an id for each place, which is as many microseconds after the moment.

    An id has 48 bits of milliseconds and 12 bits of their fraction, as those of SQL's uuid7().
    """
    first = (moment - _EPOCH) // _MICROSECOND
    noise = unpack(f"{len(places)}Q", os.urandom(8 * len(places)))
    ids = [UUID.__new__(UUID) for _ in noise]
    for made, place, bits in zip(ids, places, noise, strict=True):
        time = first + place
        _set_int(
            made, time // 1000 << 80 | _VERSION | time % 1000 * 4096 // 1000 << 64 | _VARIANT | bits & _RANDOM
        )
        _set_safe(made, _UNKNOWN)
    return ids
