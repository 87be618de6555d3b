"""Why: jobs that no worker can run, and a database that is read-only."""

from datetime import timedelta

import psycopg
import pytest

from minutehand.finish import finish
from minutehand.model.outcome import Released
from minutehand.queries.why import why
from tests.queue.stage import Queue


@pytest.mark.parametrize(
    ("error", "reason", "next_step"),
    [
        ("UnknownKindError", "no_handler", "deploy a worker with a handler for echo, or: minutehand delete "),
        ("KeyMissingError", "released", "minutehand show "),
    ],
)
def test_why_names_the_error_of_a_released_job(queue: Queue, error: str, reason: str, next_step: str) -> None:
    job = queue.claimed()
    finish(job, Released(timedelta(minutes=5), {"type": error, "message": "not deployed."}))

    answer = why(queue.database, job.id)

    assert answer.reason == reason
    assert answer.sentence.startswith(
        f"A worker could not run it: {error}: not deployed; it is offered again at "
    )
    assert answer.next_step.startswith(next_step)


def test_why_says_that_the_database_is_read_only(queue: Queue) -> None:
    job = queue.enqueue()
    options = "-c default_transaction_read_only=on"

    with psycopg.connect(queue.url, autocommit=True, options=options) as connection:
        answer = why(connection, job)

    assert answer.reason == "read_only"
    assert answer.sentence == "The database is read-only, so no job can start."
    assert answer.next_step == "minutehand doctor"
