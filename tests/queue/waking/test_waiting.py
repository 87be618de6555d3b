"""The dispatcher waits inside its minute for jobs that become due, and returns when there are none."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from minutehand import Database
from minutehand.database import Record
from minutehand.operations.controls import limit, pause
from minutehand.waking.waiting import Wait, Waited
from tests.queue.stage import Queue

MINUTE = 60.0


class Minute:
    """A wait whose pauses take no time; `during` is called in each."""

    def __init__(self, queue: Queue, capacity: int = 10) -> None:
        self.queue, self.capacity = queue, capacity
        self.pauses: list[float] = []
        self.during: Callable[[], object] = lambda: None

    def wait(self, database: Database | None = None) -> Wait:
        return Wait(database or self.queue.database, self._dispatch, MINUTE, self.capacity, self._pause)

    def _dispatch(self) -> int:
        return len(self.queue.offer(self.capacity))

    def _pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        assert len(self.pauses) < 20, "the wait did not end"
        self.during()


@pytest.fixture
def minute(queue: Queue) -> Minute:
    return Minute(queue)


def test_dispatcher_returns_at_once_if_no_job_becomes_due(queue: Queue, minute: Minute) -> None:
    queue.enqueue(delay=timedelta(minutes=2))

    assert minute.wait().after_tick() == Waited(polls=2)
    assert minute.pauses == []
    assert queue.sql("select true as ended from minutehand.waiting where waiter is null")


@pytest.mark.fault("poll", r"visible <= now\(\) \+ %\(lasts\)s::interval\n", "false\n")
def test_dispatcher_looks_once_a_second_and_dispatches_when_a_job_is_due(
    queue: Queue, minute: Minute
) -> None:
    job = queue.enqueue(delay=timedelta(seconds=30))

    def third() -> None:
        if len(minute.pauses) == 3:
            queue.pass_time(job, timedelta())

    minute.during = third
    waited = minute.wait().after_tick()

    assert minute.pauses[:3] == [1.0, 1.0, 1.0]
    assert (waited.dispatches, waited.offered) == (1, 1)
    assert queue.row(job).state == "offered"


def test_job_in_less_than_a_second_is_waited_for_exactly(queue: Queue, minute: Minute) -> None:
    job = queue.enqueue(delay=timedelta(seconds=30))
    minute.during = lambda: queue.pass_time(job, timedelta(milliseconds=(-950, 0)[len(minute.pauses) > 1]))
    minute.wait().after_tick()

    assert minute.pauses[0] == 1
    assert 0 < minute.pauses[1] <= 0.95


def test_dispatcher_of_the_next_tick_takes_over(queue: Queue, minute: Minute) -> None:
    queue.enqueue(delay=timedelta(seconds=50))
    after = minute.wait()
    minute.during = lambda: after._begin(scheduled=True)

    minute.wait().after_tick()

    assert len(minute.pauses) == 1
    assert queue.sql("select waiter from minutehand.waiting where waiter is not null and until > now()")


def test_woken_dispatcher_does_not_wait_beside_another(queue: Queue, minute: Minute) -> None:
    queue.enqueue()
    queue.enqueue(delay=timedelta(seconds=50))
    minute.wait()._begin(scheduled=True)

    assert minute.wait().when_woken() == Waited(dispatches=1, offered=1)


class Late(Database):
    """Calls a function before the wait ends, as a process that enqueues at that moment."""

    def __init__(self, url: str, before_end: Callable[[], Any]) -> None:
        super().__init__(url)
        self._before_end = before_end

    def run(self, name: str, /, **parameters: object) -> list[Record]:
        if name == "end_wait":
            self._before_end()
        return super().run(name, **parameters)


def test_job_that_is_enqueued_when_the_wait_ends_is_dispatched(queue: Queue, minute: Minute) -> None:
    jobs: list[UUID] = []

    def enqueue() -> None:
        if not jobs:
            jobs.append(queue.enqueue())

    database = Late(queue.url, enqueue)
    assert minute.wait(database).after_tick().offered == 1
    assert queue.row(jobs[0]).state == "offered"
    database.close()


def test_line_for_which_there_is_no_room_is_waited_for(queue: Queue, minute: Minute) -> None:
    minute.capacity = 1
    first, second = queue.enqueue(), queue.enqueue()
    queue.offer(capacity=1)

    def third() -> None:
        if len(minute.pauses) == 3:
            queue.sql("delete from minutehand.jobs_live where offered is not null")

    minute.during = third
    waited = minute.wait().after_tick()

    assert (waited.dispatches, waited.offered) == (1, 1)
    assert queue.row(second).state == "offered", first
    # A worker may have ended just before the job became due. While there is no room for long, it polls once a second.
    assert minute.pauses[:3] == pytest.approx([0.1, 0.2, 0.4], abs=1e-6)


def test_dispatcher_looks_once_a_second_while_there_is_no_room(queue: Queue, minute: Minute) -> None:
    minute.capacity = 1
    queue.enqueue(), queue.enqueue()
    queue.offer(capacity=1)

    def seventh() -> None:
        if len(minute.pauses) == 7:
            queue.sql("delete from minutehand.jobs_live")

    minute.during = seventh
    minute.wait().after_tick()

    assert minute.pauses[:7] == pytest.approx([0.1, 0.2, 0.4, 0.8, 1.0, 1.0, 1.0], abs=1e-6)


def test_paused_jobs_are_not_waited_for(queue: Queue, minute: Minute) -> None:
    queue.enqueue()
    pause(queue.database, kind="echo")

    assert minute.wait().after_tick().offered == 0
    assert minute.pauses == []


@pytest.mark.fault("poll", r"\) as rated", ") and false as rated")
def test_next_start_of_a_rate_is_waited_for(queue: Queue, minute: Minute) -> None:
    limit(queue.database, kind="echo", rate=2, period=timedelta(minutes=1), burst=1)
    _, second = queue.enqueue(), queue.enqueue()
    queue.offer(capacity=10)
    queue.sql("delete from minutehand.jobs_live where offered is not null")
    wait = minute.wait()

    def third() -> None:
        wait._tried = 0.0
        if len(minute.pauses) == 3:
            queue.sql("update minutehand.rates set due = now()")

    minute.during = third
    waited = wait.after_tick()

    assert (len(minute.pauses), waited.offered) == (3, 1)
    assert queue.row(second).state == "offered"


def test_rate_that_allows_no_start_in_the_minute_is_not_waited_for(queue: Queue, minute: Minute) -> None:
    limit(queue.database, kind="echo", rate=1, period=timedelta(hours=1))
    queue.enqueue(), queue.enqueue()
    queue.offer(capacity=10)
    queue.sql("delete from minutehand.jobs_live where offered is not null")

    assert minute.wait().after_tick().offered == 0
    assert minute.pauses == []
