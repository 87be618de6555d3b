"""Predecessors that do not succeed, and successors that are changed while they wait."""

from typing import Any

import pytest

from minutehand.finish import finish
from minutehand.maintenance import run_maintenance
from minutehand.model.outcome import Done, Failed
from minutehand.operations.deletion import delete
from minutehand.operations.jobs import cancel, retry
from minutehand.queries.why import why
from tests.queue.stage import LONG, Queue
from tests.queue.test_after import after, due, leftovers

pytestmark = pytest.mark.every_server

DEAD = Failed({"type": "ValueError", "message": "no", "trace": ""}, final=True)


@pytest.mark.fault("functions/cancel", "exit when found_jobs = 0 or", "exit when true or")
def test_chain_of_successors_is_cancelled_at_once(queue: Queue) -> None:
    first = queue.claimed()
    last = first.id
    for _ in range(20):
        last = after(queue, last)
    run_maintenance(queue.database)
    finish(first, DEAD)

    assert len(queue.database.run("cancel_lapsed", limit=1000, now=None)) == 20
    assert (queue.row(last).state, leftovers(queue)) == ("cancelled", 0)


@pytest.mark.parametrize("known", ["before", "after"])
@pytest.mark.parametrize("policy", [None, "cancel", "run", "wait"])
def test_failure_of_a_predecessor_follows_the_policy(queue: Queue, policy: Any, known: str) -> None:
    job = queue.claimed()
    if known == "before":
        finish(job, DEAD)
    successor = after(queue, job.id, after_failure=policy)
    run_maintenance(queue.database)
    if known == "after":
        finish(job, DEAD)
    run_maintenance(queue.database)
    if policy == "run":
        assert due(queue) == [successor]
    elif policy == "wait":
        assert due(queue) == []
        retry(queue.database, [job.id])
        (again,) = queue.take()
        finish(again, Done())
        run_maintenance(queue.database)
        assert due(queue) == [successor]
    else:
        row = queue.row(successor)
        assert (row.state, row.error) == (
            "cancelled",
            {"type": "Cancelled", "message": f"job {job.id}, which it runs after, did not succeed"},
        )
    assert leftovers(queue) == 0


def test_cancellation_passes_through_a_chain_in_one_tick(queue: Queue) -> None:
    with queue.database.transaction():
        ids = [queue.enqueue()]
        for _ in range(10):
            ids.append(after(queue, ids[-1]))
    cancel(queue.database, ids[:1])
    run_maintenance(queue.database)
    assert {queue.row(each).state for each in ids} == {"cancelled"}
    assert leftovers(queue) == 0


def test_deleted_predecessor_has_failed(queue: Queue) -> None:
    first = queue.enqueue(delay=LONG)
    successor = after(queue, first)
    run_maintenance(queue.database)
    delete(queue.database, [first])
    run_maintenance(queue.database)
    assert queue.row(successor).state == "cancelled"


def test_successor_does_not_wait_for_the_retry_of_a_deleted_job(queue: Queue) -> None:
    first = queue.enqueue(delay=LONG)
    successor = after(queue, first, after_failure="wait")
    delete(queue.database, [first])
    run_maintenance(queue.database)
    assert queue.row(successor).state == "cancelled"
    assert leftovers(queue) == 0


def test_cancelled_predecessor_cancels_in_the_next_tick(queue: Queue) -> None:
    first = queue.enqueue(delay=LONG)
    successor = after(queue, first)
    cancel(queue.database, [first])
    assert (queue.row(successor).state, due(queue)) == ("due", [])
    run_maintenance(queue.database)
    assert queue.row(successor).state == "cancelled"


def test_retried_successor_waits_no_longer(queue: Queue) -> None:
    first, second = queue.claimed(), queue.claimed()
    successor = after(queue, first.id, second.id)
    finish(first, DEAD)
    run_maintenance(queue.database)
    retry(queue.database, [successor])
    assert due(queue) == [successor]
    finish(second, DEAD)
    run_maintenance(queue.database)
    assert (queue.row(successor).state, leftovers(queue)) == ("running", 0)


def test_cancelled_successor_leaves_no_wait(queue: Queue) -> None:
    job = queue.claimed()
    successor = after(queue, job.id, after_failure="wait")
    finish(job, DEAD)
    run_maintenance(queue.database)
    assert leftovers(queue) == 1
    cancel(queue.database, [successor])
    assert leftovers(queue) == 0


def test_reaped_predecessor_releases_its_successor(queue: Queue) -> None:
    job = queue.claimed(max_attempts=1)
    successor = after(queue, job.id, after_failure="run")
    run_maintenance(queue.database)
    queue.pass_time(job.id)
    run_maintenance(queue.database)
    assert due(queue) == [successor]


def test_why_names_the_predecessors(queue: Queue) -> None:
    first = queue.claimed()
    successor = after(queue, first.id, after_failure="wait")
    answer = why(queue.database, successor)
    assert (answer.reason, answer.sentence) == ("waiting", f"It runs after job {first.id}, which is running.")
    finish(first, DEAD)
    run_maintenance(queue.database)
    sentence = why(queue.database, successor).sentence
    assert sentence == f"It runs after job {first.id}, which ended as dead, and waits for a retry."
