"""All faults at once, by seed: no job is lost or runs twice at the same time, and each ends once."""

import os
from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from math import inf
from time import monotonic
from uuid import UUID

import pytest

from emulator import Clock
from emulator.misbehavior import Misbehavior
from minutehand import Retry
from tests.lambda_faults.conftest import NewStage
from tests.lambda_faults.stage import Stage
from tests.thorough import amount
from tests.waiting import until

SEEDS = [int(seed) for seed in os.environ.get("MINUTEHAND_TEST_SEEDS", "4").split(",")]
ECHOES, WITNESSES, HOPELESS = amount(20, 100), amount(20, 40), amount(2, 6)
PATIENCE = 300
SHORT = {"MINUTEHAND_OFFER_TTL": "3", "MINUTEHAND_GRACE": "1", "MINUTEHAND_CAPACITY": "16"}
JOB_SECONDS, FROZEN_SECONDS = (
    2,
    5.5,
)  # the lease is 1.5 longer than the job's time, and ends while it is frozen
# Whether a tick has something to offer, or all jobs have ended.
DUE = "select count(*) = 0 or bool_or(visible <= now()) from minutehand.jobs_live"


@dataclass(frozen=True)
class Attempt:
    """The record that the handler made of an attempt."""

    job: UUID
    number: int
    begun: datetime
    until: datetime
    ended: datetime | None


def attempts(stage: Stage) -> dict[UUID, list[Attempt]]:
    """Return the attempts of every job, in the order of their start."""
    made: dict[UUID, list[Attempt]] = defaultdict(list)
    for job, *facts in stage.sql(
        """select b.job, b.attempt, b.at, b.until, e.at
             from facts b left join facts e on (e.job, e.attempt, e.what) = (b.job, b.attempt, 'end')
            where b.what = 'begin' order by b.n"""
    ):
        made[job].append(Attempt(job, *facts))
    return made


def enqueue(stage: Stage) -> tuple[list[UUID], list[UUID]]:
    """Enqueue jobs that will be done, and some that will be dead."""
    soon = Retry(strategy="fixed", min=timedelta(milliseconds=100), jitter=False)
    patient = {"timeout": timedelta(seconds=JOB_SECONDS), "retry": soon, "max_attempts": 30}
    good = [stage.enqueue("witness", {"seconds": 0.1 + n % 5 / 10}, **patient) for n in range(WITNESSES)]
    good += [stage.enqueue("echo", number, **patient) for number in range(ECHOES)]
    return good, [
        stage.enqueue("echo", {"fail": "always"}, **patient | {"max_attempts": 2}) for _ in range(HOPELESS)
    ]


def run_jobs(stage: Stage) -> None:
    """Tick, two at a time, until all jobs have ended; then wait for frozen workers."""
    deadline = monotonic() + PATIENCE
    while stage.sql("select count(*) from minutehand.jobs_live") != [(0,)]:
        assert monotonic() < deadline, (
            f"they never end: {stage.sql('select count(*) from minutehand.jobs_live')}"
        )
        stage.lambda_.tick()
        stage.lambda_.tick()
        # The budget adapts to workers that are throttled for minutes, and grows within minutes.
        stage.sql("delete from minutehand.budgets")
        until(lambda: stage.sql(DUE) == [(True,)])
    stage.lambda_.settle(PATIENCE)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", SEEDS)
def test_worst_case_loses_no_job_and_finishes_none_twice(new_stage: NewStage, seed: int) -> None:
    stage = new_stage(clock=Clock(speed=10), **SHORT)
    stage.lambda_.limit("DispatcherFunction", 3)
    stage.lambda_.limit("WorkerFunction", 10)
    good, hopeless = enqueue(stage)
    worst = Misbehavior(
        seed,
        kill=0.1,
        freeze=0.12,
        overrun=1,
        duplicate=0.2,
        late=0.05,
        lose=0.05,
        within=0.05,
        frozen=FROZEN_SECONDS,
        late_by=(25, 70),
    )

    with worst.upon(stage.lambda_):
        run_jobs(stage)
        made = attempts(stage)
        rows = {job: stage.row(job) for job in (*good, *hopeless)}

        assert set(worst.did) >= {"killed", "frozen", "duplicated", "delayed", "lost"}
        assert Counter(rows[job].state for job in good) == {"done": len(good)}
        assert {(rows[job].state, rows[job].attempts) for job in hopeless} == {("dead", 2)}
        assert sorted(stage.endings()) == sorted(rows)
        lost = set(stage.logged("lost"))
        for first, second in pairs(made):
            free = min((first.ended, first.until), key=lambda at: at.timestamp() if at else inf)
            assert free is not None and second.begun >= free, f"two workers had {first.job}"
            if first.ended is not None and first.ended > second.begun:
                assert (first.job, first.number) in lost
        assert len(made) == WITNESSES


def pairs(made: dict[UUID, list[Attempt]]) -> list[tuple[Attempt, Attempt]]:
    """Yield every attempt with the next one. A worker that was frozen before its handler owns nothing any more."""
    owners = ([each for each in attempts if each.begun < each.until] for attempts in made.values())
    return [pair for each in owners for pair in pairwise(each)]
