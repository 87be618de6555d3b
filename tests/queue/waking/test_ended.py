"""In mode prompt, a worker wakes for what the ends of its jobs have created."""

from minutehand import Fail, batch
from minutehand.model.outcome import Finish
from minutehand.waking.ended import wake_for
from tests.queue.stage import LONG, Queue
from tests.queue.waking.conftest import Lambda


def work(queue: Queue, error: Exception | None = None) -> list[Finish]:
    """Let a worker run a due job, and wake as the worker of the stack does."""

    def handler(job: object) -> None:
        if error:
            raise error

    endings = queue.work(handler)
    wake_for(queue.database, endings)
    return endings


def ids(queue: Queue, kind: str) -> list[list[str]]:
    rows = queue.sql("select id from minutehand.jobs_live where kind = %(kind)s", kind=kind)
    return [[str(row["id"])] for row in rows]


def test_callback_of_a_batch_is_offered_when_its_last_job_ends(queue: Queue, aws: Lambda) -> None:
    with batch(connection=queue.database, on_complete="callback") as b:
        b.enqueue("echo", delay=LONG)
        b.enqueue("echo", delay=LONG)
    queue.sql("update minutehand.jobs_live set visible = now(), run_at = now()")
    aws.events.clear()

    work(queue)
    assert aws.events == []
    work(queue)
    assert aws.offered == ids(queue, "callback") != []


def test_job_of_on_dead_is_offered_when_the_other_dies(queue: Queue, aws: Lambda) -> None:
    queue.sql("""select minutehand.enqueue('echo', on_dead => '{"kind": "alert"}')""")

    work(queue, Fail("no"))

    assert aws.offered == ids(queue, "alert") != []


def test_next_occurrence_before_the_next_tick_wakes_the_dispatcher(queue: Queue, aws: Lambda) -> None:
    queue.sql("select minutehand.enqueue('echo', every => 'PT30S', run_at => now())")

    (ending,) = work(queue)

    (row,) = queue.sql("select run_at from minutehand.jobs_live")
    assert ending.next_at == row["run_at"]
    assert (aws.offered, aws.wakes) == ([], 1)


def test_next_occurrence_after_the_next_tick_wakes_nothing(queue: Queue, aws: Lambda) -> None:
    queue.sql("select minutehand.enqueue('echo', every => 'PT1H', run_at => now())")

    work(queue)

    assert aws.events == []
