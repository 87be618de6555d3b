"""Counts up to a limit: exact below it, marked above it, and the same for a tenant and for all."""

from datetime import UTC, datetime, timedelta

import pytest

from minutehand import InvalidJobError, Retry
from minutehand.database.tenants import as_tenant
from minutehand.finish import finish
from minutehand.model.outcome import Failed
from minutehand.queries.depths import bounded_stats
from minutehand.queries.jobs import stats
from tests.queue.past import ago, finished, noon
from tests.queue.stage import Queue
from tests.queue.tenants.stage import enqueue_as

SINCE = datetime(2001, 9, 9, tzinfo=UTC)
ERROR = {"type": "ValueError", "message": "no", "trace": ""}
HOUR = timedelta(hours=1)


def fill(queue: Queue) -> None:
    """Leave jobs in every state that is counted, with several priorities and queues."""
    finish(queue.claimed(retry=Retry(min=HOUR, jitter=False)), Failed(ERROR))
    finish(queue.claimed(max_attempts=1), Failed(ERROR))
    queue.claimed()
    queue.enqueue(priority=9)
    queue.enqueue()
    queue.enqueue(delay=HOUR)
    queue.enqueue(queue="mail", delay=HOUR)


def test_counts_below_the_limit_are_exact(queue: Queue) -> None:
    fill(queue)
    exact = {(each.queue, each.state, each.jobs, each.since) for each in stats(queue.database)}
    bounded = bounded_stats(queue.database, since=SINCE)

    assert {(each.queue, each.state, each.jobs, each.since) for each in bounded} == exact
    assert {each.state for each in bounded} == {"due", "scheduled", "running", "retrying", "dead"}
    assert not any(each.more for each in bounded)


def test_counts_above_the_limit_say_that_there_may_be_more(queue: Queue) -> None:
    for priority in (1, 1, 1, 9):
        queue.enqueue(priority=priority)
    finished(queue, noon(ago(queue, 1)), "dead", count=3)
    queue.enqueue(queue="mail")

    found = {
        (each.queue, each.state): (each.jobs, each.more)
        for each in bounded_stats(queue.database, since=SINCE, limit=2)
    }

    assert found == {
        ("default", "due"): (2, True),
        ("default", "dead"): (2, True),
        ("mail", "due"): (1, False),
    }


def test_state_that_others_may_hide_is_not_reported_as_empty(queue: Queue) -> None:
    queue.enqueue(delay=HOUR)

    (scheduled, retrying) = sorted(
        bounded_stats(queue.database, since=SINCE, limit=1), key=lambda each: each.state, reverse=True
    )
    assert (scheduled.jobs, scheduled.more) == (1, True)
    assert (retrying.state, retrying.jobs, retrying.more, retrying.since) == ("retrying", 0, True, None)


def test_dead_jobs_are_counted_since_a_time_in_one_queue(queue: Queue) -> None:
    finished(queue, noon(ago(queue, 3)), "dead")
    finished(queue, noon(ago(queue, 1)), "dead")
    queue.enqueue(queue="mail")

    (dead,) = bounded_stats(queue.database, since=noon(ago(queue, 2)), queue="default")
    assert (dead.state, dead.jobs) == ("dead", 1)


def test_tenant_counts_its_own_jobs(queue: Queue) -> None:
    enqueue_as(queue, "a")
    enqueue_as(queue, "a")
    enqueue_as(queue, "b")

    with as_tenant(queue.database, "a") as tenant:
        (due,) = bounded_stats(tenant, since=SINCE, limit=1)
    assert (due.jobs, due.more) == (1, True)


def test_limit_of_the_counts_is_bounded(queue: Queue) -> None:
    with pytest.raises(InvalidJobError, match="limit must be from 1 to 1000, got 1001"):
        bounded_stats(queue.database, since=SINCE, limit=1001)
