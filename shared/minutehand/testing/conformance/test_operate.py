"""Operate: promote, reschedule, cancel, retry. Running jobs are refused, and the offers of changed jobs are void."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from minutehand.database import Database
from minutehand.operations import controls as control
from minutehand.operations import deletion
from minutehand.operations import jobs as operate
from minutehand.testing import Clone, JobQueue
from minutehand.testing.conformance.stage import accept, fail, offers, put, state, succeed, take_all, take_one

DAY = timedelta(days=1)
VERBS: dict[str, Callable[[Database, list[UUID]], Any]] = {
    "promote": operate.promote,
    "reschedule": lambda database, ids: operate.reschedule(database, ids, delay=DAY),
    "cancel": operate.cancel,
    "delete": deletion.delete,
}


def test_promote_makes_job_due(minutehand_database: Clone) -> None:
    job = put(delay=DAY)
    operate.promote(minutehand_database.database, [job])

    assert take_one(minutehand_database.database).id == job


def test_reschedule_delay_is_relative_to_now(minutehand_database: Clone, queue: JobQueue) -> None:
    job = put(delay=10 * DAY)
    operate.reschedule(minutehand_database.database, [job], delay=DAY)
    assert take_all(minutehand_database.database) == []

    queue.travel(by=DAY)

    assert take_one(minutehand_database.database).id == job


def test_cancel_keeps_job_and_delete_removes_it(minutehand_database: Clone) -> None:
    cancelled, deleted = put(), put()
    operate.cancel(minutehand_database.database, [cancelled])
    deletion.delete(minutehand_database.database, [deleted])

    assert take_all(minutehand_database.database) == []
    assert [row.id for row in JobQueue(minutehand_database.database, {}).jobs()] == [cancelled]
    assert state(minutehand_database.database, cancelled) == "cancelled"


@pytest.mark.parametrize("verb", VERBS)
def test_change_of_running_job_is_refused(minutehand_database: Clone, verb: str) -> None:
    job = put()
    running = take_one(minutehand_database.database)

    (change,) = VERBS[verb](minutehand_database.database, [job])

    assert (change.outcome, state(minutehand_database.database, job)) == ("refused", "running")
    assert succeed(running) == "done"


@pytest.mark.parametrize("verb", VERBS)
def test_change_voids_pending_offer(minutehand_database: Clone, verb: str) -> None:
    job = put()
    invited = offers(minutehand_database.database)
    VERBS[verb](minutehand_database.database, [job])

    assert accept(minutehand_database.database, invited) == []


def test_retry_revives_dead_job_with_all_attempts(minutehand_database: Clone) -> None:
    job = put(max_attempts=1)
    fail(take_one(minutehand_database.database))
    operate.retry(minutehand_database.database, [job])

    assert (again := take_one(minutehand_database.database)).id == job
    assert again.attempt == 1


def test_replay_creates_new_job(minutehand_database: Clone) -> None:
    job = put(payload={"n": 1})
    succeed(take_one(minutehand_database.database))
    operate.replay(minutehand_database.database, [job])

    again = take_one(minutehand_database.database)

    assert (again.payload, again.id != job) == ({"n": 1}, True)
    assert state(minutehand_database.database, job) == "done"


def test_paused_queue_is_not_offered_until_resumed(minutehand_database: Clone) -> None:
    put()
    control.pause(minutehand_database.database, queue="default")
    assert (offers(minutehand_database.database), take_all(minutehand_database.database)) == ([], [])

    control.resume(minutehand_database.database, queue="default")

    assert len(offers(minutehand_database.database)) == 1


def test_limit_bounds_running_jobs(minutehand_database: Clone) -> None:
    for _ in range(3):
        put()
    control.limit(minutehand_database.database, 1, queue="default")
    first = take_one(minutehand_database.database)
    assert (offers(minutehand_database.database), take_all(minutehand_database.database)) == ([], [])

    succeed(first)

    assert len(offers(minutehand_database.database)) == 1
