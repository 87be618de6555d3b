"""Nested batches: a batch counts as one job of its parent, which ends after it and its callback."""

from random import Random
from uuid import UUID

import pytest

from minutehand import Database, InvalidJobError, Job, batch
from minutehand.batches import Batch, close_batch, open_batch
from minutehand.claim import take
from minutehand.finish import finish, finish_all
from minutehand.maintenance import run_maintenance
from minutehand.model.outcome import Done, Failed
from minutehand.operations.audit import list_audit
from minutehand.operations.batches import retry_batch
from minutehand.queries.batches import BatchRow, get_batch
from tests.queue.stage import GRACE, LEASE, Queue
from tests.queue.test_batches_concurrent import LIMIT

ERROR = {"type": "ValueError", "message": "no", "trace": ""}
DEAD = Failed(ERROR, final=True)
EARLY = """select b.id from minutehand.batches b join minutehand.batches n on n.parent = b.id
            where b.ended is not null and n.ended is null"""


def nested(queue: Queue, jobs: int = 1) -> tuple[Batch, Batch]:
    """Open a batch of a job, with a nested one of jobs."""
    with batch(connection=queue.database, on_complete="outer", on_failure="outer.failed") as outer:
        outer.enqueue("echo", "outer")
        with outer.batch(on_complete="inner", on_failure="inner.failed", name="inner") as inner:
            for _ in range(jobs):
                inner.enqueue("echo", "inner")
    return outer, inner


def row(queue: Queue, which: Batch) -> BatchRow:
    return get_batch(queue.database, which.id)


def end(queue: Queue, outcome: Done | Failed = Done()) -> list[str]:
    """End all due jobs, and return their kinds."""
    jobs = queue.take(100)
    list(finish_all([(job, outcome) for job in jobs]))
    return sorted(job.kind for job in jobs)


@pytest.mark.every_server
@pytest.mark.fault("functions/batches", "item.batch := .select[^;]*;", "")
@pytest.mark.fault("functions/nested_batches", "perform minutehand.add_to_batches[^;]*;", "")
def test_batch_ends_after_a_nested_one_and_its_callback(queue: Queue) -> None:
    outer, inner = nested(queue)
    assert end(queue) == ["echo", "echo"]
    assert (row(queue, inner).state, row(queue, outer).open) == ("ended", 1)
    assert end(queue) == ["inner"]
    found = row(queue, outer)
    assert (found.state, found.total, found.done, row(queue, inner).parent) == ("ended", 3, 3, outer.id)
    assert end(queue) == ["outer"]


def test_job_nests_a_batch_in_its_own(queue: Queue) -> None:
    with batch(connection=queue.database, on_complete="outer") as outer:
        outer.enqueue("echo")
    (job,) = queue.take()
    with batch(parent=job.batch, connection=queue.database) as inner:
        inner.enqueue("echo")
    finish(job, Done())
    assert row(queue, outer).open == 1
    assert (end(queue), end(queue)) == (["echo"], ["outer"])


def test_batch_without_a_parent_concerns_no_other(queue: Queue) -> None:
    with batch(connection=queue.database, on_complete="outer") as outer:
        outer.enqueue("echo")
    (job,) = queue.take()
    with batch(connection=queue.database) as other:
        other.enqueue("later")
    finish(job, Done())
    assert (row(queue, outer).state, row(queue, other).open) == ("ended", 1)


def test_nested_batch_that_fails_counts_as_dead(queue: Queue) -> None:
    outer, _ = nested(queue, 2)
    first, *others = sorted(queue.take(3), key=lambda job: str(job.payload))
    list(finish_all([(first, DEAD), *((job, Done()) for job in others)]))
    assert end(queue) == ["inner.failed"]
    assert (row(queue, outer).done, row(queue, outer).dead, end(queue)) == (2, 1, ["outer.failed"])


@pytest.mark.fault("functions/batch_counts", "return parents is null or", "return true or")
def test_retry_opens_a_nested_batch_and_its_parent_again(queue: Queue) -> None:
    outer, inner = nested(queue)
    assert end(queue, DEAD) == ["echo", "echo"]
    assert end(queue) == ["inner.failed"]
    assert end(queue) == ["outer.failed"]
    assert {each.outcome for each in retry_batch(queue.database, outer.id)} == {"changed"}
    assert (row(queue, inner).open, row(queue, outer).open, row(queue, outer).dead) == (1, 2, 0)
    assert end(queue) == ["echo", "echo"]
    assert (end(queue), end(queue)) == (["inner"], ["outer"])
    assert row(queue, outer).state == "ended"


def test_cancel_and_retry_in_sql_include_nested_batches(queue: Queue) -> None:
    outer, inner = nested(queue, 3)
    changes = [
        queue.sql("select minutehand.cancel_batch(%(id)s, 'wrong month', 3) as jobs", id=outer.id),
        queue.sql("select minutehand.cancel_batch(%(id)s) as jobs", id=outer.id),
        queue.sql("select minutehand.cancel_batch(%(id)s) as jobs", id=outer.id),
        queue.sql("select minutehand.retry_batch(%(id)s) as jobs", id=inner.id),
    ]
    assert [each["jobs"] for (each,) in changes] == [3, 1, 1, 3]
    entries = list_audit(queue.database)
    assert [entry.verb for entry in entries] == ["retry"] * 3 + ["cancel"] * 5
    assert {(entry.facts or {}).get("reason") for entry in entries[5:]} == {"wrong month"}


def test_end_of_a_nested_batch_waits_for_no_lock_of_its_parent(queue: Queue) -> None:
    outer, inner = nested(queue, 2)
    jobs = queue.take(3)
    session = queue.another()
    session.connection.execute("begin")
    session.connection.execute("select from minutehand.batch_counts where batch = %s for update", [outer.id])
    ends = queue.start(finish_all_of, [job for job in jobs if job.payload == "inner"])
    assert ends.result(LIMIT) == {"done"}
    assert row(queue, inner).state == "ended"
    session.connection.execute("commit")
    list(finish_all([(job, Done()) for job in jobs if job.payload == "outer"]))
    assert end(queue) == ["inner"]
    run_maintenance(queue.database)
    assert (row(queue, outer).state, end(queue)) == ("ended", ["outer"])


@pytest.mark.parametrize("is_closed", [True, False])
def test_empty_nested_batch_blocks_no_worker(queue: Queue, is_closed: bool) -> None:
    """It ends in the transaction that opens it, which may go on for long."""
    outer = open_batch(queue.database, on_complete="outer")
    for _ in range(10):
        queue.enqueue(batch=outer)
    if is_closed:
        close_batch(queue.database, outer)
    jobs = queue.take(10)
    session = queue.another()
    with session.transaction():
        with batch(parent=outer, connection=session, on_complete="inner") as inner:
            pass
        assert finish_all_of(jobs[1:]) == {"done"}
        # Their ends would be stored with a check if they had waited for a lock too long.
        assert queue.sql("select * from minutehand.batch_checks where batch = %(id)s", id=outer) == []
    finish_all_of(jobs[:1])
    close_batch(queue.database, outer)
    assert (row(queue, inner).state, get_batch(queue.database, outer).open) == ("ended", 1)
    assert end(queue) == ["inner"]
    run_maintenance(queue.database)
    assert end(queue) == ["outer"]


def test_close_of_a_nested_batch_waits_for_no_new_shard_of_its_parent(queue: Queue) -> None:
    outer = open_batch(queue.database, on_complete="outer")
    inner = open_batch(queue.database, parent=outer)
    close_batch(queue.database, outer)
    session = queue.another()
    session.connection.execute("begin")
    session.connection.execute(
        "insert into minutehand.batch_counts (batch, shard) values (%s, minutehand.shard_of(%s))",
        [outer, inner],
    )
    assert queue.start(close_batch, queue.another(), inner).result(LIMIT)
    session.connection.execute("rollback")
    run_maintenance(queue.database)
    assert end(queue) == ["outer"]


def test_cancel_in_sql_passes_running_jobs(queue: Queue) -> None:
    _, inner = nested(queue, 4)
    queue.take(3)
    (changed,) = queue.sql("select minutehand.cancel_batch(%(id)s, max_jobs => 2) as jobs", id=inner.id)
    assert changed["jobs"] == 2


def finish_all_of(jobs: list[Job]) -> set[str]:
    return {ended.ending for _, ended in finish_all([(job, Done()) for job in jobs])}


def test_callbacks_of_parents_are_found_for_prompt_starts(queue: Queue) -> None:
    outer, inner = nested(queue)
    end(queue)
    end(queue)
    (callback,) = queue.take()
    found = queue.database.run("callbacks_of", batches=[inner.id])
    assert {each["id"] for each in found} == {row(queue, outer).complete_job} == {callback.id}


@pytest.mark.parametrize("case", ["ended", "absent", "another tenant's", "too deep"])
def test_invalid_parent_is_refused(queue: Queue, case: str) -> None:
    tenant = None
    parent = open_batch(queue.database)
    if case == "ended":
        close_batch(queue.database, parent)
    elif case == "absent":
        parent = UUID(int=1)
    elif case == "another tenant's":
        parent, tenant = open_batch(queue.database, tenant="acme"), "other"
    else:
        for _ in range(9):
            parent = open_batch(queue.database, parent=parent)
    with pytest.raises(InvalidJobError, match=r"has ended|does not exist|at most nine"):
        open_batch(queue.database, parent=parent, tenant=tenant)


@pytest.mark.every_server
@pytest.mark.parametrize("seed", range(3))
def test_workers_end_nested_batches_once_and_never_early(queue: Queue, seed: int) -> None:
    """A tree of batches, to which jobs add others, while workers end the jobs of all of them."""
    random = Random(seed)
    batches = [open_batch(queue.database, on_complete="complete")]
    for _ in range(9):
        parent = random.choice(batches[-3:])
        batches.append(open_batch(queue.database, on_complete="complete", parent=parent))
    for _ in range(100):
        queue.enqueue(batch=random.choice(batches))
    for each in batches:
        close_batch(queue.database, each)
    calls = [queue.start(work, queue.another(), Random(f"{seed}/{n}")) for n in range(4)]
    opened = sum(call.result(300) for call in calls)
    for _ in batches:
        run_maintenance(queue.database)
        opened += work(queue.database, random)

    assert queue.sql(EARLY) == []
    found = queue.sql(
        "select count(*) filter (where ended is null) as open, count(*) as total from minutehand.batches"
    )
    assert found == [{"open": 0, "total": 10 + opened}]
    (made,) = queue.sql("select count(*) from minutehand.jobs where kind = 'complete'")
    assert made["count"] == 10 + opened


def work(session: Database, random: Random) -> int:
    """End jobs in groups, of which some nest a batch; return the number of these."""
    opened = 0
    while jobs := take(session, "default", random.randint(1, 20), LEASE, GRACE):
        for job in jobs:
            if job.batch is not None and random.random() < 0.1:
                with batch(on_complete="complete", parent=job.batch, connection=session) as b:
                    b.enqueue("echo")
                opened += 1
        assert {ended.ending for _, ended in finish_all([(job, Done()) for job in jobs])} == {"done"}
        assert session.connection.execute(EARLY).fetchall() == []
    return opened
