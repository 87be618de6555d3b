"""Late: jobs that have been due for some time."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from tests.queue.stage import Queue


def late(queue: Queue, *minutes: float, **options: Any) -> list[UUID]:
    """Enqueue jobs that have been due for these minutes."""
    ids = [queue.enqueue(**options) for _ in minutes]
    for job_id, each in zip(ids, minutes, strict=True):
        queue.pass_time(job_id, timedelta(minutes=each))
    return ids
