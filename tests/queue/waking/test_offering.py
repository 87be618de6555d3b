"""Prompt: jobs that are due are offered right after the commit, by the rules of a tick."""

from datetime import timedelta
from threading import Barrier
from uuid import UUID

import psycopg
import pytest

from minutehand import NewJob, enqueue, enqueue_many, wake
from minutehand.operations.controls import limit, pause
from minutehand.waking.chain import begin
from minutehand.waking.prompt import MOST_OFFERED
from tests.queue.stage import LONG, Queue
from tests.queue.waking.conftest import Lambda


def offered(queue: Queue) -> int:
    (row,) = queue.sql("select count(*) as jobs from minutehand.jobs_live where offered is not null")
    jobs: int = row["jobs"]
    return jobs


def roll_back(queue: Queue, jobs: int = 1) -> None:
    """Enqueue jobs in a transaction, or a savepoint, that fails."""
    with queue.database.transaction():
        for _ in range(jobs):
            queue.enqueue()
        raise ZeroDivisionError


@pytest.mark.fault("functions/waking", r"chosen @> ids and ids @> chosen", "false")
def test_job_that_is_due_is_offered_and_its_worker_invoked(queue: Queue, aws: Lambda) -> None:
    job = queue.enqueue()

    ((name, event),) = aws.events
    (row,) = queue.sql("select ack, visible - clock_timestamp() as ttl from minutehand.jobs_live")
    assert name == "worker"
    assert event == {"queue": "default", "offers": [[str(job), str(row["ack"])]], "chain": 1}
    # A lost invocation: the job is due again before the next tick.
    assert row["ttl"] <= timedelta(seconds=45)


def test_worker_is_not_invoked_before_the_commit_or_after_a_rollback(queue: Queue, aws: Lambda) -> None:
    with queue.database.transaction():
        job = queue.enqueue()
        assert (aws.events, offered(queue)) == ([], 0)
    assert aws.offered == [[str(job)]]

    with pytest.raises(ZeroDivisionError):
        roll_back(queue)
    assert len(aws.events) == 1


def test_jobs_after_a_rollback_are_offered_alone(queue: Queue, aws: Lambda) -> None:
    queue.offer(capacity=100)
    with pytest.raises(ZeroDivisionError):
        roll_back(queue, MOST_OFFERED + 1)

    with queue.database.transaction():
        first = queue.enqueue()
    jobs = [first, *(queue.enqueue() for _ in range(MOST_OFFERED))]

    assert (aws.offered, aws.wakes) == ([[str(job)] for job in jobs], 0)


def test_enqueues_of_a_transaction_are_invoked_together(
    queue: Queue, aws: Lambda, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINUTEHAND_CHUNK", "10")
    queue.offer(capacity=100)
    with queue.database.transaction():
        jobs = [str(queue.enqueue()) for _ in range(20)]

    assert [len(event) for event in aws.offered] == [10, 10]
    assert sorted(job for event in aws.offered for job in event) == sorted(jobs)
    assert aws.wakes == 0


@pytest.mark.usefixtures("one_request")
@pytest.mark.parametrize("size", [4, 1000])
def test_bulk_for_which_there_is_no_room_wakes_the_dispatcher_once(
    queue: Queue, aws: Lambda, size: int
) -> None:
    results = list(enqueue_many([NewJob("echo")] * size, connection=queue.database, chunk=100))

    assert len(results) == size
    assert (aws.offered, aws.wakes, offered(queue)) == ([], 1, 0)


@pytest.mark.usefixtures("one_request")
@pytest.mark.fault("functions/waking", r"continue when cardinality\(own.ids\) > room\s+or", "continue when")
def test_capacity_is_that_of_the_last_tick(queue: Queue, aws: Lambda) -> None:
    for _ in range(5):
        queue.enqueue()

    assert (len(aws.offered), aws.wakes, offered(queue)) == (3, 1, 3)


def test_concurrent_enqueues_and_ticks_never_exceed_the_capacity(queue: Queue, aws: Lambda) -> None:
    barrier = Barrier(8, timeout=60)

    def session(number: int) -> int:
        database, most = queue.another(), 0
        barrier.wait()
        for _ in range(5):
            if number < 2:
                queue.offer(capacity=3, database=database)
            else:
                enqueue("echo", connection=database)
            (busy,) = queue.sql("select count(*) as jobs from minutehand.jobs_live where offered is not null")
            most = max(most, busy["jobs"])
        return most

    assert max(future.result() for future in [queue.start(session, number) for number in range(8)]) == 3


@pytest.mark.fault("functions/waking", r"cardinality\(ids\) \+ 1", "cardinality(ids)")
def test_job_joins_the_line_of_its_queue(queue: Queue, aws: Lambda) -> None:
    queue.sql("select minutehand.enqueue('echo')")
    queue.enqueue(priority=9)
    assert (aws.offered, aws.wakes, offered(queue)) == ([], 1, 0)

    other = queue.enqueue(queue="other")
    assert aws.offered == [[str(other)]]


@pytest.mark.parametrize("control", ["pause", "limit"])
@pytest.mark.fault("functions/waking", r"array\(select minutehand.choose\([^\n]*\)\);", "ids;")
def test_job_that_a_tick_would_not_offer_is_not_offered(queue: Queue, aws: Lambda, control: str) -> None:
    if control == "pause":
        pause(queue.database, kind="echo")
    else:
        limit(queue.database, 1, kind="echo")
        queue.sql("select minutehand.enqueue('echo', queue => 'other')")
        assert queue.take(1, "other")
    job = queue.enqueue("echo")

    assert (aws.offered, aws.wakes) == ([], 1)
    assert queue.row(job).state == "due"


@pytest.mark.fault(
    "functions/waking",
    r"or exists \(select from minutehand.budgets",
    "and exists (select from minutehand.budgets",
)
def test_job_of_a_queue_with_a_reduced_budget_is_not_offered(queue: Queue, aws: Lambda) -> None:
    queue.sql("insert into minutehand.budgets (queue, budget, lapsed) values ('default', 1, now())")
    job = queue.enqueue()

    assert (aws.offered, aws.wakes) == ([], 1)
    assert queue.row(job).state == "due"


def test_paused_jobs_do_not_hold_others_back(queue: Queue, aws: Lambda) -> None:
    queue.sql("select minutehand.enqueue('slow')")
    pause(queue.database, kind="slow")
    job = queue.enqueue("echo")

    assert aws.offered == [[str(job)]]


def test_job_is_not_offered_before_the_first_tick(queue: Queue, aws: Lambda) -> None:
    queue.sql("update minutehand.dispatcher set capacity = null")
    queue.enqueue()

    assert (aws.offered, aws.wakes) == ([], 1)


def test_job_waits_for_the_dispatcher_while_a_tick_counts(queue: Queue, aws: Lambda) -> None:
    with queue.another().transaction() as ticking:
        ticking.execute("update minutehand.dispatcher set ticked = now()")
        queue.enqueue()

    assert (aws.offered, aws.wakes, offered(queue)) == ([], 1, 0)


def test_refused_offer_is_withdrawn_and_the_next_one_not_tried(queue: Queue, aws: Lambda) -> None:
    aws.refuses = True
    first = queue.enqueue()
    assert queue.row(first).state == "due"

    aws.refuses = False
    queue.sql("delete from minutehand.jobs_live")
    queue.enqueue()
    assert (aws.events, offered(queue)) == ([], 0)


def test_commit_on_a_connection_of_the_caller_is_woken_by_hand(queue: Queue, aws: Lambda) -> None:
    with psycopg.connect(queue.url) as connection:
        job = enqueue("echo", connection=connection)
    assert aws.events == []

    wake(job, connection=queue.database)
    assert aws.offered == [[str(job.id)]]
    wake(connection=queue.database)
    assert aws.wakes == 1


def test_autocommitted_connection_of_the_caller_is_woken(queue: Queue, aws: Lambda) -> None:
    with psycopg.connect(queue.url, autocommit=True) as connection:
        job = enqueue("echo", connection=connection)

    assert aws.offered == [[str(job.id)]]


def test_savepoint_that_failed_wakes_nothing(queue: Queue, aws: Lambda) -> None:
    with queue.database.transaction():
        with pytest.raises(ZeroDivisionError):
            roll_back(queue)
        job = queue.enqueue()

    assert aws.offered == [[str(job)]]


@pytest.mark.fault("functions/waking", r"minutehand\.first_later\(ids, scope\)\)", "null)")
def test_job_that_is_due_in_seconds_wakes_the_dispatcher(queue: Queue, aws: Lambda) -> None:
    """A clock that is five seconds early may take it for due."""
    queue.enqueue(delay=timedelta(seconds=3))

    assert (aws.offered, aws.wakes) == ([], 1)


def test_late_job_wakes_nothing(queue: Queue, aws: Lambda) -> None:
    queue.enqueue(delay=LONG)

    assert aws.events == []


@pytest.mark.parametrize("trace", ["", "Root=1-00000000-000000000000000000000000;Lineage=1:0a0b0c0d:11"])
def test_long_chain_of_invocations_waits_for_the_tick(
    queue: Queue, aws: Lambda, monkeypatch: pytest.MonkeyPatch, trace: str
) -> None:
    begin({"chain": 8})
    queue.enqueue()
    assert [event["chain"] for _, event in aws.events] == [9]

    begin({} if trace else {"chain": 10})
    monkeypatch.setenv("_X_AMZN_TRACE_ID", trace)
    assert isinstance(queue.enqueue(), UUID)
    assert len(aws.events) == 1
