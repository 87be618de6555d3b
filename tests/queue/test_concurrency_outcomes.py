"""How one of several async jobs ends does not affect the others."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest

from minutehand import AsyncJob, Cancel, Fail, Snooze
from minutehand.attempts.in_turn import run_jobs
from minutehand.claim import take
from minutehand.handlers import HandlerTable
from tests.queue.meeting import LIMIT, Meeting, endings, run
from tests.queue.stage import LONG, Queue

SHORT = timedelta(milliseconds=150)


def test_job_that_fails_does_not_disturb_the_others(direct_queue: Queue) -> None:
    meeting, over = Meeting(6), asyncio.Event()

    def raising(error: BaseException) -> Callable[[Any], Any]:
        async def handle(_payload: Any) -> None:
            await meeting.attend()
            raise error

        return handle

    async def late(_payload: Any) -> None:
        try:
            await meeting.attend()
            await asyncio.Event().wait()
        finally:
            over.set()

    async def good(_payload: Any) -> None:
        await meeting.attend()
        # Ends after all others have.
        await over.wait()

    handlers = {
        "fails": raising(ValueError("no")),
        "exits": raising(SystemExit(1)),
        "cancels": raising(Cancel("void")),
        "cancelled": raising(asyncio.CancelledError()),
        "late": late,
        "good": good,
    }
    for kind in handlers:
        direct_queue.enqueue(kind, timeout=timedelta(seconds=1) if kind == "late" else LIMIT)
    finishes = run(direct_queue, handlers)

    assert endings(finishes) == ["retrying", "retrying", "cancelled", "retrying", "retrying", "done"]
    types = [(finish.error or {}).get("type") for finish in finishes]
    assert types == ["ValueError", "SystemExit", "Cancelled", "CancelledError", "OutOfTime", None]


@pytest.mark.parametrize("child", [False, True])
def test_handler_that_blocks_the_loop_is_interrupted_alone(direct_queue: Queue, child: bool) -> None:
    meeting = Meeting(2)

    async def block() -> None:
        while True:
            pass

    async def blocks(_payload: Any) -> None:
        await meeting.attend()
        await (asyncio.create_task(block()) if child else block())

    async def good(_payload: Any) -> None:
        await meeting.attend()
        await asyncio.sleep(0)

    direct_queue.enqueue("blocks", timeout=timedelta(seconds=1))
    direct_queue.enqueue("good", timeout=LIMIT)
    finishes = run(direct_queue, {"blocks": blocks, "good": good})

    assert endings(finishes) == ["retrying", "done"]
    assert (finishes[0].error or {})["type"] == "OutOfTime"


def test_handler_that_ignores_its_cancellation_loses_its_claim(direct_queue: Queue) -> None:
    async def ignore(_payload: Any) -> None:
        while True:
            with suppress(asyncio.CancelledError):
                await asyncio.Event().wait()

    async def good(_payload: Any) -> None: ...

    ids = [direct_queue.enqueue("ignore", timeout=SHORT), direct_queue.enqueue("good", timeout=LIMIT)]
    jobs = take(direct_queue.database, "default", 2, LIMIT, SHORT)
    table = HandlerTable({"ignore": ignore, "good": good})

    assert endings(run_jobs(jobs, table, lambda: False, concurrency=2)) == ["lost", "done"]
    assert [direct_queue.row(job_id).state for job_id in ids] == ["due", "done"]


def test_lost_claim_concerns_one_of_the_jobs(direct_queue: Queue) -> None:
    ids = [direct_queue.enqueue("work", n, timeout=LIMIT) for n in range(3)]
    meeting, other = Meeting(3), direct_queue.another()

    async def work(payload: int, job: AsyncJob) -> None:
        await meeting.attend()
        if payload == 1:
            direct_queue.pass_time(job.id)
            (taken,) = direct_queue.take(1, database=other)
            assert taken.id == job.id
        await job.check()

    assert endings(run(direct_queue, {"work": work})) == ["done", "lost", "done"]
    assert [direct_queue.row(job_id).state for job_id in ids] == ["done", "running", "done"]


def test_snoozed_job_and_dead_job_end_on_their_own(direct_queue: Queue) -> None:
    meeting = Meeting(2)

    async def work(payload: str) -> None:
        await meeting.attend()
        raise Fail("no") if payload == "dead" else Snooze(LONG)

    for payload in ("dead", "snoozed"):
        direct_queue.enqueue("work", payload, timeout=LIMIT)

    assert endings(run(direct_queue, {"work": work})) == ["dead", "snoozed"]
