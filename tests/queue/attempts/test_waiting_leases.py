"""Claims of jobs that wait for their turn are extended together, when they need it."""

from datetime import timedelta
from time import monotonic

import pytest

from minutehand import Job
from minutehand.lease import Lease, WaitingLeases
from tests.queue.stage import LEASE, Queue

HOUR = timedelta(hours=1).total_seconds()


def versions(queue: Queue, jobs: list[Job]) -> set[str]:
    """Return the transactions that wrote the rows of jobs last."""
    ids = [job.id for job in jobs]
    rows = queue.sql(
        "select xmin::text as version from minutehand.jobs_live where id = any (%(ids)s)", ids=ids
    )
    return {row["version"] for row in rows}


@pytest.fixture
def jobs(direct_queue: Queue) -> list[Job]:
    for _ in range(3):
        direct_queue.enqueue()
    return direct_queue.take(3)


@pytest.fixture
def waiting(jobs: list[Job]) -> WaitingLeases:
    return WaitingLeases(job.lease for job in jobs)


def test_waiting_leases_are_extended_by_one_statement(
    direct_queue: Queue, jobs: list[Job], waiting: WaitingLeases
) -> None:
    claimed = versions(direct_queue, jobs)
    waiting.hold(HOUR)
    held = versions(direct_queue, jobs)

    assert len(held) == 1
    assert held != claimed
    assert direct_queue.waits(jobs[0].id, timedelta(seconds=HOUR) + LEASE + jobs[0].lease.grace)


def test_leases_that_last_long_enough_are_not_extended(
    direct_queue: Queue, jobs: list[Job], waiting: WaitingLeases
) -> None:
    waiting.hold(HOUR)
    held = versions(direct_queue, jobs)
    waiting.hold(HOUR)

    assert versions(direct_queue, jobs) == held


def test_lease_of_a_started_job_is_not_extended_as_waiting(
    direct_queue: Queue, jobs: list[Job], waiting: WaitingLeases
) -> None:
    claimed = versions(direct_queue, jobs[:1])
    waiting.discard(jobs[0].lease)
    waiting.hold(HOUR)

    assert versions(direct_queue, jobs[:1]) == claimed


def test_lost_claim_is_found_at_its_start(
    direct_queue: Queue, jobs: list[Job], waiting: WaitingLeases
) -> None:
    direct_queue.pass_time(jobs[1].id)
    direct_queue.take()
    waiting.hold(HOUR)

    assert [job.lease.start() for job in jobs] == [True, False, True]


def test_leases_may_be_discarded_while_others_are_extended(jobs: list[Job]) -> None:
    """As by the event loop, in which a job starts while the database's thread extends the others."""
    chunk: list[WaitingLeases] = []

    class Slow(Lease):
        @property
        def holds_until(self) -> float:
            for each in chunk:
                each.discard(jobs[0].lease)
            return float(vars(self)["holds_until"])

        @holds_until.setter
        def holds_until(self, until: float) -> None:
            vars(self)["holds_until"] = until

    leases = WaitingLeases([jobs[0].lease, *(Slow(**vars(job.lease)) for job in jobs[1:])])
    chunk.append(leases)
    leases.hold(HOUR)

    assert leases.first_end > monotonic() + HOUR
