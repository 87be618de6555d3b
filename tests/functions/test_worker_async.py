"""The worker runs the async jobs of an invocation at the same time."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from tests.functions.fleet import Fleet


def test_async_handler_file_runs(fleet: Fleet, handler: Callable[[str], str]) -> None:
    job = fleet.enqueue(handler("async def handle(payload): return payload\n"), 5)

    assert fleet.work({"queue": "default"}) == {"done": 1}
    assert fleet.row(job).result == 5


MEETING = """
import asyncio
inside, complete = [], asyncio.Event()
async def handle(payload):
    inside.append(payload)
    if len(inside) == 10:
        complete.set()
    await complete.wait()
    return payload
"""


def test_async_jobs_of_an_invocation_are_inside_at_once(
    fleet: Fleet, handler: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINUTEHAND_CHUNK", "10")
    kind = handler(MEETING)
    jobs = [fleet.enqueue(kind, n, timeout=timedelta(seconds=10)) for n in range(10)]
    fleet.tick()

    assert fleet.work(fleet.aws.events.pop()) == {"done": 10}
    assert [fleet.row(job).result for job in jobs] == [*range(10)]


def test_concurrency_of_a_worker_is_a_setting(
    fleet: Fleet, handler: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINUTEHAND_CHUNK", "2")
    monkeypatch.setenv("MINUTEHAND_CONCURRENCY", "1")
    kind = handler(
        "import asyncio\n"
        "inside = []\n"
        "async def handle(payload):\n"
        "    inside.append(payload)\n"
        "    await asyncio.sleep(0)\n"
        "    return len(inside) - inside.index(payload)\n"
    )
    jobs = [fleet.enqueue(kind, n) for n in range(2)]
    fleet.tick()

    assert fleet.work(fleet.aws.events.pop()) == {"done": 2}
    assert [fleet.row(job).result for job in jobs] == [1, 1]
