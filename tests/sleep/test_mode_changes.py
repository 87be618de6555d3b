"""The mode changes while jobs wait, are offered, run, and retry: none is lost, and none starts late."""

from collections.abc import Iterator
from datetime import datetime
from itertools import permutations

import pytest

from minutehand import Job
from minutehand.claim import claim
from minutehand.finish import finish
from minutehand.model.invitation import parse
from minutehand.model.outcome import Failed
from minutehand.waking import sleep
from tests.sleep.event_bridge import EventBridge
from tests.sleep.stack import MINUTE, SECOND, Stack

# They simulate many minutes, which takes as long as starting programs.
pytestmark = pytest.mark.programs

MODES = ("minute", "prompt", "sleep")
LEASE = 10 * MINUTE
NAMES = {"dead", "retried", "offered", "waiting", "later"}
ERROR = {"type": "ValueError", "message": "no"}
WHEN = "select payload #>> '{}', visible from minutehand.jobs_live"
LEFT = "select count(*) from minutehand.jobs_live"


@pytest.fixture
def stack(url_with_clock: str, event_bridge: EventBridge, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stack]:
    with Stack(url_with_clock, event_bridge, monkeypatch) as stack:
        yield stack


def running(stack: Stack, *names: str) -> list[Job]:
    """Return jobs that a worker runs."""
    stack.holds = True
    for name in names:
        stack.enqueue(name)
    stack.run(1)
    stack.holds = False
    offers = [offer for event in stack.take_events() for offer in parse(event).offers]
    return claim(stack.worker, offers, LEASE, SECOND)


def due(stack: Stack) -> dict[str, datetime]:
    """Return when each job becomes due, or its offer or its lease ends."""
    rows = stack.database.connection.execute(WHEN).fetchall()
    return {name: max(visible, stack.now) for name, visible in rows}


@pytest.mark.parametrize("finishes_after", [False, True], ids=["retried before", "retried after"])
@pytest.mark.parametrize(("old", "new"), [*permutations(MODES, 2)])
def test_change_of_the_mode_delays_no_job(stack: Stack, old: str, new: str, finishes_after: bool) -> None:
    stack.deploy(old)
    stack.run(1)
    jobs = running(stack, "dead", "retried")
    retried = next(job for job in jobs if job.payload == "retried")
    stack.loses = True
    stack.enqueue("offered")
    stack.run(1)
    stack.go(stack.now + 20 * SECOND)
    stack.enqueue("waiting")
    stack.enqueue("later", delay=40 * MINUTE)
    stack.loses = False
    if not finishes_after:
        fail(stack, retried)
    latest = due(stack)
    assert set(latest) == NAMES
    stack.deploy(new)
    stack.run(1)
    if finishes_after:
        # Running processes keep the variables with which they began.
        stack.use(old)
        fail(stack, retried)
        stack.enqueue("enqueued", delay=MINUTE)
        latest |= {name: time for name, time in due(stack).items() if name in ("retried", "enqueued")}
        stack.use(new)
    stack.run(60)

    assert {name: len(starts) for name, starts in stack.starts.items()} == dict.fromkeys(latest, 1)
    assert stack.database.connection.execute(LEFT).fetchone() == (0,)
    lateness = {name: stack.starts[name][0] - latest[name] for name in latest}
    assert max(lateness.values()) <= MINUTE, lateness


@pytest.mark.parametrize("old", ["minute", "prompt"])
def test_change_to_sleep_leaves_no_job_of_an_old_process_without_a_tick(stack: Stack, old: str) -> None:
    """Functions of the old mode request no wake-ups, and run for up to 15 minutes after the change."""
    stack.deploy(old)
    (retried,) = running(stack, "retried")
    stack.deploy("sleep")
    stack.run(5)
    stack.use(old)
    fail(stack, retried)
    stack.enqueue("enqueued")
    latest = due(stack)
    stack.use("sleep")
    stack.run(3)

    assert {name: len(starts) for name, starts in stack.starts.items()} == dict.fromkeys(latest, 1)
    assert all(stack.starts[name][0] - latest[name] <= MINUTE for name in latest)


def test_mode_sleep_stops_ticking_half_an_hour_after_a_change(stack: Stack) -> None:
    stack.deploy("minute")
    stack.run(1)
    stack.deploy("sleep")
    stack.run(30)

    assert stack.ticks == 31
    # The clock of the database goes on between two minutes of the stack, so half an hour may end just after a tick.
    stack.run(2)
    ticks = stack.ticks
    assert ticks in (32, 33)
    stack.run(10)
    assert stack.ticks == ticks


def fail(stack: Stack, job: Job) -> None:
    with sleep.invocation(stack.worker):
        assert finish(job, Failed(ERROR, MINUTE)).ending == "retrying"
