"""Emit: build the event of each transition from what caused it."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from minutehand.database import Record
from minutehand.job import Job
from minutehand.model.enqueued import Enqueued
from minutehand.model.event import Event, Name
from minutehand.model.key import key_text
from minutehand.model.new_job import NewJob
from minutehand.model.offer import Offer
from minutehand.model.outcome import Finish


def enqueued(new: NewJob, became: Enqueued) -> Event:
    """Tell what became of a job that was enqueued: created, replaced, ignored."""
    facts = {"outcome": became.outcome, "visible": became.visible}
    return Event(
        name="enqueued", job=became.id, queue=new.queue, kind=new.kind, key=key_text(new.key),
        tenant=new.tenant or "", facts=facts,
    )  # fmt: skip


def offered(offer: Offer) -> Event:
    """Tell that a worker was invited to a job."""
    return Event(
        name="offered",
        job=offer.id,
        queue=offer.queue,
        kind=offer.kind,
        tenant=offer.tenant,
    )


def claimed(job: Job) -> Event:
    """Tell that a worker has begun."""
    return of(job, "claimed", lateness_ms=_ms(job.lateness))


def finished(job: Job, finish: Finish, ran_ms: int) -> Event:
    """Tell how an attempt ended."""
    facts: dict[str, Any] = {"ran_ms": ran_ms}
    if finish.visible is not None:
        facts["visible"] = finish.visible.isoformat()
    if finish.error is not None:
        facts["error_type"] = finish.error["type"]  # not its message, which may quote a payload
    if finish.next is not None:
        facts["next"] = str(finish.next)
    return of(job, "retried" if finish.ending == "retrying" else finish.ending, **facts)


def of(job: Job, name: Name, **facts: Any) -> Event:
    """Tell something of a claimed job."""
    return Event(
        name=name, job=job.id, queue=job.queue, kind=job.kind, key=job.key, attempt=job.attempt,
        max_attempts=job.max_attempts, tenant=job.tenant, facts=facts,
    )  # fmt: skip


def row(name: Name, record: Record, **facts: Any) -> Event:
    """Tell something of a row, by what a statement returned of it: at least its id."""
    known: Mapping[str, Any] = {name: record.get(name) for name in ("queue", "kind", "key", "max_attempts")}
    attempt, tenant = record.get("attempts"), record.get("tenant") or ""
    return Event(name=name, job=record["id"], attempt=attempt, tenant=tenant, facts=facts, **known)


def halted(queue: str, error: BaseException) -> Event:
    """Tell that a resident worker stops, since no further attempt would do better."""
    return Event(name="halted", queue=queue, facts={"error_type": type(error).__name__})


def nobody(_event: Event) -> None:
    """Tell nobody."""


def _ms(duration: timedelta) -> int:
    return round(duration.total_seconds() * 1000)
