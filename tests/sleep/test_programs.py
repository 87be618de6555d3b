"""In mode sleep, events that Lambda delivers twice, frozen processes and crashes lose no job and no wake-up."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime
from typing import Any

import pytest

from tests.sleep.event_bridge import EventBridge
from tests.sleep.program import LEASE
from tests.sleep.stage import HOUR, MINUTE, NOON, Stage
from tests.watchdog import line, watched

pytestmark = pytest.mark.programs

ENDED = (
    "select count(*) filter (where not failed) as done, max(attempts) as attempts from minutehand.jobs_done"
)


class Program:
    """A process that is ready for its event."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        assert line(process) == "ready\n"

    def send(self, event: dict[str, Any]) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(event) + "\n")
        self._process.stdin.flush()

    def send_until_frozen(self, event: dict[str, Any]) -> None:
        self.send(event)
        _, status = os.waitpid(self._process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status), f"the program did not freeze: status {status}"

    def go_on(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def result(self) -> Any:
        return json.loads(line(self._process))

    def code(self) -> int:
        return self._process.wait()


class Programs:
    """Starts programs, and ends them with the test."""

    def __init__(self, url: str) -> None:
        self._url, self._stack = url, ExitStack()

    def __call__(self, role: str) -> Program:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.sleep.program", role, self._url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return Program(self._stack.enter_context(watched(process)))

    def close(self) -> None:
        self._stack.close()


@pytest.fixture
def programs(stage: Stage) -> Iterator[Programs]:
    programs = Programs(stage.url)
    yield programs
    programs.close()


def ended(stage: Stage) -> Any:
    """The number of done jobs, and of the most attempts at one."""
    return stage.database.connection.execute(ENDED).fetchone()


def offers(events: list[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps(event) for event in events)


def test_event_delivered_twice_offers_and_runs_each_job_once(stage: Stage, programs: Programs) -> None:
    """Twice at the same time, and again minutes later, to dispatchers and to workers."""
    for _ in range(20):
        stage.enqueue()
    stage.go(NOON + MINUTE)
    pair = [programs("dispatcher"), programs("dispatcher")]
    for each in pair:
        each.send({})
    events = [event for each in pair for event in each.result()]
    assert len(set(offers(events))) == 20
    crew = [programs("worker") for _ in range(4)]
    for each, event in zip(crew, [events[0], events[0], events[1], events[1]], strict=True):
        each.send(event)
    assert sorted(each.result() for each in crew) == [[], [], ["done"], ["done"]]
    for event in events[2:]:
        stage.work(event)
    assert stage.wakeups("watch") == []
    stage.go(NOON + 4 * MINUTE)
    late = programs("dispatcher")
    late.send({})
    assert late.result() == []
    stage.work(events[0])

    assert ended(stage) == (20, 1)
    assert stage.wakeups("wake") == [NOON + MINUTE]
    assert to_come(stage) == []


def test_job_of_a_frozen_worker_runs_again_and_is_done_once(stage: Stage, programs: Programs) -> None:
    stage.enqueue("freeze")
    stage.go(NOON + MINUTE)
    (event,) = stage.tick()
    frozen = programs("worker")
    frozen.send_until_frozen(event)
    watch = next_wakeup(stage.event_bridge, NOON + MINUTE)
    assert watch <= NOON + MINUTE + LEASE + 2 * MINUTE
    (again,) = ticks_until_work(stage, watch)
    other = programs("worker")
    other.send(again)
    assert other.result() == ["done"]
    frozen.go_on()

    assert frozen.result() == ["lost"]
    assert ended(stage) == (1, 2)
    assert to_come(stage) == []


def test_offers_of_a_frozen_dispatcher_are_made_again(stage: Stage, programs: Programs) -> None:
    """It has offered the job and created no wake-up. Lambda delivers its event again when its time is over."""
    stage.enqueue()
    stage.go(NOON + MINUTE)
    frozen = programs("dispatcher")
    frozen.send_until_frozen({"freeze": True})
    stage.go(NOON + 3 * MINUTE)
    repeated = programs("dispatcher")
    repeated.send({})
    events = repeated.result() or ticks_until_work(stage, next_wakeup(stage.event_bridge, NOON + 3 * MINUTE))
    stage.work(events[0])
    frozen.go_on()
    (stale,) = frozen.result()
    stage.work(stale)

    assert ended(stage) == (1, 1)
    assert to_come(stage) == []


def test_crash_between_wakeup_and_commit_costs_one_tick(stage: Stage, programs: Programs) -> None:
    user = programs("user")
    user.send({"url": stage.url})
    assert user.code() == -signal.SIGKILL
    (minute,) = stage.wakeups("wake")
    assert minute <= NOON + HOUR + 2 * MINUTE
    stage.go(minute)

    assert stage.tick() == []
    assert stage.wakeups("wake") == [minute]


def to_come(stage: Stage) -> list[datetime]:
    """The wake-ups that have not fired: moto deletes none."""
    now = stage.database.run("clock")[0]["now"]
    return [minute for minute in stage.event_bridge.minutes if minute > now]


def next_wakeup(event_bridge: EventBridge, after: datetime) -> datetime:
    return min(minute for minute in event_bridge.minutes if minute > after)


def ticks_until_work(stage: Stage, minute: datetime) -> list[dict[str, Any]]:
    """Tick at the wake-ups from a minute on, at most an hour of them, and return the first events."""
    for _ in range(60):
        stage.go(minute)
        if events := stage.tick():
            return events
        minute = next_wakeup(stage.event_bridge, minute)
    raise AssertionError("no tick offered the job again")
