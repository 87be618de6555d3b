"""Re-encrypt pending payloads: with the current key, or for the job that a replay copied them to."""

import json
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from uuid import UUID

from minutehand.database import Executor, Record, sync_or_async_iterator
from minutehand.encryption import key_ring
from minutehand.encryption.envelope import Subject, bound_columns, decrypt, encrypt
from minutehand.errors import DecryptionError
from minutehand.operations.audit import record

CHUNK = 500
FIRST = UUID(int=0)
# Payloads in an error.
NAMED = 10


@sync_or_async_iterator
async def reencrypt(
    executor: Executor, *, queue: str | None = None, actor: str | None = None
) -> AsyncGenerator[int, None]:
    """Encrypt pending payloads under older keys with the current key; yield the number of payloads of each chunk.

    A job that changes meanwhile keeps its new payload. Raises KeyMissingError if a payload's key is not available;
    chunks that were written before stay. Schedules are included unless `queue` is given. Raises DecryptionError at the
    end if there are payloads that no key decrypts, such as forged ones, which stay as they are.
    """
    name, after, invalid = key_ring.current_name(), FIRST, list[str]()
    while rows := await executor.run("outdated_payloads", name=name, after=after, queue=queue, limit=CHUNK):
        yield await _reencrypt_payloads(executor, rows, invalid, actor)
        after = rows[-1]["id"]
    if queue is None and (rows := await executor.run("outdated_schedules", name=name)):
        yield await _reencrypt_schedules(executor, rows, invalid, actor)
    if invalid:
        more = f" and {len(invalid) - NAMED} more" if len(invalid) > NAMED else ""
        raise DecryptionError(
            f"these payloads cannot be decrypted and stay as they are: {', '.join(invalid[:NAMED])}{more}"
        )


async def rebind(executor: Executor, sources: Mapping[UUID, UUID]) -> None:
    """Re-encrypt payloads that were copied from other jobs to new ones; `sources` maps new ids to the others.

    A payload that is bound to the key needs no change, and thus no encryption key in this process.
    """
    found = await executor.run("encrypted_payloads", ids=[*sources, *sources.values()])
    rows = {row["id"]: row for row in found}
    pairs = [(rows[old], rows[new]) for new, old in sources.items() if new in rows and old in rows]
    # The keys may come from a service.
    changes = await executor.block(
        lambda: [(new, _reencrypted(old, new)) for old, new in pairs if _differ(old, new)]
    )
    await _write(executor, changes)


async def _reencrypt_payloads(
    executor: Executor, rows: Iterable[Record], invalid: list[str], actor: str | None
) -> int:
    """Write the payloads that can be decrypted, and add the names of the other jobs to `invalid`."""

    def changed() -> Iterator[tuple[Record, str]]:
        for row in rows:
            try:
                yield row, _reencrypted(row, row)
            except DecryptionError:
                invalid.append(f"job {row['id']}")

    changes = await executor.block(lambda: list(changed()))
    async with executor.transaction():
        written = await _write(executor, changes)
        await record(executor, "reencrypt", actor, written=written, what="payload")
    return written


async def _write(executor: Executor, changes: list[tuple[Record, str]]) -> int:
    if not changes:
        return 0
    ids, former = [row["id"] for row, _ in changes], [row["text"] for row, _ in changes]
    return len(
        await executor.run("replace_payloads", ids=ids, former=former, payloads=[text for _, text in changes])
    )


def _reencrypted(old: Record, new: Record) -> str:
    """Return the payload of one row encrypted for another, bound to the same columns as far as they have values."""
    subject, columns = Subject.of(new), bound_columns(new["payload"])
    bound = {name: getattr(subject, name) for name in columns}
    # A replay of a schedule's job, for example, has neither schedule nor key. After a rotation, the payload of a
    # recurring job without a key must stay that of its next occurrences.
    if old is not new and not any(bound[name] for name in columns if name not in ("kind", "queue", "tenant")):
        bound["id"] = subject.id
    return encrypt(decrypt(old["payload"], Subject.of(old)), Subject(**bound))


def _differ(old: Record, new: Record) -> bool:
    one, other = Subject.of(old), Subject.of(new)
    return any(getattr(one, name) != getattr(other, name) for name in bound_columns(old["payload"]))


async def _reencrypt_schedules(
    executor: Executor, rows: Iterable[Record], invalid: list[str], actor: str | None
) -> int:
    written = 0
    async with executor.transaction():
        for row in rows:
            subject = Subject(row["kind"], schedule=row["schedule"], tenant=row["tenant"])
            try:
                text = encrypt(decrypt(row["payload"], subject), subject)
            except DecryptionError:
                invalid.append(f"schedule {row['schedule']}")
                continue
            name = {"tenant": row["tenant"], "schedule": row["schedule"]}
            former = json.dumps(row["payload"])
            written += len(
                await executor.run("replace_schedule_payload", **name, former=former, payload=text)
            )
        await record(executor, "reencrypt", actor, written=written, what="schedules")
    return written
