"""The dispatcher is invoked at most once a second, and not while it waits."""

from datetime import timedelta

import pytest

from tests.queue.stage import Queue
from tests.queue.waking.conftest import Lambda

SOON = timedelta(seconds=20)


@pytest.mark.usefixtures("one_request")
# The update has the same condition, for a dispatcher that begins to wait after the read.
@pytest.mark.fault("functions/waking", r"w.until > at or (.*?) where w.until <= at", r"\1")
def test_dispatcher_is_not_invoked_while_it_waits(queue: Queue, aws: Lambda) -> None:
    queue.sql(
        "update minutehand.waiting set waiter = gen_random_uuid(), until = now() + interval '30 seconds'"
    )
    queue.enqueue(delay=SOON)
    assert aws.wakes == 0

    queue.sql("update minutehand.waiting set waiter = null, until = '-infinity'")
    queue.enqueue(delay=SOON)
    queue.enqueue(delay=SOON)
    assert aws.wakes == 1


def test_dispatcher_is_not_invoked_for_a_job_of_the_next_tick(queue: Queue, aws: Lambda) -> None:
    queue.sql("update minutehand.waiting set scheduled = now() - interval '50 seconds'")
    queue.enqueue(delay=SOON)
    assert aws.wakes == 0

    # The ticks have stopped.
    queue.sql("update minutehand.waiting set scheduled = now() - interval '90 seconds'")
    queue.enqueue(delay=SOON)
    assert aws.wakes == 1
