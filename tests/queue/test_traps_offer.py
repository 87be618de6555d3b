"""Known faults of dispatching: repeated offers of one backlog, and capacity that is counted outside the lock."""

from datetime import timedelta
from threading import Barrier

import pytest

from minutehand.finish import finish
from minutehand.model.offer import Offer
from minutehand.model.outcome import Done
from tests.queue.stage import LONG, Queue

pytestmark = pytest.mark.every_server

CAPACITY = 5


@pytest.mark.fault("offer", r"coalesce\(%\(now\)s, clock_timestamp\(\)\) \+ %\(ttl\)s", "visible + %(ttl)s")
@pytest.mark.fault("offer", r",\s*visible = coalesce\(%\(now\)s, clock_timestamp\(\)\) \+ %\(ttl\)s", "")
def test_overdue_job_is_offered_by_one_of_25_ticks(queue: Queue) -> None:
    queue.pass_time(queue.enqueue(), by=LONG)

    assert [len(queue.offer()) for _ in range(25)] == [1] + [0] * 24


@pytest.mark.fault(
    "offer", r"coalesce\(%\(now\)s, clock_timestamp\(\)\) \+ %\(ttl\)s", "now() - interval '1 second'"
)
def test_throttled_workers_are_not_invoked_again_for_one_backlog(queue: Queue) -> None:
    for _ in range(3 * CAPACITY):
        queue.enqueue()

    assert [len(queue.offer(CAPACITY)) for _ in range(10)] == [CAPACITY] + [0] * 9


def test_unclaimed_offer_is_repeated_after_its_lifetime(queue: Queue) -> None:
    job_id = queue.enqueue()
    (lost,) = queue.offer()
    queue.pass_time(job_id)
    (again,) = queue.offer()

    assert (again.id, lost.id) == (job_id, job_id)
    assert again.ack != lost.ack


@pytest.mark.fault("offer", r"limit \(select room from room\)\) chosen", ") chosen")
@pytest.mark.fault("offer", r"limit s\.jobs", "limit all")
@pytest.mark.fault("offer", r" - coalesce\(sum\(jobs\), 0\)", "")
@pytest.mark.fault("offer", r"coalesce\(offered, claimed\) is not null", "claimed is not null")
def test_tick_offers_no_more_than_the_capacity(queue: Queue) -> None:
    for name in ("a", "b", "c"):
        for _ in range(5):
            queue.enqueue(queue=name)
    queue.take(2, "a")

    assert len(queue.offer(capacity=6)) == 4
    assert queue.offer(capacity=6) == []
    assert len(queue.offer(capacity=7)) == 1
    assert queue.offer(capacity=0) == []


def test_capacity_is_freed_by_a_finish_and_by_a_crash(queue: Queue) -> None:
    for _ in range(3):
        queue.enqueue()
    one, other = queue.claim(*queue.offer(capacity=2))
    finish(one, Done())

    assert len(queue.offer(capacity=2)) == 1
    queue.pass_time(other.id)
    assert [offered.id for offered in queue.offer(capacity=2)] == [other.id]


# The locks of workers, which a tick takes as well, would also let ticks wait for each other.
@pytest.mark.fault(
    "start_tick",
    r"update.*?returning ticked(.*?) for no key update",
    r"select ticked from minutehand.dispatcher\1",
)
def test_capacity_is_counted_by_one_tick_at_a_time(queue: Queue) -> None:
    for _ in range(3 * CAPACITY):
        queue.enqueue()
    other = queue.another()

    with other.transaction():
        first = queue.offer(CAPACITY, database=other)
        counting = queue.start(queue.offer, CAPACITY)
        queue.until_done_or_waiting(counting)
    second = counting.result()

    assert len(first) + len(second) == CAPACITY


def test_eight_concurrent_dispatchers_never_exceed_the_capacity(queue: Queue) -> None:
    for _ in range(20 * CAPACITY):
        queue.enqueue()
    barrier = Barrier(8, timeout=60)

    def dispatcher() -> tuple[list[Offer], int]:
        database, peak, offers = queue.another(), 0, []
        barrier.wait()
        for _ in range(5):
            offers += queue.offer(CAPACITY, database=database)
            (busy,) = queue.sql("select count(*) as jobs from minutehand.jobs_live where ack is not null")
            peak = max(peak, busy["jobs"])
        return offers, peak

    dispatchers = [queue.start(dispatcher) for _ in range(8)]
    made = [future.result() for future in dispatchers]

    assert max(peak for _, peak in made) == CAPACITY
    assert len([offered for offers, _ in made for offered in offers]) == CAPACITY


@pytest.mark.fault("offer", r"for update skip locked", "")
@pytest.mark.fault("offer", r"skip locked", "")
def test_tick_skips_jobs_that_a_worker_is_taking(queue: Queue) -> None:
    job_id = queue.enqueue()
    other = queue.another()

    with other.transaction():
        (taken,) = queue.take(database=other)
        offering = queue.start(queue.offer)
        queue.until_done_or_waiting(offering)
        waited = not offering.done()
    offered = offering.result()

    assert taken.id == job_id
    assert offered == []
    assert not waited
    taken.lease.database = queue.database
    assert finish(taken, Done()).ending == "done"


@pytest.mark.fault("offer", r"\(partition by l.queue order by", "(order by")
def test_long_queue_does_not_block_other_queues(queue: Queue) -> None:
    for _ in range(20):
        queue.enqueue(queue="long")
    for name in ("short", "shorter"):
        queue.enqueue(queue=name)

    assert {offered.queue for offered in queue.offer(capacity=3)} == {"long", "short", "shorter"}


@pytest.mark.fault("offer", r" and attempts < max_attempts", "")
def test_job_without_attempts_left_is_not_offered(queue: Queue) -> None:
    job = queue.claimed(max_attempts=1)
    queue.pass_time(job.id)

    assert queue.offer() == []


@pytest.mark.fault("offer", r"visible <= coalesce\(%\(now\)s, now\(\)\)", "true")
def test_job_is_not_offered_before_it_is_due(queue: Queue) -> None:
    # Without a due job, nothing would read the lane.
    other = queue.enqueue()
    (row,) = queue.sql("select id, visible from minutehand.enqueue('echo', delay => '1 hour')")
    due = row["visible"]

    assert [offered.id for offered in queue.offer(now=due - timedelta(microseconds=1))] == [other]
    assert [offered.id for offered in queue.offer(now=due)] == [row["id"]]


@pytest.mark.fault("end_tick", r">= %\(room\)s", "> %(room)s")
@pytest.mark.fault("end_tick", r">= %\(room\)s::integer", ">= 1")
def test_tick_records_whether_its_offers_fill_the_capacity(queue: Queue) -> None:
    for _ in range(4):
        queue.enqueue()

    for capacity, offers, is_full in ((3, 3, True), (5, 1, False)):
        assert len(queue.offer(capacity)) == offers
        assert queue.sql("select is_full from minutehand.dispatcher") == [{"is_full": is_full}]
