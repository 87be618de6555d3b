"""Whatever a handler does, its job ends and its worker continues."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Thread
from typing import Any
from uuid import UUID

import pytest

from minutehand import Cancel, Fail, RetryAfter, Snooze, enqueue
from minutehand.database import default_database, thread_database
from tests.queue.stage import Queue


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


@dataclass
class Declined(Fail):
    """Has no call of its parent's constructor."""

    code: int = 402


@dataclass
class Later(RetryAfter):
    code: int = 429


@dataclass
class Wait(Snooze):
    delay: Any = 60


POISONS: dict[str, Callable[[], BaseException]] = {
    "a message with a NUL": lambda: Cancel("a\0b"),
    "a message with a surrogate": lambda: Cancel("\udc80"),
    "a snooze of no duration": lambda: Snooze(5),  # type: ignore[arg-type]
    "a time without a zone": lambda: RetryAfter(datetime(2030, 1, 1)),
    "an invalid time": lambda: RetryAfter("tomorrow"),  # type: ignore[arg-type]
    "an error without a message": Mute,
    "a failure that its parent did not construct": Declined,
    "a retry that its parent did not construct": Later,
    "a snooze that its parent did not construct": Wait,
    "cancelled": asyncio.CancelledError,
    "the end of a generator": GeneratorExit,
    "an interrupt": KeyboardInterrupt,
    "the exit of the process": SystemExit,
}


@pytest.mark.parametrize("poison", POISONS.values(), ids=POISONS)
def test_any_exception_ends_the_last_attempt(queue: Queue, poison: Callable[[], BaseException]) -> None:
    def handler(_payload: Any) -> None:
        raise poison()

    job_id, ending = queue.attempt(handler, max_attempts=1)

    assert ending.ending in ("dead", "cancelled")
    assert queue.row(job_id).attempts == 1


@pytest.mark.parametrize("far", [Snooze(timedelta.max), RetryAfter(timedelta.max)], ids=["snooze", "retry"])
def test_excessive_retry_delay_is_limited_to_the_maximum_time(queue: Queue, far: Exception) -> None:
    def handler(_payload: Any) -> None:
        raise far

    job_id, ending = queue.attempt(handler, max_attempts=3)

    assert ending.ending in ("snoozed", "retrying")
    assert queue.row(job_id).visible.year > 9000


def test_finish_survives_a_connection_lost_during_the_handler(queue: Queue) -> None:
    def handler(_payload: Any) -> str:
        queue.sql(
            "select pg_terminate_backend(pid, 60000) from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid() and application_name = 'minutehand'"
        )
        return "result"

    job_id, ending = queue.attempt(handler)

    assert ending.ending == "done"
    assert queue.row(job_id).result == "result"


def test_superseded_job_keeps_its_error(queue: Queue) -> None:
    def handler(_payload: Any) -> None:
        queue.enqueue(key="k")
        raise ValueError("the real reason")

    job_id, ending = queue.attempt(handler, key="k")

    assert ending.ending == "superseded"
    assert "ValueError: the real reason" in (queue.row(job_id).error or {})["message"]


def test_threads_do_not_share_a_transaction(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", queue._url)
    enqueued: list[UUID] = []

    def other() -> None:
        enqueued.append(enqueue("echo").id)
        default_database().close()

    with pytest.raises(ZeroDivisionError), default_database().transaction():  # noqa: PT012
        enqueue("echo")
        thread = Thread(target=other)
        thread.start()
        thread.join()
        raise ZeroDivisionError
    default_database().close()
    thread_database.cache_clear()

    assert queue.row(enqueued[0]).state == "due"
    assert queue.sql("select count(*) from minutehand.jobs") == [{"count": 1}]
