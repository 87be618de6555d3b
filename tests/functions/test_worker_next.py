"""The worker goes on: after the jobs of its invitation, it takes the next due jobs of their queue."""

import json
from collections.abc import Callable
from datetime import timedelta

import pytest

from tests.functions.fleet import WORKER, Fleet, metrics
from tests.retries import IN_AN_HOUR

CAPACITY = 5


@pytest.fixture
def full(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> Fleet:
    """A fleet with a capacity of five."""
    monkeypatch.setenv("MINUTEHAND_CAPACITY", str(CAPACITY))
    return fleet


def run_all(fleet: Fleet, **options: timedelta) -> list[dict[str, int]]:
    """Tick, and run every invocation in turn."""
    fleet.tick()
    events, fleet.aws.events = fleet.aws.events, []
    return [fleet.work(event, **options) for event in events]


def test_workers_finish_a_backlog_within_one_tick(full: Fleet) -> None:
    jobs = [full.enqueue(payload=number) for number in range(4 * CAPACITY)]

    answers = run_all(full)

    assert len(answers) == CAPACITY
    assert answers[0] == {"done": 1 + 3 * CAPACITY}
    assert {(full.row(job).state, full.row(job).attempts) for job in jobs} == {("done", 1)}
    first, *others = metrics(full.read_output())[1:]
    assert (first["claimed"], first["taken"]) == (1, 3 * CAPACITY)
    assert all((each["claimed"], each["taken"]) == (1, 0) for each in others)


def test_jobs_within_the_capacity_have_an_invocation_each(full: Fleet) -> None:
    for number in range(CAPACITY):
        full.enqueue(payload=number)

    assert run_all(full) == [{"done": 1}] * CAPACITY


@pytest.mark.parametrize(("most", "done"), [(1, [1] * 5), (3, [3, 3, 2, 1, 1])])
def test_number_of_jobs_of_an_invocation_is_bounded(
    full: Fleet, monkeypatch: pytest.MonkeyPatch, most: int, done: list[int]
) -> None:
    monkeypatch.setenv("MINUTEHAND_JOBS_PER_INVOCATION", str(most))
    for number in range(2 * CAPACITY):
        full.enqueue(payload=number)

    assert run_all(full) == [{"done": each} for each in done]


def test_chunk_frees_as_many_slots_as_it_had_jobs(full: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINUTEHAND_CHUNK", str(CAPACITY))
    for number in range(3 * CAPACITY):
        full.enqueue(payload=number)

    assert run_all(full) == [{"done": 3 * CAPACITY}]


def test_failed_attempt_frees_its_slot(full: Fleet, handler: Callable[[str], str]) -> None:
    kind = handler("def handle(): raise ValueError\n")
    for _ in range(CAPACITY):
        full.enqueue(kind, retry=IN_AN_HOUR)
    waiting = full.enqueue(priority=0)

    first, *_ = run_all(full)

    assert first == {"retrying": 1, "done": 1}
    assert full.row(waiting).state == "done"


def test_only_jobs_of_the_queue_are_taken(full: Fleet) -> None:
    for queue in ("mail", "post"):
        for number in range(CAPACITY):
            full.enqueue(payload=number, queue=queue)
    full.tick()
    mail = next(event for event in full.aws.events if event["queue"] == "mail")

    full.work(mail)

    assert full.sql("select distinct queue from minutehand.jobs where deleted is not null") == [
        {"queue": "mail"}
    ]


def test_jobs_of_another_worker_are_not_taken(full: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    other = "arn:aws:lambda:eu-central-1:123456789012:function:other"
    full.aws.known.add(other)
    monkeypatch.setenv("MINUTEHAND_WORKERS", json.dumps({"kind:http": other}))
    for number in range(CAPACITY + 1):
        full.enqueue(payload=number)
    delivery = full.enqueue("http", {"url": "https://example.com"})
    full.tick()
    event = full.aws.events[0]

    assert event["kinds"] == {"http": False, "*": True}
    assert full.aws.invoked == [WORKER] * CAPACITY
    assert full.work(event) == {"done": 2}
    assert full.row(delivery).state == "due"


def test_job_for_which_the_time_is_not_enough_waits_for_a_tick(full: Fleet) -> None:
    for number in range(CAPACITY):
        full.enqueue(payload=number)
    long = full.enqueue(timeout=timedelta(minutes=5), priority=0)
    short = full.enqueue(timeout=timedelta(seconds=5), priority=0)

    first, *_ = run_all(full)

    assert first == {"done": 2}
    assert (full.row(long).state, full.row(short).state) == ("due", "done")


def test_error_of_the_database_ends_the_invocation_normally(
    full: Fleet, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(CAPACITY):
        full.enqueue(payload=number)
    waiting = full.enqueue(priority=0)
    full.tick()
    full.sql("alter table minutehand.take_locks rename to gone")
    try:
        assert full.work(full.aws.events[0]) == {"done": 1}
    finally:
        full.sql("alter table minutehand.gone rename to take_locks")

    assert full.row(waiting).state == "due"
    assert "the worker takes no further jobs: SchemaError" in caplog.text


def test_event_without_a_queue_runs_its_offers_only(full: Fleet) -> None:
    for number in range(CAPACITY + 1):
        full.enqueue(payload=number)
    full.tick()
    event = full.aws.events[0]
    del event["queue"]

    assert full.work(event) == {"done": 1}
