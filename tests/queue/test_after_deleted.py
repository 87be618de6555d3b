"""Predecessors that are deleted, when they are upcoming or after they have failed, also by retention."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from minutehand import InvalidJobError
from minutehand.enqueue import enqueue
from minutehand.finish import finish
from minutehand.maintenance import run_maintenance
from minutehand.operations.deletion import delete, delete_finished
from minutehand.operations.jobs import retry
from minutehand.operations.retention import Retention, apply_retention, set_retention
from tests.queue.past import ago, finished, noon
from tests.queue.stage import LONG, Queue
from tests.queue.test_after import DEAD, after, due, leftovers
from tests.queue.test_batches_concurrent import LIMIT
from tests.queue.test_batches_isolation import begun

pytestmark = pytest.mark.every_server

DAY = timedelta(days=1)


def by_hand(queue: Queue) -> None:
    list(delete_finished(queue.database, datetime.now(UTC) + DAY))


def with_their_day(queue: Queue) -> None:
    set_retention(queue.database, Retention(dead=DAY))
    apply_retention(queue.database)


def one_by_one(queue: Queue) -> None:
    finished(queue, noon(ago(queue, 3)), "dead", queue="other")
    set_retention(queue.database, Retention(queue="default", dead=DAY))
    apply_retention(queue.database)


@pytest.mark.fault(
    "functions/triggers", r"perform minutehand.release_deleted\(array\[old.id\]\);", "-- removed"
)
@pytest.mark.parametrize("deletion", [by_hand, one_by_one])
def test_successor_of_a_deleted_dead_job_is_cancelled(
    queue: Queue, deletion: Callable[[Queue], object]
) -> None:
    cancelled_after(queue, deletion)


@pytest.mark.fault("functions/retention", r"perform minutehand.release_dropped\(home, name\);", "")
def test_successor_of_a_dead_job_whose_day_is_dropped_is_cancelled(queue: Queue) -> None:
    cancelled_after(queue, with_their_day)


def cancelled_after(queue: Queue, deletion: Callable[[Queue], object]) -> None:
    (job,) = finished(queue, noon(ago(queue, 3)), "dead")
    successor = after(queue, job, after_failure="wait")
    run_maintenance(queue.database)
    assert queue.row(successor).waits
    deletion(queue)
    assert queue.sql("select id from minutehand.jobs where id = %(id)s", id=job) == []
    run_maintenance(queue.database)
    assert (queue.row(successor).state, leftovers(queue)) == ("cancelled", 0)


def test_retry_of_a_predecessor_is_no_deletion(queue: Queue) -> None:
    job = queue.claimed()
    successor = after(queue, job.id, after_failure="wait")
    finish(job, DEAD)
    retry(queue.database, [job.id])
    run_maintenance(queue.database)
    assert queue.row(successor).waits


# The predecessor is deleted while the statement that enqueues its successor waits for the table of waits.
def test_predecessor_is_deleted_while_a_successor_is_added(queue: Queue) -> None:
    job = queue.enqueue(delay=LONG)
    blocker = begun(queue, "read committed")
    blocker.connection.execute("lock table minutehand.waits in share mode")
    adding = queue.start(lambda: enqueue("next", after=[job], connection=queue.another()))
    queue.until_done_or_waiting(adding)
    delete(queue.another(), [job])
    blocker.connection.execute("commit")
    with pytest.raises(InvalidJobError) as caught:
        adding.result(LIMIT)
    assert caught.value.rule == "after_exists"
    assert due(queue) == []
