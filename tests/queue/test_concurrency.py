"""The async jobs of a chunk run at the same time, each with its own lease, time limit, context and outcome."""

import asyncio
from collections.abc import Callable
from contextvars import ContextVar
from datetime import timedelta
from typing import Any

import pytest

from minutehand import AsyncJob, Job
from minutehand.attempts.in_turn import run_jobs
from minutehand.handlers import HandlerTable
from minutehand.model.event import Event
from minutehand.model.outcome import Finish
from tests.event_loop import run_in_loop
from tests.queue.meeting import LIMIT, Meeting, endings, run
from tests.queue.stage import Queue

CITY: ContextVar[str] = ContextVar("CITY", default="none")


@pytest.mark.parametrize("start", ["main thread", "thread", "loop"])
def test_ten_async_jobs_are_inside_at_once(direct_queue: Queue, start: str) -> None:
    meeting = Meeting(10)

    async def attend(payload: int) -> int:
        await meeting.attend()
        return payload

    async def within_a_loop() -> list[Finish]:
        return run(direct_queue, {"attend": attend})

    ids = [direct_queue.enqueue("attend", n, timeout=LIMIT) for n in range(10)]
    if start == "loop":
        finishes = run_in_loop(within_a_loop())
    elif start == "thread":
        finishes = direct_queue.start(run, direct_queue, {"attend": attend}).result()
    else:
        finishes = run(direct_queue, {"attend": attend})

    assert endings(finishes) == ["done"] * 10
    assert [direct_queue.row(job_id).result for job_id in ids] == [*range(10)]
    assert meeting.most == 10


def test_number_of_jobs_at_once_is_limited(direct_queue: Queue) -> None:
    meeting = Meeting(3)

    async def attend(_payload: Any) -> None:
        await meeting.attend()

    for _ in range(9):
        direct_queue.enqueue("attend", timeout=LIMIT)

    assert endings(run(direct_queue, {"attend": attend}, concurrency=3)) == ["done"] * 9
    assert meeting.most == 3


def test_outcome_is_written_while_other_jobs_run(direct_queue: Queue) -> None:
    first = direct_queue.enqueue("first")

    async def quick(_payload: Any) -> None:
        pass

    async def slow(_payload: Any) -> str:
        while (state := direct_queue.sql(STATE, id=first)[0]["state"]) == "running":
            await asyncio.sleep(0)
        return str(state)

    second = direct_queue.enqueue("second", timeout=LIMIT)

    assert endings(run(direct_queue, {"first": quick, "second": slow})) == ["done", "done"]
    assert direct_queue.row(second).result == "done"


STATE = "select minutehand.state(j) as state from minutehand.jobs j where id = %(id)s"


def test_each_job_extends_its_own_lease(direct_queue: Queue) -> None:
    ids = [direct_queue.enqueue("work", n, timeout=LIMIT) for n in range(2)]
    meeting = Meeting(2)

    async def work(payload: int, job: AsyncJob) -> bool:
        if payload == 0:
            await job.extend(timedelta(hours=1))
        await meeting.attend()
        return job.remaining > LIMIT

    run(direct_queue, {"work": work})
    assert [direct_queue.row(job_id).result for job_id in ids] == [True, False]


def test_context_variables_of_concurrent_jobs_are_separate(direct_queue: Queue) -> None:
    meeting = Meeting(2)

    async def middleware(job: Job, call_next: Callable[[Job], Any]) -> Any:
        CITY.set(job.payload)
        await meeting.attend()
        return await call_next(job)

    async def work(_payload: Any) -> str:
        return CITY.get()

    ids = [direct_queue.enqueue("work", city, timeout=LIMIT) for city in ("Paris", "Rome")]
    table = HandlerTable({"work": work}, [middleware])
    run_jobs(direct_queue.take(2), table, stopping=lambda: False, concurrency=2)

    assert [direct_queue.row(job_id).result for job_id in ids] == ["Paris", "Rome"]
    assert CITY.get() == "none"


def test_sync_jobs_of_a_mixed_chunk_run_alone(direct_queue: Queue) -> None:
    meeting, steps = Meeting(2), list[str]()

    async def together(payload: str) -> None:
        steps.append(f"{payload} begins")
        await meeting.attend()
        steps.append("async ends")

    for priority, kind in enumerate(("sync", "async", "sync", "async", "sync"), start=1):
        direct_queue.enqueue(kind, kind, priority=10 - priority, timeout=LIMIT)
    finishes = run(direct_queue, {"sync": steps.append, "async": together})

    assert endings(finishes) == ["done"] * 5
    assert steps == ["sync", "async begins", "async begins", "async ends", "async ends", "sync", "sync"]


def test_stopping_worker_finishes_what_runs_and_releases_the_rest(direct_queue: Queue) -> None:
    meeting, stopped = Meeting(2), list[bool]()

    async def work(_payload: Any) -> None:
        await meeting.attend()
        stopped.append(True)

    for _ in range(4):
        direct_queue.enqueue("work", timeout=LIMIT)
    finishes = run(direct_queue, {"work": work}, concurrency=2, stopping=lambda: bool(stopped))

    assert endings(finishes) == ["done", "done", "released", "released"]


def test_error_of_the_worker_lets_running_jobs_end(direct_queue: Queue) -> None:
    running, broken, waiting = (direct_queue.enqueue("work", timeout=LIMIT) for _ in range(3))

    async def work(_payload: Any) -> None:
        """End after the task that starts the second job, which ends with its error."""
        remaining = 3  # the worker's, this job's, and the one that started it
        while len(asyncio.all_tasks()) > remaining:
            await asyncio.sleep(0)

    def fail(event: Event) -> None:
        if event.job == broken:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(direct_queue, {"work": work}, concurrency=2, hook=fail)

    # The second one keeps its claim, since its attempt has begun.
    states = [direct_queue.row(job_id).state for job_id in (running, broken, waiting)]
    assert states == ["done", "running", "due"]
