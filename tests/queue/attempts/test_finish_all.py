"""Outcomes that are written together: each with its own fence, and a bad one alone."""

from datetime import timedelta

import pytest

from minutehand import Job
from minutehand.finish import finish
from minutehand.model.outcome import Cancelled, Done, Failed, Outcome, Released, Snoozed
from minutehand.operations.jobs import cancel
from tests.queue.attempts.stage import claimed, endings, outcomes, write
from tests.queue.recurring.stage import NOMINAL, recurring
from tests.queue.stage import LONG, Queue

pytestmark = pytest.mark.every_server

ERROR = {"type": "ValueError", "message": "no", "trace": ""}
AGAIN = Failed(ERROR, LONG)


def transactions(queue: Queue, jobs: list[Job]) -> int:
    """Count the transactions that wrote the attempts of jobs."""
    rows = queue.sql(
        "select distinct xmin::text from minutehand.attempts where job = any (%(ids)s)",
        ids=[job.id for job in jobs],
    )
    return len(rows)


def test_each_outcome_of_a_group_is_written(queue: Queue) -> None:
    given: dict[str, Outcome] = {
        "done": Done('"well"'),
        "dead": Failed(ERROR, final=True),
        "cancelled": Cancelled(ERROR),
        "retrying": Failed(ERROR, LONG, result="7"),
        "snoozed": Snoozed(LONG),
        "released": Released(),
    }
    jobs = claimed(queue, len(given))

    finishes = write(jobs, *given.values())

    assert endings(finishes) == [*given]
    rows = [queue.row(job.id) for job in jobs]
    assert [row.state for row in rows] == ["done", "dead", "cancelled", "retrying", "scheduled", "due"]
    assert [row.result for row in rows] == ["well", None, None, 7, None, None]
    assert [row.error for row in rows] == [None, ERROR, ERROR, ERROR, None, None]
    assert [row.attempts for row in rows] == [1, 1, 1, 1, 0, 0]
    assert [outcomes(queue, job.id) for job in jobs] == [[(1, ending)] for ending in given]
    assert [finish.visible for finish in finishes[3:]] == [row.visible for row in rows[3:]]


def test_one_statement_ends_jobs_and_one_brings_them_back(queue: Queue) -> None:
    ended, back = claimed(queue, 4), claimed(queue, 4)

    write(ended + back, *[Done()] * 3, Failed(ERROR, final=True), *[AGAIN] * 3, Released())

    assert (transactions(queue, ended), transactions(queue, back)) == (1, 1)


@pytest.mark.fault("finish", r"and e\.ack in \(j\.ack, j\.prior\)", "")
@pytest.mark.fault("finish_done", r"and j\.ack = .*?j\.id\)\]", "")
@pytest.mark.fault("finish_done", r"count\(\*\) as ended", "cardinality(%(ids)s::uuid[]) as ended")
@pytest.mark.fault("release", r"and e\.ack in \(j\.ack, j\.prior\)", "")
def test_lost_member_of_a_group_is_lost_alone(queue: Queue) -> None:
    given: dict[str, Outcome] = {"done": Done(), "retrying": AGAIN}
    for ending, outcome in given.items():
        jobs = claimed(queue, 3)
        queue.pass_time(jobs[1].id)
        (owner,) = queue.take()

        assert endings(write(jobs, outcome)) == [ending, "lost", ending]
        assert finish(owner, Done()).ending == "done"


@pytest.mark.parametrize(("good", "bad"), [(Done(), Done("{")), (AGAIN, Failed(ERROR, LONG, result="{"))])
def test_outcome_that_the_database_rejects_fails_alone(queue: Queue, good: Outcome, bad: Outcome) -> None:
    jobs = claimed(queue, 3)

    finishes = write(jobs, good, bad, good)

    assert finishes[0].ending == finishes[2].ending == ("done" if good == Done() else "retrying")
    assert finishes[1].ending == "retrying"
    assert (queue.row(jobs[1].id).error or {})["type"] == "OutcomeError"


def test_job_that_was_offered_again_fails_alone(queue: Queue) -> None:
    """`finish_done` has ended and committed the other one when `finish` rejects the outcome."""
    jobs = claimed(queue, 2)
    queue.sql(
        "update minutehand.jobs_live set prior = ack, ack = gen_random_uuid() where id = %(id)s",
        id=jobs[1].id,
    )

    assert endings(write(jobs, Done(), Done("{"))) == ["done", "retrying"]


def test_result_that_is_too_large_is_dropped_alone(queue: Queue) -> None:
    queue.sql("update minutehand.settings set max_result = 16384")
    jobs = claimed(queue, 2)

    write(jobs, Done(f'"{"x" * 16384}"'), Done('"small"'))

    assert [queue.row(job.id).result for job in jobs] == [None, "small"]
    assert (queue.row(jobs[0].id).error or {})["type"] == "ResultError"


def test_member_whose_key_was_enqueued_again_is_superseded_alone(queue: Queue) -> None:
    jobs = [queue.claimed(key=f"key {number}") for number in range(3)]
    queue.enqueue(key="key 1")

    assert endings(write(jobs, AGAIN)) == ["retrying", "superseded", "retrying"]


def test_member_that_was_requested_to_cancel_is_cancelled_alone(queue: Queue) -> None:
    jobs = claimed(queue, 3)
    cancel(queue.database, [jobs[1].id], running=True)

    assert endings(write(jobs, AGAIN)) == ["retrying", "cancelled", "retrying"]


def test_member_that_another_session_finishes_meanwhile_is_lost(queue: Queue) -> None:
    jobs = claimed(queue, 3)
    other = queue.another()
    with other.transaction():
        other.connection.execute(
            "update minutehand.jobs set deleted = clock_timestamp() where id = %s", [jobs[1].id]
        )
        writing = queue.start(write, jobs, Done())
        queue.until_done_or_waiting(writing)

    assert endings(writing.result()) == ["done", "lost", "done"]


def test_recurring_members_have_their_own_next_occurrences(queue: Queue) -> None:
    jobs = [recurring(queue, every=every, payload=every) for every in ("P1D", "P2D")]
    plain = queue.claimed()

    finishes = write([*jobs, plain], Done(), Failed(ERROR, final=True), Done())

    assert finishes[2].next is None
    rows = [queue.row(finish.next) for finish in finishes[:2] if finish.next]
    assert [row.payload for row in rows] == ["P1D", "P2D"]
    assert [row.run_at for row in rows] == [NOMINAL + timedelta(days=days) for days in (1, 2)]


def test_dead_members_create_their_own_jobs(queue: Queue) -> None:
    jobs = claimed(queue, 3, on_dead="alert")

    finishes = write(jobs, Failed(ERROR, final=True), Done(), Failed(ERROR, final=True))

    assert finishes[1].on_dead is None
    dead = [queue.row(finish.on_dead).payload["dead"]["id"] for finish in finishes if finish.on_dead]
    assert dead == [str(jobs[0].id), str(jobs[2].id)]


def test_attempt_in_a_group_has_its_own_duration(queue: Queue) -> None:
    jobs = claimed(queue, 2)
    for job, seconds in zip(jobs, (600, 1), strict=True):
        assert job.lease.started is not None
        job.lease.ended = job.lease.started + seconds

    write(jobs, Done())

    rows = queue.sql("select ended - started as took from minutehand.attempts order by 1")
    assert [row["took"] for row in rows] == [timedelta(seconds=1), timedelta(seconds=600)]
