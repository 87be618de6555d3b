"""Handlers that raise, and the attempts they leave."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from minutehand.model.row import Attempt
from minutehand.queries.jobs import list_attempts
from tests.queue.stage import Queue


def attempts_of(queue: Queue, job_id: UUID) -> list[Attempt]:
    return list_attempts(queue.database, job_id)


def only_attempt(queue: Queue, job_id: UUID) -> Attempt:
    attempts = attempts_of(queue, job_id)
    assert len(attempts) == 1
    return attempts[0]


def outcomes(queue: Queue, job_id: UUID) -> list[tuple[int, str]]:
    return [(each.attempt, each.outcome) for each in attempts_of(queue, job_id)]


def raising(error: BaseException) -> Callable[[Any], None]:
    def handler(_payload: Any) -> None:
        raise error

    return handler
