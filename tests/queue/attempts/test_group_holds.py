"""A job whose handler raises RetryAfter holds back its group, however the attempt ends."""

import pytest

from minutehand.finish import finish
from minutehand.model.outcome import Failed
from minutehand.operations.controls import list_holds
from minutehand.operations.jobs import cancel
from tests.queue.stage import LONG, Queue

BUSY = Failed({"type": "RetryAfter", "message": "busy"}, LONG, hold=LONG)


@pytest.mark.fault("supersede", r"%\(hold\)s::interval", "null::interval")
def test_superseded_job_holds_its_group_back(queue: Queue) -> None:
    job = queue.claimed(key="key", group="customer")
    queue.enqueue(key="key", group="customer")

    ending = finish(job, BUSY)

    assert ending.ending == "superseded"
    assert [hold.group for hold in list_holds(queue.database)] == ["customer"]


def test_job_that_is_cancelled_instead_of_retried_holds_its_group_back(queue: Queue) -> None:
    job = queue.claimed(group="customer")
    cancel(queue.database, [job.id], running=True)

    ending = finish(job, BUSY)

    assert ending.ending == "cancelled"
    assert [hold.group for hold in list_holds(queue.database)] == ["customer"]
