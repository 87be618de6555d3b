"""Deliver a job to a URL and turn the response into a result or an error: the `http` kind."""

import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any, Literal

from minutehand import __version__
from minutehand.claimed_job import Job
from minutehand.model.outcome import Fail, RetryAfter
from minutehand.tracing.context import current
from minutehand.web.delivery.addresses import Destination, RefusedDelivery
from minutehand.web.delivery.exchange import Deadline, DeliveryRequest, DeliveryResponse, Undelivered
from minutehand.web.delivery.responses import retry_at, storable_body
from minutehand.web.delivery.send import location, send
from minutehand.web.delivery.signing import SigningError, signature_headers

_TIMEOUT = timedelta(seconds=30)
_MARGIN = timedelta(seconds=2)
_RESERVED = re.compile(
    r"host|content-length|transfer-encoding|connection|keep-alive|te|trailer|upgrade|expect|proxy-.*|accept-encoding"
    r"|idempotency-key|webhook-.*|minutehand-.*"
)
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9a-z-]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")


@dataclass(frozen=True)
class Delivery:
    """A request to send. Without a body only headers are sent; `timeout` is in seconds, 30 by default."""

    url: str
    body: Any = field(default=None, repr=False)
    method: Literal["POST", "PUT", "PATCH", "DELETE", "GET"] = "POST"
    headers: dict[str, str] = field(default_factory=dict, repr=False)
    timeout: float | None = None


def handle(payload: Delivery, job: Job) -> dict[str, Any]:
    """Deliver, and return the status, the body (JSON or text, at most 4 KiB) and the milliseconds it took.

    A 2xx completes the job. A 410, a refused address and an invalid delivery end it dead at once. Everything else is
    retried: at the time in Retry-After, at most a day ahead, or by the job's retry strategy.
    """
    began = monotonic()
    response = deliver(payload, job)
    if not 200 <= response.status < 300:
        raise failure(response)
    took_ms = round((monotonic() - began) * 1000)
    return {"status": response.status, "body": storable_body(response.body), "ms": took_ms}


def deliver(payload: Delivery, job: Job, id_prefix: str = "") -> DeliveryResponse:
    """Send a delivery and return the response, whatever its status; raise Fail if it must not be sent.

    The signed id is the job's idempotency key, after a prefix if receivers must distinguish such deliveries.
    """
    try:
        return send(_compose(payload, job, id_prefix), Deadline(_time_limit(payload, job).total_seconds()))
    except (RefusedDelivery, SigningError) as refusal:
        raise Fail(str(refusal)) from None


def _compose(payload: Delivery, job: Job, id_prefix: str) -> DeliveryRequest:
    if payload.method == "GET" and payload.body is not None:
        raise RefusedDelivery("A GET must not have a body.")
    destination = Destination.parse(payload.url)
    body = None if payload.body is None else json.dumps(payload.body, separators=(",", ":")).encode()
    headers = {
        "user-agent": f"minutehand/{__version__}",
        **({"content-type": "application/json"} if body else {}),
        **current().position(),
        **_checked(payload.headers),
        "accept-encoding": "identity",
        "idempotency-key": job.idempotency_key,
        "minutehand-queue": job.queue,
        "minutehand-job": str(job.id),
        "minutehand-attempt": str(job.attempt),
        **signature_headers(id_prefix + job.idempotency_key, datetime.now(UTC), body or b""),
    }
    return DeliveryRequest(payload.method, destination, headers, body)


def _checked(headers: dict[str, str]) -> dict[str, str]:
    lowered = {name.lower(): value for name, value in headers.items()}
    if not all(
        _HEADER_NAME.fullmatch(name) and _HEADER_VALUE.fullmatch(value) for name, value in lowered.items()
    ):
        raise RefusedDelivery("A header contains an invalid character, such as a line break.")
    if reserved := [name for name in lowered if _RESERVED.fullmatch(name)]:
        raise RefusedDelivery(f"A job must not set the header {reserved[0]}.")
    return lowered


def _time_limit(payload: Delivery, job: Job) -> timedelta:
    if payload.timeout is not None and payload.timeout <= 0:
        raise RefusedDelivery("timeout must be greater than 0 seconds.")
    requested = _TIMEOUT if payload.timeout is None else timedelta(seconds=min(payload.timeout, 86400))
    # Leave the attempt some time to store its outcome.
    available = job.remaining - min(_MARGIN, job.remaining / 10)
    if available <= timedelta(0):
        raise Undelivered("The attempt has no time left for a delivery.")
    return min(requested, available)


def failure(response: DeliveryResponse) -> Exception:
    """Return the error for a response that is not a success."""
    if response.status == 410:
        return Fail(f"{response} Gone: the receiver accepts no more deliveries.")
    if 300 <= response.status < 400:
        return Undelivered(f"{response}, {_describe_redirect(response)}")
    moment = retry_at(response.headers, datetime.now(UTC))
    if response.status >= 400 and moment:
        return RetryAfter(moment, f"{response}, retry after {moment:%Y-%m-%d %H:%M:%S} UTC.")
    return Undelivered(f"{response}.")


def _describe_redirect(response: DeliveryResponse) -> str:
    try:
        return f"a redirect to {location(response).origin}; redirects are not followed."
    except RefusedDelivery:
        return "a redirect to an invalid location."
