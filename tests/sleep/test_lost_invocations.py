"""In mode prompt, while invocations are lost, each job starts within a minute after its time."""

from datetime import datetime, timedelta
from random import Random

import pytest

from tests.sleep.event_bridge import EventBridge
from tests.sleep.stack import MINUTE, NOON, SECOND, SETTINGS, Stack

# They simulate many minutes, which takes as long as starting programs.
pytestmark = pytest.mark.programs

JOBS, MINUTES = 60, 6


def test_jobs_start_at_the_next_tick_while_invocations_are_lost(
    url_with_clock: str, event_bridge: EventBridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of processes that enqueue are lost; a third of the jobs is due later."""
    due: dict[str, datetime] = {}
    random = Random(1)
    with Stack(url_with_clock, event_bridge, monkeypatch) as stack:
        stack.deploy("prompt")
        stack.run(1)

        def enqueue(name: str) -> None:
            delay = random.choice((0, 0, random.randrange(150))) * SECOND
            due[name] = stack.now + delay
            stack.loses = True
            stack.enqueue(name, delay=delay or None)
            stack.loses = False

        for number in range(JOBS):
            moment = stack.now + random.randrange(MINUTES * 60 * 1000) * timedelta(milliseconds=1)
            stack.at(moment, lambda name=str(number): enqueue(name))  # type: ignore[misc]
        stack.run(MINUTES + 5)
        found = dict(stack.starts)

    assert {name: len(starts) for name, starts in found.items()} == dict.fromkeys(due, 1)
    assert max(found[name][0] - due[name] for name in due) <= MINUTE


def test_jobs_start_after_all_invocations_were_lost(
    url_with_clock: str, event_bridge: EventBridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of the dispatcher are lost as well; the offers that it made last end after their time to live."""
    with Stack(url_with_clock, event_bridge, monkeypatch) as stack:
        stack.deploy("prompt")
        stack.run(1)
        stack.loses = True
        names = [str(number) for number in range(JOBS)]
        for number, name in enumerate(names):
            moment = stack.now + number * MINUTES * MINUTE / JOBS
            delay = number % 3 * SECOND * 40 or None
            stack.at(moment, lambda name=name, delay=delay: stack.enqueue(name, delay=delay))  # type: ignore[misc]
        stack.run(MINUTES)
        assert stack.starts == {}
        stack.loses, ended = False, stack.now
        stack.run(5)
        found = dict(stack.starts)

    assert {name: len(starts) for name, starts in found.items()} == dict.fromkeys(names, 1)
    assert max(starts[0] for starts in found.values()) <= max(ended, NOON) + SETTINGS.offer_ttl + MINUTE
