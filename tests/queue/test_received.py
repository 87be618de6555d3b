"""Errors about a value say which one was received, but never a payload or a header."""

from datetime import timedelta

import pytest

from minutehand import InvalidJobError, NewJob, Retry, enqueue, enqueue_many
from minutehand.model.enqueued import Rejected
from minutehand.operations.controls import limit

CASES = [
    ({"priority": 11}, "9, got 11"),
    ({"max_attempts": 0}, "1000000, got 0"),
    ({"timeout": timedelta(days=2)}, "24 hours, got 2 days, 0:00:00"),
    ({"expires": timedelta()}, "3650 days, got 0:00:00"),
    ({"queue": "a b"}, "digit, got 'a b'"),
    ({"kind": "k" * 200}, f"letter, got '{'k' * 80}…'"),
    ({"retry": Retry(min=timedelta(hours=2))}, '1000, got {"strategy": "exponential", "min": 7200.0'),
    ({"headers": {"secret": "s" * 10_000}}, "in total, got 10013 bytes"),
    ({"delay": timedelta(days=4_000_000)}, "9999, got a delay of 4000000 days, 0:00:00"),
]


@pytest.mark.parametrize(("options", "got"), CASES)
def test_error_of_enqueue_says_what_was_received(queue, options, got):
    with pytest.raises(InvalidJobError) as raised:
        enqueue(**{"kind": "echo", **options}, connection=queue.database)

    assert got in str(raised.value)
    assert "sss" not in str(raised.value)


@pytest.mark.parametrize(("options", "got"), CASES[:5])
def test_rejection_of_a_bulk_says_what_was_received(queue, options, got):
    (outcome,) = enqueue_many([NewJob("echo", **options)], connection=queue.database)

    assert isinstance(outcome, Rejected)
    assert str(outcome.error).endswith(got)


def test_error_of_a_limit_says_which_queue_was_received(queue):
    with pytest.raises(InvalidJobError, match="got 'a/b'"):
        limit(queue.database, 1, queue="a/b")


def test_value_that_is_not_at_fault_is_not_named(queue):
    with pytest.raises(InvalidJobError) as raised:
        enqueue("echo", on_dead=NewJob("echo", priority=99), connection=queue.database, priority=3)

    assert "got 3" not in str(raised.value)
