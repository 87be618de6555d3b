"""A replaced job that joins a group makes its lane one of groups, so that its group runs one job at a time."""

from minutehand import NewJob, enqueue_many
from minutehand.finish import finish
from minutehand.model.outcome import Done
from minutehand.operations.controls import limit
from tests.queue.lanes.stage import tick
from tests.queue.stage import Queue

KEYS = ["a", "b", "c"]


def test_replaced_jobs_of_a_group_run_one_at_a_time(queue: Queue) -> None:
    for key in KEYS:
        queue.enqueue(key=key)
    tick(queue)

    for key in KEYS:
        queue.enqueue(key=key, group="g")

    order = []
    for _ in KEYS:
        (job,) = queue.claim(*queue.offer())
        assert queue.take(5) == []
        assert finish(job, Done()).ending == "done"
        order.append(job.key)
    assert order == KEYS


def test_jobs_replaced_in_bulk_run_one_at_a_time(queue: Queue) -> None:
    for key in KEYS:
        queue.enqueue(key=key)
    tick(queue)

    list(enqueue_many([NewJob("echo", key=key, group="g") for key in KEYS], connection=queue.database))

    assert len(queue.take(5)) == 1
    tick(queue)
    assert queue.sql("select grouped from minutehand.lanes") == [{"grouped": True}]


def test_replaced_job_of_a_group_under_a_limit_starts(queue: Queue) -> None:
    limit(queue.database, 5, queue="default")
    queue.enqueue(key="a")
    tick(queue)

    queue.enqueue(key="a", group="g")

    assert len(queue.offer()) == 1
