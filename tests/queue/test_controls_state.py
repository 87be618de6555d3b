"""The state of limits: what each counts, that changes of them make no tick wait, and that nothing stays behind."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest

from minutehand.database import Database
from minutehand.finish import finish
from minutehand.model.outcome import Failed
from minutehand.operations.controls import limit, list_controls, unblock, unlimit
from tests.queue.stage import Queue

HOUR = timedelta(hours=1)
CHANGES: dict[str, Callable[[Database], object]] = {
    "limit": lambda database: limit(database, 2, queue="default", rate=7, period=HOUR),
    "new limit": lambda database: limit(database, 2, kind="echo"),
    "unlimit": lambda database: unlimit(database, queue="default"),
    "unblock": lambda database: unblock(database, "a"),
}
BLOCKED = "select count(*) as jobs from minutehand.blocked_groups"


@pytest.mark.every_server
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("how", ["offer", "take"])
def test_uncommitted_change_of_a_limit_makes_no_tick_wait(queue: Queue, change: str, how: str) -> None:
    limit(queue.database, 5, queue="default", rate=100, period=HOUR)
    limit(queue.database, per="group", in_order=True, on_dead="block")
    queue.enqueue()
    assert len(queue.offer()) == 1
    block(queue)
    queue.enqueue()
    other = queue.another()
    start = queue.offer if how == "offer" else partial(queue.take, 5)
    with other.transaction():
        CHANGES[change](other)
        starting = queue.start(start)
        queue.until_done_or_waiting(starting)
        assert starting.done()

    assert len(starting.result()) == 1


def test_limit_per_group_shows_the_fullest_group(queue: Queue) -> None:
    """Groups with a limit of their own do not count."""
    limit(queue.database, 2, per="group", queue="default")
    limit(queue.database, 9, group="big", queue="default")
    for group in ("a", "a", "a", "b", "b", "c", *["big"] * 5):
        queue.enqueue(group=group)
    queue.offer()

    template, named = sorted(list_controls(queue.database), key=lambda control: control.group)
    assert (template.busy, template.full, template.free_at) == (2, 2, None)
    assert (named.busy, named.full) == (5, None)


def block(queue: Queue) -> None:
    """Let a job of group a die, which blocks the group."""
    queue.enqueue(group="a", priority=9)
    (job,) = [job for job in queue.take(5) if job.group == "a"]
    finish(job, Failed({"type": "ValueError", "message": "no"}, final=True))


@pytest.mark.parametrize("end", ["no order", "no job"])
def test_block_that_is_over_is_forgotten(queue: Queue, end: str) -> None:
    limit(queue.database, per="group", in_order=True, on_dead="block")
    block(queue)
    queue.database.run("prune_groups", now=None)
    assert queue.sql(BLOCKED) == [{"jobs": 1}]
    if end == "no order":
        unlimit(queue.database, per="group")
    else:
        queue.sql("delete from minutehand.jobs where failed")
    queue.database.run("prune_groups", now=None)

    assert queue.sql(BLOCKED) == [{"jobs": 0}]


def test_block_stays_while_jobs_wait_for_it(queue: Queue) -> None:
    limit(queue.database, per="group", in_order=True, on_dead="block")
    block(queue)
    queue.enqueue(group="a")
    queue.sql("delete from minutehand.jobs where failed")
    queue.database.run("prune_groups", now=None)

    assert queue.take() == []


def test_position_of_a_scan_is_forgotten_after_a_day(queue: Queue) -> None:
    for group in "abc":
        queue.enqueue(group=group)
    queue.offer(1)
    queue.database.run("prune_groups", now=None)
    assert len(queue.sql("select part from minutehand.group_turns")) == 1
    queue.sql("update minutehand.group_turns set at = now() - interval '2 days'")
    queue.database.run("prune_groups", now=None)

    assert queue.sql("select part from minutehand.group_turns") == []
