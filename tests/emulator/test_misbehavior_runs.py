"""Misbehavior of environments: killed, frozen or running past their timeout."""

# ruff: noqa: F811 (fixtures come by import)

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

from emulator import Emulator, Environment, Invocation, WellBehaved
from emulator.misbehavior import Misbehavior
from tests.emulator.conftest import begun
from tests.emulator.misbehaving import callers, emulator, lambda_, used, waiting  # noqa: F401
from tests.waiting import until

LENIENCE = 4.0


def test_killed_environment_fails_only_its_invocation(lambda_: Emulator, tmp_path: Path) -> None:
    with Misbehavior(1, kill=1).upon(lambda_) as worst:
        answer = lambda_.invoke("Patient", waiting(tmp_path))
    after = lambda_.invoke("Patient")

    (fact,) = worst.facts
    assert answer.json()["errorType"] == "Runtime.ExitError" and answer.pid
    assert (fact.what, fact.id, fact.run) == ("killed", answer.id, 1)
    assert fact.after == worst.run("Patient", 0).kill
    assert after.error is None and after.pid != answer.pid
    assert (used(lambda_).invocations, used(lambda_).errors) == (2, 1)


def test_kill_after_the_handler_has_no_effect(
    lambda_: Emulator,
) -> None:
    with Misbehavior(1, kill=1, within=3600).upon(lambda_) as worst:
        answers = [lambda_.invoke("Patient") for _ in range(5)]

    assert [answer.error for answer in answers] == [None] * 5
    assert len({answer.pid for answer in answers}) == 1
    assert worst.facts == []


def test_killed_environment_is_never_reused(lambda_: Emulator) -> None:
    with Misbehavior(1, kill=0.5, within=0.01).upon(lambda_) as worst:
        answers = [lambda_.invoke("Patient") for _ in range(16)]

    spared = [answer for n, answer in enumerate(answers) if worst.run("Patient", n).kill is None]
    killed = {fact.id for fact in worst.facts}
    assert 4 < len(spared) < 12
    assert [answer.error for answer in spared] == [None] * len(spared)
    assert killed.isdisjoint(answer.id for answer in spared)
    assert killed >= {answer.id for answer in answers if answer.error}


class Afterwards(WellBehaved):
    """Kill an environment after its response."""

    @contextmanager
    def during(self, invocation: Invocation, environment: Environment) -> Iterator[None]:
        yield
        environment.kill()


def test_environment_killed_after_its_response_is_not_reused(lambda_: Emulator) -> None:
    well, lambda_.hooks = lambda_.hooks, Afterwards()
    try:
        first = lambda_.invoke("Patient")
    finally:
        lambda_.hooks = well
    second = lambda_.invoke("Patient")

    assert first.error is second.error is None
    assert first.pid != second.pid


class Stillborn(Misbehavior):
    """Kill an environment, also before its handler starts."""

    @contextmanager
    def during(self, invocation: Invocation, environment: Environment) -> Iterator[None]:
        with super().during(invocation, environment):
            environment.kill()
            yield


def test_kill_does_not_wait_for_a_handler_that_never_starts(lambda_: Emulator) -> None:
    with Stillborn(1, kill=1).upon(lambda_) as worst:
        call = Thread(target=lambda_.invoke, args=["Patient"], daemon=True)
        call.start()
        call.join(30)

    assert not call.is_alive()
    assert worst.facts == [] and used(lambda_).errors == 1


class Lenient(Misbehavior):
    """Let an environment overrun its timeout by seconds that a busy machine may take."""

    def seconds(self, invocation: Invocation, timeout: float) -> float:
        return super().seconds(invocation, timeout) + LENIENCE


def test_frozen_environment_outlives_its_timeout_and_resumes(
    lambda_: Emulator, callers: ThreadPoolExecutor, tmp_path: Path
) -> None:
    with Lenient(1, freeze=1, within=0.1, frozen=LENIENCE + 1.5).upon(lambda_) as worst:
        call = callers.submit(lambda_.invoke, "Brief", waiting(tmp_path))
        (pid,) = begun(tmp_path)
        # The signal precedes the file, so the process stops before it answers.
        until(lambda: worst.did["frozen"])
        (tmp_path / "go").touch()
        answer = call.result()

    assert answer.error is None, answer.payload
    assert answer.json() == {"pid": pid, "left": 0}


@pytest.mark.parametrize(("overrun", "facts"), [(0, {}), (1, {"overran": 1})])
def test_function_past_its_timeout_is_eventually_killed(
    lambda_: Emulator, tmp_path: Path, overrun: float, facts: dict[str, int]
) -> None:
    with Misbehavior(1, overrun=overrun).upon(lambda_) as worst:
        answer = lambda_.invoke("Brief", waiting(tmp_path))
    lambda_.invoke("Brief")

    assert answer.json()["errorMessage"].endswith("Task timed out after 1.00 seconds")
    assert answer.ms >= 1000 + 680 * overrun
    assert worst.did == facts
