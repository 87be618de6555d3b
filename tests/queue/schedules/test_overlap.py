"""Overlap: what a firing does while the previous job is unfinished."""

from minutehand.finish import finish
from minutehand.model.outcome import Done
from minutehand.schedules.fire import Fired, fire_due
from tests.queue.schedules.stage import HOUR, NOON, firings, nominals, save
from tests.queue.stage import Queue


def test_overlap_skip_skips_until_the_last_job_is_finished(queue: Queue) -> None:
    save(queue, overlap="skip")
    fire_due(queue.database, NOON + HOUR)
    assert fire_due(queue.database, NOON + 2 * HOUR) == Fired(skipped=1)

    queue.sql("update minutehand.jobs_live set run_at = now(), visible = now()")
    (job,) = queue.take()
    assert fire_due(queue.database, NOON + 3 * HOUR) == Fired(skipped=1)
    finish(job, Done())
    assert fire_due(queue.database, NOON + 4 * HOUR) == Fired(fired=1)

    assert nominals(queue) == [NOON + HOUR, NOON + 4 * HOUR]
    assert [outcome for _, outcome, _ in firings(queue)] == ["fired", "skipped", "skipped", "fired"]


def test_overlap_replace_replaces_only_the_pending_job(queue: Queue) -> None:
    save(queue, overlap="replace")
    for hour in (1, 2):
        fire_due(queue.database, NOON + hour * HOUR)
    assert nominals(queue) == [NOON + 2 * HOUR]

    queue.sql("update minutehand.jobs_live set run_at = now(), visible = now()")
    (running,) = queue.take()
    fire_due(queue.database, NOON + 3 * HOUR)

    assert nominals(queue) == [NOON + 2 * HOUR, NOON + 3 * HOUR]
    assert queue.row(running.id).state == "running"


def test_overlap_is_allowed_by_default(queue: Queue) -> None:
    save(queue)
    for hour in (1, 2, 3):
        assert fire_due(queue.database, NOON + hour * HOUR) == Fired(fired=1)
