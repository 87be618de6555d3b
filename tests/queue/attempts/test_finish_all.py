"""Outcomes that are written together: each with its own fence, and a bad one alone."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from minutehand import Job
from minutehand.attempts.record import done_columns
from minutehand.database.statements import statement
from minutehand.finish import finish, finish_all
from minutehand.model.outcome import DONE, Cancelled, Done, Failed, Finish, Outcome, Released, Snoozed
from minutehand.operations.jobs import cancel
from tests.queue.attempts.stage import outcomes
from tests.queue.recurring.stage import NOMINAL, recurring
from tests.queue.stage import LONG, Queue

pytestmark = pytest.mark.every_server

ERROR = {"type": "ValueError", "message": "no", "trace": ""}
AGAIN = Failed(ERROR, LONG)


def write(jobs: list[Job], *each: Outcome) -> list[Finish]:
    """Write the outcomes of jobs together; a single one is that of all."""
    given = each if len(each) > 1 else each * len(jobs)
    finishes = dict(finish_all(list(zip(jobs, given, strict=True))))
    return [finishes[place] for place in range(len(jobs))]


def endings(finishes: list[Finish]) -> list[str]:
    return [finish.ending for finish in finishes]


def transactions(queue: Queue, jobs: list[Job]) -> int:
    """Count the transactions that wrote the attempts of jobs."""
    rows = queue.sql(
        "select distinct xmin::text from minutehand.attempts where job = any (%(ids)s)",
        ids=[job.id for job in jobs],
    )
    return len(rows)


def claimed(queue: Queue, count: int, **options: Any) -> list[Job]:
    return [queue.claimed(**options) for _ in range(count)]


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


@pytest.mark.fault("finish_done", r"j\.batch is null and ", "")
@pytest.mark.fault("finish_done", r" and j\.group is null", "")
def test_smaller_statement_skips_jobs_of_batches_and_groups(queue: Queue) -> None:
    plain, grouped, counted = queue.claimed(), queue.claimed(group="house"), queue.claimed()
    queue.sql(
        "update minutehand.jobs_live set batch = %(batch)s where id = %(id)s", batch=uuid4(), id=counted.id
    )

    (done,) = queue.database.run("finish_done", **done_columns([plain, grouped, counted], None))

    assert (done["ended"], done["ids"]) == (1, [plain.id])


@pytest.mark.fault("finish_in_batch", r" and j\.ack = .*?j\.id\)\]", "")
@pytest.mark.fault("finish_in_batch", r" and j\.group is null", "")
def test_statement_for_batches_ends_what_its_fence_allows(queue: Queue) -> None:
    plain, grouped, counted, lost = (
        queue.claimed(),
        queue.claimed(group="house"),
        queue.claimed(),
        queue.claimed(),
    )
    queue.sql(
        "update minutehand.jobs_live set batch = %(batch)s where id = %(id)s", batch=uuid4(), id=counted.id
    )
    queue.sql("update minutehand.jobs_live set ack = gen_random_uuid() where id = %(id)s", id=lost.id)

    (done,) = queue.database.run("finish_in_batch", **done_columns([plain, grouped, counted, lost], None))

    assert {*done["ids"]} == {plain.id, counted.id}
    assert [outcomes(queue, job.id) for job in (plain, counted)] == [[(1, "done")]] * 2


def test_statement_for_batches_differs_from_the_smallest_in_the_count_only() -> None:
    smallest, counting = (
        statement(name).split("with ended")[1] for name in ("finish_done", "finish_in_batch")
    )
    head, _, tail = counting.partition("), counted as (")
    without = f"{head}){tail.partition(chr(10) + ')')[2].replace(', (select count(*) from counted) as counted', '')}"

    assert without.replace("j.deleted, j.batch,", "j.deleted,") == smallest.replace(
        "j.batch is null and ", ""
    )


def test_done_job_that_the_smaller_statement_skips_is_ended(queue: Queue) -> None:
    jobs = claimed(queue, 3)
    queue.sql("update minutehand.jobs_live set \"group\" = 'house' where id = %(id)s", id=jobs[1].id)

    assert endings(write(jobs, Done())) == ["done"] * 3
    assert [outcomes(queue, job.id) for job in jobs] == [[(1, "done")]] * 3


@pytest.mark.fault("finish_done", r" filter \(where awaited\)", "")
def test_finish_tells_which_jobs_are_awaited(queue: Queue) -> None:
    jobs = claimed(queue, 3)
    queue.enqueue(after=[jobs[1].id])

    assert [finish.awaited for finish in write(jobs, DONE)] == [False, True, False]


@pytest.mark.fault("finish_done", r"\(select clock_timestamp\(\)\)", "clock_timestamp()")
def test_finish_has_the_time_of_its_row(queue: Queue) -> None:
    jobs = claimed(queue, 3)

    finishes = write(jobs, DONE)

    assert [finish.at for finish in finishes] == [queue.row(job.id).deleted for job in jobs]


def test_results_of_a_group_are_those_of_its_finishes(queue: Queue) -> None:
    jobs = claimed(queue, 3)
    queue.sql("update minutehand.jobs_live set \"group\" = 'house' where id = %(id)s", id=jobs[1].id)

    finishes = write(jobs, Done("1"), Done("2"), DONE)

    assert [finish.result for finish in finishes] == ["1", "2", None]
    assert [queue.row(job.id).result for job in jobs] == [1, 2, None]


def test_attempt_in_a_group_has_its_own_duration(queue: Queue) -> None:
    jobs = claimed(queue, 2)
    for job, seconds in zip(jobs, (600, 1), strict=True):
        assert job.lease.started is not None
        job.lease.ended = job.lease.started + seconds

    write(jobs, Done())

    rows = queue.sql("select ended - started as took from minutehand.attempts order by 1")
    assert [row["took"] for row in rows] == [timedelta(seconds=1), timedelta(seconds=600)]
