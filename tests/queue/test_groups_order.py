"""Ordered groups of which several jobs may run: a worker starts those of a chunk in the order of the group."""

from datetime import timedelta

import pytest

from minutehand.operations.controls import limit
from tests.queue.stage import Queue

PRIORITIES = (1, 9, 5)


def fill(queue: Queue, group: str | None) -> None:
    """Enqueue jobs with an id, a time and a priority that are in different orders."""
    for number, priority in enumerate(PRIORITIES):
        job_id = queue.enqueue("echo", [group, number], group=group, priority=priority)
        queue.sql(
            "update minutehand.jobs_live set run_at = run_at - %(by)s where id = %(id)s",
            id=job_id,
            by=timedelta(minutes=number),
        )


@pytest.mark.parametrize("offered", [False, True], ids=["taken", "offered"])
def test_chunk_starts_the_jobs_of_an_ordered_group_in_order(queue: Queue, offered: bool) -> None:
    limit(queue.database, 3, queue="default", per="group", in_order=True)
    fill(queue, "a")
    fill(queue, "b")
    jobs = queue.claim(*queue.offer()) if offered else queue.take(10)

    for group in ("a", "b"):
        assert [job.payload[1] for job in jobs if job.group == group] == [2, 1, 0]


def test_chunk_starts_other_jobs_in_the_order_of_their_priorities(queue: Queue) -> None:
    limit(queue.database, 3, queue="default", per="group")
    fill(queue, "a")
    fill(queue, None)
    jobs = queue.take(10)

    for group in ("a", None):
        assert [job.payload[1] for job in jobs if job.group == group] == [1, 2, 0]
