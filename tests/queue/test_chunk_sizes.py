"""Chunk sizes: measured times of kinds limit a chunk, and a job whose worker died is offered alone."""

from datetime import UTC, datetime, timedelta

import pytest

from minutehand.claim import take
from minutehand.fan_out import invitations
from minutehand.finish import finish
from minutehand.handlers import HandlerTable
from minutehand.invocations.running import Invocation
from minutehand.invocations.times import HandlerTimes
from minutehand.maintenance import run_maintenance
from minutehand.model.invitation import Invited
from minutehand.model.offer import Offer
from minutehand.model.outcome import Done
from minutehand.model.slots import Slots
from minutehand.model.worker_route import WorkerRoutes
from tests.queue.stage import GRACE, LEASE, Queue

ROUTES = WorkerRoutes("worker")


def sizes(offers: list[Offer], chunk: int, **parts: float) -> list[int]:
    return [len(each.offers) for each in invitations(offers, ROUTES, chunk, parts)]


def offers_of(queue: Queue, **counts: int) -> list[Offer]:
    for kind, count in counts.items():
        for _ in range(count):
            queue.enqueue(kind)
    return sorted(queue.offer(), key=lambda offer: offer.kind)


def test_chunks_of_a_slow_kind_take_half_of_an_invocation(queue: Queue) -> None:
    offers = offers_of(queue, quick=6, slow=6)

    assert sizes(offers, 4) == [4, 4, 4]
    assert sizes(offers, 4, slow=0.2) == [4, 4, 2, 2]
    assert sizes(offers, 4, slow=0.9) == [4, 2, 1, 1, 1, 1, 1, 1]
    assert sizes(offers, 1, slow=0.9) == [1] * 12


@pytest.mark.fault("offer", r"coalesce\(claimed, lapsed\) is not null as alone", "false as alone")
def test_jobs_of_a_dead_worker_are_offered_alone(queue: Queue) -> None:
    died = offers_of(queue, echo=3)
    queue.claim(*died[:2])
    for offer in died:
        queue.pass_time(offer.id)
    queue.enqueue()

    again = queue.offer()

    assert {offer.id for offer in again if offer.alone} == {offer.id for offer in died[:2]}
    assert sorted(sizes(again, 10)) == [1, 1, 2]


@pytest.mark.parametrize("slots", [False, True], ids=["resident worker", "worker of the stack"])
@pytest.mark.fault("take", r" or not \(alone or first_alone\)", " or true")
def test_jobs_of_a_dead_worker_are_taken_alone(queue: Queue, slots: bool) -> None:
    for payload in range(3):
        queue.enqueue(payload=payload)
    died = queue.take(2)
    for job in died:
        queue.pass_time(job.id)
    for payload in (3, 4):
        queue.enqueue(payload=payload)

    def taken() -> list[object]:
        freed = Slots(freed=[died[0].claimed + LEASE] * 5) if slots else None
        return [job.payload for job in take(queue.database, "default", 5, LEASE, GRACE, slots=freed)]

    assert [len(taken()) for _ in range(3)] == [1, 1, 3]


def test_job_that_failed_since_its_worker_died_is_not_alone(queue: Queue) -> None:
    (offer,) = offers_of(queue, echo=1)
    queue.claim(offer)
    queue.pass_time(offer.id)
    (job,) = queue.claim(*queue.offer())
    finish(job, Done())

    assert [offer.alone for offer in offers_of(queue, echo=1)] == [False]


def measure(queue: Queue, times: HandlerTimes, *seconds: float, together: int = 1) -> float:
    """Let a chunk of jobs take these seconds, and return the time that is stored for their kind."""
    for _ in seconds:
        queue.enqueue("timed")
    jobs = queue.take(len(seconds))
    for job, each in zip(jobs, seconds, strict=True):
        job.lease.started, job.lease.ended = 0.0, each
    times.add(jobs, sum(seconds) / together)
    times.store(queue.database, timedelta(seconds=100))
    (row,) = queue.database.run("kind_times", kinds=["timed"])
    return round(row["part"] * 100, 6)


def test_time_of_a_kind_is_that_of_95_of_100_attempts(queue: Queue) -> None:
    assert measure(queue, HandlerTimes(), *range(1, 21)) == 19


def test_jobs_that_run_together_share_their_time(queue: Queue) -> None:
    assert measure(queue, HandlerTimes(), 10, 10, 10, 10, together=4) == 2.5


@pytest.mark.fault("record_times", r"greatest\(excluded.seconds,", "least(excluded.seconds,")
@pytest.mark.fault("record_times", r"excluded.seconds - t.seconds\) / 5", "excluded.seconds - t.seconds)")
def test_longer_times_count_at_once_and_shorter_ones_slowly(queue: Queue) -> None:
    age = "update minutehand.kind_times set measured = now() - interval '1 minute'"

    assert measure(queue, HandlerTimes(), 10) == 10
    assert measure(queue, HandlerTimes(), 20) == 20
    assert measure(queue, HandlerTimes(), 10) == 20
    queue.sql(age)
    assert measure(queue, HandlerTimes(), 10) == 18


def test_worker_stores_the_time_of_a_kind_once_in_a_while(queue: Queue) -> None:
    times = HandlerTimes()
    measure(queue, times, 10)
    queue.sql("delete from minutehand.kind_times")

    with pytest.raises(ValueError, match="unpack"):
        measure(queue, times, 11)
    assert measure(queue, times, 20) == 20


def test_times_of_forgotten_kinds_are_deleted(queue: Queue) -> None:
    measure(queue, HandlerTimes(), 10)
    queue.sql("update minutehand.kind_times set measured = now() - interval '8 days'")

    run_maintenance(queue.database)

    assert queue.sql("select kind from minutehand.kind_times") == []


def test_invocation_stores_its_times(queue: Queue) -> None:
    queue.enqueue("timed")
    invocation = Invocation(
        queue.database, HandlerTable({"timed": lambda: None}), lambda: timedelta(seconds=100), GRACE
    )
    invocation.run(Invited(tuple(queue.offer())))
    invocation.store_times()

    (row,) = queue.sql("select invocation, seconds > 0 as measured from minutehand.kind_times")
    assert row == {"invocation": 99.5, "measured": True}


def test_time_of_another_invocation_decides_whether_a_job_is_taken(queue: Queue) -> None:
    def taken() -> int:
        slots = Slots(freed=[datetime.now(UTC)], otherwise=2 * LEASE.total_seconds())
        return len(take(queue.database, "default", 1, LEASE, GRACE, slots=slots))

    queue.enqueue("timed", priority=0)
    assert taken() == 0
    measure(queue, HandlerTimes(), 10)
    queue.enqueue("timed")
    assert taken() == 1
