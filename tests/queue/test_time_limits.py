"""An attempt is interrupted at the end of its time: the timeout of the job, or the time of the worker if shorter."""

import random
import signal
from contextlib import suppress
from datetime import timedelta
from time import monotonic
from typing import Any

import pytest

from minutehand import Job, OutOfTime
from minutehand.attempts.in_turn import run_jobs
from minutehand.claim import take
from minutehand.handlers import HandlerTable
from tests.queue.stage import GRACE, LEASE, Queue
from tests.retries import IN_AN_HOUR
from tests.thorough import amount

SHORT = timedelta(milliseconds=50)
# Long enough for the handler to begin on a busy machine.
SECOND = timedelta(seconds=1)
# Seconds, longer than any test waits.
NEVER = 3600


def loop(_payload: Any) -> None:
    while True:
        pass


def swallow(_payload: Any) -> None:
    while True:
        try:
            loop(_payload)
        except Exception:
            continue


def query(_payload: Any, job: Job) -> None:
    job.database.connection.execute("select pg_sleep(%s)", [NEVER])


def query_in_transaction(_payload: Any, job: Job) -> None:
    with job.transaction() as connection:
        connection.execute("create table half (n int)")
        connection.execute("select pg_sleep(%s)", [NEVER])


def query_in_nested_transaction(_payload: Any, job: Job) -> None:
    with job.transaction() as connection, connection.transaction(), connection.cursor() as cursor:
        cursor.execute("create table half (n int)")
        cursor.execute("select pg_sleep(%s)", [NEVER])


class RingsWhenFreed:
    """The alarm rings while this object is freed, where Python discards what its handler raises."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGALRM)


def free(_payload: Any, job: Job) -> None:
    job.lease.deadline = monotonic()
    RingsWhenFreed()
    loop(_payload)


@pytest.mark.parametrize(
    "handler",
    [loop, free, swallow, query, query_in_transaction, query_in_nested_transaction],
)
def test_handler_is_interrupted_at_the_timeout_of_its_job(queue: Queue, handler: Any) -> None:
    job_id = queue.enqueue(timeout=SHORT, retry=IN_AN_HOUR)
    neighbour = queue.enqueue("neighbour")
    handlers = HandlerTable({"echo": handler, "neighbour": lambda payload: payload})
    endings = run_jobs(queue.take(2), handlers, stopping=lambda: False)

    row = queue.row(job_id)
    assert [ending.ending for ending in endings] == ["retrying", "done"]
    assert (row.state, (row.error or {})["type"]) == ("retrying", "OutOfTime")
    assert queue.row(neighbour).state == "done"
    assert queue.sql("select to_regclass('half') as half") == [{"half": None}]
    assert not queue.database.in_transaction


def test_handler_that_has_caught_its_alarm_may_still_complete(queue: Queue) -> None:
    def catch(payload: Any, job: Job) -> None:
        with suppress(OutOfTime):
            loop(payload)
        with job.transaction():
            job.result = signal.getitimer(signal.ITIMER_REAL)[0]

    job_id = queue.enqueue(timeout=SECOND)
    (ending,) = run_jobs(queue.take(), HandlerTable({"echo": catch}), stopping=lambda: False)

    assert (ending.ending, queue.row(job_id).result) == ("done", 0.0)


def test_job_without_a_timeout_has_the_time_of_its_worker(queue: Queue) -> None:
    queue.enqueue()
    jobs = take(queue.database, "default", 1, SHORT, GRACE)
    (ending,) = run_jobs(jobs, HandlerTable({"echo": loop}), stopping=lambda: False)

    assert (ending.ending, (ending.error or {})["type"]) == ("retrying", "OutOfTime")


def test_lease_covers_the_timeout_of_its_job(queue: Queue) -> None:
    queue.enqueue(timeout=timedelta(seconds=5))
    (job,) = queue.take()

    lease = queue.row(job.id).visible - job.claimed
    assert timedelta(seconds=5) < lease <= timedelta(seconds=5) + GRACE


def test_extended_job_is_interrupted_at_its_new_deadline(queue: Queue) -> None:
    queue.enqueue(timeout=LEASE)
    seen: list[timedelta] = []

    def extend(_payload: Any, job: Job) -> None:
        job.lease.deadline = monotonic()
        job.extend(LEASE)
        # The alarm of the former deadline.
        signal.raise_signal(signal.SIGALRM)
        seen.append(job.remaining)
        job.lease.deadline = monotonic()
        signal.raise_signal(signal.SIGALRM)
        seen.append(job.remaining)

    (ending,) = queue.work(extend)

    assert (ending.error or {})["type"] == "OutOfTime"
    assert [LEASE / 2 < remaining <= LEASE for remaining in seen] == [True]


def test_extension_is_limited_by_the_end_of_the_worker(queue: Queue) -> None:
    queue.enqueue()
    (job,) = queue.take()
    job.lease.start(limit=monotonic() + 10)
    job.extend(LEASE)

    assert job.remaining <= timedelta(seconds=10)


def test_alarm_is_cleared_after_the_handler(queue: Queue) -> None:
    before = signal.getsignal(signal.SIGALRM)
    for kind, handler in (("echo", lambda _: None), ("echo", lambda _: 1 / 0), ("unknown", lambda _: None)):
        queue.enqueue(kind, timeout=LEASE)
        queue.work(handler)

        assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
        assert signal.getsignal(signal.SIGALRM) is before


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
def test_alarm_during_a_statement_does_not_break_the_finish(queue: Queue) -> None:
    """An alarm at any point rolls the transaction back, and the failure is committed."""

    def write_again_and_again(_payload: Any, job: Job) -> None:
        while True:
            with job.database.transaction() as connection:
                connection.execute("select 1")

    generator = random.Random(1)
    for _ in range(amount(25, 100)):
        queue.enqueue(max_attempts=1)
        jobs = take(queue.database, "default", 1, timedelta(milliseconds=generator.uniform(1, 4)), LEASE)
        (ending,) = run_jobs(jobs, HandlerTable({"echo": write_again_and_again}), stopping=lambda: False)

        assert (ending.ending, (ending.error or {})["type"]) == ("dead", "OutOfTime")
        assert queue.row(jobs[0].id).state == "dead"
        assert (
            queue.sql("select state from minutehand.jobs j, minutehand.state(j) state where deleted is null")
            == []
        )


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, OutOfTime])
def test_interrupted_connection_is_not_reused(direct_queue: Queue, interrupt: type[BaseException]) -> None:
    """A cancellation that arrives late would cancel another statement."""
    sessions = []

    def stop(_payload: Any, job: Job) -> None:
        sessions.append(job.database.connection)
        raise interrupt

    direct_queue.enqueue()
    with suppress(KeyboardInterrupt):
        direct_queue.work(stop)

    assert sessions[0].closed
    assert direct_queue.database.connection is not sessions[0]


@pytest.mark.parametrize("error", [None, ValueError("no")], ids=["returns", "raises"])
def test_transaction_left_open_by_a_handler_is_rolled_back(queue: Queue, error: Exception | None) -> None:
    def forget(_payload: Any, job: Job) -> None:
        job.database.connection.execute("begin")
        job.database.connection.execute("create table half (n int)")
        if error:
            raise error

    job_id = queue.enqueue(retry=IN_AN_HOUR)
    queue.work(forget)

    (row,) = queue.sql(
        "select state from minutehand.jobs j, minutehand.state(j) state where id = %(id)s", id=job_id
    )
    assert row["state"] == ("retrying" if error else "done")
    assert queue.sql("select to_regclass('half') as half") == [{"half": None}]


def test_timeout_of_the_last_attempt_is_dead(queue: Queue) -> None:
    queue.enqueue(timeout=SHORT, max_attempts=1)
    (ending,) = queue.work(loop)

    assert ending.ending == "dead"
