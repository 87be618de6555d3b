"""Wait for the end of a job."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import psycopg
import pytest

import minutehand
from minutehand import InvalidJobError, MinutehandError, NotFoundError, UnfinishedError
from minutehand.finish import finish
from minutehand.model.outcome import Done, Failed
from minutehand.operations.jobs import cancel, retry
from tests.queue.stage import LONG, Queue
from tests.waiting import until

pytestmark = pytest.mark.every_server

ERROR = {"type": "ValueError", "message": "no", "trace": ""}
NOW = timedelta()
MINUTE = timedelta(minutes=1)


@pytest.fixture
def waiting(queue: Queue) -> minutehand.Database:
    """A session that waits while others work."""
    return queue.another()


def test_wait_returns_a_finished_job_immediately(queue: Queue) -> None:
    job_id, _ = queue.attempt(lambda _: {"sent": 3})

    row = minutehand.wait(job_id, NOW, connection=queue.database)

    assert (row.id, row.state, row.result) == (job_id, "done", {"sent": 3})


def test_wait_returns_when_another_process_finishes_the_job(
    queue: Queue, waiting: minutehand.Database
) -> None:
    for outcome, state in ((Done("1"), "done"), (Failed(ERROR, final=True, result="1"), "dead")):
        job = queue.claimed()
        future = queue.start(minutehand.wait, job.id, MINUTE, connection=waiting)
        until(lambda: queue.sql(POLLED)[0]["polled"])
        assert not future.done()
        finish(job, outcome)

        row = future.result()
        assert (row.state, row.result) == (state, 1)


POLLED = """select count(*) > 0 as polled from pg_stat_activity
             where query like '%j.deleted is null and j.id = %' and datname = current_database()
               and pid <> pg_backend_pid()"""


def test_wait_returns_a_cancelled_job(queue: Queue) -> None:
    job_id = queue.enqueue(delay=LONG)
    cancel(queue.database, [job_id], reason="enough")

    assert minutehand.wait(job_id, NOW, connection=queue.database).state == "cancelled"


def test_wait_timeout_has_the_state_of_the_job(queue: Queue) -> None:
    running, scheduled = queue.claimed(), queue.enqueue(delay=LONG)
    for job_id, state in ((running.id, "running"), (scheduled, "scheduled")):
        with pytest.raises(UnfinishedError, match=f"job {job_id} is still {state} after 0.1 s") as caught:
            minutehand.wait(job_id, timedelta(seconds=0.1), connection=queue.database)
        assert caught.value.state == state

    assert issubclass(UnfinishedError, MinutehandError)
    assert issubclass(UnfinishedError, TimeoutError)


def test_wait_waits_for_a_retried_job(queue: Queue) -> None:
    job = queue.claimed()
    finish(job, Failed(ERROR, final=True))
    retry(queue.database, [job.id])

    with pytest.raises(UnfinishedError):
        minutehand.wait(job.id, NOW, connection=queue.database)


def test_wait_raises_for_a_missing_job(queue: Queue) -> None:
    with pytest.raises(NotFoundError):
        minutehand.wait(uuid4(), MINUTE, connection=queue.database)


@pytest.mark.parametrize(
    ("job", "timeout", "message"),
    [
        ("x", NOW, "the id of a job, a UUID, got 'x'"),
        (None, NOW, "the id of a job, a UUID, got None"),
        (uuid4(), 1, "timeout must be a timedelta, got int"),
    ],
)
def test_wait_refuses_values_of_other_types(queue: Queue, job: Any, timeout: Any, message: str) -> None:
    with pytest.raises(InvalidJobError, match=message):
        minutehand.wait(job, timeout, connection=queue.database)


def test_wait_is_refused_inside_a_transaction(queue: Queue) -> None:
    with queue.database.transaction():
        job_id = queue.enqueue()
        with pytest.raises(InvalidJobError, match="outside a transaction"):
            minutehand.wait(job_id, MINUTE, connection=queue.database)
    with psycopg.connect(queue._url) as connection, pytest.raises(InvalidJobError):
        minutehand.wait(job_id, MINUTE, connection=connection)


def test_wait_leaves_pooler_connections_free(queue: Queue) -> None:
    """Jobs are finished although there are fewer server connections than waiters."""
    jobs = [queue.claimed() for _ in range(6)]
    waiters = [queue.start(minutehand.wait, job.id, MINUTE, connection=queue.another()) for job in jobs]
    for job in jobs:
        assert finish(job, Done()).ending == "done"

    assert [waiter.result().state for waiter in waiters] == ["done"] * 6


def test_wait_uses_the_database_of_the_environment(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", queue._url)
    job_id, _ = queue.attempt(lambda _: "result")

    assert minutehand.wait(job_id).result == "result"
    minutehand.database.close_thread_databases()
