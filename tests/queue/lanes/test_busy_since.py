"""Counts of offered and running jobs start at `busy_since`, and miss none of these jobs."""

from datetime import datetime, timedelta
from typing import LiteralString

import pytest

from minutehand import enqueue
from minutehand.offer import withdraw
from tests.queue.lanes.stage import finish_all, maintain, tick
from tests.queue.stage import Queue

MARGIN = timedelta(seconds=6)
HOUR = timedelta(hours=1)
# The jobs were claimed an hour ago, and their leases last for another one.
AGE: LiteralString = """update minutehand.jobs_live
    set claimed = claimed - interval '1 hour', visible = visible + interval '1 hour'"""
AHEAD: LiteralString = "update minutehand.dispatcher set busy_since = now() + interval '1 hour'"
LAPSE: LiteralString = "update minutehand.jobs_live set visible = now()"


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
    direct_queue.database.run("advance_settled", now=None, pause=timedelta())

    recent = (
        "select busy_since between now() - interval '1 minute' and now() as yes from minutehand.dispatcher"
    )
    assert direct_queue.sql(recent) == [{"yes": True}]


def test_lapsed_claim_counts_again_when_it_is_extended(direct_queue: Queue) -> None:
    job = direct_queue.claimed()
    direct_queue.sql(AGE)
    direct_queue.sql(LAPSE)
    maintain(direct_queue)

    job.extend(HOUR)

    assert room(direct_queue) == 1


def test_claim_counts_again_when_the_next_offer_is_withdrawn(direct_queue: Queue) -> None:
    job = direct_queue.claimed()
    direct_queue.sql(AGE)
    direct_queue.sql(LAPSE)
    (offer,) = direct_queue.offer()
    maintain(direct_queue)

    withdraw(direct_queue.database, [offer])
    job.extend(HOUR)

    assert room(direct_queue) == 1


@pytest.mark.fault("start_tick", "else '-infinity' end", "else busy_since end")
def test_offers_count_after_the_clock_was_set_back(direct_queue: Queue) -> None:
    direct_queue.sql(AHEAD)
    direct_queue.claimed()

    assert room(direct_queue) == 1


@pytest.mark.fault("advance_settled", "when d.busy_since > now[(][)] then", "when false then")
def test_maintenance_resets_busy_since_after_the_clock_was_set_back(direct_queue: Queue) -> None:
    direct_queue.sql(AHEAD)

    maintain(direct_queue)

    (now,) = direct_queue.sql("select now() as now")
    assert busy_since(direct_queue) <= now["now"] - MARGIN


@pytest.mark.fault("sweep", "where first.start < d.busy_since", "where false")
def test_sweep_repairs_busy_since(direct_queue: Queue) -> None:
    direct_queue.claimed()
    direct_queue.sql(AHEAD)

    direct_queue.database.run("sweep", now=None)

    assert busy_since(direct_queue) == first_claim(direct_queue) - MARGIN
