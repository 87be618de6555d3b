"""Why, of jobs that are done and have an error."""

from collections.abc import Callable
from typing import Any

import pytest

from minutehand.queries.why import why
from tests.queue.stage import Queue


def fails_once(payload: Any, job: Any) -> None:
    if job.attempt == 1:
        raise ConnectionError("the bank did not answer")


def returns_no_json(payload: Any) -> object:
    return object()


@pytest.mark.parametrize(
    ("handler", "end"),
    [
        (fails_once, " ago, after 2 attempts."),
        (returns_no_json, " ago, after 1 attempt, but with an error: ResultError: the result was not stored"),
    ],
)
def test_why_of_a_done_job_omits_the_errors_of_earlier_attempts(
    queue: Queue, handler: Callable[..., Any], end: str
) -> None:
    job = queue.enqueue()
    queue.work(handler)
    queue.sql("update minutehand.jobs_live set visible = now()")
    queue.work(handler)

    sentence = why(queue.database, job).sentence

    assert sentence.startswith("It finished successfully ") and end in sentence
