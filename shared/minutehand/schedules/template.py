"""Template: the job of a schedule as it is stored: JSON with the field names of the type `minutehand.new_jobs`."""

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from minutehand.errors import InvalidJobError
from minutehand.model.key import key_text
from minutehand.model.new_job import OPTIONS, NewJob
from minutehand.model.payload import encode
from minutehand.model.retry import Retry
from minutehand.model.rules import sentence
from minutehand.settings import encrypts

# The schedule decides these.
NOT_IN_TEMPLATE = {"run_at", "delay", "every", "zone", "tenant", "batch", "after", "after_failure"}


def check_job(job: object) -> None:
    """Raise InvalidJobError if a schedule cannot enqueue the job; the database checks the rest."""
    if not isinstance(job, NewJob):
        raise InvalidJobError("schedule_has_a_job", sentence("schedule_has_a_job"))
    given = sorted(name for name in NOT_IN_TEMPLATE if getattr(job, name, None) is not None)
    if given:
        raise InvalidJobError(
            "schedule_has_a_job", f"the job of a schedule must not have {given[0]}; the schedule decides it"
        )


def encode_job(job: NewJob) -> str:
    """Return the job as JSON, without fields that are None; the payload keeps every digit."""
    return _object({name: _encode(name, value) for name, value in _fields(job).items()})


def encode_secret(job: NewJob, schedule: str, tenant: str) -> str:
    """Return the job as it is stored; with a key, its payload is encrypted and bound to this schedule."""
    if not encrypts():
        return encode_job(job)
    # Imported here, because cryptography is slow to import.
    from minutehand.encryption.envelope import Subject, encrypt, refuse_clear_on_dead

    payload = encrypt(encode(job.payload), Subject(job.kind, schedule=schedule, tenant=tenant))
    refuse_clear_on_dead(None if job.on_dead is None else _encode("on_dead", job.on_dead))
    return _object(
        {name: _encode(name, value) for name, value in _fields(job).items()} | {"payload": payload}
    )


def _fields(job: NewJob) -> dict[str, Any]:
    values = {name: getattr(job, name) for name in OPTIONS if name not in NOT_IN_TEMPLATE}
    return {name: value for name, value in values.items() if value is not None}


def _object(parts: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{json.dumps(name)}: {text}" for name, text in parts.items()) + "}"


def _encode(name: str, value: Any) -> str:
    match value:
        case _ if name == "payload":
            return encode(value)
        case _ if name == "on_dead":
            return str(OPTIONS[name].check(value, name))
        case _ if name == "key":
            return encode(key_text(value))
        case Retry():
            return encode(value.to_json())
        case timedelta():
            return f'"{value.total_seconds():f} s"'
        case Mapping():
            return encode(dict(value))
    return encode(value)
