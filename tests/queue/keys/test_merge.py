"""Merge a payload into the upcoming job of a key."""

from datetime import timedelta

import pytest

from minutehand import InvalidJobError
from minutehand.finish import finish
from minutehand.model.outcome import Done, Failed
from tests.queue.keys.stage import enqueue_again
from tests.queue.stage import Queue

pytestmark = pytest.mark.every_server

ERROR = {"type": "ValueError", "message": "no", "trace": ""}

ENCRYPTED = {"minutehand": {"v": 1}}


def merge(queue: Queue, old: object, new: object) -> object:
    job_id = queue.enqueue(payload=old, key="k")
    assert enqueue_again(queue, new, on_conflict="merge").outcome == "merged"
    payload: object = queue.row(job_id).payload
    queue.sql("delete from minutehand.jobs")
    return payload


def test_merge_joins_arrays_and_merges_objects(queue: Queue) -> None:
    assert merge(queue, [1], [2, [3]]) == [1, 2, [3]]
    assert merge(queue, [], []) == []
    assert merge(queue, {"a": 1, "b": {"c": 1}}, {"b": {"d": 2}, "e": None}) == {
        "a": 1,
        "b": {"d": 2},
        "e": None,
    }
    assert merge(queue, {}, {}) == {}
    assert merge(queue, None, [1]) == [1]
    assert merge(queue, {"a": 1}, None) == {"a": 1}


def test_merge_keeps_every_digit(queue: Queue) -> None:
    numbers = [1.0, 1e300, 0.1, 2**200, -0.0, 1e-7]
    merged = merge(queue, numbers, numbers)

    assert [repr(number) for number in merged] == [repr(number) for number in numbers * 2]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ([], {}),
        ({}, []),
        ("a", "b"),
        (1, [1]),
        (ENCRYPTED, {"a": 1}),
        ({"a": 1}, ENCRYPTED),
        ({"a": "\0"}, {"b": 1}),
        ({"b": 1}, {"\0": 1}),
        (["\0"], ["a"]),
    ],
)
def test_incompatible_payloads_are_not_merged(direct_queue: Queue, old: object, new: object) -> None:
    job_id = direct_queue.enqueue(payload=old, key="k")
    with pytest.raises(InvalidJobError) as refused:
        enqueue_again(direct_queue, new, on_conflict="merge")

    assert refused.value.rule == "payloads_merge"
    assert direct_queue.row(job_id).payload == old


def test_merged_payload_is_limited_in_size(direct_queue: Queue) -> None:
    job_id = direct_queue.enqueue(payload=["x" * 200_000], key="k")
    with pytest.raises(InvalidJobError) as refused:
        enqueue_again(direct_queue, ["x" * 200_000], on_conflict="merge")

    assert refused.value.rule == "payload_fits"
    assert len(direct_queue.row(job_id).payload) == 1


def test_merge_resets_attempts_and_idempotency_key(
    queue: Queue,
) -> None:
    job = queue.claimed(payload=[1], key="k", max_attempts=2)
    finish(job, Failed(ERROR, delay=timedelta()))
    enqueue_again(queue, [2], on_conflict="merge")
    (retried,) = queue.take()

    assert (retried.id, retried.payload, retried.attempt) == (job.id, [1, 2], 1)
    assert retried.idempotency_key != job.idempotency_key


def test_claim_of_an_offer_returns_the_merged_payload(queue: Queue) -> None:
    queue.enqueue(payload=[1], key="k")
    (offered,) = queue.offer()
    enqueue_again(queue, [2], on_conflict="merge")

    assert [job.payload for job in queue.claim(offered)] == [[1, 2]]


def test_merged_job_stays_personal(direct_queue: Queue) -> None:
    job_id = direct_queue.enqueue(payload={"a": 1}, key="k")
    enqueue_again(direct_queue, {"name": "Ada"}, personal=True, on_conflict="merge")
    enqueue_again(direct_queue, {"b": 2}, on_conflict="merge")
    (job,) = direct_queue.take()

    finish(job, Done())

    assert direct_queue.row(job_id).payload is None
