"""The time limit of a handler while objects are freed, where Python discards errors."""

import signal
from typing import Any

import pytest

from minutehand import Job
from minutehand.attempts.in_turn import run_jobs
from minutehand.handlers import HandlerTable
from tests.queue.stage import Queue
from tests.queue.test_time_limits import SECOND, loop
from tests.retries import IN_AN_HOUR

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


class FailsWhenFreed:
    """An object whose release fails."""

    def __del__(self) -> None:
        raise RuntimeError("closed twice")


def test_error_of_a_freed_object_does_not_interrupt_the_cleanup(queue: Queue) -> None:
    """It is raised while OutOfTime is handled, which is not lost."""
    left = []

    def clean(_payload: Any, _job: Job) -> None:
        freed = FailsWhenFreed()
        try:
            loop(_payload)
        finally:
            del freed
            left.append(signal.getitimer(signal.ITIMER_REAL)[0])

    queue.enqueue(timeout=SECOND, retry=IN_AN_HOUR)
    (ending,) = run_jobs(queue.take(1), HandlerTable({"echo": clean}), stopping=lambda: False)

    assert (ending.ending, left) == ("retrying", [0.0])
