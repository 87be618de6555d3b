"""Sessions enqueue, claim and finish one recurring key at the same time. The last enqueue decides how it recurs."""

from collections.abc import Callable
from concurrent.futures import Future
from datetime import timedelta
from random import Random
from threading import Barrier
from typing import Any

import pytest
from psycopg import Rollback

from minutehand import Database, Job, enqueue
from minutehand.finish import finish
from minutehand.model.outcome import Done, Failed, Finish, Outcome, Released
from minutehand.operations.jobs import promote, retry
from tests.queue.recurring.stage import recurring, upcoming
from tests.queue.stage import LONG, Queue

pytestmark = pytest.mark.every_server

SESSIONS = 4
STEPS = 8
NOW = timedelta()
RETRIED = Failed({"type": "ValueError", "message": "no"}, delay=LONG)
OUTCOMES: list[Outcome] = [Done(), RETRIED, Released(LONG)]


def started(queue: Queue, call: Callable[..., Any], *args: Any) -> "Future[Any]":
    """Start a call in a thread, and return when it is done or waits for a lock."""
    future = queue.start(call, *args)
    queue.until_done_or_waiting(future)
    return future


@pytest.mark.parametrize(("outcome", "ending"), [(Done(), "done"), (RETRIED, "superseded")])
def test_finish_waits_for_an_open_enqueue_of_the_key(queue: Queue, outcome: Outcome, ending: str) -> None:
    old, other = recurring(queue, key="k", payload="old"), queue.another()
    with other.transaction():
        enqueue("echo", "new", key="k", connection=other, delay=LONG)
        waiting: Future[Finish] = started(queue, finish, old, outcome)
        assert not waiting.done()
    finished = waiting.result()

    assert (finished.ending, finished.next) == (ending, None)
    assert [row["payload"] for row in upcoming(queue)] == ["new"]


def test_enqueue_that_is_rolled_back_does_not_end_the_recurrence(queue: Queue) -> None:
    old, other = recurring(queue, key="k", payload="old"), queue.another()
    with other.transaction():
        enqueue("echo", "new", key="k", connection=other)
        waiting: Future[Finish] = started(queue, finish, old, Done())
        raise Rollback

    assert waiting.result().next is not None
    assert [row["payload"] for row in upcoming(queue)] == ["old"]


def test_enqueue_does_not_wait_for_a_locked_running_job(queue: Queue) -> None:
    old, other = recurring(queue, key="k"), queue.another()
    with other.transaction() as connection:
        connection.execute("select from minutehand.jobs_live where id = %s for update", [old.id])
        enqueued = started(queue, queue.enqueue, "echo", "new")
        keyed = started(queue, lambda: queue.enqueue(payload="new", key="k"))
        assert enqueued.done() and keyed.done()

    assert finish(old, Done()).next is None


def test_open_enqueue_does_not_delay_a_job_that_does_not_recur(queue: Queue) -> None:
    old, other = queue.claimed(key="k"), queue.another()
    with other.transaction():
        enqueue("echo", key="k", connection=other)

        assert started(queue, finish, old, Done()).done()


def test_enqueue_with_an_old_snapshot_supersedes_a_job_claimed_since(queue: Queue) -> None:
    old_id, other = queue.enqueue(key="k", every="PT1H", delay=NOW), queue.another()
    with other.transaction() as connection:
        connection.execute("set transaction isolation level repeatable read")
        connection.execute("select count(*) from minutehand.jobs")
        (old,) = queue.take()
        new = enqueue("echo", key="k", connection=other)
    (job,) = queue.take()

    assert (old.id, job.id) == (old_id, new.id)
    assert finish(old, Done()).next is None


class Session:
    """A session that enqueues a key, claims its jobs and finishes some of them."""

    def __init__(self, queue: Queue, seed: int) -> None:
        self.queue, self.database, self.random = queue, queue.another(), Random(seed)
        self.claimed: list[Job] = []

    def play(self, barrier: Barrier) -> None:
        barrier.wait()
        for _ in range(STEPS):
            self.random.choice(
                [self.enqueue, self.enqueue, self.take, self.take, self.finish, self.promote]
            )()

    def enqueue(self) -> None:
        every = self.random.choice(["PT1H", None])
        mode: Any = self.random.choice(["replace", "merge", "ignore"])
        options = {"unique_while": self.random.choice(["upcoming", "running"])}
        enqueue_now(self.database, {"n": "early"}, every, on_conflict=mode, **options)

    def take(self) -> None:
        self.claimed += self.queue.take(database=self.database)

    def finish(self) -> None:
        if self.claimed:
            job = self.claimed.pop(self.random.randrange(len(self.claimed)))
            finish(job, self.random.choice(OUTCOMES))

    def promote(self) -> None:
        rows = self.queue.sql("select id, deleted from minutehand.jobs order by random() limit 1")
        for row in rows:
            (promote if row["deleted"] is None else retry)(self.database, [row["id"]])

    def finish_all(self, barrier: Barrier) -> None:
        barrier.wait()
        while self.claimed:
            self.finish()


def enqueue_now(database: Database, payload: Any, every: str | None, **options: Any) -> None:
    enqueue("echo", payload, key="k", every=every, delay=NOW, connection=database, **options)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("every", ["PT1H", None])
def test_last_enqueue_decides_whatever_other_sessions_do(queue: Queue, seed: int, every: str | None) -> None:
    sessions = [Session(queue, seed * SESSIONS + number) for number in range(SESSIONS)]
    at_once(queue, [session.play for session in sessions])
    enqueue_now(queue.database, {"n": "last"}, every)

    def work_off(barrier: Barrier) -> None:
        barrier.wait()
        for job in queue.take(100):
            assert job.payload == {"n": "last"}
            assert finish(job, Done()).ending == "done"

    at_once(queue, [work_off, *(session.finish_all for session in sessions)])

    live = queue.sql("select payload, every from minutehand.jobs_live")
    assert live == ([{"payload": {"n": "last"}, "every": every}] if every else [])


def at_once(queue: Queue, calls: list[Callable[[Barrier], None]]) -> None:
    barrier = Barrier(len(calls), timeout=60)
    for future in [queue.start(call, barrier) for call in calls]:
        future.result()
