"""New job: the options of a job, and the checks that Python can make. The database checks the rest."""

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID

from minutehand.errors import InvalidJobError, PayloadError
from minutehand.model.after import After, AfterFailure, after_ids
from minutehand.model.calendar import END, FIRST
from minutehand.model.key import Key, key_text
from minutehand.model.option import Option, boolean, declare, duration, integer, iso_duration, text, typed
from minutehand.model.payload import encode
from minutehand.model.retry import Retry
from minutehand.model.rules import sentence
from minutehand.model.set_at_once import set_at_once

OnConflict = Literal["replace", "ignore", "raise", "merge"]
UniqueWhile = Literal["upcoming", "running"]
# The options that the job of `on_dead` may have.
ON_DEAD_OPTIONS = frozenset(
    [
        "kind",
        "payload",
        "queue",
        "priority",
        "max_attempts",
        "retry",
        "timeout",
        "headers",
        "expires",
        "on_dead",
    ]
)


def check_time(moment: Any, name: str = "run_at") -> Any:
    """Return an aware datetime, or None; raise InvalidJobError, which names the parameter, for anything else."""
    typed(moment, datetime, "time_is_finite", f"{name} must be an aware datetime")
    if moment is not None and moment.utcoffset() is None:
        raise InvalidJobError(
            "time_is_finite",
            f"{name} must have a time zone, as in datetime(..., tzinfo=ZoneInfo(...))",
        )
    return moment


def check_calendar(moment: Any, name: str) -> Any:
    """Check a time like `check_time`, and that it lies in the years 1 to 9999 in every time zone; return it."""
    check_time(moment, name)
    if moment is not None and not FIRST <= moment < END:
        raise InvalidJobError("time_is_finite", f"{name} must be a time in the years 1 to 9999")
    return moment


def _payload(payload: Any, _name: str) -> str:
    return encode(payload)


def _key(key: Any, name: str) -> str | None:
    return key_text(key, name)


def _recurrence(value: Any, _name: str) -> Any:
    # `_first_time` has checked it.
    return iso_duration(value)


def encode_headers(headers: Any, _name: str = "headers") -> str:
    """Return headers as JSON; raise InvalidJobError if they are not texts."""
    typed(headers, Mapping, "headers_are_strings")
    try:
        return encode(dict(headers))
    except PayloadError:
        raise InvalidJobError("headers_are_strings", sentence("headers_are_strings")) from None


def _retry(retry: Any, _name: str) -> str:
    typed(retry, Retry, "retry_is_a_strategy", "retry must be a minutehand.Retry")
    try:
        return json.dumps(retry.to_json(), allow_nan=False)
    except (TypeError, ValueError, AttributeError):
        raise InvalidJobError("retry_is_a_strategy", sentence("retry_is_a_strategy")) from None


def callback_json(job: Any, name: str) -> str:
    """Return the job that an event creates as JSON with the field names of the type `minutehand.new_jobs`."""
    job = NewJob(job) if isinstance(job, str) else job
    if not isinstance(job, NewJob):
        raise InvalidJobError(
            "on_dead_is_a_job", f"{_named(sentence('on_dead_is_a_job'), name)}, got {type(job).__name__}"
        )
    given = {name: value for name in OPTIONS if (value := getattr(job, name)) is not None}
    if others := sorted(given.keys() - ON_DEAD_OPTIONS):
        raise InvalidJobError("on_dead_is_a_job", f"the job of {name} must not have {others[0]}")
    return options_json(given)


def _named(text: str, name: str) -> str:
    """Return the sentence about `on_dead` for a parameter of another name."""
    return text.replace("on_dead", name, 1)


def _batch(batch: Any, _name: str) -> str:
    return str(typed(batch, UUID, "batch_is_an_id"))


def options_json(given: Mapping[str, Any]) -> str:
    """Return options as JSON with the field names of the type `minutehand.new_jobs`; check their types."""
    values = {name: _json(OPTIONS[name], OPTIONS[name].check(value, name)) for name, value in given.items()}
    return "{" + ", ".join(f"{json.dumps(name)}: {text}" for name, text in values.items()) + "}"


def _json(option: Option, value: Any) -> str:
    if option.sql in ("json", "jsonb"):
        return str(value)
    return json.dumps(f"{value.total_seconds():f} s" if isinstance(value, timedelta) else value)


@set_at_once
@dataclass(frozen=True)
class NewJob:
    """A job to enqueue.

    An option that is None takes the default of the kind, then of the queue, then of the table. `run_at` is an aware
    datetime, and one in the past means now; `delay` counts from now. `every` makes the job recur, in the time zone
    `zone`. `key` names one upcoming job of the queue; `on_conflict` and the options after it decide what happens when
    the key is taken, and for how long it is: see `enqueue`. The jobs of a `group` run one at a time, unless a limit per
    group allows more. A job that has not started when `expires` has passed since
    `run_at` never runs. `on_dead` is a kind or a job to create if this one dies.
    `batch` is the id of the batch that the job belongs to. The job is due when those of `after` have ended: ids, jobs,
    or what enqueues returned. If one of them is dead, expired, cancelled or deleted, `after_failure` decides: "cancel"
    the job, which is the default, "run" it, or let it "wait" until a retry succeeds.
    The repr leaves out payload, headers and on_dead, which may be private.
    """

    # The declaration of all options. CONTRIBUTING.md shows how to add one, and tests/unit/test_job_options.py names
    # each place that lacks one.
    kind: str = field(metadata=text("kind_is_a_name"))
    payload: object = field(default=None, repr=False, metadata=declare("json", _payload))
    queue: str | None = field(default=None, metadata=text("queue_is_a_name"))
    key: Key | None = field(default=None, metadata=declare("text", _key))
    group: Key | None = field(default=None, metadata=declare("text", _key))
    run_at: datetime | None = field(default=None, metadata=declare("timestamptz", check_time))
    delay: timedelta | None = field(default=None, metadata=duration("delay_is_not_negative"))
    priority: int | None = field(default=None, metadata=integer("priority_is_0_to_9"))
    max_attempts: int | None = field(default=None, metadata=integer("max_attempts_is_at_least_1"))
    retry: Retry | None = field(default=None, metadata=declare("jsonb", _retry))
    timeout: timedelta | None = field(default=None, metadata=duration("timeout_is_positive", stored=True))
    headers: Mapping[str, str] | None = field(
        default=None, repr=False, metadata=declare("jsonb", encode_headers)
    )
    every: str | timedelta | None = field(default=None, metadata=declare("text", _recurrence))
    zone: str | None = field(default=None, metadata=declare("text", _recurrence))
    personal: bool | None = field(default=None, metadata=boolean("personal_is_yes_or_no"))
    tenant: str | None = field(default=None, metadata=text("tenant_is_a_name"))
    on_conflict: OnConflict | None = field(default=None, metadata=text("on_conflict_is_known", stored=False))
    unique_while: UniqueWhile | None = field(
        default=None, metadata=text("unique_while_is_known", stored=False)
    )
    unique_for: timedelta | None = field(default=None, metadata=duration("period_is_positive"))
    debounce: timedelta | None = field(default=None, metadata=duration("period_is_positive"))
    debounce_max: timedelta | None = field(default=None, metadata=duration("debounce_max_is_longer"))
    throttle: timedelta | None = field(default=None, metadata=duration("period_is_positive"))
    expires: timedelta | None = field(default=None, metadata=duration("expires_is_positive", stored=True))
    on_dead: "NewJob | str | None" = field(default=None, repr=False, metadata=declare("json", callback_json))
    batch: UUID | None = field(default=None, metadata=declare("uuid", _batch))
    after: After | None = field(default=None, metadata=declare("uuid[]", after_ids))
    after_failure: AfterFailure | None = field(default=None, metadata=text("after_failure_is_known"))


# Every option by its name, in the order of COPY's columns.
OPTIONS: dict[str, Option] = {each.name: each.metadata["option"] for each in fields(NewJob)}
_CHECKS = {name: declared.check for name, declared in OPTIONS.items()}
_NOT_GIVEN: dict[str, Any] = dict.fromkeys(OPTIONS)


def parameters(job: NewJob | InvalidJobError, clock: Callable[[], datetime]) -> dict[str, Any]:
    """Return the statement parameters in the order of COPY's columns; only recurring jobs call `clock`."""
    # Enqueue middleware has rejected it.
    if isinstance(job, InvalidJobError):
        raise job
    if job.every is not None or job.zone is not None:
        job = replace(job, run_at=_first_time(job, clock))
    values = _NOT_GIVEN.copy()
    # Only the options that were given, which are few.
    for name, value in vars(job).items():
        if value is not None and name in values:
            values[name] = _CHECKS[name](value, name)
    if job.payload is None:
        values["payload"] = encode(None)
    # The database creates it.
    values["id"] = None
    return values


def _first_time(job: NewJob, clock: Callable[[], datetime]) -> datetime | None:
    """Return the first time of a recurring job: its `run_at`, or the first time of its recurrence."""
    from minutehand.model.recurrence import check, next_after

    if job.every is None:
        raise InvalidJobError("zone_is_of_every", sentence("zone_is_of_every"))
    every = iso_duration(job.every)
    check(every, job.zone)
    if job.run_at is None and job.delay is None:
        return next_after(every, job.zone, clock())
    return job.run_at


def decode_job(stored: Any) -> NewJob:
    """Return a job that is stored as JSON; ignore fields that this code does not know.

    SQL can store anything as the job of a schedule. Values that this code cannot read stay as they are stored, and JSON
    that is not an object becomes the payload of a job without a kind.
    """
    if not isinstance(stored, Mapping):
        return NewJob("", payload=stored)
    fields = {name: _decode(name, value) for name, value in stored.items() if name in OPTIONS}
    return NewJob(**fields | {"kind": str(fields.get("kind") or "")})


def shown_options(job: NewJob, hidden: Collection[str]) -> dict[str, Any]:
    """Return the options that are set, except hidden ones, for a page; the job of `on_dead` likewise."""
    options = {name: value for name, value in vars(job).items() if value is not None and name not in hidden}
    return {
        name: shown_options(value, hidden) if isinstance(value, NewJob) else value
        for name, value in options.items()
    }


def _decode(name: str, value: Any) -> Any:
    if value is None:
        return None
    try:
        if OPTIONS[name].sql == "interval":
            return timedelta(seconds=float(str(value).removesuffix(" s")))
        if name == "retry":
            return Retry.from_json(value)
        return decode_job(value) if name == "on_dead" else value
    except (AttributeError, LookupError, OverflowError, RecursionError, TypeError, ValueError):
        return value
