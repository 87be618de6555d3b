"""In the mode sleep, ticks come only when a job is due."""

from minutehand.queries.why import why
from tests.queue.stage import Queue

TICKED = "update minutehand.dispatcher set ticked = '2026-01-31 07:00Z', mode = 'sleep'"


def test_job_that_has_just_become_due_waits_for_the_next_tick(queue: Queue) -> None:
    queue.sql(TICKED)

    assert why(queue.database, queue.enqueue()).reason == "next_tick"


def test_job_that_no_tick_has_found_for_minutes_has_no_dispatcher(queue: Queue) -> None:
    queue.sql(TICKED)
    job = queue.enqueue()
    queue.sql(
        "update minutehand.jobs_live set run_at = run_at - interval '1 hour', visible = visible - interval '1 hour'"
    )

    assert why(queue.database, job).reason == "silent_dispatcher"
