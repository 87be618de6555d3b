"""Ids by their first digits, as people type them, and the shortest ones that are unique."""

import re
from collections.abc import Iterable, Sequence
from uuid import UUID

from minutehand.database import Executor, Record, sync_or_async
from minutehand.errors import InvalidJobError, NotFoundError

# An id begins with its millisecond, in 12 digits. Fewer are accepted, but not printed: jobs of the same minute have the
# same first 8.
LEAST_DIGITS, PRINTED_DIGITS, DIGITS = 8, 12, 32
_PREFIX = re.compile(rf"[0-9a-f]{{{LEAST_DIGITS},{DIGITS - 1}}}")


def digits_of(text: str) -> str | None:
    """Return the digits of the first part of an id, without hyphens, or None if the text is not one."""
    digits = text.replace("-", "").lower()
    return digits if _PREFIX.fullmatch(digits) else None


@sync_or_async
async def find_id(executor: Executor, digits: str) -> UUID:
    """Return the id of the one job whose id begins with these digits.

    Raises NotFoundError if there is none, and InvalidJobError if there are several.
    """
    low, high = _range(digits)
    return _only(await executor.run("find_ids", low=low, high=high), digits, "job", "jobs")


@sync_or_async
async def find_batch(executor: Executor, digits: str) -> UUID:
    """Return the id of the one batch whose id begins with these digits; see `find_id`."""
    low, high = _range(digits)
    return _only(await executor.run("find_batches", low=low, high=high), digits, "batch", "batches")


@sync_or_async
async def short_ids(executor: Executor, ids: Sequence[UUID]) -> dict[UUID, str]:
    """Return the shortest part of each id that `find_id` finds, of at least 12 digits."""
    return await _short_ids(executor, "near_ids", ids)


@sync_or_async
async def short_batch_ids(executor: Executor, ids: Sequence[UUID]) -> dict[UUID, str]:
    """Return the shortest part of each id that `find_batch` finds, of at least 12 digits."""
    return await _short_ids(executor, "near_batches", ids)


async def _short_ids(executor: Executor, statement: str, ids: Sequence[UUID]) -> dict[UUID, str]:
    ranges = [_range(each.hex[:PRINTED_DIGITS]) for each in ids]
    records = await executor.run(
        statement, ids=list(ids), lows=[low for low, _ in ranges], highs=[high for _, high in ranges]
    )
    return {each["id"]: _short(each["id"], (each["below"], each["above"])) for each in records}


def _only(records: Sequence[Record], digits: str, noun: str, nouns: str) -> UUID:
    if not records:
        raise NotFoundError(f"no {noun} has an id that begins with {_hyphenated(digits)}")
    if len(records) > 1:
        found = ", ".join(f"{each['id']} ({each['label']})" for each in records)
        raise InvalidJobError(
            "id_is_unique",
            f"{_hyphenated(digits)} begins the ids of several {nouns}: {found}; add more digits",
        )
    found_id: UUID = records[0]["id"]
    return found_id


def _short(job_id: UUID, neighbors: Iterable[UUID | None]) -> str:
    common = max((_common(job_id.hex, each.hex) for each in neighbors if each), default=0)
    return _hyphenated(job_id.hex[: max(PRINTED_DIGITS, common + 1)])


def _common(one: str, other: str) -> int:
    """Return the number of equal digits at the beginning of two ids."""
    return next(
        place for place in range(DIGITS + 1) if one[: place + 1] != other[: place + 1] or place == DIGITS
    )


def _range(digits: str) -> tuple[UUID, UUID]:
    return UUID(digits.ljust(DIGITS, "0")), UUID(digits.ljust(DIGITS, "f"))


def _hyphenated(digits: str) -> str:
    parts = digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]
    return "-".join(filter(None, parts))
