"""Handlers that end in different ways, and the events they leave."""

from typing import Any

from minutehand import Cancel, Fail, Job
from minutehand.model.event import Event
from tests.queue.stage import LONG

MARK = "mark-4711"


def names(events: list[Event]) -> list[str]:
    return [event.name for event in events]


def cancels(_: Any) -> None:
    raise Cancel(MARK)


def fails(_: Any) -> None:
    raise Fail(MARK)


def breaks(_: Any) -> None:
    raise ValueError(MARK)


def extends(_: Any, job: Job) -> str:
    job.extend(LONG)
    return MARK
