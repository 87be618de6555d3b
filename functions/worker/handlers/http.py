"""Deliver a job to a URL: as JSON, signed, and never to an address that is not public.

The environment decides what holds for all deliveries:

    MINUTEHAND_HTTP_SECRETS     the secrets to sign with, comma-separated, each whsec_ and base64; while they are
                                rotated, the new one and the old
    MINUTEHAND_HTTP_UNSIGNED    1: deliver unsigned where there is no secret; otherwise such a job is dead
    MINUTEHAND_HTTP_ALLOW       hosts (with or without a port), addresses and networks that are delivered to though
                                they are not public, comma-separated: api.internal,localhost:8080,10.1.0.0/16
    MINUTEHAND_HTTP_REDIRECTS   1: follow redirects, at most three; otherwise a redirect is a failure
"""

import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any, Literal

from minutehand import Fail, Job, RetryAfter, __version__

from ._addresses import Destination, Refused
from ._answer import kept, retry_at
from ._exchange import Answer, Deadline, Request, Undelivered
from ._send import location, send
from ._signature import Unsigned, signature

_PATIENCE = timedelta(seconds=30)
_MARGIN = timedelta(seconds=2)
_OURS = re.compile(
    r"host|content-length|transfer-encoding|connection|keep-alive|te|trailer|upgrade|expect|proxy-.*|accept-encoding"
    r"|idempotency-key|webhook-.*|minutehand-.*"
)
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9a-z-]+")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")


@dataclass(frozen=True)
class Delivery:
    """What to send where. Without a body only headers are sent; `timeout` is in seconds, 30 if not given."""

    url: str
    body: Any = None
    method: Literal["POST", "PUT", "PATCH", "DELETE", "GET"] = "POST"
    headers: dict[str, str] = field(default_factory=dict)
    timeout: float | None = None


def handle(payload: Delivery, job: Job) -> dict[str, Any]:
    """Deliver, and return the status, the body (JSON or text, at most 4 KiB) and the milliseconds it took.

    A 2xx is done. A 410, a refused address and a delivery that cannot be sent as it is are dead at once.
    All else is tried again: when the receiver says so in Retry-After, at most a day ahead, or by the job's strategy.
    """
    began = monotonic()
    answer = deliver(payload, job)
    if not 200 <= answer.status < 300:
        raise failure(answer)
    return {"status": answer.status, "body": kept(answer.body), "ms": round((monotonic() - began) * 1000)}


def deliver(payload: Delivery, job: Job, prefix: str = "") -> Answer:
    """Send a delivery and return the answer, whatever it is; raise Fail for what may not be sent.

    The id that is signed is the job's idempotency key, after a prefix where somebody has to tell such deliveries apart.
    """
    try:
        return send(_compose(payload, job, prefix), Deadline(_limit(payload, job).total_seconds()))
    except (Refused, Unsigned) as refusal:
        raise Fail(str(refusal)) from None


def _compose(payload: Delivery, job: Job, prefix: str) -> Request:
    if payload.method == "GET" and payload.body is not None:
        raise Refused("A GET has no body.")
    destination = Destination.read(payload.url)
    body = None if payload.body is None else json.dumps(payload.body, separators=(",", ":")).encode()
    headers = {
        "user-agent": f"minutehand/{__version__}",
        **({"content-type": "application/json"} if body else {}),
        **_checked(payload.headers),
        "accept-encoding": "identity",
        "idempotency-key": job.idempotency_key,
        "minutehand-queue": job.queue,
        "minutehand-job": str(job.id),
        "minutehand-attempt": str(job.attempt),
        **signature(prefix + job.idempotency_key, datetime.now(UTC), body or b""),
    }
    return Request(payload.method, destination, headers, body)


def _checked(headers: dict[str, str]) -> dict[str, str]:
    lowered = {name.lower(): value for name, value in headers.items()}
    if not all(_NAME.fullmatch(name) and _VALUE.fullmatch(value) for name, value in lowered.items()):
        raise Refused("A header has a character that no header may have, such as a line break.")
    if ours := [name for name in lowered if _OURS.fullmatch(name)]:
        raise Refused(f"The header {ours[0]} is not for a job to set.")
    return lowered


def _limit(payload: Delivery, job: Job) -> timedelta:
    if payload.timeout is not None and payload.timeout <= 0:
        raise Refused("The timeout is not more than zero seconds.")
    asked = _PATIENCE if payload.timeout is None else timedelta(seconds=min(payload.timeout, 86400))
    # The attempt needs a moment to write down what became of it.
    ours = job.remaining - min(_MARGIN, job.remaining / 10)
    if ours <= timedelta(0):
        raise Undelivered("The attempt has no time left to deliver in.")
    return min(asked, ours)


def failure(answer: Answer) -> Exception:
    """Return what the handler raises for an answer that is no success."""
    if answer.status == 410:
        return Fail(f"{answer} Gone: the receiver wants no more of these.")
    if 300 <= answer.status < 400:
        return Undelivered(f"{answer}, {_redirect(answer)}")
    moment = retry_at(answer.headers, datetime.now(UTC))
    if answer.status >= 400 and moment:
        return RetryAfter(moment, f"{answer} and asks to be tried again at {moment:%Y-%m-%d %H:%M:%S} UTC.")
    return Undelivered(f"{answer}.")


def _redirect(answer: Answer) -> str:
    try:
        return f"a redirect to {location(answer).origin}, which is not followed."
    except Refused:
        return "a redirect to a location that cannot be read."
