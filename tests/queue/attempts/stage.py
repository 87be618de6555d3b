"""Handlers that raise, jobs whose outcomes are written together, and the attempts they leave."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from minutehand import Job
from minutehand.finish import finish_all
from minutehand.model.outcome import Finish, Outcome
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


def claimed(queue: Queue, count: int, **options: Any) -> list[Job]:
    return [queue.claimed(**options) for _ in range(count)]


def write(jobs: list[Job], *each: Outcome) -> list[Finish]:
    """Write the outcomes of jobs together; a single one is that of all."""
    given = each if len(each) > 1 else each * len(jobs)
    finishes = dict(finish_all(list(zip(jobs, given, strict=True))))
    return [finishes[place] for place in range(len(jobs))]


def endings(finishes: list[Finish]) -> list[str]:
    return [finish.ending for finish in finishes]
