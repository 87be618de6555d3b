"""Queues whose due jobs no worker takes are reported."""

from minutehand.operations.controls import pause
from minutehand.queries.statistics import unserved
from tests.queue.stage import LONG, Queue


def test_queue_whose_due_jobs_nobody_takes_is_unserved(queue: Queue) -> None:
    jobs = {name: [queue.enqueue(queue=name) for _ in range(2)] for name in ("busy", "done", "new", "idle")}
    for name in ("busy", "done", "idle"):
        queue.pass_time(jobs[name][0], by=LONG)
    (running,) = queue.take(queue="busy")
    queue.pass_time(jobs["busy"][1], by=LONG)
    queue.sql(
        "insert into minutehand.attempts (job, attempt, started, queue, kind, outcome)"
        " values (gen_random_uuid(), 1, now(), 'done', 'echo', 'done')"
    )

    (found,) = unserved(queue.database)
    assert (found.queue, found.due, found.late > LONG) == ("idle", 2, True)
    queue.pass_time(running.id, by=LONG)
    assert [each.queue for each in unserved(queue.database)] == ["busy", "idle"]
    pause(queue.database, queue="idle")
    assert [each.queue for each in unserved(queue.database)] == ["busy"]
