"""Counts, histograms and durations of a window, in a time zone."""

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from minutehand import InvalidJobError
from minutehand.queries.jobs import Depth, clock, stats
from minutehand.queries.statistics import Bin, Failure, Spread, durations, failures, histogram, today
from tests.queue import past
from tests.queue.past import ago, attempted, finished, noon
from tests.queue.stage import Queue

DAY, HOUR, MINUTE = timedelta(days=1), timedelta(hours=1), timedelta(minutes=1)


def jobs(depths: list[Depth]) -> set[tuple[str, str | None, str, int]]:
    return {(depth.queue, depth.kind, depth.state, depth.jobs) for depth in depths}


def ends(bins: list[Bin]) -> list[int]:
    return [each.done for each in bins]


def test_counts_are_of_all_jobs_or_since_a_time(queue: Queue) -> None:
    finished(queue, noon(ago(queue, 5)), count=3)
    finished(queue, noon(ago(queue, 2)), "dead")
    # In the default partition.
    finished(queue, noon(past.today(queue) - 9 * DAY), "cancelled")
    queue.enqueue(delay=DAY)
    live = ("default", None, "scheduled", 1)

    assert jobs(stats(queue.database)) == {
        live,
        ("default", None, "done", 3),
        ("default", None, "dead", 1),
        ("default", None, "cancelled", 1),
    }
    assert jobs(stats(queue.database, since=noon(ago(queue, 3)))) == {live, ("default", None, "dead", 1)}


def test_counts_are_by_queue_or_by_kind_and_filtered(queue: Queue) -> None:
    for of, kind in [("a", "x"), ("a", "y"), ("b", "x"), ("b", "x")]:
        queue.enqueue(kind, queue=of)
    by_kind = {("a", "x", "due", 1), ("a", "y", "due", 1), ("b", "x", "due", 2)}

    assert jobs(stats(queue.database)) == {("a", None, "due", 2), ("b", None, "due", 2)}
    assert jobs(stats(queue.database, by_kind=True)) == by_kind
    assert jobs(stats(queue.database, by_kind=True, kind="x")) == by_kind - {("a", "y", "due", 1)}
    assert jobs(stats(queue.database, queue="b")) == {("b", None, "due", 2)}


def test_histogram_has_empty_hours(queue: Queue) -> None:
    day = noon(ago(queue, 2))
    for at, outcome in [(0, "done"), (0.9, "done"), (3, "dead"), (3.5, "cancelled"), (5, "done")]:
        finished(queue, day + at * HOUR, outcome)
    bins = histogram(queue.database, since=day + 30 * MINUTE, until=day + 5 * HOUR)

    assert [bin.start for bin in bins] == [day + n * HOUR for n in range(5)]
    assert [(bin.done, bin.dead, bin.cancelled) for bin in bins] == [
        (2, 0, 0),
        (0,) * 3,
        (0,) * 3,
        (0, 1, 1),
        (0,) * 3,
    ]
    assert [bin.enqueued for bin in bins] == [0, 0, 2, 0, 1]


def test_histogram_defaults_to_the_last_day_or_week(queue: Queue) -> None:
    queue.enqueue()

    assert len(histogram(queue.database)) in (24, 25)
    assert sum(bin.enqueued for bin in histogram(queue.database)) == 1
    assert len(histogram(queue.database, by="day")) == 8
    assert ends(histogram(queue.database, queue="none")) == [0] * 25


def test_histogram_is_by_queue_or_kind_and_filtered(queue: Queue) -> None:
    day = noon(ago(queue, 2))
    finished(queue, day, queue="a", kind="x")
    finished(queue, day, queue="b", kind="y", count=2)
    window = {"since": day, "until": day + 2 * HOUR}

    def counted(**options: object) -> list[tuple[str | None, int]]:
        return [(bin.name, bin.done) for bin in histogram(queue.database, **window, **options)]  # type: ignore[call-overload]

    assert counted(each="queue") == [("a", 1), ("a", 0), ("b", 2), ("b", 0)]
    assert counted(each="kind") == [("x", 1), ("x", 0), ("y", 2), ("y", 0)]
    assert counted(queue="b") == [(None, 2), (None, 0)]
    assert counted(kind="x", each="queue") == [("a", 1), ("a", 0)]


@pytest.mark.parametrize(
    ("zone", "by", "day", "hours"),
    [
        ("UTC", "day", date(2026, 3, 29), [24]),
        ("Europe/Berlin", "day", date(2026, 3, 28), [24, 23, 24]),
        ("Europe/Berlin", "day", date(2026, 10, 24), [24, 25, 24]),
        ("Asia/Kolkata", "day", date(2026, 1, 1), [24, 24]),
        # The zone skipped the 30th.
        ("Pacific/Apia", "day", date(2011, 12, 29), [24, 24]),
        ("Australia/Lord_Howe", "day", date(2026, 4, 4), [24, 24.5]),
        ("Europe/Berlin", "hour", date(2026, 3, 29), [1] * 23),
        ("Europe/Berlin", "hour", date(2026, 10, 25), [1] * 25),
        ("Asia/Kolkata", "hour", date(2026, 1, 1), [1] * 24),
    ],
)
def test_bins_are_the_days_and_hours_of_a_zone(
    direct_queue: Queue, zone: str, by: str, day: date, hours: list[float]
) -> None:
    start = datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(zone)).astimezone(UTC)
    until = start + sum(hours) * HOUR
    moments = [start + n * 15 * MINUTE for n in range(int(sum(hours) * 4))]
    for moment in moments:
        finished(direct_queue, moment)
    bins = histogram(direct_queue.database, by=by, since=start, until=until, zone=zone)  # type: ignore[call-overload]
    starts = [bin.start for bin in bins] + [until]

    assert bins[0].start == start
    assert [(b - a) / HOUR for a, b in pairwise(starts)] == hours
    assert ends(bins) == [int(n * 4) for n in hours]


def test_future_and_empty_windows_have_bins(direct_queue: Queue) -> None:
    now = clock(direct_queue.database)

    assert ends(histogram(direct_queue.database, since=now + DAY, until=now + DAY)) == [0]


@pytest.mark.parametrize(
    ("wrong", "rule"),
    [
        ({"since": noon(date(2026, 2, 1)), "until": noon(date(2026, 1, 1))}, "window_is_forward"),
        ({"since": noon(date(2020, 1, 1)), "until": noon(date(2026, 1, 1))}, "window_is_bounded"),
        ({"zone": "Mars/Olympus"}, "zone_is_known"),
        ({"since": datetime(2026, 1, 1)}, "time_is_finite"),
    ],
)
def test_invalid_window_is_refused(direct_queue: Queue, wrong: dict[str, object], rule: str) -> None:
    with pytest.raises(InvalidJobError) as refused:
        histogram(direct_queue.database, **wrong)  # type: ignore[call-overload]

    assert refused.value.rule == rule


def test_durations_are_of_attempts_and_waits_of_jobs(queue: Queue) -> None:
    day = noon(ago(queue, 2))
    for n in range(101):
        attempted(queue, day, seconds=n, kind="x")
        finished(queue, day, seconds=2 * n, kind="x")
    # Its duration is unknown.
    attempted(queue, day, "lapsed", seconds=10_000, kind="x")
    attempted(queue, day - DAY, seconds=10_000, kind="x")
    attempted(queue, day, seconds=5, kind="y", queue="other")
    reported = durations(queue.database, since=day - HOUR, until=day + HOUR, by_kind=True)

    def spread(count: int, *seconds: float) -> Spread:
        return Spread(count, *(timedelta(seconds=each) for each in seconds))

    assert [(each.queue, each.kind, each.run, each.wait) for each in reported] == [
        ("default", "x", spread(101, 50, 95, 99, 100), spread(101, 100, 190, 198, 200)),
        ("other", "y", spread(1, 5, 5, 5, 5), None),
    ]
    assert [each.kind for each in durations(queue.database, since=day - HOUR)] == [None, None]
    assert durations(queue.database) == []
    assert [each.queue for each in durations(queue.database, since=day - HOUR, queue="other")] == ["other"]
    assert [each.queue for each in durations(queue.database, since=day - HOUR, kind="y")] == ["other"]


def test_failures_are_counted_by_type_of_error(queue: Queue) -> None:
    day = noon(ago(queue, 2))
    for at, kind, error in [(0, "ValueError", "a"), (1, "ValueError", "b"), (2, "KeyError", "c")]:
        attempted(queue, day + at * MINUTE, "retrying", error=f'{{"type": "{kind}", "message": "{error}"}}')
    attempted(queue, day, "lapsed")
    attempted(queue, day)
    reported = failures(queue.database, since=day - HOUR)

    assert reported == [
        Failure("default", "echo", "ValueError", 2, day + MINUTE),
        Failure("default", "echo", "KeyError", 1, day + 2 * MINUTE),
        Failure("default", "echo", "lapsed", 1, day),
    ]
    assert failures(queue.database) == []
    assert failures(queue.database, since=day - HOUR, queue="other") == []
    assert failures(queue.database, since=day - HOUR, kind="other") == []


def test_overview_counts_since_midnight(queue: Queue) -> None:
    last = noon(ago(queue, 3))
    finished(queue, last, "dead")
    finished(queue, clock(queue.database), count=2)
    queue.claimed(queue="a")
    queue.enqueue(queue="b", delay=DAY)
    queue.enqueue(queue="b", key="r", delay=2 * DAY, every="P1D")
    queue.sql(
        "insert into minutehand.schedules (name, every, job, next, paused) "
        "values ('s', '@daily', '{}', now() + interval '1 hour', false), ('p', '@daily', '{}', now(), true)"
    )
    glance = today(queue.database)

    assert (glance.pending, glance.running, glance.queues, glance.schedules) == (2, 1, 2, 2)
    assert (glance.done, glance.failed, glance.last_failed) == (2, 0, last)
    assert glance.next_schedule is not None
    assert HOUR - MINUTE < glance.next_schedule - clock(queue.database) <= HOUR


def test_midnight_is_that_of_the_zone(direct_queue: Queue) -> None:
    """UTC and a zone 14 hours ahead have their midnights at different times."""
    queue = direct_queue
    (row,) = queue.sql(
        "select date_trunc('day', now(), 'Pacific/Kiritimati') as there, date_trunc('day', now(), 'UTC') as here"
    )
    finished(queue, min(row["there"], row["here"]))
    first, second = (
        ("Pacific/Kiritimati", "UTC") if row["there"] < row["here"] else ("UTC", "Pacific/Kiritimati")
    )

    assert (today(queue.database, first).done, today(queue.database, second).done) == (1, 0)
