"""Finish: fenced by the ack. A worker that lost its claim ends nothing; a late one may, if nobody else came."""

from datetime import timedelta
from typing import Any

import pytest

from minutehand import LostError
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


def test_a_job_that_ends_well_is_done_with_its_result(minutehand_database: Clone) -> None:
    job = put()

    assert succeed(take_one(minutehand_database.database), '{"n": 1}') == "done"
    assert (state(minutehand_database.database, job), row(minutehand_database.database, job).result) == (
        "done",
        {"n": 1},
    )


def test_a_job_that_fails_waits_and_is_tried_again(minutehand_database: Clone, queue: JobQueue) -> None:
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
def test_a_job_is_dead_with_its_last_attempt_or_when_no_other_can_help(
    minutehand_database: Clone, options: dict[str, Any], final: bool
) -> None:
    job = put(**options)

    assert fail(take_one(minutehand_database.database), final=final) == "dead"
    assert (state(minutehand_database.database, job), row(minutehand_database.database, job).error) == (
        "dead",
        ERROR,
    )


def test_a_snooze_and_a_release_cost_no_attempt(minutehand_database: Clone, queue: JobQueue) -> None:
    put()
    assert finish(take_one(minutehand_database.database), Snoozed(HOUR)).ending == "snoozed"
    queue.travel(by=HOUR)
    assert finish(take_one(minutehand_database.database), Released()).ending == "released"

    assert take_one(minutehand_database.database).attempt == 1


def test_a_handler_may_say_that_a_job_is_no_longer_wanted(minutehand_database: Clone) -> None:
    job = put()

    assert finish(take_one(minutehand_database.database), Cancelled(ERROR)).ending == "cancelled"
    assert state(minutehand_database.database, job) == "cancelled"


@pytest.mark.parametrize("again", [succeed, fail])
def test_a_worker_whose_job_was_claimed_by_another_ends_nothing(
    minutehand_database: Clone, queue: JobQueue, again: object
) -> None:
    job = put()
    first = take_one(minutehand_database.database)
    queue.travel(by=LEASE + GRACE)
    take_one(minutehand_database.database)

    assert (succeed if again is succeed else fail)(first) == "lost"
    assert state(minutehand_database.database, job) == "running"


def test_a_worker_that_is_late_ends_its_job_while_nobody_else_has_claimed_it(
    minutehand_database: Clone, queue: JobQueue
) -> None:
    put()
    job = take_one(minutehand_database.database)
    queue.travel(by=LEASE + GRACE)

    assert succeed(job) == "done"


def test_an_attempt_ends_once(minutehand_database: Clone) -> None:
    put()
    job = take_one(minutehand_database.database)

    assert [succeed(job), succeed(job), fail(job)] == ["done", "lost", "lost"]


def test_the_finish_of_a_job_that_was_replaced_after_it_came_back_is_lost(
    minutehand_database: Clone, queue: JobQueue
) -> None:
    put(payload=1, key="one")
    first = take_one(minutehand_database.database)
    assert fail(first, delay=HOUR) == "retrying"
    put(payload=2, key="one")

    assert succeed(first) == "lost"
    assert take_one(minutehand_database.database).payload == 2


def test_a_lease_is_extended_by_its_owner_only(minutehand_database: Clone, queue: JobQueue) -> None:
    put()
    job = take_one(minutehand_database.database)
    job.extend(2 * LEASE)
    queue.travel(by=LEASE + GRACE)
    assert take_all(minutehand_database.database) == []

    queue.travel(by=LEASE + GRACE)
    take_one(minutehand_database.database)
    with pytest.raises(LostError):
        job.extend(LEASE)


@pytest.mark.parametrize("kept", [True, False])
def test_what_a_handler_writes_is_committed_with_its_completion_or_not_at_all(
    minutehand_database: Clone, queue: JobQueue, kept: bool
) -> None:
    put()
    job = take_one(minutehand_database.database)
    if not kept:
        queue.travel(by=LEASE + GRACE)
        take_one(minutehand_database.database)

    def complete() -> None:
        with job.transaction() as connection:
            connection.execute("create table effects ()")

    if kept:
        complete()
    else:
        with pytest.raises(LostError):
            complete()
    found = minutehand_database.connection.execute("select to_regclass('effects') is not null").fetchall()
    assert found == [(kept,)]


def test_every_attempt_is_kept(minutehand_database: Clone, queue: JobQueue) -> None:
    job = put()
    fail(take_one(minutehand_database.database), delay=timedelta())
    take_one(minutehand_database.database)
    queue.travel(by=LEASE + GRACE)
    succeed(take_one(minutehand_database.database))

    kept = list_attempts(minutehand_database.database, job)

    assert [(one.attempt, one.outcome) for one in kept] == [(1, "retrying"), (2, "lapsed"), (3, "done")]
