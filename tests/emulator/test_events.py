"""Asynchronous events: accepted at once, retried like on Lambda, then sent to the destination."""

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from emulator import Clock, Emulator, Invocation, Refused, WellBehaved
from tests.emulator.conftest import NewLambda
from tests.waiting import until


class Attempts(WellBehaved):
    """Record the time of each attempt, and refuse the given ones."""

    def __init__(self, clock: Clock, refusal: Refused | None = None) -> None:
        self.clock, self.refusal = clock, refusal
        self.at: list[float] = []
        self.hops: list[int] = []

    def before(self, invocation: Invocation) -> None:
        self.at.append(self.clock.now())
        self.hops.append(invocation.hops)
        if self.refusal is not None:
            raise self.refusal


class Copies(WellBehaved):
    """Deliver events by a list of delays."""

    def __init__(self, delays: Sequence[float]) -> None:
        self.delays = delays

    def deliver(self, invocation: Invocation) -> Sequence[float]:
        return self.delays


def test_event_is_accepted_before_it_runs(new_lambda: NewLambda, tmp_path: Path) -> None:
    lambda_ = new_lambda()
    payload = json.dumps({"do": "wait", "folder": str(tmp_path)})

    response = lambda_.client().invoke(FunctionName="Patient", InvocationType="Event", Payload=payload)

    assert response["StatusCode"] == 202 and response["Payload"].read() == b""
    until(lambda: lambda_.pending == 1)  # an event is briefly both pending and running
    (tmp_path / "go").touch()
    lambda_.settle()
    (begun,) = tmp_path.glob("*.begun")
    assert begun.stem == response["ResponseMetadata"]["RequestId"]
    assert lambda_.pending == 0 and lambda_.failures == []


def test_failed_event_is_retried_twice_then_sent_to_the_destination(
    new_lambda: NewLambda,
) -> None:
    clock = Clock(speed=0)
    hooks = Attempts(clock)
    lambda_ = new_lambda(clock=clock, hooks=hooks)

    id = lambda_.send("Echo", {"do": "throw"})
    lambda_.pass_time(3600)

    assert [round(at - hooks.at[0]) for at in hooks.at] == [0, 60, 180]
    (failure,) = lambda_.failures
    assert failure.destination == "arn:aws:sqs:us-east-1:012345678912:Failures"
    assert failure.record["requestContext"] == {
        "requestId": id,
        "functionArn": f"{lambda_.function('Echo').arn}:$LATEST",
        "condition": "RetriesExhausted",
        "approximateInvokeCount": 3,
    }
    assert failure.record["requestPayload"] == {"do": "throw"}
    assert failure.record["responseContext"] == {
        "statusCode": 200,
        "executedVersion": "$LATEST",
        "functionError": "Unhandled",
    }
    assert failure.record["responsePayload"]["errorMessage"] == "no such thing"
    assert (failure.record["version"], failure.record["timestamp"][-1]) == ("1.0", "Z")
    read = lambda_.meter.functions["Echo"]
    assert (read.events, read.invocations, read.expired) == (1, 3, 1)


def test_function_without_retries_is_tried_once(lambda_: Emulator) -> None:
    lambda_.send("Patient", {"do": "throw"})
    lambda_.pass_time(3600)

    assert lambda_.meter.functions["Patient"].invocations == 1
    assert [failure.record["requestContext"]["condition"] for failure in lambda_.failures] == [
        "RetriesExhausted"
    ]


@pytest.mark.parametrize("refusal", [None, Refused(500, "ServiceException", "Not today.")])
def test_throttled_event_is_retried_with_backoff_for_six_hours(
    new_lambda: NewLambda, refusal: Refused | None
) -> None:
    clock = Clock(speed=0)
    hooks = Attempts(clock, refusal)
    lambda_ = new_lambda(clock=clock, hooks=hooks)
    lambda_.limit("Echo", 0 if refusal is None else None)

    lambda_.send("Echo", {})
    lambda_.pass_time(7 * 3600)

    pauses = [after - before for before, after in pairwise(hooks.at)]
    (failure,) = lambda_.failures
    assert [
        n for n, pause in enumerate(pauses[:8]) if not 2**n / 2 - 0.01 <= pause <= 2**n * 1.5 + 0.01
    ] == []
    assert 256 - 0.01 <= min(pauses[9:]) <= max(pauses) <= 300.01
    assert 6 * 3600 - 300.01 <= hooks.at[-1] - hooks.at[0] <= 6 * 3600
    assert failure.record["requestContext"]["condition"] == "EventAgeExceeded"
    assert failure.record["requestContext"]["approximateInvokeCount"] == 0
    assert "responsePayload" not in failure.record
    assert lambda_.meter.functions["Echo"].invocations == 0


def test_throttled_event_runs_when_concurrency_is_available(lambda_: Emulator) -> None:
    lambda_.limit("Patient", 0)
    lambda_.send("Patient", {})
    lambda_.settle()
    until(lambda: lambda_.pending == 1)  # an event is briefly both pending and running

    lambda_.limit("Patient", None)
    lambda_.pass_time(2)

    assert lambda_.pending == 0 and lambda_.meter.functions["Patient"].invocations == 1


@pytest.mark.parametrize(
    ("delays", "runs", "given_up"), [((), 0, 0), ((0, 0), 2, 0), ((30,), 1, 0), ((90,), 0, 1)]
)
def test_events_are_dropped_duplicated_and_delayed_on_request(
    new_lambda: NewLambda, delays: tuple[float, ...], runs: int, given_up: int
) -> None:
    lambda_ = new_lambda(hooks=Copies(delays))

    lambda_.send("Patient", {})
    lambda_.pass_time(29)
    early = lambda_.meter.total.invocations
    lambda_.pass_time(600)

    assert early == (runs if 30 not in delays else 0)
    assert lambda_.meter.total.invocations == runs
    assert len(lambda_.failures) == given_up  # of an age of 60 seconds at the most


def test_invocation_chain_counts_its_length(new_lambda: NewLambda) -> None:
    clock = Clock(speed=0)
    hooks = Attempts(clock)
    lambda_ = new_lambda(clock=clock, hooks=hooks)

    lambda_.send("Patient", {"do": "call", "more": 3})
    lambda_.settle()

    assert hooks.hops == [0, 1, 2, 3]


def test_tick_sends_the_event_of_every_schedule(new_lambda: NewLambda) -> None:
    lines: list[str] = []
    lambda_ = new_lambda(log=lambda function, line: lines.append(f"{function} {line}"))

    lambda_.tick()
    lambda_.settle()

    assert lines == ["Echo did echo"]


def test_clock_runs_at_the_given_speed(new_lambda: NewLambda) -> None:
    # Slow enough that the event is not too old after six hours if an environment takes a minute to start.
    lambda_ = new_lambda(clock=Clock(speed=100))

    lambda_.send("Echo", {"do": "throw"})
    (failure,) = until(lambda: lambda_.failures)

    assert failure.record["requestContext"]["approximateInvokeCount"] == 3
