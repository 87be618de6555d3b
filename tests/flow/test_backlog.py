"""A backlog whose workers are throttled for half an hour, and then released: what its invocations cost.

Ticks, offers, claims and outcomes are real. Lambda's queue is simulated. Time passes by moving the times of the rows.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from minutehand.handlers import HandlerTable
from minutehand.invocations.running import Invocation
from minutehand.model.invitation import parse
from minutehand.model.worker_route import WorkerRoutes
from minutehand.settings import Settings
from minutehand.tick import tick
from tests.conftest import NewDatabase
from tests.flow.lambda_queue import LambdaQueue
from tests.flow.stage import MINUTE, Flow
from tests.thorough import amount

JOBS = amount(1000, 10_000)
CONNECTIONS = 20
THROTTLED_MINUTES, A_MINUTE = amount(5, 30), 60
JOB_SECONDS, INVOCATION_SECONDS = 0.5, 60.0


@pytest.fixture
def flow(new_database: NewDatabase) -> Iterator[Flow]:
    flow = Flow(new_database(), home=None)  # type: ignore[arg-type]
    flow.sql(
        """insert into minutehand.jobs (kind, run_at, visible)
           select 'job', now(), now() from generate_series(1, %(jobs)s)""",
        jobs=JOBS,
    )
    yield flow
    flow.close()


class Workers:
    """The invocations of a worker, each with a clock of its own."""

    def __init__(self, flow: Flow, most: int) -> None:
        self._flow, self._most = flow, most
        self.attempts = 0

    def run(self, event: dict[str, Any]) -> float:
        """Run an invocation, and return its seconds."""
        seconds = 0.0

        def job() -> None:
            nonlocal seconds
            seconds += JOB_SECONDS

        def remaining() -> timedelta:
            return timedelta(seconds=INVOCATION_SECONDS - seconds)

        invocation = Invocation(
            self._flow.database, HandlerTable({"job": job}), remaining, timedelta(seconds=2)
        )
        invited = parse(event)
        first = invocation.run(invited)
        further = invocation.run_next(invited, self._most - len(first))
        self.attempts += len(first) + len(further)
        return seconds


@pytest.mark.thorough
@pytest.mark.parametrize(("capacity", "chunk", "most"), [(100, 1, 1), (200, 10, 1), (100, 1, 100)])
def test_throttled_backlog_costs_one_invocation_per_chunk(
    flow: Flow, capacity: int, chunk: int, most: int
) -> None:
    workers = Workers(flow, most)
    queue = LambdaQueue(workers.run, CONNECTIONS)
    settings = Settings(capacity=capacity, chunk=chunk, workers=WorkerRoutes("worker"))
    refused = minute = 0
    while flow.sql("select count(*) from minutehand.jobs_live") != [(0,)]:
        queue.per_minute = A_MINUTE if minute < THROTTLED_MINUTES else None
        refused += len(tick(flow.database, queue, settings).fan_out.refused)
        queue.pass_time(MINUTE)
        flow.pass_time(MINUTE)
        minute += 1

    chunks = JOBS / chunk
    print(
        f"{JOBS} jobs in chunks of {chunk}, up to {most} an invocation: {minute} minutes,"
        f" {queue.accepted / chunks:.3f} events and {queue.started / chunks:.3f} invocations per chunk,"
        f" {queue.dropped} dropped"
    )
    assert queue.started <= 1.02 * chunks
    assert refused == 0
    assert workers.attempts == JOBS
    assert flow.sql("select distinct failed, attempts from minutehand.jobs") == [(False, 1)]
