"""Template: the job of a schedule, as the row keeps it: JSON whose names are those of `minutehand.new_job`."""

import json
from collections.abc import Mapping
from dataclasses import fields
from datetime import timedelta
from typing import Any, get_args

from minutehand.errors import InvalidJobError
from minutehand.model.key import key_text
from minutehand.model.new_job import NewJob
from minutehand.model.payload import encode
from minutehand.model.retry import Retry
from minutehand.model.rules import sentence
from minutehand.settings import encrypts

NOT_OURS = {"run_at", "delay", "every", "zone", "tenant"}  # the schedule says when, and whose it is
SPANS = {each.name for each in fields(NewJob) if timedelta in get_args(each.type)}


def check_job(job: object) -> None:
    """Raise InvalidJobError for what no schedule can enqueue; the rest is the database's to say."""
    if not isinstance(job, NewJob):
        raise InvalidJobError("schedule_has_a_job", sentence("schedule_has_a_job"))
    said = sorted(name for name in NOT_OURS if getattr(job, name, None) is not None)
    if said:
        raise InvalidJobError("schedule_has_a_job", f"the schedule says when; its job has no {said[0]}")


def encode_job(job: NewJob) -> str:
    """Return the job as JSON; what is None is left out, and the payload keeps every digit."""
    return _object({name: _encoded(name, value) for name, value in _options(job).items()})


def encode_secret(job: NewJob, schedule: str, tenant: str) -> str:
    """Return the job as the row keeps it: its payload encrypted, for this schedule only, if this process has a key."""
    if not encrypts():
        return encode_job(job)
    # Imported only when used, for the sake of cold starts.
    from minutehand.encryption.envelope import Subject, encrypt

    payload = encrypt(encode(job.payload), Subject(job.kind, schedule=schedule, tenant=tenant))
    return _object(
        {name: _encoded(name, value) for name, value in _options(job).items()} | {"payload": payload}
    )

    payload = encrypt(encode(job.payload), Subject(job.kind, schedule=schedule, tenant=tenant))
    return _object(
        {name: _encoded(name, value) for name, value in _options(job).items()} | {"payload": payload}
    )


def _options(job: NewJob) -> dict[str, Any]:
    options = {each.name: getattr(job, each.name) for each in fields(NewJob) if each.name not in NOT_OURS}
    return {name: value for name, value in options.items() if value is not None}


def _object(parts: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{json.dumps(name)}: {text}" for name, text in parts.items()) + "}"


def _encoded(name: str, value: Any) -> str:
    match value:
        case _ if name == "payload":
            return encode(value)
        case _ if name == "key":
            return encode(key_text(value))
        case Retry():
            return encode(value.to_json())
        case timedelta():
            return f'"{value.total_seconds():f} s"'
        case Mapping():
            return encode(dict(value))
    return encode(value)


def decode_job(kept: Mapping[str, Any]) -> NewJob:
    """Return the job that the row keeps; fields that this code does not know are left out."""
    known = {each.name for each in fields(NewJob)}
    return NewJob(**{name: _decoded(name, value) for name, value in kept.items() if name in known})


def _decoded(name: str, value: Any) -> Any:
    if name in SPANS:
        return timedelta(seconds=float(value.removesuffix(" s")))
    if name == "retry":
        return Retry.from_json(value)
    return value
