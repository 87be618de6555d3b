"""Enqueue the next generation, up to a limit."""

from typing import Any

from minutehand import Job, enqueue


def handle(payload: dict[str, Any], job: Job) -> None:
    if payload["more"]:
        enqueue("generation", {"more": payload["more"] - 1}, connection=job.database)
