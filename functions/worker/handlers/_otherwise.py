"""Take the kinds that have no file here: a job that is bound to a route is its application's to handle."""

from typing import Any

from minutehand import Job, UnknownKindError


def handle(payload: Any, job: Job) -> Any:
    """Deliver a job to the route that its header names; without one nobody here knows its kind."""
    if "minutehand-route" not in job.headers:
        raise UnknownKindError(f"no file {job.kind.replace('.', '/')}.py among the handlers")
    from ._route import deliver_to_route  # here, so that who has no routes does not pay for it

    return deliver_to_route(payload, job)


handle.takes_encrypted = True  # type: ignore[attr-defined] # what is encrypted is for the application, not for us
