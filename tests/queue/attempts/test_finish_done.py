"""Jobs that are done end by a smaller statement, and those that it skips by `finish`."""

from uuid import uuid4

import pytest

from minutehand.attempts.record import done_columns
from minutehand.database.statements import statement
from minutehand.model.outcome import DONE, Done
from tests.queue.attempts.stage import claimed, endings, outcomes, write
from tests.queue.stage import Queue

pytestmark = pytest.mark.every_server


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


@pytest.mark.fault("finish_done", r"statement_timestamp\(\)", "clock_timestamp()")
def test_finish_that_waits_for_a_job_has_the_time_of_each_row(queue: Queue) -> None:
    jobs = claimed(queue, 3)
    other = queue.another()
    with other.transaction():
        other.connection.execute("update minutehand.jobs_live set priority = 1 where id = %s", [jobs[1].id])
        writing = queue.start(write, jobs, DONE)
        queue.until_done_or_waiting(writing)

    assert [finish.at for finish in writing.result()] == [queue.row(job.id).deleted for job in jobs]


def test_results_of_a_group_are_those_of_its_finishes(queue: Queue) -> None:
    jobs = claimed(queue, 3)
    queue.sql("update minutehand.jobs_live set \"group\" = 'house' where id = %(id)s", id=jobs[1].id)

    finishes = write(jobs, Done("1"), Done("2"), DONE)

    assert [finish.result for finish in finishes] == ["1", "2", None]
    assert [queue.row(job.id).result for job in jobs] == [1, 2, None]
