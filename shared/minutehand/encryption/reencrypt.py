"""Rotate: what waits encrypted is encrypted anew, with the current key, or for the job that a replay made of it."""

import json
from collections.abc import Iterable, Iterator, Mapping
from uuid import UUID

from minutehand.database import Database, Record
from minutehand.encryption import key_ring
from minutehand.encryption.envelope import Subject, bound_columns, seal, unseal
from minutehand.operations.audit import record

MOST = 500
FIRST = UUID(int=0)


def rotate(database: Database, *, queue: str | None = None, who: str | None = None) -> Iterator[int]:
    """Encrypt with the current key what waits under another; yield how many payloads that was, chunk by chunk.

    A job that changes meanwhile keeps what it was given. Raises KeyMissingError for a payload whose key is not here,
    and what was written before stays. Schedules are rotated with the queue left out.
    """
    name, after = key_ring.current_name(), FIRST
    while rows := database.run("outdated_payloads", name=name, after=after, queue=queue, most=MOST):
        yield _written(database, rows, "payload", who)
        after = rows[-1]["id"]
    if queue is None and (rows := database.run("outdated_schedules", name=name)):
        yield _schedules(database, rows, who)


def rebind(database: Database, made_of: Mapping[UUID, UUID]) -> None:
    """Encrypt for new jobs what was copied from others and is bound to what these are; `made_of` names the others.

    A job with the same key as before needs nothing, and so no encryption key in this process.
    """
    found = database.run("encrypted_payloads", ids=[*made_of, *made_of.values()])
    rows = {row["id"]: row for row in found}
    pairs = [(rows[old], rows[new]) for new, old in made_of.items() if new in rows and old in rows]
    _write(database, [(new, _anew(old, new)) for old, new in pairs if _differ(old, new)])


def _written(database: Database, rows: Iterable[Record], what: str, who: str | None) -> int:
    anew = [(row, _anew(row, row)) for row in rows]
    with database.transaction():
        written = _write(database, anew)
        record(database, "rotate", who, written=written, what=what)
    return written


def _write(database: Database, anew: list[tuple[Record, str]]) -> int:
    if not anew:
        return 0
    ids, was = [row["id"] for row, _ in anew], [row["text"] for row, _ in anew]
    return len(database.run("replace_payloads", ids=ids, was=was, payloads=[text for _, text in anew]))


def _anew(old: Record, new: Record) -> str:
    """Return what was encrypted for one row as it is for another, bound to the same columns where it has them."""
    subject, named = Subject.of(new), bound_columns(new["payload"])
    kept = {name: getattr(subject, name) for name in named}
    if not any(kept[name] for name in named if name not in ("kind", "queue", "tenant")):
        kept["id"] = subject.id  # such as the replay of a schedule's job, which is of no schedule
    return encrypt(decrypt(old["payload"], Subject.of(old)), Subject(**kept))


def _differ(old: Record, new: Record) -> bool:
    one, other = Subject.of(old), Subject.of(new)
    return any(getattr(one, name) != getattr(other, name) for name in bound_columns(old["payload"]))


def _schedules(database: Database, rows: Iterable[Record], who: str | None) -> int:
    written = 0
    with database.transaction():
        for row in rows:
            subject = Subject(row["kind"], schedule=row["schedule"], tenant=row["tenant"])
            text = encrypt(decrypt(row["payload"], subject), subject)
            facts = {"tenant": row["tenant"], "schedule": row["schedule"], "was": json.dumps(row["payload"])}
            written += len(database.run("replace_schedule_payload", **facts, payload=text))
        record(database, "rotate", who, written=written, what="schedules")
    return written
