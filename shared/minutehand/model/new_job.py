"""New job: the options of a job, and the checks that Python can make. The database checks the rest."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from minutehand.errors import InvalidJobError, PayloadError
from minutehand.model.key import Key, key_text
from minutehand.model.payload import encode
from minutehand.model.retry import Retry
from minutehand.model.rules import sentence

OnConflict = Literal["replace", "ignore", "raise", "merge"]
UniqueWhile = Literal["upcoming", "running"]


@dataclass(frozen=True)
class NewJob:
    """A job to enqueue.

    An option that is None takes the default of the kind, then of the queue, then of the table. `run_at` is an aware
    datetime, and one in the past means now; `delay` counts from now. `every` makes the job recur, in the time zone
    `zone`. `key` names one upcoming job of the queue; `on_conflict` and the options after it decide what happens when
    the key is taken, and for how long it is: see `enqueue`.
    """

    kind: str
    payload: object = None
    queue: str | None = None
    key: Key | None = None
    run_at: datetime | None = None
    delay: timedelta | None = None
    priority: int | None = None
    max_attempts: int | None = None
    retry: Retry | None = None
    timeout: timedelta | None = None
    headers: Mapping[str, str] | None = None
    every: str | None = None
    zone: str | None = None
    personal: bool | None = None
    tenant: str | None = None
    on_conflict: OnConflict | None = None
    unique_while: UniqueWhile | None = None
    unique_for: timedelta | None = None
    debounce: timedelta | None = None
    debounce_max: timedelta | None = None
    throttle: timedelta | None = None


def parameters(job: NewJob | InvalidJobError, clock: Callable[[], datetime]) -> dict[str, Any]:
    """Return the statement parameters in the order of COPY's columns; only recurring jobs call `clock`."""
    # Enqueue middleware has rejected it.
    if isinstance(job, InvalidJobError):
        raise job
    return {
        "kind": _typed(job.kind, str, "kind_is_a_name"),
        "payload": encode(job.payload),
        "queue": _typed(job.queue, str, "queue_is_a_name"),
        "key": key_text(job.key),
        "run_at": _first_moment(job, clock),
        "delay": _duration(job, "delay", "delay_is_not_negative"),
        "priority": _typed(job.priority, int, "priority_is_0_to_9"),
        "max_attempts": _typed(job.max_attempts, int, "max_attempts_is_at_least_1"),
        "retry": _retry(job.retry),
        "timeout": _duration(job, "timeout", "timeout_is_positive"),
        "headers": _headers(job.headers),
        "every": job.every,
        "zone": job.zone,
        "personal": _flag(job.personal),
        "tenant": _typed(job.tenant, str, "tenant_is_a_name"),
        "on_conflict": _typed(job.on_conflict, str, "on_conflict_is_known"),
        "unique_while": _typed(job.unique_while, str, "unique_while_is_known"),
        "unique_for": _duration(job, "unique_for", "period_is_positive"),
        "debounce": _duration(job, "debounce", "period_is_positive"),
        "debounce_max": _duration(job, "debounce_max", "debounce_max_is_longer"),
        "throttle": _duration(job, "throttle", "period_is_positive"),
        # The database creates it.
        "id": None,
    }


def check_fields(job: NewJob) -> dict[str, Any]:
    """Return the parameters of a job whose time does not matter."""
    return parameters(job, lambda: datetime.now(UTC))


def check_moment(moment: Any, name: str = "run_at") -> Any:
    """Return an aware datetime, or None; raise InvalidJobError, which names the parameter, for anything else."""
    _typed(moment, datetime, "moment_is_finite", f"{name} must be an aware datetime")
    if moment is not None and moment.utcoffset() is None:
        raise InvalidJobError(
            "moment_is_finite",
            f"{name} must have a time zone, as in datetime(..., tzinfo=ZoneInfo(...))",
        )
    return moment


def _first_moment(job: NewJob, clock: Callable[[], datetime]) -> datetime | None:
    """Return `run_at`, or for a recurring job without one, its first time."""
    if job.every is None and job.zone is None:
        return check_moment(job.run_at)  # type: ignore[no-any-return]
    from minutehand.model.recurrence import check, next_after

    if job.every is None:
        raise InvalidJobError("zone_is_of_every", sentence("zone_is_of_every"))
    check(job.every, job.zone)
    if job.run_at is None and job.delay is None:
        return next_after(job.every, job.zone, clock())
    return check_moment(job.run_at)  # type: ignore[no-any-return]


def _duration(job: NewJob, name: str, rule: str) -> Any:
    return _typed(getattr(job, name), timedelta, rule, f"{name} must be a timedelta")


def _flag(personal: Any) -> Any:
    if personal is not None and not isinstance(personal, bool):
        raise InvalidJobError("personal_is_yes_or_no", sentence("personal_is_yes_or_no"))
    return personal


def _typed(value: Any, kind: type, rule: str, message: str | None = None) -> Any:
    if value is not None and (not isinstance(value, kind) or isinstance(value, bool)):
        raise InvalidJobError(rule, f"{message or sentence(rule)}, got {type(value).__name__}")
    if isinstance(value, int) and not -(2**31) <= value < 2**31:
        raise InvalidJobError(rule, sentence(rule))
    return value


def _headers(headers: Any) -> str | None:
    if headers is None:
        return None
    _typed(headers, Mapping, "headers_are_strings")
    try:
        return encode(dict(headers))
    except PayloadError:
        raise InvalidJobError("headers_are_strings", sentence("headers_are_strings")) from None


def _retry(retry: Any) -> str | None:
    if retry is None:
        return None
    _typed(retry, Retry, "retry_is_a_strategy", "retry must be a minutehand.Retry")
    try:
        return json.dumps(retry.to_json(), allow_nan=False)
    except (TypeError, ValueError, AttributeError):
        raise InvalidJobError("retry_is_a_strategy", sentence("retry_is_a_strategy")) from None
