"""Execution environments: one invocation each, cold or warm, frozen in between, and ended at the end."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

import psutil
import pytest

from emulator import Emulator, Environment, Invocation, Refused, WellBehaved
from tests.emulator.conftest import CACHE, ROOT, STACK, NewLambda, begun, ended, lives
from tests.waiting import until
from tests.watchdog import watched


@pytest.fixture
def callers() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as pool:
        yield pool


def waiting(folder: Path) -> dict[str, str]:
    return {"do": "wait", "folder": str(folder)}


def test_concurrent_invocations_use_separate_environments(
    lambda_: Emulator, callers: ThreadPoolExecutor, tmp_path: Path
) -> None:
    calls = [callers.submit(lambda_.invoke, "Patient", waiting(tmp_path)) for _ in range(2)]
    both = set(begun(tmp_path, 2))
    (tmp_path / "go").touch()
    answers = [call.result() for call in calls]
    last = lambda_.pool("Patient").environments[-1].pid

    after = lambda_.invoke("Patient")

    assert len(both) == 2 and {answer.pid for answer in answers} == both
    assert (after.pid, after.cold) == (last, False)
    assert lambda_.concurrency.highest["Patient"] == 2


def test_reserved_concurrency_throttles_one_more(
    new_lambda: NewLambda, callers: ThreadPoolExecutor, tmp_path: Path
) -> None:
    lambda_ = new_lambda()
    lambda_.limit("Patient", 1)
    first = callers.submit(lambda_.invoke, "Patient", waiting(tmp_path))
    begun(tmp_path)

    with pytest.raises(lambda_.client().exceptions.TooManyRequestsException) as refused:
        lambda_.client().invoke(FunctionName="Patient")
    lambda_.limit("Patient", 2)
    second = callers.submit(lambda_.invoke, "Patient", waiting(tmp_path))
    begun(tmp_path, 2)
    (tmp_path / "go").touch()

    assert refused.value.response["Reason"] == "ReservedFunctionConcurrentInvocationLimitExceeded"
    assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] == 429
    assert first.result().error is second.result().error is None
    assert lambda_.meter.functions["Patient"].throttles == 1


def test_account_concurrency_excludes_reserved_concurrency(
    new_lambda: NewLambda, callers: ThreadPoolExecutor, tmp_path: Path
) -> None:
    lambda_ = new_lambda(concurrency=2, parameters={"Reserved": "1"})
    first = callers.submit(lambda_.invoke, "Patient", waiting(tmp_path))
    begun(tmp_path)

    with pytest.raises(Refused) as refused:
        lambda_.invoke("Patient")
    (tmp_path / "go").touch()

    assert refused.value.reason == "ConcurrentInvocationLimitExceeded"
    assert lambda_.invoke("Echo").error is first.result().error is None


@pytest.mark.parametrize(("freeze", "statuses"), [(True, {"stopped"}), (False, {"sleeping", "running"})])
def test_environment_is_frozen_between_invocations(
    new_lambda: NewLambda, freeze: bool, statuses: set[str]
) -> None:
    lambda_ = new_lambda(freeze=freeze)
    process = psutil.Process(lambda_.invoke("Echo").pid)

    assert until(lambda: process.status() in statuses)
    assert lambda_.invoke("Echo").pid == process.pid


class During(WellBehaved):
    """Records the environment of each invocation, and gives it some more seconds."""

    def __init__(self, more: float = 0.0) -> None:
        self.environment: Environment | None = None
        self.more = more

    def seconds(self, invocation: Invocation, timeout: float) -> float:
        return timeout + self.more

    @contextmanager
    def during(self, invocation: Invocation, environment: Environment) -> Iterator[None]:
        self.environment = environment
        yield


def test_killed_environment_reports_an_exit(
    new_lambda: NewLambda, callers: ThreadPoolExecutor, tmp_path: Path
) -> None:
    hooks = During()
    lambda_ = new_lambda(hooks=hooks)
    call = callers.submit(lambda_.invoke, "Patient", waiting(tmp_path))
    (pid,) = begun(tmp_path)

    assert hooks.environment is not None
    hooks.environment.kill()

    assert call.result().json()["errorType"] == "Runtime.ExitError"
    assert ended(pid) and not lambda_.pool("Patient").environments


def test_frozen_invocation_outlives_its_timeout(
    new_lambda: NewLambda, callers: ThreadPoolExecutor, tmp_path: Path
) -> None:
    # Time for a busy machine, before the invocation is frozen and after.
    hooks = During(more=4.0)
    lambda_ = new_lambda(hooks=hooks)
    call = callers.submit(lambda_.invoke, "Brief", waiting(tmp_path))
    (pid,) = begun(tmp_path)
    assert hooks.environment is not None

    hooks.environment.freeze()
    until(lambda: psutil.Process(pid).status() == "stopped")
    assert not call.done()
    frozen = monotonic()
    until(lambda: monotonic() > frozen + 5.5)  # longer than its time
    (tmp_path / "go").touch()
    hooks.environment.thaw()

    answer = call.result()
    assert answer.error is None, answer.payload
    assert answer.json() == {"pid": pid, "left": 0}


def test_idle_environments_are_ended(new_lambda: NewLambda) -> None:
    lambda_ = new_lambda()
    pid = lambda_.invoke("Echo").pid

    lambda_.pool("Echo").reap(3600)
    assert lives(pid)
    lambda_.pool("Echo").reap(0)

    assert ended(pid) and lambda_.pool("Echo").environments == []


def test_stop_during_an_invocation_leaves_no_process(
    new_lambda: NewLambda, callers: ThreadPoolExecutor, tmp_path: Path
) -> None:
    others = set(psutil.Process().children(recursive=True))  # the servers of other tests
    lambda_ = new_lambda()
    lambda_.invoke("Echo")
    callers.submit(lambda_.invoke, "Patient", waiting(tmp_path))
    begun(tmp_path)
    environments = [each for name in ("Echo", "Patient") for each in lambda_.pool(name).environments]
    before = set(psutil.Process().children(recursive=True)) - others

    lambda_.__exit__()

    assert len(environments) == 2 and len(before) >= 5
    assert ended(*(process.pid for process in before))
    assert not [each.home for each in environments if each.home.exists()]


SCRIPT = f"""
from pathlib import Path
from emulator import Emulator
with Emulator({str(STACK)!r}, cache=Path({str(CACHE)!r})) as lambda_:
    lambda_.invoke("Patient", {{"do": "wait", "folder": FOLDER}})
"""


def test_killed_emulator_leaves_no_process(lambda_: Emulator, tmp_path: Path) -> None:
    script = SCRIPT.replace("FOLDER", repr(str(tmp_path)))
    with watched(subprocess.Popen([sys.executable, "-c", script], cwd=ROOT)) as emulator:
        (pid,) = begun(tmp_path)
        children = psutil.Process(emulator.pid).children(recursive=True)

        emulator.send_signal(signal.SIGKILL)

    assert pid in {child.pid for child in children}
    assert ended(*(child.pid for child in children))
