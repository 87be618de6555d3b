"""What one outcome, handler or connection does to the other outcomes of its group."""

import signal
from contextlib import closing
from datetime import timedelta
from threading import Event
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from minutehand import BusyError, Database, Job
from minutehand.attempts.in_turn import run_jobs
from minutehand.finish import finish
from minutehand.handlers import HandlerTable
from minutehand.model.outcome import Done
from tests.queue.stage import Queue
from tests.waiting import until

STATE = "select minutehand.state(j) as state from minutehand.jobs j where id = %(id)s"


def claim_all(queue: Queue, count: int, **options: Any) -> list[Job]:
    """Claim jobs in the order of their payloads, which are their numbers."""
    for n in range(count):
        queue.enqueue(payload=n, **options)
    return sorted(queue.take(count), key=lambda job: job.payload)


def run(jobs: list[Job], handler: Any) -> list[str]:
    return [each.ending for each in run_jobs(jobs, HandlerTable({"echo": handler}), lambda: False)]


def states(queue: Queue, jobs: list[Job]) -> list[str]:
    return [row["state"] for job in jobs for row in queue.sql(STATE, id=job.id)]


def impatient_url(queue: Queue) -> str:
    """The address of connections that wait for no lock."""
    return make_conninfo(queue.url, options="-c lock_timeout=1")


def impatient(queue: Queue) -> Database:
    return Database(impatient_url(queue))


def test_open_transaction_of_an_async_handler_takes_no_outcomes(direct_queue: Queue) -> None:
    jobs = claim_all(direct_queue, 3)

    async def handler(payload: int, job: Job) -> None:
        if payload == 2:
            job.database.connection.execute("begin")

    assert run(jobs, handler) == ["done"] * 3
    assert not direct_queue.database.in_transaction
    assert states(direct_queue, jobs) == ["done"] * 3


def test_outer_transaction_takes_no_outcomes_of_other_jobs(direct_queue: Queue) -> None:
    jobs = claim_all(direct_queue, 3)

    def handler(payload: int, job: Job) -> None:
        if payload == 2:
            with job.database.transaction():
                with job.transaction():
                    pass
                raise ValueError

    run(jobs, handler)

    assert states(direct_queue, jobs)[:2] == ["done"] * 2


def test_outcome_that_cannot_be_written_does_not_stop_others(direct_queue: Queue) -> None:
    jobs = claim_all(direct_queue, 5)
    locked = min(jobs, key=lambda job: job.id.int)
    ran: list[Job] = []
    with closing(impatient(direct_queue)) as database, psycopg.connect(direct_queue.url) as other:
        for job in jobs:
            job.lease.database = database
        other.execute("select from minutehand.jobs where id = %s for update", [locked.id])
        with pytest.raises(BusyError):
            run(jobs, lambda _payload, job: ran.append(job))

    # On a slow machine, the group is written before the last job has run, and no further one starts.
    assert [job.id for job in ran if states(direct_queue, [job]) != ["done"]] == [locked.id]


def test_outcome_is_kept_if_the_server_gives_up_once(direct_queue: Queue) -> None:
    """Nothing is wrong with it: the attempt must not fail for that."""
    job = direct_queue.claimed()
    with psycopg.connect(direct_queue.url) as other:
        other.execute("select from minutehand.jobs where id = %s for update", [job.id])

        class Waited(Database):
            """Another session releases the row after the first statement that did not get it."""

            def run(self, name: str, /, **parameters: Any) -> list[Any]:
                try:
                    return super().run(name, **parameters)
                except BusyError:
                    other.rollback()
                    raise

        with closing(Waited(impatient_url(direct_queue))) as database:
            job.lease.database = database
            assert finish(job, Done()).ending == "done"


def test_error_of_another_outcome_is_not_raised_in_a_handler(
    direct_queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The group stays open until the handler's transaction writes it.
    monkeypatch.setattr("minutehand.attempts.group.SECONDS", 60.0)
    jobs = claim_all(direct_queue, 2, max_attempts=1)
    with closing(impatient(direct_queue)) as database, psycopg.connect(direct_queue.url) as other:
        for job in jobs:
            job.lease.database = database
        other.execute("select from minutehand.jobs where id = %s for update", [jobs[0].id])

        def handler(payload: int, job: Job) -> None:
            if payload == 1:
                with job.transaction():
                    pass
                other.rollback()

        assert run(jobs, handler) == ["done"] * 2


def test_alarm_of_a_handler_does_not_lift_the_next_limit(direct_queue: Queue) -> None:
    jobs = claim_all(direct_queue, 2, timeout=timedelta(seconds=1))

    def handler(payload: int) -> None:
        if payload == 0:
            signal.signal(signal.SIGALRM, lambda *_: None)
            signal.alarm(1)
        else:
            Event().wait(60)

    assert run(jobs, handler) == ["done", "retrying"]


def test_events_of_a_group_are_in_no_transaction_of_a_handler(
    direct_queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINUTEHAND_EVENTS", "table")
    monkeypatch.setattr("minutehand.events.publish.BUFFER_SECONDS", 0.0)
    # Events that a slow machine does not send in time are dropped.
    monkeypatch.setattr("minutehand.events.publish.SECONDS", 60.0)
    jobs = claim_all(direct_queue, 2)

    def handler(payload: int, job: Job) -> None:
        if payload == 1:
            with job.database.connection.transaction(force_rollback=True):
                until(lambda: states(direct_queue, jobs[:1]) == ["done"])

    assert run(jobs, handler) == ["done"] * 2
    events = direct_queue.sql("select job from minutehand.events where name = 'done'")
    assert {row["job"] for row in events} == {job.id for job in jobs}


def test_key_of_a_finished_job_is_free_for_the_next_handler(direct_queue: Queue) -> None:
    first, second = claim_all(direct_queue, 1, key="a", unique_while="running") + claim_all(direct_queue, 1)
    outcomes = []

    def handler(payload: int, job: Job) -> None:
        if job is second:
            outcomes.append(direct_queue.enqueue(key="a", unique_while="running"))

    assert run([first, second], handler) == ["done"] * 2
    assert outcomes != [first.id]
