"""A bulk reports the outcome of each item in order, and holds one chunk of items at a time."""

import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any
from weakref import WeakSet

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minutehand import Enqueued, KeyTakenError, MinutehandError, NewJob, Rejected, enqueue, enqueue_many
from tests.queue.stage import Queue
from tests.thorough import amount, examples

pytestmark = pytest.mark.every_server

MODES = ["replace", "ignore", "raise"]


def bulk(queue: Queue, jobs: list[NewJob], **options: Any) -> list[Enqueued | Rejected]:
    return list(enqueue_many(jobs, connection=queue.database, **options))


def outcomes(made: list[Enqueued | Rejected]) -> list[str]:
    return [item.outcome for item in made]


def test_empty_bulk_creates_nothing(queue: Queue) -> None:
    assert bulk(queue, []) == []


@pytest.mark.parametrize("chunk", [1, 3, 5000])
def test_bulk_reports_rejected_items_and_enqueues_the_others(queue: Queue, chunk: int) -> None:
    bad: dict[int, Any] = {
        0: NewJob("not a kind"),
        3: NewJob("echo", object()),
        4: NewJob("echo", "x" * 300_000),
        5: 1,
        7: NewJob("echo", priority=10),
        11: NewJob("echo", delay=timedelta(days=999_999_999)),
    }
    made = bulk(queue, [bad.get(n) or NewJob("echo", n) for n in range(12)], chunk=chunk)

    assert [item.ordinal for item in made] == list(range(12))
    assert {item.ordinal for item in made if isinstance(item, Rejected)} == set(bad)
    rules = [getattr(item.error, "rule", "") for item in made if isinstance(item, Rejected)]
    assert rules == [
        "kind_is_a_name",
        "payload_is_json",
        "payload_fits",
        "job_is_a_new_job",
        "priority_is_0_to_9",
        "number_is_in_range",
    ]
    assert [job.payload for job in queue.take(20)] == [n for n in range(12) if n not in bad]
    assert queue.sql("select * from minutehand.new_jobs") == []


@pytest.mark.parametrize("mode", MODES)
def test_bulk_and_existing_jobs_conflict_like_single_enqueues(queue: Queue, mode: str) -> None:
    existing = queue.enqueue(payload="old", key="a")
    made = bulk(queue, [NewJob("echo", "new", key="a"), NewJob("echo", "new", key="b")], on_conflict=mode)

    first = {"replace": "replaced", "ignore": "ignored", "raise": "rejected"}[mode]
    assert outcomes(made) == [first, "created"]
    assert queue.row(existing).payload == ("new" if mode == "replace" else "old")
    if isinstance(made[0], Rejected):
        assert isinstance(made[0].error, KeyTakenError)
    else:
        assert made[0].id == existing


def test_last_item_with_a_key_replaces_the_others_of_its_chunk(queue: Queue) -> None:
    made = bulk(queue, [NewJob("echo", n, key="a") for n in range(3)])

    assert outcomes(made) == ["ignored", "ignored", "created"]
    assert len({item.id for item in made if isinstance(item, Enqueued)}) == 1
    assert [job.payload for job in queue.take(9)] == [2]


def test_later_items_with_a_key_in_a_chunk_are_ignored(
    queue: Queue,
) -> None:
    made = bulk(queue, [NewJob("echo", n, key="a") for n in range(3)], on_conflict="ignore")

    assert outcomes(made) == ["created", "ignored", "ignored"]
    assert [job.payload for job in queue.take(9)] == [0]


def test_later_items_with_a_key_in_a_chunk_are_rejected(
    queue: Queue,
) -> None:
    made = bulk(queue, [NewJob("echo", n, key="a") for n in range(3)], on_conflict="raise")

    assert outcomes(made) == ["created", "rejected", "rejected"]
    assert [job.payload for job in queue.take(9)] == [0]


ITEMS = st.lists(
    st.builds(
        NewJob,
        kind=st.sampled_from(["echo", "echo", "echo", "not a kind"]),
        payload=st.integers(0, 99),
        queue=st.sampled_from([None, "default", "other"]),
        key=st.sampled_from([None, "a", "b"]),
        priority=st.sampled_from([None, 0, 9, 10]),
    ),
    max_size=12,
)


def one_by_one(queue: Queue, jobs: list[NewJob], mode: str) -> list[str]:
    expected: list[str] = []
    for job in jobs:
        try:
            single = replace(job, on_conflict=mode)  # type: ignore[arg-type]
            expected.append(enqueue(**vars(single), connection=queue.database).outcome)
        except MinutehandError:
            expected.append("rejected")
    return expected


def rows(queue: Queue) -> list[dict[str, Any]]:
    """Return the upcoming jobs, and delete them."""
    return queue.sql(
        """with gone as (delete from minutehand.jobs returning kind, payload::text, queue, key, priority)
           select * from gone order by queue, key, payload, priority"""
    )


@pytest.mark.parametrize("mode", MODES)
@examples(15, 60)
@given(jobs=ITEMS, chunk=st.integers(1, 12))
def test_bulk_equals_single_enqueues(direct_queue: Queue, mode: str, jobs: list[NewJob], chunk: int) -> None:
    """One outcome differs: an item that a later item of its chunk replaces is `ignored`."""
    for n in range(3):
        direct_queue.enqueue("echo", n, key=f"{'abc'[n]}")
    expected = one_by_one(direct_queue, jobs, mode)
    remaining = rows(direct_queue)
    for n in range(3):
        direct_queue.enqueue("echo", n, key=f"{'abc'[n]}")
    made = outcomes(bulk(direct_queue, jobs, on_conflict=mode, chunk=chunk))

    assert rows(direct_queue) == remaining
    assert len(made) == len(jobs)
    assert [word == "rejected" for word in made] == [word == "rejected" for word in expected]
    if mode != "replace" or chunk == 1:
        assert made == expected


def test_bulk_reads_one_chunk_ahead(queue: Queue) -> None:
    consumed: list[int] = []

    def jobs() -> Iterator[NewJob]:
        for n in range(100):
            consumed.append(n)
            yield NewJob("echo", n)

    made = enqueue_many(jobs(), connection=queue.database, chunk=10)
    assert consumed == []
    next(made)
    assert len(consumed) == 10
    assert len(queue.sql("select * from minutehand.jobs")) == 10


@pytest.mark.thorough
def test_bulk_holds_one_chunk_at_a_time(direct_queue: Queue) -> None:
    many = amount(10_000, 100_000)
    held: WeakSet[object] = WeakSet()

    class Text(str):
        """A payload with weak references."""

    def jobs() -> Iterator[NewJob]:
        for _ in range(many):
            held.add(payload := Text("x" * 100))
            yield NewJob("echo", payload)

    most_held = created = 0
    for item in enqueue_many(jobs(), connection=direct_queue.database, chunk=1000):
        created += item.outcome == "created"
        most_held = max(most_held, len(held))

    assert created == many
    assert most_held <= 1001
    (stored,) = direct_queue.sql("select count(*), count(distinct visible) as moments from minutehand.jobs")
    assert stored == {"count": many, "moments": many}


def test_bulk_memory_is_bounded_by_the_chunk(direct_queue: Queue) -> None:
    made = enqueue_many(
        (NewJob("echo", "x" * 100) for _ in range(8_000)), connection=direct_queue.database, chunk=500
    )
    tracemalloc.start()
    try:
        assert all(item.outcome == "created" for _, item in zip(range(2000), made, strict=False))
        tracemalloc.reset_peak()
        few, _ = tracemalloc.get_traced_memory()
        assert sum(item.outcome == "created" for item in made) > 5_000
        many, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 5_000_000
    assert many < few + 1_000_000


def test_failing_source_leaves_whole_chunks(queue: Queue) -> None:
    def jobs() -> Iterator[NewJob]:
        yield from (NewJob("echo", n) for n in range(25))
        raise OSError("the file ended early")

    with pytest.raises(OSError, match="ended early"):
        list(enqueue_many(jobs(), connection=queue.database, chunk=10))

    assert len(queue.sql("select * from minutehand.jobs")) == 20
    assert not queue.database.in_transaction


def test_concurrent_bulks_do_not_mix(queue: Queue) -> None:
    def load(name: str) -> list[Enqueued | Rejected]:
        jobs = [NewJob("echo", name, key=f"{name}/{n}") for n in range(50)]
        return list(enqueue_many(jobs, connection=queue.another(), chunk=7))

    loads = [queue.start(load, f"load-{n}") for n in range(4)]

    assert all(outcomes(future.result()) == ["created"] * 50 for future in loads)
    assert queue.sql("select count(*) from minutehand.jobs") == [{"count": 200}]
