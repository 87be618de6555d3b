"""Receive a delivery in a route: verify and decrypt it, then answer with the outcome of the handler.

    200  the handler returned                                   done; the returned value is the result
    400  not a delivery of minutehand                           retried
    401  unsigned, signed with another secret, or too old       retried
    404  no such handler, for example during a deploy           released, which costs no attempt
    410  the handler raised Cancel or Fail                      cancelled, or dead
    413  too large                                              retried
    422  the payload does not match the handler's type          dead
    500  the handler raised any other error                     retried, by the job's retry strategy
    503  it raised RetryAfter or Snooze, or a key is missing    retried, or snoozed, until Retry-After

Where a status has two meanings, the header `minutehand-outcome` tells them apart. The `http` kind of a worker uses the
status alone.
"""

import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any
from uuid import UUID, uuid4

from minutehand.encryption.envelope import encrypt_result
from minutehand.errors import ConfigurationError, KeyMissingError, MismatchError, UnknownKindError
from minutehand.model.failure import redact
from minutehand.model.outcome import Cancel, Fail, RetryAfter, Snooze
from minutehand.model.payload import decode, encode
from minutehand.settings import is_local, secret
from minutehand.settings.table import ENCRYPT_RESULTS, REDACT_ERRORS
from minutehand.web.delivered_job import DeliveredJob
from minutehand.web.routes import Route
from minutehand.web.signatures import RESULT_ERROR_HEADER, ROUTE_ID_PREFIX, read_keys, verify

BODY_BYTES = 4 * 1024 * 1024
# A worker reads no more of a result.
RESULT_BYTES = 60 * 1024
LOCAL_SECONDS = 60.0

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class RouteResponse:
    """The response to a delivery; a handler may return one instead of a result."""

    status: int
    body: Any = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    def encoded(self) -> bytes:
        """Return the body as JSON."""
        return encode(self.body).encode()


class UnverifiedDelivery(Exception):
    """A delivery without a valid signature."""


class MalformedDelivery(Exception):
    """A request that is not a delivery."""


class UnverifiableDelivery(Exception):
    """A delivery that cannot be verified, because this application lacks a valid secret."""


def read_delivery(route: Route, headers: Mapping[str, str], body: bytes) -> DeliveredJob:
    """Verify a delivery and return its job; header names are in lower case. Pass any error to `failure`."""
    verified = _verify(route, headers, body)
    delivery = decode(body)
    if not isinstance(delivery, dict):
        raise MalformedDelivery("the body must be a JSON object")
    # A local run accepts {"kind": ..., "payload": ...}, which is easy to type.
    if not verified and "job" not in delivery:
        delivery = {"v": 1, "job": {"kind": delivery.get("kind")}, "payload": delivery.get("payload")}
    if delivery.get("v") != 1 or not isinstance(facts := delivery.get("job"), dict):
        raise MalformedDelivery("the body is not a delivery of minutehand, or has an unsupported version")
    job = _job(route, facts, delivery.get("payload"), verified)
    if job.queue != route.queue:
        raise MalformedDelivery(f"the job must be of queue {route.queue}")
    return job


def success(result: Any, job: DeliveredJob) -> RouteResponse:
    """Answer with the handler's result; the job is done even if its result cannot be stored."""
    if isinstance(result, RouteResponse):
        return result
    try:
        text: str | None = encode(result, "result")
        if text is not None and result is not None and ENCRYPT_RESULTS.read():
            text = encrypt_result(text, job)
        if text is not None and len(text.encode()) > RESULT_BYTES:
            raise ValueError(f"it must be at most {RESULT_BYTES} bytes")
    except ValueError as error:
        logger.warning("the result of job %s was not stored: %s", job.id, error)
        return RouteResponse(200, None, {RESULT_ERROR_HEADER: _header_text(_message(error))})
    return RouteResponse(200, None if text is None else decode(text))


def _header_text(text: str) -> str:
    return "".join(c if " " <= c <= "~" else "?" for c in text)[:200]


def failure(error: Exception) -> RouteResponse:
    """Answer with an error's type and message, or only an id under MINUTEHAND_REDACT_ERRORS."""
    match error:
        case Snooze() | RetryAfter():
            outcome = "snooze" if isinstance(error, Snooze) else "retry"
            retry_after = {"retry-after": str(max(1, math.ceil(error.delay.total_seconds())))}
            return _error(503, outcome, error, retry_after, error.delay)
        case Cancel() | Fail():
            return _error(410, "cancel" if isinstance(error, Cancel) else "dead", error)
        case MismatchError():
            return _error(422, "dead", error)
        case UnknownKindError():
            return _error(404, "unknown", error)
        case KeyMissingError():
            return _error(503, "keyless", error)
        case UnverifiedDelivery():
            return _error(401, "failed", error)
        case MalformedDelivery():
            return _error(400, "failed", error)
        case UnverifiableDelivery():
            return _error(500, "failed", ConfigurationError(str(error)))
    return _error(500, "failed", _visible(error))


def refusal(status: int, message: str) -> RouteResponse:
    """Answer a request that cannot be a delivery."""
    return _error(status, "failed", MalformedDelivery(message))


def _error(
    status: int,
    outcome: str,
    error: Exception,
    headers: Mapping[str, str] | None = None,
    delay: timedelta | None = None,
) -> RouteResponse:
    body: dict[str, Any] = {"error": {"type": type(error).__name__, "message": _message(error)}}
    if delay is not None:
        body["delay"] = delay.total_seconds()
    return RouteResponse(status, body, {"minutehand-outcome": outcome, **(headers or {})})


def _visible(error: Exception) -> Exception:
    if REDACT_ERRORS.read():
        return redact(error)
    logger.error("a handler failed", exc_info=error)
    return error


def _message(error: Exception) -> str:
    return str(error)[:1000].encode("utf-8", "replace").decode()


def _verify(route: Route, headers: Mapping[str, str], body: bytes) -> bool:
    if is_local() and "webhook-signature" not in headers:
        return False
    try:
        keys = read_keys(secret("MINUTEHAND_HTTP_SECRETS"), "MINUTEHAND_HTTP_SECRETS")
    except ConfigurationError as error:
        raise UnverifiableDelivery(str(error)) from None
    if not keys:
        raise UnverifiableDelivery("no secret to verify deliveries with; set MINUTEHAND_HTTP_SECRETS")
    if not verify(headers, body, keys, datetime.now(UTC), route.tolerance):
        raise UnverifiedDelivery("the signature is missing, wrong, or too old")
    if not headers["webhook-id"].startswith(ROUTE_ID_PREFIX):
        raise UnverifiedDelivery("the signature is not of a delivery to a route")
    return True


def _job(route: Route, facts: dict[str, Any], payload: Any, verified: bool) -> DeliveredJob:
    """Build the job of a delivery; errors quote no values."""
    import msgspec

    known = {name: value for name, value in facts.items() if name in _Facts.__dataclass_fields__}
    try:
        parsed = msgspec.convert({"queue": route.queue, "id": str(uuid4())} | known, type=_Facts)
    except msgspec.ValidationError as error:
        raise MalformedDelivery(f"the job is invalid: {error}") from None
    fields = {name: getattr(parsed, name) for name in _Facts.__dataclass_fields__}
    deadline = monotonic() + fields.pop("remaining")
    return DeliveredJob(**fields, payload=payload, verified=verified, deadline=deadline)


@dataclass(frozen=True)
class _Facts:
    kind: str
    queue: str
    id: UUID
    key: str | None = None
    tenant: str = ""
    schedule: str | None = None
    headers: dict[str, str] = field(default_factory=dict, repr=False)
    attempt: int = 1
    max_attempts: int = 1
    enqueued: datetime | None = None
    run_at: datetime | None = None
    nominal: datetime | None = None
    idempotency_key: str = ""
    remaining: float = LOCAL_SECONDS
