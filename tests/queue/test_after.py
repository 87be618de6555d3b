"""A job with predecessors is due when the last of them has ended, exactly then and never before."""

import json
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from minutehand import InvalidJobError, NewJob, batch, enqueue_many
from minutehand.cli.text import state, when
from minutehand.finish import finish, finish_all
from minutehand.maintenance import run_maintenance
from minutehand.model.outcome import Done, Failed
from minutehand.operations.controls import limit
from minutehand.operations.jobs import promote, replay, reschedule
from minutehand.queries.batches import get_batch
from minutehand.queries.jobs import get
from tests.queue.stage import LONG, Queue

pytestmark = pytest.mark.every_server

ERROR = {"type": "ValueError", "message": "no", "trace": ""}
DEAD = Failed(ERROR, final=True)


def after(queue: Queue, *jobs: UUID, **options: Any) -> UUID:
    """Enqueue a successor of jobs."""
    return queue.enqueue("next", after=jobs, **options)


def due(queue: Queue) -> list[UUID]:
    """Return the successors that a worker takes."""
    return [job.id for job in queue.take(100) if job.kind == "next"]


def leftovers(queue: Queue) -> int:
    (row,) = queue.sql(
        "select (select count(*) from minutehand.waits) + (select count(*) from minutehand.predecessor_checks) as n"
    )
    count: int = row["n"]
    return count


@pytest.mark.fault(
    "functions/predecessors",
    "or not exists .select from minutehand.waits w where w.successor = s.id.",
    "or true",
)
def test_successor_is_due_when_its_last_predecessor_is_done(queue: Queue) -> None:
    first, second = queue.claimed(), queue.claimed()
    successor = after(queue, first.id, second.id)
    run_maintenance(queue.database)
    finish(first, Done())
    assert due(queue) == []
    finish(second, Done())
    (job,) = queue.take()
    assert (job.id, job.after) == (successor, [first.id, second.id])
    assert leftovers(queue) == 0


def test_group_of_outcomes_releases_a_successor_once(queue: Queue) -> None:
    jobs = [queue.claimed() for _ in range(5)]
    successor = after(queue, *(job.id for job in jobs))
    run_maintenance(queue.database)
    list(finish_all([(job, Done()) for job in jobs]))
    assert due(queue) == [successor]


@pytest.mark.fault("finish", r"pg_relation_size\('minutehand.waits'\) > 0", "false")
@pytest.mark.fault("finish_done", r"pg_relation_size\('minutehand.waits'\) > 0", "false")
def test_end_that_sees_a_successor_needs_no_tick(queue: Queue) -> None:
    jobs = [queue.claimed(), queue.claimed(group="house")]
    successors = [after(queue, job.id) for job in jobs]
    for job in jobs:
        finish(job, Done())
    assert sorted(due(queue)) == sorted(successors)
    run_maintenance(queue.database)
    assert leftovers(queue) == 0


def test_jobs_of_one_transaction_run_one_after_the_other(queue: Queue) -> None:
    with queue.database.transaction():
        first = queue.enqueue()
        with queue.database.transaction():
            successor = after(queue, first)
    (job,) = queue.take()
    assert job.id == first
    finish(job, Done())
    assert due(queue) == [successor]


def test_jobs_of_a_bulk_cannot_wait_for_each_other(queue: Queue) -> None:
    first, second = uuid4(), uuid4()
    items = [
        {"ordinal": 1, "kind": "echo", "id": str(first), "after": [str(second)]},
        {"ordinal": 2, "kind": "echo", "id": str(second), "after": [str(first)]},
    ]
    with pytest.raises(psycopg.Error, match=f"job ({first}|{second}) does not exist"):
        queue.sql(
            """select minutehand.enqueue_all(array(select json_populate_record(null::minutehand.new_jobs, value)
                                                     from json_array_elements(%(items)s::json)))""",
            items=json.dumps(items),
        )


def test_ended_predecessors_delay_nothing(queue: Queue) -> None:
    job = queue.claimed()
    finish(job, Done())
    successor = after(queue, job.id)
    assert (due(queue), leftovers(queue)) == ([successor], 0)


def test_successor_keeps_its_later_time(queue: Queue) -> None:
    job = queue.claimed()
    successor = after(queue, job.id, delay=LONG)
    run_maintenance(queue.database)
    finish(job, Done())
    assert due(queue) == []
    assert queue.waits(successor, LONG)


def test_successor_reads_the_results_of_its_predecessors(queue: Queue) -> None:
    first, second = queue.claimed(), queue.claimed()
    successor = after(queue, first.id, second.id)
    list(finish_all([(first, Done('"a"')), (second, Done('"b"'))]))
    (job,) = queue.take()
    assert [get(job.database, each).result for each in job.after or ()] == ["a", "b"]
    finish(job, Done())
    replay(queue.database, [successor])
    assert [job.after for job in queue.take()] == [None]


def test_promoted_successor_waits_no_longer(queue: Queue) -> None:
    job = queue.claimed()
    successor = after(queue, job.id)
    promote(queue.database, [successor])
    assert due(queue) == [successor]
    finish(job, Done())
    run_maintenance(queue.database)
    assert leftovers(queue) == 0


def test_rescheduled_successor_still_waits(queue: Queue) -> None:
    job = queue.claimed()
    successor = after(queue, job.id)
    reschedule(queue.database, [successor], delay=timedelta())
    assert due(queue) == []
    run_maintenance(queue.database)
    finish(job, Done())
    assert due(queue) == [successor]


@pytest.mark.fault("functions/groups", "not .l.after is not null and l.visible", "not (false and l.visible")
def test_waiting_job_does_not_block_its_ordered_group(queue: Queue) -> None:
    """Otherwise it would wait forever for a predecessor that comes later in the order."""
    limit(queue.database, 1, per="group", in_order=True)
    predecessor = queue.enqueue(group="a", delay=LONG)
    successor = after(queue, predecessor, group="a")
    queue.pass_time(predecessor)
    jobs = queue.take(5)
    assert [job.id for job in jobs] == [predecessor]
    finish(jobs[0], Done())
    assert due(queue) == [successor]


def test_batch_waits_for_its_successors(queue: Queue) -> None:
    with batch(connection=queue.database, on_complete="complete") as b:
        first = b.enqueue("echo")
        second = b.enqueue("next", after=[first], queue="other")
    (job,) = queue.take()
    finish(job, Done())
    assert get_batch(queue.database, b.id).open == 1
    (job,) = queue.take(queue="other")
    assert job.id == second.id
    finish(job, Done())
    assert get_batch(queue.database, b.id).state == "ended"


def test_bulk_has_successors(queue: Queue) -> None:
    first = queue.claimed()
    results = list(
        enqueue_many([NewJob("next", n, after=[first]) for n in range(50)], connection=queue.database)
    )
    run_maintenance(queue.database)
    assert due(queue) == []
    finish(first, Done())
    assert sorted(due(queue)) == sorted(each.id for each in results)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"after": []}, "after_fits"),
        ({"after": [uuid4() for _ in range(101)]}, "after_fits"),
        ({"after": "text"}, "after_fits"),
        ({"after": [UUID(int=1)]}, "after_exists"),
        ({"after": [UUID(int=1)], "key": "k"}, "after_or_key"),
        ({"after": [UUID(int=1)], "after_failure": "explode"}, "after_failure_is_known"),
        ({"after_failure": "run"}, "after_failure_is_known"),
    ],
)
def test_invalid_predecessors_are_refused(queue: Queue, options: Any, rule: str) -> None:
    with pytest.raises(InvalidJobError) as caught:
        queue.enqueue(**options)
    assert caught.value.rule == rule
    assert queue.sql("select id from minutehand.jobs") == []


def test_waiting_job_shows_its_own_time(queue: Queue) -> None:
    successor = after(queue, queue.claimed().id)
    row = queue.row(successor)
    assert row.waits and when(row) == row.run_at
    assert state(row, row.run_at) == "waits for other jobs"
    promote(queue.database, [successor])
    assert not queue.row(successor).waits
