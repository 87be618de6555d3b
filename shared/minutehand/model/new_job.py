"""New job: what an enqueuer says of a job, checked as far as Python can; the rest is the database's to say."""

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

    What is left None comes from the defaults of its kind, then of its queue, then from the table's. `run_at` is an
    aware moment, and one in the past means now; `delay` counts from now. `every` has it recur, by the clocks of
    `zone`. `key` names one upcoming job of the queue; `on_conflict` and what follows say what happens when the key is
    taken, and how long it is: see `enqueue`.
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
    """Return the parameters of a statement, in the order of COPY's columns; `clock` is asked for jobs that recur."""
    if isinstance(job, InvalidJobError):  # middleware has refused it
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
        "id": None,  # the database's to make
    }


def check_fields(job: NewJob) -> dict[str, Any]:
    """Return the fields of a job as a statement takes them, whenever it is to run."""
    return parameters(job, lambda: datetime.now(UTC))


def check_moment(moment: Any) -> Any:
    """Return an aware moment, or None; raise InvalidJobError for one without a time zone."""
    _typed(moment, datetime, "moment_is_finite", "run_at is an aware datetime")
    if moment is not None and moment.utcoffset() is None:
        raise InvalidJobError(
            "moment_is_finite",
            "run_at has no time zone; say which one, as datetime(..., tzinfo=ZoneInfo(...))",
        )
    return moment


def _first_moment(job: NewJob, clock: Callable[[], datetime]) -> datetime | None:
    """Return when the job is to run: as said, or, for one that recurs, at its next moment."""
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


def _typed(value: Any, kind: type, rule: str, says: str | None = None) -> Any:
    if value is not None and (not isinstance(value, kind) or isinstance(value, bool)):
        raise InvalidJobError(rule, f"{says or sentence(rule)}, got {type(value).__name__}")
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
