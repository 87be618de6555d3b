"""A task that is cancelled while its call waits leaves the connection usable."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from minutehand import enqueue
from tests.integrations.callers import Caller
from tests.integrations.conftest import CALLERS, Scenario
from tests.queue.stage import Queue

Run = Callable[[Scenario], Any]


@pytest.mark.parametrize("kind", [kind for kind in CALLERS if kind.is_async], ids=lambda kind: kind.__name__)
def test_cancelled_call_leaves_the_connection_usable(run: Run, queue: Queue) -> None:
    async def scenario(caller: Caller) -> None:
        with queue.another().transaction() as locking:
            locking.execute("lock table minutehand.jobs_live")
            task = asyncio.ensure_future(enqueue("ship", connection=caller.connection))
            while not queue.sql("select pid from pg_locks where not granted"):
                await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        await caller.rollback()
        await caller.begin()
        await enqueue("again", connection=caller.connection)
        await caller.commit()

    run(scenario)

    assert [row["kind"] for row in queue.sql("select kind from minutehand.jobs")] == ["again"]
