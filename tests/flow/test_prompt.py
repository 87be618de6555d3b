"""The mode `prompt` in the emulator: a request runs its job without a tick, also if every invocation is lost."""

import json
from collections.abc import Iterator, Sequence
from uuid import UUID

import pytest

from emulator import Invocation, WellBehaved
from tests.flow.stage import Emulated, Flow, emulated, event
from tests.flow.test_flow import post
from tests.servers import Database

# Longer than an offer lasts.
MINUTE = 60.0


class Losing(WellBehaved):
    """Loses the events of functions."""

    def __init__(self) -> None:
        self.loses: tuple[str, ...] = ()

    def deliver(self, invocation: Invocation) -> Sequence[float]:
        return () if invocation.function in self.loses else super().deliver(invocation)


@pytest.fixture
def hooks() -> Losing:
    return Losing()


@pytest.fixture
def prompt(direct_database: Database, hooks: Losing) -> Iterator[tuple[Flow, Emulated]]:
    """The stack in the mode `prompt`, after a tick."""
    with emulated(direct_database.url, parameters={"Mode": "prompt"}, hooks=hooks) as home:
        flow = Flow(direct_database, home)
        home.tick(event("scheduler-tick"))
        yield flow, home
        flow.close()


def request(flow: Flow) -> UUID:
    answer = flow.home.request(post({"kind": "echo", "payload": 1}))
    return UUID(json.loads(answer["body"])["id"])


def test_request_is_followed_by_the_job_without_a_tick(prompt: tuple[Flow, Emulated]) -> None:
    flow, home = prompt
    ticks = home.lambda_.meter.functions["DispatcherFunction"].invocations
    job = request(flow)
    home.lambda_.settle()

    assert flow.row(job).state == "done", home.output
    assert home.lambda_.meter.functions["DispatcherFunction"].invocations == ticks


def test_job_whose_invocation_was_lost_starts_at_the_next_tick(
    prompt: tuple[Flow, Emulated], hooks: Losing
) -> None:
    flow, home = prompt
    hooks.loses = ("WorkerFunction", "DispatcherFunction")
    job = request(flow)
    home.lambda_.settle()
    assert flow.row(job).state == "offered"

    hooks.loses = ()
    flow.pass_time(MINUTE)
    home.tick(event("scheduler-tick"))
    assert flow.row(job).state == "done"
