"""Aging: a job that has waited for an hour counts one priority higher, so that no priority waits for ever."""

from datetime import timedelta

import pytest

from minutehand.operations.controls import limit
from tests.queue.stage import Queue

AGE = """
update minutehand.jobs_live set visible = visible - %(hours)s * interval '1 hour', run_at = run_at where kind = 'old'
"""


@pytest.fixture(params=["plain", "with a limit"])
def stage(request: pytest.FixtureRequest, queue: Queue) -> Queue:
    """A queue whose jobs are selected by the statement itself, or by `choose`."""
    if request.param != "plain":
        limit(queue.database, 100, kind="old")
    return queue


def offered_in_turn(queue: Queue) -> list[str]:
    """Return the kinds that are offered first after three hours, and then after five."""
    queue.enqueue("old", priority=5)
    kinds = []
    for capacity, hours in ((1, 3), (2, 2)):
        queue.enqueue("new", priority=9)
        queue.sql(AGE, hours=hours)
        kinds += [offer.kind for offer in queue.offer(capacity)]
    return kinds


@pytest.mark.fault(
    "offer", r"order by j.visible - l.priority \* \(select step from aging\)", "order by l.priority desc"
)
def test_waiting_job_is_offered_before_a_higher_priority(queue: Queue) -> None:
    assert offered_in_turn(queue) == ["new", "old"]


@pytest.mark.fault(
    "functions/choose", r"c.priority \* step as rank", "c.priority * interval '1 year' as rank"
)
def test_waiting_job_is_chosen_before_a_higher_priority(queue: Queue) -> None:
    limit(queue.database, 100, kind="old")

    assert offered_in_turn(queue) == ["new", "old"]


@pytest.mark.parametrize(("hours", "first"), [(3, "new"), (5, "old")])
def test_waiting_job_is_taken_before_a_higher_priority(stage: Queue, hours: int, first: str) -> None:
    stage.enqueue("old", priority=5)
    stage.enqueue("new", priority=9)
    stage.sql(AGE, hours=hours)

    assert [job.kind for job in stage.take(1)] == [first]


def test_job_of_a_dead_worker_is_taken_before_a_higher_priority(stage: Queue) -> None:
    """It is taken alone, so that a due job of a higher priority at each take could keep it waiting for ever."""
    died = stage.claimed("old", priority=5)
    stage.pass_time(died.id, timedelta(hours=5))
    stage.enqueue("new", priority=9)

    assert [job.kind for job in stage.take(3)] == ["old"]


def test_step_is_a_setting(queue: Queue) -> None:
    queue.sql("update minutehand.settings set priority_step = '1 minute'")
    queue.enqueue("old", priority=0)
    queue.enqueue("new", priority=9)
    queue.sql(AGE, hours=1)

    assert [job.kind for job in queue.take(1)] == ["old"]
