"""Enqueue: a job is a row, visible from its moment on, and a key names one that is upcoming."""

from contextlib import suppress
from datetime import timedelta

import pytest

from minutehand import KeyTakenError, NewJob, enqueue, enqueue_many
from minutehand.testing import Clone, JobQueue
from minutehand.testing.conformance.stage import fail, put, row, state, take_all, take_one

HOUR = timedelta(hours=1)


class UndoneError(Exception):
    """Rolls a transaction back."""


def test_a_job_waits_for_its_moment_and_is_due_from_then_on(
    minutehand_database: Clone, queue: JobQueue
) -> None:
    job = put(run_at=queue.now + HOUR)
    assert (state(minutehand_database.database, job), take_all(minutehand_database.database)) == (
        "scheduled",
        [],
    )

    queue.travel(by=HOUR)

    assert take_one(minutehand_database.database).id == job


def test_a_delay_counts_from_now(minutehand_database: Clone, queue: JobQueue) -> None:
    put(delay=HOUR)
    queue.travel(by=HOUR - timedelta(minutes=1))
    assert take_all(minutehand_database.database) == []

    queue.travel(by=timedelta(minutes=1))
    assert len(take_all(minutehand_database.database)) == 1


def test_a_moment_in_the_past_means_now(minutehand_database: Clone, queue: JobQueue) -> None:
    began = queue.now
    job = put(run_at=began - 100 * HOUR)

    assert row(minutehand_database.database, job).visible >= began
    assert take_one(minutehand_database.database).id == job


@pytest.mark.parametrize(
    "payload", [None, 0, "", "text", [], {}, {"a": [1, 2.5, None, True]}, 2**70, "\U0001f40d"]
)
def test_a_payload_comes_out_as_it_went_in(minutehand_database: Clone, payload: object) -> None:
    put(payload=payload)

    assert take_one(minutehand_database.database).payload == payload


def test_a_key_replaces_the_upcoming_job_which_keeps_its_id(minutehand_database: Clone) -> None:
    first = put(payload=1, key="one")
    second = enqueue("work", 2, key="one")

    assert (second.id, second.outcome) == (first, "replaced")
    assert [job.payload for job in take_all(minutehand_database.database)] == [2]


def test_a_key_never_touches_the_job_that_runs(minutehand_database: Clone) -> None:
    running = put(payload=1, key="one")
    job = take_one(minutehand_database.database)
    second = enqueue("work", 2, key="one")

    assert second.outcome == "created"
    assert second.id != running == job.id
    assert state(minutehand_database.database, running) == "running"


def test_a_job_that_waits_for_its_retry_makes_way_for_the_new_one_of_its_key(
    minutehand_database: Clone,
) -> None:
    first = put(payload=1, key="one")
    assert fail(take_one(minutehand_database.database), delay=HOUR) == "retrying"
    put(payload=2, key="one")

    job = take_one(minutehand_database.database)

    assert (job.id, job.payload, job.attempt) == (first, 2, 1)


def test_a_key_can_be_left_alone_or_be_an_error(minutehand_database: Clone) -> None:
    put(payload=1, key="one")

    assert enqueue("work", 2, key="one", on_conflict="ignore").outcome == "ignored"
    with pytest.raises(KeyTakenError):
        enqueue("work", 3, key="one", on_conflict="raise")
    assert [job.payload for job in take_all(minutehand_database.database)] == [1]


def test_keys_of_other_queues_and_other_case_are_other_keys(minutehand_database: Clone) -> None:
    put(key="one")
    put(key="One")
    put(key="one", queue="other")

    assert len(take_all(minutehand_database.database)) == 2
    assert len(take_all(minutehand_database.database, queue="other")) == 1


@pytest.mark.parametrize("kept", [True, False])
def test_a_job_commits_and_rolls_back_with_the_callers_data(minutehand_database: Clone, kept: bool) -> None:
    connection = minutehand_database.connection
    with suppress(UndoneError), connection.transaction():
        enqueue("work", connection=connection)
        if not kept:
            raise UndoneError

    assert len(take_all(minutehand_database.database)) == kept


def test_of_many_at_once_each_is_told_what_became_of_it(minutehand_database: Clone) -> None:
    jobs = [NewJob("work", key="one"), NewJob("no kind!"), NewJob("work", key="two")]

    assert [item.outcome for item in enqueue_many(jobs)] == ["created", "rejected", "created"]
    assert len(take_all(minutehand_database.database)) == 2
