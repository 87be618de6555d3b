"""Emit: build the event of each transition."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from minutehand.claimed_job import Job
from minutehand.database import Record
from minutehand.model.event import Event, Name, ignore
from minutehand.model.offer import Offer
from minutehand.model.outcome import Error, Finish

if TYPE_CHECKING:
    # A worker imports neither before it enqueues a job.
    from minutehand.model.enqueued import Enqueued
    from minutehand.model.new_job import NewJob

__all__ = ["claimed", "enqueued", "finished", "halted", "ignore", "job_event", "offered", "row_event"]


def enqueued(new: "NewJob", result: "Enqueued") -> Event:
    """Return the event of an enqueue: created, replaced, merged or ignored."""
    from minutehand.model.key import key_text

    return Event(
        name="enqueued",
        job=result.id,
        queue=new.queue,
        kind=new.kind,
        key=key_text(new.key),
        tenant=new.tenant or "",
        facts={"outcome": result.outcome, "visible": result.visible},
    )


def offered(offer: Offer) -> Event:
    """Return the event of a job for which a worker was invited."""
    return Event(name="offered", job=offer.id, queue=offer.queue, kind=offer.kind, tenant=offer.tenant)


def claimed(job: Job) -> Event:
    """Return the event of an attempt that starts."""
    return job_event(job, "claimed", lateness_ms=_milliseconds(job.lateness))


def finished(job: Job, finish: Finish, ran_ms: int) -> Event:
    """Return the event of an attempt that ended."""
    facts: dict[str, Any] = {"ran_ms": ran_ms}
    if finish.visible is not None:
        facts["visible"] = finish.visible.isoformat()
    if finish.error is not None:
        # The message is left out: it may quote a payload.
        facts["error_type"] = finish.error["type"]
    if finish.next is not None:
        facts["next"] = str(finish.next)
    if finish.on_dead is not None:
        facts["on_dead"] = str(finish.on_dead)
    event = job_event(job, "retried" if finish.ending == "retrying" else finish.ending, **facts)
    return event if finish.error is None else replace(event, cause=_cause(job, finish.error))


def _cause(job: Job, error: Error) -> str:
    # Imported only when used, for the sake of cold starts.
    from minutehand.model.cause import masked_cause
    from minutehand.model.payload import is_encrypted

    if is_encrypted(job.payload):
        return str(error["type"])
    return masked_cause(error, job.payload, job.headers, job.key)


def job_event(job: Job, name: Name, **facts: Any) -> Event:
    """Return an event of a claimed job."""
    return Event(
        name=name,
        job=job.id,
        queue=job.queue,
        kind=job.kind,
        key=job.key,
        attempt=job.attempt,
        max_attempts=job.max_attempts,
        tenant=job.tenant,
        facts=facts,
    )


def row_event(name: Name, record: Record, **facts: Any) -> Event:
    """Return an event of a row, from the columns that a statement returned; `id` is required."""
    known: Mapping[str, Any] = {name: record.get(name) for name in ("queue", "kind", "key", "max_attempts")}
    attempt, tenant = record.get("attempts"), record.get("tenant") or ""
    return Event(name=name, job=record["id"], attempt=attempt, tenant=tenant, facts=facts, **known)


def halted(queue: str | None, error: BaseException) -> Event:
    """Return the event of a resident worker that stops for good, with its queue if it serves only one."""
    return Event(name="halted", queue=queue, facts={"error_type": type(error).__name__})


def _milliseconds(duration: timedelta) -> int:
    return round(duration.total_seconds() * 1000)
