"""Enqueue: a job is a row that becomes visible at its time; a key identifies an upcoming job."""

from contextlib import suppress
from datetime import timedelta

import pytest

from minutehand import KeyTakenError, NewJob, enqueue, enqueue_many
from minutehand.testing import Clone, JobQueue
from minutehand.testing.conformance.stage import fail, put, row, state, take_all, take_one

HOUR = timedelta(hours=1)


class UndoneError(Exception):
    """Rolls a transaction back."""


def test_scheduled_job_becomes_due_at_run_at(minutehand_database: Clone, queue: JobQueue) -> None:
    job = put(run_at=queue.now + HOUR)
    assert (state(minutehand_database.database, job), take_all(minutehand_database.database)) == (
        "scheduled",
        [],
    )

    queue.travel(by=HOUR)

    assert take_one(minutehand_database.database).id == job


def test_delay_is_relative_to_now(minutehand_database: Clone, queue: JobQueue) -> None:
    put(delay=HOUR)
    queue.travel(by=HOUR - timedelta(minutes=1))
    assert take_all(minutehand_database.database) == []

    queue.travel(by=timedelta(minutes=1))
    assert len(take_all(minutehand_database.database)) == 1


def test_run_at_in_the_past_means_now(minutehand_database: Clone, queue: JobQueue) -> None:
    began = queue.now
    job = put(run_at=began - 100 * HOUR)

    assert row(minutehand_database.database, job).visible >= began
    assert take_one(minutehand_database.database).id == job


@pytest.mark.parametrize(
    "payload", [None, 0, "", "text", [], {}, {"a": [1, 2.5, None, True]}, 2**70, "\U0001f40d"]
)
def test_payload_round_trips_unchanged(minutehand_database: Clone, payload: object) -> None:
    put(payload=payload)

    assert take_one(minutehand_database.database).payload == payload


def test_key_replaces_upcoming_job_and_keeps_its_id(minutehand_database: Clone) -> None:
    first = put(payload=1, key="one")
    second = enqueue("work", 2, key="one")

    assert (second.id, second.outcome) == (first, "replaced")
    assert [job.payload for job in take_all(minutehand_database.database)] == [2]


def test_key_does_not_replace_running_job(minutehand_database: Clone) -> None:
    running = put(payload=1, key="one")
    job = take_one(minutehand_database.database)
    second = enqueue("work", 2, key="one")

    assert second.outcome == "created"
    assert second.id != running == job.id
    assert state(minutehand_database.database, running) == "running"


def test_key_replaces_retrying_job(
    minutehand_database: Clone,
) -> None:
    first = put(payload=1, key="one")
    assert fail(take_one(minutehand_database.database), delay=HOUR) == "retrying"
    put(payload=2, key="one")

    job = take_one(minutehand_database.database)

    assert (job.id, job.payload, job.attempt) == (first, 2, 1)


def test_key_conflict_can_be_ignored_or_raised(minutehand_database: Clone) -> None:
    put(payload=1, key="one")

    assert enqueue("work", 2, key="one", on_conflict="ignore").outcome == "ignored"
    with pytest.raises(KeyTakenError):
        enqueue("work", 3, key="one", on_conflict="raise")
    assert [job.payload for job in take_all(minutehand_database.database)] == [1]


def test_keys_differ_by_queue_and_case(minutehand_database: Clone) -> None:
    put(key="one")
    put(key="One")
    put(key="one", queue="other")

    assert len(take_all(minutehand_database.database)) == 2
    assert len(take_all(minutehand_database.database, queue="other")) == 1


@pytest.mark.parametrize("commit", [True, False])
def test_enqueue_commits_and_rolls_back_with_caller(minutehand_database: Clone, commit: bool) -> None:
    connection = minutehand_database.connection
    with suppress(UndoneError), connection.transaction():
        enqueue("work", connection=connection)
        if not commit:
            raise UndoneError

    assert len(take_all(minutehand_database.database)) == commit


def test_enqueue_many_returns_outcome_of_each_job(minutehand_database: Clone) -> None:
    jobs = [NewJob("work", key="one"), NewJob("no kind!"), NewJob("work", key="two")]

    assert [item.outcome for item in enqueue_many(jobs)] == ["created", "rejected", "created"]
    assert len(take_all(minutehand_database.database)) == 2
