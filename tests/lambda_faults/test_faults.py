"""One fault at a time: a killed worker, a worker thawed too late, and recursive invocations."""

from datetime import timedelta
from typing import Any

import pytest

from emulator.misbehavior import Misbehavior
from tests.flow.stage import MINUTE
from tests.lambda_faults.conftest import NewStage
from tests.lambda_faults.stage import Stage
from tests.waiting import until

# The grace outlasts the steps of a test; the tests let it pass.
TIMEOUT, GRACE = timedelta(seconds=3), timedelta(seconds=60)


def clock(stage: Stage) -> Any:
    return stage.sql("select clock_timestamp()")[0][0]


@pytest.fixture
def stage(new_stage: NewStage) -> Stage:
    return new_stage(seconds=round(TIMEOUT.total_seconds()), MINUTEHAND_GRACE="60")


def test_job_of_a_killed_worker_restarts_after_the_grace(
    stage: Stage,
) -> None:
    job, spent = stage.enqueue("overstay"), stage.enqueue("overstay", max_attempts=1)

    stage.lambda_.tick()
    stage.lambda_.settle()
    killed, last = stage.row(job), stage.row(spent)
    stage.lambda_.tick()
    stage.lambda_.settle()
    early = stage.row(job)
    stage.pass_time((max(killed.visible, last.visible) - clock(stage)).total_seconds() + 0.001)
    stage.lambda_.tick()
    stage.lambda_.settle()
    again, dead = stage.row(job), stage.row(spent)

    meter = stage.lambda_.meter.functions["WorkerFunction"]
    assert (meter.invocations, meter.errors) == (3, 2)
    for row in (killed, last):
        assert (row.state, row.attempts) == ("running", 1)
        assert row.claimed is not None
        assert GRACE < row.visible - row.claimed <= TIMEOUT + GRACE
    assert (early.state, early.attempts, early.visible) == ("running", 1, killed.visible)
    assert (again.state, again.attempts, again.result) == ("done", 2, 2)
    assert (dead.state, dead.attempts, dead.error and dead.error["type"]) == ("dead", 1, "WorkerDied")
    assert sorted(stage.endings()) == sorted([job, spent])


def test_concurrent_jobs_of_a_killed_worker_restart(new_stage: NewStage) -> None:
    stage = new_stage(round(TIMEOUT.total_seconds()), MINUTEHAND_GRACE="60", MINUTEHAND_CHUNK="3")
    jobs = [stage.enqueue("together", {"role": role}) for role in ("blocks", "waits", "ends")]

    stage.lambda_.tick()
    stage.lambda_.settle()
    killed = [stage.row(job) for job in jobs]
    stage.pass_time((max(row.visible for row in killed) - clock(stage)).total_seconds() + 0.001)
    stage.lambda_.tick()
    stage.lambda_.settle()

    meter = stage.lambda_.meter.functions["WorkerFunction"]
    # Those that had not ended run alone.
    assert (meter.invocations, meter.errors) == (3, 1)
    assert [(row.state, row.attempts) for row in killed] == [("running", 1), ("running", 1), ("done", 1)]
    assert [(row.state, row.result) for row in map(stage.row, jobs)] == [
        ("done", 2),
        ("done", 2),
        ("done", 1),
    ]
    assert sorted(stage.endings()) == sorted(jobs)


def test_job_that_kills_its_worker_costs_others_one_attempt(new_stage: NewStage) -> None:
    stage = new_stage(MINUTEHAND_GRACE="60", MINUTEHAND_CHUNK="10")
    others = [stage.enqueue("echo", number) for number in range(9)]
    culprit = stage.enqueue("crash", max_attempts=3, priority=7)

    def run() -> set[tuple[str, int]]:
        stage.lambda_.tick()
        stage.lambda_.settle()
        stage.pass_time(3600)
        return {(row.state, row.attempts) for row in map(stage.row, others)}

    first, second = run(), run()
    run()
    stage.lambda_.tick()

    assert {attempts for _, attempts in first} == {1}
    assert second <= {("done", 1), ("done", 2)}
    until(lambda: stage.row(culprit).state == "dead")
    assert stage.row(culprit).attempts == 3
    assert stage.lambda_.meter.functions["WorkerFunction"].errors == 3
    assert sorted(stage.endings()) == sorted([*others, culprit])


def test_worker_thawed_after_its_lease_writes_nothing(
    new_stage: NewStage,
) -> None:
    stage = new_stage()
    job = stage.enqueue("hold")

    def begun() -> int:
        return len(stage.sql("select 1 from facts where what = 'begin'"))

    stage.lambda_.tick()
    until(lambda: begun() == 1)
    (frozen,) = stage.lambda_.pool("WorkerFunction").environments
    frozen.freeze()
    stage.sql("insert into gate values (1)")
    stage.pass_time(3600)
    stage.lambda_.tick()
    until(lambda: begun() == 2)
    held = stage.row(job)
    frozen.thaw()
    until(lambda: stage.logged("lost"))
    after = stage.row(job)
    stage.sql("insert into gate values (2)")
    stage.lambda_.settle()

    assert (held.state, held.attempts) == ("running", 2)
    assert after == held
    assert stage.logged("lost") == [(job, 1)]
    assert stage.logged("done") == [(job, 2)]
    assert (stage.row(job).state, stage.row(job).result) == ("done", 2)
    assert stage.endings() == [job]


def test_jobs_that_enqueue_jobs_create_no_invocation_chain(new_stage: NewStage) -> None:
    stage = new_stage()
    stage.enqueue("generation", {"more": 19})

    with Misbehavior(1, hops=2).upon(stage.lambda_) as worst:
        for _ in range(20):
            stage.lambda_.tick()
            stage.lambda_.pass_time(MINUTE)

    assert len(stage.logged("done")) == 20
    assert worst.longest == {"DispatcherFunction": 0, "WorkerFunction": 1}
    assert not worst.recursive_invocations_dropped
