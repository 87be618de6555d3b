"""Predecessors that end while their successors are added, in sessions at the same time."""

from collections.abc import Callable
from concurrent.futures import Future
from random import Random
from typing import Any, LiteralString

import pytest
from psycopg.errors import SerializationFailure

from minutehand import Database, Job, NewJob, enqueue_many
from minutehand.claim import take
from minutehand.enqueue import enqueue
from minutehand.errors import ConflictError
from minutehand.finish import finish, finish_all
from minutehand.model.outcome import Done, Finish
from minutehand.operations.deletion import delete
from minutehand.operations.jobs import cancel, promote
from tests.queue.stage import GRACE, LEASE, Queue
from tests.queue.test_after import after, due, leftovers
from tests.queue.test_batches_concurrent import LIMIT, on
from tests.queue.test_batches_isolation import BEGIN, STRICT, begun, maintain

pytestmark = pytest.mark.every_server

Operation = Callable[..., Any]
LEVELS = ["read committed", *STRICT]


@pytest.mark.parametrize("ending", ["commit", "rollback"])
@pytest.mark.parametrize("level", LEVELS)
def test_predecessor_ends_while_a_successor_is_added(queue: Queue, level: str, ending: str) -> None:
    job = queue.claimed()
    session = begun(queue, level)
    successor = enqueue("next", after=[job], connection=session).id
    assert queue.start(finish, job, Done()).result(LIMIT).ending == "done"
    maintain(queue)
    session.connection.execute(ending)
    maintain(queue)
    assert due(queue) == ([successor] if ending == "commit" else [])
    assert leftovers(queue) == 0


@pytest.mark.fault(
    "functions/predecessors",
    "if ended.retryable and ended.is_live then",
    "if false then",
)
def test_predecessor_that_is_ending_is_checked_again(queue: Queue) -> None:
    """The transaction that ends the predecessor does not see the successor, and is open during the check."""
    job = queue.claimed()
    session = begun(queue, "read committed")
    assert finish(on(job, session), Done()).ending == "done"
    successor = after(queue, job.id)
    maintain(queue)
    assert due(queue) == []
    session.connection.execute("commit")
    maintain(queue)
    assert due(queue) == [successor]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("ending", ["commit", "rollback"])
def test_two_last_predecessors_release_a_successor(queue: Queue, level: str, ending: str) -> None:
    first, second = queue.claimed(), queue.claimed()
    successor = after(queue, first.id, second.id)
    maintain(queue)
    session = begun(queue, level)
    assert finish(on(first, session), Done()).ending == "done"
    other = queue.start(finish, second, Done())
    queue.until_done_or_waiting(other)
    session.connection.execute(ending)
    assert other.result(LIMIT).ending == "done"
    if ending == "rollback":
        assert due(queue) == []
        assert finish(first, Done()).ending == "done"
    maintain(queue)
    assert due(queue) == [successor]
    assert leftovers(queue) == 0


def waiting_end(queue: Queue) -> tuple[Database, "Future[Any]", Job]:
    """Return a session that keeps the end of two jobs waiting for one of them, the end, and the other job.

    The plan decides which of the two the statement locks first. If that is the other one, this tries with new jobs.
    """
    for _ in range(50):
        first, second = queue.claimed(), queue.claimed()
        blocker = begun(queue, "read committed")
        blocker.connection.execute("select from minutehand.jobs where id = %s for update", [first.id])
        ends = queue.start(finished, [(first, Done()), (second, Done())])
        queue.until_done_or_waiting(ends)
        if queue.sql("select 1 from minutehand.jobs where id = %(id)s for update skip locked", id=second.id):
            return blocker, ends, second
        blocker.connection.execute("commit")
        ends.result(LIMIT)
    pytest.fail("the end always locked the second job first")


def finished(ended: list[tuple[Job, Done]]) -> list[tuple[int, Finish]]:
    return list(finish_all(ended))


@pytest.mark.fault(
    "functions/predecessors",
    "where j.id = of_job and not j.awaited and minutehand.is_awaited.of_job.;\n        return",
    "where false;\n        return",
)
def test_end_that_began_before_the_check_sees_its_mark(queue: Queue) -> None:
    """The statement that ends both jobs waits for the first one, and has an older snapshot than the successor."""
    blocker, ends, second = waiting_end(queue)
    successor = enqueue("next", after=[second], connection=queue.another()).id
    maintain(queue)
    assert leftovers(queue) == 1
    blocker.connection.execute("commit")
    assert [ended.ending for _, ended in ends.result(LIMIT)] == ["done", "done"]
    assert due(queue) == [successor]


def test_ends_of_a_group_wait_once_for_a_locked_successor(queue: Queue) -> None:
    first = queue.claimed()
    others = [queue.claimed() for _ in range(30)]
    successor = after(queue, first.id, *(job.id for job in others))
    session = begun(queue, "read committed")
    assert finish(on(first, session), Done()).ending == "done"
    ends = queue.start(lambda: list(finish_all([(job, Done()) for job in others])))
    assert {ended.ending for _, ended in ends.result(LIMIT)} == {"done"}
    session.connection.execute("commit")
    maintain(queue)
    assert due(queue) == [successor]
    assert leftovers(queue) == 0


@pytest.mark.fault(
    "functions/triggers", "where l.successor = old.id for update skip locked", "where l.successor = old.id"
)
def test_end_of_a_successor_does_not_deadlock_with_its_predecessor(queue: Queue) -> None:
    """One session ends `first` and `third`, the other one `second` and `early`, which waited for `first`."""
    first, second, third = queue.claimed(), queue.claimed(), queue.claimed()
    successor = after(queue, second.id, third.id)
    promote(queue.database, [after(queue, first.id, after_failure="wait")])
    (early,) = queue.take()
    early.lease.start()
    one, other = begun(queue, "read committed"), begun(queue, "read committed")
    other.connection.execute("set local lock_timeout = '5s'")
    assert finish(on(first, one), Done()).ending == "done"
    assert finish(on(second, other), Done()).ending == "done"
    assert queue.start(finish, on(early, other), Done()).result(LIMIT).ending == "done"
    assert queue.start(finish, on(third, one), Done()).result(LIMIT).ending == "done"
    one.connection.execute("commit")
    other.connection.execute("commit")
    maintain(queue)
    assert (due(queue), leftovers(queue)) == ([successor], 0)


@pytest.mark.fault("functions/predecessors", "when has_more then max_checks", "when false then max_checks")
def test_tick_releases_thousands_of_successors(queue: Queue) -> None:
    job = queue.claimed()
    jobs = (NewJob("next", n, after=[job]) for n in range(3500))
    assert len(list(enqueue_many(jobs, connection=queue.database))) == 3500
    maintain(queue)
    finish(job, Done())
    maintain(queue)
    (row,) = queue.sql("select count(*) as due from minutehand.jobs_live where visible <= now()")
    assert (row["due"], leftovers(queue)) == (3500, 0)


@pytest.mark.parametrize("operation", [cancel, delete, promote])
def test_successor_that_changes_while_its_predecessor_ends(queue: Queue, operation: Operation) -> None:
    job = queue.claimed()
    successor = after(queue, job.id)
    maintain(queue)
    session = begun(queue, "read committed")
    operation(session, [successor])
    other = queue.start(finish, job, Done())
    queue.until_done_or_waiting(other)
    session.connection.execute("commit")
    assert other.result(LIMIT).ending == "done"
    maintain(queue)
    assert due(queue) == ([successor] if operation is promote else [])
    assert leftovers(queue) == 0


@pytest.mark.parametrize("seed", range(3))
def test_successors_run_after_their_predecessors(queue: Queue, seed: int) -> None:
    """Workers end jobs while others add successors of random jobs, in every isolation level."""
    for number in range(60):
        queue.enqueue("echo", number)
    calls = [queue.start(add, queue.another(), Random(f"{seed}/{n}")) for n in range(3)]
    calls += [queue.start(work, queue.another(), Random(f"{seed}/w{n}")) for n in range(3)]
    for each in calls:
        each.result(300)
    for _ in range(100):
        maintain(queue)
        if not work(queue.database, Random(seed)):
            break
    assert queue.sql("select id from minutehand.jobs_live") == []
    assert leftovers(queue) == 0
    assert queue.sql(EARLY) == []


EARLY: LiteralString = """
    select s.id from minutehand.jobs s join minutehand.attempts a on a.job = s.id, unnest(s.after) p (id)
      join minutehand.jobs j on j.id = p.id where a.started < j.deleted"""


def add(session: Database, random: Random) -> None:
    for _ in range(15):
        session.connection.execute(BEGIN[random.choice(LEVELS)])
        try:
            rows = session.connection.execute(
                "select id from minutehand.jobs order by random() limit 3"
            ).fetchall()
            for _ in range(random.randint(1, 3)):
                ids = [job_id for (job_id,) in rows]
                enqueue("next", after=ids, after_failure="run", connection=session)
            session.connection.execute("commit" if random.random() < 0.8 else "rollback")
        # A serializable transaction conflicts with others.
        except (ConflictError, SerializationFailure):
            session.connection.execute("rollback")


def work(session: Database, random: Random) -> int:
    count = 0
    while jobs := take(session, "default", random.randint(1, 10), LEASE, GRACE):
        for job in jobs:
            job.lease.start()
        list(finish_all([(job, Done()) for job in jobs]))
        count += len(jobs)
    return count
