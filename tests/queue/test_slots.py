"""Slots: a worker goes on with the next due jobs of its queue, within the capacity that the dispatcher counts."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from threading import Event
from typing import Any

import pytest

from minutehand import Database
from minutehand.attempts.claimed import Claim
from minutehand.claim import take
from minutehand.finish import finish
from minutehand.model.outcome import Done
from minutehand.model.slots import Slots
from minutehand.operations.controls import limit, pause
from tests.queue.stage import GRACE, LEASE, Queue

BUSY = """select count(*) as jobs from minutehand.jobs_live
           where coalesce(offered, claimed) is not null and visible > clock_timestamp()"""
CAPACITY = 4


def end(job: Claim) -> datetime:
    """Finish a job, and return when its slot became free."""
    at = finish(job, Done()).at
    assert at is not None
    return at


def go_on(
    queue: Queue, *freed: datetime, name: str = "default", database: Database | None = None, **suiting: Any
) -> list[Any]:
    """Return the payloads of the jobs that a worker takes in these slots."""
    slots = Slots(freed=freed, **{"otherwise": 0.0} | suiting)
    jobs = take(database or queue.database, name, max(1, len(freed)), LEASE, GRACE, slots=slots)
    return [job.payload for job in jobs]


def busy_worker(queue: Queue, capacity: int = 1, name: str = "default") -> Claim:
    """Fill the capacity with jobs of a queue, and return one that has been claimed."""
    for _ in range(capacity):
        queue.enqueue(queue=name)
    offers = [offer for offer in queue.offer(capacity) if offer.queue == name]
    return queue.claim(offers[0])[0]


def test_freed_slot_is_used_for_the_next_due_job(queue: Queue) -> None:
    first = busy_worker(queue)
    for payload in ("second", "third"):
        queue.enqueue(payload=payload)

    assert queue.offer(1) == []
    assert go_on(queue, end(first)) == ["second"]
    assert queue.offer(1) == []
    assert queue.sql(BUSY) == [{"jobs": 1}]


@pytest.mark.fault("functions/slots", r"where each > state.counted", "")
@pytest.mark.fault("end_tick", r"counted = clock_timestamp\(\), ", "")
def test_slot_that_a_tick_gave_away_is_not_used(queue: Queue) -> None:
    for _ in range(2):
        queue.enqueue()
    freed = [end(job) for offer in queue.offer(2) for job in queue.claim(offer)]
    queue.enqueue()

    # One slot is left, so that the worker is not refused for a capacity that is used up.
    assert len(queue.offer(2)) == 1
    for _ in range(3):
        queue.enqueue()
    assert go_on(queue, *freed) == []
    assert queue.sql(BUSY) == [{"jobs": 1}]


@pytest.mark.fault("start_tick", r"for no key update", "")
def test_tick_waits_for_workers_that_are_taking_jobs(queue: Queue) -> None:
    first = busy_worker(queue)
    for _ in range(3):
        queue.enqueue()
    freed, other = end(first), queue.another()

    with other.transaction():
        assert len(go_on(queue, freed, database=other)) == 1
        tick = queue.start(queue.offer, 1, queue.another())
        queue.until_done_or_waiting(tick)
    assert tick.result() == []


@pytest.mark.fault("functions/slots", r"for no key update", "")
def test_worker_waits_for_the_tick_that_counts(queue: Queue) -> None:
    first = busy_worker(queue)
    for _ in range(3):
        queue.enqueue()
    freed, other = end(first), queue.another()

    with other.transaction():
        assert len(queue.offer(1, other)) == 1
        taking = queue.start(go_on, queue, freed, database=queue.another())
        queue.until_done_or_waiting(taking)
    assert taking.result() == []
    assert queue.sql(BUSY) == [{"jobs": 1}]


def test_ticks_and_workers_together_never_exceed_the_capacity(queue: Queue) -> None:
    for payload in range(400):
        queue.enqueue(payload=payload)
    done, ticks = Event(), [queue.another() for _ in range(2)]
    sessions = [queue.another() for _ in range(6)]

    def dispatch(session: Database) -> int:
        most = 0
        while not done.is_set():
            queue.offer(CAPACITY, session)
            most = max(most, queue.sql(BUSY)[0]["jobs"])
        return most

    def work(session: Database) -> int:
        ran = 0
        while (taken := run_once(queue, session)) is not None:
            ran += taken
        return ran

    with ThreadPoolExecutor(8) as threads:
        counts = [threads.submit(dispatch, session) for session in ticks]
        workers = [threads.submit(work, session) for session in sessions]
        ran = sum(worker.result() for worker in workers)
        done.set()
        assert max(count.result() for count in counts) <= CAPACITY
    assert ran == 400


OFFERED = """select id, ack from minutehand.jobs_live where offered is not null and claimed is null
              order by random() limit 1"""


def run_once(queue: Queue, session: Database) -> int | None:
    """Run an offered job, and then others in its slot; return how many ran, or None if no job is left."""
    found = queue.sql(OFFERED)
    if not found:
        return 0 if queue.sql("select 1 from minutehand.jobs_live limit 1") else None
    jobs, ran = (
        session.run("claim", ids=[found[0]["id"]], acks=[found[0]["ack"]], lease=LEASE, grace=GRACE),
        0,
    )
    claims = [Claim.from_record(job, session, LEASE, GRACE) for job in jobs]
    while claims:
        freed = [end(claim) for claim in claims]
        ran += len(claims)
        claims = list(take(session, "default", 1, LEASE, GRACE, slots=Slots(freed=freed)))
    return ran


def test_worker_takes_nothing_of_a_paused_or_limited_queue(queue: Queue) -> None:
    first, second = busy_worker(queue, 1, "mail"), busy_worker(queue, 2, "post")
    for name in ("mail", "post"):
        queue.enqueue(queue=name, payload=name)
    limit(queue.database, 0, queue="post")
    pause(queue.database, queue="mail")

    assert go_on(queue, end(first), name="mail") == []
    assert go_on(queue, end(second), name="post") == []


@pytest.mark.fault("functions/slots", r"state.is_full or exists \(select.*?\)", "false")
@pytest.mark.fault("functions/slots", r"minutehand.budget_at\(b.budget, b.lapsed, moment\)", "9")
def test_worker_stays_within_the_budget_of_its_queue(queue: Queue) -> None:
    first = busy_worker(queue, 3)
    for payload in range(5):
        queue.enqueue(payload=payload)
    queue.offer(3)
    queue.sql("insert into minutehand.budgets values ('default', 2, clock_timestamp())")

    assert go_on(queue, end(first)) == []
    queue.sql("update minutehand.budgets set budget = 3")
    assert go_on(queue, datetime.now(UTC)) == [0]


def test_worker_leaves_its_slot_to_a_queue_with_fewer(queue: Queue) -> None:
    first = busy_worker(queue, 4)
    for name in ("other", "default"):
        queue.enqueue(queue=name, payload=name)
    assert queue.offer(4) == []

    assert go_on(queue, end(first)) == []
    assert [offer.queue for offer in queue.offer(4)] == ["other"]


@pytest.mark.parametrize("hold", [pause, lambda db, **of: limit(db, 0, **of)], ids=["paused", "limited"])
def test_worker_leaves_no_slot_to_a_queue_that_may_not_use_it(queue: Queue, hold: Any) -> None:
    first = busy_worker(queue, 4)
    for name in ("default", "other"):
        queue.enqueue(queue=name, payload=name)
    hold(queue.database, queue="other")
    assert queue.offer(4) == []

    assert go_on(queue, end(first)) == ["default"]


def test_worker_takes_no_more_than_a_lowered_capacity(queue: Queue) -> None:
    first = busy_worker(queue, 4)
    queue.enqueue()
    queue.offer(2)

    assert go_on(queue, end(first)) == []


def test_tenants_take_turns_in_the_slots_of_a_worker(queue: Queue) -> None:
    first = busy_worker(queue)
    for tenant in "aaabbb":
        queue.enqueue(tenant=tenant, payload=tenant)

    taken, freed = [], end(first)
    for _ in range(4):
        (job,) = take(queue.database, "default", 1, LEASE, GRACE, slots=Slots(freed=[freed]))
        taken.append(job.tenant)
        freed = end(job)

    assert sorted(taken[:2]) == sorted(taken[2:]) == ["a", "b"]


def test_worker_takes_the_kinds_that_it_serves(queue: Queue) -> None:
    first = busy_worker(queue)
    for kind in ("invoice.send", "invoice.pay", "other"):
        queue.enqueue(kind, kind)
    kinds = {"invoice.pay": True, "invoice.*": False, "*": True}

    freed = [end(first), datetime.now(UTC), datetime.now(UTC)]
    queue.sql("update minutehand.dispatcher set is_full = false")

    assert go_on(queue, *freed, kinds=kinds) == ["invoice.pay", "other"]


def test_worker_takes_jobs_for_which_its_time_is_enough(queue: Queue) -> None:
    first = busy_worker(queue)
    queue.enqueue("slow", "slow", timeout=2 * LEASE)
    queue.enqueue("long", "long")
    queue.enqueue("short", "short")
    seconds = {"long": 2 * LEASE.total_seconds(), "short": LEASE.total_seconds() / 2}
    freed = [end(first), datetime.now(UTC), datetime.now(UTC)]
    queue.sql("update minutehand.dispatcher set is_full = false")

    assert go_on(queue, *freed, otherwise=999.0) == []
    assert go_on(queue, *freed, seconds=seconds) == ["short"]
