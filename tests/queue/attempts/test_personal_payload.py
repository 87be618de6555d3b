"""A personal payload is cleared when its job is finished."""

from collections.abc import Callable

import pytest

from minutehand import Job
from minutehand.finish import finish
from minutehand.maintenance import run_maintenance
from minutehand.model.outcome import Done, Failed, Released
from minutehand.operations.jobs import cancel
from tests.queue.stage import Queue

ERROR = {"type": "ValueError", "message": "no", "trace": ""}


def end_in_sql(queue: Queue, job: Job) -> None:
    queue.sql("update minutehand.jobs set deleted = now() where id = %(id)s", id=job.id)


def superseded(queue: Queue, job: Job) -> None:
    queue.enqueue(key=job.key)
    assert finish(job, Failed(ERROR)).ending == "superseded"


def reaped_by_maintenance(queue: Queue, job: Job) -> None:
    queue.pass_time(job.id)
    assert run_maintenance(queue.database).reaped


def cancelled_by_operator(queue: Queue, job: Job) -> None:
    queue.pass_time(job.id)
    cancel(queue.database, [job.id])


ENDS: dict[str, Callable[[Queue, Job], object]] = {
    "done": lambda _, job: finish(job, Done('"the result stays"')),
    "dead": lambda _, job: finish(job, Failed(ERROR, final=True)),
    "superseded": superseded,
    "reaped": reaped_by_maintenance,
    "cancelled": cancelled_by_operator,
    "in SQL": end_in_sql,
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_personal_payload_is_cleared_by_every_way_to_finish(
    queue: Queue, end: Callable[[Queue, Job], object]
) -> None:
    def content(job: Job) -> tuple[object, object]:
        (row,) = queue.sql("select payload, headers from minutehand.jobs where id = %(id)s", id=job.id)
        return row["payload"], row["headers"]

    personal = queue.claimed(
        payload={"name": "Ada"},
        headers={"to": "Ada"},
        key="a",
        max_attempts=1 if end is reaped_by_maintenance else 8,
    )
    queue.sql("update minutehand.jobs_live set personal = true where id = %(id)s", id=personal.id)
    end(queue, personal)
    for job in queue.take(10):
        finish(job, Done())
    other = queue.claimed(
        payload={"name": "Ada"},
        headers={"to": "Ada"},
        key="b",
        max_attempts=1 if end is reaped_by_maintenance else 8,
    )
    end(queue, other)

    assert queue.row(personal.id).state in ("done", "dead", "cancelled")
    assert content(personal) == (None, None)
    assert content(other) == ({"name": "Ada"}, {"to": "Ada"})


def test_personal_payload_is_kept_until_the_job_is_finished(queue: Queue) -> None:
    job_id = queue.enqueue(payload={"name": "Ada"})
    queue.sql("update minutehand.jobs_live set personal = true where id = %(id)s", id=job_id)
    for outcome in (Failed(ERROR), Released()):
        (job,) = queue.take()
        assert job.payload == {"name": "Ada"}
        finish(job, outcome)
        queue.pass_time(job_id)

    (job,) = queue.take()
    assert job.payload == {"name": "Ada"}
