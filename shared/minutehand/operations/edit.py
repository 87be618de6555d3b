"""Edit: what an upcoming job carries and how it is tried is changed by hand, before any worker has it."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from enum import Enum
from functools import partial
from typing import Any, Final
from uuid import UUID

from minutehand.database import Database, Record
from minutehand.errors import InvalidJobError
from minutehand.model.new_job import NewJob, parameters
from minutehand.model.retry import Retry
from minutehand.operations.jobs import Change, change
from minutehand.settings import encrypts

FIELDS = ("payload", "headers", "priority", "max_attempts", "retry", "timeout")
TOLD = (
    "priority",
    "max_attempts",
    "retry",
    "timeout",
)  # what they were may be told; what a job carries may not


class Unset(Enum):
    """What stands for a field that stays as it is."""

    UNSET = "as it is"


UNSET: Final = Unset.UNSET


def edit(
    database: Database, ids: Sequence[UUID], *, payload: object = UNSET,
    headers: Mapping[str, str] | Unset | None = UNSET, priority: int | Unset = UNSET,
    max_attempts: int | Unset = UNSET, retry: Retry | Unset | None = UNSET,
    timeout: timedelta | Unset | None = UNSET, who: str | None = None,
) -> list[Change]:  # fmt: skip
    """Change what is said of jobs that have not begun; None takes headers, retry or timeout away.

    A running job is refused: its worker has read it already. One that is only offered is edited, and whoever claims
    it gets what it says then. The audit trail keeps which fields were changed, and what the policies were before.
    """
    named = dict(zip(FIELDS, (payload, headers, priority, max_attempts, retry, timeout), strict=True))
    said = {name: value for name, value in named.items() if value is not UNSET}
    if not said:
        raise InvalidJobError("edit_is_said", f"say what to change: {', '.join(FIELDS)}")
    for name in ("priority", "max_attempts"):
        if name in said and said[name] is None:
            raise InvalidJobError(f"{name}_is_said", f"{name} cannot be taken away")

    def facts(row: Record) -> dict[str, Any]:
        return {"fields": sorted(said)} | {f"was_{name}": row[name] for name in TOLD if name in said}

    if "payload" not in said or not encrypts():
        return change(database, "edit", ids, _parameters(said), who, facts)
    with database.transaction():  # each is encrypted for its job
        parts = [
            change(database, "edit", [job_id], partial(_encrypted, database, said), who, facts)
            for job_id in ids
        ]
    return [each for part in parts for each in part]


def _parameters(said: dict[str, Any]) -> dict[str, Any]:
    checked = parameters(NewJob("edited", **said), clock=_never)
    return {name: checked[name] for name in FIELDS} | {"fields": list(said)}


def _encrypted(database: Database, said: dict[str, Any], ids: list[UUID]) -> dict[str, Any]:
    from minutehand.encryption.envelope import (
        encrypt_for_row,  # here, so that who encrypts nothing does not pay for it
    )

    asked = _parameters(said)
    found = database.run("get", id=ids[0])
    return asked | ({"payload": encrypt_for_row(found[0], asked["payload"])} if found else {})


def _never() -> datetime:
    raise AssertionError("an edit has no moment")
