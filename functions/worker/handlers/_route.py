"""Hand a job to the route it is bound to, as `minutehand.web` receives it, and take over how it ended there."""

import json
from datetime import timedelta
from typing import Any

from minutehand import Cancel, Fail, Job, RetryAfter, Snooze, UnknownKindError
from minutehand.errors import KeyMissingError, MismatchError
from minutehand.model.payload import Unreadable
from minutehand.web.signatures import ROUTE

from ._answer import kept
from ._exchange import Answer, Undelivered
from .http import Delivery, deliver, failure

_MOST = 64 * 1024
_OURS = ("minutehand-route",)
_MESSAGE = 1000


def deliver_to_route(payload: Any, job: Job) -> Any:
    """Post the job with its facts, signed, and return what its handler returned; raise what it raised."""
    if isinstance(payload, Unreadable):
        raise MismatchError(
            "the payload is JSON that Python does not read: too deep, or a number of too many digits"
        )
    time = job.remaining.total_seconds()
    delivery = Delivery(job.headers["minutehand-route"], _told(payload, job, time), timeout=max(time, 0.001))
    answer = deliver(delivery, job, ROUTE)
    if 200 <= answer.status < 300:
        return kept(answer.body, _MOST)
    raise _raised(answer)


def _told(payload: Any, job: Job, time: float) -> dict[str, Any]:
    headers = {name: value for name, value in job.headers.items() if name not in _OURS}
    moments = {"enqueued": job.enqueued, "run_at": job.run_at, "nominal": job.nominal}
    facts = {
        "id": str(job.id), "kind": job.kind, "queue": job.queue, "key": job.key, "tenant": job.tenant,
        "schedule": job.schedule, "headers": headers, "attempt": job.attempt, "max_attempts": job.max_attempts,
        **{name: moment and moment.isoformat() for name, moment in moments.items()},
        "idempotency_key": job.idempotency_key, "remaining": time,
    }  # fmt: skip
    return {"v": 1, "job": facts, "payload": payload}


def _raised(answer: Answer) -> Exception:
    """Return what the handler there raised; of any other answer, what the http handler makes of it."""
    told = _read(answer)
    message = f"{answer}: {told['type']}: {told['message']}" if told else ""
    delay = told.get("delay")
    match answer.headers.get("minutehand-outcome", "") if told else "":
        case "retry" if delay is not None:
            return RetryAfter(delay, message)
        case "snooze" if delay is not None:
            return Snooze(delay)
        case "cancel":
            return Cancel(told["message"])
        case "dead":
            return Fail(message)
        case "unknown":
            return UnknownKindError(message)
        case "keyless":
            return KeyMissingError(message)
        case "failed":
            return Undelivered(message)
    return failure(answer)


def _read(answer: Answer) -> dict[str, Any]:
    """Return what an answer of `minutehand.web` tells; nothing of any other."""
    try:
        told = json.loads(answer.body)
        texts = {name: str(told["error"][name])[:_MESSAGE] for name in ("type", "message")}
        delay = told.get("delay")
        return texts | {"delay": None if delay is None else timedelta(seconds=float(delay))}
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
        return {}
