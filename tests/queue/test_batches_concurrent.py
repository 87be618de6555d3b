"""Jobs of a batch that end at the same time end it once, and none waits for a handler's transaction."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from threading import Event
from typing import Any
from uuid import UUID

import psycopg
import pytest

from minutehand import Database, InvalidJobError, Job, MinutehandError, NewJob, batch
from minutehand.batches import close_batch, open_batch
from minutehand.claim import take
from minutehand.enqueue import enqueue
from minutehand.finish import complete, finish, finish_all
from minutehand.maintenance import run_maintenance
from minutehand.model.outcome import Done, Failed
from minutehand.operations.jobs import cancel, retry
from minutehand.queries.batches import get_batch
from tests.queue.stage import GRACE, LEASE, Queue

pytestmark = pytest.mark.every_server

ERROR = {"type": "ValueError", "message": "no", "trace": ""}
LIMIT = 20


def batch_of(queue: Queue, count: int, **options: Any) -> UUID:
    with batch(connection=queue.database, on_complete=NewJob("complete", queue="callbacks"), **options) as b:
        b.enqueue_many(NewJob("echo", n) for n in range(count))
    return b.id


def callbacks(queue: Queue) -> int:
    rows = queue.sql("select count(*) from minutehand.jobs where kind = 'complete'")
    count: int = rows[0]["count"]
    return count


def jobs_of(queue: Queue, shards: str) -> list[Job]:
    """Return two running jobs of a batch, of the same shard or of different ones."""
    batch_of(queue, 64)
    jobs = queue.take(64)
    by_shard = {
        job.id: queue.sql("select minutehand.shard_of(%(id)s) as n", id=job.id)[0]["n"] for job in jobs
    }
    same = shards == "one shard"
    first = jobs[0]
    second = next(job for job in jobs[1:] if (by_shard[job.id] == by_shard[first.id]) is same)
    list(finish_all([(job, Done()) for job in jobs if job not in (first, second)]))
    return [first, second]


def on(job: Job, session: Database) -> Job:
    """Return the same claim on another session."""
    return replace(job, lease=replace(job.lease, database=session))


# The lock matters only here: two jobs of a shard wait for its row, and after a rollback nothing is missed.
@pytest.mark.fault(
    "functions/batch_checks",
    r"perform from minutehand.batch_counts c[^;]*c.shard = 64 for no key update;",
    "",
)
def test_two_last_jobs_of_two_shards_end_the_batch_once(queue: Queue) -> None:
    end_two_last_jobs(queue, "two shards", "commit")


@pytest.mark.parametrize(
    ("shards", "ending"), [("one shard", "commit"), ("one shard", "rollback"), ("two shards", "rollback")]
)
def test_two_last_jobs_end_the_batch_once(queue: Queue, shards: str, ending: str) -> None:
    end_two_last_jobs(queue, shards, ending)


def end_two_last_jobs(queue: Queue, shards: str, ending: str) -> None:
    """Finish the last two jobs of a batch, the second while the first one's transaction is open."""
    first, second = jobs_of(queue, shards)
    session = queue.another()
    session.connection.execute("begin")
    assert finish(on(first, session), Done()).ending == "done"
    other = queue.start(finish, second, Done())
    queue.until_done_or_waiting(other)
    assert callbacks(queue) == 0

    session.connection.execute(ending)
    assert other.result(LIMIT).ending == "done"
    if ending == "rollback":
        assert callbacks(queue) == 0
        assert finish(first, Done()).ending == "done"
    # On a slow machine, the second one gave up waiting.
    run_maintenance(queue.database)
    assert callbacks(queue) == 1


def test_closing_and_the_last_end_are_not_missed(queue: Queue) -> None:
    batch_id = open_batch(queue.database, on_complete="complete")
    job = queue.claimed(batch=batch_id)
    session = queue.another()
    session.connection.execute("begin")
    finish(on(job, session), Done())
    closing = queue.start(close_batch, queue.database, batch_id)
    queue.until_done_or_waiting(closing)
    session.connection.execute("commit")
    assert closing.result(LIMIT)
    assert callbacks(queue) == 1


def test_batch_that_ends_first_refuses_the_job(queue: Queue) -> None:
    batch_id = batch_of(queue, 1)
    (job,) = queue.take()
    session = queue.another()
    session.connection.execute("begin")
    finish(on(job, session), Done())
    adding = queue.start(enqueue, "echo", batch=batch_id, connection=queue.database)
    queue.until_done_or_waiting(adding)
    session.connection.execute("commit")
    with pytest.raises(InvalidJobError, match="has ended"):
        adding.result(LIMIT)


def test_transaction_that_adds_jobs_blocks_no_other_job(queue: Queue) -> None:
    batch_id = batch_of(queue, 200)
    first, *others = queue.take(200)
    session = queue.another()
    session.connection.execute("begin")
    for _ in range(64):
        enqueue("echo", batch=batch_id, connection=session)
    # Whole shards end meanwhile.
    list(finish_all([(job, Done()) for job in others]))
    assert get_batch(queue.database, batch_id).done == 199
    finish(on(first, session), Done())
    session.connection.execute("commit")
    assert (callbacks(queue), get_batch(queue.database, batch_id).open) == (0, 64)


@pytest.mark.parametrize("seed", range(3))
def test_workers_end_batches_once_and_never_early(queue: Queue, seed: int) -> None:
    """Four workers end the jobs of three batches in groups, some jobs add others, and some are cancelled or retried."""
    batches = [batch_of(queue, 100) for _ in range(3)]
    stop = Event()
    watching = queue.start(watch, queue.another(), stop)
    works = [queue.start(work, queue.another(), Random(f"{seed}/{n}")) for n in range(4)]
    meddling = [
        queue.start(meddle, queue.another(), batches, Random(seed)),
        queue.start(meddle_strictly, queue.another(), batches, Random(seed)),
    ]
    for each in (*works, *meddling):
        each.result(300)
    work(queue.another(), Random(seed))
    run_maintenance(queue.database)
    stop.set()

    assert watching.result(LIMIT) == 0
    assert callbacks(queue) == 3
    for batch_id in batches:
        row = get_batch(queue.database, batch_id)
        assert (row.state, row.open) == ("ended", 0)
        assert row.total == row.done + row.dead + row.expired + row.cancelled >= 100


def work(session: Database, random: Random) -> None:
    """End jobs in groups until none is left."""
    while jobs := take(session, "default", random.randint(1, 40), LEASE, GRACE):
        random.shuffle(jobs)
        for job in jobs:
            if random.random() < 0.1:
                enqueue("echo", batch=job.batch, connection=session)
        outcome = Failed(ERROR, final=True) if random.random() < 0.1 else Done()
        if random.random() < 0.3:
            with session.transaction():
                assert complete(jobs.pop(), None).ending == "done"
        assert {each.ending for _, each in finish_all([(job, outcome) for job in jobs])} <= {"done", "dead"}


def meddle(session: Database, batches: Sequence[UUID], random: Random) -> None:
    """Cancel and retry jobs."""
    for _ in range(10):
        for _ in cancel_batch_of(session, random.choice(batches), random):
            pass
        dead = session.connection.execute(
            "select id from minutehand.jobs_done where failed limit 5"
        ).fetchall()
        retry(session, [job_id for (job_id,) in dead])


def meddle_strictly(session: Database, batches: Sequence[UUID], random: Random) -> None:
    """Add, cancel and retry jobs in transactions that do not see what others commit."""
    for number in range(10):
        session.connection.execute(
            "begin isolation level " + random.choice(["repeatable read", "serializable"])
        )
        try:
            enqueue("echo", batch=random.choice(batches), connection=session)
            cancel_batch_of(session, random.choice(batches), random)
            ids = session.connection.execute(
                "select id from minutehand.jobs_done where failed limit 2"
            ).fetchall()
            retry(session, [job_id for (job_id,) in ids])
            session.connection.execute("commit" if number % 3 else "rollback")
        except (MinutehandError, psycopg.errors.SerializationFailure):
            session.connection.execute("rollback")


def cancel_batch_of(session: Database, batch_id: UUID, random: Random) -> Sequence[Any]:
    query = "select id from minutehand.jobs_live where batch = %s limit 10"
    ids = [job_id for (job_id,) in session.connection.execute(query, [batch_id]).fetchall()]
    return cancel(session, random.sample(ids, min(3, len(ids))), reason="no")


def watch(session: Database, stop: Event) -> int:
    """Return how many snapshots had an ended batch with an open job."""
    early = 0
    while not stop.is_set():
        rows = session.connection.execute(EARLY).fetchall()
        early += len(rows)
    return early


EARLY = """select b.id from minutehand.batches b where b.ended is not null
            and exists (select from minutehand.jobs_live j where j.batch = b.id)"""
