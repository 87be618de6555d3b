"""Rates: how many jobs start in a period, and what a rate leaves of its past."""

from tests.queue.stage import Queue


def test_rate_that_was_far_slower_is_exhausted(queue: Queue) -> None:
    (left,) = queue.sql("select minutehand.rate_free(1000, '1 s', 1000, now() + interval '31 days', now()) as free")

    assert left["free"] < 0
