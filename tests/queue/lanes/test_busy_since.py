"""Counts of offered and running jobs start at `busy_since`, and miss none of these jobs."""

from datetime import datetime, timedelta
from typing import LiteralString

import pytest

from minutehand import enqueue
from tests.queue.lanes.stage import finish_all, maintain, tick
from tests.queue.stage import Queue

MARGIN = timedelta(seconds=6)
HOUR = timedelta(hours=1)
# The jobs were claimed an hour ago, and their leases last for another one.
AGE: LiteralString = """update minutehand.jobs_live
    set claimed = claimed - interval '1 hour', visible = visible + interval '1 hour'"""
LAPSE: LiteralString = "update minutehand.jobs_live set visible = now() - interval '1 minute'"


def busy_since(queue: Queue) -> datetime:
    since: datetime = queue.sql("select busy_since from minutehand.dispatcher")[0]["busy_since"]
    return since


def first_claim(queue: Queue) -> datetime:
    first: datetime = queue.sql("select min(claimed) as first from minutehand.jobs_live")[0]["first"]
    return first


def room(queue: Queue, capacity: int = 2) -> int:
    """Return how many jobs a tick would offer."""
    for _ in range(capacity):
        queue.enqueue("other")
    return len(queue.offer(capacity))


@pytest.mark.fault("advance_settled", r"least\(first.start, d.settled, now\(\)\)", "least(d.settled, now())")
def test_busy_since_is_below_the_first_claim(direct_queue: Queue) -> None:
    direct_queue.claimed()
    direct_queue.sql(AGE)

    maintain(direct_queue)

    assert busy_since(direct_queue) == first_claim(direct_queue) - MARGIN
    assert room(direct_queue) == 1


def test_busy_since_passes_finished_jobs(direct_queue: Queue) -> None:
    direct_queue.claimed()
    direct_queue.sql(AGE)
    maintain(direct_queue)
    finish_all(direct_queue)
    (now,) = direct_queue.sql("select now() as now")

    maintain(direct_queue)

    assert busy_since(direct_queue) > now["now"] - HOUR / 2


@pytest.mark.fault("advance_settled", "d.settled, now", "now")
def test_busy_since_waits_for_open_transactions(direct_queue: Queue) -> None:
    slow = direct_queue.another()
    with slow.transaction():
        enqueue("echo", connection=slow)
        (began,) = direct_queue.sql("select now() as time")
        direct_queue.sql("update minutehand.dispatcher set marked = null, mark = null")
        for _ in range(3):
            tick(direct_queue)

        early = "select busy_since <= %(time)s - interval '6 seconds' as yes from minutehand.dispatcher"
        assert direct_queue.sql(early, **began) == [{"yes": True}]


@pytest.mark.fault("advance_settled", ", now[(][)][)] - interval", ") - interval")
def test_busy_since_is_not_in_the_future_of_the_server(direct_queue: Queue) -> None:
    tick(direct_queue, ahead=HOUR)

    assert busy_since(direct_queue) <= direct_queue.sql("select now() as now")[0]["now"] - MARGIN


def test_lapsed_claim_counts_again_when_it_is_extended(direct_queue: Queue) -> None:
    job = direct_queue.claimed()
    direct_queue.sql(AGE)
    direct_queue.sql(LAPSE)
    maintain(direct_queue)

    job.extend(HOUR)

    assert room(direct_queue) == 1


@pytest.mark.fault(
    "start_tick", "least[(]busy_since, coalesce[(].*[)] - interval '6 seconds'[)]", "busy_since"
)
def test_offers_of_a_clock_that_was_set_back_count(direct_queue: Queue) -> None:
    maintain(direct_queue)
    (now,) = direct_queue.sql("select now() as now")
    earlier = now["now"] - HOUR
    direct_queue.enqueue()
    direct_queue.sql("update minutehand.jobs set visible = now() - interval '2 hours'")
    tick(direct_queue, ahead=-HOUR)

    assert len(direct_queue.offer(2, now=earlier)) == 1
    direct_queue.sql("update minutehand.jobs_live set visible = now() + interval '1 hour'")
    assert room(direct_queue) == 1


@pytest.mark.fault("sweep", "where first.start < d.busy_since", "where false")
def test_sweep_repairs_busy_since(direct_queue: Queue) -> None:
    direct_queue.claimed()
    direct_queue.sql("update minutehand.dispatcher set busy_since = now() + interval '1 hour'")

    direct_queue.database.run("sweep", now=None)

    assert busy_since(direct_queue) == first_claim(direct_queue) - MARGIN
