"""What a backlog costs: how many invocations a job, when Lambda throttles, and when it delivers everything twice."""

from collections import Counter
from collections.abc import Iterator, Sequence
from threading import Lock

import pytest

from emulator import Clock, Invocation, WellBehaved, throttled
from tests.conftest import NewDatabase
from tests.flow.stage import MINUTE, Emulated, Flow, emulated
from tests.thorough import amount

JOBS = amount(100, 300)
A_MINUTE = 60
CAPACITY = 50


class Throttle(WellBehaved):
    """Throttle workers: Lambda starts one per second of its clock, and rejects the others."""

    def __init__(self, clock: Clock) -> None:
        self._clock, self._next, self._lock = clock, 0.0, Lock()

    def before(self, invocation: Invocation) -> None:
        if invocation.function != "WorkerFunction":
            return
        with self._lock:
            if self._clock.now() < self._next:
                raise throttled("ReservedFunctionConcurrentInvocationLimitExceeded")
            self._next = self._clock.now() + MINUTE / A_MINUTE


class Twice(WellBehaved):
    """Deliver every event twice, also ticks."""

    def deliver(self, _: Invocation) -> Sequence[float]:
        return (0.0, 0.0)


@pytest.fixture
def flow(new_database: NewDatabase) -> Iterator[Flow]:
    """A database; a test opens the emulator."""
    flow = Flow(new_database(), home=None)  # type: ignore[arg-type]
    yield flow
    flow.close()


def minutes(flow: Flow, home: Emulated) -> Iterator[int]:
    """Advance the clock by minutes, each with a tick, until every job is finished."""
    minute = 0
    while flow.sql("select count(*) from minutehand.jobs_live") != [(0,)]:
        home.lambda_.tick()
        home.lambda_.pass_time(MINUTE, patience=300)
        flow.pass_time(MINUTE)
        minute += 1
        yield minute


@pytest.mark.thorough
def test_throttled_workers_need_at_most_1_05_invocations_per_job(flow: Flow) -> None:
    jobs = [flow.enqueue() for _ in range(JOBS)]
    clock = Clock(speed=0)

    # Otherwise the first workers would run all jobs.
    one = {"JobsPerInvocation": "1"}
    with emulated(flow.address.url, clock=clock, hooks=Throttle(clock), parameters=one) as home:
        for minute in minutes(flow, home):
            assert minute < JOBS, "they are never done"
        reading = home.lambda_.meter.functions["WorkerFunction"]

    assert reading.throttles > JOBS
    print(f"{JOBS} jobs in {minute} minutes: {reading}")
    assert reading.invocations <= 1.05 * JOBS
    assert reading.events <= 1.05 * JOBS + CAPACITY  # the capacity is offered before anything has lapsed
    assert Counter(flow.row(job).state for job in jobs) == {"done": JOBS}
    assert {flow.row(job).attempts for job in jobs} == {1}


@pytest.mark.thorough
def test_duplicate_delivery_claims_at_most_1_05_times_per_job(flow: Flow) -> None:
    jobs = [flow.enqueue(payload=number) for number in range(amount(40, 120))]

    with emulated(flow.address.url, hooks=Twice()) as home:
        for minute in minutes(flow, home):
            assert minute < 20, "they are never done"
        claims = [line for line in home.lines("WorkerFunction") if line.get("message") == "claimed"]
        reading = home.lambda_.meter.functions["WorkerFunction"]

    # Each event was delivered twice. There may be fewer events than jobs, because workers take further ones.
    assert reading.invocations > 1.5 * reading.events
    assert len(claims) <= 1.05 * len(jobs)
    assert {(flow.row(job).state, flow.row(job).attempts) for job in jobs} == {("done", 1)}
