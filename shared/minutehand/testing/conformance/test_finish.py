"""Finish: fenced by the ack. A lost claim changes nothing; a late finish is accepted until the next claim."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from minutehand import Job, LostError
from minutehand.finish import finish
from minutehand.model.outcome import Cancelled, Released, Snoozed
from minutehand.queries.jobs import list_attempts
from minutehand.testing import Clone, JobQueue
from minutehand.testing.conformance.stage import (
    ERROR,
    GRACE,
    LEASE,
    fail,
    put,
    row,
    state,
    succeed,
    take_all,
    take_one,
)

HOUR = timedelta(hours=1)


def test_successful_job_is_done_with_result(minutehand_database: Clone) -> None:
    job = put()

    assert succeed(take_one(minutehand_database.database), '{"n": 1}') == "done"
    assert (state(minutehand_database.database, job), row(minutehand_database.database, job).result) == (
        "done",
        {"n": 1},
    )


def test_failed_job_is_retried_after_delay(minutehand_database: Clone, queue: JobQueue) -> None:
    job = put()
    assert fail(take_one(minutehand_database.database), delay=HOUR) == "retrying"
    assert (state(minutehand_database.database, job), take_all(minutehand_database.database)) == (
        "retrying",
        [],
    )

    queue.travel(by=HOUR)

    assert take_one(minutehand_database.database).attempt == 2
    assert row(minutehand_database.database, job).error == ERROR


@pytest.mark.parametrize(("options", "final"), [({"max_attempts": 1}, False), ({}, True)])
def test_job_is_dead_after_last_attempt_or_final_failure(
    minutehand_database: Clone, options: dict[str, Any], final: bool
) -> None:
    job = put(**options)

    assert fail(take_one(minutehand_database.database), final=final) == "dead"
    assert (state(minutehand_database.database, job), row(minutehand_database.database, job).error) == (
        "dead",
        ERROR,
    )


def test_snooze_and_release_cost_no_attempt(minutehand_database: Clone, queue: JobQueue) -> None:
    put()
    assert finish(take_one(minutehand_database.database), Snoozed(HOUR)).ending == "snoozed"
    queue.travel(by=HOUR)
    assert finish(take_one(minutehand_database.database), Released()).ending == "released"

    assert take_one(minutehand_database.database).attempt == 1


def test_handler_can_cancel_its_job(minutehand_database: Clone) -> None:
    job = put()

    assert finish(take_one(minutehand_database.database), Cancelled(ERROR)).ending == "cancelled"
    assert state(minutehand_database.database, job) == "cancelled"


@pytest.mark.parametrize("finish_again", [succeed, fail])
def test_finish_after_lost_claim_changes_nothing(
    minutehand_database: Clone, queue: JobQueue, finish_again: Callable[[Job], str]
) -> None:
    job = put()
    first = take_one(minutehand_database.database)
    queue.travel(by=LEASE + GRACE)
    take_one(minutehand_database.database)

    assert finish_again(first) == "lost"
    assert state(minutehand_database.database, job) == "running"


def test_late_finish_is_accepted_if_job_was_not_claimed_again(
    minutehand_database: Clone, queue: JobQueue
) -> None:
    put()
    job = take_one(minutehand_database.database)
    queue.travel(by=LEASE + GRACE)

    assert succeed(job) == "done"


def test_attempt_finishes_once(minutehand_database: Clone) -> None:
    put()
    job = take_one(minutehand_database.database)

    assert [succeed(job), succeed(job), fail(job)] == ["done", "lost", "lost"]


def test_finish_of_replaced_job_is_lost(minutehand_database: Clone, queue: JobQueue) -> None:
    put(payload=1, key="one")
    first = take_one(minutehand_database.database)
    assert fail(first, delay=HOUR) == "retrying"
    put(payload=2, key="one")

    assert succeed(first) == "lost"
    assert take_one(minutehand_database.database).payload == 2


def test_only_the_claim_holder_extends_the_lease(minutehand_database: Clone, queue: JobQueue) -> None:
    put()
    job = take_one(minutehand_database.database)
    job.extend(2 * LEASE)
    queue.travel(by=LEASE + GRACE)
    assert take_all(minutehand_database.database) == []

    queue.travel(by=LEASE + GRACE)
    take_one(minutehand_database.database)
    with pytest.raises(LostError):
        job.extend(LEASE)


@pytest.mark.parametrize("owned", [True, False])
def test_job_transaction_commits_with_completion_or_rolls_back(
    minutehand_database: Clone, queue: JobQueue, owned: bool
) -> None:
    put()
    job = take_one(minutehand_database.database)
    if not owned:
        queue.travel(by=LEASE + GRACE)
        take_one(minutehand_database.database)

    def complete() -> None:
        with job.transaction() as connection:
            connection.execute("create table effects ()")

    if owned:
        complete()
    else:
        with pytest.raises(LostError):
            complete()
    found = minutehand_database.connection.execute("select to_regclass('effects') is not null").fetchall()
    assert found == [(owned,)]


def test_every_attempt_is_recorded(minutehand_database: Clone, queue: JobQueue) -> None:
    job = put()
    fail(take_one(minutehand_database.database), delay=timedelta())
    take_one(minutehand_database.database)
    queue.travel(by=LEASE + GRACE)
    succeed(take_one(minutehand_database.database))

    stored = list_attempts(minutehand_database.database, job)

    assert [(one.attempt, one.outcome) for one in stored] == [(1, "retrying"), (2, "lapsed"), (3, "done")]
