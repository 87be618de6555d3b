"""Slots limit how many sessions of an archive read from the database at the same time.

A session reads a slice of pages in a transaction of its own, and holds the advisory lock of a slot until its end. The
archive's driver closes slots by taking their locks, so no message has to reach Spark's executors, and every slot opens
when the driver dies.
"""

from collections.abc import Callable

from minutehand_pipeline.errors import InputError
from minutehand_pipeline.queue.ranges import Pages

MOST = 64
# 4 MiB: a session frees its slot several times a second.
SLICE = 512
# The first of the two keys of each lock; the second is the number of the slot.
LOCKS = 607419049
# A pause of the archive may be longer than the time limits of the role.
WITHOUT_LIMITS = "select set_config('statement_timeout', '0', true), set_config('lock_timeout', '0', true)"


def check_slots(slots: int) -> int:
    """Return a number of slots. Raises InputError unless it is from 1 to 64."""
    if not 1 <= slots <= MOST:
        raise InputError(f"the number of readers must be from 1 to {MOST}, got {slots}")
    return slots


def take_slot(fetch_one: Callable[[str], object], slots: int) -> None:
    """Take the first free slot until the end of the transaction; if none is free, wait for the first slot.

    `fetch_one` runs a statement and returns its row, or None.
    """
    free = f"select slot from generate_series(0, {slots - 1}) slot where pg_try_advisory_xact_lock({LOCKS}, slot)"
    if fetch_one(f"{free} limit 1") is None:
        fetch_one(WITHOUT_LIMITS)
        fetch_one(wait_for_slot(0))


def wait_for_slot(slot: int) -> str:
    """Return the statement that waits for a slot, and takes it until the end of the transaction."""
    return f"select 1 from (select pg_advisory_xact_lock({LOCKS}, {slot})) waited"


def slices(pages: Pages, size: int) -> list[Pages]:
    """Split pages of a relation of `size` pages into slices. If their end is open, so is that of the last slice."""
    firsts = range(pages.first, size if pages.last is None else pages.last, SLICE)
    return [
        Pages(pages.relation, first, pages.last if first == firsts[-1] else first + SLICE) for first in firsts
    ]
