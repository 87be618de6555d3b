"""In mode sleep, jobs of a group that a dead job blocks, and other jobs that may not start, need no tick."""

from typing import Any

import psycopg
import pytest

from minutehand.claim import claim
from minutehand.model.invitation import parse
from minutehand.operations import controls, jobs
from minutehand.queries.jobs import get
from tests.sleep.stage import HOUR, MINUTE, NOON, SECOND, Stage


def blocked(stage: Stage, **options: Any) -> Any:
    """Leave a dead job that blocks its group, in which another job is due; return its id. It is then 12:02."""
    controls.limit(stage.database, 1, queue="default", per="group", in_order=True, on_dead="block")
    dead = stage.enqueue("fail", group="a", max_attempts=1, **options).id
    stage.enqueue(group="a")
    stage.go(NOON + MINUTE)
    (event,) = stage.tick()
    stage.work(event)
    stage.go(NOON + 2 * MINUTE)
    assert stage.tick() == []
    return dead


def test_group_that_a_dead_job_blocks_needs_no_tick(stage: Stage) -> None:
    blocked(stage)

    assert stage.wakeups("wake")[-1] == NOON + 2 * MINUTE


def test_group_is_ticked_after_an_unblock_that_commits_late(stage: Stage) -> None:
    blocked(stage)
    with psycopg.connect(stage.url) as connection:
        assert controls.unblock(connection, "a")
        for minute in (3, 4):
            stage.go(NOON + minute * MINUTE)
            assert stage.tick() == []
            assert stage.wakeups("wake")[-1] == NOON + (minute + 1) * MINUTE
    stage.go(NOON + 5 * MINUTE)

    assert len(stage.tick()) == 1


@pytest.mark.parametrize("why", ["blocked", "paused", "cancelled"])
def test_job_of_a_dead_worker_is_ended_while_its_group_waits(stage: Stage, why: str) -> None:
    """A tick must end this job. Another worker that ends later deletes the watch over the job's lease."""
    controls.limit(stage.database, 2, queue="default", per="group", in_order=True, on_dead="block")
    stage.enqueue("echo" if why == "paused" else "fail", group="a", max_attempts=1)
    lost = stage.enqueue(group="a", max_attempts=3 if why == "cancelled" else 1).id
    stage.go(NOON + MINUTE)
    first, second = stage.tick()
    claim(stage.worker, parse(second).offers, 70 * SECOND, SECOND)
    stage.work(first)
    if why == "paused":
        controls.pause(stage.database, group="a")
    if why == "cancelled":
        jobs.cancel(stage.database, [lost], running=True)
    stage.enqueue()
    stage.go(NOON + 2 * MINUTE)
    (event,) = stage.tick()
    stage.go(NOON + 2.5 * MINUTE)
    stage.work(event)
    assert stage.wakeups("wake")[-1] == NOON + 3 * MINUTE
    stage.go(NOON + 3 * MINUTE)
    stage.tick()

    assert get(stage.database, lost).state in ("dead", "cancelled")


def test_delayed_retry_of_a_dead_job_requests_a_wakeup_for_its_group(stage: Stage) -> None:
    """The retry of a job that expires sets a new `run_at`, after those of the other jobs."""
    dead = blocked(stage, expires=24 * HOUR)
    jobs.retry(stage.database, [dead], start=5 * HOUR)
    assert stage.wakeups("wake")[-1] == NOON + 3 * MINUTE
    stage.go(NOON + 3 * MINUTE)

    assert len(stage.tick()) == 1
