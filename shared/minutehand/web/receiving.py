"""Receive: what a worker delivers to a route is verified, decrypted, handled, and answered with how it ended.

    200  the handler returned                                    done; what it returned is the result
    400  it is no delivery of minutehand's                       retried
    401  unsigned, signed with another secret, or too long ago   retried
    404  no such handler, as while a deploy is on its way        given back, without costing an attempt
    410  the handler raised Cancel or Fail                       cancelled, or dead
    413  too large                                               retried
    422  the payload is not what the handler asks for            dead
    500  the handler raised anything else                        retried, by the job's strategy
    503  it raised RetryAfter or Snooze, or a key is missing     retried, or back, at the moment of Retry-After

`minutehand-outcome` says which of two; a worker's http handler understands the status alone, too.
"""

import logging
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any
from uuid import UUID, uuid4

from minutehand.encryption.envelope import encrypt_result
from minutehand.errors import ConfigurationError, KeyMissingError, MismatchError, UnknownKindError
from minutehand.model.outcome import Cancel, Fail, RetryAfter, Snooze
from minutehand.model.payload import decode, encode
from minutehand.settings import secret
from minutehand.web.routes import Route
from minutehand.web.signatures import ROUTE, read_keys, verify

LARGEST = 4 * 1024 * 1024  # bytes of a delivery
MOST_RESULT = 60 * 1024  # bytes of a result; a worker reads no more
LOCAL_SECONDS = 60.0

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Answer:
    """What is answered; a handler may return one of its own."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def encoded(self) -> bytes:
        """Return the body as JSON."""
        return encode(self.body).encode()


@dataclass(eq=False, kw_only=True)
class Delivered:
    """The job as a handler behind a route sees it. `verified` is False for what was let in unsigned, locally."""

    id: UUID
    kind: str
    queue: str
    payload: Any = field(repr=False)
    key: str | None = None
    tenant: str = ""
    schedule: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    attempt: int = 1
    max_attempts: int = 1
    enqueued: datetime | None = None
    run_at: datetime | None = None
    nominal: datetime | None = None
    idempotency_key: str = ""
    verified: bool = False
    deadline: float = field(default=math.inf, repr=False)
    context: Any = field(default=None, repr=False)

    @property
    def remaining(self) -> timedelta:
        """How much time the worker waits for the answer, as far as this machine can tell."""
        return timedelta(seconds=max(0.0, self.deadline - monotonic()))

    @property
    def last(self) -> bool:
        """Whether a failure of this attempt is the job's death."""
        return self.attempt >= self.max_attempts

    @property
    def redelivered(self) -> bool:
        """Whether an earlier attempt may have got somewhere."""
        return self.attempt > 1


class Unverified(Exception):
    """A delivery that nobody who knows the secret has signed."""


class Malformed(Exception):
    """A body that is no delivery."""


def admit(route: Route, headers: Mapping[str, str], body: bytes) -> Delivered:
    """Return the job of a delivery, verified; header names are in lower case. Raises what `failure` answers."""
    verified = _verified(route, headers, body)
    told = decode(body)
    if not isinstance(told, dict):
        raise Malformed("it is not a JSON object")
    if not verified and "job" not in told:  # as somebody types it, locally
        told = {"v": 1, "job": {"kind": told.get("kind")}, "payload": told.get("payload")}
    if told.get("v") != 1 or not isinstance(facts := told.get("job"), dict):
        raise Malformed("it is no delivery of minutehand's, or of another version")
    job = _job(route, facts, told.get("payload"), verified)
    if job.queue != route.queue:
        raise Malformed("it is a job of another queue")
    return job


def success(result: Any, job: Delivered) -> Answer:
    """Answer with what the handler returned; work that is done stays done even when its result is not kept."""
    if isinstance(result, Answer):
        return result
    try:
        text: str | None = encode(result)
        if text is not None and result is not None and os.environ.get("MINUTEHAND_ENCRYPT_RESULTS") == "1":
            text = encrypt_result(text, job)
        if text is not None and len(text.encode()) > MOST_RESULT:
            raise ValueError(f"it is larger than {MOST_RESULT} bytes")
    except ValueError as error:
        logger.warning("the result of job %s was not kept: %s", job.id, error)
        text = None
    return Answer(200, None if text is None else decode(text))


def failure(error: Exception) -> Answer:
    """Answer with what went wrong: its type and message, or with MINUTEHAND_REDACT_ERRORS only an id of it."""
    match error:
        case Snooze() | RetryAfter():
            outcome = "snooze" if isinstance(error, Snooze) else "retry"
            again = {"retry-after": str(max(1, math.ceil(error.delay.total_seconds())))}
            return _told(503, outcome, error, again, error.delay)
        case Cancel() | Fail():
            return _told(410, "cancel" if isinstance(error, Cancel) else "dead", error)
        case MismatchError():
            return _told(422, "dead", error)
        case UnknownKindError():
            return _told(404, "unknown", error)
        case KeyMissingError():
            return _told(503, "keyless", error)
        case Unverified():
            return _told(401, "failed", error)
        case Malformed():
            return _told(400, "failed", error)
        case ConfigurationError():
            return _told(500, "failed", error)
    return _told(500, "failed", _redacted(error))


def refused(status: int, sentence: str) -> Answer:
    """Answer what did not get as far as a delivery."""
    return _told(status, "failed", Malformed(sentence))


def _told(
    status: int,
    outcome: str,
    error: Exception,
    headers: Mapping[str, str] | None = None,
    delay: timedelta | None = None,
) -> Answer:
    body: dict[str, Any] = {"error": {"type": type(error).__name__, "message": _message(error)}}
    if delay is not None:
        body["delay"] = delay.total_seconds()
    return Answer(status, body, {"minutehand-outcome": outcome, **(headers or {})})


class UnknownError(Exception):
    """Stands for an error that only the log tells of."""


def _redacted(error: Exception) -> Exception:
    if os.environ.get("MINUTEHAND_REDACT_ERRORS", "0") in ("", "0"):
        logger.error("a handler failed", exc_info=error)
        return error
    name = uuid4()
    logger.error("unknown error: %s", name, exc_info=error)
    return UnknownError(f"Unknown error: {name}")


def _message(error: Exception) -> str:
    return str(error)[:1000].encode("utf-8", "replace").decode()


def _verified(route: Route, headers: Mapping[str, str], body: bytes) -> bool:
    local = os.environ.get("MINUTEHAND_LOCAL") == "1" and "AWS_LAMBDA_FUNCTION_NAME" not in os.environ
    if local and "webhook-signature" not in headers:
        return False
    keys = read_keys(secret("MINUTEHAND_HTTP_SECRETS"), "MINUTEHAND_HTTP_SECRETS")
    if not keys:
        raise ConfigurationError("there is no secret to verify deliveries with: set MINUTEHAND_HTTP_SECRETS")
    if not verify(headers, body, keys, datetime.now(UTC), route.tolerance):
        raise Unverified("the signature is missing, wrong, or too old")
    if not headers["webhook-id"].startswith(ROUTE):
        raise Unverified("it was signed for something else than a route")
    return True


def _job(route: Route, facts: dict[str, Any], payload: Any, verified: bool) -> Delivered:
    """Build the job of a delivery; what is wrong with it is not quoted."""
    import msgspec

    known = {name: value for name, value in facts.items() if name in _Facts.__dataclass_fields__}
    try:
        read = msgspec.convert({"queue": route.queue, "id": str(uuid4())} | known, type=_Facts)
    except msgspec.ValidationError as error:
        raise Malformed(f"its job is not as it should be: {error}") from None
    said = {name: getattr(read, name) for name in _Facts.__dataclass_fields__}
    deadline = monotonic() + said.pop("remaining")
    return Delivered(**said, payload=payload, verified=verified, deadline=deadline)


@dataclass(frozen=True)
class _Facts:
    kind: str
    queue: str
    id: UUID
    key: str | None = None
    tenant: str = ""
    schedule: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    attempt: int = 1
    max_attempts: int = 1
    enqueued: datetime | None = None
    run_at: datetime | None = None
    nominal: datetime | None = None
    idempotency_key: str = ""
    remaining: float = LOCAL_SECONDS
