"""A handler receives its payload in its annotated type, and its job with all facts."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from pydantic import BaseModel

from minutehand import Job, LostError, Retry
from tests.queue.stage import LEASE, LONG, Queue

NEAR = timedelta(seconds=5)
IN_A_MINUTE = Retry(strategy="fixed", min=timedelta(minutes=1), jitter=False)


@dataclass
class Letter:
    to: str
    copies: int = 1


class Parcel(BaseModel):
    to: str
    grams: float


def test_payload_is_converted_to_the_annotated_type(queue: Queue) -> None:
    seen: list[object] = []

    def post(letter: Letter, job: Job) -> None:
        seen.extend([letter, job.attempt])

    def ship(parcel: Parcel) -> None:
        seen.append(parcel)

    queue.attempt(post, payload={"to": "Ada"})
    queue.attempt(ship, payload={"to": "Ada", "grams": 1})

    assert seen == [Letter("Ada", 1), 1, Parcel(to="Ada", grams=1.0)]


@pytest.mark.parametrize(
    "payload", [None, "Ada", [], {}, {"to": 1}, {"to": "Ada", "copies": "two"}, {"to": "Ada", "grams": "x"}]
)
def test_payload_of_another_type_is_dead_immediately(queue: Queue, payload: object) -> None:
    def post(letter: Letter) -> None:
        raise AssertionError("called")

    def ship(parcel: Parcel) -> None:
        raise AssertionError("called")

    for handler in (post, ship):
        if handler is ship or payload != {"to": "Ada", "grams": "x"}:
            job_id, ending = queue.attempt(handler, payload=payload)
            assert (ending.ending, queue.row(job_id).attempts) == ("dead", 1)
            assert (queue.row(job_id).error or {})["type"] == "MismatchError"


def test_unknown_kind_is_released_with_an_error(queue: Queue) -> None:
    job_id, ending = queue.attempt(lambda _: None, kind="welcome", max_attempts=1)

    row = queue.row(job_id)
    assert (ending.ending, row.state, row.attempts) == ("released", "scheduled", 0)
    assert (row.error or {})["type"] == "UnknownKindError"
    assert (row.error or {})["message"] == "no handler for kind welcome; add a function for it"
    assert queue.waits(job_id, timedelta(seconds=30))


@pytest.mark.parametrize(
    ("waited", "waits"), [(LONG, LONG), (timedelta(days=2), timedelta(minutes=15))], ids=str
)
def test_unknown_kind_waits_at_increasing_intervals(
    queue: Queue, waited: timedelta, waits: timedelta
) -> None:
    job_id = queue.enqueue("welcome")
    (began,) = queue.sql(
        "update minutehand.jobs set run_at = now() - %(waited)s returning now()", waited=waited
    )
    queue.work(lambda _: None)
    (ended,) = queue.sql("select clock_timestamp() as now")

    # As long as it has waited, so a slow machine adds its time twice.
    took = ended["now"] - began["now"]
    assert waits <= queue.row(job_id).visible - began["now"] <= waits + 2 * took


def test_handler_that_extends_its_lease_keeps_its_job(queue: Queue) -> None:
    def slow(_payload: Any, job: Job) -> str:
        queue.pass_time(job.id)
        job.extend(LEASE)
        assert queue.take() == []
        assert LEASE - NEAR < job.remaining <= LEASE
        return "extended"

    job_id, ending = queue.attempt(slow)

    assert (ending.ending, queue.row(job_id).result) == ("done", "extended")


def test_extend_raises_lost_after_another_claim(queue: Queue) -> None:
    other: list[Job] = []

    def slow(_payload: Any, job: Job) -> None:
        queue.pass_time(job.id)
        other.extend(queue.take())
        with pytest.raises(LostError):
            job.extend(LEASE)

    _, ending = queue.attempt(slow)

    assert ending.ending == "lost"
    assert queue.row(other[0].id).state == "running"


def test_handler_receives_all_facts_of_its_job(queue: Queue) -> None:
    seen: list[Job] = []

    def see_and_fail(_payload: Any, job: Job) -> None:
        seen.append(job)
        raise ValueError("no")

    options: dict[str, Any] = {
        "key": "k",
        "headers": {"a": "b"},
        "priority": 7,
        "max_attempts": 2,
        "retry": IN_A_MINUTE,
    }
    job_id = queue.enqueue(payload={"n": 1}, **options)
    for _ in range(2):
        queue.work(see_and_fail)
        if len(seen) == 1:
            queue.pass_time(job_id)

    first, second = seen
    assert {name: getattr(first, name) for name in options} == options
    assert (first.id, first.payload, first.kind, first.queue) == (job_id, {"n": 1}, "echo", "default")
    assert [(job.attempt, job.last, job.redelivered) for job in seen] == [(1, False, False), (2, True, True)]
    assert first.idempotency_key == second.idempotency_key
    assert timedelta() <= first.lateness < NEAR
    assert first.remaining <= LEASE
