"""Invalid operations are refused, not ignored."""

from datetime import UTC, datetime

import pytest

from minutehand import InvalidJobError
from minutehand.operations.deletion import delete_finished
from minutehand.operations.jobs import promote, reschedule
from tests.queue.stage import LONG, Queue


def test_delete_finished_rejects_an_unknown_state(queue: Queue) -> None:
    with pytest.raises(
        InvalidJobError, match="state must be one of cancelled, dead, done, expired, got 'finished'"
    ):
        next(delete_finished(queue.database, datetime.now(UTC), states=["finished"]), None)


@pytest.mark.parametrize("verb", ["promote", "reschedule"])
def test_job_without_attempts_left_cannot_be_moved(queue: Queue, verb: str) -> None:
    job = queue.claimed(max_attempts=1)
    queue.pass_time(job.id)

    (change,) = (
        promote(queue.database, [job.id])
        if verb == "promote"
        else reschedule(queue.database, [job.id], delay=LONG)
    )

    assert change.outcome == "refused"
    assert "has no attempts left" in change.reason
