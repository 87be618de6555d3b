"""Queues get their turns in proportion to their weights, and an idle queue collects no credit."""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from minutehand.errors import InvalidJobError
from minutehand.model.queues import Queues
from minutehand.model.turns import LONGEST_SEARCH_SECONDS, SEARCH_SECONDS, SHARE, Turns

MINUTE = timedelta(minutes=1)


def served(turns: Turns, *queues: str, chunk: int = 1) -> Iterator[str]:
    """Yield the queue of each job, while all these queues have many due jobs."""
    while True:
        queue = turns.order(dict.fromkeys(queues, MINUTE))[0]
        turns.count(queue, chunk)
        yield from [queue] * chunk


def count(turns: Turns, jobs: int, *queues: str, chunk: int = 1) -> Counter[str]:
    source = served(turns, *queues, chunk=chunk)
    return Counter(next(source) for _ in range(jobs))


@pytest.mark.parametrize("chunk", [1, 10])
@pytest.mark.parametrize(
    ("weights", "shares"),
    [
        ({"a": 3, "b": 1}, {"a": 300, "b": 100}),
        ({"a": 7, "b": 2, "c": 1}, {"a": 280, "b": 80, "c": 40}),
        ({}, {"a": 200, "b": 200}),
    ],
)
def test_shares_follow_the_weights(weights: dict[str, int], shares: dict[str, int], chunk: int) -> None:
    counts = count(Turns(Queues.of(weights)), 400, *shares, chunk=chunk)

    assert {name: abs(counts[name] - share) <= chunk for name, share in shares.items()} == dict.fromkeys(
        shares, True
    )


def test_turns_interleave_instead_of_draining_a_share_first() -> None:
    source = served(Turns(Queues.of({"a": 3, "b": 1})), "a", "b")
    fours = [Counter(next(source) for _ in range(4)) for _ in range(20)]

    assert fours == [Counter(a=3, b=1)] * 20


def test_idle_queue_collects_no_credit() -> None:
    turns = Turns(Queues.of({"a": 1, "b": 1}))
    count(turns, 1000, "a")

    assert count(turns, 10, "a", "b") == Counter(a=5, b=5)


def test_equal_turns_go_to_the_job_that_is_due_the_longest() -> None:
    assert Turns(Queues()).order({"a": MINUTE, "b": 2 * MINUTE, "c": -MINUTE}) == ["b", "a", "c"]


def test_strict_order_ignores_earlier_turns() -> None:
    turns = Turns(Queues.of(["b", "a"], strict=True))
    turns.count("b", 100)

    assert turns.order({"a": 2 * MINUTE, "b": MINUTE, "c": MINUTE}) == ["b", "a"]


def test_queues_that_are_not_served_have_no_turn() -> None:
    assert Turns(Queues.of(["a", "b"])).order({"b": MINUTE, "c": MINUTE}) == ["b"]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["a", "b"], {"a": 1, "b": 1}),
        (["a,b", "c=3"], {"a": 1, "b": 1, "c": 3}),
        ([" a=2 , b "], {"a": 2, "b": 1}),
    ],
)
def test_queues_are_repeated_or_separated_by_commas(texts: list[str], expected: dict[str, int]) -> None:
    assert Queues.parse(texts).weights == expected


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("a,b", r"queue must be 1 to 100 letters, .*, got 'a,b'"),
        ("", "queue must be 1 to 100 letters"),
        ("-a", "queue must be 1 to 100 letters"),
        ("a" * 101, "queue must be 1 to 100 letters"),
        (["a\n"], "queue must be 1 to 100 letters"),
        ([7], "queue must be 1 to 100 letters"),
        (["a", "b", "a"], "queue a must be given once"),
        ({"a": 0}, "the weight of queue a must be an integer from 1 to 1000, got 0"),
        ({"a": 1001}, "the weight of queue a must be an integer from 1 to 1000, got 1001"),
        ({"a": True}, "the weight of queue a must be an integer from 1 to 1000, got True"),
        ({"a": "3"}, "the weight of queue a must be an integer from 1 to 1000, got '3'"),
    ],
)
def test_invalid_queues_are_rejected(given: Any, message: str) -> None:
    with pytest.raises(InvalidJobError, match=message):
        Queues.of(given)


@pytest.mark.parametrize("given", [(), {"a": 2, "b": 1}])
def test_strict_order_needs_queues_without_weights(given: Any) -> None:
    with pytest.raises(InvalidJobError, match="strict order requires a list of queues without weights"):
        Queues.of(given, strict=True)


def test_queues_are_described_in_words() -> None:
    described = [str(Queues.parse(texts)) for texts in ([], ["a"], ["a=3,b"])]

    assert described == ["all queues", "queue a", "queues a (weight 3), b"]
    assert str(Queues.of(["a", "b"], strict=True)) == "queues a, b in strict order"


def test_due_queues_are_remembered_for_a_short_time() -> None:
    now = [0.0]
    turns = Turns(Queues(), lambda: now[0])
    remembered = [[*turns.remembered()]]
    turns.remember({"a": MINUTE, "b": MINUTE})
    remembered.append([*turns.remembered()])
    turns.forget("a")
    remembered.append([*turns.remembered()])
    now[0] = SEARCH_SECONDS
    remembered.append([*turns.remembered()])

    assert remembered == [[], ["a", "b"], ["b"], []]


@pytest.mark.parametrize(
    ("seconds", "lasts"), [(0.02, 0.02 * SHARE), (100.0, LONGEST_SEARCH_SECONDS)], ids=["slow", "very slow"]
)
def test_result_of_a_slow_search_is_remembered_longer(seconds: float, lasts: float) -> None:
    now = [0.0]
    turns = Turns(Queues(), lambda: now[0])
    turns.remember({"a": MINUTE}, seconds)
    remembered = []
    for now[0] in (lasts - 0.001, lasts):
        remembered.append([*turns.remembered()])

    assert remembered == [["a"], []]


def test_strict_order_remembers_no_due_queues() -> None:
    turns = Turns(Queues.of(["a", "b"], strict=True))
    turns.remember({"b": MINUTE})

    assert turns.remembered() == {}
