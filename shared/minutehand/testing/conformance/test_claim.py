"""Claim: an attempt has one worker for the length of the lease; duplicate and late invitations claim nothing."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta

from minutehand.database import Database
from minutehand.maintenance import run_maintenance
from minutehand.testing import Clone, JobQueue
from minutehand.testing.conformance.stage import (
    GRACE,
    LEASE,
    TTL,
    accept,
    offers,
    put,
    row,
    state,
    take_all,
    take_one,
)

JOBS, WORKERS = 60, 6


def test_claim_sets_fresh_ack_and_hides_job_for_its_lease(
    minutehand_database: Clone, queue: JobQueue
) -> None:
    put()
    put()
    first, second = take_all(minutehand_database.database)

    assert first.ack != second.ack
    assert row(minutehand_database.database, first.id).visible - queue.now > LEASE
    assert take_all(minutehand_database.database) == []


def test_claims_are_ordered_by_priority_then_due_time(minutehand_database: Clone, queue: JobQueue) -> None:
    late = put(run_at=queue.now + timedelta(seconds=2))
    early = put(run_at=queue.now + timedelta(seconds=1))
    urgent = put(run_at=queue.now + timedelta(seconds=3), priority=9)
    queue.travel(by=timedelta(seconds=10))

    assert [take_one(minutehand_database.database).id for _ in range(3)] == [urgent, early, late]


def test_take_respects_its_limit(minutehand_database: Clone) -> None:
    for _ in range(5):
        put()

    assert [len(take_all(minutehand_database.database, 2)) for _ in range(4)] == [2, 2, 1, 0]


def test_offered_job_is_not_offered_again_before_offer_lapses(
    minutehand_database: Clone, queue: JobQueue
) -> None:
    job = put()
    assert [one.id for one in offers(minutehand_database.database)] == [job]
    assert (offers(minutehand_database.database), state(minutehand_database.database, job)) == ([], "offered")

    queue.travel(by=TTL)

    assert [one.id for one in offers(minutehand_database.database)] == [job]


def test_offers_never_exceed_capacity(minutehand_database: Clone) -> None:
    for _ in range(5):
        put()

    assert [len(offers(minutehand_database.database, 3)) for _ in range(2)] == [3, 0]


def test_duplicate_invitation_claims_nothing(minutehand_database: Clone) -> None:
    put()
    invited = offers(minutehand_database.database)

    assert [len(accept(minutehand_database.database, invited)) for _ in range(2)] == [1, 0]


def test_late_invitation_claims_nothing(minutehand_database: Clone, queue: JobQueue) -> None:
    put()
    lost = offers(minutehand_database.database)
    queue.travel(by=TTL)
    made_again = offers(minutehand_database.database)

    assert accept(minutehand_database.database, lost) == []
    assert len(accept(minutehand_database.database, made_again)) == 1


def test_job_of_dead_worker_is_redelivered_with_attempt_counted(
    minutehand_database: Clone, queue: JobQueue
) -> None:
    put()
    first = take_one(minutehand_database.database)
    queue.travel(by=LEASE + GRACE)
    second = take_one(minutehand_database.database)

    assert (first.attempt, second.attempt) == (1, 2)
    assert (first.ack != second.ack, second.redelivered) == (True, True)


def test_lost_offer_costs_no_attempt(minutehand_database: Clone, queue: JobQueue) -> None:
    put()
    offers(minutehand_database.database)
    queue.travel(by=TTL)

    assert take_one(minutehand_database.database).attempt == 1


def test_job_is_dead_when_worker_dies_in_last_attempt(minutehand_database: Clone, queue: JobQueue) -> None:
    job = put(max_attempts=1)
    take_one(minutehand_database.database)
    queue.travel(by=LEASE + GRACE)
    run_maintenance(minutehand_database.database)

    assert state(minutehand_database.database, job) == "dead"


def test_concurrent_workers_never_claim_the_same_job(minutehand_database: Clone) -> None:
    for _ in range(JOBS):
        put()

    def work(_: int) -> list[object]:
        with closing(Database(minutehand_database.url)) as own:
            return [job.id for _ in range(JOBS) for job in take_all(own, 2)]

    with ThreadPoolExecutor(WORKERS) as workers:
        taken = [job for own in workers.map(work, range(WORKERS)) for job in own]

    assert len(taken) == len(set(taken)) == JOBS
