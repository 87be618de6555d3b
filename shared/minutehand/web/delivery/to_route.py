"""Deliver a job to the route it is bound to, and turn the response into the outcome of the attempt."""

import json
from datetime import timedelta
from typing import Any

from minutehand.claimed_job import Job
from minutehand.errors import KeyMissingError, MismatchError, UnknownKindError
from minutehand.model.outcome import Cancel, DroppedResult, Fail, RetryAfter, Snooze
from minutehand.model.payload import Unreadable
from minutehand.web.delivery.deliver import Delivery, deliver, failure
from minutehand.web.delivery.exchange import DeliveryResponse, Undelivered
from minutehand.web.delivery.responses import storable_body
from minutehand.web.signatures import RESULT_ERROR_HEADER, ROUTE_HEADER, ROUTE_ID_PREFIX

_RESULT_BYTES = 64 * 1024
_MESSAGE_CHARACTERS = 1000


def deliver_to_route(payload: Any, job: Job) -> Any:
    """Post the signed job and return the result of its handler; raise the error that the handler raised."""
    if isinstance(payload, Unreadable):
        raise MismatchError(
            "the payload cannot be decoded by Python: it is nested too deeply, or a number has too many digits"
        )
    seconds = job.remaining.total_seconds()
    body = _delivery_body(payload, job, seconds)
    response = deliver(
        Delivery(job.headers[ROUTE_HEADER], body, timeout=max(seconds, 0.001)), job, ROUTE_ID_PREFIX
    )
    if 200 <= response.status < 300:
        if reason := response.headers.get(RESULT_ERROR_HEADER):
            return DroppedResult(reason[:_MESSAGE_CHARACTERS])
        return storable_body(response.body, _RESULT_BYTES)
    raise _raised_error(response)


def _delivery_body(payload: Any, job: Job, seconds: float) -> dict[str, Any]:
    headers = {name: value for name, value in job.headers.items() if name != ROUTE_HEADER}
    moments = {"enqueued": job.enqueued, "run_at": job.run_at, "nominal": job.nominal}
    facts = {
        "id": str(job.id),
        "kind": job.kind,
        "queue": job.queue,
        "key": job.key,
        "tenant": job.tenant,
        "schedule": job.schedule,
        "headers": headers,
        "attempt": job.attempt,
        "max_attempts": job.max_attempts,
        **{name: moment and moment.isoformat() for name, moment in moments.items()},
        "idempotency_key": job.idempotency_key,
        "remaining": seconds,
    }
    return {"v": 1, "job": facts, "payload": payload}


def _raised_error(response: DeliveryResponse) -> Exception:
    """Return the error that the route's handler raised; for any other response, the error of a plain delivery."""
    error = _parse_error(response)
    message = f"{response}: {error['type']}: {error['message']}" if error else ""
    delay = error.get("delay")
    match response.headers.get("minutehand-outcome", "") if error else "":
        case "retry" if delay is not None:
            return RetryAfter(delay, message)
        case "snooze" if delay is not None:
            return Snooze(delay)
        case "cancel":
            return Cancel(error["message"])
        case "dead":
            return Fail(message)
        case "unknown":
            return UnknownKindError(message)
        case "keyless":
            return KeyMissingError(message)
        case "failed":
            return Undelivered(message)
    return failure(response)


def _parse_error(response: DeliveryResponse) -> dict[str, Any]:
    """Return type, message and delay of an error sent by `minutehand.web`; {} for any other response."""
    try:
        body = json.loads(response.body)
        texts = {name: str(body["error"][name])[:_MESSAGE_CHARACTERS] for name in ("type", "message")}
        delay = body.get("delay")
        return texts | {"delay": None if delay is None else timedelta(seconds=float(delay))}
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
        return {}
