"""Edit the payload and the options of upcoming jobs."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, Final
from uuid import UUID

from minutehand.database import Executor, Record, sync_or_async
from minutehand.errors import InvalidJobError
from minutehand.model.new_job import NewJob, parameters
from minutehand.model.retry import Retry
from minutehand.operations.change import Change, apply
from minutehand.settings import encrypts

FIELDS = ("payload", "headers", "priority", "max_attempts", "retry", "timeout", "expires", "on_dead")
# The audit trail keeps the previous values of these. Payload, headers and on_dead may be private.
AUDITED = ("priority", "max_attempts", "retry", "timeout", "expires")


class Unset(Enum):
    """The type of UNSET, which stands for a field that does not change."""

    UNSET = "unset"


UNSET: Final = Unset.UNSET


@sync_or_async
async def edit(
    executor: Executor,
    ids: Sequence[UUID],
    *,
    payload: object = UNSET,
    headers: Mapping[str, str] | Unset | None = UNSET,
    priority: int | Unset = UNSET,
    max_attempts: int | Unset = UNSET,
    retry: Retry | Unset | None = UNSET,
    timeout: timedelta | Unset | None = UNSET,
    expires: timedelta | Unset | None = UNSET,
    on_dead: NewJob | str | Unset | None = UNSET,
    actor: str | None = None,
) -> list[Change]:
    """Edit upcoming jobs; return a Change for each. None removes headers, retry, timeout, expires or on_dead.

    A running job is refused, because its worker has already read it. A job that is only offered is edited, and the
    worker that claims it gets the new values. `expires` counts from run_at, and has no effect after the first attempt.
    The audit trail keeps the names of the edited fields, and the previous values of those that are not private. Raises
    InvalidJobError for values that enqueue would refuse.
    """
    values = (payload, headers, priority, max_attempts, retry, timeout, expires, on_dead)
    fields = dict(zip(FIELDS, values, strict=True))
    edits = {name: value for name, value in fields.items() if value is not UNSET}
    if not edits:
        raise InvalidJobError("edit_is_not_empty", f"expected at least one of {', '.join(FIELDS)}")
    for name in ("priority", "max_attempts"):
        if name in edits and edits[name] is None:
            raise InvalidJobError(f"{name}_is_required", f"{name} must not be null")

    def facts(row: Record) -> dict[str, Any]:
        return {"fields": sorted(edits)} | {f"was_{name}": row[name] for name in AUDITED if name in edits}

    async def change(ids: Sequence[UUID], values: dict[str, Any]) -> list[Change]:
        return await apply(executor, "edit", ids, values, actor=actor, facts=facts)

    if "payload" not in edits or not encrypts():
        return await change(ids, _parameters(edits))
    # Each payload is encrypted for its job.
    async with executor.transaction():
        parts = [await change([job_id], await _encrypted(executor, edits, job_id)) for job_id in ids]
    return [each for part in parts for each in part]


@sync_or_async
async def check_edits(executor: Executor, /, **edits: Any) -> None:
    """Raise InvalidJobError for values that `edit` would refuse, except a payload that is too large; change nothing."""
    values = _parameters(edits)
    del values["fields"]
    await executor.run("check_edits", **values)


def _parameters(edits: dict[str, Any]) -> dict[str, Any]:
    checked = parameters(NewJob("edited", **edits), clock=_no_clock)
    if encrypts():
        # Imported here, so that a process without encryption does not load the cryptography.
        from minutehand.encryption.envelope import refuse_clear_on_dead

        refuse_clear_on_dead(checked["on_dead"])
    return {name: checked[name] for name in FIELDS} | {"fields": list(edits)}


async def _encrypted(executor: Executor, edits: dict[str, Any], job_id: UUID) -> dict[str, Any]:
    from minutehand.encryption.envelope import encrypt_for_row

    values = _parameters(edits)
    found = await executor.run("get", id=job_id)
    if not found:
        return values
    # The key may come from a service.
    payload = await executor.block(lambda: encrypt_for_row(found[0], values["payload"]))
    return values | {"payload": payload}


def _no_clock() -> datetime:
    raise AssertionError("an edit must not need the time")
