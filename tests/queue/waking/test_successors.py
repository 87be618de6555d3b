"""In mode prompt, the end of a job wakes the dispatcher for the jobs that run after it."""

from uuid import UUID

from minutehand.operations.jobs import cancel
from tests.queue.stage import LONG, Queue
from tests.queue.waking.conftest import Lambda


def predecessor(queue: Queue, delay: str) -> UUID:
    """Enqueue a job in SQL, which wakes nothing."""
    (row,) = queue.sql("select id from minutehand.enqueue('echo', delay => %(delay)s::interval)", delay=delay)
    job_id: UUID = row["id"]
    return job_id


def test_end_of_a_job_wakes_the_dispatcher_for_its_successor(queue: Queue, aws: Lambda) -> None:
    first = predecessor(queue, "0 s")
    queue.enqueue("next", after=[first], queue="other")
    assert (aws.wakes, aws.offered) == (0, [])
    queue.work(lambda job: None)
    assert aws.wakes == 1
    queue.enqueue(delay=LONG)
    assert aws.wakes == 1


def test_end_of_a_job_without_successors_wakes_nothing(queue: Queue, aws: Lambda) -> None:
    predecessor(queue, "0 s")
    queue.work(lambda job: None)
    assert (aws.wakes, aws.offered) == (0, [])


def test_cancellation_wakes_the_dispatcher_for_a_successor(queue: Queue, aws: Lambda) -> None:
    first = predecessor(queue, "1 h")
    queue.enqueue("next", after=[first], after_failure="run")
    cancel(queue.database, [first])
    assert aws.wakes == 1
