"""Handle the kinds that have no handler file: a job bound to a route is delivered to that route."""

from typing import Any

from minutehand.calling.modules import no_handler
from minutehand.claimed_job import Job
from minutehand.web.signatures import ROUTE_HEADER


def deliver_if_routed(payload: Any, job: Job) -> Any:
    """Deliver a job to the route in its header; raise UnknownKindError if it has none."""
    if ROUTE_HEADER not in job.headers:
        raise no_handler(job.kind)
    # Imported here, because it costs a cold start more than a worker without routes should pay.
    from minutehand.web.delivery.to_route import deliver_to_route

    return deliver_to_route(payload, job)


deliver_if_routed.takes_encrypted = True  # type: ignore[attr-defined] # only the route's application decrypts
