"""Misbehavior of Lambda: each kind happens only on request, and is recorded and metered."""

# ruff: noqa: F811 (fixtures come by import)

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from emulator import Emulator, Invocation, Refused, WellBehaved
from emulator.meter import Reading
from emulator.misbehavior import Misbehavior, Throttle
from tests.emulator.conftest import begun
from tests.emulator.misbehaving import callers, emulator, lambda_, used, waiting  # noqa: F401

CALL = {"do": "call", "more": 20}


def test_no_odds_cause_no_misbehavior(lambda_: Emulator) -> None:
    with Misbehavior(1).upon(lambda_) as well:
        for _ in range(10):
            lambda_.send("Patient", {})
        lambda_.pass_time(600)

    assert well.facts == [] and well.summary == "nothing"
    assert (used(lambda_).events, used(lambda_).invocations, used(lambda_).errors) == (10, 10, 0)


def test_lost_event_is_accepted_but_not_run_or_billed(lambda_: Emulator) -> None:
    with Misbehavior(1, lose=1).upon(lambda_) as worst:
        id = lambda_.send("Patient", {})
        lambda_.pass_time(7 * 3600)

    (fact,) = worst.facts
    assert (fact.what, fact.function, fact.id, fact.number, fact.run) == ("lost", "Patient", id, 0, 0)
    assert lambda_.meter.functions["Patient"] == Reading(events=1)


def test_duplicated_event_runs_twice_and_is_billed_twice(lambda_: Emulator) -> None:
    with Misbehavior(1, duplicate=1).upon(lambda_) as worst:
        lambda_.send("Patient", {})
        lambda_.pass_time(30)

    read = lambda_.meter.functions["Patient"]
    assert worst.did == {"duplicated": 1}
    assert (read.events, read.invocations) == (1, 2)
    assert read.billed_ms >= 2
    assert read.gb_seconds == pytest.approx(read.billed_ms / 1000 * lambda_.function("Patient").memory / 1024)


def test_late_event_runs_unless_it_is_too_old(lambda_: Emulator) -> None:
    given_up = len(lambda_.failures)
    with Misbehavior(1, late=1, late_by=(120, 180)).upon(lambda_) as worst:
        lambda_.send("Echo", {})
        lambda_.send("Patient", {})
        lambda_.pass_time(119)
        early = used(lambda_).invocations
        lambda_.pass_time(61)

    assert worst.did == {"delayed": 2} and all(120 <= fact.after <= 180 for fact in worst.facts)
    assert early == 0
    assert lambda_.meter.functions["Echo"].invocations == 1
    assert lambda_.meter.functions["Patient"] == Reading(events=1, expired=1)  # of 60 seconds at the most
    assert len(lambda_.failures) == given_up + 1


def test_throttle_limits_concurrency(lambda_: Emulator, callers: ThreadPoolExecutor, tmp_path: Path) -> None:
    with Misbehavior(1, functions={"Patient"}, throttle=Throttle(concurrency=2)).upon(lambda_):
        calls = [callers.submit(lambda_.invoke, "Patient", waiting(tmp_path)) for _ in range(2)]
        begun(tmp_path, 2)
        with pytest.raises(Refused) as refused:
            lambda_.invoke("Patient")
        assert lambda_.invoke("Echo").error is None
        (tmp_path / "go").touch()
        assert [call.result().error for call in calls] == [None, None]

    assert refused.value.reason == "ReservedFunctionConcurrentInvocationLimitExceeded"
    assert lambda_.concurrency.highest["Patient"] == 2
    assert lambda_.meter.functions["Patient"].throttles == 1
    assert not any(lambda_.concurrency.reserved.values())


def test_throttle_limits_starts_per_minute(lambda_: Emulator) -> None:
    with Misbehavior(1, throttle=Throttle(per_minute=2)).upon(lambda_) as worst:
        for _ in range(6):
            lambda_.send("Echo", {})
        lambda_.settle()
        started = [used(lambda_).invocations]
        for _ in range(4):
            lambda_.pass_time(60)
            started.append(used(lambda_).invocations)
        lambda_.pass_time(3600)

    assert started[0] == 1
    assert all(count <= 1 + 2 * minute for minute, count in enumerate(started)) and started[-1] > 2
    assert used(lambda_).invocations == used(lambda_).events == 6
    assert worst.did["throttled"] == used(lambda_).throttles > 0


@pytest.mark.parametrize(("hops", "runs", "dropped"), [(16, 16, 1), (None, 21, 0)])
def test_chain_is_stopped_at_the_sixteenth_hop(
    lambda_: Emulator, hops: int | None, runs: int, dropped: int
) -> None:
    with Misbehavior(1, hops=hops).upon(lambda_) as worst:
        lambda_.send("Patient", CALL)
        lambda_.settle()

    assert worst.recursive_invocations_dropped.total() == worst.did["cut"] == dropped
    assert worst.longest["Patient"] == (16 if hops else 20)
    assert (used(lambda_).events, used(lambda_).invocations) == (runs + dropped, runs)


def test_synchronous_call_at_the_end_of_a_chain_is_rejected(lambda_: Emulator) -> None:
    trace = "Root=1-00000000-000000000000000000000000;Lineage=0a0b0c0d:16"

    with Misbehavior(1).upon(lambda_) as worst, pytest.raises(Refused) as refused:
        lambda_.run(Invocation(function="Patient", payload=b"{}", trace=trace))

    assert (refused.value.status, refused.value.name) == (400, "RecursiveInvocationException")
    assert worst.recursive_invocations_dropped == {"Patient": 1}


def test_same_seed_reproduces_faults_of_events(lambda_: Emulator) -> None:
    def done(seed: int) -> list[Any]:
        with Misbehavior(seed, duplicate=0.2, late=0.2, lose=0.2).upon(lambda_) as worst:
            for _ in range(30):
                lambda_.send("Patient", {})
            lambda_.pass_time(600)
        return [(fact.what, fact.number, fact.after) for fact in worst.facts]

    first, again, other = done(5), done(5), done(6)

    assert {what for what, _, _ in first} == {"duplicated", "delayed", "lost"}
    assert first == again != other


def test_failure_contains_the_seed_and_faults_end(lambda_: Emulator) -> None:
    hooks = lambda_.hooks
    worst = Misbehavior(4711, lose=1, throttle=Throttle(concurrency=1))

    def fail() -> None:
        with worst.upon(lambda_):
            lambda_.send("Patient", json.loads("{}"))
            raise AssertionError("something is wrong")

    with pytest.raises(AssertionError) as failed:
        fail()

    (note,) = failed.value.__notes__
    assert repr(worst) in note and "4711" in note and "lost 1" in note
    assert lambda_.hooks is hooks and isinstance(hooks, WellBehaved)
    assert not any(lambda_.concurrency.reserved.values())
